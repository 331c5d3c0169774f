package web

import (
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"gatehouse/oauth"
)

// Kind says what stands at a path: it decides headers and the form of errors.
type Kind int

// The kinds of routes.
const (
	// Document is a public JSON document that every site may read.
	Document Kind = iota + 1
	// BackChannel is an OAuth endpoint that programs call, also from other sites' pages.
	BackChannel
	// ServerChannel is an OAuth endpoint that only servers call: no page of another site may.
	ServerChannel
	// Page is for people in a browser, with a session and without CORS.
	Page
	// ClientPage is a page whose form may end in a redirect to a client, so that no form-action may stand in its policy.
	ClientPage
	// File is a static file.
	File
)

// Route is one path with its handlers by method. Both forms, with and without trailing slash, answer.
type Route struct {
	Kind Kind
	Path string
	Get  echo.HandlerFunc
	Post echo.HandlerFunc
}

// Routes lists everything that this package serves.
func (h *Handlers) Routes() []Route {
	return slices.Concat(h.oauthRoutes(), h.pageRoutes(), h.adminRoutes(), h.peopleRoutes(), h.fileRoutes())
}

func (h *Handlers) oauthRoutes() []Route {
	return []Route{
		{Document, oauth.PathServerMetadata, h.ServerMetadata, nil},
		{Document, oauth.PathOpenIDConfiguration, h.OpenIDConfiguration, nil},
		{Document, oauth.PathResourceMetadata, h.ResourceMetadata, nil},
		{Document, oauth.PathResourceMetadata + "/*", h.ResourceMetadata, nil},
		{Document, oauth.PathJWKS, h.JWKS, nil},
		{Document, "/.well-known/*", h.NoDocument, nil},

		{BackChannel, oauth.PathRegister, nil, h.RegisterClient},
		{BackChannel, oauth.PathToken, nil, h.Token},
		{BackChannel, oauth.PathRevoke, nil, h.Revoke},
		{BackChannel, oauth.PathPush, nil, h.PushAuthorization},
		{BackChannel, oauth.PathDeviceAuthorization, nil, h.AuthorizeDevice},
		{ServerChannel, oauth.PathIntrospect, nil, h.Introspect},
		{BackChannel, oauth.PathUserInfo, h.UserInfo, h.UserInfo},
		{ServerChannel, oauth.PathGrants, h.QueryGrant, nil}, // no grant has no id; the answer says whether a token would do
		{ServerChannel, grantPath, h.QueryGrant, nil},
		{ClientPage, oauth.PathAuthorize, h.Authorize, h.Authorize},
		// Clients whose discovery fails guess these; they are the same endpoints.
		{BackChannel, "/oauth/register", nil, h.RegisterClient},
		{BackChannel, "/oauth/token", nil, h.Token},
		{BackChannel, "/oauth/revoke", nil, h.Revoke},
		{ClientPage, "/oauth/authorize", h.Authorize, h.Authorize},

		{Page, oauth.PathDevice, h.DevicePage, h.EnterDeviceCode},
		{Page, deviceDecisionPath, h.SeeDevice, h.DecideDevice},
		{ClientPage, "/authorize/:request", h.Consent, nil},
		{ClientPage, "/authorize/:request/logo", h.ClientLogo, nil},
		{ClientPage, "/authorize/:request/decision", h.SeeConsent, h.Decide},
	}
}

func (h *Handlers) pageRoutes() []Route {
	return []Route{
		{Page, "/", h.Home, nil},
		// A sign-in can lead on to the client at once, when the request turns out to be refused.
		{ClientPage, "/signin", h.SignInPage, h.SignIn},
		{ClientPage, secondPath, h.SecondFactorPage, h.SecondFactor},
		{ClientPage, passkeySignInPath, h.SeeSignIn, h.AskPasskey},
		{ClientPage, passkeySignInPath + "/finish", h.SeeSignIn, h.SignInByPasskey},
		{Page, "/signout", nil, h.SignOut},
		{Page, "/language", h.SeeLanguage, h.ChooseLanguage},
		{Page, "/setup", h.SetupPage, h.Setup},
		{Page, "/reset", h.ResetPage, h.Reset},
		{Page, "/things/:thing", h.Thing, nil},
		{Page, "/settings", h.Settings, nil},
		{Page, "/settings/connect", h.Connect, nil},
		{Page, livePath, h.ConnectLive, nil},
		{Page, "/settings/connections", h.Connections, nil},
		{Page, "/settings/connections/tokens", h.SeeConnections, h.CreateToken},
		{Page, createdTokenPath, h.CreatedToken, nil},
		{Page, "/settings/connections/tokens/:token/revoke", h.SeeConnections, h.RevokeToken},
		{Page, "/settings/connections/:connection", h.EditConnection, h.SaveConnection},
		{Page, "/settings/connections/:connection/disconnect", h.SeeConnections, h.Disconnect},
		{Page, "/settings/connections/:connection/installations/:installation/end", h.SeeConnections, h.EndInstallation},
		{Page, "/settings/connections/:connection/activity", h.Activity, nil},
		{Page, "/settings/connections/:connection/activity/undo", h.SeeActivity, h.UndoEverything},
		{Page, "/settings/connections/:connection/activity/:event/undo", h.SeeActivity, h.UndoOne},
		{Page, "/settings/connections/tokens/:token/activity", h.Activity, nil},
		{Page, "/settings/connections/tokens/:token/activity/undo", h.SeeActivity, h.UndoEverything},
		{Page, "/settings/connections/tokens/:token/activity/:event/undo", h.SeeActivity, h.UndoOne},
		{Page, "/settings/account", h.Account, nil},
		{Page, "/settings/account/password", h.SeeAccount, h.ChangePassword},
		{Page, factorsPath, h.Factors, nil},
		{Page, factorsPath + "/password", h.SeeFactors, h.SetPassword},
		{Page, factorsPath + "/password/remove", h.SeeFactors, h.DropPassword},
		{Page, factorsPath + "/passkeys/add", h.SeeFactors, h.AskNewPasskey},
		{Page, factorsPath + "/passkeys/finish", h.SeeFactors, h.AddPasskey},
		{Page, factorsPath + "/passkeys/:passkey/rename", h.SeeFactors, h.RenamePasskey},
		{Page, factorsPath + "/passkeys/:passkey/remove", h.SeeFactors, h.RemovePasskey},
		{Page, enrolPath, h.EnrolPage, h.BeginEnrol},
		{Page, enrolPath + "/confirm", h.SeeEnrol, h.ConfirmEnrol},
		{Page, enrolPath + "/remove", h.SeeFactors, h.RemoveAuthenticator},
		{Page, recoveryCodesPath, h.RecoveryCodes, h.NewRecoveryCodes},
		{Page, "/settings/account/sessions/end-others", h.SeeAccount, h.EndOtherSessions},
		{Page, "/settings/account/sessions/:session/end", h.SeeAccount, h.EndSession},
	}
}

