package tools

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"gatehouse/app/inventory"
)

var fixedTime = time.Date(2026, 11, 30, 10, 15, 0, 0, time.UTC)

const fixedID = "01a22be9-0000-7b22-9d00-5d1f00000002"

func contractOf(t *testing.T, name string) *Contract {
	t.Helper()
	for _, c := range Contracts() {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("no contract %q", name)
	return nil
}

// sizeBefore is the size of an answer that nothing was left out of.
func sizeBefore(t *testing.T, a *Answer) int {
	t.Helper()
	data, err := marshal(a.Data)
	if err != nil {
		t.Fatal(err)
	}
	return len(`{"data":`) + len(data) + len(appendTail(nil, stampText(a.AsOf), a.Next, a.Trimmed))
}

type sent struct {
	Data       map[string]any `json:"data"`
	AsOf       string         `json:"as_of"`
	NextCursor string         `json:"next_cursor"`
	Trimmed    []string       `json:"trimmed"`
}

func parseSent(t interface{ Fatalf(string, ...any) }, text []byte) sent {
	var s sent
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatalf("answer is not JSON: %v\n%s", err, text)
	}
	return s
}

func TestKE139SmallAnswerIsSentAsItIs(t *testing.T) {
	t.Parallel()
	a := &Answer{Data: map[string]any{"items": []any{}}, AsOf: fixedTime}
	got, err := encode(contractOf(t, "where_is"), a)
	if want := `{"data":{"items":[]},"as_of":"2026-11-30T10:15:00.000Z"}`; err != nil || string(got) != want {
		t.Fatalf("got %s, %v; want %s", got, err, want)
	}
	for _, pad := range []int{-1, 0} { // the last size that fits and the first that does not
		a.Data = map[string]any{"thing": map[string]any{"id": "x", "notes": ""}}
		a.Data = map[string]any{"thing": map[string]any{"id": "x", "notes": strings.Repeat("n", AnswerLimit-sizeBefore(t, a)+pad)}}
		got, err := encode(contractOf(t, "get_thing"), a)
		if err != nil {
			t.Fatal(err)
		}
		if s := parseSent(t, got); (len(s.Trimmed) == 0) != (pad < 0) {
			t.Errorf("KE-139 at %d bytes: trimmed %v", AnswerLimit+pad, s.Trimmed)
		}
	}
}

func TestKE140SearchKeepsTheEntriesThatFit(t *testing.T) {
	t.Parallel()
	items := make([]map[string]any, 50)
	for i := range items {
		items[i] = map[string]any{"id": fmt.Sprintf("T%03d", i), "untrusted": map[string]any{"name": ""}}
		text, _ := json.Marshal(items[i])
		items[i]["untrusted"] = map[string]any{"name": strings.Repeat("n", 400-len(text))}
	}
	var asked int
	a := &Answer{Data: map[string]any{"items": items}, AsOf: fixedTime, after: func(n int) (string, error) {
		asked = n
		return strings.Repeat("c", 60), nil
	}}
	if n := sizeBefore(t, a); n != 20105 {
		t.Fatalf("full size %d, want 20105", n)
	}
	got, err := encode(contractOf(t, "search_things"), a)
	if err != nil {
		t.Fatal(err)
	}
	s := parseSent(t, got)
	list := s.Data["items"].([]any)
	if len(got) != 8152 || len(list) != 20 || asked != 20 || s.NextCursor == "" || s.Trimmed != nil {
		t.Errorf("sent %d bytes, %d items, cursor after %d, trimmed %v", len(got), len(list), asked, s.Trimmed)
	}
}

func TestKE140ListWithoutCursorIsNamedInTrimmed(t *testing.T) {
	t.Parallel()
	items := make([]map[string]any, 5)
	for i := range items {
		items[i] = map[string]any{"id": "x", "untrusted": map[string]any{"name": strings.Repeat("n", 3000)}}
	}
	got, err := encode(contractOf(t, "where_is"), &Answer{Data: map[string]any{"items": items}, AsOf: fixedTime})
	if err != nil {
		t.Fatal(err)
	}
	s := parseSent(t, got)
	if n := len(s.Data["items"].([]any)); n != 2 || !slices.Equal(s.Trimmed, []string{"items"}) || s.NextCursor != "" {
		t.Errorf("%d items, trimmed %v, cursor %q", n, s.Trimmed, s.NextCursor)
	}
}

func TestKE140OneEntryTooLargeLosesFields(t *testing.T) {
	t.Parallel()
	items := []map[string]any{
		{"id": "A", "untrusted": map[string]any{"name": "a", "notes": strings.Repeat("n", 9000), "aliases": []string{"x"}}},
		{"id": "B", "untrusted": map[string]any{"name": "b"}},
	}
	a := &Answer{Data: map[string]any{"items": items}, AsOf: fixedTime, after: func(n int) (string, error) {
		return fmt.Sprintf("after%d", n), nil
	}}
	got, err := encode(contractOf(t, "search_things"), a)
	if err != nil {
		t.Fatal(err)
	}
	s := parseSent(t, got)
	if len(s.Data["items"].([]any)) != 1 || s.NextCursor != "after1" || !slices.Equal(s.Trimmed, []string{"items[*].untrusted.notes"}) {
		t.Errorf("sent %s", got)
	}
}

