package web

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"gatehouse/app/account"
	"gatehouse/app/audit"
	"gatehouse/templates"
	"gatehouse/templates/lang"
)

const (
	adminAddressPath    = adminPath + "/addresses"
	purposeAdminAddress = "change address of somebody"
)

// AdminAddress shows the form that gives a person another address.
func (h *Handlers) AdminAddress(c echo.Context) error {
	if _, err := h.requireAdmin(c); err != nil {
		return err
	}
	return h.showAdminAddress(c, http.StatusOK, templates.AdminAddressView{})
}

func (h *Handlers) showAdminAddress(c echo.Context, status int, view templates.AdminAddressView) error {
	view.Admin = h.adminShell(c, lang.T(c.Request().Context(), "E-mail addresses"), adminAddressPath)
	view.Token = visitOf(c).formToken(purposeAdminAddress)
	return render(c, status, templates.AdminAddress(view))
}

// ChangeAddress gives a person another address: the way without mail.
func (h *Handlers) ChangeAddress(c echo.Context) error {
	form, _, err := h.readAdminPost(c, purposeAdminAddress, adminAddressPath)
	if err != nil {
		return err
	}
	ctx, view := c.Request().Context(), templates.AdminAddressView{Email: form.Get("email"), New: form.Get("new")}
	p, err := h.accounts.PersonByEmail(ctx, view.Email)
	if code := account.CodeOf(err); code == account.CodeNotFound || code == account.CodeValidation {
		view.Problem = lang.T(ctx, "There is no person with this e-mail address.")
		return h.showAdminAddress(c, http.StatusUnprocessableEntity, view)
	}
	if err != nil {
		return err
	}
	err = h.people.Persons.SetEmail(ctx, p.ID, view.New)
	if view.Problem = problemOf(ctx, err); view.Problem != "" {
		return h.showAdminAddress(c, http.StatusUnprocessableEntity, view)
	}
	if err != nil {
		return err
	}
	h.record(c, audit.Entry{Action: audit.EmailChanged, PersonID: p.ID, Detail: map[string]string{"email": view.New}})
	return see(c, withDone(adminAddressPath, "address"))
}
