package web

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"gatehouse/templates"
)

// Home is the start page.
func (h *Handlers) Home(c echo.Context) error {
	session, err := h.requireSession(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	connections, err := h.connections.List(ctx, session.UserID)
	if err != nil {
		return err
	}
	memberships, err := h.homes.LocationsOf(ctx, session.UserID)
	if err != nil {
		return err
	}
	view := templates.HomeView{
		Shell: h.shell(c, say(c, "Hello, {name}", "name", session.Person.Name), templates.NavHome), URL: h.mcpURL(), Unavailable: h.unavailable(ctx), Connections: len(connections),
	}
	for _, m := range memberships {
		view.Locations = append(view.Locations, m.Name)
	}
	return render(c, http.StatusOK, templates.Home(view))
}

// Settings leads to the settings that people look for most.
func (h *Handlers) Settings(c echo.Context) error { return see(c, "/settings/connections") }

// mcpURL is the address to paste into an app: the default resource.
func (h *Handlers) mcpURL() string { return h.oauth.Resources()[0].URI }
