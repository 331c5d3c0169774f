package web

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"gatehouse/app/limit"
	"gatehouse/oauth"
)

// PushAuthorization is the pushed authorization request endpoint (RFC 9126 §2).
func (h *Handlers) PushAuthorization(c echo.Context) error {
	if err := h.takeByNetwork(c, limit.OAuthPushes); err != nil {
		return err
	}
	in, err := readBackChannel(c)
	if err != nil {
		return err
	}
	in.auth.Proof = oauth.ProofRequest{Headers: c.Request().Header.Values("DPoP"), Method: c.Request().Method, URL: h.url + c.Path()}
	pushed, err := h.oauth.PushAuthorization(c.Request().Context(), in.form, in.auth)
	if err != nil {
		return h.countClientFailure(c, in.auth.ClientID, err)
	}
	return c.JSON(http.StatusCreated, pushed)
}
