package web

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"gatehouse/app/account"
	"gatehouse/app/audit"
	"gatehouse/app/home"
	"gatehouse/app/invitation"
	"gatehouse/templates"
	"gatehouse/templates/lang"
)

const purposeInvite = "invite"

func locationPath(id string) string { return peoplePath + "/" + url.PathEscape(id) }

// SomePeople leads to the people of the person's first location.
func (h *Handlers) SomePeople(c echo.Context) error {
	session, err := h.requireSession(c)
	if err != nil {
		return err
	}
	list, err := h.homes.LocationsOf(c.Request().Context(), session.UserID)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		ctx := c.Request().Context()
		return render(c, http.StatusOK, templates.Sent(templates.SentView{Shell: h.shell(c, lang.T(ctx, "People"), templates.NavPeople),
			Text: lang.T(ctx, "You belong to no location."), Hint: lang.T(ctx, "Ask somebody who has one for an invitation.")}))
	}
	return see(c, locationPath(list[0].ID))
}

// SeeLocationPeople answers a reload of an action's address.
func (h *Handlers) SeeLocationPeople(c echo.Context) error {
	return see(c, locationPath(c.Param("location")))
}

// LocationPeople shows who belongs to a location.
func (h *Handlers) LocationPeople(c echo.Context) error {
	session, err := h.requireSession(c)
	if err != nil {
		return err
	}
	return h.showPeople(c, http.StatusOK, session, templates.LocationPeopleView{})
}

func (h *Handlers) showPeople(c echo.Context, status int, session *account.Session, view templates.LocationPeopleView) error {
	ctx, id := c.Request().Context(), c.Param("location")
	members, err := h.people.Members.Members(ctx, session.UserID, id)
	if err != nil {
		return notFoundOr(err)
	}
	mine, err := h.homes.LocationsOf(ctx, session.UserID)
	if err != nil {
		return err
	}
	role := home.Role("")
	for _, m := range mine {
		if m.ID == id {
			role, view.Location = m.Role, m.Name
			continue
		}
		view.Others = append(view.Others, templates.LinkView{Label: m.Name, Path: templ.SafeURL(locationPath(m.ID))})
	}
	invitations, err := h.people.Invitations.List(ctx, role, id)
	if err != nil {
		return err
	}
	v := visitOf(c)
	view.Shell = h.shell(c, lang.T(ctx, "People of {location}", "location", view.Location), templates.NavPeople)
	for n, m := range members {
		view.Members = append(view.Members, h.memberView(c, session, role, m, n))
	}
	if role != home.Owner {
		view.LeaveAction = templ.SafeURL(memberPath(id, session.UserID) + "/remove")
		view.LeaveToken = v.formToken(memberPath(id, session.UserID) + "/remove")
	}
	view.Manage, view.Mail = home.GrantOf(role, home.MemberManage) == home.GrantFull, h.people.Letters.On()
	view.InviteAction, view.InviteToken = templ.SafeURL(locationPath(id)+"/invite"), v.formToken(purposeInvite+" "+id)
	for _, r := range manageable(role) {
		view.Roles = append(view.Roles, templates.ChoiceView{Value: string(r), Title: roleName(ctx, r), Detail: roleMeaning(ctx, r), Ticked: r == home.Member})
	}
	for _, i := range invitations {
		path := locationPath(id) + "/invitations/" + url.PathEscape(i.ID) + "/revoke"
		view.Invitations = append(view.Invitations, templates.InvitationView{For: orElse(i.Email, lang.T(ctx, "Whoever has the link")), Role: roleName(ctx, i.Role),
			Inviter: i.InviterName, Expires: h.timeView(ctx, i.ExpiresAt), Action: templ.SafeURL(path), Token: v.formToken(path)})
	}
	return render(c, status, templates.LocationPeople(view))
}

// notFoundOr is the page for a location that is not the person's; other errors stay what they are.
func notFoundOr(err error) error {
	if account.CodeOf(err) == account.CodeNotFound {
		return notFoundPage()
	}
	return err
}

// manageable are the roles that somebody may give, the lowest first.
func manageable(actor home.Role) []home.Role {
	switch {
	case home.GrantOf(actor, home.AdminManage) == home.GrantFull:
		return []home.Role{home.Viewer, home.Member, home.Admin}
	case home.GrantOf(actor, home.MemberManage) == home.GrantFull:
		return []home.Role{home.Viewer, home.Member}
	}
	return nil
}

func memberPath(location, person string) string {
	return locationPath(location) + "/members/" + url.PathEscape(person)
}

