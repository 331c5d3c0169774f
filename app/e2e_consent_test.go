package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"gatehouse/app/apptest"
)

// Authorization details (RFC 9396), grant management, and what a person chooses on the consent page and later.

// richAnswer is a token answer with what this slice adds to it.
type richAnswer struct {
	apptest.Tokens
	Details []map[string]any `json:"authorization_details"`
	GrantID string           `json:"grant_id"`
}

func richToken(t *testing.T, c *apptest.Client, pairs ...string) (int, *richAnswer) {
	t.Helper()
	form := url.Values{"client_id": {c.ID}}
	for i := 0; i < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	a := sendForm(t, c.Base+"/token", form)
	var out richAnswer
	if err := json.Unmarshal([]byte(a.body), &out); err != nil {
		t.Fatalf("token: %d %s", a.status, a.body)
	}
	return a.status, &out
}

func redeemRich(t *testing.T, c *apptest.Client, code string, more ...string) (int, *richAnswer) {
	t.Helper()
	return richToken(t, c, append([]string{"grant_type", "authorization_code", "code", code, "redirect_uri", c.Redirect,
		"code_verifier", c.Verifier, "resource", c.Base + "/mcp"}, more...)...)
}

// approveWith opens an authorization request with more parameters, changes the consent form, and returns where it leads.
func approveWith(t *testing.T, b *apptest.Browser, c *apptest.Client, change func(*apptest.Form), pairs ...string) (*apptest.Page, *apptest.Form) {
	t.Helper()
	page := mustOpen(t, b, withQuery(t, c.AuthorizeURL(), pairs...))
	f := page.Form("decision")
	if f == nil {
		return page, nil
	}
	f.Values.Set("decision", "allow")
	if change != nil {
		change(f)
	}
	return mustPost(t, b, f), f
}

func locationOf(t *testing.T, p *apptest.Page) url.Values {
	t.Helper()
	to, err := url.Parse(p.Header.Get("Location"))
	if err != nil || p.Header.Get("Location") == "" {
		t.Fatalf("no redirect: %d %s", p.Status, p.Text())
	}
	return to.Query()
}

func detailsFor(base, rest string) string {
	return fmt.Sprintf(`[{"type":"mcp_tools","locations":[%q],%s}]`, base+"/mcp", rest)
}

