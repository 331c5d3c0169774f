package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"gatehouse/app/connection"
	"gatehouse/app/home"
	"gatehouse/web"
)

// shown checks an error page: no redirect, nothing of the input unescaped, something to do.
func shown(t *testing.T, id string, a *answer, status int) {
	t.Helper()
	if a.status != status || a.header.Get("Location") != "" || !strings.HasPrefix(a.header.Get("Content-Type"), "text/html") {
		t.Errorf("%s: status %d, Location %q, type %s", id, a.status, a.header.Get("Location"), a.header.Get("Content-Type"))
	}
}

func TestAuthorizeErrorsShown(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	client := s.register(t)
	b := s.signedIn(t)
	change := func(name string, values ...string) string {
		q := authorizeQuery(client)
		q[name] = values
		if len(values) == 0 {
			q.Del(name)
		}
		return "/authorize?" + q.Encode()
	}
	for id, target := range map[string]string{
		"AZ-2 no client":                  change("client_id"),
		"AZ-2 unknown client":             change("client_id", `<script>alert(1)</script>`),
		"AZ-2 unregistered redirect":      change("redirect_uri", "https://evil.example/"),
		"AZ-2 malformed redirect":         change("redirect_uri", "::"),
		"X-4 client_id twice":             change("client_id", client, client),
		"X-4 redirect_uri twice":          change("redirect_uri", callback, callback),
		"X-11 query over 8 KiB":           change("state", strings.Repeat("x", 8<<10)),
		"AZ-13 refusal of unknown client": change("response_type", "token"),
		"unknown stored request":          "/authorize/nothing",
		"hostile stored request":          "/authorize/%22%3E%3Cscript%3E",
		"bytes that are no text":          "/authorize?client_id=%ff%fe",
	} {
		a := b.get(t, target)
		shown(t, id, a, http.StatusBadRequest)
		if strings.Contains(a.body, "<script") {
			t.Errorf("%s: input is on the page unescaped", id)
		}
	}
	unknown := b.get(t, change("client_id", "gc_gone"))
	if !strings.Contains(unknown.body, "remove the connector") || !strings.Contains(unknown.body, "request-1") {
		t.Error("AZ-3 the page lacks what to do or the id that finds the attempt")
	}
	refused := b.get(t, change("response_type", "token"))
	link := refused.find("a", "rel", "noreferrer")
	if link == nil || !strings.Contains(attr(link, "href"), "error=unsupported_response_type") || !strings.Contains(refused.body, "127.0.0.1") {
		t.Errorf("AZ-13 no link with its host: %s", refused.body)
	}
}

func TestAuthorizeJSONForPrograms(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	q := authorizeQuery("gc_gone")
	a := s.call(t, http.MethodGet, "/authorize?"+q.Encode(), "", "Accept", "application/json")
	if (a.status != http.StatusBadRequest && a.status != http.StatusUnauthorized) || a.json(t)["error"] != "invalid_client" {
		t.Errorf("clients §6 mcp-remote's look ahead: %d %s", a.status, a.body)
	}
	if a.header.Get("Access-Control-Allow-Origin") != "" {
		t.Error("AZ-14 CORS headers on /authorize")
	}
}

func TestAuthorizeRedirectsErrorsOfTrustedClients(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	q := authorizeQuery(s.trusted(t, callback))
	q.Set("response_type", "token")
	stranger := s.browser().get(t, "/authorize?"+q.Encode())
	shown(t, "AZ-12 nobody is signed in", stranger, http.StatusBadRequest)
	a := s.signedIn(t).get(t, "/authorize?"+q.Encode())
	location, _ := url.Parse(a.header.Get("Location"))
	if a.status != http.StatusSeeOther || location.Query().Get("error") != "unsupported_response_type" || location.Query().Get("state") != q.Get("state") || location.Query().Get("iss") != s.url {
		t.Errorf("AZ-4 AZ-9 IS-1 %d %s", a.status, location)
	}
	if a.header.Get("Referrer-Policy") != "no-referrer" {
		t.Error("BH-4 the redirect sends a Referer")
	}
}

