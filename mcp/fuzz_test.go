package mcp

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"unicode/utf8"

	santhosh "github.com/santhosh-tekuri/jsonschema/v6"
)

// FuzzEnvelope holds that the reader agrees with encoding/json on what is
// JSON, and that what it hands out is.
func FuzzEnvelope(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"x":[1,-2.5e3,"\ud83d\ude00",null,true]},"_meta":{"progressToken":1}}}`,
		`{"jsonrpc":"2.0","id":"a","method":"ping"}`, `{"jsonrpc":"2.0","id":null}`, `[]`, `{`, `{"a":1}x`, "\"\\u12\"", `{"id":1,"id":2}`,
		`{"jsonrpc":"2.0","\u006dethod":"x","id":1}`, "{\"a\":\"\xff\"}", ` 1 `, `-`, `1.`, `01`, `nul`, `{"a" : }`, "\x00",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		const depth = 200
		env, rerr := parseEnvelope(data, depth)
		valid := json.Valid(data) && utf8.Valid(data)
		if rerr == nil && !valid {
			t.Fatalf("accepted %q", data)
		}
		if valid && rerr != nil && rerr.Code == CodeParseError {
			t.Fatalf("refused valid JSON %q: %v", data, rerr)
		}
		if rerr != nil {
			return
		}
		for _, part := range []json.RawMessage{env.id, env.params, env.fields.arguments, env.fields.meta, env.fields.name} {
			if part != nil && !json.Valid(part) {
				t.Fatalf("handed out %q of %q", part, data)
			}
		}
		if env.fields.hasName {
			var want string
			if err := json.Unmarshal(env.fields.name, &want); err != nil || want != string(unquote(env.fields.name)) {
				t.Fatalf("unquote(%s) = %q, want %q", env.fields.name, unquote(env.fields.name), want)
			}
		}
		_, _ = parseMeta(env.fields.meta)
	})
}

// FuzzDecodeHeader holds that what was encoded comes back, and that only text
// comes out.
func FuzzDecodeHeader(f *testing.F) {
	for _, seed := range []string{"greet", "=?base64?Z3JlZXQ=?=", "=?base64??=", "=?base64?!?=", "käse", " a ", "=?base64?Z3JlZXQ=", "\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, v string) {
		if got, ok := decodeHeader(v); ok && !utf8.ValidString(got) {
			t.Fatalf("decodeHeader(%q) = %q", v, got)
		}
		if !utf8.ValidString(v) {
			return
		}
		encoded := "=?base64?" + base64.StdEncoding.EncodeToString([]byte(v)) + "?="
		if got, ok := decodeHeader(encoded); !ok || got != v {
			t.Fatalf("decodeHeader(%q) = %q, %v; want %q", encoded, got, ok, v)
		}
	})
}

// FuzzAppendString holds that encoding and decoding a string is the identity.
func FuzzAppendString(f *testing.F) {
	for _, seed := range []string{"", "a\"b\\", "\x00\x1f\n", "é\u2028😀", "\xff\xc3"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text := appendString(nil, s)
		var got string
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if want := string(bytes.ToValidUTF8([]byte(s), []byte("\ufffd"))); utf8.ValidString(s) && got != want {
			t.Fatalf("%q came back as %q", s, got)
		}
		if !bytes.Equal(text, appendString(nil, []byte(s))) {
			t.Fatal("bytes and string differ")
		}
	})
}

const fuzzSchema = `{"type":"object","required":["n","s"],"additionalProperties":false,"properties":{
"n":{"type":"integer","minimum":-3,"maximum":900719925474099},"s":{"type":"string","minLength":1,"maxLength":3},
"f":{"type":"number","maximum":1.5},"e":{"type":"string","enum":["a","b"]},"z":{"type":["string","null"]},
"l":{"type":"array","minItems":1,"maxItems":2,"items":{"type":"object","properties":{"b":{"type":"boolean"}},"required":["b"]}},
"m":{"type":"object","additionalProperties":{"type":"string","pattern":"^a"}},"any":{}}}`

// FuzzFastPath holds the one promise of the fast path: what it accepts, the
// full validator accepts.
func FuzzFastPath(f *testing.F) {
	schema, err := CompileSchema(json.RawMessage(fuzzSchema))
	if err != nil || schema.fast == nil {
		f.Fatalf("no fast path: %v", err)
	}
	for _, seed := range []string{
		`{"n":1,"s":"abc"}`, `{"n":1.0,"s":"a"}`, `{"n":-4,"s":"a"}`, `{"n":1,"s":"ää\u00e4"}`, `{"n":1,"s":"a","f":1.5}`, `{"n":1,"s":"a","f":2e9}`,
		`{"n":1,"s":"a","e":"\u0061"}`, `{"n":1,"s":"a","z":null}`, `{"n":1,"s":"a","l":[{"b":true}]}`, `{"n":1,"s":"a","m":{"k":"ab"},"any":[null]}`,
		`{"n":1,"n":2,"s":"a"}`, `{"n":-0,"s":"\ud800"}`, `{"n":1,"s":"a","f":-}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if !json.Valid(data) || !utf8.Valid(data) {
			return // arguments are valid JSON by the time they are checked
		}
		sc := scanner{data: data, depth: maxFastDepth}
		if !schema.fast.accepts(&sc) {
			return
		}
		doc, err := santhosh.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.full.Validate(doc); err != nil {
			t.Fatalf("fast path accepted %s: %v", data, err)
		}
	})
}

// FuzzServe holds that every answer is JSON, whatever comes in.
func FuzzServe(f *testing.F) {
	tool := MustTool(ToolSpec{Name: "t", Description: "d", InputSchema: fuzzSchema},
		func(_ context.Context, _ *Call, in json.RawMessage) (json.RawMessage, error) { return in, nil })
	s, err := NewServer(Implementation{Name: "n", Version: "v"}, WithTools(tool))
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"n":1,"s":"a","z":null,"f":null}}}`), "", "", "")
	f.Add([]byte(`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`), "2025-03-26", "ping", "x")
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`), "2026-07-28", "tools/call", "t")
	f.Fuzz(func(t *testing.T, body []byte, version, method, name string) {
		r := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(body))
		r.Header = http.Header{"Content-Type": {"application/json"}, headerMethod: {method}, headerName: {name}}
		if version != "" {
			r.Header[headerVersion] = []string{version}
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code == http.StatusAccepted && w.Body.Len() == 0 {
			return
		}
		if !json.Valid(w.Body.Bytes()) {
			t.Fatalf("%d %q", w.Code, w.Body)
		}
	})
}
