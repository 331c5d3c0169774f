package main

import (
	"fmt"
	"io"
	"time"

	"gatehouse/app"
)

type tokenCmd struct {
	Add    tokenAddCmd    `cmd:"" help:"Make a personal token and print it, once."`
	List   tokenListCmd   `cmd:"" help:"List a person's tokens."`
	Revoke tokenRevokeCmd `cmd:"" help:"Revoke a token."`
}

type tokenAddCmd struct {
	User     string        `required:"" help:"E-mail address of the person."`
	Scope    string        `enum:"read,write" default:"read" help:"read or write."`
	Location []string      `help:"Location id; may be repeated. Default: all of the person's."`
	Name     string        `default:"Command line" help:"What the token is for."`
	Expires  time.Duration `help:"Life of the token, as in 720h. Default: until revoked."`
}

// Run makes a token and prints it alone, so that a script can read it.
func (c tokenAddCmd) Run(e *env) error {
	return e.with(func(a *app.Admin) error {
		t, err := a.AddToken(e.ctx, app.NewToken{User: c.User, Scope: c.Scope, Locations: c.Location, Name: c.Name, Expires: c.Expires})
		if err != nil {
			return err
		}
		return e.print(t, func(w io.Writer) { fmt.Fprintln(w, t.Secret) })
	})
}

type tokenListCmd struct {
	User string `required:"" help:"E-mail address of the person."`
}

// Run lists tokens.
func (c tokenListCmd) Run(e *env) error {
	return e.with(func(a *app.Admin) error {
		list, err := a.Tokens(e.ctx, c.User)
		if err != nil {
			return err
		}
		return e.print(list, func(w io.Writer) {
			rows := make([][]any, len(list))
			for i, t := range list {
				rows[i] = []any{t.Name, t.Lookup, t.Scope, t.CreatedAt, t.LastUsedAt, t.ExpiresAt, t.Ended, t.ID}
			}
			table(w, "NAME\tBEGINS\tSCOPE\tCREATED\tLAST USED\tEXPIRES\tENDED\tID", rows)
		})
	})
}

type tokenRevokeCmd struct {
	ID string `arg:"" help:"Token id."`
}

// Run revokes a token.
func (c tokenRevokeCmd) Run(e *env) error {
	return e.with(func(a *app.Admin) error { return e.done(a.RevokeToken(e.ctx, c.ID), "Revoked.") })
}