func TestAuthorizeAllow(t *testing.T) {
	t.Parallel()
	for _, entry := range []string{"/authorize", "/authorize/", "/oauth/authorize"} {
		t.Run("settled 16 "+entry, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			q := authorizeQuery(s.register(t))
			b := s.browser()
			a := b.get(t, entry+"?"+q.Encode())
			if a.status != http.StatusSeeOther || !strings.HasPrefix(a.header.Get("Location"), "/signin?request=") {
				t.Fatalf("AZ-12 stranger: %d %s", a.status, a.header.Get("Location"))
			}
			page := b.get(t, a.header.Get("Location"))
			if !strings.Contains(page.body, "Test app") {
				t.Error("the sign-in page does not say who waits")
			}
			form := page.form(t, "/signin")
			form.Set("email", email)
			form.Set("password", password)
			a = b.post(t, "/signin", form)
			path := a.header.Get("Location")
			page = b.get(t, path)
			if page.status != http.StatusOK {
				t.Fatalf("consent: %d %s", page.status, page.body)
			}
			allow(t, s, b, path, page, q)
		})
	}
}

func allow(t *testing.T, s *site, b *browser, path string, page *answer, q url.Values) {
	t.Helper()
	form := page.form(t, path+"/decision")
	if form.Get("scope") != "home:read" || len(form["scope"]) != 1 {
		t.Errorf("oauth.md §4 ticked beforehand for a client nobody knows: %v", form["scope"])
	}
	if len(form["location"]) != 1 || form.Get("location") != homeID {
		t.Errorf("oauth.md §4 one location is ticked beforehand: %v", form["location"])
	}
	form.Set("decision", "allow")
	form.Add("scope", "home:write")
	form.Set("expires", "30d")
	a := b.post(t, path+"/decision", form)
	if a.status != http.StatusSeeOther || a.header.Get("Referrer-Policy") != "no-referrer" {
		t.Fatalf("AZ-15 BH-4: %d %v %s", a.status, a.header, a.body)
	}
	location, _ := url.Parse(a.header.Get("Location"))
	if !strings.HasPrefix(location.String(), callback+"?") || location.Query().Get("state") != q.Get("state") || location.Query().Get("iss") != s.url || location.Query().Get("code") == "" {
		t.Fatalf("AZ-9 IS-1 %s", location)
	}
	tokens := s.postForm(t, "/token", url.Values{"grant_type": {"authorization_code"}, "client_id": {q.Get("client_id")}, "code": {location.Query().Get("code")}, "redirect_uri": {callback}, "code_verifier": {verifier}})
	if tokens.json(t)["scope"] != "home:read home:write" {
		t.Errorf("what was ticked is granted: %s", tokens.body)
	}
	second := b.post(t, path+"/decision", form)
	if second.status != http.StatusSeeOther || second.header.Get("Location") != path {
		t.Errorf("CS-5 second click: %d", second.status)
	}
	if again := b.get(t, path); again.status != http.StatusOK || !strings.Contains(again.body, "already decided") {
		t.Errorf("CS-5 after it: %d", again.status)
	}
	for _, step := range []string{web.StepSignedIn, web.StepRedirected} {
		if e := s.events.find(step); e == nil || e.RequestID == "" || e.UserID != "user "+email {
			t.Errorf("oauth.md §6 step %s: %+v", step, e)
		}
	}
	if e := s.events.find(web.StepRedirected); e != nil && e.Detail != "127.0.0.1" {
		t.Errorf("oauth.md §6 redirected to %q", e.Detail)
	}
}

func TestAuthorizeDeny(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.signedIn(t)
	path, page := b.consent(t, authorizeQuery(s.register(t)))
	form := page.form(t, path+"/decision")
	form.Set("decision", "deny")
	a := b.post(t, path+"/decision", form)
	link := a.find("a", "rel", "noreferrer")
	if a.status != http.StatusOK || a.header.Get("Location") != "" || link == nil || !strings.Contains(attr(link, "href"), "error=access_denied") || !strings.Contains(a.body, "127.0.0.1") {
		t.Errorf("AZ-10 AZ-13 denial to a client nobody knows: %d %s", a.status, a.body)
	}
	path, page = b.consent(t, authorizeQuery(s.trusted(t, callback)))
	form = page.form(t, path+"/decision")
	form.Set("decision", "deny")
	a = b.post(t, path+"/decision", form)
	if a.status != http.StatusSeeOther || !strings.Contains(a.header.Get("Location"), "error=access_denied") {
		t.Errorf("AZ-10 denial to an entered client: %d %s", a.status, a.header.Get("Location"))
	}
}

