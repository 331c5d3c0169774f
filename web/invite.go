package web

import (
	"net/http"
	"net/url"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"gatehouse/app/account"
	"gatehouse/app/audit"
	"gatehouse/app/invitation"
	"gatehouse/app/limit"
	"gatehouse/templates"
	"gatehouse/templates/lang"
)

const (
	purposeJoin    = "join"
	purposeJoinNew = "join as new"
)

// InvitePage opens an invitation.
func (h *Handlers) InvitePage(c echo.Context) error {
	if err := h.takeByNetwork(c, limit.LinkTries); err != nil {
		return err
	}
	token := c.QueryParam("token")
	i, err := h.people.Invitations.Check(c.Request().Context(), token)
	if err != nil {
		return err
	}
	return h.showInvite(c, http.StatusOK, i, token, templates.NewPersonView{Email: i.Email}, "")
}

func (h *Handlers) showInvite(c echo.Context, status int, i *invitation.Invitation, token string, fresh templates.NewPersonView, problem string) error {
	if err := h.ensureFormSecret(c); err != nil {
		return err
	}
	ctx, v := c.Request().Context(), visitOf(c)
	view := templates.InviteView{Shell: h.shell(c, lang.T(ctx, "Come into {location}", "location", i.LocationName), ""), Inviter: i.InviterName, Location: i.LocationName,
		Role: roleName(ctx, i.Role) + ": " + roleMeaning(ctx, i.Role), Expires: h.timeView(ctx, i.ExpiresAt), Link: token, Problem: problem}
	if v.signedIn() {
		view.Person, view.JoinToken, view.SwitchToken = v.session.Person.Name, v.formToken(purposeJoin), v.formToken(purposeSignOut)
		return render(c, status, templates.Invite(view))
	}
	back := url.Values{"return": {invitePath + "?" + url.Values{"token": {token}}.Encode()}}
	view.SignIn = templ.SafeURL("/signin?" + back.Encode())
	view.Ways = h.ways(c, nil)
	view.Ways.Invite = token
	fresh.Token, fresh.Action, fresh.Link = v.formToken(purposeJoinNew), invitePath, token
	view.New = fresh
	return render(c, status, templates.Invite(view))
}

// AcceptInvite joins: as who is signed in, or as a new person.
func (h *Handlers) AcceptInvite(c echo.Context) error {
	if err := h.takeByNetwork(c, limit.LinkTries); err != nil {
		return err
	}
	ctx, v := c.Request().Context(), visitOf(c)
	purpose := purposeJoinNew
	if v.signedIn() {
		purpose = purposeJoin
	}
	form, err := h.readPost(c, purpose)
	if err != nil {
		return err
	}
	token, password := form.Get("token"), form.Get("password")
	i, err := h.people.Invitations.Check(ctx, token)
	if err != nil {
		return err
	}
	next := withDone(peoplePath+"/"+url.PathEscape(i.LocationID), "joined")
	if v.signedIn() {
		if err := h.people.Invitations.Accept(ctx, i, v.session.UserID); problemOf(ctx, err) != "" {
			return h.showInvite(c, http.StatusUnprocessableEntity, i, token, templates.NewPersonView{}, problemOf(ctx, err))
		} else if err != nil {
			return err
		}
		h.record(c, joinedEntry(i, v.session.UserID))
		return see(c, next)
	}
	entered := templates.NewPersonView{Email: form.Get("email"), Name: form.Get("name")}
	p, err := h.people.Invitations.AcceptNew(ctx, i, account.NewPerson{Email: entered.Email, Name: entered.Name, Password: password})
	if problem := problemOf(ctx, err); problem != "" {
		return h.showInvite(c, http.StatusUnprocessableEntity, i, token, entered, problem)
	}
	if err != nil {
		return err
	}
	h.record(c, joinedEntry(i, p.ID))
	return h.welcome(c, p, password, next)
}

func joinedEntry(i *invitation.Invitation, personID string) audit.Entry {
	return audit.Entry{Actor: audit.ActorPerson, ActorID: personID, Action: audit.InvitationAccepted, PersonID: personID,
		Detail: map[string]string{"role": string(i.Role), "location": i.LocationName, "invitation": i.ID}}
}
