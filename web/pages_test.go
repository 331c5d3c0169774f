package web_test

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"gatehouse/app/connection"
	"gatehouse/app/home"
	"gatehouse/templates"
	"gatehouse/web"
)

func TestPageHeaders(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.signedIn(t)
	path, _ := b.consent(t, authorizeQuery(s.register(t)))
	const base = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'"
	for target, leadsToClient := range map[string]bool{
		"/": false, "/settings/connections": false, "/settings/connect": false, "/settings/account": false, "/nothing": false,
		path: true, "/authorize?client_id=x": true, "/signin?request=x": true,
	} {
		h := b.get(t, target).header
		want := base + "; form-action 'self'"
		if leadsToClient {
			want = base
		}
		if target == "/settings/connect" { // the one page with a script of its own here
			want += "; script-src 'self'; connect-src 'self'"
		}
		if got := h.Get("Content-Security-Policy"); got != want {
			t.Errorf("BH-1 BH-2 %s has the policy %q", target, got)
		}
		for header, value := range map[string]string{
			"X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin", "Cache-Control": "no-store",
			"Strict-Transport-Security": "max-age=31536000", "Cross-Origin-Opener-Policy": "", "Access-Control-Allow-Origin": "",
		} {
			if got := h.Get(header); got != value {
				t.Errorf("BH-1 BH-3 BH-4 BH-6 AZ-14 %s: %s is %q", target, header, got)
			}
		}
		if !strings.Contains(h.Get("Permissions-Policy"), "camera=()") {
			t.Errorf("BH-6 %s: no Permissions-Policy", target)
		}
	}
	local := newSite(t, at("http://127.0.0.1:8080"))
	if h := local.browser().get(t, "/signin").header; h.Get("Strict-Transport-Security") != "" {
		t.Error("BH-6 HSTS over plain http")
	}
}

func TestSessionCookie(t *testing.T) {
	t.Parallel()
	for publicURL, want := range map[string]string{
		"https://home.example": "__Host-gatehouse=", "http://127.0.0.1:8080": "gatehouse=",
	} {
		s := newSite(t, at(publicURL))
		b := s.browser()
		form := b.get(t, "/signin").form(t, "/signin")
		form.Set("email", email)
		form.Set("password", password)
		a := b.post(t, "/signin", form)
		cookie := a.header.Values("Set-Cookie")[0]
		if !strings.HasPrefix(cookie, want) || !strings.Contains(cookie, "HttpOnly") || !strings.Contains(cookie, "SameSite=Lax") || !strings.Contains(cookie, "Path=/;") || strings.Contains(cookie, "Domain") {
			t.Errorf("SE-1 %s: %s", publicURL, cookie)
		}
		if strings.Contains(cookie, "Secure") != strings.HasPrefix(publicURL, "https:") {
			t.Errorf("SE-1 %s: %s", publicURL, cookie)
		}
	}
}

func TestSignIn(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.browser()
	post := func(mail, pass, next string) *answer {
		form := b.get(t, "/signin?return="+url.QueryEscape(next)).form(t, "/signin")
		form.Set("email", mail)
		form.Set("password", pass)
		return b.post(t, "/signin", form)
	}
	unknown, wrong := post("nobody@example.org", "x", ""), post(email, "x", "")
	if unknown.status != http.StatusUnprocessableEntity || unknown.status != wrong.status || !strings.Contains(wrong.body, "not right") || !strings.Contains(unknown.body, "not right") {
		t.Errorf("PW-3 wrong ones: %d and %d", unknown.status, wrong.status)
	}
	if strings.Contains(wrong.body, `value="x"`) {
		t.Error("the password is on the page")
	}
	s.accounts.limited = true
	if a := post(email, password, ""); a.status != http.StatusTooManyRequests || a.header.Get("Retry-After") != "30" || !strings.Contains(a.body, "30 seconds") {
		t.Errorf("LT-1 throttled: %d %v", a.status, a.header.Get("Retry-After"))
	}
	s.accounts.limited = false
	for next, want := range map[string]string{
		"/settings/connect?watch=1": "/settings/connect?watch=1", "https://evil.example": "/", "//evil.example": "/", `/\evil.example`: "/", "": "/",
	} {
		if a := post(email, password, next); a.status != http.StatusSeeOther || a.header.Get("Location") != want {
			t.Errorf("BH-7 return to %q leads to %q", next, a.header.Get("Location"))
		}
		b = s.browser()
	}
	form := b.get(t, "/signin").form(t, "/signin")
	form.Set("email", email)
	form.Set("password", password)
	if a := s.browser().post(t, "/signin", form); a.status != http.StatusForbidden {
		t.Errorf("BH-5 a sign-in form of another browser: %d", a.status)
	}
	if a := b.post(t, "/signin", form, "Sec-Fetch-Site", "cross-site"); a.status != http.StatusForbidden {
		t.Errorf("BH-5 a sign-in form of another site: %d", a.status)
	}
}

