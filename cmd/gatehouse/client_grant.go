package main

import (
	"fmt"
	"io"

	"gatehouse/app"
)

// grantFlags say for whom a client acts, and what it may do there.
type grantFlags struct {
	ActsFor  string   `name:"acts-for" help:"E-mail address of the person that a machine acts for."`
	Scope    []string `help:"What a machine may do, or what another client says it wants, as home:read; may be repeated."`
	Location []string `help:"Id or name of a location of that person where it may act; may be repeated."`
}

func (g grantFlags) grant(clientID string) app.NewGrant {
	return app.NewGrant{ClientID: clientID, User: g.ActsFor, Scopes: g.Scope, Locations: g.Location}
}

type clientGrantCmd struct {
	ID string `arg:"" help:"Client id."`
	grantFlags
}

// Run gives a client access for a person.
func (c clientGrantCmd) Run(e *env) error {
	if c.ActsFor == "" {
		return &app.UsageError{Message: "--acts-for is needed: the e-mail address of the person"}
	}
	return e.with(func(a *app.Admin) error {
		id, resource, err := a.Grant(e.ctx, c.grant(c.ID))
		if err != nil {
			return err
		}
		return e.print(map[string]string{"connection_id": id, "resource": resource}, func(w io.Writer) {
			fmt.Fprintln(w, "connection_id", id)
			fmt.Fprintln(w, "resource     ", resource)
		})
	})
}

type clientSetCmd struct {
	ID            string  `arg:"" help:"Client id."`
	DeviceGrant   *bool   `name:"device-grant" negatable:"" help:"Let the client sign in devices without a browser: the person enters a code at /device."`
	RequirePushed *string `enum:"on,off" help:"The client must push its authorization requests (RFC 9126): on or off."`
	KeepOnStale   *string `enum:"on,off" help:"An old refresh token of the client is refused but ends nothing: on or off."`
	PerMinute     *int    `help:"Requests a minute over all endpoints where the client proves itself; 0 for the default of 6000."`
}

// Run changes a client's switches.
func (c clientSetCmd) Run(e *env) error {
	rules := app.ClientRules{RequirePushed: isOn(c.RequirePushed), KeepOnStale: isOn(c.KeepOnStale), PerMinute: c.PerMinute}
	if c.DeviceGrant == nil && rules == (app.ClientRules{}) {
		return &app.UsageError{Message: "nothing to set; see gatehouse client set --help"}
	}
	return e.with(func(a *app.Admin) error {
		if rules != (app.ClientRules{}) {
			if _, err := a.SetClient(e.ctx, c.ID, rules); err != nil {
				return err
			}
		}
		if c.DeviceGrant != nil {
			if err := a.AllowDevices(e.ctx, c.ID, *c.DeviceGrant); err != nil {
				return err
			}
		}
		return e.done(nil, "Set.")
	})
}