func TestAuthorizePost(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.signedIn(t)
	q := authorizeQuery(s.register(t))
	a := b.post(t, "/authorize", q, "Sec-Fetch-Site", "cross-site", "Origin", "https://client.example")
	if a.status != http.StatusSeeOther || !strings.HasPrefix(a.header.Get("Location"), "/authorize/") {
		t.Errorf("AZ-1 POST: %d %s", a.status, a.body)
	}
	if a := b.send(t, http.MethodPut, "/authorize?"+q.Encode(), ""); a.status != http.StatusMethodNotAllowed || a.header.Get("Allow") == "" {
		t.Errorf("AZ-1 PUT: %d", a.status)
	}
}

func TestTwoTabs(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.signedIn(t)
	client := s.register(t)
	first, second := authorizeQuery(client), authorizeQuery(client)
	first.Set("state", "one")
	second.Set("state", "two")
	path1, page1 := b.consent(t, first)
	path2, page2 := b.consent(t, second)
	b.get(t, path1) // opened once more: no effect
	for _, tab := range []struct {
		path, state string
		page        *answer
	}{{path1, "one", page1}, {path2, "two", page2}} {
		form := tab.page.form(t, tab.path+"/decision")
		form.Set("decision", "allow")
		a := b.post(t, tab.path+"/decision", form)
		if location, _ := url.Parse(a.header.Get("Location")); location.Query().Get("state") != tab.state {
			t.Errorf("AZ-17 tab %s: %d %s", tab.state, a.status, location)
		}
	}
	form := page1.form(t, path1+"/decision")
	form.Set("decision", "allow")
	if a := b.post(t, path2+"/decision", form); a.status != http.StatusForbidden {
		t.Errorf("CS-5 a form token of one request works for another: %d", a.status)
	}
}

func TestDecisionAsksAgain(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.signedIn(t)
	path, page := b.consent(t, authorizeQuery(s.register(t)))
	for name, change := range map[string]func(url.Values){
		"Tick at least one thing":                   func(v url.Values) { v.Del("scope") },
		"Tick at least one thing that":              func(v url.Values) { v["scope"] = []string{"admin"} },
		"Tick at least one location":                func(v url.Values) { v.Del("location") },
		"You do not belong":                         func(v url.Values) { v.Set("location", foreign) },
		"Press Allow or Deny":                       func(v url.Values) { v.Del("decision") },
		"Choose for how long":                       func(v url.Values) { v.Set("expires", "9999d") },
		"You do not belong to one of these locatio": func(v url.Values) { v.Set("location", `"><script>`) },
	} {
		form := page.form(t, path+"/decision")
		form.Set("decision", "allow")
		form.Add("location", shopID)
		change(form)
		a := b.post(t, path+"/decision", form)
		if a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, name) || strings.Contains(a.body, "<script") {
			t.Errorf("%s: %d", name, a.status)
		}
		kept := a.form(t, path+"/decision")
		if len(kept["location"]) != len(form["location"]) && form.Get("location") == homeID {
			t.Errorf("%s: the ticks are lost: %v", name, kept["location"])
		}
	}
	if a := b.get(t, path); a.find("button", "value", "allow") == nil {
		t.Error("the request is used up by an incomplete form")
	}
}

func TestConsentProtection(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.signedIn(t)
	path, page := b.consent(t, authorizeQuery(s.register(t)))
	good := page.form(t, path+"/decision")
	good.Set("decision", "allow")
	bad := url.Values{"decision": {"allow"}, "scope": {"home:read"}, "location": {homeID}, "csrf": {"wrong"}}
	for id, try := range map[string]func() *answer{
		"CS-5 BH-5 no form token":    func() *answer { return b.post(t, path+"/decision", bad) },
		"BH-5 another site":          func() *answer { return b.post(t, path+"/decision", good, "Sec-Fetch-Site", "cross-site") },
		"BH-5 another origin":        func() *answer { return b.post(t, path+"/decision", good, "Origin", "https://evil.example") },
		"BH-5 origin null":           func() *answer { return b.post(t, path+"/decision", good, "Origin", "null") },
		"CS-5 another's session":     func() *answer { return s.signedIn(t).post(t, path+"/decision", good) },
		"BH-5 a sibling's same-site": func() *answer { return b.post(t, path+"/decision", good, "Sec-Fetch-Site", "same-site") },
	} {
		if a := try(); a.status != http.StatusForbidden || a.header.Get("Location") != "" {
			t.Errorf("%s: %d", id, a.status)
		}
	}
	if a := s.browser().post(t, path+"/decision", good); !strings.HasPrefix(a.header.Get("Location"), "/signin?request=") {
		t.Errorf("CS-5 a stranger decides: %d %s", a.status, a.header.Get("Location"))
	}
	if a := b.post(t, path+"/decision", good); a.status != http.StatusSeeOther || !strings.Contains(a.header.Get("Location"), "code=") {
		t.Errorf("the right form after all that: %d %s", a.status, a.body)
	}
}

