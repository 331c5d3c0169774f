package app

import (
	"context"

	"gatehouse/app/account"
	"gatehouse/app/audit"
)

// recordAccount puts what people do to their own accounts into the audit record.
func (c *core) recordAccount(ctx context.Context, h account.Happening) {
	e := audit.Entry{Actor: audit.ActorPerson, ActorID: h.UserID, Action: h.Action, PersonID: h.UserID, Address: h.From.IP}
	if h.Action == account.ActionCodeRefused {
		e.Actor, e.ActorID = audit.ActorServer, "" // who tried is not known
	}
	if h.Detail != "" {
		e.Detail = map[string]string{"how": h.Detail}
	}
	if h.Action == account.ActionPasskeyWentBack {
		c.log.WarnContext(ctx, "the counter of a passkey went back; a copy of it may be in use", "user", h.UserID)
	}
	c.audit.Record(ctx, e)
}
