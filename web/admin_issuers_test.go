package web_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"gatehouse/app/audit"
)

func TestIssuersPage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	admin := s.signedInAs(t, adminEmail)
	if a := s.signedIn(t).get(t, "/admin/issuers"); a.status != http.StatusNotFound {
		t.Errorf("a member: %d", a.status)
	}
	form := admin.get(t, "/admin/issuers").form(t, "/admin/issuers")
	if !slices.Equal(form["algorithm"], []string{"RS256", "ES256"}) || !slices.Equal(form["scope"], []string{"home:read"}) {
		t.Errorf("ticked beforehand: %v", form)
	}
	form.Set("issuer", "http://idp.example")
	form.Set("jwks_uri", "https://idp.example/keys")
	form.Set("domains", "example.org @Example.COM")
	a := admin.post(t, "/admin/issuers", form)
	if a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, "must be an https URL") || !strings.Contains(a.body, `value="http://idp.example"`) {
		t.Errorf("JB-1 plain http: %d %s", a.status, a.body)
	}
	form.Set("issuer", "https://idp.example")
	form.Set("creates_people", "yes")
	if a = admin.post(t, "/admin/issuers", form); a.status != http.StatusSeeOther {
		t.Fatalf("add: %d %s", a.status, a.body)
	}
	page := admin.get(t, "/admin/issuers")
	for _, part := range []string{"https://idp.example", "https://idp.example/keys", "example.org, example.com", "RS256, ES256"} {
		if !strings.Contains(page.body, part) {
			t.Errorf("the page does not show %q", part)
		}
	}
	if a = admin.post(t, "/admin/issuers", form); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, "trusted already") {
		t.Errorf("twice: %d", a.status)
	}
	remove := page.form(t, "/admin/issuers/remove")
	s.clock.Advance(11 * time.Minute)
	if a = admin.post(t, "/admin/issuers/remove", remove); a.status != http.StatusSeeOther || !strings.HasPrefix(a.header.Get("Location"), "/signin?again=1") {
		t.Errorf("AD-1 after ten minutes: %d to %q", a.status, a.header.Get("Location"))
	}
	admin = s.signedInAs(t, adminEmail)
	remove = admin.get(t, "/admin/issuers").form(t, "/admin/issuers/remove")
	if a = admin.post(t, "/admin/issuers/remove", remove); a.status != http.StatusSeeOther {
		t.Errorf("remove: %d %s", a.status, a.body)
	}
	if a = admin.post(t, "/admin/issuers/remove", remove); a.status != http.StatusNotFound {
		t.Errorf("removed twice: %d", a.status)
	}
	if got := s.audit.actions(); !slices.Contains(got, audit.IssuerAdded) || !slices.Contains(got, audit.IssuerRemoved) {
		t.Errorf("recorded: %v", got)
	}
	foreign := url.Values{"issuer": {"https://idp.example"}, "csrf": {"x"}}
	if a = admin.post(t, "/admin/issuers/remove", foreign); a.status != http.StatusForbidden {
		t.Errorf("a form of another page: %d", a.status)
	}
}
