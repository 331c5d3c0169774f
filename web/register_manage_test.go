package web_test

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"gatehouse/app/limit"
	"gatehouse/app/policy"
	"gatehouse/oauth"
)

const jsonType = "application/json"

func TestManageRegistration(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	r := s.call(t, http.MethodPost, "/register", `{"client_name":"Test app","redirect_uris":["`+callback+`"],"token_endpoint_auth_method":"none"}`, "Content-Type", jsonType).json(t)
	id, bearer := r["client_id"].(string), "Bearer "+r["registration_access_token"].(string)
	path := strings.TrimPrefix(r["registration_client_uri"].(string), s.url)
	body := `{"client_id":"` + id + `","client_name":"Next","redirect_uris":["` + callback + `"],"token_endpoint_auth_method":"none"}`
	for _, c := range []struct {
		name, method, path, body string
		headers                  []string
		status                   int
	}{
		{"DM-2 get", "GET", path, "", []string{"Authorization", bearer}, 200},
		{"DM-2 get with a slash", "GET", path + "/", "", []string{"Authorization", bearer}, 200},
		{"DM-2 put", "PUT", path, body, []string{"Authorization", bearer, "Content-Type", jsonType}, 200},
		{"DM-2 put of a form", "PUT", path, "a=b", []string{"Authorization", bearer, "Content-Type", formType}, 400},
		{"X-11 put of too much", "PUT", path, strings.Repeat(" ", 65<<10), []string{"Authorization", bearer, "Content-Type", jsonType}, 413},
		{"DM-3 no token", "GET", path, "", nil, 401},
		{"DM-3 a wrong token", "DELETE", path, "", []string{"Authorization", "Bearer gtm_x"}, 401},
		{"DM-3 another scheme", "GET", path, "", []string{"Authorization", "Basic eA=="}, 401},
		{"DM-3 two tokens", "GET", path, "", []string{"Authorization", bearer, "Authorization", bearer}, 401},
		{"DM-3 a method that is not offered", "POST", path, "", []string{"Authorization", bearer}, 405},
		{"DM-3 patch", "PATCH", path, body, []string{"Authorization", bearer}, 405},
		{"CO-1 preflight", "OPTIONS", path, "", []string{"Origin", "https://app.example"}, 204},
		{"DM-3 delete", "DELETE", path, "", []string{"Authorization", bearer}, 204},
		{"DM-3 delete again", "DELETE", path, "", []string{"Authorization", bearer}, 401},
	} {
		a := s.call(t, c.method, c.path, c.body, c.headers...)
		if a.status != c.status || a.header.Get("Access-Control-Allow-Origin") != "*" || a.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d %s", c.name, a.status, a.body)
		}
		switch c.status {
		case 401:
			if got := a.header.Get("WWW-Authenticate"); got != `Bearer error="invalid_token"` {
				t.Errorf("%s: challenge %q", c.name, got)
			}
		case 405:
			if got := a.header.Get("Allow"); got != "GET, HEAD, PUT, DELETE, OPTIONS" {
				t.Errorf("%s: allow %q", c.name, got)
			}
		case 204:
			if c.method == "OPTIONS" && (a.header.Get("Access-Control-Allow-Methods") != "GET, HEAD, PUT, DELETE, OPTIONS" || !strings.Contains(a.header.Get("Access-Control-Allow-Headers"), "Authorization")) {
				t.Errorf("%s: %v", c.name, a.header)
			}
		case 200:
			if got := a.json(t); got["client_id"] != id || got["registration_access_token"] == nil {
				t.Errorf("%s: %v", c.name, got)
			}
		}
	}
	if a := newSite(t, off).call(t, http.MethodGet, path, ""); a.status != http.StatusNotFound {
		t.Errorf("while OAuth is off: %d", a.status)
	}
}

