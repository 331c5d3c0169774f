package web

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"gatehouse/app/audit"
	"gatehouse/app/limit"
	"gatehouse/oauth"
)

const grantPath = oauth.PathGrants + "/:grant"

// moreMethods are the handlers of paths that answer more than GET and POST.
func (h *Handlers) moreMethods(path string) map[string]echo.HandlerFunc {
	if path == grantPath || path == oauth.PathGrants {
		return map[string]echo.HandlerFunc{http.MethodDelete: h.RevokeGrant}
	}
	return nil
}

// QueryGrant says what a connection holds, to the client it belongs to (grant management).
func (h *Handlers) QueryGrant(c echo.Context) error {
	access, err := h.grantAccess(c)
	if err != nil {
		return err
	}
	view, err := h.oauth.QueryGrant(c.Request().Context(), c.Param("grant"), access)
	if err != nil {
		return err
	}
	noStore(c.Response().Header())
	return c.JSON(http.StatusOK, view)
}

// RevokeGrant ends a connection for the client it belongs to.
func (h *Handlers) RevokeGrant(c echo.Context) error {
	access, err := h.grantAccess(c)
	if err != nil {
		return err
	}
	ended, err := h.oauth.RevokeGrant(c.Request().Context(), c.Param("grant"), access)
	if err != nil {
		return err
	}
	h.record(c, audit.Entry{
		Actor: audit.ActorClient, ActorID: ended.ClientID, Action: audit.ConnectionEnded,
		PersonID: ended.UserID, ClientID: ended.ClientID, ConnectionID: ended.ID,
	})
	return c.NoContent(http.StatusNoContent)
}

// grantAccess reads the access token of a request. One in the query or the body counts as none.
func (h *Handlers) grantAccess(c echo.Context) (oauth.GrantAccess, error) {
	var access oauth.GrantAccess
	if err := h.takeByNetwork(c, limit.OAuthIntrospections); err != nil {
		return access, err
	}
	r := c.Request()
	values := r.Header.Values(echo.HeaderAuthorization)
	if len(values) > 1 {
		return access, oauth.InvalidRequest("Send the Authorization field once.").WithCheck("token")
	}
	if len(values) == 1 {
		access.Scheme, access.Token, _ = strings.Cut(strings.TrimSpace(values[0]), " ")
		access.Token = strings.TrimSpace(access.Token)
	}
	access.Proof = oauth.ProofRequest{Headers: r.Header.Values("DPoP"), Method: r.Method, URL: h.url + r.URL.Path}
	return access, nil
}
