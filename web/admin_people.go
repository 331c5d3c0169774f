package web

import (
	"context"
	"net/http"
	"net/url"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"gatehouse/app/account"
	"gatehouse/app/audit"
	"gatehouse/templates"
	"gatehouse/templates/lang"
)

const (
	adminPeoplePath  = adminPath + "/people"
	purposeAddPerson = "add person"
)

func purposePerson(action, id string) string { return action + " person " + id }

func personPath(id string) string { return adminPeoplePath + "/" + url.PathEscape(id) }

// AdminPeople lists people.
func (h *Handlers) AdminPeople(c echo.Context) error {
	if _, err := h.requireAdmin(c); err != nil {
		return err
	}
	ctx, page := c.Request().Context(), pageNumber(c)
	text, state := c.QueryParam("q"), c.QueryParam("state")
	list, more, err := h.accounts.ListPeople(ctx, account.PeopleFilter{
		Text: text, Administrators: state == "administrators", Disabled: state == "disabled", Offset: offsetOf(page), Limit: adminListed,
	})
	if err != nil {
		return err
	}
	view := templates.AdminListView{
		Admin: h.adminShell(c, lang.T(ctx, "People"), adminPeoplePath), Path: adminPeoplePath, Filtered: text != "" || state != "",
		Empty: lang.T(ctx, "Nobody is here yet."),
		Links: []templates.LinkView{{Path: adminPeoplePath + "/new", Label: lang.T(ctx, "Add a person")}},
		Filters: []templates.FilterView{{Name: "q", Label: lang.T(ctx, "Name or e-mail"), Value: text}, {Name: "state", Label: lang.T(ctx, "Which"), Options: optionList(state,
			"", lang.T(ctx, "Everybody"), "administrators", lang.T(ctx, "Administrators"), "disabled", lang.T(ctx, "Disabled"))}},
	}
	view.Newer, view.Older = pageLinks(adminPeoplePath, page, more, "q", text, "state", state)
	for i := range list {
		view.Rows = append(view.Rows, h.personRow(ctx, &list[i]))
	}
	return render(c, http.StatusOK, templates.AdminList(view))
}

// optionList is the entries of a list to choose from: pairs of value and label.
func optionList(chosen string, pairs ...string) []templates.OptionView {
	var list []templates.OptionView
	for i := 0; i+1 < len(pairs); i += 2 {
		list = append(list, templates.OptionView{Value: pairs[i], Label: pairs[i+1], Chosen: pairs[i] == chosen})
	}
	return list
}

func (h *Handlers) personRow(ctx context.Context, p *account.Person) templates.AdminRowView {
	row := templates.AdminRowView{Title: p.Name, Link: templ.SafeURL(personPath(p.ID)), Badges: personBadges(ctx, p)}
	row.Facts = fact(nil, lang.T(ctx, "E-mail"), p.Email)
	row.Facts = h.timeFact(ctx, row.Facts, lang.T(ctx, "Added"), &p.CreatedAt)
	return row
}

func personBadges(ctx context.Context, p *account.Person) []templates.BadgeView {
	var list []templates.BadgeView
	if p.Admin {
		list = append(list, templates.BadgeView{Text: lang.T(ctx, "Administrator"), Tone: "good"})
	}
	if p.Disabled() {
		list = append(list, templates.BadgeView{Text: lang.T(ctx, "Disabled"), Tone: "bad"})
	}
	return list
}

