package main

import (
	"io"
	"strings"

	"gatehouse/app"
)

type connectionCmd struct {
	List connectionListCmd `cmd:"" help:"List live connections."`
	End  connectionEndCmd  `cmd:"" help:"End a connection; its next call is refused."`
}

type connectionListCmd struct {
	User   string `help:"Only those of the person with this e-mail address."`
	Client string `help:"Only those of the client with this id, or with this in its name."`
	Host   string `help:"Only those of clients whose description was fetched from this host."`
	All    bool   `help:"Ended ones too."`
}

// Run lists connections.
func (c connectionListCmd) Run(e *env) error {
	return e.with(func(a *app.Admin) error {
		list, err := a.Connections(e.ctx, app.ConnectionFilter{User: c.User, Client: c.Client, Host: c.Host, All: c.All})
		if err != nil {
			return err
		}
		return e.print(list, func(w io.Writer) {
			rows := make([][]any, len(list))
			for i, x := range list {
				rows[i] = []any{x.User, x.ClientName, x.ClientHost, strings.Join(x.Scopes, " "), x.CreatedAt, x.LastUsedAt, x.ExpiresAt, x.EndedReason, x.ID}
			}
			table(w, "PERSON\tAPP\tHOST\tSCOPES\tCREATED\tLAST USED\tEXPIRES\tENDED\tID", rows)
		})
	})
}

type connectionEndCmd struct {
	ID string `arg:"" help:"Connection id."`
}

// Run ends a connection.
func (c connectionEndCmd) Run(e *env) error {
	return e.with(func(a *app.Admin) error { return e.done(a.EndConnection(e.ctx, c.ID), "Ended.") })
}
