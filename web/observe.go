package web

import "github.com/labstack/echo/v4"

// note tells the observer of an event, with who called.
func (h *Handlers) note(c echo.Context, e Event) {
	e.Address, e.UserAgent, e.HTTPRequestID = c.RealIP(), c.Request().UserAgent(), requestID(c)
	h.observer.ObserveEvent(c.Request().Context(), e)
}
