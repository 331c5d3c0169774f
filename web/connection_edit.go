package web

import (
	"errors"
	"net/http"
	"net/url"
	"slices"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"gatehouse/app/account"
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
	app := connectedApp(existing.Client)
	view := &templates.ConnectionEditView{
		Shell: h.shell(c, app.Name, templates.NavConnections), App: app, Located: h.located(existing.Resource),
		Expires: h.timeViewOf(existing.ExpiresAt),
		Action:  templ.SafeURL(connectionsPath + "/" + url.PathEscape(existing.ID)),
		Token:   visitOf(c).formToken(purposeEditConnection(existing.ID)),
	}
	for _, r := range h.oauth.Resources() {
		if r.URI != existing.Resource {
			continue
		}
		for _, s := range r.Scopes {
			if s.Identity && !slices.Contains(existing.Scopes, s.Name) {
				continue // offered only to apps that ask
			}
			w := scopeWords(s.Name)
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

// SaveConnection changes a connection. Hidden tools stay as they are.
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
	edit := connection.Edit{
		Scopes: form["scope"], Terms: connection.Terms{Locations: form["location"], HiddenTools: existing.HiddenTools},
	}
	err = h.connections.Edit(c.Request().Context(), session.UserID, existing.ID, edit)
	var invalid *connection.Invalid
	if errors.As(err, &invalid) {
		return h.askEditAgain(c, session, existing, edit, invalid.Message)
	}
	if err != nil {
		return err
	}
	return see(c, connectionsPath+"?done=saved")
}

func (h *Handlers) askEditAgain(c echo.Context, session *account.Session, existing *connection.Connection, edit connection.Edit, problem string) error {
	view, err := h.editView(c, session, existing)
	if err != nil {
		return err
	}
	view.Problem = problem
	retick(view.Scopes, edit.Scopes)
	retick(view.Locations, edit.Terms.Locations)
	return render(c, http.StatusUnprocessableEntity, templates.ConnectionEdit(*view))
}
