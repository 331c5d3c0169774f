package web

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"gatehouse/app/limit"
	"gatehouse/oauth"
)

// Token is the token endpoint (OAuth 2.1 §3.2).
func (h *Handlers) Token(c echo.Context) error {
	if err := h.takeByNetwork(c, limit.OAuthTokens); err != nil {
		return err
	}
	in, err := readBackChannel(c)
	if err != nil {
		return err
	}
	ctx := oauth.WithDeviceHint(c.Request().Context(), deviceName(c.Request().Context(), c.Request().UserAgent()))
	in.auth.Proof = oauth.ProofRequest{Headers: c.Request().Header.Values("DPoP"), Method: c.Request().Method, URL: h.url + c.Path()}
	tokens, err := h.oauth.Token(ctx, in.form, in.auth)
	if err != nil {
		return h.countClientFailure(c, in.auth.ClientID, err)
	}
	return c.JSON(http.StatusOK, tokens)
}
