package app

import (
	"context"
	"time"

	"gatehouse/app/account"
	"gatehouse/app/audit"
)

// UserFactors are a person's ways to prove who they are, as the commands show them.
type UserFactors struct {
	Password      bool          `json:"password"`
	Passkeys      []UserPasskey `json:"passkeys"`
	Authenticator *time.Time    `json:"authenticator_since,omitempty"`
	RecoveryCodes int           `json:"recovery_codes_left"`
}

// UserPasskey is one passkey.
type UserPasskey struct {
	ID         string     `json:"id"`
	Name       string     `json:"name"`
	Synced     bool       `json:"synced"`
	CreatedAt  time.Time  `json:"created_at"`
	LastUsedAt *time.Time `json:"last_used_at,omitempty"`
	WentBackAt *time.Time `json:"counter_went_back_at,omitempty"`
}

// UserFactors lists how a person signs in.
func (a *Admin) UserFactors(ctx context.Context, email string) (UserFactors, error) {
	p, err := a.person(ctx, email)
	if err != nil {
		return UserFactors{}, err
	}
	f, err := a.c.accounts.Factors(ctx, p.ID)
	if err != nil {
		return UserFactors{}, err
	}
	out := UserFactors{Password: f.Password, Passkeys: []UserPasskey{}, Authenticator: f.CodesSince, RecoveryCodes: f.RecoveryCodes}
	for _, k := range f.Passkeys {
		out.Passkeys = append(out.Passkeys, UserPasskey{ID: k.ID, Name: k.Name, Synced: k.BackedUp, CreatedAt: k.CreatedAt, LastUsedAt: k.LastUsedAt, WentBackAt: k.WentBackAt})
	}
	return out, nil
}

// ResetFactors takes a person's authenticator app and recovery codes away, and their passkeys when asked. Where no password
// is left that may stand alone, the result is the link with which they set one; otherwise it is empty.
func (a *Admin) ResetFactors(ctx context.Context, email string, passkeys bool) (string, error) {
	p, err := a.person(ctx, email)
	if err != nil {
		return "", err
	}
	password, err := a.c.accounts.ResetFactors(ctx, p.ID, passkeys)
	if err != nil {
		return "", err
	}
	detail := map[string]string{"passkeys": "kept"}
	if passkeys {
		detail["passkeys"] = "removed"
	}
	a.c.audit.Record(ctx, audit.Entry{Actor: audit.ActorCLI, Action: account.ActionFactorsReset, PersonID: p.ID, Detail: detail})
	if password || p.DisabledAt != nil {
		return "", nil
	}
	ways, err := a.c.accounts.WaysIn(ctx, p.ID)
	if err != nil || ways.Any() {
		return "", err
	}
	return a.c.accounts.ResetLink(ctx, p.ID)
}
