package app_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gatehouse/app/apptest"
	"gatehouse/db/dbtest"
)

// What people and administrators change, and what it does to tokens that are in use.

// connectionForm finds the form that edits the person's only connection.
func connectionForm(t *testing.T, b *apptest.Browser, base, id string) *apptest.Form {
	t.Helper()
	page := mustOpen(t, b, base+"/settings/connections/"+id)
	f := page.Form("scope")
	if f == nil {
		t.Fatalf("no form at %s (%d): %s", page.URL.Path, page.Status, page.Text())
	}
	return f
}

// connectionsOf lists connections as the command prints them.
func connectionsOf(t *testing.T, p *apptest.Program, email string, args ...string) []struct {
	ID          string   `json:"id"`
	Scopes      []string `json:"scopes"`
	ClientID    string   `json:"client_id"`
	EndedReason string   `json:"ended_reason"`
	Locations   []string `json:"location_ids"`
} {
	t.Helper()
	var list []struct {
		ID          string   `json:"id"`
		Scopes      []string `json:"scopes"`
		ClientID    string   `json:"client_id"`
		EndedReason string   `json:"ended_reason"`
		Locations   []string `json:"location_ids"`
	}
	runJSON(t, p, &list, append([]string{"connection", "list", "--json", "--user", email}, args...)...)
	return list
}

func alive(t *testing.T, p *apptest.Program, token string) bool {
	t.Helper()
	switch r := mustCall(t, p.URL, token, "ping", ""); r.Status {
	case http.StatusOK:
		return true
	case http.StatusUnauthorized:
		if h := r.Header.Get("WWW-Authenticate"); !strings.HasPrefix(h, "Bearer ") || !strings.Contains(h, `error="invalid_token"`) {
			t.Errorf("BR-2 challenge %q", h)
		}
		return false
	default:
		t.Errorf("/mcp answered %d %s", r.Status, r.Body)
		return false
	}
}

const addLamp = `{"name":"add_thing","arguments":{"items":[{"name":"Lamp"}]}}`

func TestEditScopesOfAConnection(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *apptest.Program) {
		b := mustSignIn(t, p.AddUser(t, "ada@example.com"), p.URL)
		c := registered(t, p)
		tokens := connected(t, c, b)
		before := toolNames(t, p.URL, tokens.AccessToken)
		mustTool(t, p.URL, tokens.AccessToken, "add_thing", `{"items":[{"name":"Lamp"}]}`)
		id := connectionsOf(t, p, "ada@example.com")[0].ID

		f := connectionForm(t, b, p.URL, id)
		f.Tick("scope", []string{"home:read"})
		if page := mustPost(t, b, f); page.Status != http.StatusSeeOther {
			t.Fatalf("save: %d %s", page.Status, page.Text())
		}
		r := mustCall(t, p.URL, tokens.AccessToken, "tools/call", addLamp)
		h := r.Header.Get("WWW-Authenticate")
		if r.Status != http.StatusForbidden || !strings.HasPrefix(h, "Bearer ") || contains(h, `error="insufficient_scope"`, `scope="home:read home:write"`, `resource_metadata="`+p.URL) == "" ||
			!strings.Contains(h, `scope="home:read home:write"`) || rpcError(r.Body) == nil {
			t.Errorf("BR-3 CN-74 a write after write was unticked: %d %q %s", r.Status, h, r.Body)
		}
		after := toolNames(t, p.URL, tokens.AccessToken)
		if slices.Contains(after, "add_thing") || !slices.Contains(after, "search_things") || len(after) >= len(before) {
			t.Errorf("KE-90 tools before %q, after %q", before, after)
		}
		mustTool(t, p.URL, tokens.AccessToken, "search_things", `{"query":"lamp"}`)
		status, next, err := c.Refresh(tokens.RefreshToken)
		if err != nil || status != http.StatusOK || next.Scope != "home:read" {
			t.Errorf("CN-74 refresh after the edit: %d %v, scope %q", status, err, next.Scope)
		}
		if slices.Contains(toolNames(t, p.URL, next.AccessToken), "add_thing") {
			t.Error("CN-74 a refreshed token got write back")
		}

		f = connectionForm(t, b, p.URL, id)
		f.Tick("scope", nil)
		mustPost(t, b, f)
		mustTool(t, p.URL, tokens.AccessToken, "add_thing", `{"items":[{"name":"Lamp"}]}`)
		if names := toolNames(t, p.URL, next.AccessToken); len(names) != len(before) {
			t.Errorf("CN-74 after write was ticked again: %q", names)
		}

		f = connectionForm(t, b, p.URL, id)
		f.Tick("scope", []string{"home:write"})
		mustPost(t, b, f)
		mustTool(t, p.URL, tokens.AccessToken, "search_things", `{"query":"lamp"}`) // write includes read

		for name, change := range map[string]func(f *apptest.Form){
			"nothing ticked": func(f *apptest.Form) { f.Values.Del("scope") }, "no location": func(f *apptest.Form) { f.Values.Del("location") },
			"a foreign scope": func(f *apptest.Form) { f.Values["scope"] = []string{"admin"} }, "a foreign location": func(f *apptest.Form) { f.Values["location"] = []string{"x'--"} },
		} {
			f := connectionForm(t, b, p.URL, id)
			change(f)
			if page := mustPost(t, b, f); page.Status != http.StatusUnprocessableEntity || page.Form("scope") == nil {
				t.Errorf("%s: %d %s", name, page.Status, page.Text())
			}
		}
		eve := mustSignIn(t, p.AddUser(t, "eve@example.com"), p.URL)
		if page := mustGet(t, eve, p.URL+"/settings/connections/"+id); page.Status != http.StatusNotFound {
			t.Errorf("another person's connection: %d", page.Status)
		}
		if page := mustPost(t, eve, connectionForm(t, b, p.URL, id)); page.Status != http.StatusForbidden {
			t.Errorf("another person's form: %d", page.Status)
		}
		if !alive(t, p, tokens.AccessToken) {
			t.Error("the connection ended on the way")
		}
	})
}

