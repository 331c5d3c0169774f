package web

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"gatehouse/app/audit"
	"gatehouse/app/limit"
	"gatehouse/templates"
	"gatehouse/templates/lang"
)

const (
	purposeNewEmail     = "new address"
	purposeConfirmEmail = "confirm address"
)

// NewEmailPage asks for another address of the person.
func (h *Handlers) NewEmailPage(c echo.Context) error {
	return h.showNewEmail(c, http.StatusOK, "", "")
}

func (h *Handlers) showNewEmail(c echo.Context, status int, email, problem string) error {
	session, err := h.requireSession(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	view := templates.AskEmailView{Shell: h.shell(c, lang.T(ctx, "Change the e-mail address"), templates.NavAccount), Token: visitOf(c).formToken(purposeNewEmail), Action: newEmailPath,
		Lead:  lang.T(ctx, "You sign in with {email} now. When you confirm another address, your other devices are signed out, and connections and personal tokens end.", "email", session.Person.Email),
		Label: lang.T(ctx, "New e-mail address"), Button: lang.T(ctx, "Send a link there"), Email: email, Problem: problem, Back: accountPath}
	if !h.people.Letters.On() {
		view.NoMail = lang.T(ctx, "This server sends no mail, so it cannot check that the new address is yours. Ask your administrator to change it.")
	}
	return render(c, status, templates.AskEmail(view))
}

// NewEmail sends a link to another address of the person. Whether somebody has the address is not told.
func (h *Handlers) NewEmail(c echo.Context) error {
	session, err := h.requireSession(c)
	if err != nil {
		return err
	}
	if !h.people.Letters.On() {
		return notFoundPage()
	}
	email, err := h.readAddress(c, purposeNewEmail)
	if problem := problemOf(c.Request().Context(), err); problem != "" {
		return h.showNewEmail(c, http.StatusUnprocessableEntity, email, problem)
	}
	if err != nil {
		return err
	}
	if _, err := h.requireFresh(c, newEmailPath); err != nil {
		return err
	}
	if err := h.people.Letters.EmailChange(c.Request().Context(), session.Person, email); err != nil {
		return err
	}
	return h.showSent(c, lang.T(c.Request().Context(), "If this address is free, a letter with a link is on its way to it. Until you open it, nothing changes."))
}

// ConfirmEmailPage opens a link that confirms another address.
func (h *Handlers) ConfirmEmailPage(c echo.Context) error {
	if err := h.takeByNetwork(c, limit.LinkTries); err != nil {
		return err
	}
	token := c.QueryParam("token")
	l, err := h.people.Persons.CheckEmailChange(c.Request().Context(), token)
	if err != nil {
		return err
	}
	if err := h.ensureFormSecret(c); err != nil {
		return err
	}
	ctx := c.Request().Context()
	return render(c, http.StatusOK, templates.Confirm(templates.ConfirmView{Shell: h.shell(c, lang.T(ctx, "Is this your address?"), ""), Action: emailPath,
		Token: visitOf(c).formToken(purposeConfirmEmail), Link: token, Button: lang.T(ctx, "Yes, use this address"),
		Lines: []string{lang.T(ctx, "From now on you would sign in with {email}.", "email", l.Email), lang.T(ctx, "Your other devices are signed out, and connections and personal tokens end.")}}))
}

// ConfirmEmail makes the address the person's.
func (h *Handlers) ConfirmEmail(c echo.Context) error {
	if err := h.takeByNetwork(c, limit.LinkTries); err != nil {
		return err
	}
	form, err := h.readPost(c, purposeConfirmEmail)
	if err != nil {
		return err
	}
	ctx, v, token := c.Request().Context(), visitOf(c), form.Get("token")
	l, err := h.people.Persons.CheckEmailChange(ctx, token)
	if err != nil {
		return err
	}
	if err := h.people.Persons.CompleteEmailChange(ctx, token, v.session); err != nil {
		return h.adminRefused(err)
	}
	h.record(c, audit.Entry{Actor: audit.ActorPerson, ActorID: l.UserID, Action: audit.EmailChanged, PersonID: l.UserID, Detail: map[string]string{"email": l.Email}})
	if v.userID() == l.UserID {
		return see(c, withDone(accountPath, "email"))
	}
	return see(c, withDone("/signin", "email"))
}
