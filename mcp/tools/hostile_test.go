package tools_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"gatehouse/mcp"
)

func TestHoleCustomNumbersWereSentAsText(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	_, err := h.sql().Exec(`INSERT INTO types (id, location_id, key, name, name_key, fields, is_container, is_consumable, is_vehicle, created_at, updated_at)
		VALUES ('01900000-0000-7000-8000-000000000301', ?, 'lamp', 'Lamp', 'lamp', '[{"key":"watts","label":"W","kind":"number"},{"key":"n","label":"N","kind":"integer"}]',
		0, 0, 0, 0, 0)`, h.location)
	if err != nil {
		t.Fatal(err)
	}
	id := h.thing(`{"name":"Lamp","type":"lamp","custom":{"watts":4.5,"n":-3}}`)
	text := h.ok(h.p, "get_thing", fmt.Sprintf(`{"thing_id":%q}`, id))
	if !strings.Contains(text, `"custom":{"n":-3,"watts":4.5}`) {
		t.Errorf("KE-24 a number comes back as the number that was sent: %s", text)
	}
}

func TestHoleIDWasNoQuery(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.thing(`{"name":"Drill"}`)
	for _, typed := range []string{id, " " + strings.ToUpper(id)} {
		args := fmt.Sprintf(`{"query":%q}`, typed)
		if got := pickText(t, h.ok(h.p, "search_things", args), "data.items.0.matched_by"); got != "code" {
			t.Errorf("KE-22 %s is matched by %s", typed, got)
		}
		if got := pickText(t, h.ok(h.p, "where_is", args), "data.items.0.id"); got != id {
			t.Errorf("KE-23 %s finds %s", typed, got)
		}
	}
	ada := h.person()
	other := h.connection(ada, only(h.home(ada)))
	if text := h.ok(other, "search_things", fmt.Sprintf(`{"query":%q}`, id)); strings.Contains(text, id) {
		t.Errorf("KE-22 an id found a thing of another location: %s", text)
	}
}

func TestHoleFaultsOfToolsWereNotLogged(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	var log bytes.Buffer
	options := append(h.set.Options(), mcp.WithLogger(slog.New(slog.NewJSONHandler(&log, nil))))
	var err error
	if h.server, err = mcp.NewServer(mcp.Implementation{Name: "test", Version: "1"}, options...); err != nil {
		t.Fatal(err)
	}
	h.fails(h.p, "get_thing", `{"thing_id":"no"}`, "validation", "")
	if log.Len() > 0 {
		t.Errorf("a refusal was logged as a fault: %s", log.String())
	}
	if _, err := h.sql().Exec(`ALTER TABLE things RENAME TO lost`); err != nil {
		t.Fatal(err)
	}
	r := h.call(h.p, "where_is", `{"query":"drill"}`)
	if r.status != http.StatusOK || !r.isError || !strings.Contains(r.text, "req-1") || strings.Contains(r.text, "things") {
		t.Errorf("KE-15 the answer: %+v", r)
	}
	for _, want := range []string{`"tool":"where_is"`, `"request_id":"req-1"`, "no such table"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %s: %s", want, log.String())
		}
	}
}