func TestApprovingAgainAndLocations(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *apptest.Program) {
		b := mustSignIn(t, p.AddUser(t, "ada@example.com"), p.URL)
		c := registered(t, p)
		first := connected(t, c, b)
		b.Scopes = []string{"home:read"}
		second := connected(t, apptest.NewClient(p.URL, c.ID, callback), b)
		if second.Scope != "home:read" {
			t.Errorf("TK-3 scope %q", second.Scope)
		}
		if r := mustCall(t, p.URL, first.AccessToken, "tools/call", addLamp); r.Status != http.StatusForbidden {
			t.Errorf("CN-74 approving again for less holds for earlier tokens, too: %d %s", r.Status, r.Body)
		}
		if list := connectionsOf(t, p, "ada@example.com"); len(list) != 1 || !slices.Equal(list[0].Scopes, []string{"home:read"}) || len(list[0].Locations) != 1 {
			t.Errorf("CN-72 one connection for person, client and resource: %+v", list)
		}
		page := mustOpen(t, b, c.AuthorizeURL())
		if !strings.Contains(page.Text(), "Connected since") || !strings.Contains(page.Body, "has it now") {
			t.Errorf("the consent page does not say what there is already: %s", page.Text())
		}
	})
}

func TestEndOneInstallation(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *apptest.Program) {
		b := mustSignIn(t, p.AddUser(t, "ada@example.com"), p.URL)
		c := registered(t, p)
		one, other := connected(t, c, b), connected(t, apptest.NewClient(p.URL, c.ID, callback), b)
		page := mustOpen(t, b, p.URL+"/settings/connections")
		if n := strings.Count(page.Body, "/installations/"); n != 2 {
			t.Fatalf("CI-19 %d installations are listed; want 2", n)
		}
		if page := mustPost(t, b, page.FormTo("/end")); page.Status != http.StatusSeeOther {
			t.Fatalf("end: %d %s", page.Status, page.Text())
		}
		lives := map[bool]*apptest.Tokens{alive(t, p, one.AccessToken): one, alive(t, p, other.AccessToken): other}
		if lives[true] == nil || lives[false] == nil {
			t.Fatal("settled 3: ending one installation must end it and no other")
		}
		if status, answer, _ := c.Refresh(lives[false].RefreshToken); status != http.StatusBadRequest || answer.Error != "invalid_grant" {
			t.Errorf("refresh of the ended installation: %d %+v", status, answer)
		}
		if status, next, _ := c.Refresh(lives[true].RefreshToken); status != http.StatusOK || !alive(t, p, next.AccessToken) {
			t.Errorf("refresh of the other installation: %d", status)
		}
		if list := connectionsOf(t, p, "ada@example.com"); len(list) != 1 {
			t.Errorf("the connection goes on while an installation lives: %+v", list)
		}
		// Reuse of a token ends its installation alone.
		third := connected(t, apptest.NewClient(p.URL, c.ID, callback), b)
		_, next, _ := c.Refresh(third.RefreshToken)
		_, next, _ = c.Refresh(next.RefreshToken)
		if status, answer, _ := c.Refresh(third.RefreshToken); status != http.StatusBadRequest || answer.Error != "invalid_grant" || alive(t, p, next.AccessToken) {
			t.Errorf("RT-3 reuse: %d %+v", status, answer)
		}
		if _, answer, _ := c.Refresh(lives[true].RefreshToken); answer.Error != "" || !alive(t, p, answer.AccessToken) {
			t.Errorf("settled 3: reuse in one installation ended another: %+v", answer)
		}
	})
}

