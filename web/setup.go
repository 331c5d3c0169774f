package web

import (
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"

	"gatehouse/app/account"
	"gatehouse/app/limit"
	"gatehouse/templates"
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
	return h.showSetup(c, http.StatusOK, templates.SetupView{Link: token, Location: "Home"})
}

func (h *Handlers) showSetup(c echo.Context, status int, view templates.SetupView) error {
	if err := h.ensureFormSecret(c); err != nil {
		return err
	}
	view.Shell, view.Token = h.shell(c, "Welcome to Gatehouse", ""), visitOf(c).formToken(purposeSetup)
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
	if problem := problemOf(err); problem != "" {
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
	view.Shell, view.Token = h.shell(c, "Set a new password", ""), visitOf(c).formToken(purposeReset)
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
	if problem := problemOf(err); problem != "" {
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
	"password": "The password", "email": "The e-mail address", "name": "The name", "location_name": "The location's name",
	"slug": "The short name", "issuer": "The issuer", "client_id": "The client id", "domains": "The domains", "role": "The role",
	"location_ids": "The choice of locations", "scope": "What it may do", "expires_at": "The end",
}

// problemOf puts a refusal of what was entered into a sentence; "" for every other error.
func problemOf(err error) string {
	var refusal *account.Refusal
	if !errors.As(err, &refusal) || refusal.Code == account.CodeGone || refusal.Code == account.CodeNotFound && refusal.Path == "" {
		return ""
	}
	if name := fieldNames[refusal.Path]; name != "" && refusal.Code == account.CodeValidation {
		return name + " " + refusal.Hint + "."
	}
	return refusal.Hint
}
