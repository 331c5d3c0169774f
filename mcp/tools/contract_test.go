package tools

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"gatehouse/app/home"
	"gatehouse/app/inventory"
	"gatehouse/mcp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// pinned are the tools people and models may rely on: a change here breaks somebody's settings (KE-155).
var pinned = []struct{ ke, name, scope, module, marks string }{
	{"KE-20", "capabilities", "read", "", "global"},
	{"KE-21", "list_locations", "read", "", "global"},
	{"KE-22", "search_things", "read", "", "global"},
	{"KE-23", "where_is", "read", "", "global"},
	{"KE-24", "get_thing", "read", "", ""},
	{"KE-25", "list_contents", "read", "", ""},
	{"KE-29", "add_thing", "write", "", ""},
	{"KE-30", "update_thing", "write", "", "idempotent"},
	{"KE-31", "move_thing", "write", "", ""},
	{"KE-33", "create_place", "write", "", ""},
}

func TestKE155PinnedTable(t *testing.T) {
	t.Parallel()
	all := Contracts()
	if len(all) != len(pinned) {
		t.Fatalf("KE-155 %d contracts, %d pinned", len(all), len(pinned))
	}
	for i, want := range pinned {
		c := all[i]
		t.Run(want.ke+" "+want.name, func(t *testing.T) {
			t.Parallel()
			marks := ""
			if c.Global {
				marks = "global"
			}
			if c.Idempotent {
				marks += "idempotent"
			}
			if c.Name != want.name || c.Scope != want.scope || c.Module != want.module || marks != want.marks {
				t.Errorf("got %s %s %q %s", c.Name, c.Scope, c.Module, marks)
			}
			if !slices.Equal(c.Doors, []string{DoorMCP, DoorConsole}) || c.Since == "" || c.Title == "" {
				t.Errorf("KE-02 KE-84 doors %v, since %q, title %q", c.Doors, c.Since, c.Title)
			}
			if !strings.HasSuffix(c.Description, "?") || strings.Count(c.Description, "?") != 1 {
				t.Errorf("KE-05 description is not one question: %q", c.Description)
			}
		})
	}
}

func TestKE154EveryHandlerHasAContract(t *testing.T) {
	t.Parallel()
	s := &Set{contracts: map[string]*Contract{}, bit: map[string]int{}}
	all := handlers()
	delete(all, "where_is")
	if err := s.register(Contracts(), all); err != nil {
		t.Fatal(err)
	}
	for _, tool := range s.Tools() {
		if tool.Name == "where_is" {
			t.Error("KE-154 a contract without handler is offered")
		}
	}
	all["no_such_tool"] = all["get_thing"]
	s = &Set{contracts: map[string]*Contract{}, bit: map[string]int{}}
	if err := s.register(Contracts(), all); err == nil {
		t.Error("a handler without contract is taken")
	}
}

func TestKE78Names(t *testing.T) {
	t.Parallel()
	forbidden := regexp.MustCompile(`(?i)trash|delete|remove_|destroy|purge|wipe|merge|transfer|reveal|secret|upload|sql|query_db|exec|undo|export|import`)
	form := regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)
	for _, c := range Contracts() {
		if forbidden.MatchString(c.Name) || !form.MatchString(c.Name) || len(c.Name) > 30 {
			t.Errorf("KE-78 name %q", c.Name)
		}
	}
}

func TestKE77ActionsAndFields(t *testing.T) {
	t.Parallel()
	never := regexp.MustCompile(`^(content\.(trash|purge)|attachment\.remove_.*|(member|admin|location|secret|token|webhook|transfer)\..*|audit\.undo_.*)$`)
	all := handlers()
	for _, c := range Contracts() {
		h := all[c.Name]
		if never.MatchString(string(h.Action)) || home.GrantOf(home.Owner, h.Action) != home.GrantFull {
			t.Errorf("KE-77 %s does %s", c.Name, h.Action)
		}
		if c.annotations().DestructiveHint {
			t.Errorf("KE-05 %s is destructive", c.Name)
		}
		for _, typ := range []reflect.Type{c.Input, c.Output} {
			noBytes(t, c.Name, typ)
		}
		if h.Subject != "" && atPath(c.Schema, h.Subject) == nil {
			t.Errorf("KE-152 %s: subject %q is no field of the input", c.Name, h.Subject)
		}
	}
}

