package app_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"gatehouse/app/apptest"
)

// The address that get_thing answers leads to a page, for those who may see the thing.
func TestThingPage(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *apptest.Program) {
		b := mustSignIn(t, p.AddUser(t, "ada@example.com"), p.URL)
		stranger := mustSignIn(t, p.AddUser(t, "bob@example.com"), p.URL)
		token := connected(t, registered(t, p), b).AccessToken
		added := mustTool(t, p.URL, token, "add_thing", `{"items":[{"name":"Drill <b>","notes":"Two batteries","value":{"amount":"119.90","currency":"EUR"}}]}`)
		id := regexp.MustCompile(`"id":"([0-9a-f-]{36})"`).FindStringSubmatch(added)
		if id == nil {
			t.Fatalf("no id in %s", added)
		}
		answer := mustTool(t, p.URL, token, "get_thing", `{"thing_id":"`+id[1]+`"}`)
		address := regexp.MustCompile(`"url":"([^"]+)"`).FindStringSubmatch(answer)
		code := regexp.MustCompile(`"short_code":"(\w{6})"`).FindStringSubmatch(answer)
		if address == nil || code == nil {
			t.Fatalf("no url in %s", answer)
		}
		for _, target := range []string{address[1], p.URL + "/things/" + code[1], p.URL + "/things/" + strings.ToLower(code[1][:3]+"-"+code[1][3:])} {
			page := mustGet(t, b, target)
			if !isPage(page, http.StatusOK) || contains(page.Body, "Drill &lt;b&gt;") == "" || contains(page.Body, "Two batteries") == "" || contains(page.Body, "119.90 EUR") == "" {
				t.Errorf("KE-24 %s: %d %s", target, page.Status, page.Text())
			}
			if page := mustGet(t, stranger, target); !isPage(page, http.StatusNotFound) || contains(page.Body, "Drill") != "" {
				t.Errorf("KE-24 other people at %s: %d", target, page.Status)
			}
		}
		page, err := apptest.NewBrowser("ada@example.com", apptest.Password).Get(address[1])
		if err != nil {
			t.Fatal(err)
		}
		if page.URL.Path != "/signin" || !strings.Contains(page.URL.RawQuery, "things") {
			t.Errorf("BH-7 signed out: %d %s", page.Status, page.URL)
		}
	})
}

// What is over is no failure: the app was connected, and somebody ended that.
func TestEndedAttempt(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *apptest.Program) {
		b := mustSignIn(t, p.AddUser(t, "ada@example.com"), p.URL)
		c := registered(t, p)
		tokens := connected(t, c, b)
		shows := func(want string) string {
			t.Helper()
			body := ""
			eventually(t, "the attempt shows "+want, func() bool {
				body = mustOpen(t, b, p.URL+"/settings/connect").Body
				return strings.Contains(body, want)
			})
			return body
		}
		shows(">Connected<")
		list := mustOpen(t, b, p.URL+"/settings/connections")
		if page := mustPost(t, b, list.FormTo("/disconnect")); page.Status != http.StatusSeeOther {
			t.Fatalf("disconnect: %d", page.Status)
		}
		shows(">Ended<")
		if status, _, _ := c.Refresh(tokens.RefreshToken); status != http.StatusBadRequest {
			t.Fatalf("refresh after a disconnect: %d", status)
		}
		body := shows("The app could not renew its tokens")
		if !strings.Contains(body, ">Ended<") || strings.Contains(body, "Did not work") || !strings.Contains(body, "1 redirect URI, to ") {
			t.Errorf("oauth.md §6 the page is %s", body)
		}
	})
}