// The session ends on another device between the page and the button.
func TestDecisionOfEndedSession(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.signedIn(t)
	path, page := b.consent(t, authorizeQuery(s.register(t)))
	form := page.form(t, path+"/decision")
	form.Set("decision", "allow")
	for _, session := range s.accounts.sessions {
		s.memory.EndSignIn(session.ID)
	}
	if a := b.post(t, path+"/decision", form); a.status != http.StatusSeeOther || !strings.HasPrefix(a.header.Get("Location"), "/signin?request=") {
		t.Errorf("KE-126 a decision after signing out everywhere: %d %s", a.status, a.header.Get("Location"))
	}
}

func TestConsentPageShows(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	client := s.register(t)
	b := s.signedIn(t)
	path, page := b.consent(t, authorizeQuery(client))
	for id, want := range map[string]string{
		"CS-1 self-asserted": "Registered itself, not verified", "CS-1 redirect host": "127.0.0.1", "CS-1 account": email, "CS-1 resource": s.url + "/mcp",
		"CS-2 this computer": "program on this computer", "CS-1 plain words": "See your things",
	} {
		if !strings.Contains(page.body, want) {
			t.Errorf("%s: %q is missing", id, want)
		}
	}
	if strings.Contains(page.body, "gc_") && !strings.Contains(page.body, "Test app") {
		t.Error("the client's name is missing")
	}
	s.connections.add(connection.Connection{ID: "c1", UserID: "user " + email, Client: connection.Client{ID: client}, Resource: s.url + "/mcp",
		Scopes: []string{home.ScopeRead}, Locations: []connection.Location{{ID: shopID, Name: "Workshop"}}, CreatedAt: s.clock.Now()})
	again := b.get(t, path)
	if !strings.Contains(again.body, "New this time: change your things.") || !strings.Contains(again.body, "has it now") {
		t.Error("oauth.md §4 approving again does not show what changes")
	}
	if ticked := again.form(t, path+"/decision")["location"]; len(ticked) != 1 || ticked[0] != shopID {
		t.Errorf("approving again starts from what the app has: %v", ticked)
	}
}

func TestSwitchPerson(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.signedIn(t)
	path, page := b.consent(t, authorizeQuery(s.register(t)))
	a := b.post(t, "/signout", page.form(t, "/signout"))
	if a.status != http.StatusSeeOther || !strings.HasPrefix(a.header.Get("Location"), "/signin?request=") {
		t.Fatalf("CS-1 not you: %d %s", a.status, a.header.Get("Location"))
	}
	form := b.get(t, a.header.Get("Location")).form(t, "/signin")
	form.Set("email", "bob@example.org")
	form.Set("password", password)
	if a = b.post(t, "/signin", form); a.header.Get("Location") != path {
		t.Fatalf("after signing in as somebody else: %s", a.header.Get("Location"))
	}
	if page = b.get(t, path); !strings.Contains(page.body, "bob@example.org") {
		t.Error("the request is not shown to the other person")
	}
}

func TestFreshSignInDemanded(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.signedIn(t)
	s.clock.Advance(1e9)
	q := authorizeQuery(s.register(t))
	q.Set("prompt", "login")
	path, a := b.consent(t, q)
	if a.status != http.StatusSeeOther || !strings.HasPrefix(a.header.Get("Location"), "/signin?request=") {
		t.Fatalf("AZ-16 prompt=login: %d", a.status)
	}
	page := b.get(t, a.header.Get("Location"))
	if !strings.Contains(page.body, "still you") {
		t.Errorf("AZ-16 the page does not say why: %s", page.body)
	}
	form := page.form(t, "/signin")
	form.Set("email", email)
	form.Set("password", password)
	if a := b.post(t, "/signin", form); a.header.Get("Location") != path {
		t.Fatalf("to %s", a.header.Get("Location"))
	}
	if page := b.get(t, path); page.find("button", "value", "allow") == nil {
		t.Errorf("AZ-16 after the sign-in: %d", page.status)
	}
	q.Set("prompt", "consent")
	if _, page := b.consent(t, q); page.find("button", "value", "allow") == nil {
		t.Error("AZ-16 prompt=consent")
	}
}
