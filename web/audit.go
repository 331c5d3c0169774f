package web

import (
	"context"

	"github.com/labstack/echo/v4"

	"gatehouse/app/audit"
)

// Audit is the record of what changes who may do what; audit.Service is one.
type Audit interface {
	Record(ctx context.Context, e audit.Entry)
	List(ctx context.Context, f audit.Filter) (list []audit.Entry, next string, err error)
}

// record writes down what the signed-in person just did. Actor and address are filled in.
func (h *Handlers) record(c echo.Context, e audit.Entry) {
	if e.Actor == "" {
		e.Actor, e.ActorID = audit.ActorPerson, visitOf(c).userID()
	}
	if e.Address == "" {
		e.Address = c.RealIP()
	}
	h.audit.Record(c.Request().Context(), e)
}