func TestSignInReplacesTheSession(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.signedIn(t)
	before := b.cookies["__Host-gatehouse"]
	s.clock.Advance(1e9)
	q := authorizeQuery(s.register(t))
	q.Set("prompt", "login")
	_, a := b.consent(t, q)
	form := b.get(t, a.header.Get("Location")).form(t, "/signin")
	form.Set("email", email)
	form.Set("password", password)
	b.post(t, "/signin", form)
	if after := b.cookies["__Host-gatehouse"]; after == before || after == "" {
		t.Error("SE-2 the session goes on under the same id")
	}
	old := s.browser()
	old.cookies["__Host-gatehouse"] = before
	if a := old.get(t, "/settings/account"); a.status != http.StatusSeeOther {
		t.Errorf("SE-2 the old session still works: %d", a.status)
	}
}

func TestStrangersAreSentToSignIn(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for target, want := range map[string]string{
		"/": "/signin", "/settings/connect?watch=1": "/signin?return=%2Fsettings%2Fconnect%3Fwatch%3D1", "/settings/connections/c1": "/signin?return=%2Fsettings%2Fconnections%2Fc1",
	} {
		if a := s.browser().get(t, target); a.status != http.StatusSeeOther || a.header.Get("Location") != want {
			t.Errorf("%s: %d %s", target, a.status, a.header.Get("Location"))
		}
	}
}

func TestSignOut(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.signedIn(t)
	if a := b.get(t, "/signout"); a.status != http.StatusMethodNotAllowed || a.header.Get("Allow") != "POST, OPTIONS" {
		t.Errorf("GET /signout: %d", a.status)
	}
	form := b.get(t, "/").form(t, "/signout")
	if a := b.post(t, "/signout", form); a.header.Get("Location") != "/signin" || b.cookies["__Host-gatehouse"] != "" {
		t.Errorf("sign out: %s, cookies %v", a.header.Get("Location"), b.cookies)
	}
	if len(s.accounts.sessions) != 0 {
		t.Error("the session lives on")
	}
}

func TestLinks(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.accounts.setup, s.accounts.reset = "setup-link", "reset-link"
	b := s.browser()
	shown(t, "a set-up link that is none", b.get(t, "/setup?token=wrong"), http.StatusGone)
	form := b.get(t, "/setup?token=setup-link").form(t, "/setup")
	form.Set("email", "grace@example.org")
	form.Set("name", "Grace")
	form.Set("password", "short")
	if a := b.post(t, "/setup", form); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, "The password must be at least 15 characters.") || !strings.Contains(a.body, "grace@example.org") {
		t.Errorf("oauth.md §3 short password: %d %s", a.status, a.body)
	}
	form.Set("password", password)
	if a := b.post(t, "/setup", form); a.header.Get("Location") != "/" || b.cookies["__Host-gatehouse"] == "" {
		t.Errorf("oauth.md §3 set up: %d, cookies %v", a.status, b.cookies)
	}
	shown(t, "a set-up link twice", b.get(t, "/setup?token=setup-link"), http.StatusGone)

	b = s.browser()
	form = b.get(t, "/reset?token=reset-link").form(t, "/reset")
	form.Set("password", "another long password")
	if a := b.post(t, "/reset", form); a.header.Get("Location") != "/signin" || s.accounts.password[email] != "another long password" {
		t.Errorf("reset: %d", a.status)
	}
	shown(t, "a reset link twice", b.get(t, "/reset?token=reset-link"), http.StatusGone)
}

// connected adds a connection with an installation for the person.
func (s *site) connected(id string) {
	s.connections.add(connection.Connection{ID: id, UserID: "user " + email, Client: connection.Client{ID: "gc_1", Name: "Claude <b>", Kind: "dynamic"},
		Resource: s.url + "/mcp", Scopes: []string{home.ScopeRead}, Locations: []connection.Location{{ID: homeID, Name: "Home"}}, HiddenTools: []string{"move"},
		CreatedAt: s.clock.Now(), Installations: []connection.Installation{{ID: "f1", DeviceHint: "Claude Code", FirstSeenAt: s.clock.Now()}}})
}

