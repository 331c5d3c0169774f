package web

import (
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"gatehouse/app/account"
	"gatehouse/app/audit"
	"gatehouse/templates"
	"gatehouse/templates/lang"
)

const (
	purposeDelete = "delete account"
	purposeKeep   = "keep account"
)

// DeletePage says what the deletion of the account means and asks for it.
func (h *Handlers) DeletePage(c echo.Context) error {
	session, err := h.requireSession(c)
	if err != nil {
		return err
	}
	return h.showDelete(c, http.StatusOK, session, "")
}

func (h *Handlers) showDelete(c echo.Context, status int, session *account.Session, problem string) error {
	ctx := c.Request().Context()
	facts, err := h.people.Persons.DeletionFacts(ctx, session.UserID)
	if err != nil {
		return err
	}
	return render(c, status, templates.DeleteAccount(templates.DeletionView{Shell: h.shell(c, lang.T(ctx, "Delete the account"), templates.NavAccount),
		Token: visitOf(c).formToken(purposeDelete), Wait: waitWords(ctx, h.people.Persons.DeletionWait()), Alone: facts.Alone, Shared: facts.Shared,
		LastAdmin: facts.LastAdmin, Problem: problem}))
}

func waitWords(ctx context.Context, d time.Duration) string {
	if d >= 48*time.Hour {
		return lang.N(ctx, int(d/(24*time.Hour)), "1 day", "{n} days")
	}
	if d >= time.Hour {
		return lang.N(ctx, int(d/time.Hour), "1 hour", "{n} hours")
	}
	return lang.N(ctx, int(max(d, time.Minute)/time.Minute), "1 minute", "{n} minutes")
}

// RequestDeletion starts the waiting time. Everything that acts for the person ends, this session too.
func (h *Handlers) RequestDeletion(c echo.Context) error {
	if _, err := h.requireSession(c); err != nil {
		return err
	}
	if _, err := h.readPost(c, purposeDelete); err != nil {
		return err
	}
	session, err := h.requireFresh(c, deletePath)
	if err != nil {
		return err
	}
	_, err = h.people.Persons.RequestDeletion(c.Request().Context(), session.UserID)
	if problem := problemOf(c.Request().Context(), err); problem != "" {
		return h.showDelete(c, http.StatusUnprocessableEntity, session, problem)
	}
	if err != nil {
		return err
	}
	h.record(c, audit.Entry{Action: audit.DeletionRequested, PersonID: session.UserID})
	c.SetCookie(h.cookie(h.sessionCookie(), "", 0))
	return see(c, withDone("/signin", "deletion"))
}

// DeletionPage tells somebody that their account will be deleted.
func (h *Handlers) DeletionPage(c echo.Context) error {
	session, err := h.requireSession(c)
	if err != nil {
		return err
	}
	due := session.Person.DeletionDueAt
	if due == nil {
		return see(c, "/")
	}
	ctx := c.Request().Context()
	return render(c, http.StatusOK, templates.Confirm(templates.ConfirmView{Shell: h.shell(c, lang.T(ctx, "Your account will be deleted"), ""), Action: deletionPath,
		Token: visitOf(c).formToken(purposeKeep), Button: lang.T(ctx, "Keep my account"),
		Lines: []string{lang.T(ctx, "You asked for it. It happens on {date}; nothing works in the meantime.", "date", momentWords(*due)),
			lang.T(ctx, "Connections and personal tokens have ended and do not come back.")}}))
}

// KeepAccount takes the wish back.
func (h *Handlers) KeepAccount(c echo.Context) error {
	session, err := h.requireSession(c)
	if err != nil {
		return err
	}
	if _, err := h.readPost(c, purposeKeep); err != nil {
		return err
	}
	if err := h.people.Persons.KeepPerson(c.Request().Context(), session.UserID); err != nil && account.CodeOf(err) != account.CodeNotFound {
		return err
	}
	h.record(c, audit.Entry{Action: audit.DeletionWithdrawn, PersonID: session.UserID})
	return see(c, withDone("/", "kept"))
}
