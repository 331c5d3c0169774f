package web

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"gatehouse/app/account"
	"gatehouse/app/audit"
	"gatehouse/app/connection"
	"gatehouse/templates"
)

func purposeEditConnection(id string) string { return "edit connection " + id }

// EditConnection shows what a connection may do and where, to be changed.
func (h *Handlers) EditConnection(c echo.Context) error {
	session, err := h.requireSession(c)
	if err != nil {
		return err
	}
	existing, err := h.liveConnection(c, session)
	if err != nil {
		return err
	}
	view, err := h.editView(c, session, existing)
	if err != nil {
		return err
	}
	return render(c, http.StatusOK, templates.ConnectionEdit(*view))
}

func (h *Handlers) liveConnection(c echo.Context, session *account.Session) (*connection.Connection, error) {
	existing, err := h.connections.Get(c.Request().Context(), session.UserID, c.Param("connection"))
	if err == nil && !existing.Live(h.now()) {
		err = connection.ErrNotFound
	}
	return existing, err
}

func (h *Handlers) editView(c echo.Context, session *account.Session, existing *connection.Connection) (*templates.ConnectionEditView, error) {
	ctx := c.Request().Context()
	app := connectedApp(ctx, existing.Client)
	view := &templates.ConnectionEditView{
		Shell: h.shell(c, app.Name, templates.NavConnections), App: app, Located: h.located(existing.Resource),
		Expiries: h.expiryChoicesFor(ctx, existing),
		Action:   templ.SafeURL(connectionsPath + "/" + url.PathEscape(existing.ID)),
		Token:    visitOf(c).formToken(purposeEditConnection(existing.ID)),
	}
	h.addTools(c, view, existing)
	for _, r := range h.oauth.Resources() {
		if r.URI != existing.Resource {
			continue
		}
		for _, s := range r.Scopes {
			if (s.Identity || s.Reserved) && !slices.Contains(existing.Scopes, s.Name) {
				continue // offered only to apps that ask
			}
			w := scopeWords(ctx, s.Name)
			view.Scopes = append(view.Scopes, templates.ChoiceView{
				Value: s.Name, Title: w.title, Detail: w.detail, Ticked: slices.Contains(existing.Scopes, s.Name),
			})
		}
	}
	if !view.Located {
		return view, nil
	}
	var err error
	if view.Locations, err = h.offeredLocations(c, session.UserID, existing); err != nil {
		return nil, err
	}
	for i := range view.Locations {
		view.Locations[i].Mark = "" // the ticks say it already
	}
	return view, nil
}

// addTools shows single tools and their limits.
func (h *Handlers) addTools(c echo.Context, view *templates.ConnectionEditView, existing *connection.Connection) {
	ctx, choice := c.Request().Context(), h.editTools(existing)
	view.Tools = choice.choices(ctx)
	for i := range view.Tools {
		view.Tools[i].Mark = "" // the ticks say it already
	}
	view.Limits, view.LimitTargets = limitViews(ctx, choice.catalog, existing.Tools), limitTargets(ctx, choice.catalog)
}

// SaveConnection changes a connection.
func (h *Handlers) SaveConnection(c echo.Context) error {
	session, err := h.requireSession(c)
	if err != nil {
		return err
	}
	form, err := h.readPost(c, purposeEditConnection(c.Param("connection")))
	if err != nil {
		return err
	}
	existing, err := h.liveConnection(c, session)
	if err != nil {
		return err
	}
	edit := connection.Edit{Scopes: form["scope"], Terms: connection.Terms{Locations: form["location"]}, ExpiresAt: existing.ExpiresAt}
	if value := form.Get("expires"); isExpiry(value) {
		edit.ExpiresAt = h.chosenEnd(value, existing)
	}
	choice, limits := h.editTools(existing), parseLimits(form)
	rules, err := limitsOf(choice, limits)
	if err == nil {
		edit.Terms.HiddenTools, edit.Tools = choice.outcome(parseTools(form), rules)
		err = h.connections.Edit(c.Request().Context(), session.UserID, existing.ID, edit)
	}
	var invalid *connection.Invalid
	if errors.As(err, &invalid) {
		return h.askEditAgain(c, session, existing, form, invalidWords(c.Request().Context(), invalid))
	}
	if err != nil {
		return err
	}
	h.record(c, audit.Entry{
		Action: audit.ConnectionChanged, PersonID: session.UserID, ClientID: existing.Client.ID, ConnectionID: existing.ID,
		Detail: map[string]string{"scopes": strings.Join(edit.Scopes, " ")},
	})
	return see(c, connectionsPath+"?done=saved")
}

func (h *Handlers) askEditAgain(c echo.Context, session *account.Session, existing *connection.Connection, form url.Values, problem string) error {
	view, err := h.editView(c, session, existing)
	if err != nil {
		return err
	}
	view.Problem = problem
	retick(view.Scopes, form["scope"])
	retick(view.Locations, form["location"])
	if tools := parseTools(form); tools.shown {
		retick(view.Tools, tools.ticked)
	}
	if isExpiry(form.Get("expires")) {
		retick(view.Expiries, form["expires"])
	}
	limits := parseLimits(form)
	retick(view.Limits, limits.keep)
	view.LimitMaximum, view.LimitValue = limits.kind == "maximum", limits.text
	for i := range view.LimitTargets {
		view.LimitTargets[i].Chosen = view.LimitTargets[i].Value == limits.target
	}
	return render(c, http.StatusUnprocessableEntity, templates.ConnectionEdit(*view))
}
