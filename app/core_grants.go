package app

import (
	"context"

	"gatehouse/app/audit"
	"gatehouse/app/connection"
	"gatehouse/app/home"
	"gatehouse/app/trust"
)

// newIssuers makes the service of trusted issuers.
func (c *core) newIssuers(own string) *trust.Service {
	tell := func(action string) func(context.Context, string, string) {
		return func(ctx context.Context, userID, issuer string) {
			c.audit.Record(ctx, audit.Entry{Actor: audit.ActorServer, Action: action, PersonID: userID, Detail: map[string]string{"issuer": issuer}})
		}
	}
	return &trust.Service{Store: c.db, Accounts: c.accounts, Homes: c.homes, Now: c.now, OwnIssuer: own,
		KnownScopes: []string{home.ScopeRead, home.ScopeWrite}, Linked: tell(audit.PersonLinked), Made: tell(audit.PersonAdded)}
}

// buildGrants makes what writes connections by an administrator's word.
func (c *core) buildGrants() {
	c.grants = &connection.Grants{Store: c.db, Write: c.oauth.GrantByAdmin, Located: c.located, Now: c.now}
}