func TestAuthorizationDetails(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *apptest.Program) {
		b := mustSignIn(t, p.AddUser(t, "ada@example.com"), p.URL)
		c := enteredClient(t, p, "https://app.example/callback")
		asked := detailsFor(p.URL, `"tools":["search_things","move_thing","list_locations"],"limits":{"search_things":{"limit":{"maximum":5}}}`)

		t.Run("RA-1 unknown types, members, tools and arguments go back as invalid_authorization_details", func(t *testing.T) {
			for _, bad := range []string{
				`{}`, `[]`, `[1]`, `[{"type":"payment"}]`, `[{"locations":[]}]`, detailsFor(p.URL, `"tools":["rm"]`), detailsFor(p.URL, `"verbs":[]`),
				detailsFor("https://elsewhere.example", `"tools":["where_is"]`), detailsFor(p.URL, `"tools":["add_thing"],"read_only":true`),
				detailsFor(p.URL, `"limits":{"search_things":{"nothing":{"maximum":1}}}`), detailsFor(p.URL, `"limits":{"search_things":{"limit":{"maximum":1,"values":[1]}}}`),
				`[{"type":"mcp_tools","type":"mcp_tools","locations":["` + p.URL + `/mcp"],"read_only":true}]`,
			} {
				page := mustGet(t, b, withQuery(t, c.AuthorizeURL(), "authorization_details", bad))
				if q := locationOf(t, page); q.Get("error") != "invalid_authorization_details" || q.Get("state") != "st-1" {
					t.Errorf("%s: %v", bad, q)
				}
			}
		})
		page, f := approveWith(t, b, c, func(f *apptest.Form) {
			if want := []string{"search_things", "move_thing", "list_locations"}; len(f.Options["tool"]) != len(want) || len(f.Values["tool"]) != len(want) {
				t.Errorf("RA-3 boxes %v, ticked %v", f.Options["tool"], f.Values["tool"])
			}
			f.Tick("tool", []string{"search_things", "move_thing"})
			f.Tick("scope", nil)
		}, "authorization_details", asked)
		code := locationOf(t, page).Get("code")
		if f == nil || code == "" {
			t.Fatalf("no code: %d %s", page.Status, page.Text())
		}
		status, answer := redeemRich(t, c, code)
		if status != http.StatusOK || len(answer.Details) != 1 || fmt.Sprint(answer.Details[0]["tools"]) != "[move_thing search_things]" {
			t.Fatalf("RA-2 granted details: %d %+v", status, answer)
		}
		if names := toolNames(t, p.URL, answer.AccessToken); !slices.Equal(sortedCopy(names), []string{"move_thing", "search_things"}) {
			t.Errorf("RA-3 tools/list shows %v", names)
		}
		refusedTool(t, p, answer.AccessToken, "list_locations", `{}`, "tool_unavailable")
		refusedTool(t, p, answer.AccessToken, "search_things", `{"query":""}`, "argument_limit")
		refusedTool(t, p, answer.AccessToken, "search_things", `{"query":"","limit":6}`, "argument_limit")
		mustTool(t, p.URL, answer.AccessToken, "search_things", `{"query":"","limit":5}`)

		t.Run("RA-2 a refresh narrows and never widens", func(t *testing.T) {
			narrow := detailsFor(p.URL, `"tools":["search_things"],"limits":{"search_things":{"limit":{"maximum":2}}}`)
			status, n := richToken(t, c, "grant_type", "refresh_token", "refresh_token", answer.RefreshToken, "authorization_details", narrow)
			if status != http.StatusOK || fmt.Sprint(n.Details[0]["tools"]) != "[search_things]" {
				t.Fatalf("narrowed: %d %+v", status, n)
			}
			refusedTool(t, p, n.AccessToken, "move_thing", `{"thing_id":"AAAAAA","to_place_id":"AAAAAB"}`, "tool_unavailable")
			refusedTool(t, p, n.AccessToken, "search_things", `{"query":"","limit":3}`, "argument_limit")
			mustTool(t, p.URL, n.AccessToken, "search_things", `{"query":"","limit":2}`)
			answer.RefreshToken = n.RefreshToken
			for _, wide := range []string{detailsFor(p.URL, `"read_only":true`), detailsFor(p.URL, `"tools":["where_is"]`), detailsFor(p.URL, `"tools":["search_things"]`), "nonsense"} {
				status, w := richToken(t, c, "grant_type", "refresh_token", "refresh_token", answer.RefreshToken, "authorization_details", wide)
				if status != http.StatusBadRequest || w.Error != "invalid_authorization_details" {
					t.Errorf("%s: %d %+v", wide, status, w)
				}
			}
		})
		t.Run("CS-4 the person changes tools, limits and end afterwards, at once", func(t *testing.T) {
			id := answer.GrantID
			f := connectionForm(t, b, p.URL, id)
			f.Tick("tool", []string{"search_things", "where_is"})
			f.Values.Del("limit")
			f.Values.Set("limit_for", "where_is query")
			f.Values.Set("limit_kind", "values")
			f.Values.Set("limit_value", "lamp, drill")
			f.Values.Set("expires", "1d")
			if page := mustPost(t, b, f); page.Status != http.StatusSeeOther {
				t.Fatalf("save: %d %s", page.Status, page.Text())
			}
			if names := toolNames(t, p.URL, answer.AccessToken); !slices.Equal(sortedCopy(names), []string{"search_things", "where_is"}) {
				t.Errorf("tools after the edit %v", names)
			}
			mustTool(t, p.URL, answer.AccessToken, "search_things", `{"query":"","limit":50}`)
			mustTool(t, p.URL, answer.AccessToken, "where_is", `{"query":"lamp"}`)
			refusedTool(t, p, answer.AccessToken, "where_is", `{"query":"safe"}`, "argument_limit")
			list := mustOpen(t, b, p.URL+"/settings/connections").Text()
			if contains(list, "2 of 10 tools", "Only with query as one of: drill, lamp.") == "" {
				t.Errorf("the card says %s", list)
			}
			f = connectionForm(t, b, p.URL, id)
			f.Values.Set("limit_for", "where_is query")
			f.Values.Set("limit_kind", "maximum")
			f.Values.Set("limit_value", "5")
			if page := mustPost(t, b, f); page.Status != http.StatusUnprocessableEntity {
				t.Errorf("a maximum of a text: %d", page.Status)
			}
			f.Values.Del("limit_for")
			f.Values.Del("limit_value")
			f.Values.Del("tool")
			if page := mustPost(t, b, f); page.Status != http.StatusUnprocessableEntity {
				t.Errorf("no tool: %d", page.Status)
			}
		})
		t.Run("CS-3 signing in anew keeps what the person limited", func(t *testing.T) {
			page, f := approveWith(t, b, c, func(f *apptest.Form) {
				if got := f.Values["tool"]; !slices.Equal(sortedCopy(got), []string{"search_things", "where_is"}) || f.Values.Get("expires") != "keep" {
					t.Errorf("ticked %v, expires %q", got, f.Values.Get("expires"))
				}
			})
			if f == nil {
				t.Fatal("no consent page")
			}
			status, again := redeemRich(t, c, locationOf(t, page).Get("code"))
			if status != http.StatusOK || again.GrantID != answer.GrantID {
				t.Fatalf("again: %d %+v", status, again)
			}
			refusedTool(t, p, again.AccessToken, "where_is", `{"query":"safe"}`, "argument_limit")
		})
	})
}

