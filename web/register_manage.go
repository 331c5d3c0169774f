package web

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"gatehouse/app/limit"
	"gatehouse/oauth"
)

// The client configuration endpoint (RFC 7592 §2) is the one place that takes PUT and DELETE, so it has a dispatcher of its
// own.

const managementMethods = "GET, HEAD, PUT, DELETE, OPTIONS"

func (h *Handlers) registerManagement(e *echo.Echo) {
	for _, path := range []string{oauth.PathRegister + "/:client", oauth.PathRegister + "/:client/"} {
		e.Any(path, h.ManageRegistration)
	}
}

// ManageRegistration lets a client read, replace and delete its registration.
func (h *Handlers) ManageRegistration(c echo.Context) error {
	c.Set(kindKey, BackChannel)
	h.prepare(c, BackChannel)
	if !h.oauthOn {
		return echo.ErrNotFound
	}
	switch c.Request().Method {
	case http.MethodOptions:
		return options(c, BackChannel, managementMethods)
	case http.MethodGet, http.MethodHead, http.MethodPut, http.MethodDelete:
	default:
		c.Response().Header().Set(echo.HeaderAllow, managementMethods)
		return echo.ErrMethodNotAllowed
	}
	if err := h.takeByNetwork(c, limit.OAuthManagement); err != nil {
		return err
	}
	token, err := bearerToken(c)
	if err != nil {
		return err
	}
	return h.manage(c, c.Param("client"), token)
}

func (h *Handlers) manage(c echo.Context, id, token string) error {
	ctx := c.Request().Context()
	var registration *oauth.Registration
	var err error
	switch c.Request().Method {
	case http.MethodPut:
		if !hasJSONBody(c.Request()) {
			return oauth.InvalidClientMetadata("The body must be application/json.").WithCheck("content_type")
		}
		body, err := readBody(c)
		if err != nil {
			return err
		}
		if registration, err = h.oauth.ReplaceRegistration(ctx, id, token, body); err != nil {
			return err
		}
	case http.MethodDelete:
		if err := h.oauth.DeleteRegistration(ctx, id, token); err != nil {
			return err
		}
		return c.NoContent(http.StatusNoContent)
	default:
		if registration, err = h.oauth.ReadRegistration(ctx, id, token); err != nil {
			return err
		}
	}
	return c.JSON(http.StatusOK, registration)
}

// bearerToken is the token of the Authorization header (RFC 6750 §2.1); empty without the header.
func bearerToken(c echo.Context) (string, error) {
	headers := c.Request().Header.Values(echo.HeaderAuthorization)
	if len(headers) == 0 {
		return "", nil
	}
	scheme, token, _ := strings.Cut(headers[0], " ")
	if len(headers) > 1 || !strings.EqualFold(scheme, "Bearer") || strings.TrimSpace(token) == "" {
		return "", oauth.InvalidRegistrationToken("The Authorization header is not one bearer token.")
	}
	return strings.TrimSpace(token), nil
}
