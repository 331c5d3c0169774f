package web

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"gatehouse/app/account"
	"gatehouse/app/audit"
	"gatehouse/app/limit"
	"gatehouse/templates"
	"gatehouse/templates/lang"
)

const (
	purposeSignUp  = "sign up"
	purposeConfirm = "confirm sign-up"
	purposeForgot  = "forgot"
)

// SignUpPage offers the ways in which one can make an account. While none is allowed there is no such page.
func (h *Handlers) SignUpPage(c echo.Context) error {
	return h.showSignUp(c, http.StatusOK, "", "")
}

func (h *Handlers) showSignUp(c echo.Context, status int, email, problem string) error {
	if !h.mayOfferSignUp(c) {
		return notFoundPage()
	}
	if err := h.ensureFormSecret(c); err != nil {
		return err
	}
	ctx := c.Request().Context()
	view := templates.AskEmailView{Shell: h.shell(c, lang.T(ctx, "Make an account"), ""), Token: visitOf(c).formToken(purposeSignUp), Action: signUpPath,
		Label: lang.T(ctx, "Your e-mail address"), Button: lang.T(ctx, "Send me a link"), Email: email, Problem: problem, Ways: h.ways(c, signsUp), Back: "/signin"}
	if h.people.Persons.SignUpRules().Mode == account.SignUpDomain {
		view.Lead = lang.T(ctx, "For people whose e-mail address belongs to this house.")
	}
	if !h.people.Letters.On() {
		view.NoMail = lang.T(ctx, "Sign up with an account that you have elsewhere.")
	}
	return render(c, status, templates.AskEmail(view))
}

// SignUp sends a link to an address. The answer is the same whether the address is known, allowed, or neither.
func (h *Handlers) SignUp(c echo.Context) error {
	if !h.people.Persons.SignUpRules().Open() || !h.people.Letters.On() {
		return notFoundPage()
	}
	email, err := h.readAddress(c, purposeSignUp)
	if problem := problemOf(c.Request().Context(), err); problem != "" {
		return h.showSignUp(c, http.StatusUnprocessableEntity, email, problem)
	}
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	if err := h.people.Letters.SignUp(ctx, email, lang.Of(ctx).Tag); err != nil {
		return err
	}
	return h.showSent(c, lang.T(ctx, "If an account can be made with this address, a letter with a link is on its way to it."))
}

// readAddress reads a form that asks for a letter to an address, under the limits of the network and of the address.
func (h *Handlers) readAddress(c echo.Context, purpose string) (email string, err error) {
	if err := h.takeByNetwork(c, limit.LinkTries); err != nil {
		return "", err
	}
	form, err := h.readPost(c, purpose)
	if err != nil {
		return "", err
	}
	folded, err := account.FoldEmail(form.Get("email"))
	if err != nil {
		return form.Get("email"), err
	}
	return folded, h.take(c, limit.Letters, folded)
}

func (h *Handlers) showSent(c echo.Context, text string) error {
	ctx := c.Request().Context()
	return render(c, http.StatusOK, templates.Sent(templates.SentView{Shell: h.shell(c, lang.T(ctx, "Look into your mailbox"), ""), Text: text,
		Hint: lang.T(ctx, "The link in it works once, for 24 hours. If nothing comes, look into the spam folder, or ask your administrator.")}))
}

// ConfirmSignUpPage opens a sign-up link.
func (h *Handlers) ConfirmSignUpPage(c echo.Context) error {
	if err := h.takeByNetwork(c, limit.LinkTries); err != nil {
		return err
	}
	token := c.QueryParam("token")
	email, err := h.people.Persons.CheckSignUp(c.Request().Context(), token)
	if err != nil {
		return err
	}
	return h.showConfirmSignUp(c, http.StatusOK, templates.NewPersonView{Link: token, Fixed: email, Location: "Home"})
}

func (h *Handlers) showConfirmSignUp(c echo.Context, status int, view templates.NewPersonView) error {
	if err := h.ensureFormSecret(c); err != nil {
		return err
	}
	view.Shell = h.shell(c, lang.T(c.Request().Context(), "Make your account"), "")
	view.Token, view.Action, view.AskLocation = visitOf(c).formToken(purposeConfirm), signUpPath+"/confirm", true
	return render(c, status, templates.NewPerson(view))
}

// ConfirmSignUp makes a person and signs them in.
func (h *Handlers) ConfirmSignUp(c echo.Context) error {
	if err := h.takeByNetwork(c, limit.LinkTries); err != nil {
		return err
	}
	form, err := h.readPost(c, purposeConfirm)
	if err != nil {
		return err
	}
	ctx, token, password := c.Request().Context(), form.Get("token"), form.Get("password")
	email, err := h.people.Persons.CheckSignUp(ctx, token)
	if err != nil {
		return err
	}
	p, err := h.people.Persons.CompleteSignUp(ctx, token, account.NewPerson{Name: form.Get("name"), Password: password, LocationName: form.Get("location")})
	if problem := problemOf(ctx, err); problem != "" {
		return h.showConfirmSignUp(c, http.StatusUnprocessableEntity, templates.NewPersonView{Link: token, Fixed: email, Name: form.Get("name"),
			Location: form.Get("location"), Problem: problem})
	}
	if err != nil {
		return err
	}
	return h.welcome(c, p, password, "/")
}

// welcome signs a new person in.
func (h *Handlers) welcome(c echo.Context, p *account.Person, password, next string) error {
	session, secret, err := h.accounts.SignIn(c.Request().Context(), p.Email, password, device(c))
	if err != nil {
		return err
	}
	if err := h.openSession(c, session, secret); err != nil {
		return err
	}
	h.record(c, audit.Entry{Action: audit.PersonAdded, PersonID: p.ID, Detail: map[string]string{"email": p.Email}})
	return see(c, next)
}

// ForgotPage asks for the address to send a reset link to. Without mail there is no such page.
func (h *Handlers) ForgotPage(c echo.Context) error { return h.showForgot(c, http.StatusOK, "", "") }

func (h *Handlers) showForgot(c echo.Context, status int, email, problem string) error {
	if !h.people.Letters.On() {
		return notFoundPage()
	}
	if err := h.ensureFormSecret(c); err != nil {
		return err
	}
	ctx := c.Request().Context()
	return render(c, status, templates.AskEmail(templates.AskEmailView{Shell: h.shell(c, lang.T(ctx, "Set a new password"), ""), Token: visitOf(c).formToken(purposeForgot),
		Action: forgotPath, Lead: lang.T(ctx, "You get a letter with a link."), Label: lang.T(ctx, "Your e-mail address"), Button: lang.T(ctx, "Send me a link"),
		Email: email, Problem: problem, Back: "/signin"}))
}

// Forgot sends a reset link to an address. The answer is the same whether somebody has it or nobody.
func (h *Handlers) Forgot(c echo.Context) error {
	if !h.people.Letters.On() {
		return notFoundPage()
	}
	email, err := h.readAddress(c, purposeForgot)
	if problem := problemOf(c.Request().Context(), err); problem != "" {
		return h.showForgot(c, http.StatusUnprocessableEntity, email, problem)
	}
	if err != nil {
		return err
	}
	if err := h.people.Letters.Reset(c.Request().Context(), email); err != nil {
		return err
	}
	return h.showSent(c, lang.T(c.Request().Context(), "If somebody has an account with this address, a letter with a link is on its way to it."))
}