func sortedCopy(list []string) []string {
	out := slices.Clone(list)
	slices.Sort(out)
	return out
}

func refusedTool(t *testing.T, p *apptest.Program, token, tool, arguments, code string) {
	t.Helper()
	text, isError, err := apptest.CallTool(p.URL, token, tool, arguments)
	if err != nil || !isError || !strings.Contains(text, `"error":"`+code+`"`) {
		t.Errorf("%s %s: %v %s, want %s", tool, arguments, err, text, code)
	}
}

func TestGrantManagement(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *apptest.Program) {
		b := mustSignIn(t, p.AddUser(t, "ada@example.com"), p.URL)
		c := enteredClient(t, p, "https://app.example/callback")
		c.Scope = "home:read grant_management_query grant_management_revoke"
		page, _ := approveWith(t, b, c, nil)
		status, first := redeemRich(t, c, locationOf(t, page).Get("code"))
		if status != http.StatusOK || first.GrantID == "" || !strings.Contains(first.Scope, "grant_management_query") {
			t.Fatalf("GM-1 %d %+v", status, first)
		}
		grants := p.URL + "/grants/"
		bearer := "Authorization: Bearer " + first.AccessToken
		t.Run("GM-2 a grant is seen by its client alone", func(t *testing.T) {
			a := send(t, http.MethodGet, grants+first.GrantID, "", bearer)
			if a.status != http.StatusOK || !strings.Contains(a.body, `"scope":"home:read grant_management_query grant_management_revoke"`) || a.header.Get("Cache-Control") != "no-store" {
				t.Errorf("query: %d %s", a.status, a.body)
			}
			if a := send(t, http.MethodGet, grants+first.GrantID, ""); a.status != http.StatusUnauthorized || a.header.Get("WWW-Authenticate") == "" {
				t.Errorf("no token: %d", a.status)
			}
			other := registered(t, p)
			other.Scope = c.Scope
			page, _ := approveWith(t, b, other, nil)
			status, tokens := redeemRich(t, other, locationOf(t, page).Get("code"))
			if status != http.StatusOK || strings.Contains(tokens.Scope, "grant_management") {
				t.Fatalf("a client that registered itself got %d %q", status, tokens.Scope)
			}
			if a := send(t, http.MethodGet, grants+first.GrantID, "", "Authorization: Bearer "+tokens.AccessToken); a.status != http.StatusForbidden || a.code(t) != "insufficient_scope" {
				t.Errorf("without the scope: %d %s", a.status, a.body)
			}
			if a := send(t, http.MethodGet, grants+tokens.GrantID, "", bearer); a.status != http.StatusNotFound || a.code(t) != "invalid_grant_id" {
				t.Errorf("another client's grant: %d %s", a.status, a.body)
			}
			if a := send(t, http.MethodPut, grants+first.GrantID, "", bearer); a.status != http.StatusMethodNotAllowed || !strings.Contains(a.header.Get("Allow"), "DELETE") {
				t.Errorf("PUT: %d %q", a.status, a.header.Get("Allow"))
			}
		})
		t.Run("GM-2 a bad grant_id goes back as invalid_grant_id", func(t *testing.T) {
			for _, pairs := range [][]string{
				{"grant_management_action", "merge", "grant_id", "nothing"}, {"grant_management_action", "replace", "grant_id", "0195c1a2-0000-7000-8000-000000000002"},
			} {
				if q := locationOf(t, mustGet(t, b, withQuery(t, c.AuthorizeURL(), pairs...))); q.Get("error") != "invalid_grant_id" {
					t.Errorf("%v: %v", pairs, q)
				}
			}
			bob := mustSignIn(t, p.AddUser(t, "bob@example.com"), p.URL)
			if q := locationOf(t, mustOpen(t, bob, withQuery(t, c.AuthorizeURL(), "grant_management_action", "merge", "grant_id", first.GrantID))); q.Get("error") != "invalid_grant_id" {
				t.Errorf("somebody else's grant: %v", q)
			}
		})
		t.Run("GM-2 merge adds, replace replaces, create begins anew", func(t *testing.T) {
			c.Scope = "home:write"
			page, _ := approveWith(t, b, c, nil, "grant_management_action", "merge", "grant_id", first.GrantID)
			status, merged := redeemRich(t, c, locationOf(t, page).Get("code"))
			if status != http.StatusOK || merged.GrantID != first.GrantID || merged.Scope != "home:read home:write grant_management_query grant_management_revoke" {
				t.Errorf("merge: %d %+v", status, merged)
			}
			c.Scope = "home:read grant_management_revoke"
			page, _ = approveWith(t, b, c, nil, "grant_management_action", "replace", "grant_id", first.GrantID)
			status, replaced := redeemRich(t, c, locationOf(t, page).Get("code"))
			if status != http.StatusOK || replaced.GrantID != first.GrantID || replaced.Scope != "home:read grant_management_revoke" {
				t.Errorf("replace: %d %+v", status, replaced)
			}
			page, _ = approveWith(t, b, c, nil, "grant_management_action", "create")
			status, created := redeemRich(t, c, locationOf(t, page).Get("code"))
			if status != http.StatusOK || created.GrantID == first.GrantID || alive(t, p, first.AccessToken) || !alive(t, p, created.AccessToken) {
				t.Errorf("create: %d %+v", status, created)
			}
			first = created
		})
		t.Run("GM-2 DELETE ends the grant", func(t *testing.T) {
			bearer := "Authorization: Bearer " + first.AccessToken
			if a := send(t, http.MethodDelete, grants+first.GrantID, "", bearer); a.status != http.StatusNoContent {
				t.Errorf("delete: %d %s", a.status, a.body)
			}
			if alive(t, p, first.AccessToken) {
				t.Error("the token still works")
			}
			if a := send(t, http.MethodDelete, grants+first.GrantID, "", bearer); a.status != http.StatusUnauthorized {
				t.Errorf("again: %d", a.status)
			}
		})
	})
}

