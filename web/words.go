package web

import (
	"context"
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
		lang.Text("See your things"), lang.Text("Read and search the inventory: things, places, dates and notes."), lang.Text("see your things"),
	},
	oauth.ScopeOpenID: {
		lang.Text("Know who you are"), lang.Text("A number that stands for your account here, the same each time. Neither your name nor your address."), lang.Text("know who you are"),
	},
	oauth.ScopeEmail: {
		lang.Text("Know your e-mail address"), lang.Text("The address that you sign in with. Includes knowing who you are."), lang.Text("know your e-mail address"),
	},
	home.ScopeWrite: {
		lang.Text("Change your things"), lang.Text("Add, edit and move things and places. Includes seeing them. Nothing can be deleted."), lang.Text("change your things"),
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
func scopeWords(ctx context.Context, name string) words {
	if w, ok := scopes[name]; ok {
		return words{lang.T(ctx, w.title), lang.T(ctx, w.detail), lang.T(ctx, w.short)}
	}
	return words{title: name, short: name}
}

func shortScopes(ctx context.Context, names []string) []string {
	var short []string
	for _, name := range names {
		short = append(short, scopeWords(ctx, name).short)
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
func roleWords(ctx context.Context, r home.Role) string {
	switch r {
	case home.Viewer:
		return lang.T(ctx, "You are a viewer here: nothing can be changed.")
	case home.Owner:
		return lang.T(ctx, "You are an owner here.")
	case home.Admin:
		return lang.T(ctx, "You are an admin here.")
	case home.Member:
		return lang.T(ctx, "You are a member here.")
	}
	return ""
}

// timeView puts a moment into words.
func (h *Handlers) timeView(ctx context.Context, t time.Time) templates.TimeView {
	return templates.TimeView{ISO: t.UTC().Format(time.RFC3339), Full: lang.DateTime(ctx, t), Text: lang.Since(ctx, t, h.now())}
}

func (h *Handlers) timeViewOf(ctx context.Context, t *time.Time) *templates.TimeView {
	if t == nil {
		return nil
	}
	v := h.timeView(ctx, *t)
	return &v
}
