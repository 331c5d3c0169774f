package app

import (
	"context"
	"time"

	"gatehouse/app/audit"
)

// record writes down what a command did.
func (a *Admin) record(ctx context.Context, e audit.Entry) {
	e.Actor = audit.ActorCLI
	a.c.audit.Record(ctx, e)
}

// recorded writes down what a command did, unless it failed.
func (a *Admin) recorded(ctx context.Context, err error, e audit.Entry) error {
	if err == nil {
		a.record(ctx, e)
	}
	return err
}

// MakeAdmin makes a person an administrator or takes that away.
func (a *Admin) MakeAdmin(ctx context.Context, email string, admin bool) error {
	p, err := a.person(ctx, email)
	if err != nil {
		return err
	}
	entry := audit.Entry{Action: audit.PersonDemoted, PersonID: p.ID}
	if admin {
		entry.Action = audit.PersonPromoted
	}
	return a.recorded(ctx, a.c.accounts.SetAdministrator(ctx, p.ID, admin), entry)
}

// AuditEntry is an entry of the audit record as the commands show it.
type AuditEntry struct {
	ID           string            `json:"id"`
	At           time.Time         `json:"at"`
	Actor        string            `json:"actor"`
	ActorID      string            `json:"actor_id,omitempty"`
	ActorName    string            `json:"actor_name,omitempty"`
	Action       string            `json:"action"`
	PersonID     string            `json:"person_id,omitempty"`
	Person       string            `json:"person,omitempty"`
	ClientID     string            `json:"client_id,omitempty"`
	ConnectionID string            `json:"connection_id,omitempty"`
	Address      string            `json:"address,omitempty"`
	Detail       map[string]string `json:"detail,omitempty"`
}

// AuditFilter says which entries to list, the newest first. Empty fields do not narrow.
type AuditFilter struct {
	// User is an e-mail address: of who acted, or whom it was about.
	User, Action, ClientID, ConnectionID string
	From, Until                          time.Time
	Limit                                int
}

// Audit lists entries of the audit record.
func (a *Admin) Audit(ctx context.Context, f AuditFilter) ([]AuditEntry, error) {
	if f.Limit < 1 {
		return nil, &UsageError{Message: "--limit must be at least 1"}
	}
	filter := audit.Filter{Action: f.Action, ClientID: f.ClientID, ConnectionID: f.ConnectionID, From: f.From, Until: f.Until, Limit: f.Limit}
	if f.User != "" {
		p, err := a.person(ctx, f.User)
		if err != nil {
			return nil, err
		}
		filter.PersonID = p.ID
	}
	out := []AuditEntry{}
	for len(out) < f.Limit {
		filter.Limit = f.Limit - len(out)
		list, next, err := a.c.audit.List(ctx, filter)
		if err != nil {
			return nil, err
		}
		for i := range list {
			out = append(out, auditEntryOf(&list[i]))
		}
		if next == "" {
			break
		}
		filter.Before = next
	}
	return out, nil
}

func auditEntryOf(e *audit.Entry) AuditEntry {
	return AuditEntry{ID: e.ID, At: e.At, Actor: e.Actor, ActorID: e.ActorID, ActorName: e.ActorName, Action: e.Action, PersonID: e.PersonID,
		Person: e.PersonName, ClientID: e.ClientID, ConnectionID: e.ConnectionID, Address: e.Address, Detail: e.Detail}
}