func TestConnectionsPage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.connected("c1")
	b := s.signedIn(t)
	page := b.get(t, "/settings/connections")
	if !strings.Contains(page.body, "Claude &lt;b&gt;") || !strings.Contains(page.body, "1 installation") {
		t.Errorf("the list: %s", page.body)
	}
	end := page.form(t, "/settings/connections/c1/installations/f1/end")
	if a := b.post(t, "/settings/connections/c1/installations/f1/end", end); a.status != http.StatusSeeOther || s.connections.list[0].Installations[0].EndedAt == nil {
		t.Errorf("settled 3 end an installation: %d", a.status)
	}
	form := page.form(t, "/settings/connections/c1/disconnect")
	if a := b.post(t, "/settings/connections/c1/disconnect", url.Values{"csrf": end["csrf"]}); a.status != http.StatusForbidden {
		t.Errorf("BH-5 the token of another form: %d", a.status)
	}
	bob := s.browser()
	if a := bob.post(t, "/settings/connections/c1/disconnect", form); a.header.Get("Location") != "/signin" {
		t.Errorf("a stranger disconnects: %d", a.status)
	}
	a := b.post(t, "/settings/connections/c1/disconnect", form)
	if a.status != http.StatusSeeOther || s.connections.list[0].EndedAt == nil {
		t.Errorf("disconnect: %d", a.status)
	}
	if page := b.get(t, a.header.Get("Location")); !strings.Contains(page.body, "next call is refused") || !strings.Contains(page.body, "No app is connected") {
		t.Errorf("after it: %s", page.body)
	}
	shown(t, "disconnect twice", b.post(t, "/settings/connections/c1/disconnect", form), http.StatusNotFound)
}

func TestEditConnection(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.connected("c1")
	b := s.signedIn(t)
	const path = "/settings/connections/c1"
	form := b.get(t, path).form(t, path)
	if form.Get("scope") != home.ScopeRead || form.Get("location") != homeID {
		t.Errorf("the page does not start from what holds: %v", form)
	}
	if page := b.get(t, path); !strings.Contains(page.body, "Until I end it") {
		t.Error("the page does not tell that the connection has no end")
	}
	at := s.clock.Now().AddDate(0, 1, 0)
	s.connections.list[0].ExpiresAt = &at
	if page := b.get(t, path); !strings.Contains(page.body, at.Format("2 January 2006")) {
		t.Error("the page does not tell when the connection ends")
	}
	form["scope"], form["location"] = []string{home.ScopeWrite}, []string{shopID}
	if a := b.post(t, path, form); a.header.Get("Location") != "/settings/connections?done=saved" {
		t.Fatalf("save: %d %s", a.status, a.body)
	}
	c := s.connections.list[0]
	if len(c.Scopes) != 2 || c.Locations[0].ID != shopID || len(c.HiddenTools) != 1 {
		t.Errorf("saved %+v", c)
	}
	form.Del("location")
	if a := b.post(t, path, form); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, "at least one location") {
		t.Errorf("no location: %d", a.status)
	}
	shown(t, "somebody else's or none", b.get(t, "/settings/connections/other"), http.StatusNotFound)
}

