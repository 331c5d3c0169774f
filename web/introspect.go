package web

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"gatehouse/app/limit"
	"gatehouse/oauth"
)

// Introspect is the introspection endpoint (RFC 7662 §2), with the signed answer of RFC 9701 for those who ask for it.
func (h *Handlers) Introspect(c echo.Context) error {
	if err := h.takeByNetwork(c, limit.OAuthIntrospections); err != nil {
		return err
	}
	in, err := readBackChannel(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	answer, err := h.oauth.Introspect(ctx, in.form, in.auth)
	if err != nil {
		return h.countClientFailure(c, in.auth.ClientID, err)
	}
	if !strings.Contains(c.Request().Header.Get(echo.HeaderAccept), oauth.IntrospectionJWT) {
		return c.JSON(http.StatusOK, answer)
	}
	signed, err := h.oauth.SignIntrospection(ctx, answer)
	if err != nil {
		return err
	}
	return c.Blob(http.StatusOK, oauth.IntrospectionJWT, []byte(signed))
}
