package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"gatehouse/app/account"
	"gatehouse/app/audit"
	"gatehouse/app/home"
	"gatehouse/app/trust"
	"gatehouse/templates"
	"gatehouse/templates/lang"
)

const (
	adminIssuersPath    = adminPath + "/issuers"
	purposeAddIssuer    = "add issuer"
	purposeRemoveIssuer = "remove issuer"
)

// issuerAlgorithms are those to choose from; the first two start ticked.
var issuerAlgorithms = []string{"RS256", "ES256", "PS256", "EdDSA"}

// Issuers are the issuers whose assertions are accepted; trust.Service is one.
type Issuers interface {
	List(ctx context.Context) ([]trust.Issuer, error)
	Add(ctx context.Context, i trust.Issuer) error
	Remove(ctx context.Context, issuer string) error
}

// AdminIssuers lists the trusted issuers.
func (h *Handlers) AdminIssuers(c echo.Context) error {
	if _, err := h.requireAdmin(c); err != nil {
		return err
	}
	return h.showIssuers(c, http.StatusOK, trust.Issuer{Algorithms: issuerAlgorithms[:2], Scopes: []string{home.ScopeRead}}, "")
}

// showIssuers shows the list, and the form with what was typed.
func (h *Handlers) showIssuers(c echo.Context, status int, typed trust.Issuer, problem string) error {
	ctx := c.Request().Context()
	list, err := h.issuers.List(ctx)
	if err != nil {
		return err
	}
	v := visitOf(c)
	view := templates.AdminIssuersView{
		Admin: h.adminShell(c, lang.T(ctx, "Trusted issuers"), adminIssuersPath), Token: v.formToken(purposeAddIssuer),
		Form: templates.IssuerFormView{
			Issuer: typed.Issuer, Tenant: typed.Tenant, JWKSURI: typed.JWKSURI, JWKS: string(typed.JWKS), Domains: strings.Join(typed.Domains, " "),
			Locations: strings.Join(typed.Locations, " "), IgnoredClaims: strings.Join(typed.IgnoredClaims, " "),
			CreatesPeople: typed.CreatesPeople, SingleUse: typed.SingleUse, Problem: problem,
		},
	}
	for _, name := range issuerAlgorithms {
		view.Form.Algorithms = append(view.Form.Algorithms, templates.ChoiceView{Value: name, Title: name, Ticked: slices.Contains(typed.Algorithms, name)})
	}
	for _, name := range []string{home.ScopeRead, home.ScopeWrite} {
		w := scopeWords(ctx, name)
		view.Form.Scopes = append(view.Form.Scopes, templates.ChoiceView{Value: name, Title: w.title, Detail: w.detail, Ticked: slices.Contains(typed.Scopes, name)})
	}
	for i := range list {
		view.Issuers = append(view.Issuers, templates.IssuerView{Issuer: list[i].Issuer, Facts: issuerFacts(ctx, &list[i]), RemoveToken: v.formToken(purposeRemoveIssuer)})
	}
	return render(c, status, templates.AdminIssuers(view))
}

func issuerFacts(ctx context.Context, i *trust.Issuer) []templates.FactView {
	keys := i.JWKSURI
	if keys == "" {
		keys = lang.T(ctx, "entered by hand")
	}
	facts := []templates.FactView{
		{Label: lang.T(ctx, "Keys"), Text: keys}, {Label: lang.T(ctx, "Algorithms"), Text: strings.Join(i.Algorithms, ", ")},
		{Label: lang.T(ctx, "May"), Text: strings.Join(shortScopes(ctx, i.Scopes), ", ")},
	}
	add := func(label, text string) {
		if text != "" {
			facts = append(facts, templates.FactView{Label: label, Text: text})
		}
	}
	add(lang.T(ctx, "Tenant"), i.Tenant)
	add(lang.T(ctx, "Domains"), strings.Join(i.Domains, ", "))
	if i.CreatesPeople {
		add(lang.T(ctx, "New people"), lang.T(ctx, "are made"))
	}
	if i.SingleUse {
		add(lang.T(ctx, "Assertions"), lang.T(ctx, "work once"))
	}
	return facts
}

func parseIssuer(form url.Values) trust.Issuer {
	i := trust.Issuer{
		Issuer: strings.TrimSpace(form.Get("issuer")), Tenant: strings.TrimSpace(form.Get("tenant")), JWKSURI: strings.TrimSpace(form.Get("jwks_uri")),
		Algorithms: form["algorithm"], Domains: strings.Fields(form.Get("domains")), Locations: strings.Fields(form.Get("locations")),
		IgnoredClaims: strings.Fields(form.Get("ignored_claims")), Scopes: form["scope"],
		CreatesPeople: form.Get("creates_people") != "", SingleUse: form.Get("single_use") != "",
	}
	if keys := strings.TrimSpace(form.Get("jwks")); keys != "" {
		i.JWKS = []byte(keys)
	}
	return i
}

// AddIssuer trusts an issuer.
func (h *Handlers) AddIssuer(c echo.Context) error {
	form, _, err := h.readAdminPost(c, purposeAddIssuer, adminIssuersPath)
	if err != nil {
		return err
	}
	i := parseIssuer(form)
	err = h.issuers.Add(c.Request().Context(), i)
	if code := account.CodeOf(err); code == account.CodeValidation || code == account.CodeConflict {
		return h.showIssuers(c, http.StatusUnprocessableEntity, i, lang.T(c.Request().Context(), problemOf(c.Request().Context(), err)))
	}
	if err != nil {
		return err
	}
	h.record(c, audit.Entry{Action: audit.IssuerAdded, Detail: map[string]string{"issuer": i.Issuer}})
	return see(c, withDone(adminIssuersPath, "saved"))
}

// RemoveIssuer ends the trust in an issuer and what stands on it.
func (h *Handlers) RemoveIssuer(c echo.Context) error {
	form, _, err := h.readAdminPost(c, purposeRemoveIssuer, adminIssuersPath)
	if err != nil {
		return err
	}
	issuer := form.Get("issuer")
	err = h.issuers.Remove(c.Request().Context(), issuer)
	if errors.Is(err, trust.ErrNotFound) {
		return notFoundPage()
	}
	if err != nil {
		return err
	}
	h.record(c, audit.Entry{Action: audit.IssuerRemoved, Detail: map[string]string{"issuer": issuer}})
	return see(c, withDone(adminIssuersPath, "issuer_removed"))
}
