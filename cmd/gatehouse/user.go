package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"gatehouse/app"
)

type userCmd struct {
	Add       userAddCmd       `cmd:"" help:"Add a person, with a location of their own."`
	List      userListCmd      `cmd:"" help:"List everybody."`
	Disable   userDisableCmd   `cmd:"" help:"Shut a person out: sessions, tokens and connections end at once."`
	Enable    userEnableCmd    `cmd:"" help:"Let a person sign in again."`
	MakeAdmin userMakeAdminCmd `cmd:"" name:"make-admin" help:"Make a person an administrator."`
	DropAdmin userDropAdminCmd `cmd:"" name:"drop-admin" help:"Take the administration from a person."`
	SetEmail  userSetEmailCmd  `cmd:"" name:"set-email" help:"Give a person another address; what acts for them ends."`
	Delete    userDeleteCmd    `cmd:"" help:"Delete a person after the waiting time (GATEHOUSE_DELETION_WAIT); what acts for them ends at once."`
	Keep      userKeepCmd      `cmd:"" help:"Take the deletion of a person back."`
	ResetLink userResetLinkCmd `cmd:"" name:"reset-link" help:"Print a one-time link with which a person sets a new password, and can remove factors they lost."`

	Factors      userFactorsCmd      `cmd:"" help:"List how a person signs in: password, passkeys, authenticator app."`
	ResetFactors userResetFactorsCmd `cmd:"" name:"reset-factors" help:"Remove a person's authenticator app and recovery codes (lost phone); a password that is too short alone goes too."`
}

type userAddCmd struct {
	Email        string `arg:"" help:"E-mail address to sign in with."`
	Name         string `help:"Name to show. Default: the part of the address before the @."`
	Admin        bool   `help:"Make them an administrator."`
	PasswordFile string `help:"File with the password, - for standard input. Without it a one-time link to set one is printed."`
}

// Run adds a person.
func (c userAddCmd) Run(e *env) error {
	password := ""
	if c.PasswordFile != "" {
		var err error
		if password, err = readSecret(e.in, c.PasswordFile); err != nil {
			return err
		}
	}
	return e.withNew(func(a *app.Admin) error {
		u, link, err := a.AddUser(e.ctx, app.NewUser{Email: c.Email, Name: c.Name, Admin: c.Admin, Password: password})
		if err != nil {
			return err
		}
		return e.print(struct {
			app.User
			Link string `json:"link,omitempty"`
		}{u, link}, func(w io.Writer) {
			fmt.Fprintf(w, "Added %s (%s).\n", app.PlainText(u.Email), u.ID)
			if link != "" {
				fmt.Fprintf(w, "They set their password here, once, within 24 hours:\n%s\n", link)
			}
		})
	})
}

// readSecret reads the first line of a file, or of standard input for "-".
func readSecret(in io.Reader, name string) (string, error) {
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return "", fmt.Errorf("read password: %w", err)
		}
		defer f.Close()
		in = f
	}
	line, err := bufio.NewReader(io.LimitReader(in, 4096)).ReadString('\n')
	if err != nil && err != io.EOF {
		return "", fmt.Errorf("read password: %w", err)
	}
	if line = strings.TrimRight(line, "\r\n"); line == "" {
		return "", &app.UsageError{Message: "the password is empty"}
	}
	return line, nil
}

type userListCmd struct{}

// Run lists everybody.
func (userListCmd) Run(e *env) error {
	return e.with(func(a *app.Admin) error {
		list, err := a.Users(e.ctx)
		if err != nil {
			return err
		}
		return e.print(list, func(w io.Writer) {
			rows := make([][]any, len(list))
			for i, u := range list {
				rows[i] = []any{u.Email, u.Name, u.Admin, u.DisabledAt, u.CreatedAt, u.ID}
			}
			table(w, "E-MAIL\tNAME\tADMIN\tDISABLED\tADDED\tID", rows)
		})
	})
}

type userDisableCmd struct {
	Email string `arg:"" help:"E-mail address of the person."`
}

// Run disables a person.
func (c userDisableCmd) Run(e *env) error {
	return e.with(func(a *app.Admin) error { return e.done(a.DisableUser(e.ctx, c.Email), "Disabled.") })
}

type userEnableCmd struct {
	Email string `arg:"" help:"E-mail address of the person."`
}

// Run enables a person.
func (c userEnableCmd) Run(e *env) error {
	return e.with(func(a *app.Admin) error { return e.done(a.EnableUser(e.ctx, c.Email), "Enabled.") })
}

type userMakeAdminCmd struct {
	Email string `arg:"" help:"E-mail address of the person."`
}

// Run makes a person an administrator.
func (c userMakeAdminCmd) Run(e *env) error {
	return e.with(func(a *app.Admin) error {
		return e.done(a.MakeAdmin(e.ctx, c.Email, true), "They are an administrator now.")
	})
}

type userDropAdminCmd struct {
	Email string `arg:"" help:"E-mail address of the person."`
}

// Run takes the administration from a person.
func (c userDropAdminCmd) Run(e *env) error {
	return e.with(func(a *app.Admin) error {
		return e.done(a.MakeAdmin(e.ctx, c.Email, false), "They are no administrator any more.")
	})
}

type userResetLinkCmd struct {
	Email string `arg:"" help:"E-mail address of the person."`
}

// Run prints a reset link.
func (c userResetLinkCmd) Run(e *env) error {
	return e.with(func(a *app.Admin) error {
		link, err := a.ResetLink(e.ctx, c.Email)
		if err != nil {
			return err
		}
		return e.print(map[string]string{"link": link}, func(w io.Writer) { fmt.Fprintln(w, link) })
	})
}

// done prints a sentence, or {"ok":true}, unless err is set.
func (e *env) done(err error, sentence string) error {
	if err != nil {
		return err
	}
	return e.print(map[string]bool{"ok": true}, func(w io.Writer) { fmt.Fprintln(w, sentence) })
}
