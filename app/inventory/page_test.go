package inventory

import (
	"encoding/json"
	"slices"
	"testing"
)

func TestPageOf(t *testing.T) {
	t.Parallel()
	all := []string{"a", "b", "c", "d", "e"}
	id := func(s string) string { return s }
	for _, c := range []struct {
		after string
		limit int
		want  []string
		more  bool
	}{
		{"", 2, []string{"a", "b"}, true},
		{"2.b", 2, []string{"c", "d"}, true},
		{"4.d", 2, []string{"e"}, false},
		{"5.e", 2, nil, false},
		{"1.d", 2, []string{"e"}, false},         // the entry moved
		{"3.gone", 9, []string{"d", "e"}, false}, // the entry is gone
		{"99.gone", 9, nil, false},
	} {
		p, err := pageOf(all, id, Paging{After: c.after, Limit: c.limit})
		if err != nil || !slices.Equal(p.Items, c.want) || p.More != c.more {
			t.Errorf("KE-19 after %q: %v %v %v", c.after, p.Items, p.More, err)
		}
	}
	for _, p := range []Paging{{After: "b"}, {After: "-1.b"}, {After: "x.b"}, {Limit: -1}, {Limit: 201}, {After: "99999999999999999999.b"}} {
		if _, err := pageOf(all, id, p); err == nil {
			t.Errorf("KE-19 %+v is taken", p)
		}
	}
}

func FuzzPosition(f *testing.F) {
	f.Add("2.b")
	f.Add("-1.")
	f.Fuzz(func(t *testing.T, after string) {
		from, limit, err := Paging{After: after}.start()
		if err != nil {
			return
		}
		again, _, err := Paging{After: from.String()}.start()
		if err != nil || again != from || limit != defaultLimit || from.skip < 0 {
			t.Fatalf("%q reads as %+v, that as %+v (%v)", after, from, again, err)
		}
	})
}

func FuzzCustom(f *testing.F) {
	var defs []FieldDef
	if err := json.Unmarshal([]byte(lampFields), &defs); err != nil {
		f.Fatal(err)
	}
	for _, s := range []string{`{"text":"a"}`, `{"num":1.5,"int":2}`, `{"day":"2026-02-28","pick":"a","link":"https://e.example/"}`, `{"pin":null}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var sent map[string]json.RawMessage
		if json.Unmarshal(b, &sent) != nil {
			return
		}
		got, bad := mergeCustom(defs, nil, sent, "custom")
		if _, ok := got["pin"]; ok {
			t.Fatal("a secret is stored among the custom values")
		}
		if len(bad) > 0 {
			return
		}
		text, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		var again map[string]json.RawMessage
		if err := json.Unmarshal(text, &again); err != nil {
			t.Fatal(err)
		}
		twice, bad := mergeCustom(defs, nil, again, "custom")
		if text2, _ := json.Marshal(twice); len(bad) > 0 || string(text2) != string(text) {
			t.Fatalf("%s is stored as %s, that as %s (%v)", b, text, text2, bad)
		}
	})
}

func TestPatch(t *testing.T) {
	t.Parallel()
	var f UpdateFields
	if err := json.Unmarshal([]byte(`{"model":null,"serial":"x","name":null}`), &f); err != nil {
		t.Fatal(err)
	}
	if !f.Model.Set || f.Model.Value != nil || *f.Serial.Value != "x" || f.Notes.Set || f.Name != nil {
		t.Errorf("KE-59 %+v", f)
	}
}
