package toolgrant_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gatehouse/app/toolgrant"
)

const resource = "https://home.example/mcp"

var catalog = toolgrant.Catalog{
	{Name: "find", Arguments: []toolgrant.Argument{{"limit", toolgrant.Number}, {"query", toolgrant.String}, {"all", toolgrant.Boolean}}},
	{Name: "look", Arguments: []toolgrant.Argument{{"id", toolgrant.String}}},
	{Name: "move", Write: true, Arguments: []toolgrant.Argument{{"id", toolgrant.String}, {"count", toolgrant.Number}}},
	{Name: "make", Write: true},
}

func object(rest string) []json.RawMessage {
	return []json.RawMessage{json.RawMessage(fmt.Sprintf(`{"type":"mcp_tools","locations":[%q]%s}`, resource, rest))}
}

func parse(t testing.TB, rest string) *toolgrant.Grant {
	t.Helper()
	g, err := toolgrant.Parse(resource, catalog, object(rest))
	if err != nil {
		t.Fatalf("%s: %v", rest, err)
	}
	return g
}

func TestParse(t *testing.T) {
	t.Parallel()
	t.Run("RA-1 what is not exactly right is refused, and not repeated", func(t *testing.T) {
		t.Parallel()
		for _, bad := range []string{
			``, `,"tools":[]`, `,"tools":null`, `,"tools":["secret"]`, `,"tools":"find"`, `,"Tools":["find"]`, `,"actions":["find"]`, `,"read_only":false`, `,"read_only":"yes"`,
			`,"read_only":true,"tools":["move"]`, `,"tools":["find"],"limits":{"move":{"count":{"maximum":1}}}`, `,"limits":{"find":{"secret":{"maximum":1}}}`,
			`,"limits":{"find":{"query":{"maximum":1}}}`, `,"limits":{"find":{"limit":{}}}`, `,"limits":{"find":{"limit":{"values":["5"]}}}`, `,"limits":{"find":{"limit":{"values":[]}}}`,
			`,"limits":{"find":{"limit":{"values":[1],"maximum":2}}}`, `,"limits":{"find":{"limit":{"maximum":9007199254740993}}}`, `,"limits":{"find":{"query":{"values":[{}]}}}`,
			`,"limits":{"find":{"limit":{"minimum":1}}}`, `,"read_only":true,"limits":{"move":{"count":{"maximum":1}}}`, `,"tools":["find"],"tools":["move"]`,
		} {
			g, err := toolgrant.Parse(resource, catalog, object(bad))
			if err == nil {
				t.Errorf("%s gave %+v", bad, g)
			} else if strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: the refusal repeats it: %v", bad, err)
			}
		}
		for name, objects := range map[string][]json.RawMessage{
			"two": append(object(`,"tools":["find"]`), object(`,"tools":["look"]`)...), "none": nil,
			"another resource": {json.RawMessage(`{"type":"mcp_tools","locations":["https://x.example"],"tools":["find"]}`)},
			"no resource":      {json.RawMessage(`{"type":"mcp_tools","tools":["find"]}`)},
		} {
			if _, err := toolgrant.Parse(resource, catalog, objects); err == nil {
				t.Errorf("%s is accepted", name)
			}
		}
	})
	t.Run("RA-2 equal rights are equal bytes", func(t *testing.T) {
		t.Parallel()
		a, err := toolgrant.CheckObjects(resource, catalog, object(`,"tools":["look","find","find"],"limits":{"find":{"limit":{"values":[3,1,3]}}}`))
		if err != nil {
			t.Fatal(err)
		}
		b, err := toolgrant.CheckObjects(resource, catalog, object(`,"limits":{"find":{"limit":{"values":[1.0,3]}}},"tools":["find","look"]`))
		if err != nil || string(a[0]) != string(b[0]) {
			t.Errorf("%s and %s: %v", a[0], b[0], err)
		}
	})
}