func TestPersonalTokens(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.signedIn(t)
	const path = "/settings/connections/tokens"
	form := b.get(t, "/settings/connections").form(t, path)
	form.Set("name", "Backup")
	form.Set("scope", "write")
	form["location"] = []string{homeID, shopID}
	a := b.post(t, path, form)
	confirm := a.find("input", "name", "confirm_cross_location")
	if a.status != http.StatusUnprocessableEntity || confirm == nil || a.find("details", "open", "") == nil {
		t.Fatalf("KE-106 writing over locations of different people: %d %s", a.status, a.body)
	}
	form.Set("confirm_cross_location", "true")
	if a = b.post(t, path, form); a.status != http.StatusSeeOther || a.header.Get("Location") != path+"/created" {
		t.Fatalf("create: %d %s", a.status, a.body)
	}
	sealed := b.cookies["__Host-gatehouse-token"]
	if sealed == "" || strings.Contains(a.header.Get("Set-Cookie"), "gth_") {
		t.Errorf("KE-147 the token is not handed over sealed: %v", a.header.Values("Set-Cookie"))
	}
	for name, other := range map[string]*browser{"of another person": s.signedInAs(t, "bob@example.org"), "of another session": s.signedIn(t)} {
		other.cookies["__Host-gatehouse-token"] = sealed
		if a := other.get(t, path+"/created"); a.status != http.StatusSeeOther || strings.Contains(a.body, "gth_") {
			t.Errorf("KE-147 in the browser %s: %d", name, a.status)
		}
	}
	a = b.get(t, path+"/created")
	secret := "gth_Ab3dE5fG_" + strings.Repeat("x", 43)
	if a.status != http.StatusOK || attr(a.find("input", "id", "secret"), "value") != secret || a.header.Get("Cache-Control") != "no-store" {
		t.Fatalf("KE-147 shown once: %d", a.status)
	}
	for _, want := range []string{"claude mcp add --transport http gatehouse " + s.url + "/mcp", "[mcp_servers.gatehouse]", "mcpServers", "&#34;type&#34;: &#34;http&#34;", "&#34;Authorization&#34;: &#34;Bearer " + secret} {
		if !strings.Contains(a.body, want) {
			t.Errorf("KE-148 ready settings lack %s", want)
		}
	}
	if a := b.get(t, path+"/created"); a.header.Get("Location") != "/settings/connections" || len(s.accounts.tokens) != 1 {
		t.Errorf("KE-147 loading the page again: %d, %d tokens", a.status, len(s.accounts.tokens))
	}
	list := b.get(t, "/settings/connections")
	if strings.Contains(list.body, strings.Repeat("x", 43)) || !strings.Contains(list.body, "gth_Ab3dE5fG_…") {
		t.Error("KE-149 the list shows the secret, or not which token it is")
	}
	revoke := "/settings/connections/tokens/t1/revoke"
	if a := b.post(t, revoke, list.form(t, revoke)); a.status != http.StatusSeeOther || s.accounts.tokens[0].EndedAt == nil {
		t.Errorf("revoke: %d", a.status)
	}
}

func TestConnectPage(t *testing.T) {
	t.Parallel()
	s := newSite(t, at("http://localhost:8080"))
	b := s.signedIn(t)
	page := b.get(t, "/settings/connect")
	if attr(page.find("input", "id", "url"), "value") != "http://localhost:8080/mcp" || !strings.Contains(page.body, "public https address") {
		t.Errorf("the address to paste: %s", page.body)
	}
	for _, want := range []string{"ChatGPT", "The redirect_uri is not registered.", "Remove the connector.", "codex mcp add gatehouse"} {
		if !strings.Contains(page.body, want) {
			t.Errorf("oauth.md §6 %q is missing", want)
		}
	}
	var inFirst bool // of the list of Claude Code, the command belongs to the first step
	for n := range page.doc.Descendants() {
		if n.Type == html.TextNode && strings.HasPrefix(n.Data, "claude mcp add") {
			step := n.Parent.Parent.Parent
			inFirst = step.Data == "li" && step.PrevSibling == nil
		}
	}
	if !inFirst || !strings.Contains(page.body, "npx @modelcontextprotocol/inspector") {
		t.Errorf("oauth.md §6 the steps of the apps: %s", page.body)
	}
	if page.find("meta", "http-equiv", "refresh") != nil || b.get(t, "/settings/connect?watch=1").find("meta", "http-equiv", "refresh") == nil {
		t.Error("oauth.md §6 the page refreshes by itself exactly when asked to")
	}
}

func TestPlainHTTPBeyondThisComputer(t *testing.T) {
	t.Parallel()
	s := newSite(t, off)
	b := s.signedIn(t)
	for _, path := range []string{"/", "/settings/connect"} {
		page := b.get(t, path)
		if !strings.Contains(page.body, "Apps cannot connect: the public URL is plain http. Set GATEHOUSE_PUBLIC_URL to an https address.") {
			t.Errorf("%s does not say that no app can connect", path)
		}
		if strings.Contains(page.body, s.url+"/mcp") || strings.Contains(page.body, "codex mcp") {
			t.Errorf("%s shows an address that nothing answers", path)
		}
	}
	if page := newSite(t).signedIn(t).get(t, "/"); strings.Contains(page.body, "Apps cannot connect") {
		t.Error("the notice stands where apps can connect")
	}
}

