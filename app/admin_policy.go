package app

import (
	"context"
	"errors"
	"time"

	"gatehouse/app/audit"
	"gatehouse/app/connection"
	"gatehouse/app/policy"
	"gatehouse/oauth"
)

// Policy is what holds for clients, as the commands show it. Saved is false while the program's settings hold.
type Policy struct {
	policy.Policy
	Saved bool `json:"saved"`
}

// Policy gives the policy that holds.
func (a *Admin) Policy(ctx context.Context) (Policy, error) {
	p, saved, err := a.c.policies.Get(ctx)
	return Policy{p, saved}, err
}

// PolicyChange is what to change of the policy; nil fields stay.
type PolicyChange struct {
	Registration                               *string
	ClientDocuments, RefuseOtherHost           *bool
	BlockedHosts, DocumentHosts, RedirectHosts *string
}

// ChangePolicy saves a changed policy.
func (a *Admin) ChangePolicy(ctx context.Context, change PolicyChange) (Policy, error) {
	p, _, err := a.c.policies.Get(ctx)
	if err != nil {
		return Policy{}, err
	}
	if change.Registration != nil {
		p.Registration = oauth.RegistrationMode(*change.Registration)
	}
	set(&p.ClientDocuments, change.ClientDocuments)
	set(&p.RefuseOtherHost, change.RefuseOtherHost)
	for _, list := range []struct {
		to   *[]string
		from *string
	}{{&p.BlockedHosts, change.BlockedHosts}, {&p.DocumentHosts, change.DocumentHosts}, {&p.RedirectHosts, change.RedirectHosts}} {
		if list.from != nil {
			*list.to = policy.ParseHosts(*list.from)
		}
	}
	if err := a.recorded(ctx, a.c.policies.Set(ctx, p), audit.Entry{Action: audit.PolicyChanged, Detail: p.Facts()}); err != nil {
		return Policy{}, err
	}
	return a.Policy(ctx)
}

func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

// ResetPolicy takes the saved policy back.
func (a *Admin) ResetPolicy(ctx context.Context) error {
	return a.recorded(ctx, a.c.policies.Reset(ctx), audit.Entry{Action: audit.PolicyReset})
}

// RegistrationToken is an initial access token as the commands show it. Token is set when it was made just now.
type RegistrationToken struct {
	ID         string     `json:"id"`
	Name       string     `json:"name"`
	Token      string     `json:"token,omitempty"`
	MaxUses    int        `json:"max_uses,omitempty"`
	Uses       int        `json:"uses"`
	CreatedAt  time.Time  `json:"created_at"`
	ExpiresAt  *time.Time `json:"expires_at,omitempty"`
	LastUsedAt *time.Time `json:"last_used_at,omitempty"`
	RevokedAt  *time.Time `json:"revoked_at,omitempty"`
}

func registrationTokenOf(t policy.Token) RegistrationToken {
	return RegistrationToken{ID: t.ID, Name: t.Name, MaxUses: t.MaxUses, Uses: t.Uses, CreatedAt: t.CreatedAt, ExpiresAt: t.ExpiresAt,
		LastUsedAt: t.LastUsedAt, RevokedAt: t.RevokedAt}
}

// RegistrationTokens lists the tokens with which clients register.
func (a *Admin) RegistrationTokens(ctx context.Context) ([]RegistrationToken, error) {
	list, err := a.c.policies.Tokens(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]RegistrationToken, len(list))
	for i, t := range list {
		out[i] = registrationTokenOf(t)
	}
	return out, nil
}

// AddRegistrationToken makes a token; it is shown once. Zero uses or life mean without end.
func (a *Admin) AddRegistrationToken(ctx context.Context, name string, uses int, life time.Duration) (RegistrationToken, error) {
	t, secret, err := a.c.policies.CreateToken(ctx, policy.NewToken{Name: name, MaxUses: uses, Life: life})
	if err != nil {
		return RegistrationToken{}, err
	}
	a.record(ctx, audit.Entry{Action: audit.RegistrationTokenAdded, Detail: map[string]string{"name": t.Name}})
	out := registrationTokenOf(*t)
	out.Token = secret
	return out, nil
}

// RevokeRegistrationToken ends a token.
func (a *Admin) RevokeRegistrationToken(ctx context.Context, id string) error {
	err := a.c.policies.RevokeToken(ctx, id)
	if errors.Is(err, policy.ErrNone) {
		return &UsageError{Message: "There is no usable registration token " + PlainText(id) + "; `gatehouse registration list` shows those there are."}
	}
	return a.recorded(ctx, err, audit.Entry{Action: audit.RegistrationTokenRevoked, Detail: map[string]string{"token": id}})
}

// ClientRules are an administrator's rules for one client; nil fields stay.
type ClientRules struct {
	RequirePushed, KeepOnStale *bool
	PerMinute                  *int
}

// SetClient changes the rules for one client and gives those that hold.
func (a *Admin) SetClient(ctx context.Context, id string, rules ClientRules) (oauth.ClientSettings, error) {
	client, err := a.c.settings.Get(ctx, id)
	if err != nil {
		return oauth.ClientSettings{}, missingClient(err, id)
	}
	s := client.Settings
	set(&s.RequirePushed, rules.RequirePushed)
	set(&s.KeepOnStale, rules.KeepOnStale)
	set(&s.PerMinute, rules.PerMinute)
	err = missingClient(a.c.settings.Save(ctx, id, s), id)
	return s, a.recorded(ctx, err, audit.Entry{Action: audit.ClientSettingsChanged, ClientID: id, Detail: map[string]string{"name": client.Name}})
}

// ApproveClient lets a waiting client in.
func (a *Admin) ApproveClient(ctx context.Context, id string) error {
	client, err := a.c.settings.Get(ctx, id)
	switch {
	case err != nil:
		err = missing(err, "waiting client", id, "client list")
	case client.PendingAt == nil:
		err = missing(connection.ErrNotFound, "waiting client", id, "client list")
	default:
		err = missing(a.c.settings.Approve(ctx, id, *client.PendingAt), "waiting client", id, "client list")
	}
	return a.recorded(ctx, err, audit.Entry{Action: audit.ClientApproved, ClientID: id})
}

// RefuseClient blocks a waiting client.
func (a *Admin) RefuseClient(ctx context.Context, id string) error {
	err := missing(a.c.settings.Refuse(ctx, id), "waiting client", id, "client list")
	return a.recorded(ctx, err, audit.Entry{Action: audit.ClientRefused, ClientID: id})
}