func TestRegistrationLimits(t *testing.T) {
	t.Parallel()
	t.Run("DR-7 X-12 registrations of one address", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		for range limit.RegistrationsOfOne.Budget {
			s.register(t)
		}
		a := s.call(t, http.MethodPost, "/register", `{}`, "Content-Type", jsonType)
		if a.status != http.StatusTooManyRequests || a.header.Get("Retry-After") == "" || a.json(t)["error"] != "temporarily_unavailable" {
			t.Errorf("%d %v %s", a.status, a.header, a.body)
		}
		s.clock.Advance(limit.RegistrationsOfOne.Window)
		s.register(t)
	})
	t.Run("X-12 management of one address", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		for range limit.OAuthManagement.Budget {
			s.call(t, http.MethodGet, "/register/x", "")
		}
		if a := s.call(t, http.MethodGet, "/register/x", ""); a.status != http.StatusTooManyRequests || a.header.Get("Retry-After") == "" {
			t.Errorf("%d", a.status)
		}
	})
	t.Run("X-12 one client over its own limit", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		id, other := s.register(t), s.register(t)
		s.memory.ChangeClient(id, func(c *oauth.Client) { c.Settings.PerMinute = 2 })
		for _, path := range []string{"/token", "/par"} {
			s.postForm(t, path, url.Values{"client_id": {id}})
		}
		for _, path := range []string{"/token", "/par", "/introspect", "/revoke"} {
			if a := s.postForm(t, path, url.Values{"client_id": {id}, "token": {"x"}}); a.status != http.StatusTooManyRequests || a.header.Get("Retry-After") == "" || a.json(t)["error"] != "temporarily_unavailable" {
				t.Errorf("%s: %d %s", path, a.status, a.body)
			}
		}
		if a := s.postForm(t, "/token", url.Values{"client_id": {other}}); a.status != http.StatusBadRequest {
			t.Errorf("another client: %d", a.status)
		}
		s.clock.Advance(time.Minute)
		if a := s.postForm(t, "/token", url.Values{"client_id": {id}}); a.status != http.StatusBadRequest {
			t.Errorf("a minute later: %d", a.status)
		}
	})
}

func TestRegistrationModesOverHTTP(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	set := func(mode oauth.RegistrationMode) {
		t.Helper()
		if err := s.policies.Set(t.Context(), policy.Policy{Registration: mode}); err != nil {
			t.Fatal(err)
		}
	}
	endpoint := func() any {
		t.Helper()
		return s.call(t, http.MethodGet, "/.well-known/oauth-authorization-server", "").json(t)["registration_endpoint"]
	}
	body := `{"redirect_uris":["` + callback + `"],"token_endpoint_auth_method":"none"}`
	set(oauth.RegistrationOff)
	if a := s.call(t, http.MethodPost, "/register", body, "Content-Type", jsonType); a.status != http.StatusForbidden || endpoint() != nil {
		t.Errorf("DR-8 off: %d, endpoint %v", a.status, endpoint())
	}
	set(oauth.RegistrationToken)
	a := s.call(t, http.MethodPost, "/register", body, "Content-Type", jsonType)
	if a.status != http.StatusUnauthorized || a.header.Get("WWW-Authenticate") != `Bearer error="invalid_token"` || endpoint() != s.url+"/register" {
		t.Errorf("DR-8 without a token: %d %q", a.status, a.header.Get("WWW-Authenticate"))
	}
	_, secret, err := s.policies.CreateToken(t.Context(), policy.NewToken{Name: "test", MaxUses: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{http.StatusCreated, http.StatusUnauthorized} {
		if a := s.call(t, http.MethodPost, "/register", body, "Content-Type", jsonType, "Authorization", "Bearer "+secret); a.status != want {
			t.Errorf("DR-8 with a token for one app: %d; want %d", a.status, want)
		}
	}
	set(oauth.RegistrationApproval)
	id := s.register(t)
	b := s.signedIn(t)
	if a := b.get(t, "/authorize?"+authorizeQuery(id).Encode()); a.status != http.StatusBadRequest || !strings.Contains(a.body, "waits for your administrator") {
		t.Errorf("DR-8 before the approval: %d %s", a.status, a.body)
	}
	admin := s.signedInAs(t, adminEmail)
	if page := admin.get(t, "/admin/policies"); !strings.Contains(page.body, "Apps that wait for your approval") {
		t.Error("the page of policies does not show who waits")
	}
	page := "/admin/clients/client?id=" + id
	s.clients.add(id, "Test app")
	waiting, err := s.memory.Client(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if a := admin.press(t, page, "/admin/clients/approve?id="+id+"&since="+strconv.FormatInt(waiting.PendingAt.UnixMilli(), 10)); a.status != http.StatusSeeOther {
		t.Errorf("approve: %d", a.status)
	}
	if a := b.get(t, "/authorize?"+authorizeQuery(id).Encode()); a.status != http.StatusSeeOther {
		t.Errorf("DR-8 after the approval: %d", a.status)
	}
	refused := s.register(t)
	s.clients.add(refused, "Other app")
	admin.press(t, "/admin/clients/client?id="+refused, "/admin/clients/refuse?id="+refused)
	if a := b.get(t, "/authorize?"+authorizeQuery(refused).Encode()); a.status != http.StatusBadRequest || strings.Contains(a.body, "waits for your administrator") {
		t.Errorf("DR-8 after the refusal: %d", a.status)
	}
	if got := strings.Join(s.audit.actions(), " "); got != "client.approved client.refused" {
		t.Errorf("recorded %s", got)
	}
}
