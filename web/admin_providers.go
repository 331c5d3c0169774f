package web

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"gatehouse/app/account"
	"gatehouse/app/audit"
	"gatehouse/app/upstream"
	"gatehouse/templates"
	"gatehouse/templates/lang"
)

const (
	adminProvidersPath = adminPath + "/providers"
	purposeAddProvider = "add provider"
)

func purposeRemoveProvider(slug string) string { return "remove provider " + slug }

// AdminProviders shows the providers.
func (h *Handlers) AdminProviders(c echo.Context) error {
	if _, err := h.requireAdmin(c); err != nil {
		return err
	}
	return h.showProviders(c, http.StatusOK, templates.ProvidersView{})
}

func (h *Handlers) showProviders(c echo.Context, status int, view templates.ProvidersView) error {
	ctx, v := c.Request().Context(), visitOf(c)
	list, err := h.people.Upstream.List(ctx)
	if err != nil {
		return err
	}
	view.Admin, view.Token = h.adminShell(c, lang.T(ctx, "Providers"), adminProvidersPath), v.formToken(purposeAddProvider)
	view.SignUpMode = signUpWords(ctx, h.people.Persons.SignUpRules())
	for _, p := range list {
		view.Providers = append(view.Providers, templates.ProviderRowView{Name: p.Name, Issuer: p.Issuer, ClientID: p.ClientID, Domains: strings.Join(p.Domains, ", "),
			Callback: h.people.Upstream.Callback(p.Slug), SignUp: p.SignUp, Added: h.timeView(ctx, p.CreatedAt), Token: v.formToken(purposeRemoveProvider(p.Slug)),
			Action: templ.SafeURL(adminProvidersPath + "/" + url.PathEscape(p.Slug) + "/remove")})
	}
	return render(c, status, templates.AdminProviders(view))
}

func signUpWords(ctx context.Context, p account.SignUpPolicy) string {
	switch p.Mode {
	case account.SignUpOpen:
		return lang.T(ctx, "Sign-up policy: open. Everybody with a verified address may make an account.")
	case account.SignUpDomain:
		return lang.T(ctx, "Sign-up policy: verified addresses of {domains} may make an account.", "domains", strings.Join(p.Domains, ", "))
	}
	return lang.T(ctx, "Sign-up policy: closed. New people come by invitation alone.")
}

// AddProvider enters a provider.
func (h *Handlers) AddProvider(c echo.Context) error {
	form, _, err := h.readAdminPost(c, purposeAddProvider, adminProvidersPath)
	if err != nil {
		return err
	}
	n := upstream.NewProvider{Slug: form.Get("slug"), Name: form.Get("name"), Issuer: form.Get("issuer"), ClientID: strings.TrimSpace(form.Get("client_id")),
		ClientSecret: strings.TrimSpace(form.Get("client_secret")), Domains: splitList(form.Get("domains")), SignUp: form.Get("sign_up") == "1"}
	p, err := h.people.Upstream.Add(c.Request().Context(), n)
	if problem := problemOf(c.Request().Context(), err); problem != "" {
		return h.showProviders(c, http.StatusUnprocessableEntity, templates.ProvidersView{Problem: problem, Slug: n.Slug, Name: n.Name, Issuer: n.Issuer,
			ClientID: n.ClientID, Domains: form.Get("domains"), SignUp: n.SignUp})
	}
	if err != nil {
		return err
	}
	h.record(c, audit.Entry{Action: audit.ProviderAdded, Detail: map[string]string{"provider": p.Slug, "issuer": p.Issuer}})
	return see(c, withDone(adminProvidersPath, "provider"))
}

func splitList(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ';' || r == ' ' || r == '\t' })
}

// RemoveProvider takes a provider away.
func (h *Handlers) RemoveProvider(c echo.Context) error {
	slug := c.Param("provider")
	return h.actAsAdmin(c, adminAction{purpose: purposeRemoveProvider(slug), page: adminProvidersPath, done: "provider-removed",
		do: func(ctx context.Context, _ *account.Session, form url.Values) error {
			return h.people.Upstream.Remove(ctx, slug, form.Get("force") == "1")
		},
		entry: audit.Entry{Action: audit.ProviderRemoved, Detail: map[string]string{"provider": slug}}})
}