func (h *Handlers) memberView(c echo.Context, session *account.Session, actor home.Role, m home.MemberOf, n int) templates.MemberView {
	ctx, v, path := c.Request().Context(), visitOf(c), memberPath(c.Param("location"), m.UserID)
	view := templates.MemberView{Name: m.Name, Role: roleName(ctx, m.Role), Joined: h.timeView(ctx, m.JoinedAt), This: m.UserID == session.UserID,
		FieldID: "role-" + strconv.Itoa(n)}
	if view.This {
		return view
	}
	may := manageable(actor)
	changeable := false
	for _, r := range may {
		changeable = changeable || r == m.Role
		view.Options = append(view.Options, templates.OptionView{Value: string(r), Label: roleName(ctx, r), Chosen: r == m.Role})
	}
	if !changeable {
		view.Options = nil
	} else {
		view.RoleAction, view.RoleToken = templ.SafeURL(path+"/role"), v.formToken(path+"/role")
		view.RemoveAction, view.RemoveToken = templ.SafeURL(path+"/remove"), v.formToken(path+"/remove")
	}
	if home.GrantOf(actor, home.LocationTransfer) == home.GrantFull {
		view.HandAction, view.HandToken = templ.SafeURL(path+"/owner"), v.formToken(path+"/owner")
	}
	return view
}

// Invite makes an invitation; its link is shown once, unless it went out by mail.
func (h *Handlers) Invite(c echo.Context) error {
	session, err := h.requireSession(c)
	if err != nil {
		return err
	}
	ctx, id := c.Request().Context(), c.Param("location")
	form, err := h.readPost(c, purposeInvite+" "+id)
	if err != nil {
		return err
	}
	email := form.Get("email")
	link, err := h.people.Invitations.Invite(ctx, session.UserID, invitation.NewInvitation{LocationID: id, Role: home.Role(form.Get("role")), Email: email})
	if account.CodeOf(err) == account.CodeNotFound {
		return notFoundPage()
	}
	if problem := problemOf(ctx, err); problem != "" {
		return h.showPeople(c, http.StatusUnprocessableEntity, session, templates.LocationPeopleView{Problem: problem, Email: email})
	}
	if err != nil {
		return err
	}
	h.record(c, audit.Entry{Action: audit.InvitationMade, Detail: map[string]string{"role": form.Get("role"), "email": email, "location_id": id}})
	if link == "" {
		return see(c, withDone(locationPath(id), "invited"))
	}
	return h.showPeople(c, http.StatusOK, session, templates.LocationPeopleView{Made: link, MadeFor: orElse(email, lang.T(ctx, "whoever has the link"))})
}

// RevokeInvitation takes an invitation back.
func (h *Handlers) RevokeInvitation(c echo.Context) error {
	location, id := c.Param("location"), c.Param("invitation")
	return h.changeMembers(c, locationPath(location)+"/invitations/"+url.PathEscape(id)+"/revoke", "taken-back", func(ctx context.Context, s *account.Session, _ url.Values) error {
		return h.people.Invitations.Revoke(ctx, s.UserID, location, id)
	})
}

// ChangeRole gives a member another role.
func (h *Handlers) ChangeRole(c echo.Context) error {
	location, member := c.Param("location"), c.Param("member")
	return h.changeMembers(c, memberPath(location, member)+"/role", "role", func(ctx context.Context, s *account.Session, form url.Values) error {
		return h.people.Members.ChangeRole(ctx, s.UserID, location, member, home.Role(form.Get("role")))
	})
}

// RemoveMember takes a member out, or lets somebody leave.
func (h *Handlers) RemoveMember(c echo.Context) error {
	location, member := c.Param("location"), c.Param("member")
	return h.changeMembers(c, memberPath(location, member)+"/remove", "removed", func(ctx context.Context, s *account.Session, _ url.Values) error {
		return h.people.Members.RemoveMember(ctx, s.UserID, location, member)
	})
}

// HandOver makes another member the owner.
func (h *Handlers) HandOver(c echo.Context) error {
	location, member := c.Param("location"), c.Param("member")
	if _, err := h.requireFresh(c, locationPath(location)); err != nil {
		return err
	}
	return h.changeMembers(c, memberPath(location, member)+"/owner", "handed-over", func(ctx context.Context, s *account.Session, _ url.Values) error {
		return h.people.Members.TransferLocation(ctx, s.UserID, location, member)
	})
}

// changeMembers carries out a button of the page. Its path is the purpose of its token. Whoever took themselves out goes on
// to the people of another location.
func (h *Handlers) changeMembers(c echo.Context, purpose, done string, do func(context.Context, *account.Session, url.Values) error) error {
	session, err := h.requireSession(c)
	if err != nil {
		return err
	}
	form, err := h.readPost(c, purpose)
	if err != nil {
		return err
	}
	err = do(c.Request().Context(), session, form)
	if account.CodeOf(err) == account.CodeNotFound {
		return notFoundPage()
	}
	if problem := problemOf(c.Request().Context(), err); problem != "" {
		return h.showPeople(c, http.StatusUnprocessableEntity, session, templates.LocationPeopleView{Problem: problem})
	}
	if err != nil {
		return err
	}
	member := c.Param("member")
	h.record(c, audit.Entry{Action: audit.MemberChanged, PersonID: member, Detail: map[string]string{"what": done, "role": form.Get("role"), "location_id": c.Param("location")}})
	if done == "removed" && member == session.UserID {
		return see(c, withDone("/", "left"))
	}
	return see(c, withDone(locationPath(c.Param("location")), done))
}
