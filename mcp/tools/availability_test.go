package tools_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"gatehouse/app/home"
)

var (
	readTools  = []string{"capabilities", "list_locations", "search_things", "where_is", "get_thing", "list_contents"}
	writeTools = []string{"add_thing", "update_thing", "move_thing", "create_place"}
	allTools   = slices.Concat(readTools, writeTools)
)

func TestWhatMakesAToolAvailable(t *testing.T) {
	t.Parallel()
	at := func(role home.Role, modules ...string) home.Access {
		return home.Access{LocationID: "01a22be8-b240-7a11-8c00-5d1f00000001", Role: role, Modules: modules}
	}
	w := newWorld(t)
	for _, tc := range []struct {
		name      string
		p         home.Principal
		locations []home.Access
		want      []string
	}{
		{"KE-80 owner", home.Principal{}, []home.Access{at(home.Owner, "mcp")}, allTools},
		{"KE-80 door module off", home.Principal{}, []home.Access{at(home.Owner, "console", "money")}, nil},
		{"KE-90 no location", home.Principal{}, nil, nil},
		{"KE-152 viewer", home.Principal{}, []home.Access{at(home.Viewer, "mcp")}, readTools},
		{"KE-90 union over locations", home.Principal{}, []home.Access{at(home.Viewer, "mcp"), at(home.Member, "mcp")}, allTools},
		{"KE-90 writing only where the door is shut", home.Principal{}, []home.Access{at(home.Viewer, "mcp"), at(home.Member)}, readTools},
		{"KE-81 read scope", home.Principal{Scopes: []string{home.ScopeRead}}, []home.Access{at(home.Owner, "mcp")}, readTools},
		{"KE-81 write includes read", home.Principal{Scopes: []string{home.ScopeWrite}}, []home.Access{at(home.Owner, "mcp")}, allTools},
		{"KE-81 no scope", home.Principal{Scopes: []string{"offline_access"}}, []home.Access{at(home.Owner, "mcp")}, nil},
		{"unticked tools", home.Principal{HiddenTools: []string{"add_thing", "where_is"}}, []home.Access{at(home.Owner, "mcp")},
			slices.DeleteFunc(slices.Clone(allTools), func(n string) bool { return n == "add_thing" || n == "where_is" })},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := tc.p
			p.Actor, p.Locations = home.ActorConnection, tc.locations
			if p.Scopes == nil {
				p.Scopes = []string{home.ScopeRead, home.ScopeWrite}
			}
			if got := w.listed(&p); !slices.Equal(got, tc.want) {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

func TestKE82Capabilities(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.person()
	p := w.connection(ada)
	w.same("KE-20 KE-82 capabilities", w.ok(p, "capabilities", `{}`),
		`{"data":{"scope":"write","door":"mcp","locations":[{"id":"#1","role":"owner","time_zone":"Europe/Madrid","currency":"EUR","sees_money":true,`+
			`"modules":["console","labels","lending","mcp","money","paperwork","schedules","vehicles","warranties"],`+
			`"tools":["add_thing","capabilities","create_place","get_thing","list_contents","list_locations","move_thing","search_things","update_thing","where_is"],`+
			`"untrusted":{"name":"Home"}}]},"as_of":"NOW"}`)
	viewer := w.connection(ada, readOnly, func(p *home.Principal) { p.Locations[0].Role, p.Locations[0].ViewerSeesMoney = home.Viewer, false })
	text := w.ok(viewer, "capabilities", `{}`)
	if pick(t, text, "data.scope") != "read" || pick(t, text, "data.locations.0.sees_money") != false || strings.Contains(text, "add_thing") {
		t.Errorf("KE-63 KE-82 of a viewer: %s", text)
	}
	shut := w.connection(ada, func(p *home.Principal) { p.Locations[0].Modules = []string{"console"} })
	w.fails(shut, "capabilities", `{}`, "tool_unavailable", "")
	w.same("KE-21 list_locations", w.ok(p, "list_locations", `{"limit":null}`),
		`{"data":{"items":[{"id":"#1","role":"owner","time_zone":"Europe/Madrid","untrusted":{"name":"Home"}}]},"as_of":"NOW"}`)
}

func TestKE83ChangesHoldFromTheNextCall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.person()
	if got := w.listed(w.connection(ada)); !slices.Equal(got, allTools) {
		t.Fatalf("got %v", got)
	}
	if err := w.homes.SetModule(t.Context(), ada.ID, w.home(ada), home.ModuleMCP, false); err != nil {
		t.Fatal(err)
	}
	if got := w.listed(w.connection(ada)); len(got) != 0 {
		t.Errorf("KE-80 KE-83 with the module off: %v", got)
	}
	w.fails(w.connection(ada), "list_locations", `{}`, "tool_unavailable", "")
}

func TestScopeOfACall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.person()
	t.Run("connection: HTTP 403 with every scope needed, before the arguments", func(t *testing.T) {
		r := w.call(w.connection(ada, readOnly), "add_thing", `{"items":[]}`)
		if r.status != http.StatusForbidden || !slices.Equal(w.denied, []string{"home:read home:write"}) {
			t.Errorf("got %+v for %v", r, w.denied)
		}
	})
	t.Run("personal token: token_scope, before the arguments", func(t *testing.T) {
		w.fails(w.connection(ada, readOnly, asToken), "add_thing", `{"items":[]}`, "token_scope", "")
	})
	t.Run("unknown name", func(t *testing.T) {
		if r := w.call(w.connection(ada), "delete_thing", `{}`); r.rpcCode != -32602 {
			t.Errorf("got %+v", r)
		}
	})
	t.Run("KE-85 one answer for every cause", func(t *testing.T) {
		var seen []string
		for _, p := range []*home.Principal{
			w.connection(ada, func(p *home.Principal) { p.Locations[0].Role = home.Viewer }),
			w.connection(ada, func(p *home.Principal) { p.Locations[0].Modules = nil }),
			w.connection(ada, func(p *home.Principal) { p.HiddenTools = []string{"create_place"} }),
			w.connection(ada, func(p *home.Principal) { p.Locations = nil }),
		} {
			seen = append(seen, w.call(p, "create_place", `{"name":"Attic"}`).text)
		}
		seen = append(seen, w.call(w.connection(ada), "create_place", `{"name":"Attic","location_id":"01a22be8-b240-7a11-8c00-5d1f0000000f"}`).text)
		if slices.Sort(seen); seen[0] != seen[len(seen)-1] || !strings.Contains(seen[0], `"error":"tool_unavailable"`) {
			t.Errorf("KE-85 answers differ: %q", seen)
		}
	})
}

func TestLimits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.person()
	p := w.connection(ada)
	for range 30 { // refused afterwards counts all the same; a broken schema and a missing scope do not
		w.fails(p, "create_place", `{"name":"Attic","parent_id":"7K3QM2"}`, "not_found", "")
		w.fails(p, "add_thing", `{"items":[]}`, "validation", "items: must hold 1 to 20 entries")
	}
	w.clock.Advance(43 * time.Second)
	w.fails(p, "create_place", `{"name":"Attic"}`, "rate_limited", "Too many writes with this key. Try again in 17 seconds.")
	w.fails(p, "add_thing", `{"items":[]}`, "validation", "")
	w.ok(p, "list_locations", `{}`) // reads have a bucket of their own
	t.Run("KE-135 another key has its own bucket", func(t *testing.T) {
		w.fails(w.connection(ada, asToken), "create_place", `{"name":"Attic","parent_id":"7K3QM2"}`, "not_found", "")
	})
	w.clock.Advance(16 * time.Second)
	w.fails(p, "create_place", `{"name":"Attic"}`, "rate_limited", "Too many writes with this key. Try again in 1 second.")
	w.clock.Advance(time.Second)
	t.Run("KE-137 the window closes 60 s after its first call", func(t *testing.T) {
		w.fails(p, "create_place", `{"name":"Attic","parent_id":"7K3QM2"}`, "not_found", "")
	})
	t.Run("KE-136 reads", func(t *testing.T) {
		for range 119 { // one was made above
			w.ok(p, "list_locations", `{}`)
		}
		w.fails(p, "list_locations", `{}`, "rate_limited", "")
		if got := w.listed(p); len(got) != len(allTools) {
			t.Errorf("a list is limited: %v", got)
		}
	})
}

