package web

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"gatehouse/app/limit"
)

// Revoke is the revocation endpoint (RFC 7009 §2).
func (h *Handlers) Revoke(c echo.Context) error {
	if err := h.takeByNetwork(c, limit.OAuthRevocations); err != nil {
		return err
	}
	in, err := readBackChannel(c)
	if err != nil {
		return err
	}
	if err := h.oauth.Revoke(c.Request().Context(), in.form, in.auth); err != nil {
		return h.countClientFailure(c, in.auth.ClientID, err)
	}
	return c.NoContent(http.StatusOK)
}
