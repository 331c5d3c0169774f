package web

import (
	"mime"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"gatehouse/app/limit"
	"gatehouse/oauth"
)

// RegisterClient is the registration endpoint (RFC 7591 §3).
func (h *Handlers) RegisterClient(c echo.Context) error {
	if err := h.takeByNetwork(c, limit.RegistrationsOfOne); err != nil {
		return err
	}
	if err := h.take(c, limit.Registrations, "all"); err != nil {
		return err
	}
	if !hasJSONBody(c.Request()) {
		return oauth.InvalidClientMetadata("The body must be application/json.").WithCheck("content_type")
	}
	body, err := readBody(c)
	if err != nil {
		return err
	}
	token, err := bearerToken(c)
	if err != nil {
		return err
	}
	registration, err := h.oauth.RegisterWith(c.Request().Context(), body, token)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusCreated, registration)
}

// hasJSONBody accepts application/json and types that say they are JSON.
func hasJSONBody(r *http.Request) bool {
	got, _, err := mime.ParseMediaType(r.Header.Get(echo.HeaderContentType))
	return err == nil && (got == echo.MIMEApplicationJSON || strings.HasPrefix(got, "application/") && strings.HasSuffix(got, "+json"))
}
