package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"gatehouse/mcp"
)

type colour string

func (colour) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Enum: []any{"red", "blue"}}
}

type inner struct {
	Name  string   `json:"name" mcp:"min=1"`
	Value *float64 `json:"value,omitempty" mcp:"min=0.5"`
}

type wide struct {
	ID     string            `json:"id" mcp:"format=uuid"`
	Kind   string            `json:"kind" jsonschema:"what it is" mcp:"enum=a|b"`
	Limit  *int              `json:"limit,omitempty" mcp:"min=1,max=200,default=20"`
	Items  []inner           `json:"items" mcp:"min=1,max=2"`
	Note   *string           `json:"note,omitempty" mcp:"null,max=5"`
	Labels map[string]string `json:"labels,omitempty" mcp:"each.max=3"`
	Code   string            `json:"code,omitempty" mcp:"pattern=^[a-z]{1,2}$"`
	Colour colour            `json:"colour,omitempty"`
	Tags   []string          `json:"tags,omitempty" mcp:"unique"`
	At     time.Time         `json:"at,omitzero"`
}

func TestInputSchemaFor(t *testing.T) {
	t.Parallel()
	got, err := mcp.InputSchemaFor[wide]()
	if err != nil {
		t.Fatal(err)
	}
	want := `{"type":"object","properties":{
"id":{"type":"string","format":"uuid"},
"kind":{"type":"string","description":"what it is","enum":["a","b"]},
"limit":{"type":"integer","default":20,"minimum":1,"maximum":200},
"items":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string","minLength":1},"value":{"type":"number","minimum":0.5}},"required":["name"],"additionalProperties":false},"minItems":1,"maxItems":2},
"note":{"type":["string","null"],"maxLength":5},
"labels":{"type":"object","additionalProperties":{"type":"string","maxLength":3}},
"code":{"type":"string","pattern":"^[a-z]{1,2}$"},
"colour":{"type":"string","enum":["red","blue"]},
"tags":{"type":"array","items":{"type":"string"},"uniqueItems":true},
"at":{"type":"string"}},
"required":["id","kind","items"],"additionalProperties":false}`
	if want = strings.ReplaceAll(want, "\n", ""); string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

const goodID = `"id":"0193a0f0-0000-7000-8000-000000000001"`

func TestArguments(t *testing.T) {
	t.Parallel()
	schema, err := mcp.InputSchemaFor[wide]()
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := mcp.CompileSchema(schema)
	if err != nil {
		t.Fatal(err)
	}
	base := goodID + `,"kind":"a","items":[{"name":"x"}]`
	tests := []struct {
		name, args string
		want       string // "path message; …", "" when accepted
		clean      string // what the handler sees, "" when as sent
	}{
		{"all good", base + `,"limit":5,"note":"n","labels":{"a":"b"},"code":"ab","colour":"red","tags":["a","b"]`, "", ""},
		{"missing, one entry each", `"kind":"a"`, "must have required property 'id'; must have required property 'items'", ""},
		{"unknown, one entry", base + `,"x":1`, "must NOT have additional properties", ""},
		{"case matters", base + `,"LIMIT":1`, "must NOT have additional properties", ""},
		{"nested path", goodID + `,"kind":"a","items":[{"name":""}]`, "items[0].name must NOT have fewer than 1 characters", ""},
		{"no coercion", base + `,"limit":"5"`, "limit must be integer", ""},
		{"bounds", base + `,"limit":0`, "limit must be >= 1", ""},
		{"bounds above", base + `,"limit":201`, "limit must be <= 200", ""},
		{"fraction bound", goodID + `,"kind":"a","items":[{"name":"x","value":0.25}]`, "items[0].value must be >= 0.5", ""},
		{"enum", goodID + `,"kind":"c","items":[{"name":"x"}]`, "kind must be equal to one of the allowed values", ""},
		{"format", `"id":"1","kind":"a","items":[{"name":"x"}]`, `id must match format "uuid"`, ""},
		{"pattern", base + `,"code":"ABC"`, `code must match pattern "^[a-z]{1,2}$"`, ""},
		{"map value", base + `,"labels":{"a/b":"long"}`, `labels.a/b must NOT have more than 3 characters`, ""},
		{"too many items", goodID + `,"kind":"a","items":[{"name":"x"},{"name":"x"},{"name":"x"}]`, "items must NOT have more than 2 items", ""},
		{"unique", base + `,"tags":["a","a"]`, "tags must NOT have duplicate items (items ## 0 and 1 are identical)", ""},
		{"null where nothing", `"id":null,"kind":"a","items":[{"name":"x"}]`, "id must be string", ""},
		{"null on an optional property is absent", `"id":"0193a0f0-0000-7000-8000-000000000001","items":[{"name":"x","value":null}],"kind":"a","limit":null`,
			"", `{"id":"0193a0f0-0000-7000-8000-000000000001","items":[{"name":"x"}],"kind":"a"}`},
		{"null with a meaning stays", base + `,"note":null`, "", ""},
		{"1.0 is an integer", `"id":"0193a0f0-0000-7000-8000-000000000001","items":[{"name":"x"}],"kind":"a","limit":1e1`,
			"", `{"id":"0193a0f0-0000-7000-8000-000000000001","items":[{"name":"x"}],"kind":"a","limit":10}`},
		// A null or a 1.0 has the arguments rewritten; that must not hide what the decoder refuses.
		{"given twice beside a null", base + `,"note":"a","note":"b","limit":null`, "note must NOT be given twice", ""},
		{"given twice in a map beside a null", base + `,"labels":{"a":"b","a":"c"},"limit":1.0`, "labels.a must NOT be given twice", ""},
		{"half a surrogate pair beside a null", base + `,"note":"\ud800","limit":null`, "note must be well-formed text", ""},
		{"1.5 is not", base + `,"limit":1.5`, "limit must be integer", ""},
		{"absurd number", base + `,"limit":1e999999999`, "limit must be a number of ordinary size", ""},
		{"several, ordered", `"id":"1","kind":"c","items":[{"name":""}]`,
			`id must match format "uuid"; items[0].name must NOT have fewer than 1 characters; kind must be equal to one of the allowed values`, ""},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			sent := json.RawMessage(`{` + tc.args + `}`)
			clean, err := compiled.Check(sent)
			if tc.want == "" {
				want := tc.clean
				if want == "" {
					want = string(sent)
				}
				if err != nil || string(clean) != want {
					t.Errorf("got %s, %v\nwant %s", clean, err, want)
				}
				return
			}
			if err == nil || err.Error() != "invalid arguments: "+tc.want {
				t.Errorf("got  %v\nwant invalid arguments: %s", err, tc.want)
			}
		})
	}
}

