package web

import (
	"context"
	"net/url"
	"slices"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"gatehouse/app/account"
	"gatehouse/app/connection"
	"gatehouse/oauth"
	"gatehouse/templates"
	"gatehouse/templates/lang"
)

const purposeSignOut = "sign out"

func purposeConsent(id string) string { return "consent " + id }

// consentView gathers what the consent page shows.
func (h *Handlers) consentView(c echo.Context, p *oauth.Prompt, person account.Person) (*templates.ConsentView, error) {
	ctx, v := c.Request().Context(), visitOf(c)
	existing, err := h.connections.Existing(ctx, person.ID, p.Client.ID, p.Resource.URI)
	if err != nil {
		return nil, err
	}
	view := &templates.ConsentView{
		Shell:        h.shell(c, say(c, "Allow {app}?", "app", clientName(ctx, p.Client.Name, p.Client.ID)), ""),
		Action:       templ.SafeURL(consentPath(p.RequestID) + "/decision"),
		Token:        v.formToken(purposeConsent(p.RequestID)),
		App:          appView(ctx, p.Client),
		RedirectHost: p.RedirectHost,
		ThisComputer: p.RedirectLoopback || p.RedirectPrivateScheme,
		OtherHost:    p.Client.Host != "" && !p.RedirectLoopback && p.RedirectHost != hostname(p.Client.Host),
		Resource:     resourceName(p.Resource),
		PersonName:   person.Name, PersonEmail: person.Email,
		SwitchToken: v.formToken(purposeSignOut), RequestID: p.RequestID,
		Scopes:   offeredScopes(ctx, p.Offered, existing),
		Located:  h.located(p.Resource.URI) && slices.ContainsFunc(p.Offered, func(o oauth.OfferedScope) bool { return !p.Resource.IsIdentity(o.Name) }),
		Expiries: h.expiryChoicesFor(ctx, existing),
		Existing: h.existingView(ctx, existing, p),
		NewHost:  p.NewHost, Logo: logoPath(p),
	}
	if existing != nil {
		view.Changed, view.ChangedSince = changedWords(ctx, p.Client.ChangedSince(existing.UpdatedAt)), h.timeView(ctx, existing.UpdatedAt)
	}
	tools, err := h.consentTools(p, existing)
	if err != nil {
		return nil, err
	}
	view.Tools, view.ToolsOpen = tools.choices(ctx), tools.asked
	h.addChanges(ctx, view, p, existing, tools)
	if view.Located {
		view.Locations, err = h.offeredLocations(c, person.ID, existing)
	}
	return view, err
}

// hostname drops the port, which the host of a redirect is shown without, too.
func hostname(host string) string { return (&url.URL{Host: host}).Hostname() }

func appView(ctx context.Context, client *oauth.Client) templates.AppView {
	return templates.AppView{
		Name: clientName(ctx, client.Name, client.ID), Host: client.Host, Trusted: client.Kind == oauth.ClientRegistered,
	}
}

// clientName is what to call a client that may not have given itself a name.
func clientName(ctx context.Context, name, id string) string {
	if name != "" {
		return name
	}
	if id == "" {
		return lang.T(ctx, "An app")
	}
	return lang.T(ctx, "App {id}", "id", id)
}

// resourceName says what is to be reached: the name, and the address, which cannot be mistaken.
func resourceName(r *oauth.Resource) string {
	if r.Name == "" {
		return r.URI
	}
	return r.Name + " (" + r.URI + ")"
}

// offeredScopes puts the scopes into words and marks what an earlier approval holds already.
func offeredScopes(ctx context.Context, offered []oauth.OfferedScope, existing *connection.Connection) []templates.ChoiceView {
	var choices []templates.ChoiceView
	for _, o := range offered {
		w := scopeWords(ctx, o.Name)
		choice := templates.ChoiceView{Value: o.Name, Title: w.title, Detail: w.detail, Ticked: o.Ticked}
		if existing != nil {
			choice.Mark, choice.Fresh = mark(ctx, slices.Contains(existing.Scopes, o.Name))
		}
		choices = append(choices, choice)
	}
	return choices
}