// AdminPerson shows a person and what can be done about them.
func (h *Handlers) AdminPerson(c echo.Context) error {
	session, err := h.requireAdmin(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	p, err := h.accounts.PersonByID(ctx, c.Param("person"))
	if err != nil {
		return err
	}
	view := templates.AdminDetailView{Admin: h.adminShell(c, p.Name, adminPeoplePath), Back: back(ctx, adminPeoplePath, "People"), Badges: personBadges(ctx, p)}
	view.Facts = fact(nil, lang.T(ctx, "E-mail"), p.Email)
	view.Facts = h.timeFact(ctx, view.Facts, lang.T(ctx, "Added"), &p.CreatedAt)
	view.Facts = h.timeFact(ctx, view.Facts, lang.T(ctx, "Password set"), &p.PasswordChangedAt)
	view.Facts = h.timeFact(ctx, view.Facts, lang.T(ctx, "Disabled"), p.DisabledAt)
	view.Links = []templates.LinkView{
		{Path: pathWith(adminConnectionsPath, "person", p.Email), Label: lang.T(ctx, "Connections")},
		{Path: pathWith(adminAttemptsPath, "person", p.Email), Label: lang.T(ctx, "Attempts")},
		{Path: pathWith(adminAuditPath, "person", p.Email), Label: lang.T(ctx, "Audit")},
	}
	view.Actions = personActions(ctx, visitOf(c), p, session.UserID == p.ID)
	return render(c, http.StatusOK, templates.AdminDetail(view))
}

// personActions are what an administrator can do about a person. Nobody disables or demotes themselves: a slip would
// lock them out.
func personActions(ctx context.Context, v *visit, p *account.Person, self bool) []templates.AdminActionView {
	path := personPath(p.ID)
	var list []templates.AdminActionView
	if !p.Disabled() {
		list = append(list, templates.AdminActionView{ID: "reset", Title: lang.T(ctx, "Password"),
			Text:   lang.T(ctx, "Makes a one-time link with which they set a new password. It is shown to you once; earlier links stop working."),
			Button: button(v, path+"/reset-link", purposePerson("reset", p.ID), lang.T(ctx, "Make a reset link"), p.Email)})
	}
	if self {
		return list
	}
	if p.Admin {
		list = append(list, templates.AdminActionView{ID: "role", Title: lang.T(ctx, "Administrator"),
			Text:   lang.T(ctx, "They keep their account and lose the administration at once."),
			Button: dangerButton(v, path+"/demote", purposePerson("demote", p.ID), lang.T(ctx, "No administrator any more"), p.Email)})
	} else {
		list = append(list, templates.AdminActionView{ID: "role", Title: lang.T(ctx, "Administrator"),
			Text:   lang.T(ctx, "Administrators see everybody's connections and attempts, and decide about people, clients and keys."),
			Button: button(v, path+"/promote", purposePerson("promote", p.ID), lang.T(ctx, "Make an administrator"), p.Email)})
	}
	if p.Disabled() {
		return append(list, templates.AdminActionView{ID: "access", Title: lang.T(ctx, "Access"),
			Text:   lang.T(ctx, "They can sign in again. What ended when they were disabled stays ended."),
			Button: button(v, path+"/enable", purposePerson("enable", p.ID), lang.T(ctx, "Enable"), p.Email)})
	}
	return append(list, templates.AdminActionView{ID: "access", Title: lang.T(ctx, "Access"),
		Text:   lang.T(ctx, "Shuts them out at once: they are signed out, and their connections and personal tokens end."),
		Button: dangerButton(v, path+"/disable", purposePerson("disable", p.ID), lang.T(ctx, "Disable"), p.Email)})
}

// DisablePerson shuts a person out.
func (h *Handlers) DisablePerson(c echo.Context) error {
	return h.changePerson(c, "disable", audit.PersonDisabled, h.accounts.DisablePerson)
}

// EnablePerson lets a person in again.
func (h *Handlers) EnablePerson(c echo.Context) error {
	return h.changePerson(c, "enable", audit.PersonEnabled, h.accounts.EnablePerson)
}

// PromotePerson makes a person an administrator.
func (h *Handlers) PromotePerson(c echo.Context) error {
	return h.changePerson(c, "promote", audit.PersonPromoted, func(ctx context.Context, id string) error { return h.accounts.SetAdministrator(ctx, id, true) })
}

// DemotePerson takes the administration from a person.
func (h *Handlers) DemotePerson(c echo.Context) error {
	return h.changePerson(c, "demote", audit.PersonDemoted, func(ctx context.Context, id string) error { return h.accounts.SetAdministrator(ctx, id, false) })
}

func (h *Handlers) changePerson(c echo.Context, action, entry string, do func(context.Context, string) error) error {
	id := c.Param("person")
	return h.actAsAdmin(c, adminAction{
		purpose: purposePerson(action, id), page: personPath(id), done: "changed", entry: audit.Entry{Action: entry, PersonID: id},
		do: func(ctx context.Context, s *account.Session, _ url.Values) error {
			if s.UserID == id && action != "enable" {
				return account.Refuse(account.CodeForbidden, "", lang.T(ctx, "You cannot do this to yourself. Another administrator can."))
			}
			return do(ctx, id)
		},
	})
}

// SeePerson answers a reload of an action's address.
func (h *Handlers) SeePerson(c echo.Context) error { return see(c, personPath(c.Param("person"))) }

// MakeResetLink makes a reset link and shows it once.
func (h *Handlers) MakeResetLink(c echo.Context) error {
	id := c.Param("person")
	if _, _, err := h.readAdminPost(c, purposePerson("reset", id), personPath(id)); err != nil {
		return err
	}
	ctx := c.Request().Context()
	p, err := h.accounts.PersonByID(ctx, id)
	if err != nil {
		return err
	}
	link, err := h.accounts.ResetLink(ctx, id)
	if err != nil {
		return err
	}
	h.record(c, audit.Entry{Action: audit.ResetLinkMade, PersonID: id})
	return h.showOnce(c, shownOnce{Kind: onceResetLink, Name: p.Email, Secret: link})
}