func TestKE14WhichLocation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.person()
	first := w.home(ada)
	second := w.location(ada, "Workshop")
	p := w.connection(ada)
	ids := []string{first, second}
	slices.Sort(ids)
	several := "location_id: several locations are possible, give one of " + strings.Join(ids, ", ")

	w.fails(p, "create_place", `{"name":"Attic"}`, "validation", several)
	shelf := pickText(t, w.ok(p, "create_place", fmt.Sprintf(`{"name":"Shelf","location_id":%q}`, strings.ToUpper(second))), "data.place.id")
	inside := w.ok(p, "create_place", fmt.Sprintf(`{"name":"Corner","parent_id":%q}`, shelf))
	if got := pickText(t, inside, "data.place.location_id"); got != second {
		t.Errorf("KE-14 the row's location: %s", got)
	}
	w.fails(p, "create_place", fmt.Sprintf(`{"name":"Nook","parent_id":%q,"location_id":%q}`, shelf, first), "not_found", "")
	w.fails(p, "list_contents", `{}`, "validation", several)
	if text := w.ok(p, "list_contents", fmt.Sprintf(`{"place_id":%q}`, shelf)); pick(t, text, "data.parent.id") != shelf {
		t.Errorf("KE-25 contents: %s", text)
	}
	added := w.ok(p, "add_thing", fmt.Sprintf(`{"items":[{"name":"Vice","place_id":%q}]}`, shelf))
	if got := pickText(t, added, "data.things.0.location_id"); got != second {
		t.Errorf("KE-14 the first holder's location: %s", got)
	}
	if text := w.ok(p, "search_things", `{"query":"vice"}`); len(pick(t, text, "data.items").([]any)) != 1 {
		t.Errorf("KE-14 a global tool reads all: %s", text)
	}
	if text := w.ok(p, "search_things", fmt.Sprintf(`{"query":"","filters":{"place_id":%q}}`, shelf)); len(pick(t, text, "data.items").([]any)) != 1 {
		t.Errorf("KE-14 a filter's location: %s", text)
	}
	if text := w.ok(p, "search_things", fmt.Sprintf(`{"query":"vice","location_id":%q}`, first)); len(pick(t, text, "data.items").([]any)) != 0 {
		t.Errorf("KE-14 the argument's location: %s", text)
	}
	thing := pickText(t, added, "data.things.0.id")
	lowered := w.connection(ada, func(p *home.Principal) { p.At(second).Role = home.Viewer })
	w.fails(lowered, "update_thing", fmt.Sprintf(`{"thing_id":%q,"fields":{"name":"Clamp"}}`, thing), "tool_unavailable", "")
	shut := w.connection(ada, func(p *home.Principal) { p.At(second).Modules = nil })
	w.fails(shut, "get_thing", fmt.Sprintf(`{"thing_id":%q}`, thing), "not_found", "")
	w.fails(w.connection(ada, only(first)), "get_thing", fmt.Sprintf(`{"thing_id":%q}`, thing), "not_found", "")
	w.fails(w.connection(w.person()), "get_thing", fmt.Sprintf(`{"thing_id":%q}`, thing), "not_found", "")
}