func TestPersonalTokens(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *apptest.Program) {
		b := mustSignIn(t, p.AddUser(t, "ada@example.com"), p.URL)
		newToken := func(name, scope string) (string, *apptest.Page) {
			t.Helper()
			f := mustOpen(t, b, p.URL+"/settings/connections").FormTo("/tokens")
			f.Values.Set("name", name)
			f.Values.Set("scope", scope)
			f.Tick("location", nil)
			page := mustSubmit(t, b, f)
			secret := ""
			for _, word := range strings.FieldsFunc(page.Body, func(r rune) bool { return strings.ContainsRune("\"'<>& \n", r) }) {
				if strings.HasPrefix(word, "gth_") && len(word) > 20 {
					secret = word
				}
			}
			return secret, page
		}
		secret, page := newToken("My script", "write")
		if page.Status != http.StatusOK || secret == "" || page.Header.Get("Cache-Control") != "no-store" {
			t.Fatalf("create: %d %s", page.Status, page.Text())
		}
		for _, client := range []string{"claude mcp add", "mcp_servers.", "mcpServers", "http_headers"} {
			if !strings.Contains(page.Body, client) {
				t.Errorf("the settings for clients lack %q", client)
			}
		}
		if n := strings.Count(page.Body, secret); n < 4 {
			t.Errorf("the token stands %d times on the page; want it in every setting", n)
		}
		list := mustOpen(t, b, p.URL+"/settings/connections")
		if strings.Contains(list.Body, secret) || !strings.Contains(list.Text(), "My script") {
			t.Error("KY-5 the token is shown once and listed by name")
		}
		mustTool(t, p.URL, secret, "add_thing", `{"items":[{"name":"Lamp"}]}`)
		reader, _ := newToken("Reader", "read")
		if text, isError, err := apptest.CallTool(p.URL, reader, "add_thing", `{"items":[{"name":"Lamp"}]}`); err != nil || !isError || !strings.Contains(text, "token_scope") {
			t.Errorf("settled 8: a reading token that writes: %v %v %s", isError, err, text)
		}
		if slices.Contains(toolNames(t, p.URL, reader), "add_thing") {
			t.Error("a reading token is shown add_thing")
		}
		for _, fields := range [][2]string{{"", "read"}, {"x", ""}, {"x", "admin"}, {strings.Repeat("x", 300), "read"}} {
			if _, page := newToken(fields[0], fields[1]); page.Status != http.StatusUnprocessableEntity {
				t.Errorf("%.20q %q: %d", fields[0], fields[1], page.Status)
			}
		}
		list = mustOpen(t, b, p.URL+"/settings/connections")
		for list.FormTo("/revoke") != nil {
			if page := mustPost(t, b, list.FormTo("/revoke")); page.Status != http.StatusSeeOther {
				t.Fatalf("revoke: %d", page.Status)
			}
			list = mustOpen(t, b, p.URL+"/settings/connections")
		}
		if alive(t, p, secret) || alive(t, p, reader) {
			t.Error("a revoked token works")
		}
		out, err := p.Run("", "token", "add", "--user", "ada@example.com", "--scope", "write")
		if made := strings.TrimSpace(out); err != nil || !strings.HasPrefix(made, "gth_") || strings.ContainsAny(made, " \n") || !alive(t, p, made) {
			t.Errorf("token add: %v %q", err, out)
		} else {
			if _, err := p.Run("", "user", "disable", "ada@example.com"); err != nil || alive(t, p, made) {
				t.Errorf("RT-7 the token of a disabled person works (%v)", err)
			}
		}
	})
}