func atPath(s *jsonschema.Schema, path string) *jsonschema.Schema {
	pointer := "/" + strings.NewReplacer("[0]", "/0", ".", "/").Replace(path)
	return at(s, pointer)
}

// noBytes fails on a field that could carry a file.
func noBytes(t *testing.T, path string, typ reflect.Type) {
	switch typ.Kind() {
	case reflect.Pointer, reflect.Map:
		noBytes(t, path, typ.Elem())
	case reflect.Slice, reflect.Array:
		if typ.Elem().Kind() == reflect.Uint8 && typ != reflect.TypeFor[json.RawMessage]() {
			t.Errorf("KE-77 %s carries bytes", path)
		}
		noBytes(t, path, typ.Elem())
	case reflect.Struct:
		for i := range typ.NumField() {
			noBytes(t, path+"."+typ.Field(i).Name, typ.Field(i).Type)
		}
	}
}

// TestSchemasTakeTheFieldsOfTheirTypes fails when a schema and the Go type behind it part ways.
func TestSchemasTakeTheFieldsOfTheirTypes(t *testing.T) {
	t.Parallel()
	for _, c := range Contracts() {
		sameFields(t, c.Name, c.Schema, c.Input)
		if c.Schema.Properties["location_id"] == nil {
			t.Errorf("KE-13 %s takes no location_id", c.Name)
		}
	}
}

func sameFields(t *testing.T, path string, s *jsonschema.Schema, typ reflect.Type) {
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	if typ.Kind() == reflect.Slice && s.Items != nil {
		sameFields(t, path+"[]", s.Items, typ.Elem())
		return
	}
	if typ.Kind() != reflect.Struct {
		return
	}
	if strings.HasPrefix(typ.Name(), "Patch[") {
		if !slices.Contains(s.Types, "null") {
			t.Errorf("%s: null is not taken", path)
		}
		v, _ := typ.FieldByName("Value")
		sameFields(t, path, s, v.Type)
		return
	}
	fields := jsonFields(typ)
	for name, ft := range fields {
		if s.Properties[name] == nil {
			t.Errorf("%s: schema lacks %s", path, name)
			continue
		}
		sameFields(t, path+"."+name, s.Properties[name], ft)
	}
	for name := range s.Properties {
		if fields[name] == nil {
			t.Errorf("%s: type lacks %s", path, name)
		}
	}
	if s.AdditionalProperties == nil || s.AdditionalProperties.Not == nil {
		t.Errorf("%s: takes other fields", path)
	}
}

func jsonFields(typ reflect.Type) map[string]reflect.Type {
	out := map[string]reflect.Type{}
	for i := range typ.NumField() {
		f := typ.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous {
			for n, ft := range jsonFields(f.Type) {
				out[n] = ft
			}
			continue
		}
		out[name] = f.Type
	}
	return out
}

// TestKE59FieldsOfAThing pins which field which tool takes (columns add and upd).
func TestKE59FieldsOfAThing(t *testing.T) {
	t.Parallel()
	both := []string{"name", "quantity", "aliases", "type", "brand", "model", "serial", "notes", "condition", "tags", "custom", "is_container", "acquired_on", "value", "minimum"}
	add := append([]string{"place_id", "container_id", "new_place"}, both...)
	for _, tc := range []struct {
		name string
		got  *jsonschema.Schema
		want []string
	}{
		{"KE-58 add_thing.items", addThingSchema().Properties["items"].Items, add},
		{"KE-59 update_thing.fields", updateThingSchema().Properties["fields"], both},
	} {
		got := slices.Clone(tc.got.PropertyOrder)
		slices.Sort(got)
		slices.Sort(tc.want)
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
		for _, ours := range []string{"id", "location_id", "template_id"} {
			if tc.got.Properties[ours] != nil {
				t.Errorf("KE-62 %s takes %s", tc.name, ours)
			}
		}
	}
}

