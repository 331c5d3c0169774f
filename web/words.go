package web

import (
	"context"
	"time"

	"gatehouse/app/connection"
	"gatehouse/app/home"
	"gatehouse/templates"
	"gatehouse/templates/lang"
)

// words are a scope for people: a title for a tick, what it means, and a few words for a list.
type words struct{ title, detail, short string }

var scopes = map[string]words{
	home.ScopeRead: {
		lang.Text("See your things"), lang.Text("Read and search the inventory: things, places, dates and notes."), lang.Text("see your things"),
	},
	home.ScopeWrite: {
		lang.Text("Change your things"), lang.Text("Add, edit and move things and places. Includes seeing them. Nothing can be deleted."), lang.Text("change your things"),
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

// tooManyTries says how long to wait.
func tooManyTries(ctx context.Context, seconds int) string {
	return lang.N(ctx, seconds, "Too many tries. Wait 1 second, then try again.", "Too many tries. Wait {n} seconds, then try again.")
}
