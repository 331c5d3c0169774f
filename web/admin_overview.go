package web

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"gatehouse/app/audit"
	"gatehouse/templates"
	"gatehouse/templates/lang"
)

// latestShown is how many audit entries the overview shows.
const latestShown = 5

// AdminOverview is the start page of the administration.
func (h *Handlers) AdminOverview(c echo.Context) error {
	if _, err := h.requireAdmin(c); err != nil {
		return err
	}
	ctx := c.Request().Context()
	view := templates.AdminOverviewView{Admin: h.adminShell(c, lang.T(ctx, "Administration"), adminPath)}
	tiles, err := h.adminTiles(ctx)
	if err != nil {
		return err
	}
	view.Tiles = tiles
	entries, _, err := h.audit.List(ctx, audit.Filter{Limit: latestShown})
	if err != nil {
		return err
	}
	view.Latest = h.auditEntries(ctx, entries)
	return render(c, http.StatusOK, templates.AdminOverview(view))
}
