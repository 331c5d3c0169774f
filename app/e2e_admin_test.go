package app_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"gatehouse/app"
	"gatehouse/app/apptest"
	"gatehouse/db/dbtest"
)

// adminPress opens a page of the administration and presses the button of the form whose action ends so.
func adminPress(t *testing.T, b *apptest.Browser, page, action string) *apptest.Page {
	t.Helper()
	opened := mustOpen(t, b, page)
	form := opened.FormTo(action)
	if form == nil {
		t.Fatalf("no form to %s on %s (status %d): %s", action, page, opened.Status, opened.Text())
	}
	form.Tick("confirm", nil)
	answer, err := b.Post(form.Action, form.Values)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// audited lists the actions of the record, the newest first.
func audited(t *testing.T, p *apptest.Program, args ...string) []app.AuditEntry {
	t.Helper()
	out, err := p.Run("", append([]string{"audit", "list", "--json"}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	var list []app.AuditEntry
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		t.Fatal(err)
	}
	return list
}

func call(t *testing.T, p *apptest.Program, token string) int {
	t.Helper()
	return mustCall(t, p.URL, token, "tools/list", "").Status
}

// TestAdministrators: what an administrator does holds at the next request, and is written down.
func TestAdministrators(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *apptest.Program) {
		admin := mustSignIn(t, p.AddUser(t, "root@example.com", "--admin"), p.URL)
		ada := mustSignIn(t, p.AddUser(t, "ada@example.com"), p.URL)
		c, err := apptest.RegisterClient(p.URL, callback)
		if err != nil {
			t.Fatal(err)
		}
		tokens, err := c.Connect(ada)
		if err != nil {
			t.Fatal(err)
		}
		if page := mustOpen(t, ada, p.URL+"/admin"); page.Status != http.StatusNotFound {
			t.Errorf("the administration for a member: %d", page.Status)
		}
		clientPage, id := p.URL+"/admin/clients/client?id="+url.QueryEscape(c.ID), url.QueryEscape(c.ID)

		adminPress(t, admin, clientPage, "/block?id="+id)
		if status := call(t, p, tokens.AccessToken); status != http.StatusUnauthorized {
			t.Errorf("RT-7 a call of a blocked client: %d", status)
		}
		adminPress(t, admin, clientPage, "/unblock?id="+id)
		if status := call(t, p, tokens.AccessToken); status != http.StatusOK {
			t.Errorf("a call after the block was lifted: %d", status)
		}

		list := mustOpen(t, admin, p.URL+"/admin/connections?person=ada@example.com&client="+id)
		link := regexp.MustCompile(`href="(/admin/connections/[0-9a-f-]{36})"`).FindStringSubmatch(list.Body)
		if link == nil {
			t.Fatalf("the connection is not listed: %s", list.Text())
		}
		adminPress(t, admin, p.URL+link[1], link[1]+"/end")
		stops(t, p, c, tokens, "RT-7 an administrator ended the connection")

		if tokens, err = c.Connect(ada); err != nil {
			t.Fatal(err)
		}
		person := personPage(t, p, admin, "ada@example.com")
		adminPress(t, admin, person, "/disable")
		stops(t, p, c, tokens, "RT-7 the person was disabled")
		if page := mustOpen(t, ada, p.URL+"/settings/account"); page.Form("password") == nil {
			t.Error("RT-7 a disabled person is still signed in")
		}
		adminPress(t, admin, person, "/enable")
		if tokens, err = c.Connect(mustSignIn(t, apptest.NewBrowser("ada@example.com", apptest.Password), p.URL)); err != nil {
			t.Fatal(err)
		}
		adminPress(t, admin, clientPage, "/delete?id="+id)
		if status := call(t, p, tokens.AccessToken); status != http.StatusUnauthorized {
			t.Errorf("RT-7 a call after the client was deleted: %d", status)
		}
		if status, _, err := c.Refresh(tokens.RefreshToken); err != nil || status == http.StatusOK {
			t.Errorf("RT-7 a refresh after the client was deleted: %d %v", status, err)
		}

		want := []string{"client.deleted", "person.enabled", "person.disabled", "connection.ended", "client.unblocked", "client.blocked"}
		var got []string
		for _, e := range audited(t, p, "--user", "root@example.com") {
			if e.Actor == "person" && e.Action != "sign_in.done" {
				got = append(got, e.Action)
			}
		}
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("AD-1 recorded %q; want %q", got, want)
		}
		if page := mustOpen(t, admin, p.URL+"/admin/audit?person=ada@example.com&action=person"); !strings.Contains(page.Body, "Person disabled") || !strings.Contains(page.Body, "root@example.com") {
			t.Errorf("the audit page: %s", page.Text())
		}
	})
}

