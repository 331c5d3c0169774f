package tools_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gatehouse/app/home"
)

// house is a world with one location, all modules on, and what the examples speak of.
type house struct {
	*world
	p        *home.Principal
	location string
}

func newHouse(t *testing.T) *house {
	t.Helper()
	w := newWorld(t)
	ada := w.person()
	id := w.location(ada, "Home")
	return &house{world: w, p: w.connection(ada, only(id)), location: id}
}

// thing adds a thing and gives its id.
func (h *house) thing(item string) string {
	h.t.Helper()
	return pickText(h.t, h.ok(h.p, "add_thing", `{"items":[`+item+`]}`), "data.things.0.id")
}

func (h *house) place(name, parent string) string {
	h.t.Helper()
	args := fmt.Sprintf(`{"name":%q}`, name)
	if parent != "" {
		args = fmt.Sprintf(`{"name":%q,"parent_id":%q}`, name, parent)
	}
	return pickText(h.t, h.ok(h.p, "create_place", args), "data.place.id")
}

func TestExampleSearchAndWhereIs(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	garage := h.place("Garage", h.place("House", ""))
	added := h.ok(h.p, "add_thing", fmt.Sprintf(`{"items":[{"name":"Drill","aliases":["Bohrer"],"place_id":%q},{"name":"Dress"}]}`, garage))
	h.same("KE-22 search_things", h.ok(h.p, "search_things", fmt.Sprintf(`{"query":"dril","filters":{"place_id":%q},"limit":1}`, garage)),
		`{"data":{"items":[{"id":"#1","short_code":"CODE","location_id":"#2","quantity":1,"lifecycle":"in_use","states":[],"last_seen_at":null,`+
			`"matched_by":"keyword","untrusted":{"name":"Drill","aliases":["Bohrer"],"path":["House","Garage"]}}]},"as_of":"NOW"}`)
	h.same("KE-22 nothing found", h.ok(h.p, "search_things", `{"query":"anvil"}`), `{"data":{"items":[]},"as_of":"NOW"}`)
	code := pickText(t, added, "data.things.0.short_code")
	typed := strings.ToLower(code[:3]) + "\u2011" + code[3:]
	h.same("KE-17 KE-23 where_is by code", h.ok(h.p, "where_is", fmt.Sprintf(`{"query":%q}`, typed)),
		`{"data":{"items":[{"id":"#1","short_code":"CODE","location_id":"#2","quantity":1,"lifecycle":"in_use","states":[],"last_seen_at":null,`+
			`"untrusted":{"name":"Drill","aliases":["Bohrer"],"path":["House","Garage"]},"uncertain":false}]},"as_of":"NOW"}`)
	if text := h.ok(h.p, "where_is", `{"query":"dress"}`); pick(t, text, "data.items.0.uncertain") != true {
		t.Errorf("KE-23 in Unplaced: %s", text)
	}
	if got := pickText(t, h.ok(h.p, "search_things", fmt.Sprintf(`{"query":%q}`, code)), "data.items.0.matched_by"); got != "code" {
		t.Errorf("KE-22 by code: %s", got)
	}
}