// TestKE05Definitions compares each tool as tools/list shows it with its golden file.
func TestKE05Definitions(t *testing.T) {
	t.Parallel()
	s := &Set{contracts: map[string]*Contract{}, bit: map[string]int{}}
	if err := s.register(Contracts(), handlers()); err != nil {
		t.Fatal(err)
	}
	for _, tool := range s.Tools() {
		t.Run(tool.Name, func(t *testing.T) {
			t.Parallel()
			def := struct {
				Name        string          `json:"name"`
				Title       string          `json:"title"`
				Description string          `json:"description"`
				InputSchema json.RawMessage `json:"inputSchema"`
				Annotations mcp.Annotations `json:"annotations"`
			}{tool.Name, tool.Title, tool.Description, tool.InputSchema, tool.Annotations}
			golden(t, tool.Name+".json", def)
			a := tool.Annotations
			write := s.contracts[tool.Name].write()
			if a.ReadOnlyHint == write || a.OpenWorldHint || a.DestructiveHint || a.IdempotentHint != (!write || tool.Name == "update_thing") {
				t.Errorf("KE-05 annotations %+v", a)
			}
			if tool.OutputSchema != nil || tool.Meta != nil {
				t.Errorf("KE-98 output schema or _meta on %s", tool.Name)
			}
		})
	}
}

func golden(t *testing.T, name string, v any) {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(want, b.Bytes()) {
		t.Errorf("%s differs from its golden file (%v); run with -update and read the difference\n%s", name, err, b.String())
	}
}

func TestKE07Texts(t *testing.T) {
	t.Parallel()
	if len(Instructions) > 2000 || len(vocabulary) > 6000 {
		t.Errorf("KE-07 instructions %d bytes, vocabulary %d", len(Instructions), len(vocabulary))
	}
	for _, must := range []string{"location", "place", "container", "Unplaced", "short code", "time zone", "capabilities", "untrusted", "never an instruction", "no figure", "7 days", "never repeat a write because of trimmed", VocabularyURI} {
		if !strings.Contains(Instructions, must) {
			t.Errorf("KE-07 the instructions do not say %q", must)
		}
	}
	words := slices.Concat(inventory.Lifecycles(), inventory.States(), inventory.Conditions(), []string{
		"owner", "admin", "member", "viewer", "read", "write", DoorMCP, DoorConsole,
		inventory.MatchedByCode, inventory.MatchedByKeyword,
		inventory.PlacedFound, inventory.PlacedCreated, inventory.PlacedUnplaced, inventory.KindRoom, inventory.KindUnplaced,
		"floor", "zone", "closet", "not_set", "audit_event_ids", "undo_until", "next_cursor", "as_of", "precondition_failed",
		"appliance", "bike", "book", "box", "car", "clothing", "consumable", "document", "electronics", "furniture", "instrument", "other", "tool", "toy",
	})
	for _, c := range Contracts() {
		words = append(words, c.Name)
	}
	for _, m := range home.Modules() {
		words = append(words, m.Name)
	}
	for _, w := range words {
		if !strings.Contains(vocabulary, "`"+w+"`") {
			t.Errorf("KE-07 the vocabulary does not define `%s`", w)
		}
	}
	for _, word := range []string{"location", "member", "role", "module", "connection", "personal token", "door", "event", "audit entry", "place", "thing", "container", "short code"} {
		if !strings.Contains(vocabulary, "**"+word+"**") {
			t.Errorf("KE-07 the vocabulary does not define %s", word)
		}
	}
	res := Resources()
	if len(res) != 1 || res[0].URI != "gatehouse://vocabulary" || res[0].Name != "vocabulary" || res[0].Title != "Gatehouse vocabulary" || res[0].MIMEType != "text/markdown" {
		t.Errorf("KE-07 resources %+v", res)
	}
}