func TestKE19Paging(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.connection(w.person())
	for n := range 3 {
		var items []string
		for i := range 15 {
			items = append(items, fmt.Sprintf(`{"name":"Screw %02d"}`, n*15+i))
		}
		w.ok(p, "add_thing", `{"items":[`+strings.Join(items, ",")+`]}`)
	}
	var names []string
	args := `{"query":"screw","limit":7}`
	var cursor string
	for {
		text := w.ok(p, "search_things", args)
		for _, item := range pick(t, text, "data.items").([]any) {
			names = append(names, item.(map[string]any)["untrusted"].(map[string]any)["name"].(string))
		}
		next, _ := pick(t, text, "next_cursor").(string)
		if next == "" {
			break
		}
		cursor = next
		args = fmt.Sprintf(`{"query":"screw","limit":7,"cursor":%q}`, cursor)
	}
	slices.Sort(names)
	if names = slices.Compact(names); len(names) != 45 {
		t.Errorf("KE-19 pages show %d of 45 things", len(names))
	}
	if text := w.ok(p, "search_things", `{"query":"screw"}`); len(pick(t, text, "data.items").([]any)) != 20 {
		t.Errorf("KE-19 the default page: %s", text)
	}
	const hint = "cursor: must be the next_cursor of the same call with the same arguments"
	w.fails(p, "search_things", fmt.Sprintf(`{"query":"nail","cursor":%q}`, cursor), "validation", hint)
	w.fails(p, "search_things", fmt.Sprintf(`{"query":"screw","filters":{"status":"in_use"},"cursor":%q}`, cursor), "validation", hint)
	w.fails(p, "list_contents", fmt.Sprintf(`{"cursor":%q}`, cursor), "validation", hint)
	w.fails(p, "search_things", `{"query":"screw","cursor":"eyJ2IjoxfQ"}`, "validation", hint)
	other := w.connection(w.person())
	w.fails(other, "search_things", fmt.Sprintf(`{"query":"screw","cursor":%q}`, cursor), "validation", hint)
	t.Run("KE-140 a page too large is continued by its cursor", func(t *testing.T) {
		long := strings.Repeat("w", 190)
		var items []string
		for i := range 20 {
			items = append(items, fmt.Sprintf(`{"name":"%s %02d","aliases":["%s"]}`, long, i, strings.Repeat("v", 120)))
		}
		w.ok(p, "add_thing", `{"items":[`+strings.Join(items, ",")+`]}`)
		seen := map[string]bool{}
		cursor := "null"
		for range 10 {
			text := w.ok(p, "search_things", fmt.Sprintf(`{"query":"www","limit":200,"cursor":%s}`, cursor))
			for _, item := range pick(t, text, "data.items").([]any) {
				seen[item.(map[string]any)["id"].(string)] = true
			}
			next, _ := pick(t, text, "next_cursor").(string)
			if next == "" {
				break
			}
			cursor = fmt.Sprintf("%q", next)
		}
		if len(seen) != 20 {
			t.Errorf("saw %d of 20", len(seen))
		}
	})
}

func TestKE07ResourceAndInstructions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.connection(w.person())
	_, body := w.post(p, "initialize", json.RawMessage(`{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}`))
	if !strings.Contains(string(body), "Gatehouse keeps the inventory") {
		t.Errorf("KE-07 no instructions: %s", body)
	}
	_, body = w.post(p, "resources/read", json.RawMessage(`{"uri":"gatehouse://vocabulary"}`))
	if !strings.Contains(string(body), "# Gatehouse vocabulary") || !strings.Contains(string(body), "text/markdown") {
		t.Errorf("KE-07 no vocabulary: %s", body)
	}
}
