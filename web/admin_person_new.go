package web

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"gatehouse/app/account"
	"gatehouse/app/audit"
	"gatehouse/templates"
	"gatehouse/templates/lang"
)

const newPersonPath = adminPeoplePath + "/new"

// NewPerson shows the form that adds a person.
func (h *Handlers) NewPerson(c echo.Context) error {
	if _, err := h.requireAdmin(c); err != nil {
		return err
	}
	if _, err := h.requireFresh(c, newPersonPath); err != nil {
		return err // now, and not after everything was entered
	}
	return h.showNewPerson(c, http.StatusOK, account.NewPerson{}, "")
}

func (h *Handlers) showNewPerson(c echo.Context, status int, n account.NewPerson, problem string) error {
	ctx := c.Request().Context()
	return render(c, status, templates.AdminForm(templates.AdminFormView{
		Admin: h.adminShell(c, lang.T(ctx, "Add a person"), adminPeoplePath), Back: back(ctx, adminPeoplePath, "People"), Problem: problem,
		Lead:   lang.T(ctx, "They get a location of their own, and a one-time link with which they set their password. You give them the link."),
		Action: newPersonPath, Token: visitOf(c).formToken(purposeAddPerson), Submit: lang.T(ctx, "Add"),
		Groups: []templates.FieldGroupView{{Legend: lang.T(ctx, "Person"), Fields: []templates.FieldView{
			{Name: "email", Label: lang.T(ctx, "E-mail"), Type: "email", Value: n.Email, Required: true, Hint: lang.T(ctx, "What they sign in with.")},
			{Name: "name", Label: lang.T(ctx, "Name"), Type: "text", Value: n.Name, Hint: lang.T(ctx, "Left empty: the part of the address before the @.")},
			{Name: "administrator", Tick: &templates.ChoiceView{Value: "yes", Title: lang.T(ctx, "Administrator"), Ticked: n.Admin,
				Detail: lang.T(ctx, "Administrators see everybody's connections and attempts, and decide about people, clients and keys.")}},
		}}},
	}))
}

// AddPerson adds a person and shows the link for them once.
func (h *Handlers) AddPerson(c echo.Context) error {
	form, _, err := h.readAdminPost(c, purposeAddPerson, newPersonPath)
	if err != nil {
		return err
	}
	n := account.NewPerson{Email: form.Get("email"), Name: form.Get("name"), Admin: form.Get("administrator") == "yes"}
	p, link, err := h.accounts.AddWithLink(c.Request().Context(), n)
	if problem := problemOf(c.Request().Context(), err); problem != "" {
		return h.showNewPerson(c, http.StatusUnprocessableEntity, n, problem)
	}
	if err != nil {
		return err
	}
	facts := map[string]string{}
	if p.Admin {
		facts["administrator"] = "yes"
	}
	h.record(c, audit.Entry{Action: audit.PersonAdded, PersonID: p.ID, Detail: facts})
	return h.showOnce(c, shownOnce{Kind: onceResetLink, Name: p.Email, Secret: link})
}