// bigThing is the thing of the worked example, padded to its size by the custom field.
func bigThing(pad int) *Answer {
	aliases := make([]Text, 20)
	for i := range aliases {
		aliases[i] = Text(strings.Repeat("電", 100))
	}
	d := thingDetail{thingFacts: thingFacts{
		rowID: rowID{fixedID, "7K3QM2", fixedID}, Quantity: 1, Lifecycle: "in_use", States: []string{},
	}, PlaceID: fixedID, RowVersion: 4, CreatedAt: Stamp(fixedTime), UpdatedAt: Stamp(fixedTime)}
	d.Untrusted = thingDetailText{
		thingText: thingText{Name: "Drill", Aliases: aliases, Path: []Text{"House"}},
		Notes:     Text(strings.Repeat("電", 2000)), Custom: Custom{"text": strings.Repeat("c", pad)},
	}
	return &Answer{Data: getThingOutput{d}, AsOf: fixedTime}
}

func TestKE141FieldsWithTheMostBytesGoFirst(t *testing.T) {
	t.Parallel()
	a := bigThing(14275 - sizeBefore(t, bigThing(0)))
	if n := sizeBefore(t, a); n != 14275 {
		t.Fatalf("full size %d, want 14275", n)
	}
	got, err := encode(contractOf(t, "get_thing"), a)
	if err != nil {
		t.Fatal(err)
	}
	s := parseSent(t, got)
	if want := []string{"thing.untrusted.aliases", "thing.untrusted.notes"}; len(got) != 2254 || !slices.Equal(s.Trimmed, want) {
		t.Errorf("KE-141 sent %d bytes, trimmed %v", len(got), s.Trimmed)
	}
	untrusted := s.Data["thing"].(map[string]any)["untrusted"].(map[string]any)
	if untrusted["name"] != "Drill" || untrusted["custom"] == nil || untrusted["path"] == nil {
		t.Errorf("KE-142 lost too much: %v", untrusted)
	}
}

// manyThings is the answer of add_thing of the worked examples.
func manyThings(name string) *Answer {
	out := addThingOutput{undo: undo{AuditEventIDs: make([]string, 20), UndoUntil: stamp(ptr(fixedTime.Add(7 * 24 * time.Hour)))}}
	for i := range 20 {
		out.AuditEventIDs[i] = fixedID
		ref := thingRef{rowID{fixedID, "7K3QM2", fixedID}, thingText{Name: Text(name), Path: texts([]string{"House", "Garage", fmt.Sprint("Shelf ", i)})}}
		for range 6 {
			ref.Untrusted.Aliases = append(ref.Untrusted.Aliases, Text(strings.Repeat("a", 40)))
		}
		out.Things = append(out.Things, ref)
		out.Placed = append(out.Placed, placed{Item: i, Status: inventory.PlacedFound})
	}
	return &Answer{Data: out, AsOf: fixedTime}
}

func ptr[T any](v T) *T { return &v }

func TestKE142AWriteKeepsItsNames(t *testing.T) {
	t.Parallel()
	a := manyThings(strings.Repeat("n", 60))
	if n := sizeBefore(t, a); n != 11992 {
		t.Fatalf("full size %d, want 11992", n)
	}
	got, err := encode(contractOf(t, "add_thing"), a)
	if err != nil {
		t.Fatal(err)
	}
	s := parseSent(t, got)
	if len(got) != 6634 || !slices.Equal(s.Trimmed, []string{"things[*].untrusted.aliases"}) {
		t.Errorf("sent %d bytes, trimmed %v", len(got), s.Trimmed)
	}
	if n := strings.Count(string(got), strings.Repeat("n", 60)); n != 20 {
		t.Errorf("KE-142 %d of 20 names left", n)
	}
}

func TestKE144AWriteIsNeverAnError(t *testing.T) {
	t.Parallel()
	a := manyThings(strings.Repeat("電", 200))
	if n := sizeBefore(t, a); n != 22792 {
		t.Fatalf("full size %d, want 22792", n)
	}
	got, err := encode(contractOf(t, "add_thing"), a)
	if err != nil {
		t.Fatal(err)
	}
	s := parseSent(t, got)
	if len(got) != 2892 || !slices.Equal(s.Trimmed, []string{"*"}) {
		t.Errorf("KE-145 sent %d bytes, trimmed %v", len(got), s.Trimmed)
	}
	if ids := s.Data["audit_event_ids"].([]any); len(ids) != 20 || s.Data["undo_until"] == nil || len(s.Data["things"].([]any)) != 20 {
		t.Errorf("KE-143 ids lost: %s", got)
	}
}

