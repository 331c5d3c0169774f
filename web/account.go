package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"gatehouse/app/account"
	"gatehouse/app/limit"
	"gatehouse/templates"
)

const (
	accountPath      = "/settings/account"
	purposePassword  = "password"
	purposeEndOthers = "end other sessions"
)

func purposeEndSession(id string) string { return "end session " + id }

// Account shows the person's own settings.
func (h *Handlers) Account(c echo.Context) error {
	session, err := h.requireSession(c)
	if err != nil {
		return err
	}
	return h.showAccount(c, http.StatusOK, session, "")
}

// SeeAccount answers a reload of an action's address.
func (h *Handlers) SeeAccount(c echo.Context) error { return see(c, accountPath) }

func (h *Handlers) showAccount(c echo.Context, status int, session *account.Session, problem string) error {
	ctx := c.Request().Context()
	sessions, err := h.accounts.Sessions(ctx, session.UserID)
	if err != nil {
		return err
	}
	v := visitOf(c)
	view := templates.AccountView{
		Shell: h.shell(c, say(c, "Account"), templates.NavAccount), Name: session.Person.Name, Email: session.Person.Email,
		Password: v.formToken(purposePassword), OthersToken: v.formToken(purposeEndOthers), Problem: problem,
	}
	factors, err := h.accounts.Factors(c.Request().Context(), session.UserID)
	if err != nil {
		return err
	}
	view.NoPassword, view.Second = !factors.Password, factors.SecondFactor()
	for _, s := range sessions {
		view.Sessions = append(view.Sessions, templates.SessionView{
			Device: deviceName(ctx, s.UserAgent), Address: s.IP, SignedIn: h.timeView(ctx, s.CreatedAt), LastSeen: h.timeView(ctx, s.LastSeenAt),
			This: s.ID == session.ID, EndAction: templ.SafeURL(accountPath + "/sessions/" + url.PathEscape(s.ID) + "/end"),
			EndToken: v.formToken(purposeEndSession(s.ID)),
		})
	}
	view.More = templates.AccountMoreView{Identities: len(h.ways(c, nil).Providers) > 0, AllToken: v.formToken(purposeEndAll)}
	return render(c, status, templates.Account(view))
}

// ChangePassword sets another password. The session goes on under a new secret.
func (h *Handlers) ChangePassword(c echo.Context) error {
	session, err := h.requireSession(c)
	if err != nil {
		return err
	}
	form, err := h.readPost(c, purposePassword)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	fresh, secret, err := h.accounts.ChangePassword(ctx, session, form.Get("current"), form.Get("password"), device(c))
	var exceeded *limit.Exceeded
	switch problem := problemOf(ctx, err); {
	case errors.As(err, &exceeded):
		retryAfter(c.Response().Header(), exceeded.RetryAfter)
		return h.showAccount(c, http.StatusTooManyRequests, session, tooManyTries(c, exceeded))
	case account.CodeOf(err) == account.CodeWrongCredentials:
		return h.showAccount(c, http.StatusUnprocessableEntity, session, say(c, "The current password is not right."))
	case problem != "":
		return h.showAccount(c, http.StatusUnprocessableEntity, session, problem)
	case err != nil:
		return err
	}
	visitOf(c).session = nil // it ended with the change
	if err := h.openSession(c, fresh, secret); err != nil {
		return err
	}
	return see(c, accountPath+"?done=password")
}

// EndSession signs one other device out.
func (h *Handlers) EndSession(c echo.Context) error {
	id := c.Param("session")
	return h.act(c, purposeEndSession(id), accountPath+"?done=session", func(ctx context.Context, s *account.Session) error {
		return h.accounts.EndSession(ctx, s.UserID, id)
	})
}

// EndOtherSessions signs out everywhere else; connections and personal tokens end too.
func (h *Handlers) EndOtherSessions(c echo.Context) error {
	return h.act(c, purposeEndOthers, accountPath+"?done=others", func(ctx context.Context, s *account.Session) error {
		return h.accounts.EndOtherSessions(ctx, s.UserID, s.ID)
	})
}
