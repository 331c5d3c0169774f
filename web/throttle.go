package web

import (
	"errors"

	"github.com/labstack/echo/v4"

	"gatehouse/app/limit"
	"gatehouse/oauth"
)

// take counts a call; one over the limit gives *limit.Exceeded.
func (h *Handlers) take(c echo.Context, spec limit.Spec, key string) error {
	result, err := h.limiter.Take(c.Request().Context(), spec, key)
	if err != nil {
		return oauth.TemporarilyUnavailable(err)
	}
	return result.Err()
}

// takeByNetwork counts a call under the caller's network.
func (h *Handlers) takeByNetwork(c echo.Context, spec limit.Spec) error {
	return h.take(c, spec, limit.Network(c.RealIP()))
}

// countClientFailure counts a wrong client authentication. Beyond the limit the answer no longer tells whether a guess was
// right; a right secret always works, so that nobody can lock a client out.
func (h *Handlers) countClientFailure(c echo.Context, clientID string, err error) error {
	var protocol *oauth.Error
	if !errors.As(err, &protocol) || protocol.Check != "client_secret" {
		return err
	}
	if over := h.take(c, limit.OAuthClientFailures, clientID+" "+limit.Network(c.RealIP())); over != nil {
		return over
	}
	return err
}
