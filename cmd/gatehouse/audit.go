package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"gatehouse/app"
)

type auditCmd struct {
	List auditListCmd `cmd:"" help:"List entries, the newest first."`
}

type auditListCmd struct {
	User       string `help:"Only what the person with this e-mail address did, or what was about them."`
	Action     string `help:"Only this action, as in client.blocked, or all of a kind, as in client."`
	Client     string `help:"Only entries about the client with this id."`
	Connection string `help:"Only entries about the connection with this id."`
	From       string `help:"First day (UTC), as in 2026-01-31."`
	Until      string `help:"Last day (UTC), as in 2026-01-31."`
	Limit      int    `default:"50" help:"How many."`
}

// Run lists entries.
func (c auditListCmd) Run(e *env) error {
	f := app.AuditFilter{User: c.User, Action: c.Action, ClientID: c.Client, ConnectionID: c.Connection, Limit: c.Limit}
	var err error
	if f.From, err = day("--from", c.From, 0); err != nil {
		return err
	}
	if f.Until, err = day("--until", c.Until, 1); err != nil {
		return err
	}
	return e.with(func(a *app.Admin) error {
		list, err := a.Audit(e.ctx, f)
		if err != nil {
			return err
		}
		return e.print(list, func(w io.Writer) {
			rows := make([][]any, len(list))
			for i, x := range list {
				rows[i] = []any{x.At, x.Action, who(x), orElse(x.Person, x.PersonID), x.ClientID, x.Address, facts(x.Detail)}
			}
			table(w, "TIME\tACTION\tBY\tPERSON\tCLIENT\tFROM\tFACTS", rows)
		})
	})
}

// day reads a day and gives its beginning, or that of the day some days later.
func day(flag, s string, later int) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return t, &app.UsageError{Message: fmt.Sprintf("%s: %q is not a day such as 2026-01-31", flag, s)}
	}
	return t.AddDate(0, 0, later), nil
}

func who(x app.AuditEntry) string {
	if x.ActorID == "" {
		return x.Actor
	}
	return x.Actor + " " + orElse(x.ActorName, x.ActorID)
}

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

func facts(detail map[string]string) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(detail)) {
		words = append(words, name+"="+detail[name])
	}
	return strings.Join(words, " ")
}
