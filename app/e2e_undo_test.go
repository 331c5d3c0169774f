package app_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	"gatehouse/app/apptest"
)

// homeApp is a connected app and its person.
type homeApp struct {
	t       *testing.T
	p       *apptest.Program
	b       *apptest.Browser
	token   string
	address string // of its page of activity
}

func newHomeApp(t *testing.T, p *apptest.Program) *homeApp {
	t.Helper()
	a := &homeApp{t: t, p: p, b: p.AddUser(t, "ada@example.com")}
	a.token = connected(t, registered(t, p), a.b).AccessToken
	page, err := a.b.Get(p.URL + "/settings/connections")
	if err != nil {
		t.Fatal(err)
	}
	link := regexp.MustCompile(`href="(/settings/connections/[^"]+/activity)"`).FindStringSubmatch(page.Body)
	if link == nil {
		t.Fatalf("the card has no link to the activity: %s", page.Text())
	}
	a.address = p.URL + link[1]
	return a
}

// toolAnswer is what the tests read of a tool's answer.
type toolAnswer struct {
	Data struct {
		Events []string `json:"audit_event_ids"`
		Things []struct {
			ID string `json:"id"`
		} `json:"things"`
		Items []struct {
			ID string `json:"id"`
		} `json:"items"`
	} `json:"data"`
}

func (a *homeApp) tool(name, arguments string) toolAnswer {
	a.t.Helper()
	text, isError, err := apptest.CallTool(a.p.URL, a.token, name, arguments)
	if err != nil || isError {
		a.t.Fatalf("%s: %v %s", name, err, text)
	}
	var out toolAnswer
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		a.t.Fatal(err)
	}
	return out
}

func (a *homeApp) text(name, arguments string) string {
	a.t.Helper()
	text, _, err := apptest.CallTool(a.p.URL, a.token, name, arguments)
	if err != nil {
		a.t.Fatal(err)
	}
	return text
}

func (a *homeApp) page() *apptest.Page {
	a.t.Helper()
	page, err := a.b.Get(a.address)
	if err != nil || page.Status != http.StatusOK {
		a.t.Fatalf("%s: %v %+v", a.address, err, page)
	}
	return page
}

// press sends the form whose action ends so, with a button or choice.
func (a *homeApp) press(page *apptest.Page, action, name, value string) *apptest.Page {
	a.t.Helper()
	form := page.FormTo(action)
	if form == nil {
		a.t.Fatalf("no form to %s: %s", action, page.Text())
	}
	form.Values.Set(name, value)
	after, err := a.b.Post(form.Action, form.Values)
	if err != nil {
		a.t.Fatal(err)
	}
	return after
}

func shows(t *testing.T, what string, page *apptest.Page, status int, wanted ...string) {
	t.Helper()
	if page.Status != status {
		t.Errorf("%s: status %d: %s", what, page.Status, page.Text())
	}
	for _, want := range wanted {
		if !strings.Contains(page.Body, want) {
			t.Errorf("%s: %q is missing: %s", what, want, page.Text())
		}
	}
}