// stops checks that neither call nor refresh works any more.
func stops(t *testing.T, p *apptest.Program, c *apptest.Client, tokens *apptest.Tokens, why string) {
	t.Helper()
	if status := call(t, p, tokens.AccessToken); status != http.StatusUnauthorized {
		t.Errorf("%s: the next call gave %d", why, status)
	}
	if status, answer, err := c.Refresh(tokens.RefreshToken); err != nil || status != http.StatusBadRequest || answer.Error != "invalid_grant" {
		t.Errorf("%s: the refresh gave %d %+v %v", why, status, answer, err)
	}
}

// personPage is the address of a person's page in the administration.
func personPage(t *testing.T, p *apptest.Program, admin *apptest.Browser, email string) string {
	t.Helper()
	list := mustOpen(t, admin, p.URL+"/admin/people?q="+url.QueryEscape(email))
	link := regexp.MustCompile(`href="(/admin/people/[0-9a-f-]{36})"`).FindStringSubmatch(list.Body)
	if link == nil {
		t.Fatalf("%s is not listed: %s", email, list.Text())
	}
	return p.URL + link[1]
}

// TestReuseIsWrittenDown: RT-3 asks for an audit entry and a notice on the person's page.
func TestReuseIsWrittenDown(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *apptest.Program) {
		b := mustSignIn(t, p.AddUser(t, "ada@example.com"), p.URL)
		c, err := apptest.RegisterClient(p.URL, callback)
		if err != nil {
			t.Fatal(err)
		}
		first, err := c.Connect(b)
		if err != nil {
			t.Fatal(err)
		}
		second := mustRefresh(t, c, first.RefreshToken)
		mustRefresh(t, c, second.RefreshToken)
		for range 2 { // the second time nothing is left to end
			if status, answer, err := c.Refresh(first.RefreshToken); err != nil || status != http.StatusBadRequest || answer.Error != "invalid_grant" {
				t.Fatalf("RT-3 reuse: %d %+v %v", status, answer, err)
			}
		}
		list := audited(t, p, "--action", "refresh_token.reused")
		if len(list) != 1 || list[0].ActorID != c.ID || list[0].Person != "ada@example.com" || list[0].ConnectionID == "" || list[0].Address == "" || list[0].Detail["installation"] == "" {
			t.Errorf("RT-3 recorded %+v", list)
		}
		if page := mustOpen(t, b, p.URL+"/settings/connections"); !strings.Contains(page.Body, "An old copy of a sign-in was used") {
			t.Error("RT-3 the person's page does not tell")
		}
	})
}

func mustRefresh(t *testing.T, c *apptest.Client, token string) *apptest.Tokens {
	t.Helper()
	status, tokens, err := c.Refresh(token)
	if err != nil || status != http.StatusOK {
		t.Fatalf("refresh: %d %+v %v", status, tokens, err)
	}
	return tokens
}