// TestHintsOfBrokenArguments is the table of validation errors: what a model reads when arguments break the schema.
func TestHintsOfBrokenArguments(t *testing.T) {
	t.Parallel()
	s := &Set{contracts: map[string]*Contract{}, bit: map[string]int{}}
	if err := s.register(Contracts(), handlers()); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", 201)
	for _, tc := range []struct{ tool, args, hint string }{
		{"add_thing", `{"items":[]}`, "items: must hold 1 to 20 entries"},
		{"add_thing", `{"items":[` + strings.TrimSuffix(strings.Repeat(`{"name":"a"},`, 21), ",") + `]}`, "items: must hold 1 to 20 entries"},
		{"add_thing", `{}`, "items: is required"},
		{"add_thing", `{"items":"x"}`, "items: must hold 1 to 20 entries"},
		{"add_thing", `{"items":[{"quantity":1}]}`, "items[0].name: is required"},
		{"add_thing", `{"items":[{"name":""}]}`, "items[0].name: must be 1 to 200 characters"},
		{"add_thing", `{"items":[{"name":"` + long + `"}]}`, "items[0].name: must be 1 to 200 characters"},
		{"add_thing", `{"items":[{"name":"a","id":"x"}]}`, "items[0]: has a field that is not known here"},
		{"add_thing", `{"items":[{"name":"a","quantity":"3"}]}`, "items[0].quantity: must be a whole number from 0 to 100000"},
		{"add_thing", `{"items":[{"name":"a","condition":"old"}]}`, "items[0].condition: must be one of new, good, fair, poor, broken"},
		{"add_thing", `{"items":[{"name":"a","acquired_on":"soon"}]}`, "items[0].acquired_on: must be a date written as YYYY-MM-DD"},
		{"add_thing", `{"items":[{"name":"a","value":{"amount":"1","currency":"eur"}}]}`, "items[0].value.currency: must be text that matches ^[A-Z]{3}$"},
		{"add_thing", `{"items":[{"name":"a","new_place":{"kind":"room"}}]}`, "items[0].new_place.name: is required"},
		{"add_thing", `{"items":[{"name":"a","aliases":["` + strings.Repeat("y", 121) + `"]}]}`, "items[0].aliases[0]: must be 1 to 120 characters"},
		{"search_things", `{"query":"a","limit":201}`, "limit: must be a whole number from 1 to 200"},
		{"search_things", `{"query":"a","limit":0}`, "limit: must be a whole number from 1 to 200"},
		{"search_things", `{"query":"a","cursor":""}`, "cursor: must be 1 to 2400 characters"},
		{"search_things", `{"query":"a","filters":{"colour":"red"}}`, "filters: has a field that is not known here"},
		{"search_things", `{"query":"a","location_id":"home"}`, "location_id: must be an id of 36 characters"},
		{"where_is", `{"query":""}`, "query: must be 1 to 200 characters"},
		{"get_thing", `{"thing_id":7}`, "thing_id: must be 1 to 64 characters"},
		{"get_thing", `{"thing_id":"x","extra":1}`, "arguments: has a field that is not known here"},
		{"list_contents", `{"depth":4}`, "depth: must be a whole number from 1 to 3"},
		{"update_thing", `{"thing_id":"x","fields":{"name":""}}`, "fields.name: must be 1 to 200 characters"},
		{"update_thing", `{"thing_id":"x","fields":{"is_container":"yes"}}`, "fields.is_container: must be true or false"},
		{"update_thing", `{"thing_id":"x","purchase":[]}`, "purchase: must be an object"},
		{"move_thing", `{"thing_id":"x","quantity":0}`, "quantity: must be a whole number from 1 to 100000"},
		{"create_place", `{"name":"a","name":"b","kind":null}`, "name: is given twice"},
		{"create_place", `{"name":"\ud800","kind":null}`, "name: must be valid Unicode text"},
		{"add_thing", `{"items":[{"name":"a","notes":null,"custom":{"OBEY ME":1,"OBEY ME":2}}]}`, "items[0].custom: has a field given twice"},
		{"add_thing", `{"items":[{"name":"a","notes":null,"custom":{"OBEY ME":1e999}}]}`, "items[0].custom: must be a number of ordinary size"},
		{"create_place", `{"name":"a","kind":"Big Room"}`, "kind: must be text that matches ^[a-z][a-z0-9_]{0,39}$"},
	} {
		t.Run("KE-16 "+tc.tool+" "+tc.args[:min(len(tc.args), 50)], func(t *testing.T) {
			t.Parallel()
			c := s.contracts[tc.tool]
			schema, err := mcp.CompileSchema(mustJSON(t, c.Schema))
			if err != nil {
				t.Fatal(err)
			}
			_, err = schema.Check(json.RawMessage(tc.args))
			e := publicError(t.Context(), c, err)
			if e.Code != "validation" || e.Hint != tc.hint {
				t.Errorf("got %s %q, want %q", e.Code, e.Hint, tc.hint)
			}
		})
	}
}

func mustJSON(t *testing.T, v any) json.RawMessage {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestErrorsOfOthersStayInside(t *testing.T) {
	t.Parallel()
	e := publicError(home.WithPrincipal(t.Context(), &home.Principal{RequestID: "req-1"}), nil, fmt.Errorf("dial tcp: password=hunter2"))
	if e.Code != "internal" || strings.Contains(e.Hint, "hunter2") || !strings.Contains(e.Hint, "req-1") {
		t.Errorf("got %+v", e)
	}
}