func TestCalls(t *testing.T) {
	t.Parallel()
	g := parse(t, `,"tools":["find","move"],"limits":{"find":{"limit":{"maximum":5},"query":{"values":["a","b"]},"all":{"values":[true]}}}`)
	for arguments, refused := range map[string]string{
		`{"limit":5,"query":"a","all":true}`: "", `{"limit":-1,"query":"b","all":true,"more":1}`: "",
		`{"limit":5.5,"query":"a","all":true}`: "limit", `{"limit":"5","query":"a","all":true}`: "limit", `{"query":"a","all":true}`: "limit",
		`{"limit":1,"query":"A","all":true}`: "query", `{"limit":1,"query":["a"],"all":true}`: "query", `{"limit":1,"query":null,"all":true}`: "query",
		`{"limit":1,"query":"a","all":false}`: "all", `{"limit":1,"limit":9,"query":"a","all":true}`: "all", `{"Limit":1,"query":"a","all":true}`: "limit",
		`{"limit":1e999,"query":"a","all":true}`: "all", `nonsense`: "all", ``: "all",
	} {
		if name, _, no := g.Refused("find", json.RawMessage(arguments)); no != (refused != "") || name != refused {
			t.Errorf("RA-3 %s: refused %v for %q, want %q", arguments, no, name, refused)
		}
	}
	if _, _, no := g.Refused("move", json.RawMessage(`nonsense`)); no {
		t.Error("a tool without limits is refused")
	}
	if g.Allows("look", false) || !g.Allows("move", true) || parse(t, `,"read_only":true`).Allows("make", true) {
		t.Error("RA-3 the list and read_only do not hold")
	}
	var open *toolgrant.Grant
	if !open.Allows("make", true) || open.Limited("make") {
		t.Error("no grant takes something away")
	}
}

// grants draws grants of the catalog, none among them.
func grants() *rapid.Generator[*toolgrant.Grant] {
	return rapid.Custom(func(t *rapid.T) *toolgrant.Grant {
		if rapid.IntRange(0, 9).Draw(t, "none") == 0 {
			return nil
		}
		g := &toolgrant.Grant{ReadOnly: rapid.Bool().Draw(t, "read_only"), Listed: rapid.Bool().Draw(t, "listed")}
		for _, tool := range catalog {
			if g.Listed && rapid.Bool().Draw(t, tool.Name) && !(g.ReadOnly && tool.Write) {
				g.Tools = append(g.Tools, tool.Name)
			}
		}
		slices.Sort(g.Tools)
		if g.Allows("find", false) && rapid.Bool().Draw(t, "limited") {
			rules := map[string]toolgrant.Rule{}
			if rapid.Bool().Draw(t, "maximum") {
				n := float64(rapid.IntRange(0, 3).Draw(t, "n"))
				rules["limit"] = toolgrant.Rule{Maximum: &n}
			}
			if values := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c"}), 1, 3, rapid.ID).Draw(t, "values"); len(rules) == 0 || rapid.Bool().Draw(t, "both") {
				slices.Sort(values)
				rule := toolgrant.Rule{}
				for _, v := range values {
					rule.Values = append(rule.Values, v)
				}
				rules["query"] = rule
			}
			g.Limits = map[string]map[string]toolgrant.Rule{"find": rules}
		}
		return g
	})
}

// passes reports whether a call gets through.
func passes(g *toolgrant.Grant, tool toolgrant.Tool, arguments string) bool {
	_, _, refused := g.Refused(tool.Name, json.RawMessage(arguments))
	return g.Allows(tool.Name, tool.Write) && !refused
}

