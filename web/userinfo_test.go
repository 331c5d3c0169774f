package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"gatehouse/app/account"
	"gatehouse/oauth"
)

// identity approves a request for identity scopes of an entered client and gives the token answer.
func (s *site) identity(t *testing.T, b *browser, scope string) map[string]any {
	t.Helper()
	client := s.trusted(t, callback)
	query := authorizeQuery(client)
	query.Set("scope", scope)
	query.Set("nonce", "n-1")
	path, page := b.consent(t, query)
	form := page.form(t, path+"/decision")
	form.Set("decision", "allow")
	a := b.post(t, path+"/decision", form)
	location, err := url.Parse(a.header.Get("Location"))
	if err != nil || location.Query().Get("code") == "" {
		t.Fatalf("allow: %d %s", a.status, a.body)
	}
	a = s.postForm(t, "/token", url.Values{"grant_type": {"authorization_code"}, "client_id": {client}, "code": {location.Query().Get("code")}, "redirect_uri": {callback}, "code_verifier": {verifier}})
	if a.status != http.StatusOK {
		t.Fatalf("token: %d %s", a.status, a.body)
	}
	return a.json(t)
}

func TestUserInfo(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.signedIn(t)
	tokens := s.identity(t, b, "openid email")
	if tokens["id_token"] == nil || tokens["scope"] != "openid email" {
		t.Fatalf("OI-1 %v", tokens)
	}
	bearer := "Bearer " + tokens["access_token"].(string)
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		a := s.call(t, method, "/userinfo", "", "Authorization", bearer)
		got := a.json(t)
		if a.status != http.StatusOK || got["sub"] != "user "+email || got["email"] != email || got["email_verified"] != false || len(got) != 3 {
			t.Errorf("OI-2 %s: %d %s", method, a.status, a.body)
		}
		if a.header.Get("Cache-Control") != "no-store" || a.header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("OI-2 headers %v", a.header)
		}
	}
	if got := s.call(t, http.MethodGet, "/userinfo", "", "Authorization", "Bearer "+s.identity(t, b, "openid")["access_token"].(string)).json(t); len(got) != 1 {
		t.Errorf("OI-2 without email: %v", got)
	}
	for _, c := range []struct {
		name, authorization string
		status              int
		challenge           string
	}{
		{"BR-1 no token", "", 401, "Bearer"},
		{"BR-2 garbage", "Bearer x", 401, `Bearer error="invalid_token"`},
		{"BR-3 OI-2 without openid", "Bearer " + s.tokens(t, s.register(t))["access_token"].(string), 403, `Bearer error="insufficient_scope"`},
		{"BR-2 OI-1 an ID token", "Bearer " + tokens["id_token"].(string), 401, `Bearer error="invalid_token"`},
	} {
		var headers []string
		if c.authorization != "" {
			headers = []string{"Authorization", c.authorization}
		}
		a := s.call(t, http.MethodGet, "/userinfo", "", headers...)
		if a.status != c.status || !strings.HasPrefix(a.header.Get("WWW-Authenticate"), c.challenge) {
			t.Errorf("%s: %d %q", c.name, a.status, a.header.Get("WWW-Authenticate"))
		}
	}
	if a := s.call(t, http.MethodPut, "/userinfo", ""); a.status != http.StatusMethodNotAllowed || a.header.Get("Allow") == "" {
		t.Errorf("X-1 PUT: %d %v", a.status, a.header)
	}
	if a := s.call(t, http.MethodGet, "/userinfo?access_token="+tokens["access_token"].(string), ""); a.status != http.StatusUnauthorized {
		t.Errorf("BR-5 a token in the query: %d", a.status)
	}
}

func TestConsentToIdentity(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.signedIn(t)
	client := s.trusted(t, callback)
	words := []string{"Know who you are", "Know your e-mail address"}
	query := authorizeQuery(client)
	if _, page := b.consent(t, query); strings.Contains(page.body, words[0]) || strings.Contains(page.body, words[1]) {
		t.Error("OI-1 the page offers who somebody is without being asked")
	}
	query.Set("scope", "home:read openid email")
	if _, page := b.consent(t, query); !strings.Contains(page.body, words[0]) || !strings.Contains(page.body, words[1]) || !strings.Contains(page.body, "<legend>Where</legend>") {
		t.Error("OI-1 the page lacks what was asked")
	}
	query.Set("scope", "openid")
	path, page := b.consent(t, query)
	if strings.Contains(page.body, "Change your things") || strings.Contains(page.body, ">Where<") || strings.Contains(page.body, words[1]) {
		t.Error("OI-1 an app that wants to know who signs in is offered more")
	}
	form := page.form(t, path+"/decision")
	form.Set("decision", "allow")
	if a := b.post(t, path+"/decision", form); a.status != http.StatusSeeOther || !strings.Contains(a.header.Get("Location"), "code=") {
		t.Errorf("OI-1 allowed without a location: %d %s", a.status, a.header.Get("Location"))
	}
}

func TestStrongerSignIn(t *testing.T) {
	t.Parallel()
	query := func(s *site, t *testing.T) url.Values {
		q := authorizeQuery(s.trusted(t, callback))
		q.Set("acr_values", account.StrengthMulti)
		return q
	}
	t.Run("BR-12 asked for on the sign-in page", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.accounts.strongest = account.StrengthMulti
		b := s.signedIn(t)
		path, page := b.consent(t, query(s, t))
		if page.status != http.StatusSeeOther || !strings.HasPrefix(page.header.Get("Location"), "/signin?request=") {
			t.Fatalf("%s: %d %v", path, page.status, page.header)
		}
		page = b.get(t, page.header.Get("Location"))
		if !strings.Contains(page.body, "stronger sign-in") {
			t.Errorf("the page does not say why: %s", page.body)
		}
		s.accounts.methods = []string{account.MethodPassword, account.MethodOTP, account.MethodMultiple}
		form := page.form(t, "/signin")
		form.Set("email", email)
		form.Set("password", password)
		a := b.post(t, "/signin", form)
		if page = b.get(t, a.header.Get("Location")); page.status != http.StatusOK {
			t.Errorf("after it: %d %v", page.status, page.header)
		}
	})
	t.Run("BR-12 a person who has nothing stronger", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		_, page := s.signedIn(t).consent(t, query(s, t))
		location, err := url.Parse(page.header.Get("Location"))
		if err != nil || page.status != http.StatusSeeOther || location.Query().Get("error") != "unmet_authentication_requirements" || location.Query().Get("iss") == "" {
			t.Errorf("%d %v", page.status, page.header)
		}
	})
	t.Run("BR-12 metadata", func(t *testing.T) {
		t.Parallel()
		got := newSite(t).call(t, http.MethodGet, oauth.PathServerMetadata, "").json(t)["acr_values_supported"].([]any)
		if len(got) != 2 || got[0] != account.StrengthSingle || got[1] != account.StrengthMulti {
			t.Errorf("%v", got)
		}
	})
}
