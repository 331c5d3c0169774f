package app

import (
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
)

// Healthz says that the process runs. It touches nothing else, so that a database outage does not restart the program.
func (a *App) Healthz(c echo.Context) error { return c.String(http.StatusOK, "ok\n") }

// Readyz says whether requests should come here: the database answers and the program is not stopping.
func (a *App) Readyz(c echo.Context) error {
	c.Response().Header().Set("Cache-Control", "no-store")
	if a.stopping.Load() {
		return c.String(http.StatusServiceUnavailable, "stopping\n")
	}
	ctx, cancel := context.WithTimeout(c.Request().Context(), 2*time.Second)
	defer cancel()
	if err := a.db.Ping(ctx); err != nil {
		a.log.Warn("not ready", "cause", err)
		return c.String(http.StatusServiceUnavailable, "the database does not answer\n")
	}
	return c.String(http.StatusOK, "ready\n")
}
