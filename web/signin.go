package web

import (
	"errors"
	"net/http"
	"net/url"

	"github.com/labstack/echo/v4"

	"gatehouse/app/account"
	"gatehouse/app/limit"
	"gatehouse/oauth"
	"gatehouse/templates"
)

const purposeSignIn = "sign in"

// signInForm is the sign-in form, read once.
type signInForm struct {
	email, password string
	// request or path say what to go on with.
	request, path string
	// again asks somebody who is signed in to prove that it is them.
	again bool
}

func parseSignIn(form url.Values) signInForm {
	return signInForm{
		email: form.Get("email"), password: form.Get("password"),
		request: parseRequestID(form.Get("request")), path: parseReturnPath(form.Get("return")), again: form.Get("again") == "1",
	}
}

// SignInPage asks who is there. Somebody who is signed in goes on at once, unless an app demands a fresh sign-in.
func (h *Handlers) SignInPage(c echo.Context) error {
	in := parseSignIn(c.QueryParams())
	view := templates.SignInView{Request: in.request, Return: in.path}
	if in.request != "" {
		prompt, err := h.resume(c, in.request)
		if err != nil {
			return err
		}
		if prompt.Next != oauth.NextSignIn {
			return see(c, consentPath(in.request))
		}
		view.Again, view.Email = prompt.ReauthenticationDemanded, prompt.LoginHint
		view.Stronger = prompt.StrongerDemanded
		if prompt.Client != nil {
			view.App = clientName(c.Request().Context(), prompt.Client.Name, prompt.Client.ID)
		}
	} else if v := visitOf(c); v.signedIn() {
		if !in.again {
			return see(c, in.next())
		}
		view.Confirm, view.Email = true, v.session.Person.Email
	}
	return h.showSignIn(c, http.StatusOK, view)
}

// next is where a sign-in leads.
func (f signInForm) next() string {
	switch {
	case f.request != "":
		return consentPath(f.request)
	case f.path != "":
		return f.path
	}
	return "/"
}

func (h *Handlers) showSignIn(c echo.Context, status int, view templates.SignInView) error {
	if err := h.ensureFormSecret(c); err != nil {
		return err
	}
	view.Shell = h.shell(c, say(c, "Sign in"), "")
	view.Token = visitOf(c).formToken(purposeSignIn)
	view.Shell.Here = "/signin"
	if view.Request != "" {
		view.Shell.Here = signInPath(view.Request)
	} else if view.Return != "" {
		view.Shell.Here = "/signin?" + url.Values{"return": {view.Return}}.Encode()
	}
	view.Nobody, view.Passkeys = h.nobodyYet(c), h.accounts.PasskeysPossible()
	h.showSignInWays(c, &view)
	return render(c, status, templates.SignIn(view))
}

// nobodyYet reports whether there is no person who could sign in. The page is of use without the answer.
func (h *Handlers) nobodyYet(c echo.Context) bool {
	people, err := h.accounts.People(c.Request().Context())
	if err != nil {
		h.log.WarnContext(c.Request().Context(), "could not tell whether there is anybody", "cause", err)
	}
	return err == nil && len(people) == 0
}

// SignIn checks address and password and opens a session.
func (h *Handlers) SignIn(c echo.Context) error {
	if err := h.takeByNetwork(c, limit.SignInTries); err != nil {
		return err
	}
	form, err := h.readPost(c, purposeSignIn)
	if err != nil {
		return err
	}
	in := parseSignIn(form)
	session, secret, err := h.accounts.SignIn(c.Request().Context(), in.email, in.password, device(c))
	var second *account.SecondFactorNeeded
	if errors.As(err, &second) {
		return h.askSecond(c, in, second)
	}
	if err != nil {
		return h.signInFailed(c, in, err)
	}
	return h.signedIn(c, in, session, secret)
}

// signInFailed shows the form again. Every wrong pair gets one answer; too many tries, how long to wait.
func (h *Handlers) signInFailed(c echo.Context, in signInForm, err error) error {
	view := templates.SignInView{Request: in.request, Return: in.path, Email: in.email, Confirm: in.again && visitOf(c).signedIn()}
	var exceeded *limit.Exceeded
	switch {
	case errors.As(err, &exceeded):
		retryAfter(c.Response().Header(), exceeded.RetryAfter)
		view.Problem = tooManyTries(c, exceeded)
		return h.showSignIn(c, http.StatusTooManyRequests, view)
	case account.CodeOf(err) == account.CodeWrongCredentials:
		view.Problem = refusalWords(c.Request().Context(), account.ErrWrongCredentials)
		return h.showSignIn(c, http.StatusUnprocessableEntity, view)
	}
	return err
}

// SignOut ends the session. With a request, the sign-in page comes next: somebody else wants to decide about it.
func (h *Handlers) SignOut(c echo.Context) error {
	v := visitOf(c)
	if !v.signedIn() {
		return see(c, "/signin")
	}
	form, err := h.readPost(c, purposeSignOut)
	if err != nil {
		return err
	}
	if err := h.accounts.SignOut(c.Request().Context(), v.secret); err != nil {
		return err
	}
	c.SetCookie(h.cookie(h.sessionCookie(), "", 0))
	if request := parseRequestID(form.Get("request")); request != "" {
		return see(c, signInPath(request))
	}
	if path := parseReturnPath(form.Get("return")); path != "" {
		return see(c, "/signin?"+url.Values{"return": {path}}.Encode())
	}
	return see(c, "/signin")
}