func TestSessions(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *apptest.Program) {
		home := mustSignIn(t, p.AddUser(t, "ada@example.com"), p.URL)
		another := func(agent string) *apptest.Browser {
			b := apptest.NewBrowser("ada@example.com", apptest.Password)
			b.Agent = agent
			return mustSignIn(t, b, p.URL)
		}
		phone, tablet := another("Mozilla/5.0 (iPhone) Safari/604.1"), another("Mozilla/5.0 (iPad) Safari/604.1")
		signedIn := func(b *apptest.Browser) bool { return mustGet(t, b, p.URL+"/settings/account").Status == http.StatusOK }
		c := registered(t, p)
		tokens := connected(t, c, phone)
		page := mustOpen(t, home, p.URL+"/settings/account")
		if !strings.Contains(page.Text(), "Safari on iPhone") || !strings.Contains(page.Text(), "this one") {
			t.Errorf("SE-2 sessions are not listed: %s", page.Text())
		}
		var form *apptest.Form
		for _, part := range strings.Split(page.Body, "<li")[1:] {
			if strings.Contains(part, "iPhone") {
				_, rest, _ := strings.Cut(part, `action="`)
				action, _, _ := strings.Cut(rest, `"`)
				form = page.FormTo(action)
			}
		}
		if page := mustPost(t, home, form); page.Status != http.StatusSeeOther || signedIn(phone) || !signedIn(tablet) || !signedIn(home) {
			t.Errorf("SE-2 ending one session: %d; phone %v, tablet %v, home %v", page.Status, signedIn(phone), signedIn(tablet), signedIn(home))
		}
		if !alive(t, p, tokens.AccessToken) {
			t.Error("KE-128 signing out one device ended a connection")
		}
		if page := mustPost(t, home, mustOpen(t, home, p.URL+"/settings/account").FormTo("/end-others")); page.Status != http.StatusSeeOther || signedIn(tablet) || !signedIn(home) {
			t.Errorf("SE-2 ending the others: %d", page.Status)
		}
		if alive(t, p, tokens.AccessToken) {
			t.Error("KE-126 signing out everywhere else leaves a connection alive")
		}
		if status, answer, _ := c.Refresh(tokens.RefreshToken); status != http.StatusBadRequest || answer.Error != "invalid_grant" {
			t.Errorf("KE-126 refresh: %d %+v", status, answer)
		}
		// A cookie of before the sign-out is worth nothing.
		old := home.Cookies(p.URL)
		out := mustOpen(t, home, p.URL+"/settings/account").FormTo("/signout")
		mustPost(t, home, out)
		for _, cookie := range old {
			if a := send(t, "GET", p.URL+"/settings/account", "", "Cookie: "+cookie.Name+"="+cookie.Value); a.status == http.StatusOK {
				t.Error("SE-2 a signed-out session still opens pages")
			}
		}
	})
}

func TestPasswordChange(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *apptest.Program) {
		const fresh = "another battery horse staple"
		home := mustSignIn(t, p.AddUser(t, "ada@example.com"), p.URL)
		phone := mustSignIn(t, apptest.NewBrowser("ada@example.com", apptest.Password), p.URL)
		c := registered(t, p)
		tokens := connected(t, c, phone)
		personal, err := p.Run("", "token", "add", "--user", "ada@example.com")
		if err != nil {
			t.Fatal(err)
		}
		change := func(current, next string) *apptest.Page {
			f := mustOpen(t, home, p.URL+"/settings/account").FormTo("/password")
			f.Values.Set("current", current)
			f.Values.Set("password", next)
			return mustPost(t, home, f)
		}
		for name, pair := range map[string][2]string{"wrong password": {"guess guess guess guess", fresh}, "too short": {apptest.Password, "short"}, "empty": {apptest.Password, ""}, "too long": {apptest.Password, strings.Repeat("x", 300)}} {
			if page := change(pair[0], pair[1]); page.Status != http.StatusUnprocessableEntity || !alive(t, p, tokens.AccessToken) {
				t.Errorf("PW-2 %s: %d", name, page.Status)
			}
		}
		pending := consentForm(t, phone, c.AuthorizeURL())
		code, err := c.Code(home)
		if err != nil {
			t.Fatal(err)
		}
		before := home.Cookies(p.URL)
		if page := change(apptest.Password, fresh); page.Status != http.StatusSeeOther {
			t.Fatalf("change: %d %s", page.Status, page.Text())
		}
		if mustGet(t, home, p.URL+"/settings/account").Status != http.StatusOK || mustGet(t, phone, p.URL+"/settings/account").Status == http.StatusOK {
			t.Error("KE-126 this session goes on, the others end")
		}
		for _, cookie := range before {
			if a := send(t, "GET", p.URL+"/settings/account", "", "Cookie: "+cookie.Name+"="+cookie.Value); a.status == http.StatusOK {
				t.Error("SE-2 the session kept its secret over a password change")
			}
		}
		if alive(t, p, tokens.AccessToken) || alive(t, p, strings.TrimSpace(personal)) {
			t.Error("KE-126 a connection or personal token survived the password change")
		}
		if status, answer, _ := c.Refresh(tokens.RefreshToken); status != http.StatusBadRequest || answer.Error != "invalid_grant" {
			t.Errorf("RT-7 refresh: %d %+v", status, answer)
		}
		if status, answer, _ := c.Redeem(code); status != http.StatusBadRequest || answer.Error != "invalid_grant" {
			t.Errorf("CG-5 a code of before the password change: %d %+v", status, answer)
		}
		if page := mustPost(t, phone, pending); strings.Contains(page.Header.Get("Location"), "code=") {
			t.Error("KE-126 a consent page of an ended session still approves")
		}
		if apptest.NewBrowser("ada@example.com", apptest.Password).SignIn(p.URL) == nil {
			t.Error("the old password signs in")
		}
		mustSignIn(t, apptest.NewBrowser("ada@example.com", fresh), p.URL)
	})
}