func (h *Handlers) fileRoutes() []Route {
	return []Route{
		{File, "/static/:name", h.Static, nil},
		{File, "/favicon.ico", h.Favicon, nil},
	}
}

// Register adds all routes. OAuth endpoints are left out while OAuth is off; they answer 404 then.
func (h *Handlers) Register(e *echo.Echo) {
	h.registerManagement(e)
	for _, r := range h.Routes() {
		handler := h.dispatch(r)
		e.Any(r.Path, handler)
		if !strings.HasSuffix(r.Path, "/") && !strings.HasSuffix(r.Path, "*") {
			e.Any(r.Path+"/", handler)
		}
	}
}

// dispatch prepares the answer's headers for the route's kind and picks the handler for the method.
func (h *Handlers) dispatch(r Route) echo.HandlerFunc {
	allow := allowed(r)
	for method := range h.moreMethods(r.Path) {
		allow += ", " + method
	}
	off := !h.oauthOn && isOAuthPath(r.Path)
	return func(c echo.Context) error {
		c.Set(kindKey, r.Kind)
		h.prepare(c, r.Kind)
		if off {
			return echo.ErrNotFound
		}
		handler := r.Get
		switch c.Request().Method {
		case http.MethodGet, http.MethodHead:
		case http.MethodPost:
			handler = r.Post
		case http.MethodOptions:
			return options(c, r.Kind, allow)
		default:
			handler = h.moreMethods(r.Path)[c.Request().Method]
		}
		if handler == nil {
			c.Response().Header().Set(echo.HeaderAllow, allow)
			return echo.ErrMethodNotAllowed
		}
		if r.Kind == Page || r.Kind == ClientPage {
			return h.openPage(c, handler)
		}
		return handler(c)
	}
}

func allowed(r Route) string {
	var methods []string
	if r.Get != nil {
		methods = append(methods, http.MethodGet, http.MethodHead)
	}
	if r.Post != nil {
		methods = append(methods, http.MethodPost)
	}
	return strings.Join(append(methods, http.MethodOptions), ", ")
}

// options answers OPTIONS without looking at anything else: a preflight carries no credentials.
func options(c echo.Context, kind Kind, allow string) error {
	header := c.Response().Header()
	header.Set(echo.HeaderAllow, allow)
	if kind == Document || kind == BackChannel {
		preflight(header, allow)
	}
	return c.NoContent(http.StatusNoContent)
}

// isOAuthPath reports whether errors at the path are for OAuth clients and the endpoint exists only while OAuth is on.
func isOAuthPath(path string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	switch first {
	case ".well-known", "register", "token", "revoke", "par", "introspect", "userinfo", "oauth", "authorize", "grants", "device_authorization", "device":
		return true
	}
	return false
}

const kindKey = "web.kind"

// kindOf is the kind of the route that answers, or of the closest one when none matched.
func kindOf(c echo.Context) Kind {
	if kind, ok := c.Get(kindKey).(Kind); ok {
		return kind
	}
	path := c.Request().URL.Path
	switch {
	case strings.HasPrefix(path, "/.well-known"):
		return Document
	case strings.HasPrefix(path, "/authorize"), strings.HasPrefix(path, "/oauth/authorize"):
		return ClientPage
	case path == oauth.PathDevice, strings.HasPrefix(path, oauth.PathDevice+"/"):
		return Page
	case strings.HasPrefix(path, "/introspect"), strings.HasPrefix(path, oauth.PathGrants+"/"):
		return ServerChannel
	case isOAuthPath(path):
		return BackChannel
	}
	return Page
}
