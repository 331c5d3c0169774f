package web

import (
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/labstack/echo/v4"

	"gatehouse/app/account"
	"gatehouse/app/limit"
	"gatehouse/oauth"
	"gatehouse/templates"
	"gatehouse/templates/lang"
)

// A sign-in whose password was right waits for a code. What names it is a cookie of its own: the browser is a stranger's
// until the code has come, and gets the cookie of a session only then.

const (
	secondPath    = "/signin/second"
	purposeSecond = "second factor"
)

func (h *Handlers) pendingCookie() string { return h.cookiePrefix() + "gatehouse-pending" }

// askSecond sends the browser to the page that asks for the code.
func (h *Handlers) askSecond(c echo.Context, in signInForm, needed *account.SecondFactorNeeded) error {
	c.SetCookie(h.cookie(h.pendingCookie(), needed.Secret, needed.ExpiresAt.Sub(h.now())))
	return see(c, in.along(secondPath))
}

// along adds what a sign-in leads to, to the address of a page on the way.
func (f signInForm) along(path string) string {
	q := url.Values{}
	if f.request != "" {
		q.Set("request", f.request)
	}
	if f.path != "" {
		q.Set("return", f.path)
	}
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}

// pending is the sign-in that waits in this browser, by its secret.
func (h *Handlers) pending(c echo.Context) string {
	cookie, err := c.Cookie(h.pendingCookie())
	if err != nil {
		return ""
	}
	return cookie.Value
}

// SecondFactorPage asks for the code. Without a sign-in that waits, it begins again.
func (h *Handlers) SecondFactorPage(c echo.Context) error {
	return h.showSecond(c, http.StatusOK, parseSignIn(c.QueryParams()), "")
}

func (h *Handlers) showSecond(c echo.Context, status int, in signInForm, problem string) error {
	ctx := c.Request().Context()
	person, err := h.accounts.PendingSignIn(ctx, h.pending(c))
	if errors.Is(err, account.ErrNotFound) {
		return see(c, in.along("/signin"))
	}
	if err != nil {
		return err
	}
	if err := h.ensureFormSecret(c); err != nil {
		return err
	}
	v := visitOf(c)
	shell := h.shell(c, lang.T(ctx, "One more step"), "")
	return render(c, status, templates.SecondFactor(templates.SecondFactorView{
		Shell: shell, Token: v.formToken(purposeSecond), PasskeyToken: v.formToken(purposeSignIn), Email: person.Email,
		Request: in.request, Return: in.path, Passkeys: h.accounts.PasskeysPossible(), Problem: problem,
	}))
}

// SecondFactor takes the code and opens the session.
func (h *Handlers) SecondFactor(c echo.Context) error {
	if err := h.takeByNetwork(c, limit.SignInTries); err != nil {
		return err
	}
	form, err := h.readPost(c, purposeSecond)
	if err != nil {
		return err
	}
	in, ctx := parseSignIn(form), c.Request().Context()
	session, secret, err := h.accounts.CompleteSignIn(ctx, h.pending(c), form.Get("code"), device(c))
	var exceeded *limit.Exceeded
	switch {
	case errors.As(err, &exceeded):
		retryAfter(c.Response().Header(), exceeded.RetryAfter)
		return h.showSecond(c, http.StatusTooManyRequests, in, tooManyTries(c, exceeded))
	case errors.Is(err, account.ErrWrongCode):
		return h.showSecond(c, http.StatusUnprocessableEntity, in, lang.T(ctx, account.ErrWrongCode.Hint))
	case errors.Is(err, account.ErrNotFound):
		return see(c, in.along("/signin"))
	case err != nil:
		return err
	}
	return h.signedIn(c, in, session, secret)
}

// signedIn hands the session over and goes on to what waits for it.
func (h *Handlers) signedIn(c echo.Context, in signInForm, session *account.Session, secret string) error {
	if pending := h.pending(c); pending != "" {
		if err := h.accounts.CancelSignIn(c.Request().Context(), pending); err != nil {
			return err
		}
		c.SetCookie(h.cookie(h.pendingCookie(), "", 0))
	}
	if err := h.openSession(c, session, secret); err != nil {
		return err
	}
	if in.request != "" {
		h.note(c, Event{Step: StepSignedIn, OK: true, RequestID: oauth.RequestCorrelation(in.request), UserID: session.UserID})
	}
	return see(c, in.next())
}

// tooManyTries says how long to wait.
func tooManyTries(c echo.Context, exceeded *limit.Exceeded) string {
	return lang.N(c.Request().Context(), exceeded.Seconds(), "Too many tries. Wait one second, then try again.", "Too many tries. Wait {n} seconds, then try again.")
}

// codesLife is how long the browser has to come for the page with the recovery codes.
const codesLife = time.Minute
