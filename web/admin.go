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

const adminPath = "/admin"

// adminSections is the navigation of the administration, in its order.
var adminSections = []struct{ path, label string }{
	{adminPath, lang.Text("Overview")},
	{adminPeoplePath, lang.Text("People")},
	{adminClientsPath, lang.Text("Clients")},
	{adminConnectionsPath, lang.Text("Connections")},
	{adminAddressPath, lang.Text("E-mail addresses")},
	{adminProvidersPath, lang.Text("Providers")},
	{adminAttemptsPath, lang.Text("Attempts")},
	{adminPoliciesPath, lang.Text("Policies")},
	{adminKeysPath, lang.Text("Keys")},
	{adminAuditPath, lang.Text("Audit")},
	{adminPath + "/issuers", lang.Text("Issuers")},
}

// requireAdmin gives an administrator's session. For everybody else there is nothing here; a stranger is asked to sign in.
func (h *Handlers) requireAdmin(c echo.Context) (*account.Session, error) {
	session, err := h.requireSession(c)
	if err != nil {
		return nil, err
	}
	if !session.Person.Admin {
		return nil, notFoundPage()
	}
	return session, nil
}

// adminShell is the frame of a page of the administration; section is the path of its entry in the navigation.
func (h *Handlers) adminShell(c echo.Context, title, section string) templates.AdminShellView {
	ctx := c.Request().Context()
	view := templates.AdminShellView{Shell: h.shell(c, title, templates.NavAdmin)}
	for _, s := range adminSections {
		view.Sections = append(view.Sections, templates.SectionView{Label: lang.T(ctx, s.label), Path: templ.SafeURL(s.path), Current: s.path == section})
	}
	return view
}

// adminAction is a button of the administration.
type adminAction struct {
	// purpose is that of the form's token, page the page that holds the form, done the notice that is shown afterwards.
	purpose, page, done string
	do                  func(context.Context, *account.Session, url.Values) error
	// entry is what goes into the audit record.
	entry audit.Entry
}

// actAsAdmin carries out a button of the administration: an administrator, our own form, a recent sign-in, one call, an
// audit entry, and on to the page.
func (h *Handlers) actAsAdmin(c echo.Context, a adminAction) error {
	form, session, err := h.readAdminPost(c, a.purpose, a.page)
	if err != nil {
		return err
	}
	if err := a.do(c.Request().Context(), session, form); err != nil {
		return h.adminRefused(err)
	}
	h.record(c, a.entry)
	return see(c, withDone(a.page, a.done))
}

// readAdminPost reads an administrator's form, given a recent sign-in.
func (h *Handlers) readAdminPost(c echo.Context, purpose, page string) (url.Values, *account.Session, error) {
	if _, err := h.requireAdmin(c); err != nil {
		return nil, nil, err
	}
	form, err := h.readPost(c, purpose)
	if err != nil {
		return nil, nil, err
	}
	session, err := h.requireFresh(c, page)
	return form, session, err
}

// adminRefused turns the refusal of a service into a page; other errors stay what they are. The refusal is the page's
// cause, from which sendPage says it in the reader's language.
func (h *Handlers) adminRefused(err error) error {
	if problem := problemOf(context.Background(), err); problem != "" && account.CodeOf(err) != account.CodeNotFound {
		return &PageError{Status: http.StatusConflict, Title: lang.Text("This cannot be done"), What: problem, Cause: err}
	}
	return err
}

// seeAdmin answers a reload of an action's address.
func seeAdmin(page string) echo.HandlerFunc {
	return func(c echo.Context) error { return see(c, page) }
}
