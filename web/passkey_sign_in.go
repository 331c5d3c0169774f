package web

import (
	"errors"
	"net/http"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"gatehouse/app/account"
	"gatehouse/app/limit"
	"gatehouse/templates"
	"gatehouse/templates/lang"
)

const (
	passkeySignInPath     = "/signin/passkey"
	purposePasskeySignIn  = "passkey sign-in"
	scriptPolicy          = "; script-src 'self'"
	contentSecurityPolicy = "Content-Security-Policy"
)

// allowScript lets a page run our own script file. Only pages that talk to an authenticator, or print, have one.
func allowScript(c echo.Context) {
	header := c.Response().Header()
	header.Set(contentSecurityPolicy, header.Get(contentSecurityPolicy)+scriptPolicy)
}

// SeeSignIn answers a reload of an address that only takes forms.
func (h *Handlers) SeeSignIn(c echo.Context) error { return see(c, "/signin") }

// AskPasskey shows the page that lets the browser ask for a passkey. It is a page of its own, so that the sign-in page
// needs no script and makes nothing for every visitor.
func (h *Handlers) AskPasskey(c echo.Context) error {
	if err := h.takeByNetwork(c, limit.SignInTries); err != nil {
		return err
	}
	// The button stands on two pages with the same purpose: nobody is signed in on either.
	form, err := h.readPost(c, purposeSignIn)
	if err != nil {
		return err
	}
	in, ctx, v := parseSignIn(form), c.Request().Context(), visitOf(c)
	request, err := h.accounts.BeginPasskeySignIn(ctx, v.secret)
	if errors.Is(err, account.ErrNoPasskeys) {
		return see(c, in.along("/signin"))
	}
	if err != nil {
		return err
	}
	allowScript(c)
	view := templates.PasskeyView{
		Shell: h.shell(c, lang.T(ctx, "Sign in with a passkey"), ""), Token: v.formToken(purposePasskeySignIn),
		Lead:   lang.T(ctx, "Your browser asks for your passkey now."),
		Action: passkeySignInPath + "/finish", Options: request.Options, Ceremony: request.ID, Back: templ.SafeURL(in.along("/signin")),
	}
	if in.request != "" {
		view.Hidden = append(view.Hidden, templates.HiddenView{Name: "request", Value: in.request})
	}
	if in.path != "" {
		view.Hidden = append(view.Hidden, templates.HiddenView{Name: "return", Value: in.path})
	}
	return render(c, http.StatusOK, templates.Passkey(view))
}

// SignInByPasskey takes the browser's answer and opens a session.
func (h *Handlers) SignInByPasskey(c echo.Context) error {
	if err := h.takeByNetwork(c, limit.SignInTries); err != nil {
		return err
	}
	form, err := h.readPost(c, purposePasskeySignIn)
	if err != nil {
		return err
	}
	in, ctx, v := parseSignIn(form), c.Request().Context(), visitOf(c)
	session, secret, err := h.accounts.SignInByPasskey(ctx, v.secret, form.Get("ceremony"), form.Get("answer"), device(c))
	if errors.Is(err, account.ErrPasskey) {
		h.logError(c, http.StatusUnprocessableEntity, "passkey", err)
		return h.showSignIn(c, http.StatusUnprocessableEntity, templates.SignInView{
			Request: in.request, Return: in.path, Confirm: v.signedIn() && in.request == "", Problem: lang.T(ctx, account.ErrPasskey.Hint),
		})
	}
	if err != nil {
		return err
	}
	return h.signedIn(c, in, session, secret)
}