func TestUndoWhatAnAppDid(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *apptest.Program) {
		a := newHomeApp(t, p)
		shows(t, "nothing yet", a.page(), http.StatusOK, "Nothing has been changed.")
		added := a.tool("add_thing", `{"items":[{"name":"Tent","new_place":{"name":"Attic"}},{"name":"Box","is_container":true}]}`)
		tent, box := added.Data.Things[0].ID, added.Data.Things[1].ID
		updated := a.tool("update_thing", `{"thing_id":"`+tent+`","fields":{"name":"Big tent","notes":"<b>blue</b>"}}`)
		moved := a.tool("move_thing", `{"thing_id":"`+tent+`","to_container_id":"`+box+`"}`)

		page := a.page()
		shows(t, "KE-138 the page", page, http.StatusOK, "Moved “Big tent”.", "Changed the name and notes of “Big tent”.", "Made the place “Attic”.",
			"Attic", "&lt;b&gt;blue&lt;/b&gt;", "Undo everything since")

		shows(t, "KE-87 undo of the move", a.press(page, moved.Data.Events[0]+"/undo", "what", "this"), http.StatusOK, "Undone.", "undone just now by")
		if where := a.text("where_is", `{"query":"tent"}`); !strings.Contains(where, "Attic") || strings.Contains(where, `"Box"`) {
			t.Errorf("KE-87 after the undo: %s", where)
		}
		shows(t, "KE-87 undo of the adding while the update stands", a.press(page, added.Data.Events[1]+"/undo", "what", "this"), http.StatusConflict,
			"were changed since by this app", "Not undone.")
		shows(t, "KE-87 the same undo again", a.press(page, moved.Data.Events[0]+"/undo", "what", "this"), http.StatusConflict, "It was undone already.")

		if _, err := a.b.Post(page.FormTo(updated.Data.Events[0]+"/undo").Action, url.Values{"what": {"this"}}); err != nil {
			t.Fatal(err)
		}
		if thing := a.text("get_thing", `{"thing_id":"`+tent+`"}`); !strings.Contains(thing, "Big tent") {
			t.Errorf("BH-5 a form without its token undid something: %s", thing)
		}

		shows(t, "KE-87 everything", a.press(a.page(), "/activity/undo", "since", "all"), http.StatusOK, "Undone: 4 changes.")
		for _, word := range []string{"tent", "box"} {
			if found := a.tool("search_things", `{"query":"`+word+`"}`); len(found.Data.Items) != 0 {
				t.Errorf("KE-87 left over: %+v", found.Data.Items)
			}
		}
		if contents := a.text("list_contents", `{}`); strings.Contains(contents, "Attic") {
			t.Errorf("KE-87 the place is still there: %s", contents)
		}
		if strings.Contains(a.page().Body, "Undo everything since") {
			t.Error("the page offers to undo though nothing is left")
		}
	})
}

func TestUndoOnceUnderRace(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *apptest.Program) {
		a := newHomeApp(t, p)
		event := a.tool("add_thing", `{"items":[{"name":"Lamp"}]}`).Data.Events[0]
		form := a.page().FormTo(event + "/undo")
		form.Values.Set("what", "this")
		count := map[int]int{}
		var mu sync.Mutex
		inParallel(20, func(int) {
			page, err := a.b.Step(form.Action, form.Values)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
				return
			}
			count[page.Status]++
		})
		if count[http.StatusSeeOther] != 1 || count[http.StatusConflict] != 19 {
			t.Errorf("KE-87 twenty undos of one entry came to %v; want one that works and nineteen refused", count)
		}
	})
}

func TestUndoAfterDisconnecting(t *testing.T) {
	t.Parallel()
	p := apptest.Start(t)
	a := newHomeApp(t, p)
	event := a.tool("add_thing", `{"items":[{"name":"Lamp"}]}`).Data.Events[0]
	if err := disconnectAll(a.b, p.URL); err != nil {
		t.Fatal(err)
	}
	page, err := a.b.Get(p.URL + "/settings/connections")
	if err != nil {
		t.Fatal(err)
	}
	shows(t, "the ended connection", page, http.StatusOK, "Ended in the last 7 days", strings.TrimPrefix(a.address, p.URL))
	shows(t, "KE-87 undo after the end", a.press(a.page(), event+"/undo", "what", "later"), http.StatusOK, "Undone: 1 change.")
	bob := p.AddUser(t, "bob@example.com")
	if err := bob.SignIn(p.URL); err != nil {
		t.Fatal(err)
	}
	if page, err := bob.Get(a.address); err != nil || page.Status != http.StatusNotFound {
		t.Errorf("another person's connection: %v %d", err, page.Status)
	}
}

func TestUndoWhatAPersonalTokenDid(t *testing.T) {
	t.Parallel()
	p := apptest.Start(t)
	b := p.AddUser(t, "ada@example.com")
	secret, err := p.Run("", "token", "add", "--user", "ada@example.com", "--scope", "write")
	if err != nil {
		t.Fatal(err)
	}
	a := &homeApp{t: t, p: p, b: b, token: strings.TrimSpace(secret)}
	event := a.tool("add_thing", `{"items":[{"name":"Lamp"}]}`).Data.Events[0]
	if err := b.SignIn(p.URL); err != nil {
		t.Fatal(err)
	}
	page, err := b.Get(p.URL + "/settings/connections")
	if err != nil {
		t.Fatal(err)
	}
	link := regexp.MustCompile(`href="(/settings/connections/tokens/[^"]+/activity)"`).FindStringSubmatch(page.Body)
	if link == nil {
		t.Fatalf("the token's card has no link to the activity: %s", page.Text())
	}
	a.address = p.URL + link[1]
	shows(t, "KE-87 undo of what a token wrote", a.press(a.page(), event+"/undo", "what", "this"), http.StatusOK, "Undone.", "undone just now by")
}
