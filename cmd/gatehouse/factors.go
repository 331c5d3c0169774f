package main

import (
	"fmt"
	"io"

	"gatehouse/app"
)

type userFactorsCmd struct {
	Email string `arg:"" help:"E-mail address of the person."`
}

// Run lists how a person signs in.
func (c userFactorsCmd) Run(e *env) error {
	return e.with(func(a *app.Admin) error {
		f, err := a.UserFactors(e.ctx, c.Email)
		if err != nil {
			return err
		}
		return e.print(f, func(w io.Writer) { printFactors(w, f) })
	})
}

func printFactors(w io.Writer, f app.UserFactors) {
	rows := [][]any{}
	if f.Password {
		rows = append(rows, []any{"password", "", "", ""})
	}
	for _, k := range f.Passkeys {
		note := ""
		if k.Synced {
			note = "copied between devices"
		}
		if k.WentBackAt != nil {
			note = "its counter went back: there may be a copy"
		}
		rows = append(rows, []any{"passkey " + k.Name, k.CreatedAt, k.LastUsedAt, note})
	}
	if f.Authenticator != nil {
		rows = append(rows, []any{"authenticator app", *f.Authenticator, "", fmt.Sprintf("%d recovery codes left", f.RecoveryCodes)})
	}
	table(w, "FACTOR\tADDED\tLAST USED\tNOTE", rows)
}

type userResetFactorsCmd struct {
	Email    string `arg:"" help:"E-mail address of the person."`
	Passkeys bool   `help:"Remove their passkeys as well."`
}

// Run takes second factors away.
func (c userResetFactorsCmd) Run(e *env) error {
	return e.with(func(a *app.Admin) error {
		link, err := a.ResetFactors(e.ctx, c.Email, c.Passkeys)
		if err != nil {
			return err
		}
		return e.print(struct {
			OK   bool   `json:"ok"`
			Link string `json:"link,omitempty"`
		}{true, link}, func(w io.Writer) {
			fmt.Fprintln(w, "Removed. Everything that was signed in as this person ended.")
			if link != "" {
				fmt.Fprintf(w, "They set their password here, once, within 24 hours:\n%s\n", link)
			}
		})
	})
}
