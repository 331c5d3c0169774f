package app

import (
	"context"
	"net/url"
	"strconv"

	"gatehouse/app/audit"
	"gatehouse/app/connection"
	"gatehouse/app/handshake"
	"gatehouse/app/limit"
	"gatehouse/app/policy"
	"gatehouse/oauth"
)

// buildPolicies makes what administrators decide about clients; the program's settings are the defaults.
func (c *core) buildPolicies() {
	defaults := policy.Policy{Registration: oauth.RegistrationOff, ClientDocuments: c.set.ClientDocuments}
	if c.set.DynamicRegistration {
		defaults.Registration = oauth.RegistrationOpen
	}
	c.policies = policy.New(policy.Config{Store: c.db, Now: c.now, Rand: c.rand, Defaults: defaults})
	c.settings = &connection.ClientSettings{Store: c.db, Now: c.now}
}

// hostAllowed reports whether a host may be asked for a client's logo.
func (c *core) hostAllowed(ctx context.Context, raw string) (bool, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return false, nil
	}
	p, _, err := c.policies.Get(ctx)
	return err == nil && !oauth.MatchHost(p.BlockedHosts, u.Hostname()), err
}

// limitClient counts a request of a client: of all that proved to be it together, and of those that only name it by
// network, so that nobody can lock a client out.
func (c *core) limitClient(ctx context.Context, clientID string, perMinute int, proven bool) error {
	spec := limit.OAuthClient
	if !proven {
		clientID += " " + limit.Network(handshake.AddressFrom(ctx))
	}
	key := clientID
	if perMinute > 0 {
		// A window of its own: the new limit holds at once, not when the old window closes.
		spec.Budget, key = perMinute, clientID+" "+strconv.Itoa(perMinute)
	}
	result, err := c.limiter.Take(ctx, spec, key)
	if err != nil {
		return oauth.TemporarilyUnavailable(err)
	}
	if !result.Allowed {
		return oauth.SlowDown(result.Reset).WithCheck("client_limit")
	}
	return nil
}

// observeClient takes the steps that are about a client and not about an attempt to connect.
func (c *core) observeClient(ctx context.Context, s oauth.Step) bool {
	switch s.Name {
	case oauth.StepStaleRefused:
		c.log.WarnContext(ctx, "an old refresh token was used again; by the rule for its client nothing was ended", "client", s.ClientID,
			"user", s.UserID, "connection", s.ConnectionID)
	case oauth.StepClientChanged:
		c.audit.Record(ctx, audit.Entry{Actor: audit.ActorClient, ActorID: s.ClientID, Action: audit.ClientChanged, ClientID: s.ClientID,
			Address: handshake.AddressFrom(ctx), Detail: map[string]string{"changed": s.Detail}})
	case oauth.StepClientDeleted:
		c.audit.Record(ctx, audit.Entry{Actor: audit.ActorClient, ActorID: s.ClientID, Action: audit.ClientDeleted, ClientID: s.ClientID,
			Address: handshake.AddressFrom(ctx), Detail: map[string]string{"name": s.Detail}})
	default:
		return false
	}
	return true
}
