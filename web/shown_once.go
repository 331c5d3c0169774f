package web

import (
	"fmt"
	"net/http"

	"github.com/labstack/echo/v4"

	"gatehouse/templates"
	"gatehouse/templates/lang"
)

// Secrets that administrators make for others are shown by a page of its own, this once, as new personal tokens are: they
// travel there in a cookie that is sealed under the session's secret, and the page removes it.

const adminOncePath = adminPath + "/once"

// onceKinds are what can be shown once: a word for the cookie, and the page to go back to.
const (
	onceResetLink = "reset"
	onceClient    = "client"
	onceRegister  = "register"
)

// shownOnce is what the page shows.
type shownOnce struct {
	Kind string `json:"k"`
	// Name is the person's address or the client's name.
	Name   string `json:"n"`
	ID     string `json:"i,omitempty"`
	Secret string `json:"s"`
}

func (h *Handlers) onceCookie() string { return h.cookiePrefix() + "gatehouse-once" }

// showOnce sends the browser to the page that shows a secret.
func (h *Handlers) showOnce(c echo.Context, s shownOnce) error {
	sealed, err := visitOf(c).seal(h.rand, s)
	if err != nil {
		return fmt.Errorf("show once: %w", err)
	}
	c.SetCookie(h.cookie(h.onceCookie(), sealed, createdTokenLife))
	return see(c, adminOncePath)
}

// AdminOnce shows a secret, this once.
func (h *Handlers) AdminOnce(c echo.Context) error {
	if _, err := h.requireAdmin(c); err != nil {
		return err
	}
	cookie, err := c.Cookie(h.onceCookie())
	if err != nil {
		return see(c, adminPath)
	}
	c.SetCookie(h.cookie(h.onceCookie(), "", 0))
	var s shownOnce
	if err := visitOf(c).unseal(cookie.Value, &s); err != nil {
		return see(c, adminPath) // another session's
	}
	ctx := c.Request().Context()
	view := templates.OnceView{}
	switch s.Kind {
	case onceClient:
		view.Admin, view.Back = h.adminShell(c, lang.T(ctx, "The client's secret"), adminClientsPath), back(ctx, adminClientsPath, "Clients")
		view.Text = lang.T(ctx, "Copy the secret of {name} now. It is not shown again.", "name", s.Name)
		view.Values = []templates.SnippetView{{Title: "client_id", Text: s.ID}, {Title: "client_secret", Text: s.Secret}}
	case onceRegister:
		view.Admin, view.Back = h.adminShell(c, lang.T(ctx, "Registration token"), adminPoliciesPath), back(ctx, adminPoliciesPath, lang.Text("Policies"))
		view.Text = lang.T(ctx, "Copy the token {name} now. It is not shown again.", "name", s.Name)
		view.Values = []templates.SnippetView{{Title: lang.T(ctx, "Initial access token"), Text: s.Secret,
			Where: lang.T(ctx, "An app sends it when it registers: Authorization: Bearer, then the token.")}}
	default:
		view.Admin, view.Back = h.adminShell(c, lang.T(ctx, "One-time link"), adminPeoplePath), back(ctx, adminPeoplePath, "People")
		view.Text = lang.T(ctx, "Give this link to {name} now. It is not shown again.", "name", s.Name)
		view.Values = []templates.SnippetView{{Title: lang.T(ctx, "Link to set a password"), Text: s.Secret,
			Where: lang.T(ctx, "It works once, within 24 hours. Setting the password signs them out everywhere and ends their connections and personal tokens.")}}
	}
	return render(c, http.StatusOK, templates.AdminOnce(view))
}