func TestAdministration(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *apptest.Program) {
		b := p.AddUser(t, "ada@example.com")
		run := func(args ...string) {
			t.Helper()
			if _, err := p.Run("", args...); err != nil {
				t.Fatal(err)
			}
		}
		c := registered(t, p)
		t.Run("connection list and end", func(t *testing.T) {
			tokens := connected(t, c, b)
			list := connectionsOf(t, p, "ada@example.com")
			if len(list) != 1 || list[0].ClientID != c.ID || !alive(t, p, tokens.AccessToken) {
				t.Fatalf("%+v", list)
			}
			run("connection", "end", list[0].ID)
			if alive(t, p, tokens.AccessToken) {
				t.Error("RT-7 the next call after connection end works")
			}
			if status, answer, _ := c.Refresh(tokens.RefreshToken); status != http.StatusBadRequest || answer.Error != "invalid_grant" {
				t.Errorf("RT-7 refresh: %d %+v", status, answer)
			}
			if live, all := connectionsOf(t, p, "ada@example.com"), connectionsOf(t, p, "ada@example.com", "--all"); len(live) != 0 || len(all) != 1 || all[0].EndedReason == "" {
				t.Errorf("live %+v, all %+v", live, all)
			}
			if _, err := p.Run("", "connection", "end", "no-such-id"); err == nil {
				t.Error("ending what is not there succeeds")
			}
			if tokens := connected(t, c, b); !alive(t, p, tokens.AccessToken) {
				t.Error("connecting again after an end")
			}
		})
		t.Run("client block", func(t *testing.T) {
			other := registered(t, p)
			tokens, others := connected(t, c, b), connected(t, other, b)
			code, err := c.Code(b)
			if err != nil {
				t.Fatal(err)
			}
			pending := consentForm(t, b, c.AuthorizeURL())
			run("client", "block", c.ID)
			if page := mustOpen(t, b, c.AuthorizeURL()); !isPage(page, http.StatusBadRequest) {
				t.Errorf("AZ-2 authorize of a blocked client: %d to %q", page.Status, page.Header.Get("Location"))
			}
			if page := mustPost(t, b, pending); !isPage(page, http.StatusBadRequest) {
				t.Errorf("AZ-2 a decision for a blocked client: %d to %q", page.Status, page.Header.Get("Location"))
			}
			if status, answer, _ := c.Redeem(code); status != http.StatusUnauthorized || answer.Error != "invalid_client" {
				t.Errorf("a code of a blocked client: %d %+v", status, answer)
			}
			if status, answer, _ := c.Refresh(tokens.RefreshToken); status != http.StatusUnauthorized || answer.Error != "invalid_client" {
				t.Errorf("refresh of a blocked client: %d %+v", status, answer)
			}
			if alive(t, p, tokens.AccessToken) {
				t.Error("/mcp serves a blocked client")
			}
			if !alive(t, p, others.AccessToken) {
				t.Error("blocking one client shut out another")
			}
			run("client", "unblock", c.ID)
			if tokens := connected(t, c, b); !alive(t, p, tokens.AccessToken) {
				t.Error("an unblocked client")
			}
		})
		t.Run("client delete", func(t *testing.T) {
			gone := registered(t, p)
			tokens := connected(t, gone, b)
			run("client", "delete", gone.ID)
			if alive(t, p, tokens.AccessToken) {
				t.Error("RT-7 the token of a deleted client works")
			}
			if status, answer, _ := gone.Refresh(tokens.RefreshToken); status != http.StatusUnauthorized || answer.Error != "invalid_client" {
				t.Errorf("TK-4 refresh of a deleted client: %d %+v; clients register again on invalid_client", status, answer)
			}
			if page := mustOpen(t, b, gone.AuthorizeURL()); !isPage(page, http.StatusBadRequest) || !strings.Contains(page.Text(), "remove the connector") {
				t.Errorf("AZ-3 authorize of a deleted client: %d %s", page.Status, page.Text())
			}
			if page := mustOpen(t, b, p.URL+"/settings/connections"); page.Status != http.StatusOK {
				t.Errorf("the list after a client is gone: %d", page.Status)
			}
		})
		t.Run("user disable", func(t *testing.T) {
			tokens := connected(t, c, b)
			run("user", "disable", "ada@example.com")
			if alive(t, p, tokens.AccessToken) {
				t.Error("RT-7 the next call after user disable works")
			}
			if status, answer, _ := c.Refresh(tokens.RefreshToken); status != http.StatusBadRequest || answer.Error != "invalid_grant" {
				t.Errorf("RT-7 refresh: %d %+v", status, answer)
			}
			if page := mustGet(t, b, p.URL+"/settings/account"); page.Status == http.StatusOK {
				t.Error("a disabled person's session goes on")
			}
			if apptest.NewBrowser("ada@example.com", apptest.Password).SignIn(p.URL) == nil {
				t.Error("a disabled person signs in")
			}
			run("user", "enable", "ada@example.com")
			if alive(t, p, tokens.AccessToken) {
				t.Error("enabling a person revived a connection")
			}
			mustSignIn(t, apptest.NewBrowser("ada@example.com", apptest.Password), p.URL)
		})
	})
}

