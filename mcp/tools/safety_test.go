package tools_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// notWritten are the string columns no person writes: what is not listed here is filled with the marker, so that a new
// column is tested until somebody looks at it.
var notWritten = []string{
	"places.kind", "places.name_key", "places.child_order", "places.short_code",
	"things.name_key", "things.short_code", "things.condition", "things.acquired_on", "things.value_currency",
	"things.lifecycle", "things.lifecycle_on",
	"types.key", "types.name_key", "brands.name_key", "tags.name_key", "tags.colour", "thing_aliases.alias_key",
	"purchases.purchased_on", "purchase_lines.price_currency",
	"place_kinds.key", "place_kinds.fields", "types.fields",
	"users.password_hash", "users.email", "users.locale", "users.email_key",
	"locations.time_zone", "locations.currency", "locations.currencies", "locations.child_order", "locations.preset",
}

var markedTables = []string{
	"users", "locations", "place_kinds", "places", "types", "brands", "tags", "things", "thing_aliases", "purchases", "purchase_lines",
}

const marker = "MARK\u202Eé<&>\U000E0041"

// mark fills every string column that a person may write.
func mark(t *testing.T, d *sql.DB) int {
	t.Helper()
	filled := 0
	for _, table := range markedTables {
		for _, column := range textColumns(t, d, table) {
			name := table + "." + column
			if strings.HasSuffix(column, "id") || strings.HasSuffix(column, "_by") || slices.Contains(notWritten, name) {
				continue
			}
			value := "'" + marker + "' || substr(hex(rowid), 1, 2)"
			if column == "custom" {
				value = `'{"width":"` + marker + `","deep":{"list":["` + marker + `"]}}'`
			}
			res, err := d.Exec("UPDATE " + table + " SET " + column + " = " + value)
			if err != nil {
				t.Fatalf("fill %s: %v; list it as not written by people if that is so", name, err)
			}
			if n, _ := res.RowsAffected(); n > 0 {
				filled++
			}
		}
	}
	return filled
}

func textColumns(t *testing.T, d *sql.DB, table string) []string {
	t.Helper()
	rows, err := d.Query("SELECT name FROM pragma_table_info(?) WHERE upper(type) IN ('TEXT', 'JSON')", table)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		out = append(out, name)
	}
	if err := rows.Err(); err != nil || len(out) == 0 {
		t.Fatalf("table %s has no text: %v", table, err)
	}
	return out
}

// outside gives the path of a marker that does not stand under a key untrusted, and counts the others.
func outside(v any, path string, under bool, inside *int) string {
	switch v := v.(type) {
	case string:
		if strings.Contains(v, "MARK") {
			if !under {
				return path
			}
			*inside++
		}
	case []any:
		for i, e := range v {
			if p := outside(e, fmt.Sprintf("%s[%d]", path, i), under, inside); p != "" {
				return p
			}
		}
	case map[string]any:
		for k, e := range v {
			if strings.Contains(k, "MARK") {
				return path + " (key)"
			}
			if p := outside(e, path+"."+k, under || k == "untrusted", inside); p != "" {
				return p
			}
		}
	}
	return ""
}