func calls(do func(tool toolgrant.Tool, arguments string)) {
	for _, tool := range catalog {
		for limit := range 5 {
			for _, query := range []string{"a", "b", "c", "d"} {
				do(tool, fmt.Sprintf(`{"limit":%d,"query":%q}`, limit, query))
			}
		}
		do(tool, `{}`)
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := grants().Draw(t, "a"), grants().Draw(t, "b")
		met, joined, within := toolgrant.Meet(a, b), toolgrant.Join(a, b, catalog), toolgrant.Within(a, b, catalog)
		explicit := a.Explicit(catalog)
		calls(func(tool toolgrant.Tool, arguments string) {
			inA, inB := passes(a, tool, arguments), passes(b, tool, arguments)
			if passes(met, tool, arguments) != (inA && inB) {
				t.Fatalf("RA-2 meet of %+v and %+v is %+v: %s %s", a, b, met, tool.Name, arguments)
			}
			if within && inA && !inB {
				t.Fatalf("RA-2 %+v is called within %+v: %s %s", a, b, tool.Name, arguments)
			}
			if passes(joined, tool, arguments) && !inA && !inB {
				t.Fatalf("GM-2 join of %+v and %+v is %+v: %s %s", a, b, joined, tool.Name, arguments)
			}
			if inB && !passes(joined, tool, arguments) {
				t.Fatalf("GM-2 join of %+v and %+v lost what was added, %+v: %s %s", a, b, joined, tool.Name, arguments)
			}
			if inA != passes(explicit, tool, arguments) {
				t.Fatalf("%+v made explicit is %+v", a, explicit)
			}
		})
		if !toolgrant.Within(met, b, catalog) || !toolgrant.Within(a, a, catalog) {
			t.Fatalf("RA-2 the meet %+v is not within %+v", met, b)
		}
		raw, err := met.Details(resource)
		if met == nil {
			return
		}
		back, readErr := toolgrant.FromDetails(raw)
		if err != nil || readErr != nil {
			t.Fatal(err, readErr)
		}
		calls(func(tool toolgrant.Tool, arguments string) {
			if passes(back, tool, arguments) != passes(met, tool, arguments) {
				t.Fatalf("%+v came back as %+v through %s", met, back, raw)
			}
		})
	})
}

func TestChooseAndRules(t *testing.T) {
	t.Parallel()
	listed := parse(t, `,"tools":["find","move"],"limits":{"find":{"limit":{"maximum":5}}}`)
	if g := listed.Choose([]string{"move"}, listed.Limits); !slices.Equal(g.Tools, []string{"move"}) || g.Limited("find") {
		t.Errorf("chosen %+v", g)
	}
	var none *toolgrant.Grant
	if g := none.Choose([]string{"find"}, nil); g != nil {
		t.Errorf("ticks without a list gave %+v", g)
	}
	for text, want := range map[string]string{"1, 2,,1": "1, 2", "x": "", "": ""} {
		r, err := toolgrant.ReadRule(toolgrant.Argument{Name: "limit", Kind: toolgrant.Number}, false, text)
		if (err == nil) != (want != "") || err == nil && r.Text() != want {
			t.Errorf("%q: %q %v", text, r.Text(), err)
		}
	}
	if _, err := toolgrant.ReadRule(toolgrant.Argument{Name: "query", Kind: toolgrant.String}, true, "5"); err == nil {
		t.Error("a text has a maximum")
	}
	if _, err := toolgrant.ReadRule(toolgrant.Argument{Name: "limit", Kind: toolgrant.Number}, true, "NaN"); err == nil {
		t.Error("NaN is a maximum")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(object(`,"tools":["find"],"limits":{"find":{"limit":{"maximum":5}}}`)[0]), []byte(`{"limit":3}`))
	f.Add([]byte(`{"type":"mcp_tools"}`), []byte(`{"a":{"a":1}}`))
	f.Fuzz(func(t *testing.T, text, arguments []byte) {
		checked, err := toolgrant.CheckObjects(resource, catalog, []json.RawMessage{text})
		if err != nil {
			return
		}
		again, err := toolgrant.CheckObjects(resource, catalog, checked)
		if err != nil || string(again[0]) != string(checked[0]) {
			t.Fatalf("normal form %s became %s: %v", checked[0], again, err)
		}
		g, err := toolgrant.FromObjects(checked)
		if err != nil || !toolgrant.Within(g, g, catalog) {
			t.Fatalf("%s: %v", checked[0], err)
		}
		for _, tool := range catalog {
			g.Refused(tool.Name, arguments)
		}
	})
}