func TestAttemptLabels(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(d *web.Deps, _ *string) {
		d.Attempts = attemptList{list: []web.Attempt{{App: "A", Ended: true}, {App: "B", Done: true}, {App: "C", Failed: true}, {App: "D"}}}
	})
	page := s.signedIn(t).get(t, "/settings/connect")
	var got []string
	for n := range page.doc.Descendants() {
		if strings.HasPrefix(attr(n, "class"), "badge") {
			got = append(got, attr(n, "class")+" "+n.FirstChild.Data)
		}
	}
	if want := []string{"badge Ended", "badge badge-good Connected", "badge badge-bad Did not work", "badge Under way"}; !slices.Equal(got, want) {
		t.Errorf("oauth.md §6 labels %q", got)
	}
}

func TestSignInBeforeAnybody(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	const hint = "Nobody is here yet"
	if strings.Contains(s.browser().get(t, "/signin").body, hint) {
		t.Error("the hint stands where there are people")
	}
	clear(s.accounts.password)
	if !strings.Contains(s.browser().get(t, "/signin").body, hint) {
		t.Error("oauth.md §3 the page does not say where the set-up link is")
	}
	s.accounts.down = errors.New("down")
	if a := s.browser().get(t, "/signin"); a.status != http.StatusOK || strings.Contains(a.body, hint) {
		t.Errorf("without an answer: %d", a.status)
	}
}

func TestAccountPage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b, phone, tablet := s.signedIn(t), s.signedIn(t), s.signedIn(t)
	page := b.get(t, "/settings/account")
	end := "/settings/account/sessions/s2/end"
	if a := b.post(t, end, page.form(t, end)); a.status != http.StatusSeeOther || phone.get(t, "/settings/account").status != http.StatusSeeOther {
		t.Errorf("SE-2 end one session: %d", a.status)
	}
	others := "/settings/account/sessions/end-others"
	if a := b.post(t, others, page.form(t, others)); a.status != http.StatusSeeOther || tablet.get(t, "/settings/account").status != http.StatusSeeOther || b.get(t, "/settings/account").status != http.StatusOK {
		t.Errorf("SE-2 end the others: %d", a.status)
	}
	for _, want := range []string{"ends your connections and personal tokens.", "also ends your connections and personal tokens."} {
		if !strings.Contains(page.body, want) {
			t.Errorf("SE-2 the page does not say %q", want)
		}
	}
	const path = "/settings/account/password"
	form := page.form(t, path)
	form.Set("current", "wrong")
	form.Set("password", "another long password")
	if a := b.post(t, path, form); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, "current password is not right") {
		t.Errorf("wrong password: %d", a.status)
	}
	form.Set("current", password)
	form.Set("password", "short")
	if a := b.post(t, path, form); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, "at least 15") {
		t.Errorf("short password: %d", a.status)
	}
	before := b.cookies["__Host-gatehouse"]
	form.Set("password", "another long password")
	a := b.post(t, path, form)
	if a.status != http.StatusSeeOther || b.cookies["__Host-gatehouse"] == before || !strings.Contains(b.get(t, a.header.Get("Location")).body, "Your password is changed") {
		t.Errorf("SE-2 after a change of password: %d", a.status)
	}
}

func TestStaticFiles(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, asset := range templates.Assets() {
		a := s.call(t, http.MethodGet, asset.Path, "")
		if a.status != http.StatusOK || a.header.Get("Content-Type") != asset.ContentType || !strings.Contains(a.header.Get("Cache-Control"), "immutable") || a.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %d %v", asset.Path, a.status, a.header)
		}
	}
	if a := s.call(t, http.MethodGet, "/static/other.css", "", "Accept", "text/html"); a.status != http.StatusNotFound || strings.Contains(a.header.Get("Cache-Control"), "immutable") {
		t.Errorf("an unknown file: %d %v", a.status, a.header.Get("Cache-Control"))
	}
}

func TestUnknownPages(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	a := s.call(t, http.MethodGet, "/nothing/<script>", "", "Accept", "text/html")
	shown(t, "404", a, http.StatusNotFound)
	if strings.Contains(a.body, "<script") || a.find("h1", "", "") == nil {
		t.Error("the page is not one, or repeats the path")
	}
	if a := s.call(t, http.MethodGet, "/nothing", "", "Accept", "application/json"); a.status != http.StatusNotFound || a.json(t)["error"] == nil {
		t.Errorf("404 for programs: %d %s", a.status, a.body)
	}
}
