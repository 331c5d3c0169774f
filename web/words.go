package web

import (
	"fmt"
	"slices"
	"time"

	"gatehouse/app/connection"
	"gatehouse/app/home"
	"gatehouse/oauth"
	"gatehouse/templates"
	"gatehouse/templates/lang"
)

// words are a scope for people: a title for a tick, what it means, and a few words for a list.
type words struct{ title, detail, short string }

var scopes = map[string]words{
	home.ScopeRead: {
		"See your things", "Read and search the inventory: things, places, dates and notes.", "see your things",
	},
	oauth.ScopeOpenID: {
		lang.Text("Know who you are"), lang.Text("A number that stands for your account here, the same each time. Neither your name nor your address."), lang.Text("know who you are"),
	},
	oauth.ScopeEmail: {
		lang.Text("Know your e-mail address"), lang.Text("The address that you sign in with. Includes knowing who you are."), lang.Text("know your e-mail address"),
	},
	home.ScopeWrite: {
		"Change your things", "Add, edit and move things and places. Includes seeing them. Nothing can be deleted.", "change your things",
	},
	oauth.ScopeGrantQuery: {
		lang.Text("Look up what it may do"), lang.Text("Ask this server what its own connection with you holds. It sees nothing else."),
		lang.Text("look up what it may do"),
	},
	oauth.ScopeGrantRevoke: {
		lang.Text("End its own connection"), lang.Text("Disconnect itself from you. It cannot end anything else."), lang.Text("end its own connection"),
	},
}

// scopeWords gives the words for a scope. One without words is shown as it is rather than hidden.
func scopeWords(name string) words {
	if w, ok := scopes[name]; ok {
		return w
	}
	return words{title: name, short: name}
}

func shortScopes(names []string) []string {
	var short []string
	for _, name := range names {
		short = append(short, scopeWords(name).short)
	}
	return short
}

func locationNames(locations []connection.Location) []string {
	var names []string
	for _, l := range locations {
		names = append(names, l.Name)
	}
	return names
}

// roleWords says beside a location what the person is there: an app can do no more than they can.
func roleWords(r home.Role) string {
	switch r {
	case home.Viewer:
		return "You are a viewer here: nothing can be changed."
	case home.Owner, home.Admin, home.Member:
		return "You are " + article(string(r)) + " here."
	}
	return ""
}

func article(noun string) string {
	if slices.Contains([]byte("aeio"), noun[0]) {
		return "an " + noun
	}
	return "a " + noun
}

// timeView puts a moment into words. People's time zones are not known here, so the full form names UTC.
func (h *Handlers) timeView(t time.Time) templates.TimeView {
	t = t.UTC()
	return templates.TimeView{ISO: t.Format(time.RFC3339), Full: t.Format("2 January 2006, 15:04 UTC"), Text: sinceWords(t, h.now().UTC())}
}

func (h *Handlers) timeViewOf(t *time.Time) *templates.TimeView {
	if t == nil {
		return nil
	}
	v := h.timeView(*t)
	return &v
}

func sinceWords(t, now time.Time) string {
	switch d := now.Sub(t); {
	case d < 0:
		return t.Format("2 January 2006")
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return plural(int(d/time.Minute), "minute") + " ago"
	case d < 24*time.Hour:
		return plural(int(d/time.Hour), "hour") + " ago"
	case d < 14*24*time.Hour:
		return plural(int(d/(24*time.Hour)), "day") + " ago"
	}
	return t.Format("2 January 2006")
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
