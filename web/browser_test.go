package web_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"gatehouse/app/connection"
	"gatehouse/app/policy"
	"gatehouse/oauth"
)

func TestRequestsBelongToABrowser(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.register(t)
	one, two := s.signedIn(t), s.signedIn(t)
	first, page := one.consent(t, authorizeQuery(id))
	second, _ := one.consent(t, authorizeQuery(id))
	for _, path := range []string{first, first + "/logo", "/signin?request=" + strings.TrimPrefix(first, "/authorize/")} {
		if a := two.get(t, path); a.status < 400 || strings.Contains(a.body, "Test app") {
			t.Errorf("AZ-17 %s in another browser: %d", path, a.status)
		}
	}
	if a := two.get(t, first); a.status != http.StatusBadRequest || !strings.Contains(a.body, "another browser") {
		t.Errorf("AZ-17 another browser: %d %s", a.status, a.body)
	}
	form := page.form(t, first+"/decision")
	form.Set("decision", "allow")
	if a := two.post(t, first+"/decision", form); a.status == http.StatusSeeOther && strings.Contains(a.header.Get("Location"), "code=") {
		t.Error("AZ-11 another browser decided")
	}
	for _, path := range []string{second, first} { // tabs do not disturb each other
		form := one.get(t, path).form(t, path+"/decision")
		form.Set("decision", "allow")
		if a := one.post(t, path+"/decision", form); a.status != http.StatusSeeOther || !strings.Contains(a.header.Get("Location"), "code=") {
			t.Errorf("AZ-17 a tab: %d %s", a.status, a.body)
		}
	}
}

func TestRequestsSurviveSigningIn(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.browser()
	a := b.get(t, "/authorize?"+authorizeQuery(s.register(t)).Encode())
	cookie := b.cookies["__Host-gatehouse-browser"]
	set := strings.Join(a.header.Values("Set-Cookie"), "\n")
	if cookie == "" || !strings.Contains(set, "HttpOnly; Secure; SameSite=Lax") {
		t.Fatalf("AZ-17 the cookie: %q", set)
	}
	signIn := a.header.Get("Location")
	form := b.get(t, signIn).form(t, "/signin")
	form.Set("email", email)
	form.Set("password", password)
	a = b.post(t, "/signin", form)
	if page := b.get(t, a.header.Get("Location")); page.status != http.StatusOK || b.cookies["__Host-gatehouse-browser"] != cookie {
		t.Errorf("AZ-17 after the sign-in: %d", page.status)
	}
}

// A client's page that posts the request sends no cookie of ours along.
func TestPostedRequestsKeepOtherTabs(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.register(t)
	b := s.signedIn(t)
	first, _ := b.consent(t, authorizeQuery(id))
	posted := s.postForm(t, "/authorize", authorizeQuery(id)) // as SameSite has it: without cookies
	if posted.status != http.StatusSeeOther || posted.header.Get("Set-Cookie") != "" {
		t.Fatalf("a posted request: %d %q", posted.status, posted.header.Get("Set-Cookie"))
	}
	if a := b.get(t, posted.header.Get("Location")); a.status != http.StatusSeeOther && a.status != http.StatusOK {
		t.Errorf("AZ-17 the posted request: %d", a.status)
	}
	if a := b.get(t, first); a.status != http.StatusOK {
		t.Errorf("AZ-17 the other tab: %d", a.status)
	}
	if a := s.signedIn(t).get(t, posted.header.Get("Location")); a.status != http.StatusBadRequest {
		t.Errorf("AZ-17 the posted request in another browser: %d", a.status)
	}
}

const documentURL = "https://app.example/client.json"

func document(name string) string {
	return `{"client_id":"` + documentURL + `","client_name":"` + name + `","redirect_uris":["` + callback + `"],"logo_uri":"https://app.example/logo.png"}`
}

func TestConsentToADocument(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	if err := s.policies.Set(t.Context(), policy.Policy{Registration: oauth.RegistrationOff, ClientDocuments: true}); err != nil {
		t.Fatal(err)
	}
	s.documents.set(documentURL, document("First name"))
	b := s.signedIn(t)
	path, page := b.consent(t, authorizeQuery(documentURL))
	if !strings.Contains(page.body, "Nobody here has connected an app of app.example before.") {
		t.Error("CI-16 a new host is not warned of")
	}
	if page.find("img", "src", path+"/logo") == nil || strings.Contains(page.body, "logo.png") {
		t.Error("CI-18 the logo is not ours")
	}
	if a := b.get(t, path+"/logo"); a.status != http.StatusNotFound {
		t.Errorf("CI-18 without a logo: %d", a.status)
	}
	s.logos.picture = []byte("\x89PNG")
	a := b.get(t, path+"/logo")
	if a.status != http.StatusOK || a.header.Get("Content-Type") != "image/png" || a.header.Get("X-Content-Type-Options") != "nosniff" || a.body != "\x89PNG" {
		t.Errorf("CI-18 the logo: %d %v", a.status, a.header)
	}
	if a := s.browser().get(t, path+"/logo"); a.status != http.StatusNotFound {
		t.Errorf("CI-18 the logo for a stranger: %d", a.status)
	}
	approved := s.clock.Now()
	s.connections.add(connection.Connection{ID: foreign, UserID: "user " + email, Client: connection.Client{ID: documentURL}, Resource: s.url + "/mcp",
		Scopes: []string{"home:read"}, CreatedAt: approved, UpdatedAt: approved})
	if _, page := b.consent(t, authorizeQuery(documentURL)); strings.Contains(page.body, "has changed since") {
		t.Error("CI-17 a change is shown where nothing changed")
	}
	s.clock.Advance(10 * time.Minute)
	s.documents.set(documentURL, document("Second name"))
	_, page = b.consent(t, authorizeQuery(documentURL))
	if !strings.Contains(page.body, "What this app says about itself has changed since you approved it") || !strings.Contains(page.body, "It changed: its name.") {
		t.Errorf("CI-17 the change is not shown: %s", page.body)
	}
	if err := s.policies.Set(t.Context(), policy.Policy{Registration: oauth.RegistrationOff, ClientDocuments: true, BlockedHosts: []string{"app.example"}}); err != nil {
		t.Fatal(err)
	}
	if a := b.get(t, "/authorize?"+authorizeQuery(documentURL).Encode()); a.status != http.StatusBadRequest || !strings.Contains(a.body, "This app is not allowed here") {
		t.Errorf("CI-16 a blocked host: %d", a.status)
	}
}