func TestExampleAddThing(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	got := h.ok(h.p, "add_thing", `{"items":[{"name":"Tent","new_place":{"name":"Attic"},"brand":"Nordkap"},{"name":"Stove","new_place":{"name":"attic"}}]}`)
	h.same("KE-29 KE-143 add_thing", got,
		`{"data":{"audit_event_ids":["#1","#2","#3"],"undo_until":"UNDO",`+
			`"things":[{"id":"#4","short_code":"CODE","location_id":"#5","untrusted":{"name":"Tent","path":["Attic"]}},`+
			`{"id":"#6","short_code":"CODE","location_id":"#5","untrusted":{"name":"Stove","path":["Attic"]}}],`+
			`"places":[{"id":"#7","short_code":"CODE","location_id":"#5","kind":"room","untrusted":{"name":"Attic","path":["Attic"]}}],`+
			`"placed":[{"item":0,"status":"created","place":0},{"item":1,"status":"created","place":0}],`+
			`"not_set":[{"item":0,"field":"brand","untrusted":{"value":"Nordkap"}}]},"as_of":"NOW"}`)
	again := h.ok(h.p, "add_thing", `{"items":[{"name":"Rope","place_id":null,"new_place":{"name":" ATTIC ","kind":null}},{"name":"Lamp"}]}`)
	if s := fmt.Sprint(pick(t, again, "data.placed")); s != "[map[item:0 place:<nil> status:found] map[item:1 place:<nil> status:unplaced]]" {
		t.Errorf("KE-29 placed: %s", s)
	}
	h.fails(h.p, "add_thing", `{"items":[]}`, "validation", "items: must hold 1 to 20 entries")
	h.fails(h.p, "add_thing", `{"items":[{"name":"ok"},{"name":"  "}]}`, "validation", "")
	if text := h.ok(h.p, "search_things", `{"query":"ok"}`); len(pick(t, text, "data.items").([]any)) != 0 {
		t.Errorf("KE-29 half a call was saved: %s", text)
	}
}

func TestExampleUpdateThing(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.thing(`{"name":"Drill","model":"GSR 12V","condition":"good"}`)
	args := fmt.Sprintf(`{"thing_id":%q,"fields":{"condition":"fair","model":null},"version":1}`, id)
	h.same("KE-30 update_thing", h.ok(h.p, "update_thing", args),
		`{"data":{"audit_event_ids":["#1"],"undo_until":"UNDO","thing":{"id":"#2","short_code":"CODE","location_id":"#3",`+
			`"untrusted":{"name":"Drill","path":["Unplaced"]}},"changed_fields":["condition","model"],"row_version":2},"as_of":"NOW"}`)
	h.fails(h.p, "update_thing", args, "precondition_failed", "")
	h.same("KE-30 idempotent: the same again changes nothing", h.ok(h.p, "update_thing", strings.Replace(args, `,"version":1`, "", 1)),
		`{"data":{"audit_event_ids":[],"undo_until":null,"thing":{"id":"#1","short_code":"CODE","location_id":"#2",`+
			`"untrusted":{"name":"Drill","path":["Unplaced"]}},"changed_fields":[],"row_version":2},"as_of":"NOW"}`)
	text := h.ok(h.p, "update_thing", fmt.Sprintf(`{"thing_id":%q,"fields":null,"purchase":{"seller":"Shop","price":{"amount":"12.50","currency":"EUR"}}}`, id))
	if pickText(t, text, "data.purchase_id") == "" {
		t.Errorf("KE-64 no purchase: %s", text)
	}
	h.fails(h.p, "update_thing", fmt.Sprintf(`{"thing_id":%q}`, id), "validation", "")
	h.fails(h.p, "update_thing", fmt.Sprintf(`{"thing_id":%q,"fields":{}}`, id), "validation", "")
	h.fails(h.p, "update_thing", fmt.Sprintf(`{"thing_id":%q,"fields":{"value":{"amount":"1","currency":"JPY"}}}`, id), "currency_not_enabled", "")
}

func TestExampleMoveThing(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	garage := h.place("Garage", "")
	id := h.thing(`{"name":"Chair","quantity":10}`)
	text := h.ok(h.p, "move_thing", fmt.Sprintf(`{"thing_id":%q,"to_place_id":%q,"quantity":4}`, id, garage))
	h.same("KE-31 move_thing", text,
		`{"data":{"audit_event_ids":["#1"],"undo_until":"UNDO","thing":{"id":"#2","short_code":"CODE","location_id":"#3",`+
			`"untrusted":{"name":"Chair","path":["Garage"]}},"split_from":"#4"},"as_of":"NOW"}`)
	if got := pickText(t, text, "data.split_from"); got != id {
		t.Errorf("KE-31 split from %s, want %s", got, id)
	}
	moved := pickText(t, text, "data.thing.id")
	h.same("KE-31 already there", h.ok(h.p, "move_thing", fmt.Sprintf(`{"thing_id":%q,"to_place_id":%q}`, moved, garage)),
		`{"data":{"audit_event_ids":[],"undo_until":null,"thing":{"id":"#1","short_code":"CODE","location_id":"#2",`+
			`"untrusted":{"name":"Chair","path":["Garage"]}}},"as_of":"NOW"}`)
	h.fails(h.p, "move_thing", fmt.Sprintf(`{"thing_id":%q}`, id), "validation", "")
	h.fails(h.p, "move_thing", fmt.Sprintf(`{"thing_id":%q,"to_place_id":%q,"to_container_id":%q}`, id, garage, id), "validation", "")
	h.fails(h.p, "move_thing", fmt.Sprintf(`{"thing_id":%q,"to_container_id":%q}`, id, moved), "not_a_container", "")
	h.fails(h.p, "move_thing", fmt.Sprintf(`{"thing_id":%q,"to_place_id":%q,"quantity":7}`, id, garage), "validation", "")
}