func TestSecondClick(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *apptest.Program) {
		b := mustSignIn(t, p.AddUser(t, "ada@example.com"), p.URL)
		c := registered(t, p)
		t.Run("CS-5 a second click on Allow leads to the client with the same code, until that is used", func(t *testing.T) {
			first, f := approveWith(t, b, c, nil)
			second := mustPost(t, b, f)
			if first.Header.Get("Location") == "" || second.Header.Get("Location") != first.Header.Get("Location") {
				t.Fatalf("first %d %q, second %d %q", first.Status, first.Header.Get("Location"), second.Status, second.Header.Get("Location"))
			}
			other := mustSignIn(t, apptest.NewBrowser(b.Email, b.Password), p.URL)
			if page := mustOpen(t, other, f.Action); page.Status != http.StatusBadRequest || !strings.Contains(page.Text(), "another browser") {
				t.Errorf("AZ-17 another browser: %d", page.Status)
			}
			if status, tokens := redeemRich(t, c, locationOf(t, second).Get("code")); status != http.StatusOK {
				t.Fatalf("redeem: %d %+v", status, tokens)
			}
			third := mustOpen(t, b, mustPost(t, b, f).URL.String())
			if to := third.Header.Get("Location"); to != "" || !strings.Contains(third.Text(), "already decided") {
				t.Errorf("after the code was used: %d %q", third.Status, to)
			}
		})
		t.Run("a form that is sent many times at once makes one token", func(t *testing.T) {
			f := mustOpen(t, b, p.URL+"/settings/connections").Form("once")
			f.Values.Set("name", "Script")
			f.Values.Set("scope", "read")
			var wg sync.WaitGroup
			for range 8 {
				wg.Go(func() { _, _ = b.Step(f.Action, f.Values) })
			}
			wg.Wait()
			shown := mustOpen(t, b, p.URL+"/settings/connections/tokens/created")
			if !strings.Contains(shown.Body, "gth_") {
				t.Errorf("the token is not shown: %d %s", shown.Status, shown.Text())
			}
			if n := strings.Count(mustOpen(t, b, p.URL+"/settings/connections").Body, ">Script<"); n != 1 {
				t.Errorf("%d tokens", n)
			}
			f.Values.Set("name", "Another")
			mustPost(t, b, f)
			if n := strings.Count(mustOpen(t, b, p.URL+"/settings/connections").Body, ">Another<"); n != 1 {
				t.Errorf("another name in the same form made %d tokens", n)
			}
		})
	})
}