func TestInstancePath(t *testing.T) {
	t.Parallel()
	s, err := mcp.CompileSchema(json.RawMessage(`{"type":"object","properties":{"a/b~c":{"type":"array","items":{"type":"string"}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Check(json.RawMessage(`{"a/b~c":["x",1]}`))
	args, ok := errors.AsType[*mcp.ArgumentError](err)
	if !ok || len(args.Fields) != 1 || args.Fields[0].InstancePath != "/a~1b~0c/1" || args.Fields[0].Path() != "a/b~c[1]" {
		t.Errorf("got %+v", err)
	}
}

// TestWordings pins the sentences that do not come up above.
func TestWordings(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ schema, value, want string }{
		{`{"type":["string","null"]}`, `1`, "must be string,null"},
		{`{"const":1}`, `2`, "must be equal to constant"},
		{`{"exclusiveMinimum":1}`, `1`, "must be > 1"},
		{`{"exclusiveMaximum":1}`, `1`, "must be < 1"},
		{`{"multipleOf":5}`, `3`, "must be multiple of 5"},
		{`{"minItems":2}`, `[1]`, "must NOT have fewer than 2 items"},
		{`{"minProperties":2}`, `{"a":1}`, "must NOT have fewer than 2 properties"},
		{`{"maxProperties":0}`, `{"a":1}`, "must NOT have more than 0 properties"},
		{`{"contains":{"type":"string"}}`, `[1]`, "must contain at least 1 valid item(s)"},
		{`{"oneOf":[{"type":"string"},{"type":"null"}]}`, `1`, "must match exactly one schema in oneOf"},
		{`{"anyOf":[{"type":"string"},{"type":"null"}]}`, `1`, "must match a schema in anyOf"},
		{`{"allOf":[{"type":"string"}]}`, `1`, "must be string"},
		{`{"not":{}}`, `1`, "must NOT be valid"},
		{`{"properties":{"a":false}}`, `{"a":1}`, "a boolean schema is false"},
		{`{"propertyNames":{"maxLength":1}}`, `{"ab":1}`, "property name must be valid"},
		{`{"dependentRequired":{"a":["b"]}}`, `{"a":1}`, "must have property b when property a is present"},
		{`{"$ref":"#/$defs/s","$defs":{"s":{"type":"string"}}}`, `1`, "must be string"},
		{`true`, `{`, "must be valid JSON"},
	} {
		s, err := mcp.CompileSchema(json.RawMessage(tc.schema))
		if err != nil {
			t.Errorf("%s: %v", tc.schema, err)
			continue
		}
		if _, err = s.Check(json.RawMessage(tc.value)); err == nil || err.Error() != "invalid arguments: "+tc.want {
			t.Errorf("%s: got %v, want %s", tc.schema, err, tc.want)
		}
	}
}

func TestArgumentErrorsLimit(t *testing.T) {
	t.Parallel()
	s, err := mcp.CompileSchema(json.RawMessage(`{"items":{"type":"string"}}`))
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Check(json.RawMessage(`[` + strings.Repeat("1,", 50) + `1]`))
	args, ok := errors.AsType[*mcp.ArgumentError](err)
	if !ok || len(args.Fields) != 20 {
		t.Errorf("got %v", err)
	}
}

func TestSchemaErrors(t *testing.T) {
	t.Parallel()
	ok := func(context.Context, *mcp.Call, json.RawMessage) (any, error) { return nil, nil }
	for name, tc := range map[string]struct {
		schema any
		want   string
	}{
		"not JSON":          {`{`, "not JSON"},
		"no schema":         {`{"type":7}`, `root must have "type": "object"`},
		"root not object":   {`{"type":"string"}`, `root must have "type": "object"`},
		"a boolean":         {`true`, "not an object schema"},
		"broken inside":     {`{"type":"object","properties":{"a":{"type":"wrong"}}}`, "input schema"},
		"leads to a file":   {`{"type":"object","properties":{"a":{"$ref":"file:///etc/passwd"}}}`, "leads out of the schema"},
		"leads to the net":  {`{"type":"object","properties":{"a":{"$ref":"https://example.com/s"}}}`, "leads out of the schema"},
		"no schema at all":  {nil, "give ToolSpec.InputSchema"},
		"pattern not RE2":   {`{"type":"object","properties":{"a":{"pattern":"(?=x)"}}}`, "input schema"},
		"cannot be encoded": {func() {}, "input schema"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := mcp.NewTool(mcp.ToolSpec{Name: "x", Description: "d", InputSchema: tc.schema}, ok)
			if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), `tool "x"`) {
				t.Errorf("err = %v, want %q", err, tc.want)
			}
		})
	}
	type badTag struct {
		A string `json:"a" mcp:"mim=1"`
	}
	_, err := mcp.InputSchemaFor[badTag]()
	if err == nil || !strings.Contains(err.Error(), `unknown key "mim=1"`) {
		t.Errorf("bad tag: %v", err)
	}
}

// TestHandlerInput follows arguments into the handler.
func TestHandlerInput(t *testing.T) {
	t.Parallel()
	var raw string
	var typed wide
	given := `{"type":"object","properties":{"a":{"type":"integer"}},"additionalProperties":true}`
	s := newServer(t, mcp.WithTools(
		tool(t, mcp.ToolSpec{Name: "raw", InputSchema: given}, func(_ context.Context, c *mcp.Call, in json.RawMessage) (any, error) {
			raw = string(in)
			return nil, nil
		}),
		tool(t, mcp.ToolSpec{Name: "typed"}, func(_ context.Context, _ *mcp.Call, in wide) (any, error) { typed = in; return nil, nil }),
		tool(t, mcp.ToolSpec{Name: "loose", InputSchema: given}, func(_ context.Context, _ *mcp.Call, in struct {
			A int8 `json:"a"`
		}) (int8, error) {
			return in.A, nil
		}),
	))
	result(t, call(s, "raw", `{"a":null,"b":1}`), &struct{}{})
	if raw != `{"b":1}` {
		t.Errorf("raw = %s", raw)
	}
	result(t, call(s, "raw", `null`), &struct{}{})
	if raw != `{}` {
		t.Errorf("raw without arguments = %s", raw)
	}
	wantError(t, call(s, "raw", `[]`), 400, mcp.CodeInvalidParams)
	result(t, call(s, "typed", `{`+goodID+`,"kind":"a","items":[{"name":"x","value":1.5}],"limit":1.0,"note":null}`), &struct{}{})
	if typed.Limit == nil || *typed.Limit != 1 || *typed.Items[0].Value != 1.5 || typed.Note != nil {
		t.Errorf("typed = %+v", typed)
	}
	var res callResult
	for args, want := range map[string]string{
		`{"a":300}`:        "Invalid arguments: a must be a number of the expected range",
		`{"a":1,"a":2}`:    "Invalid arguments: a must NOT be given twice",
		`{"a":"x"}`:        "Invalid arguments: a must be integer",
		`{"b":"\ud800"}`:   "Invalid arguments: b must be well-formed text",
		`{"A":5}`:          "0",
		`{"a":5,"A":6}`:    "5",
		`{"a":5,"b":null}`: "5",
	} {
		result(t, call(s, "loose", args), &res)
		if got := res.Content[0].Text; got != want {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
	}
}
