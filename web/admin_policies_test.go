package web_test

import (
	"net/http"
	"strings"
	"testing"

	"gatehouse/oauth"
)

func TestPoliciesPage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	admin := s.signedInAs(t, adminEmail)
	a := admin.press(t, "/admin/policies/edit", "/admin/policies/edit", "registration", "token", "blocked_hosts", "Bad.example\n*.worse.example", "refuse_other_host", "yes")
	p, saved, err := s.policies.Get(t.Context())
	if err != nil || a.status != http.StatusSeeOther || !saved || p.Registration != oauth.RegistrationToken || !p.RefuseOtherHost || p.ClientDocuments ||
		strings.Join(p.BlockedHosts, " ") != "*.worse.example bad.example" {
		t.Errorf("CI-16 saved %+v, %v (%d)", p, err, a.status)
	}
	a = admin.press(t, "/admin/policies/edit", "/admin/policies/edit", "document_hosts", "https://app.example/")
	if a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, "not a host name") || a.form(t, "/admin/policies/edit").Get("registration") != "token" {
		t.Errorf("a wrong host: %d", a.status)
	}
	if page := admin.get(t, "/admin/policies"); !strings.Contains(page.body, "*.worse.example") || !strings.Contains(page.body, "Saved here") {
		t.Error("the page does not show what holds")
	}
	if a := admin.press(t, "/admin/policies/tokens/new", "/admin/policies/tokens/new", "name", "", "uses", "x"); a.status != http.StatusUnprocessableEntity {
		t.Errorf("a token without a name: %d", a.status)
	}
	if a := admin.press(t, "/admin/policies/tokens/new", "/admin/policies/tokens/new", "name", "CI", "uses", "0"); a.status != http.StatusUnprocessableEntity {
		t.Errorf("a token for no app: %d", a.status)
	}
	a = admin.press(t, "/admin/policies/tokens/new", "/admin/policies/tokens/new", "name", "CI", "uses", "2")
	once := admin.get(t, a.header.Get("Location"))
	if a.status != http.StatusSeeOther || !strings.Contains(once.body, "gti_") {
		t.Fatalf("DR-8 a new token: %d %q", a.status, a.header.Get("Location"))
	}
	tokens, err := s.policies.Tokens(t.Context())
	if err != nil || len(tokens) != 1 || tokens[0].MaxUses != 2 || tokens[0].ExpiresAt == nil {
		t.Fatalf("tokens %+v, %v", tokens, err)
	}
	action := "/admin/policies/tokens/" + tokens[0].ID + "/revoke"
	if a := admin.press(t, "/admin/policies", action); a.status != http.StatusSeeOther {
		t.Errorf("revoke: %d", a.status)
	}
	if page := admin.get(t, "/admin/policies"); page.find("form", "action", action) != nil || strings.Contains(page.body, "gti_") {
		t.Error("a revoked token can be revoked again, or a token is shown again")
	}
	admin.press(t, "/admin/policies", "/admin/policies/reset")
	if _, saved, _ := s.policies.Get(t.Context()); saved {
		t.Error("the policy was not reset")
	}
	if got := strings.Join(s.audit.actions(), " "); got != "policy.changed registration_token.added registration_token.revoked policy.reset" {
		t.Errorf("recorded %s", got)
	}
	member := s.signedIn(t)
	for _, path := range []string{"/admin/policies", "/admin/policies/edit", "/admin/policies/tokens/new", "/admin/clients/settings?id=x"} {
		if a := member.get(t, path); a.status != http.StatusNotFound {
			t.Errorf("%s for a member: %d", path, a.status)
		}
	}
}

func TestClientRulesPage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	admin := s.signedInAs(t, adminEmail)
	id := s.register(t)
	s.clients.add(id, "Test app")
	path := "/admin/clients/settings?id=" + id
	for _, bad := range []string{"x", "0", "-1", "1000001"} {
		if a := admin.press(t, path, path, "per_minute", bad); a.status != http.StatusUnprocessableEntity {
			t.Errorf("limit %s: %d", bad, a.status)
		}
	}
	if a := admin.press(t, path, path, "per_minute", "50", "keep_on_stale", "yes", "require_pushed", "yes"); a.status != http.StatusSeeOther {
		t.Errorf("save: %d", a.status)
	}
	c, err := s.memory.Client(t.Context(), id)
	if err != nil || c.Settings != (oauth.ClientSettings{KeepOnStale: true, RequirePushed: true, PerMinute: 50}) {
		t.Errorf("RT-10 PA-4 X-12 saved %+v, %v", c.Settings, err)
	}
	page := admin.get(t, "/admin/clients/client?id="+id)
	for _, want := range []string{"Requests must be pushed", "An old refresh token is refused", "50 requests a minute"} {
		if !strings.Contains(page.body, want) {
			t.Errorf("the client's page lacks %q", want)
		}
	}
	form := admin.get(t, path).form(t, path)
	if form.Get("per_minute") != "50" || form.Get("keep_on_stale") != "yes" || form.Get("require_pushed") != "yes" {
		t.Errorf("the form holds %v", form)
	}
}