// everyCall makes the arguments of at least one call of each tool that answers.
func everyCall(h *house) map[string][]string {
	house := h.place("House", "")
	box := h.thing(fmt.Sprintf(`{"name":"Box","type":"box","place_id":%q}`, house))
	if _, err := h.sql().Exec(`INSERT INTO brands (id, location_id, name, name_key, created_at, updated_at) VALUES ('01a22be9-3a98-7c33-8e00-5d1f00000009', ?, 'Acme', 'acme', 0, 0)`, h.location); err != nil {
		h.t.Fatal(err)
	}
	saw := h.thing(fmt.Sprintf(`{"name":"Saw","aliases":["Hand saw"],"type":"tool","brand":"Acme","model":"m","serial":"s","notes":"n","tags":["Blue"],"container_id":%q}`, box))
	h.ok(h.p, "update_thing", fmt.Sprintf(`{"thing_id":%q,"purchase":{"seller":"Shop","reference":"R-1","price":{"amount":"1","currency":"EUR"}}}`, saw))
	return map[string][]string{
		"capabilities":   {`{}`},
		"list_locations": {`{}`},
		"search_things":  {`{"query":""}`, `{"query":"saw"}`},
		"where_is":       {`{"query":"saw"}`},
		"get_thing":      {fmt.Sprintf(`{"thing_id":%q}`, saw), fmt.Sprintf(`{"thing_id":%q}`, box)},
		"list_contents":  {`{}`, fmt.Sprintf(`{"place_id":%q,"depth":3}`, house), fmt.Sprintf(`{"container_id":%q}`, box)},
		"add_thing":      {fmt.Sprintf(`{"items":[{"name":"MARK","aliases":["MARK"],"brand":"MARK","type":"MARK","tags":["MARK"],"notes":"MARK","new_place":{"name":"MARK place","parent_id":%q}}]}`, house)},
		"update_thing":   {fmt.Sprintf(`{"thing_id":%q,"fields":{"name":"MARK","notes":"MARK","tags":["MARK"]},"purchase":{"seller":"MARK"}}`, saw)},
		"move_thing":     {fmt.Sprintf(`{"thing_id":%q,"to_place_id":%q}`, saw, house)},
		"create_place":   {fmt.Sprintf(`{"name":"MARK nook","parent_id":%q}`, house)},
	}
}

func TestKE151TextOfPeopleStandsUnderUntrusted(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	calls := everyCall(h)
	if n := mark(t, h.sql()); n < 15 {
		t.Fatalf("only %d columns hold the marker", n)
	}
	for i := range h.p.Locations {
		h.p.Locations[i].Name = marker
	}
	h.p.UserName = marker
	for _, name := range allTools {
		if len(calls[name]) == 0 {
			t.Fatalf("%s is not called", name)
		}
		inside := 0
		for _, args := range calls[name] {
			r := h.call(h.p, name, args)
			if r.isError {
				t.Fatalf("%s %s: %s", name, args, r.text)
			}
			var v any
			if err := json.Unmarshal([]byte(r.text), &v); err != nil {
				t.Fatal(err)
			}
			if p := outside(v, "", false, &inside); p != "" {
				t.Errorf("KE-151 %s: stored text at %s: %s", name, p, r.text)
			}
			if strings.ContainsAny(r.text, "\u202E\U000E0041") || strings.Contains(r.text, `\u003c`) {
				t.Errorf("KE-18 %s: invisible or escaped text: %s", name, r.text)
			}
		}
		if inside == 0 {
			t.Errorf("%s showed no stored text: the test proves nothing about it", name)
		}
	}
}

func TestKE77WritesEndWithNoRowFewer(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	calls := everyCall(h)
	d := h.sql()
	tables := []string{"things", "places", "purchases", "events"}
	count := func(where string) map[string]int {
		out := map[string]int{}
		for _, table := range tables {
			var n int
			if err := d.QueryRow("SELECT count(*) FROM " + table + where).Scan(&n); err != nil {
				t.Fatal(err)
			}
			out[table] = n
		}
		return out
	}
	before := count("")
	for _, name := range writeTools {
		for _, args := range calls[name] {
			h.ok(h.p, name, args)
		}
	}
	after := count("")
	for _, table := range tables {
		if after[table] < before[table] {
			t.Errorf("KE-77 %s: %d rows before, %d after", table, before[table], after[table])
		}
	}
	var trashed int
	if err := d.QueryRow(`SELECT (SELECT count(*) FROM things WHERE trashed_at IS NOT NULL) + (SELECT count(*) FROM places WHERE trashed_at IS NOT NULL)`).Scan(&trashed); err != nil || trashed != 0 {
		t.Errorf("KE-77 %d rows in the trash, %v", trashed, err)
	}
	var foreign int
	if err := d.QueryRow(`SELECT count(*) FROM events WHERE actor_type <> 'connection' OR connection_id <> ? OR via <> 'mcp'`, h.p.ConnectionID).Scan(&foreign); err != nil || foreign != 0 {
		t.Errorf("KE-138 %d entries do not name the connection, %v", foreign, err)
	}
}
