package web

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"gatehouse/templates"
)

// Static serves the style sheet and the icon. Their names hold a hash, so they never change.
func (h *Handlers) Static(c echo.Context) error {
	for _, a := range templates.Assets() {
		if c.Request().URL.Path == a.Path {
			c.Response().Header().Set("Cache-Control", "public, max-age=31536000, immutable")
			return c.Blob(http.StatusOK, a.ContentType, a.Body)
		}
	}
	return echo.ErrNotFound
}

// Favicon answers browsers that ask for the icon under its old name, as they do for JSON documents.
func (h *Handlers) Favicon(c echo.Context) error {
	c.Response().Header().Set("Cache-Control", "public, max-age=86400")
	return c.Blob(http.StatusOK, templates.Icon.ContentType, templates.Icon.Body)
}
