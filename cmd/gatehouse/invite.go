package main

import (
	"fmt"
	"io"

	"gatehouse/app"
)

type inviteCmd struct {
	Add    inviteAddCmd    `cmd:"" help:"Print a link with which somebody joins a location, once, within 7 days."`
	List   inviteListCmd   `cmd:"" help:"List open invitations."`
	Revoke inviteRevokeCmd `cmd:"" help:"Take an invitation back."`
}

type inviteAddCmd struct {
	As       string `required:"" help:"E-mail address of the owner or admin of the location who invites."`
	Location string `help:"Location id. Default: their only one."`
	Role     string `default:"member" enum:"admin,member,viewer" help:"admin, member or viewer."`
	Email    string `help:"Whom it is for; only noted."`
}

// Run makes an invitation.
func (c inviteAddCmd) Run(e *env) error {
	return e.with(func(a *app.Admin) error {
		i, err := a.Invite(e.ctx, app.NewInvitation{As: c.As, Location: c.Location, Role: c.Role, Email: c.Email})
		if err != nil {
			return err
		}
		return e.print(i, func(w io.Writer) {
			fmt.Fprintf(w, "Whoever opens this link joins %s as %s, once, within 7 days:\n%s\n", app.PlainText(i.Location), i.Role, i.Link)
		})
	})
}

type inviteListCmd struct {
	User string `required:"" help:"E-mail address of a member: invitations into their locations are listed."`
}

// Run lists invitations.
func (c inviteListCmd) Run(e *env) error {
	return e.with(func(a *app.Admin) error {
		list, err := a.Invitations(e.ctx, c.User)
		if err != nil {
			return err
		}
		return e.print(list, func(w io.Writer) {
			rows := make([][]any, len(list))
			for i, x := range list {
				rows[i] = []any{x.Location, x.Role, x.Email, x.Inviter, x.ExpiresAt, x.ID}
			}
			table(w, "LOCATION\tROLE\tFOR\tBY\tEXPIRES\tID", rows)
		})
	})
}

type inviteRevokeCmd struct {
	ID string `arg:"" help:"Invitation id."`
}

// Run takes an invitation back.
func (c inviteRevokeCmd) Run(e *env) error {
	return e.with(func(a *app.Admin) error { return e.done(a.RevokeInvitation(e.ctx, c.ID), "Taken back.") })
}