func mark(ctx context.Context, had bool) (string, bool) {
	if had {
		return lang.T(ctx, "has it now"), false
	}
	return lang.T(ctx, "new"), true
}

// offeredLocations lists the person's locations. Those of an earlier approval are ticked, otherwise the first.
func (h *Handlers) offeredLocations(c echo.Context, userID string, existing *connection.Connection) ([]templates.ChoiceView, error) {
	ctx := c.Request().Context()
	list, err := h.homes.Choices(ctx, userID)
	if err != nil {
		return nil, err
	}
	var choices []templates.ChoiceView
	for _, a := range list {
		choice := templates.ChoiceView{Value: a.LocationID, Title: a.Name, Detail: roleWords(ctx, a.Role)}
		if existing != nil {
			choice.Ticked = reaches(existing, a.LocationID)
			choice.Mark, choice.Fresh = mark(ctx, choice.Ticked)
		}
		choices = append(choices, choice)
	}
	if existing == nil && len(choices) > 0 {
		choices[0].Ticked = true
	}
	return choices, nil
}

func reaches(c *connection.Connection, locationID string) bool {
	return slices.ContainsFunc(c.Locations, func(l connection.Location) bool { return l.ID == locationID })
}

// existingView says what an earlier approval holds and what this request adds to it.
func (h *Handlers) existingView(ctx context.Context, existing *connection.Connection, p *oauth.Prompt) *templates.ExistingView {
	if existing == nil {
		return nil
	}
	view := &templates.ExistingView{
		Since: h.timeView(ctx, existing.CreatedAt), Scopes: shortScopes(ctx, existing.Scopes), Locations: locationNames(existing.Locations),
	}
	for _, name := range p.Requested {
		if !slices.Contains(existing.Scopes, name) {
			view.Adds = append(view.Adds, scopeWords(ctx, name).short)
		}
	}
	return view
}

// addChanges completes what is said of an earlier approval: what tools it has and when it ends, what is taken away, and
// what becomes of it.
func (h *Handlers) addChanges(ctx context.Context, view *templates.ConsentView, p *oauth.Prompt, existing *connection.Connection, tools *toolChoice) {
	e := view.Existing
	if e == nil {
		return
	}
	summary, limits := h.toolSummary(ctx, existing)
	e.Tools, e.Limits, e.Expires = summary, limits, h.timeViewOf(ctx, existing.ExpiresAt)
	e.Anew, e.Adding = p.GrantAction == oauth.GrantCreate, p.GrantAction == oauth.GrantMerge
	if !e.Adding {
		for _, s := range view.Scopes {
			if slices.Contains(existing.Scopes, s.Value) && !s.Ticked {
				e.Drops = append(e.Drops, scopeWords(ctx, s.Value).short)
			}
		}
	}
	if tools.asked {
		for i := range tools.catalog {
			tool := &tools.catalog[i]
			switch had, will := has(existing, tool), tools.base.Allows(tool.Name, tool.Write); {
			case will && !had:
				e.Adds = append(e.Adds, lang.T(ctx, tool.Title))
			case had && !will && !e.Adding:
				e.Drops = append(e.Drops, lang.T(ctx, tool.Title))
			}
		}
	}
}

// expiryChoicesFor offers to leave the end of a connection as it is, where it has one.
func (h *Handlers) expiryChoicesFor(ctx context.Context, existing *connection.Connection) []templates.ChoiceView {
	if existing == nil || existing.ExpiresAt == nil {
		return expiryChoices(ctx, "forever")
	}
	keep := templates.ChoiceView{
		Value: keepExpiry, Ticked: true,
		Title: lang.T(ctx, "As it is: until {date}", "date", lang.DateTime(ctx, *existing.ExpiresAt)),
	}
	return append([]templates.ChoiceView{keep}, expiryChoices(ctx, "")...)
}

func expiryChoices(ctx context.Context, ticked string) []templates.ChoiceView {
	var choices []templates.ChoiceView
	for _, e := range expiries {
		choices = append(choices, templates.ChoiceView{Value: e.value, Title: lang.T(ctx, e.title), Ticked: e.value == ticked})
	}
	return choices
}