func TestExampleGetThing(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.thing(`{"name":"Tape","type":"consumable","quantity":1,"minimum":2,"notes":"Do <this> & that","tags":["Blue"],"value":{"amount":"3","currency":"EUR"},"acquired_on":"2026-01-02"}`)
	h.ok(h.p, "update_thing", fmt.Sprintf(`{"thing_id":%q,"purchase":{"purchased_on":"2026-01-01","seller":"Shop","price":{"amount":"2.5","currency":"EUR"}}}`, id))
	full := h.ok(h.p, "get_thing", fmt.Sprintf(`{"thing_id":%q}`, id))
	h.same("KE-24 get_thing", full,
		`{"data":{"thing":{"id":"#1","short_code":"CODE","location_id":"#2","quantity":1,"lifecycle":"in_use","states":["uncertain","low_stock"],"last_seen_at":null,`+
			`"type_id":"#3","place_id":"#4","is_container":false,"minimum":2,"acquired_on":"2026-01-02","row_version":2,"created_at":"NOW","updated_at":"NOW",`+
			`"value":{"amount":"3","currency":"EUR"},"purchase":{"id":"#5","purchased_on":"2026-01-01","price":{"amount":"2.50","currency":"EUR"},"untrusted":{"seller":"Shop"}},`+
			`"attachments":0,"url":"https://home.example/things/#1","untrusted":{"name":"Tape","path":["Unplaced"],"type":"Consumable","notes":"Do <this> & that","tags":["Blue"]}}},"as_of":"NOW"}`)
	poor := *h.p
	poor.Locations = slices.Clone(h.p.Locations)
	poor.Locations[0].Modules = []string{"mcp"}
	text := h.ok(&poor, "get_thing", fmt.Sprintf(`{"thing_id":%q}`, id))
	for _, gone := range []string{"value", "purchase", "minimum", "low_stock"} {
		if strings.Contains(text, `"`+gone+`"`) {
			t.Errorf("KE-63 %s with its module off: %s", gone, text)
		}
	}
	h.fails(&poor, "update_thing", fmt.Sprintf(`{"thing_id":%q,"fields":{"value":{"amount":"1","currency":"EUR"}}}`, id), "module_off", "")
}

func TestExampleListContents(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	house := h.place("House", "")
	h.place("Cellar", house)
	box := h.thing(fmt.Sprintf(`{"name":"Red box","type":"box","place_id":%q}`, house))
	h.thing(fmt.Sprintf(`{"name":"Saw","container_id":%q}`, box))
	h.same("KE-25 list_contents", h.ok(h.p, "list_contents", fmt.Sprintf(`{"place_id":%q,"depth":2}`, house)),
		`{"data":{"parent":{"id":"#1","short_code":"CODE","location_id":"#2","kind":"room","untrusted":{"name":"House","path":["House"]}},"items":[`+
			`{"depth":1,"place":{"id":"#3","short_code":"CODE","location_id":"#2","kind":"room","untrusted":{"name":"Cellar","path":["House","Cellar"]}}},`+
			`{"depth":1,"thing":{"id":"#4","short_code":"CODE","location_id":"#2","quantity":1,"is_container":true,"untrusted":{"name":"Red box","path":["House"]}}},`+
			`{"depth":2,"thing":{"id":"#5","short_code":"CODE","location_id":"#2","quantity":1,"is_container":false,"untrusted":{"name":"Saw","path":["House","Red box"]}}}]},"as_of":"NOW"}`)
	if text := h.ok(h.p, "list_contents", `{}`); pick(t, text, "data.parent") != nil || len(pick(t, text, "data.items").([]any)) != 2 {
		t.Errorf("KE-25 the top: %s", text)
	}
	text := h.ok(h.p, "list_contents", fmt.Sprintf(`{"container_id":%q,"limit":1}`, box))
	if pick(t, text, "data.parent.untrusted.name") != "Red box" || pick(t, text, "data.items.0.thing.untrusted.name") != "Saw" {
		t.Errorf("KE-25 a container: %s", text)
	}
	h.fails(h.p, "list_contents", fmt.Sprintf(`{"container_id":%q}`, pickText(t, text, "data.items.0.thing.id")), "not_a_container", "")
	h.fails(h.p, "list_contents", fmt.Sprintf(`{"place_id":%q,"container_id":%q}`, house, box), "validation", "")
}