// TestKE144StepsBeforeTheLast checks the size between the steps that the example names.
func TestKE144StepsBeforeTheLast(t *testing.T) {
	t.Parallel()
	a := manyThings(strings.Repeat("電", 200))
	data, err := marshal(a.Data)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := parseTree(data)
	if err != nil {
		t.Fatal(err)
	}
	f := fitting{data: tree, asOf: stampText(a.AsOf), write: true}
	f.dropFields()
	want := []string{"things[*].untrusted.aliases", "not_set", "places", "things[*].untrusted.path"}
	if f.size() != 16725 || !slices.Equal(f.trimmed, want) {
		t.Errorf("after the fields %d bytes, trimmed %v", f.size(), f.trimmed)
	}
}

func TestReadThatNothingMakesSmallIsAnError(t *testing.T) {
	t.Parallel()
	a := &Answer{Data: map[string]any{"thing": map[string]any{"id": "x", "name": strings.Repeat("n", 9000)}}, AsOf: fixedTime}
	_, err := encode(contractOf(t, "get_thing"), a)
	if e, ok := err.(*Error); !ok || e.Code != "output_too_large" {
		t.Fatalf("KE-144 got %v", err)
	}
}

// wild draws an object of the kinds of keys answers have.
func wild(depth int) *rapid.Generator[map[string]any] {
	return rapid.Custom(func(t *rapid.T) map[string]any {
		keys := []string{"id", "place_id", "name", "title", "kind", "short_code", "notes", "aliases", "path", "states", "quantity", "custom", "untrusted", "placed"}
		out := map[string]any{}
		for _, key := range rapid.SliceOfNDistinct(rapid.SampledFrom(keys), 0, 7, rapid.ID).Draw(t, "keys") {
			switch key {
			case "custom":
				out[key] = map[string]any{"name": rapid.StringN(0, 300, 900).Draw(t, "custom")}
			case "untrusted":
				if depth > 0 {
					out[key] = wild(depth-1).Draw(t, "untrusted")
				}
			case "aliases", "path", "states", "placed":
				out[key] = rapid.SliceOfN(rapid.StringN(0, 60, 240), 0, 6).Draw(t, key)
			case "quantity":
				out[key] = rapid.Int().Draw(t, key)
			case "notes":
				out[key] = rapid.StringN(0, 2000, 4000).Draw(t, key)
			default:
				out[key] = rapid.StringN(0, 40, 120).Draw(t, key)
			}
		}
		return out
	})
}

func TestKE139to145AnyAnswerFits(t *testing.T) {
	t.Parallel()
	read, write := contractOf(t, "search_things"), contractOf(t, "add_thing")
	rapid.Check(t, func(t *rapid.T) {
		c, key := read, "items"
		if rapid.Bool().Draw(t, "write") {
			c, key = write, "things"
		}
		data := wild(2).Draw(t, "data")
		data[key] = rapid.SliceOfN(wild(2), 0, 20).Draw(t, "list")
		if c.write() {
			data["audit_event_ids"] = []string{fixedID}
		}
		a := &Answer{Data: data, AsOf: fixedTime, after: func(n int) (string, error) { return fmt.Sprint("after-", n), nil }}
		got, err := encode(c, a)
		if err != nil {
			if c.write() {
				t.Fatalf("KE-144 a write answered %v", err)
			}
			return
		}
		if len(got) >= AnswerLimit {
			t.Fatalf("KE-139 %d bytes", len(got))
		}
		s := parseSent(t, got)
		if slices.Contains(s.Trimmed, "*") {
			return
		}
		plain, err := json.Marshal(data)
		if err != nil {
			t.Fatal(err)
		}
		var before map[string]any
		if err := json.Unmarshal(plain, &before); err != nil {
			t.Fatal(err)
		}
		if path := lost(before, s.Data, ""); path != "" && !(strings.HasPrefix(path, "items[") && s.NextCursor != "") {
			t.Fatalf("KE-142 lost %s", path)
		}
	})
}

// lost names a protected value of before that after has not, "" for none.
func lost(before, after any, path string) string {
	switch b := before.(type) {
	case map[string]any:
		a, _ := after.(map[string]any)
		for k, v := range b {
			at := path + k
			if k == "custom" {
				continue
			}
			if _, there := a[k]; !there {
				if protected(k) || holds(v) {
					return at
				}
				continue
			}
			if p := lost(v, a[k], at+"."); p != "" {
				return p
			}
		}
	case []any:
		a, _ := after.([]any)
		for i := range b {
			if i >= len(a) {
				return fmt.Sprintf("%s[%d]", strings.TrimSuffix(path, "."), i)
			}
			if p := lost(b[i], a[i], fmt.Sprintf("%s[%d].", strings.TrimSuffix(path, "."), i)); p != "" {
				return p
			}
		}
	default:
		if fmt.Sprint(before) != fmt.Sprint(after) {
			return path + " (changed)"
		}
	}
	return ""
}

func holds(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			if protected(k) || k != "custom" && holds(e) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, holds)
	}
	return false
}
