package main

import (
	"fmt"
	"io"

	"gatehouse/app"
)

type userSetEmailCmd struct {
	Email string `arg:"" help:"E-mail address of the person."`
	New   string `arg:"" help:"Address to sign in with from now on."`
}

// Run changes an address.
func (c userSetEmailCmd) Run(e *env) error {
	return e.with(func(a *app.Admin) error { return e.done(a.SetEmail(e.ctx, c.Email, c.New), "Changed.") })
}

type userDeleteCmd struct {
	Email string `arg:"" help:"E-mail address of the person."`
}

// Run starts a deletion.
func (c userDeleteCmd) Run(e *env) error {
	return e.with(func(a *app.Admin) error {
		due, err := a.DeleteUser(e.ctx, c.Email)
		if err != nil {
			return err
		}
		return e.print(map[string]any{"deletion_due_at": due}, func(w io.Writer) {
			fmt.Fprintf(w, "Will be deleted at %s. Until then `gatehouse user keep` or the person takes it back.\n", plain(due))
		})
	})
}

type userKeepCmd struct {
	Email string `arg:"" help:"E-mail address of the person."`
}

// Run takes a deletion back.
func (c userKeepCmd) Run(e *env) error {
	return e.with(func(a *app.Admin) error { return e.done(a.KeepUser(e.ctx, c.Email), "Kept.") })
}
