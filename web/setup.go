package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/labstack/echo/v4"

	"gatehouse/app/account"
	"gatehouse/app/connection"
	"gatehouse/app/limit"
	"gatehouse/templates"
	"gatehouse/templates/lang"
)

const (
	purposeSetup = "setup"
	purposeReset = "reset"
)

// SetupPage opens a set-up link.
func (h *Handlers) SetupPage(c echo.Context) error {
	if err := h.takeByNetwork(c, limit.LinkTries); err != nil {
		return err
	}
	token := c.QueryParam("token")
	if err := h.accounts.CheckSetup(c.Request().Context(), token); err != nil {
		return err
	}
	return h.showSetup(c, http.StatusOK, templates.SetupView{Link: token, Location: say(c, "Home")})
}

func (h *Handlers) showSetup(c echo.Context, status int, view templates.SetupView) error {
	if err := h.ensureFormSecret(c); err != nil {
		return err
	}
	view.Shell, view.Token = h.shell(c, say(c, "Welcome to Gatehouse"), ""), visitOf(c).formToken(purposeSetup)
	view.Shell.Here = "/setup?token=" + url.QueryEscape(view.Link)
	return render(c, status, templates.Setup(view))
}

// Setup makes the first administrator with a first location, and signs them in.
func (h *Handlers) Setup(c echo.Context) error {
	if err := h.takeByNetwork(c, limit.LinkTries); err != nil {
		return err
	}
	form, err := h.readPost(c, purposeSetup)
	if err != nil {
		return err
	}
	ctx, password := c.Request().Context(), form.Get("password")
	person, err := h.accounts.CompleteSetup(ctx, form.Get("token"), account.NewPerson{
		Email: form.Get("email"), Name: form.Get("name"), Password: password, LocationName: form.Get("location"),
	})
	if problem := problemOf(c.Request().Context(), err); problem != "" {
		return h.showSetup(c, http.StatusUnprocessableEntity, templates.SetupView{
			Link: form.Get("token"), Name: form.Get("name"), Email: form.Get("email"), Location: form.Get("location"), Problem: problem,
		})
	}
	if err != nil {
		return err
	}
	session, secret, err := h.accounts.SignIn(ctx, person.Email, password, device(c))
	if err != nil {
		return err
	}
	if err := h.openSession(c, session, secret); err != nil {
		return err
	}
	return see(c, "/")
}

// ResetPage opens a reset link.
func (h *Handlers) ResetPage(c echo.Context) error {
	if err := h.takeByNetwork(c, limit.LinkTries); err != nil {
		return err
	}
	token := c.QueryParam("token")
	person, err := h.accounts.CheckReset(c.Request().Context(), token)
	if err != nil {
		return err
	}
	view := templates.ResetView{Link: token, Email: person.Email}
	if err := h.addLost(c, &view, person.ID); err != nil {
		return err
	}
	return h.showReset(c, http.StatusOK, view)
}

func (h *Handlers) showReset(c echo.Context, status int, view templates.ResetView) error {
	if err := h.ensureFormSecret(c); err != nil {
		return err
	}
	view.Shell, view.Token = h.shell(c, say(c, "Set a new password"), ""), visitOf(c).formToken(purposeReset)
	view.Shell.Here = "/reset?token=" + url.QueryEscape(view.Link)
	return render(c, status, templates.Reset(view))
}

// Reset sets the new password; the person signs in with it afterwards.
func (h *Handlers) Reset(c echo.Context) error {
	if err := h.takeByNetwork(c, limit.LinkTries); err != nil {
		return err
	}
	form, err := h.readPost(c, purposeReset)
	if err != nil {
		return err
	}
	ctx, token := c.Request().Context(), form.Get("token")
	_, err = h.accounts.CompleteReset(ctx, token, form.Get("password"), form.Get("forget") == "true")
	if problem := problemOf(ctx, err); problem != "" {
		view := templates.ResetView{Link: token, Problem: problem}
		if person, err := h.accounts.CheckReset(ctx, token); err == nil {
			if err := h.addLost(c, &view, person.ID); err != nil {
				return err
			}
		}
		return h.showReset(c, http.StatusUnprocessableEntity, view)
	}
	if err != nil {
		return err
	}
	return see(c, "/signin")
}

// addLost offers to take away what somebody may have lost with their password.
func (h *Handlers) addLost(c echo.Context, view *templates.ResetView, userID string) error {
	f, err := h.accounts.Factors(c.Request().Context(), userID)
	if err != nil {
		return err
	}
	view.Second, view.Lost = f.SecondFactor(), f.SecondFactor() || len(f.Passkeys) > 0
	return nil
}

// fieldNames are the fields of refusals as the forms name them.
var fieldNames = map[string]string{
	"password": lang.Text("The password"), "email": lang.Text("The e-mail address"), "name": lang.Text("The name"), "location_name": lang.Text("The location's name"),
	"slug": lang.Text("The short name"), "issuer": lang.Text("The issuer"), "client_id": lang.Text("The client id"), "domains": lang.Text("The domains"), "role": lang.Text("The role"),
	"location_ids": lang.Text("The choice of locations"), "scope": lang.Text("What it may do"), "expires_at": lang.Text("The end"),
}

// problemOf puts a refusal of what was entered into a sentence; "" for every other error.
func problemOf(ctx context.Context, err error) string {
	var refusal *account.Refusal
	if !errors.As(err, &refusal) || refusal.Code == account.CodeGone || refusal.Code == account.CodeNotFound && refusal.Path == "" {
		return ""
	}
	hint := refusalWords(ctx, refusal)
	if name := fieldNames[refusal.Path]; name != "" && refusal.Code == account.CodeValidation {
		return lang.T(ctx, "{field} {problem}.", "field", lang.T(ctx, name), "problem", hint)
	}
	return hint
}

// refusalWords are a refusal's hint in the language of the context. A domain's text is its key in the catalogues.
func refusalWords(ctx context.Context, r *account.Refusal) string {
	return lang.T(ctx, r.Text, r.Values...)
}

func invalidWords(ctx context.Context, e *connection.Invalid) string {
	return lang.T(ctx, e.Text, e.Values...)
}