func TestExampleCreatePlace(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.same("KE-33 create_place", h.ok(h.p, "create_place", `{"name":"Attic","kind":"floor"}`),
		`{"data":{"audit_event_ids":["#1"],"undo_until":"UNDO","place":{"id":"#2","short_code":"CODE","location_id":"#3","kind":"floor",`+
			`"untrusted":{"name":"Attic","path":["Attic"]}}},"as_of":"NOW"}`)
	h.fails(h.p, "create_place", `{"name":"ATTIC"}`, "conflict", "")
	h.fails(h.p, "create_place", `{"name":"Nook","kind":"cave"}`, "validation", "")
	deep := ""
	for i := range 10 {
		deep = h.place(fmt.Sprint("Level ", i), deep)
	}
	h.fails(h.p, "create_place", fmt.Sprintf(`{"name":"Too deep","parent_id":%q}`, deep), "too_deep", "")
}

// TestHintsHoldNoValueSent sends a marker wherever text goes and looks for it in the hints of refusals.
func TestHintsHoldNoValueSent(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.thing(`{"name":"Drill"}`)
	for tool, args := range map[string][]string{
		"where_is":      {`{"query":"marker\u0007"}`},
		"search_things": {`{"query":"x","filters":{"type":"marker"}}`, `{"query":"x","filters":{"place_id":"marker"}}`, `{"query":"x","filters":{"marker":1}}`, `{"query":"x","cursor":"marker"}`},
		"get_thing":     {`{"thing_id":"marker"}`, `{"thing_id":"` + strings.Repeat("marker", 20) + `"}`},
		"add_thing":     {`{"items":[{"name":"marker\u0007"}]}`, `{"items":[{"name":"x","acquired_on":"marker"}]}`, `{"items":[{"name":"x","custom":"marker"}]}`, `{"items":[{"name":"x","marker":1}]}`},
		"update_thing":  {fmt.Sprintf(`{"thing_id":%q,"fields":{"type":"marker"}}`, id), fmt.Sprintf(`{"thing_id":%q,"fields":{"condition":"marker"}}`, id)},
		"create_place":  {`{"name":"x","kind":"marker"}`, `{"name":"x","parent_id":"marker"}`},
		"move_thing":    {fmt.Sprintf(`{"thing_id":%q,"to_place_id":"marker"}`, id)},
	} {
		for _, a := range args {
			r := h.call(h.p, tool, a)
			if r.isError && strings.Contains(strings.ToLower(r.raw), "marker") {
				t.Errorf("%s %s: %s", tool, a, r.text)
			}
			if !r.isError && tool != "search_things" {
				t.Errorf("%s %s was taken: %s", tool, a, r.text)
			}
		}
	}
}

func TestKE15ErrorsAreCodeAndHint(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	r := h.call(h.p, "add_thing", `{"items":[]}`)
	if want := `{"error":"validation","hint":"items: must hold 1 to 20 entries"}`; r.text != want || !r.isError || r.status != 200 {
		t.Errorf("KE-15 KE-16 got %+v", r)
	}
}
