package inventory

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"
)

const lampFields = `[{"key":"text","label":"","kind":"text","max_length":3},{"key":"num","label":"","kind":"number","min":-1.5,"max":2},
	{"key":"int","label":"","kind":"integer"},{"key":"flag","label":"","kind":"boolean","required":true},{"key":"day","label":"","kind":"date"},
	{"key":"pick","label":"","kind":"choice","choices":["a","b"]},{"key":"link","label":"","kind":"url"},{"key":"pin","label":"","kind":"secret","required":true}]`

func TestMergeCustom(t *testing.T) {
	t.Parallel()
	var defs []FieldDef
	if err := json.Unmarshal([]byte(lampFields), &defs); err != nil {
		t.Fatal(err)
	}
	stored := map[string]any{"text": "old", "flag": true}
	for _, c := range []struct{ sent, want, bad string }{
		{`{"text":" é\r\n "}`, `{"flag":true,"text":"é"}`, ""},
		{`{"text":null,"num":1.50}`, `{"flag":true,"num":1.5}`, ""},
		{`{"text":"abcd"}`, "", "custom.text"}, {`{"text":1}`, "", "custom.text"}, {`{"text":""}`, "", "custom.text"},
		{`{"num":-1.6}`, "", "custom.num"}, {`{"num":2.0001}`, "", "custom.num"}, {`{"num":"1"}`, "", "custom.num"}, {`{"num":0.00001}`, "", "custom.num"},
		{`{"int":3.0}`, `{"flag":true,"int":3,"text":"old"}`, ""}, {`{"int":3.5}`, "", "custom.int"},
		{`{"flag":false}`, `{"flag":false,"text":"old"}`, ""}, {`{"flag":"true"}`, "", "custom.flag"},
		{`{"day":"2026-02-28"}`, `{"day":"2026-02-28","flag":true,"text":"old"}`, ""}, {`{"day":"2026-02-30"}`, "", "custom.day"}, {`{"day":"2026-2-3"}`, "", "custom.day"},
		{`{"pick":"a"}`, `{"flag":true,"pick":"a","text":"old"}`, ""}, {`{"pick":"c"}`, "", "custom.pick"},
		{`{"link":"https://e.example/x"}`, `{"flag":true,"link":"https://e.example/x","text":"old"}`, ""}, {`{"link":"javascript:alert(1)"}`, "", "custom.link"},
		{`{"link":"https:///x"}`, "", "custom.link"}, {`{"link":"https://e.example/` + strings.Repeat("x", 500) + `"}`, "", "custom.link"},
		{`{"pin":"1234"}`, "", "custom.pin"}, {`{"width_cm":1}`, "", "custom.width_cm"}, {`{"Do this!":1}`, "", "custom"},
	} {
		var sent map[string]json.RawMessage
		if err := json.Unmarshal([]byte(c.sent), &sent); err != nil {
			t.Fatal(err)
		}
		got, bad := mergeCustom(defs, maps.Clone(stored), sent, "custom")
		switch {
		case c.bad != "" && (len(bad) != 1 || bad[0].Path != c.bad):
			t.Errorf("KE-63 KE-67 %s: %v, want a complaint about %s", c.sent, bad, c.bad)
		case c.bad == "" && len(bad) > 0:
			t.Errorf("KE-63 KE-67 %s: %v", c.sent, bad)
		case c.bad == "":
			if b, _ := json.Marshal(got); string(b) != c.want {
				t.Errorf("KE-63 KE-67 %s gives %s, want %s", c.sent, b, c.want)
			}
		}
	}
	if missing := missingFields(defs, map[string]any{"text": "x"}, "custom"); len(missing) != 1 || missing[0].Path != "custom.flag" {
		t.Errorf("KE-67 required: %v; a secret is set on its own page", missing)
	}
	if kept := keepKnown(defs[:1], map[string]any{"text": "x", "num": 1}); len(kept) != 1 {
		t.Errorf("a value without a field stays: %v", kept)
	}
}
