package main

import (
	"fmt"
	"io"

	"gatehouse/app"
)

type handshakeCmd struct {
	List handshakeListCmd `cmd:"" help:"List the latest connection attempts."`
	Show handshakeShowCmd `cmd:"" help:"Show an attempt step by step, with the reason of a refusal."`
}

type handshakeListCmd struct {
	Limit int `default:"50" help:"How many."`
}

// Run lists attempts.
func (c handshakeListCmd) Run(e *env) error {
	return e.with(func(a *app.Admin) error {
		list, err := a.Handshakes(e.ctx, c.Limit)
		if err != nil {
			return err
		}
		return e.print(list, func(w io.Writer) {
			rows := make([][]any, len(list))
			for i, h := range list {
				rows[i] = []any{h.StartedAt, h.ClientName, h.Reached, h.Reason, h.IP, h.ID}
			}
			table(w, "STARTED\tAPP\tREACHED\tREFUSED BECAUSE\tFROM\tID", rows)
		})
	})
}

type handshakeShowCmd struct {
	ID string `arg:"" help:"Id of the attempt, or the id shown on an error page."`
}

// Run shows an attempt.
func (c handshakeShowCmd) Run(e *env) error {
	return e.with(func(a *app.Admin) error {
		h, err := a.Handshake(e.ctx, c.ID)
		if err != nil {
			return err
		}
		return e.print(h, func(w io.Writer) { printAttempt(w, h) })
	})
}

func printAttempt(w io.Writer, h app.Handshake) {
	fmt.Fprintf(w, "%s  %s  from %s (%s)\n", plain(h.StartedAt), plain(h.ClientName), plain(h.IP), plain(h.UserAgent))
	for _, s := range h.Steps {
		mark := "✓"
		if !s.OK {
			mark = "✗"
		}
		fmt.Fprintf(w, "%s %s  %s", mark, s.At.UTC().Format("15:04:05.000"), s.Title)
		if s.Detail != "" {
			fmt.Fprintf(w, " (%s)", app.PlainText(s.Detail))
		}
		fmt.Fprintln(w)
		if !s.OK {
			fmt.Fprintf(w, "    refused at %s: %s\n    %s\n", plain(s.Check), plain(s.Reason), plain(s.Advice))
		}
	}
}
