package web_test

import (
	"net/http"
	"strconv"
	"testing"

	"gatehouse/app/policy"
	"gatehouse/oauth"
)

// TestApproveWhatWasSeen: a client that changes between the look at its page and the press of Approve goes on waiting.
func TestApproveWhatWasSeen(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	if err := s.policies.Set(t.Context(), policy.Policy{Registration: oauth.RegistrationApproval}); err != nil {
		t.Fatal(err)
	}
	a := s.call(t, http.MethodPost, "/register", `{"client_name":"Calendar","redirect_uris":["https://calendar.example/cb"],"token_endpoint_auth_method":"none"}`, "Content-Type", jsonType)
	registered := a.json(t)
	id, token := registered["client_id"].(string), registered["registration_access_token"].(string)
	s.clients.add(id, "Calendar")
	waits := func() *oauth.Client {
		t.Helper()
		c, err := s.memory.Client(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	action := func() string {
		return "/admin/clients/approve?id=" + id + "&since=" + strconv.FormatInt(waits().PendingAt.UnixMilli(), 10)
	}
	admin := s.signedInAs(t, adminEmail)
	seen := action()
	form := admin.get(t, "/admin/clients/client?id="+id).form(t, seen)
	for _, uri := range []string{"https://evil.example/cb", "https://evil.example/other"} { // also within one millisecond
		body := `{"client_id":"` + id + `","client_name":"Calendar","redirect_uris":["` + uri + `"],"token_endpoint_auth_method":"none"}`
		if a := s.call(t, http.MethodPut, "/register/"+id, body, "Content-Type", jsonType, "Authorization", "Bearer "+token); a.status != http.StatusOK {
			t.Fatalf("change: %d %s", a.status, a.body)
		}
		if a := admin.post(t, seen, form); a.status != http.StatusSeeOther || waits().PendingAt == nil {
			t.Fatalf("DR-8 DM-2 what nobody has seen was approved (%d)", a.status)
		}
		seen = action()
		form = admin.get(t, "/admin/clients/client?id="+id).form(t, seen)
	}
	if a := admin.post(t, "/admin/clients/approve?id="+id, form); a.status != http.StatusSeeOther || waits().PendingAt == nil {
		t.Errorf("approved without saying what: %d", a.status)
	}
	if a := admin.post(t, seen, form); a.status != http.StatusSeeOther || waits().PendingAt != nil {
		t.Errorf("DR-8 approve: %d", a.status)
	}
}