func TestKeyCommandsWhileTokensAreInUse(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *apptest.Program) {
		b := p.AddUser(t, "ada@example.com")
		c := registered(t, p)
		old := connected(t, c, b)
		header, _ := segments(t, old.AccessToken)
		kid := header["kid"].(string)
		published := func() string { return send(t, "GET", p.URL+pathKeys, "").body }
		// A token under an unknown key makes the program look at its keys again, a second after the last time.
		stranger := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"ES256","typ":"at+jwt","kid":"unknown"}`)) + ".e30." + strings.Repeat("A", 86)
		if !strings.Contains(published(), kid) || contains(published(), `"d"`, `"p"`, `"k"`) != "" {
			t.Fatalf("KY-2 the key set: %s", published())
		}
		if _, err := p.Run("", "keys", "rotate"); err != nil {
			t.Fatal(err)
		}
		eventually(t, "KY-3 the program signs with the next key", func() bool {
			alive(t, p, stranger)
			_, next, err := c.Refresh(old.RefreshToken)
			if err != nil || next.AccessToken == "" {
				t.Fatalf("refresh after rotate: %v %+v", err, next)
			}
			header, _ := segments(t, next.AccessToken)
			return header["kid"] != kid && alive(t, p, next.AccessToken)
		})
		if !alive(t, p, old.AccessToken) || !strings.Contains(published(), kid) {
			t.Error("KY-3 a token of before the rotation must work, and its key stay published")
		}
		if _, err := p.Run("", "keys", "drop", kid); err != nil {
			t.Fatal(err)
		}
		eventually(t, "KY-3 a dropped key's token is refused", func() bool { alive(t, p, stranger); return !alive(t, p, old.AccessToken) })
		eventually(t, "KY-3 a dropped key is no longer published", func() bool { return !strings.Contains(published(), kid) })
		_, next, err := c.Refresh(old.RefreshToken)
		if err != nil || !alive(t, p, next.AccessToken) {
			t.Errorf("KY-3 refreshing after a key was dropped: %v %+v", err, next)
		}
		if _, err := p.Run("", "keys", "drop", "no-such-key"); err == nil {
			t.Error("dropping a key that is not there succeeds")
		}
		var list []struct {
			KID   string `json:"kid"`
			State string `json:"state"`
		}
		runJSON(t, p, &list, "keys", "list", "--json")
		count := map[string]int{}
		for _, k := range list {
			count[k.State]++
		}
		if count["active"] != 1 || count["next"] != 1 {
			t.Errorf("KY-3 keys %+v", list)
		}
	})
}

// eventually waits for what another process's command brings about.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(15 * time.Second); !done(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within 15 seconds: %s", what)
		}
	}
}

func TestRestartInMidFlow(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *apptest.Program) {
		b := p.AddUser(t, "ada@example.com")
		c := registered(t, p)
		page := mustOpen(t, b, c.AuthorizeURL())
		p.Restart(t)
		// The sign-in page of before the restart still signs in.
		f := page.Form("password")
		f.Values.Set("email", b.Email)
		f.Values.Set("password", b.Password)
		page, err := b.Post(f.Action, f.Values)
		if err != nil || page.Form("decision") == nil {
			t.Fatalf("AZ-17 the sign-in after a restart: %v %d %s", err, page.Status, page.Text())
		}
		f = page.Form("decision")
		f.Tick("scope", nil)
		f.Values.Set("decision", "allow")
		p.Restart(t)
		code := checkAnswer(t, p, mustPost(t, b, f).Header.Get("Location"), "st-1", "").Get("code")
		p.Restart(t)
		status, tokens, err := c.Redeem(code)
		if err != nil || status != http.StatusOK {
			t.Fatalf("CG-1 a code after a restart: %d %v %+v", status, err, tokens)
		}
		p.Restart(t)
		if !alive(t, p, tokens.AccessToken) {
			t.Error("AT-3 a token after a restart")
		}
		_, next, err := c.Refresh(tokens.RefreshToken)
		if err != nil || next.RefreshToken == "" {
			t.Fatalf("%v %+v", err, next)
		}
		p.Restart(t)
		if _, again, _ := c.Refresh(tokens.RefreshToken); again.RefreshToken != next.RefreshToken {
			t.Errorf("RT-9 the same successor after a restart: %+v", again)
		}
	})
}

func TestKillLosesNothingAcknowledged(t *testing.T) {
	t.Parallel()
	onBothWith(t, func(testing.TB) []string { return []string{"GATEHOUSE_WRITES_PER_MINUTE=100000"} }, func(t *testing.T, p *apptest.Program) {
		b := p.AddUser(t, "ada@example.com")
		c := registered(t, p)
		tokens := connected(t, c, b)
		names := []string{}
		for round := range 4 {
			for i := range 5 {
				name := fmt.Sprintf("Acknowledged %d-%d", round, i)
				mustTool(t, p.URL, tokens.AccessToken, "add_thing", `{"items":[{"name":"`+name+`"}]}`)
				names = append(names, name)
			}
			_, next, err := c.Refresh(tokens.RefreshToken)
			if err != nil || next.RefreshToken == "" {
				t.Fatalf("refresh: %v %+v", err, next)
			}
			tokens = next
			var busy sync.WaitGroup
			for range 4 { // the crash meets writes under way
				at := p.URL
				busy.Go(func() {
					for {
						if _, _, err := apptest.CallTool(at, next.AccessToken, "add_thing", `{"items":[{"name":"Unheard"}]}`); err != nil {
							return
						}
					}
				})
			}
			time.Sleep(30 * time.Millisecond)
			p.Kill()
			busy.Wait()
			p.Restart(t)
		}
		for _, name := range names {
			if text := mustTool(t, p.URL, tokens.AccessToken, "search_things", `{"query":"`+name+`"}`); !strings.Contains(text, name) {
				t.Errorf("%s is lost: %.200s", name, text)
			}
		}
		if status, next, err := c.Refresh(tokens.RefreshToken); err != nil || status != http.StatusOK || !alive(t, p, next.AccessToken) {
			t.Errorf("the session after four crashes: %d %v %+v", status, err, next)
		}
		if err := disconnectAll(b, p.URL); err != nil {
			t.Fatal(err)
		}
		p.Kill()
		p.Restart(t)
		if alive(t, p, tokens.AccessToken) {
			t.Error("a crash took a Disconnect back")
		}
	})
}

// TestSecretsStayOut greps the log, and the database, for everything secret after a full flow with its failures.
func TestSecretsStayOut(t *testing.T) {
	t.Parallel()
	p := apptest.Start(t, "GATEHOUSE_LOG_LEVEL=debug")
	b := p.AddUser(t, "ada@example.com")
	c := registered(t, p)
	secrets := map[string]string{"password": apptest.Password, "verifier": c.Verifier, "wrong password": "a wrong password of mine"}
	wrong := apptest.NewBrowser("ada@example.com", secrets["wrong password"])
	_ = wrong.SignIn(p.URL)
	state := "state-that-nobody-logs"
	page := mustPost(t, mustSignIn(t, b, p.URL), consentForm(t, b, withQuery(t, c.AuthorizeURL(), "state", state)))
	code := checkAnswer(t, p, page.Header.Get("Location"), state, "").Get("code")
	secrets["state"], secrets["code"] = state, code
	secrets["request"] = strings.Split(strings.TrimPrefix(mustGet(t, b, c.AuthorizeURL()).Header.Get("Location"), "/authorize/"), "?")[0]
	for _, cookie := range append(b.Cookies(p.URL), wrong.Cookies(p.URL)...) {
		secrets["cookie "+cookie.Name] = cookie.Value
	}
	good := url.Values{"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {callback}, "code_verifier": {strings.Repeat("w", 43)}, "client_id": {c.ID}}
	sendForm(t, p.URL+"/token", good)
	sendForm(t, p.URL+"/token?"+good.Encode(), good)
	send(t, "POST", p.URL+"/token", good.Encode(), "Content-Type: text/plain")
	_, tokens, err := c.Redeem(code)
	if err != nil || tokens.AccessToken == "" {
		t.Fatalf("%v %+v", err, tokens)
	}
	_, next, _ := c.Refresh(tokens.RefreshToken)
	secrets["access token"], secrets["refresh token"], secrets["second refresh token"], secrets["second access token"] = tokens.AccessToken, tokens.RefreshToken, next.RefreshToken, next.AccessToken
	mustCall(t, p.URL, tokens.AccessToken, "tools/list", "")
	mustTool(t, p.URL, tokens.AccessToken, "add_thing", `{"items":[{"name":"A secret thing","notes":"the safe opens with 4711"}]}`)
	secrets["thing"], secrets["notes"] = "A secret thing", "safe opens with 4711"
	send(t, "POST", p.URL+"/mcp?access_token="+tokens.AccessToken, `{"jsonrpc":"2.0","id":1,"method":"nope `+tokens.AccessToken+`"}`, mcpType, "Authorization: Bearer "+tokens.AccessToken)
	send(t, "POST", p.URL+"/mcp", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, mcpType, "Authorization: Bearer "+tokens.AccessToken+"x")
	personal, err := p.Run("", "token", "add", "--user", "ada@example.com")
	if err != nil {
		t.Fatal(err)
	}
	secrets["personal token"] = strings.TrimSpace(personal)
	mustCall(t, p.URL, secrets["personal token"], "ping", "")
	var entered map[string]string
	runJSON(t, p, &entered, "client", "add", "--json", "--name", "Confidential", "--redirect-uri", callback, "--confidential")
	secrets["client secret"], secrets["wrong client secret"] = entered["client_secret"], "gts_guess_of_a_secret"
	for _, secret := range []string{secrets["client secret"], secrets["wrong client secret"]} {
		sendForm(t, p.URL+"/token", url.Values{"grant_type": {"refresh_token"}, "refresh_token": {next.RefreshToken}, "client_id": {entered["client_id"]}, "client_secret": {secret}})
	}
	reset, err := p.Run("", "user", "reset-link", "ada@example.com")
	if err != nil {
		t.Fatal(err)
	}
	u, _ := url.Parse(strings.TrimSpace(reset))
	secrets["reset link"] = u.Query().Get("token")
	mustOpen(t, b, p.URL+u.RequestURI())
	c.Verifier = apptest.NewClient("", "", "").Verifier
	sendForm(t, p.URL+"/token", good) // replay
	sendForm(t, p.URL+"/revoke", url.Values{"client_id": {c.ID}, "token": {next.RefreshToken}})
	p.Stop()

	logs := p.Logs()
	if strings.Count(logs, `"msg":"request"`) < 20 {
		t.Fatalf("the log holds no requests, so that nothing is proven: %s", logs)
	}
	stored := ""
	for _, name := range []string{"gatehouse.db", "gatehouse.db-wal"} {
		raw, err := os.ReadFile(filepath.Join(p.Dir, name))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		stored += string(raw)
	}
	if !strings.Contains(stored, "ada@example.com") {
		t.Fatal("the database file does not read as expected, so that nothing is proven")
	}
	for name, secret := range secrets {
		if len(secret) < 10 {
			t.Fatalf("the secret %q is %q", name, secret)
		}
		if strings.Contains(logs, secret) {
			t.Errorf("KY-6 the log holds the %s", name)
		}
		plainText := slices.Contains([]string{"thing", "notes", "state", "request"}, name)
		if !plainText && strings.Contains(stored, secret) {
			t.Errorf("KY-5 the database holds the %s", name)
		}
	}
	if found := contains(logs, "code=", "Bearer ey", "Basic ", "gatehouse="); found != "" {
		t.Errorf("KY-6 the log holds %s", found)
	}
}

func TestStopFinishesWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	p := apptest.Start(t, "GATEHOUSE_DATABASE_URL="+dbtest.PostgresURL(t))
	c := registered(t, p)
	tokens := connected(t, c, p.AddUser(t, "ada@example.com"))
	done, at := make(chan error, 8), p.URL
	for range 8 {
		go func() {
			_, _, err := apptest.CallTool(at, tokens.AccessToken, "add_thing", `{"items":[{"name":"Lamp"}]}`)
			done <- err
		}()
	}
	p.Restart(t)
	for range 8 {
		if err := <-done; err != nil && !strings.Contains(err.Error(), "connect") && !strings.Contains(err.Error(), "EOF") && !strings.Contains(err.Error(), "reset") && !strings.Contains(err.Error(), "429") {
			t.Errorf("a call during the stop: %v", err)
		}
	}
	if !alive(t, p, tokens.AccessToken) {
		t.Error("after the restart")
	}
}
