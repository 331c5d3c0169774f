package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"gatehouse/app/audit"
)

func TestAdministrationIsForAdministrators(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	member, admin := s.signedIn(t), s.signedInAs(t, adminEmail)
	for _, path := range []string{"/admin", "/admin/audit"} {
		if a := member.get(t, path); a.status != http.StatusNotFound {
			t.Errorf("%s for a member: %d; want 404", path, a.status)
		}
		if a := s.browser().get(t, path); a.status != http.StatusSeeOther || a.header.Get("Location") != "/signin?return="+url.QueryEscape(path) {
			t.Errorf("%s for a stranger: %d to %q; want the sign-in and back", path, a.status, a.header.Get("Location"))
		}
		a := admin.get(t, path)
		if a.status != http.StatusOK || a.find("a", "href", "/admin/audit") == nil {
			t.Errorf("%s for an administrator: %d", path, a.status)
		}
		if policy := a.header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "script-src") ||
			!strings.Contains(policy, "form-action 'self'") || a.header.Get("Cache-Control") != "no-store" {
			t.Errorf("BH-1, BH-6 %s: policy %q", path, policy)
		}
	}
	if member.get(t, "/").find("a", "href", "/admin") != nil || admin.get(t, "/").find("a", "href", "/admin") == nil {
		t.Error("the navigation shows the administration to administrators alone")
	}
}

func TestAuditPage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	admin := s.signedInAs(t, adminEmail)
	if a := admin.get(t, "/admin/audit"); !strings.Contains(a.body, "Nothing was recorded yet.") {
		t.Error("an empty record does not say so")
	}
	record := audit.New(audit.Config{Store: s.audit, Now: s.clock.Now, Rand: zeros{}, Keep: time.Hour})
	for range audit.Page + 1 {
		record.Record(t.Context(), audit.Entry{Actor: audit.ActorCLI, Action: audit.ClientBlocked, ClientID: "<b>client"})
		s.clock.Advance(time.Second)
	}
	record.Record(t.Context(), audit.Entry{Actor: audit.ActorPerson, ActorID: "user " + adminEmail, Action: audit.PersonDisabled, PersonID: "user " + email})
	a := admin.get(t, "/admin/audit")
	if n := strings.Count(a.body, "<strong>Client blocked"); n != audit.Page-1 || !strings.Contains(a.body, "<strong>Person disabled") {
		t.Errorf("the first page shows %d of the blocks", n)
	}
	next := a.find("a", "rel", "next")
	if next == nil {
		t.Fatal("there is no way to older entries")
	}
	if a := admin.get(t, attr(next, "href")); strings.Count(a.body, "<strong>Client blocked") != 2 || a.find("a", "rel", "next") != nil {
		t.Error("the second page does not show the rest")
	}
	for query, want := range map[string]int{
		"person=" + email: 1, "person=nobody@example.org": 0, "action=person": 1, "action=person.disabled": 1, "action=key": 0,
		"until=2001-01-01": 0, "from=2100-01-01": 0, "from=nonsense&action=person": 1,
	} {
		if n := strings.Count(admin.get(t, "/admin/audit?"+query).body, "<strong>"); n != want {
			t.Errorf("%s: %d entries; want %d", query, n, want)
		}
	}
}

// zeros is a source that is not random: ids then differ by their time alone.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