var shownID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// TestErrorPagesFindTheirAttempt: oauth.md §7. The page says what failed and names the host; its id finds the attempt, on
// the command line and in the administration.
func TestErrorPagesFindTheirAttempt(t *testing.T) {
	t.Parallel()
	onBothWith(t, fetchSettings, func(t *testing.T, p *apptest.Program) {
		admin := mustSignIn(t, p.AddUser(t, "root@example.com", "--admin"), p.URL)
		host := newDocumentHost(t)
		c, err := apptest.RegisterClient(p.URL, callback)
		if err != nil {
			t.Fatal(err)
		}
		broken := host.serve("/broken.json", jsonPage(`{"client_id":"https://somebody.else/client.json","client_name":"X","redirect_uris":["https://x.example/cb"]}`))
		down := host.serve("/down.json", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
		hostname := strings.TrimPrefix(host.URL, "https://")
		for name, x := range map[string]struct {
			address, title string
			says           []string
			check          string
		}{
			"unknown client":   {apptest.NewClient(p.URL, "gc_nobody", callback).AuthorizeURL(), "This app is not known here", nil, "client"},
			"foreign redirect": {apptest.NewClient(p.URL, c.ID, "https://evil.example/cb").AuthorizeURL(), "This app gave a wrong address", nil, "redirect_uri"},
			"broken description": {apptest.NewClient(p.URL, broken, callback).AuthorizeURL(), "description is not valid",
				[]string{hostname, "differs from its URL"}, "client_document"},
			"host is down": {apptest.NewClient(p.URL, down, callback).AuthorizeURL(), "site does not answer", []string{hostname}, "client_document"},
		} {
			page := mustOpen(t, admin, x.address)
			if !strings.Contains(page.Body, x.title) || strings.Contains(page.Body, "{host}") {
				t.Errorf("oauth.md §7 %s: %s", name, page.Text())
			}
			for _, text := range x.says {
				if !strings.Contains(page.Body, text) {
					t.Errorf("oauth.md §7 %s: %q is not on the page: %s", name, text, page.Text())
				}
			}
			id := page.Header.Get("X-Request-Id")
			if id == "" || !strings.Contains(page.Body, id) {
				t.Fatalf("oauth.md §7 %s: the page shows no id: %s", name, page.Text())
			}
			var attempt app.Handshake
			eventually(t, name, func() bool {
				out, err := p.Run("", "handshake", "show", id, "--json")
				return err == nil && json.Unmarshal([]byte(out), &attempt) == nil
			})
			if n := len(attempt.Steps); n == 0 || attempt.Steps[n-1].Check != x.check || attempt.Steps[n-1].Advice == "" {
				t.Errorf("oauth.md §7 %s: found %+v", name, attempt)
			}
			found := mustOpen(t, admin, p.URL+"/admin/attempts?id="+id)
			if found.URL.Path != "/admin/attempts/"+attempt.ID || !strings.Contains(found.Body, "What to do") {
				t.Errorf("oauth.md §7 %s: the administration finds %s", name, found.URL)
			}
		}
	})
}

// TestAttemptsLiveAcrossProcesses: one process records, the page of another shows it; a stop ends the stream at once.
func TestAttemptsLiveAcrossProcesses(t *testing.T) {
	t.Parallel()
	database := "GATEHOUSE_DATABASE_URL=" + dbtest.PostgresURL(t)
	a := apptest.Start(t, database)
	key := "GATEHOUSE_SECRET_KEY_FILE=" + a.Dir + "/secret.key"
	b := apptest.Start(t, database, key, "GATEHOUSE_PUBLIC_URL="+a.URL)
	ada := mustSignIn(t, a.AddUser(t, "ada@example.com"), a.URL)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+b.Bound(t)+"/settings/connect/live", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, cookie := range ada.Cookies(a.URL) {
		request.AddCookie(cookie)
	}
	answer, err := (&http.Client{}).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK || answer.Header.Get("X-Accel-Buffering") != "no" {
		t.Fatalf("oauth.md §6 the stream: %d", answer.StatusCode)
	}
	seen := make(chan string, 1000)
	go func() {
		defer close(seen)
		for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
			seen <- lines.Text()
		}
	}()
	c, err := apptest.RegisterClient(a.URL, callback)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Connect(ada); err != nil {
		t.Fatal(err)
	}
	timeout := time.After(20 * time.Second)
	for found := false; !found; {
		select {
		case line := <-seen:
			found = strings.Contains(line, "The app fetched its tokens")
		case <-timeout:
			t.Fatal("oauth.md §6 what another process recorded does not appear")
		}
	}
	began := time.Now()
	b.Stop()
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("oauth.md §6 an open stream held the stop up for %v", took)
	}
	for range seen { // the stream has ended
	}
}
