package mcp_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"gatehouse/mcp"
)

const (
	v2026 = "MCP-Protocol-Version: 2026-07-28"
	v2025 = "MCP-Protocol-Version: 2025-11-25"
)

// TestEra is the table of the era rules: one URL, four revisions.
func TestEra(t *testing.T) {
	t.Parallel()
	meta := func(version string) string { return strings.Replace(modernMeta, "2026-07-28", version, 1) }
	req := func(method, params string) string {
		return `{"jsonrpc":"2.0","id":7,"method":"` + method + `","params":{` + params + `}}`
	}
	tests := []struct {
		name    string
		body    string
		headers []string
		status  int
		code    int // 0 for a result
	}{
		{"§1 modern by _meta", req("tools/list", modernMeta), []string{v2026, "Mcp-Method: tools/list"}, 200, 0},
		{"§1 initialize is legacy", req("initialize", `"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}`), nil, 200, 0},
		{"§1 no header and no _meta is 2025-03-26", req("tools/list", ""), nil, 200, 0},
		{"§1 header 2025-06-18 is legacy", req("tools/list", ""), []string{"MCP-Protocol-Version: 2025-06-18"}, 200, 0},
		{"§1 header 2025-11-25 is legacy", req("ping", ""), []string{v2025}, 200, 0},
		{"§1 header missing, _meta present", req("tools/list", modernMeta), []string{"Mcp-Method: tools/list"}, 400, mcp.CodeHeaderMismatch},
		{"§1 header differs from _meta", req("tools/list", modernMeta), []string{v2025, "Mcp-Method: tools/list"}, 400, mcp.CodeHeaderMismatch},
		{"§1 header modern, _meta missing", req("tools/list", ""), []string{v2026, "Mcp-Method: tools/list"}, 400, mcp.CodeInvalidParams},
		{"§1 version above is unsupported", req("tools/list", meta("2099-01-01")), []string{"MCP-Protocol-Version: 2099-01-01", "Mcp-Method: tools/list"}, 400, mcp.CodeUnsupportedProtocolVersion},
		{"§1 version below is unsupported", req("tools/list", meta("1900-01-01")), []string{"MCP-Protocol-Version: 1900-01-01", "Mcp-Method: tools/list"}, 400, mcp.CodeUnsupportedProtocolVersion},
		{"§1 legacy header unsupported", req("tools/list", ""), []string{"MCP-Protocol-Version: 2024-11-05"}, 400, mcp.CodeUnsupportedProtocolVersion},
		{"§1 _meta version of a wrong type", req("tools/list", `"_meta":{"io.modelcontextprotocol/protocolVersion":1}`), []string{v2026}, 400, mcp.CodeInvalidParams},
		{"§1 modern-only method on legacy", req("server/discover", ""), []string{v2025}, 200, mcp.CodeMethodNotFound},
		{"§1 initialize on modern", req("initialize", modernMeta), []string{v2026, "Mcp-Method: initialize"}, 404, mcp.CodeMethodNotFound},
		{"§1 ping on modern", req("ping", modernMeta), []string{v2026, "Mcp-Method: ping"}, 404, mcp.CodeMethodNotFound},
		{"§1 logging/setLevel on modern", req("logging/setLevel", modernMeta), []string{v2026, "Mcp-Method: logging/setLevel"}, 404, mcp.CodeMethodNotFound},
		{"§1 resources/subscribe on modern", req("resources/subscribe", modernMeta), []string{v2026, "Mcp-Method: resources/subscribe"}, 404, mcp.CodeMethodNotFound},
		{"§1 resources/unsubscribe on modern", req("resources/unsubscribe", modernMeta), []string{v2026, "Mcp-Method: resources/unsubscribe"}, 404, mcp.CodeMethodNotFound},
		{"§1 session id is ignored", req("ping", ""), []string{v2025, "Mcp-Session-Id: abc"}, 200, 0},
		{"§1 Last-Event-ID is ignored", req("tools/list", modernMeta), []string{v2026, "Mcp-Method: tools/list", "Last-Event-ID: 4"}, 200, 0},
		{"§1 two version headers that differ", req("ping", ""), []string{v2025, "MCP-Protocol-Version: 2025-06-18"}, 400, mcp.CodeHeaderMismatch},
		{"H12 unknown method on modern", req("no/such", modernMeta), []string{v2026, "Mcp-Method: no/such"}, 404, mcp.CodeMethodNotFound},
		{"H12 unknown method on legacy", req("no/such", ""), []string{v2025}, 200, mcp.CodeMethodNotFound},
		{"H13 _meta without capabilities", req("tools/list", `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`), []string{v2026, "Mcp-Method: tools/list"}, 400, mcp.CodeInvalidParams},
		{"H13 capabilities of a wrong type", req("tools/list", `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":[]}`), []string{v2026, "Mcp-Method: tools/list"}, 400, mcp.CodeInvalidParams},
		{"H13 clientInfo may be missing", req("tools/list", `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`), []string{v2026, "Mcp-Method: tools/list"}, 200, 0},
		{"§3 bad log level", req("tools/list", `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/logLevel":"loud"}`), []string{v2026, "Mcp-Method: tools/list"}, 400, mcp.CodeInvalidParams},
		{"§4 unknown tool on modern", req("tools/call", `"name":"nope",`+modernMeta), []string{v2026, "Mcp-Method: tools/call", "Mcp-Name: nope"}, 400, mcp.CodeInvalidParams},
		{"§4 unknown tool on legacy", req("tools/call", `"name":"nope"`), []string{v2025}, 200, mcp.CodeInvalidParams},
		{"§6 any cursor is bad", req("tools/list", `"cursor":"x"`), []string{v2025}, 200, mcp.CodeInvalidParams},
	}
	s := newServer(t)
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			w := post(s, tc.body, tc.headers...)
			if w.Header().Get("Mcp-Session-Id") != "" {
				t.Error("a session id was minted")
			}
			if tc.code == 0 {
				result(t, w, &struct{}{})
				return
			}
			if a := wantError(t, w, tc.status, tc.code); string(a.ID) != "7" {
				t.Errorf("id = %s, want 7", a.ID)
			}
		})
	}
}

func TestUnsupportedVersionNamesTheServed(t *testing.T) {
	t.Parallel()
	w := post(newServer(t), `{"jsonrpc":"2.0","id":1,"method":"ping"}`, "MCP-Protocol-Version: 1900-01-01")
	a := wantError(t, w, 400, mcp.CodeUnsupportedProtocolVersion)
	want := `{"requested":"1900-01-01","supported":["2026-07-28","2025-11-25","2025-06-18","2025-03-26"]}`
	if string(a.Error.Data) != want {
		t.Errorf("data = %s, want %s", a.Error.Data, want)
	}
}

func TestNegotiation(t *testing.T) {
	t.Parallel()
	for asked, want := range map[string]string{
		"2025-11-25": "2025-11-25", "2025-06-18": "2025-06-18", "2025-03-26": "2025-03-26",
		"2026-07-28": "2025-11-25", "2024-11-05": "2025-11-25", "2099-01-01": "2025-11-25",
	} {
		t.Run("§1 asked "+asked, func(t *testing.T) {
			t.Parallel()
			var got struct {
				ProtocolVersion string
				Capabilities    map[string]map[string]any
				ServerInfo      mcp.Implementation
				Instructions    string
			}
			w := post(newServer(t, mcp.WithInstructions("read me")),
				`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"`+asked+`"}}`)
			result(t, w, &got)
			if got.ProtocolVersion != want || got.ServerInfo.Name != "tester" || got.Instructions != "read me" {
				t.Errorf("got %+v, want version %s", got, want)
			}
			for name, c := range got.Capabilities {
				if len(c) != 0 {
					t.Errorf("capability %s promises %v", name, c)
				}
			}
			if body := w.Body.String(); strings.Contains(body, "resultType") || strings.Contains(body, "_meta") {
				t.Errorf("2026 fields in a legacy answer: %s", body)
			}
		})
	}
	wantError(t, post(newServer(t), `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`), 200, mcp.CodeInvalidParams)
}

// TestTransport covers the rules of Streamable HTTP that are not about eras.
func TestTransport(t *testing.T) {
	t.Parallel()
	s := newServer(t, mcp.WithBodyLimit(2000), mcp.WithMaxDepth(10))
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	t.Run("H1 other methods are 405", func(t *testing.T) {
		for _, method := range []string{"GET", "DELETE", "PUT", "HEAD", "OPTIONS"} {
			w := send(s, httptest.NewRequest(method, "/mcp", nil))
			wantError(t, w, 405, mcp.CodeInvalidRequest)
			if w.Header().Get("Allow") != "POST" {
				t.Errorf("%s: Allow = %q", method, w.Header().Get("Allow"))
			}
		}
	})
	t.Run("H2 no batches but on 2025-03-26", func(t *testing.T) {
		for _, rev := range []string{"2025-06-18", "2025-11-25", "2026-07-28"} {
			wantError(t, post(s, `[`+ping+`]`, "MCP-Protocol-Version: "+rev), 400, mcp.CodeInvalidRequest)
		}
	})
	t.Run("H2 responses", func(t *testing.T) {
		body := `{"jsonrpc":"2.0","id":1,"result":{}}`
		wantError(t, post(s, body, v2026), 400, mcp.CodeInvalidRequest)
		if w := post(s, body, v2025); w.Code != 202 || w.Body.Len() != 0 {
			t.Errorf("legacy response: %d %s", w.Code, w.Body)
		}
	})
	t.Run("H3 any Accept that allows JSON", func(t *testing.T) {
		for _, a := range []string{
			"application/json", "text/event-stream, application/json", "*/*", "application/*",
			"application/json;q=0.1, text/event-stream", "APPLICATION/JSON", "text/html, */*;q=0.1", "application/problem+json",
		} {
			w := post(s, ping, "Accept: "+a)
			result(t, w, &struct{}{})
			if w.Header().Get("Content-Type") != "application/json" {
				t.Errorf("Accept %q: %s", a, w.Header().Get("Content-Type"))
			}
		}
		result(t, post(s, ping, "Accept: "), &struct{}{})
		wantError(t, post(s, ping, "Accept: text/html"), 406, mcp.CodeInvalidRequest)
		wantError(t, post(s, ping, "Accept: application/json;q=0"), 406, mcp.CodeInvalidRequest)
	})
	t.Run("H3 a stream for who takes nothing else", func(t *testing.T) {
		w := post(s, ping, "Accept: text/event-stream")
		if w.Header().Get("Content-Type") != "text/event-stream" || !strings.Contains(w.Body.String(), `data: {"jsonrpc":"2.0","id":1,"result":{}}`) {
			t.Errorf("got %v %s", w.Header(), w.Body)
		}
	})
	t.Run("H4 Content-Type", func(t *testing.T) {
		result(t, post(s, ping, "Content-Type: application/json; charset=utf-8"), &struct{}{})
		wantError(t, post(s, ping, "Content-Type: text/plain"), 415, mcp.CodeInvalidRequest)
		wantError(t, post(s, ping, "Content-Type: "), 415, mcp.CodeInvalidRequest)
	})
	t.Run("H5 notifications are 202 and empty", func(t *testing.T) {
		for _, method := range []string{"notifications/initialized", "notifications/cancelled", "notifications/no/such"} {
			for _, h := range [][]string{nil, {v2025}, {v2026}, {v2026, "Mcp-Method: " + method}} {
				if w := post(s, `{"jsonrpc":"2.0","method":"`+method+`"}`, h...); w.Code != 202 || w.Body.Len() != 0 {
					t.Errorf("%s %v: %d %s", method, h, w.Code, w.Body)
				}
			}
		}
		wantError(t, post(s, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, "MCP-Protocol-Version: 1"), 400, mcp.CodeUnsupportedProtocolVersion)
	})
	t.Run("body limit", func(t *testing.T) {
		big := `{"jsonrpc":"2.0","id":1,"method":"ping","x":"` + strings.Repeat("x", 2000) + `"}`
		wantError(t, post(s, big), 413, mcp.CodeInvalidRequest)
		r := httptest.NewRequest(http.MethodPost, "/mcp", struct{ *strings.Reader }{strings.NewReader(big)})
		r.ContentLength = -1
		wantError(t, send(s, r), 413, mcp.CodeInvalidRequest)
		fits := ping + strings.Repeat(" ", 2000-len(ping))
		result(t, post(s, fits), &struct{}{})
		wantError(t, post(s, fits+" "), 413, mcp.CodeInvalidRequest)
	})
	t.Run("depth limit", func(t *testing.T) {
		nest := func(n int) string {
			return `{"jsonrpc":"2.0","id":1,"method":"ping","x":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}`
		}
		result(t, post(s, nest(9)), &struct{}{})
		wantError(t, post(s, nest(10)), 400, mcp.CodeInvalidRequest)
	})
}

// TestEnvelope is the table of malformed JSON-RPC.
func TestEnvelope(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, body string
		code       int // 0 for a result
		id         string
	}{
		{"empty", ``, mcp.CodeParseError, ""},
		{"cut short", `{"jsonrpc":"2.0","id":1,`, mcp.CodeParseError, ""},
		{"trailing data", `{"jsonrpc":"2.0","id":1,"method":"ping"}{}`, mcp.CodeParseError, ""},
		{"trailing comma", `{"jsonrpc":"2.0","id":1,"method":"ping",}`, mcp.CodeParseError, ""},
		{"trailing NUL", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\x00", mcp.CodeParseError, ""},
		{"not UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}", mcp.CodeParseError, ""},
		{"control character", "{\"jsonrpc\":\"2.0\",\"id\":\"\x01\",\"method\":\"ping\"}", mcp.CodeParseError, ""},
		{"leading zero", `{"jsonrpc":"2.0","id":01,"method":"ping"}`, mcp.CodeParseError, ""},
		{"bad escape", `{"jsonrpc":"2.0","id":"\x","method":"ping"}`, mcp.CodeParseError, ""},
		{"not an object", `"ping"`, mcp.CodeInvalidRequest, ""},
		{"a number", `7`, mcp.CodeInvalidRequest, ""},
		{"id null", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, mcp.CodeInvalidRequest, ""},
		{"id fractional", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, mcp.CodeInvalidRequest, ""},
		{"id with exponent", `{"jsonrpc":"2.0","id":1e3,"method":"ping"}`, mcp.CodeInvalidRequest, ""},
		{"id boolean", `{"jsonrpc":"2.0","id":true,"method":"ping"}`, mcp.CodeInvalidRequest, ""},
		{"id object", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, mcp.CodeInvalidRequest, ""},
		{"request without id", `{"jsonrpc":"2.0","method":"tools/list"}`, mcp.CodeInvalidRequest, ""},
		{"jsonrpc missing", `{"id":1,"method":"ping"}`, mcp.CodeInvalidRequest, "1"},
		{"jsonrpc 1.0", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, mcp.CodeInvalidRequest, "1"},
		{"method missing", `{"jsonrpc":"2.0","id":1}`, mcp.CodeInvalidRequest, "1"},
		{"method empty", `{"jsonrpc":"2.0","id":1,"method":""}`, mcp.CodeInvalidRequest, "1"},
		{"method a number", `{"jsonrpc":"2.0","id":1,"method":5}`, mcp.CodeInvalidRequest, "1"},
		{"method and result", `{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}`, mcp.CodeInvalidRequest, "1"},
		{"member twice", `{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}`, mcp.CodeInvalidRequest, ""},
		{"member twice by escape", `{"jsonrpc":"2.0","id":1,"method":"ping","\u006dethod":"tools/list"}`, mcp.CodeInvalidRequest, ""},
		{"id twice", `{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`, mcp.CodeInvalidRequest, ""},
		{"params an array", `{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}`, mcp.CodeInvalidParams, "1"},
		{"params a string", `{"jsonrpc":"2.0","id":1,"method":"ping","params":"x"}`, mcp.CodeInvalidParams, "1"},
		{"params member twice", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet","name":"other"}}`, mcp.CodeInvalidParams, "1"},
		{"_meta not an object", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":1}}`, mcp.CodeInvalidParams, "1"},
		{"params null", `{"jsonrpc":"2.0","id":1,"method":"ping","params":null}`, 0, "1"},
		{"id a string", `{"jsonrpc":"2.0","id":"a\"b","method":"ping"}`, 0, `"a\"b"`},
		{"id large", `{"jsonrpc":"2.0","id":-90071992547409931234,"method":"ping"}`, 0, `-90071992547409931234`},
		{"escaped method", `{"jsonrpc":"2.0","id":1,"method":"\u0070ing"}`, 0, "1"},
		{"white space", " \n{ \"jsonrpc\" : \"2.0\" ,\t\"id\" : 1 , \"method\" : \"ping\" }\r\n", 0, "1"},
		{"unknown member", `{"jsonrpc":"2.0","id":1,"method":"ping","extra":[1,{"a":null}]}`, 0, "1"},
	}
	s := newServer(t)
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			w := post(s, tc.body)
			a := decode(t, w)
			if string(a.ID) != tc.id {
				t.Errorf("id = %s, want %s", a.ID, tc.id)
			}
			if tc.code == 0 {
				result(t, w, &struct{}{})
				return
			}
			status := 400 // no era is known yet
			wantError(t, w, status, tc.code)
		})
	}
}

// TestHeaders covers Mcp-Method and Mcp-Name.
func TestHeaders(t *testing.T) {
	t.Parallel()
	odd := mcp.TextResource(mcp.Resource{URI: "test://käse", Name: "odd", Description: "d"}, "x")
	s := newServer(t, mcp.WithResources(odd))
	call := func(headers ...string) *httptest.ResponseRecorder {
		return post(s, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet","arguments":{"name":"A"},`+modernMeta+`}}`,
			append([]string{v2026}, headers...)...)
	}
	const m = "Mcp-Method: tools/call"
	refused := map[string][]string{
		"method missing":          {"Mcp-Name: greet"},
		"method differs":          {"Mcp-Method: tools/list", "Mcp-Name: greet"},
		"method in another case":  {"Mcp-Method: TOOLS/CALL", "Mcp-Name: greet"},
		"method twice":            {m, "Mcp-Method: tools/list", "Mcp-Name: greet"},
		"name missing":            {m},
		"name differs":            {m, "Mcp-Name: other"},
		"name in another case":    {m, "Mcp-Name: Greet"},
		"name badly encoded":      {m, "Mcp-Name: =?base64?Z3JlZXQ!?="},
		"name with bad padding":   {m, "Mcp-Name: =?base64?Z3JlZXQ?="},
		"name decodes to another": {m, "Mcp-Name: =?base64?b3RoZXI=?="},
		"name not UTF-8 inside":   {m, "Mcp-Name: =?base64?/w==?="},
		"name with raw bytes":     {m, "Mcp-Name: gr\xc3\xa9et"},
	}
	for name, headers := range refused {
		t.Run("§2 "+name, func(t *testing.T) {
			t.Parallel()
			wantError(t, call(headers...), 400, mcp.CodeHeaderMismatch)
		})
	}
	accepted := map[string][]string{
		"plain":          {m, "Mcp-Name: greet"},
		"spaces around":  {m, "Mcp-Name:   greet  "},
		"base64":         {m, "Mcp-Name: =?base64?Z3JlZXQ=?="},
		"names any case": {"mcp-METHOD: tools/call", "MCP-NAME: greet"},
	}
	for name, headers := range accepted {
		t.Run("§2 "+name, func(t *testing.T) {
			t.Parallel()
			result(t, call(headers...), &struct{}{})
		})
	}
	t.Run("§2 uri in base64", func(t *testing.T) {
		t.Parallel()
		result(t, modern(s, "resources/read", `"uri":"test://käse"`, "Mcp-Name: =?base64?dGVzdDovL2vDpHNl?="), &struct{}{})
	})
	t.Run("§2 legacy headers are not read", func(t *testing.T) {
		t.Parallel()
		w := post(s, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet","arguments":{"name":"A"}}}`,
			v2025, "Mcp-Method: x", "Mcp-Name: y")
		result(t, w, &struct{}{})
	})
	t.Run("params without a name", func(t *testing.T) {
		t.Parallel()
		wantError(t, modern(s, "tools/call", `"name":7`), 400, mcp.CodeInvalidParams)
		wantError(t, modern(s, "tools/call", ""), 400, mcp.CodeInvalidParams)
		wantError(t, modern(s, "resources/read", ""), 400, mcp.CodeInvalidParams)
	})
}

func TestCapabilityErrors(t *testing.T) {
	t.Parallel()
	need := tool(t, mcp.ToolSpec{Name: "need"}, func(context.Context, *mcp.Call, struct{}) (any, error) {
		return nil, mcp.MissingClientCapability(map[string]any{"sampling": map[string]any{}})
	})
	s := newServer(t, mcp.WithTools(need))
	a := wantError(t, modern(s, "tools/call", `"name":"need"`, "Mcp-Name: need"), 400, mcp.CodeMissingClientCapability)
	if got := string(a.Error.Data); got != `{"requiredCapabilities":{"sampling":{}}}` {
		t.Errorf("H14 data = %s", got)
	}
	for _, method := range []string{"prompts/list", "completion/complete", "prompts/get"} {
		wantError(t, modern(s, method, ""), 404, mcp.CodeMethodNotFound)
		wantError(t, legacy(s, mcp.Revision20251125, method, ""), 200, mcp.CodeMethodNotFound)
	}
	wantError(t, legacy(s, mcp.Revision20251125, "logging/setLevel", `"level":"info"`), 200, mcp.CodeMethodNotFound)
}

func TestDeclaredFeatures(t *testing.T) {
	t.Parallel()
	s := newServer(t, mcp.WithCapabilities(mcp.Capabilities{Prompts: true, Completions: true, Logging: true}))
	var d struct {
		SupportedVersions []string
		Capabilities      map[string]any
		ResultType        string
		TTLMs             *int                       `json:"ttlMs"`
		CacheScope        string                     `json:"cacheScope"`
		Meta              map[string]json.RawMessage `json:"_meta"`
	}
	result(t, modern(s, "server/discover", ""), &d)
	if len(d.SupportedVersions) != 4 || len(d.Capabilities) != 5 || d.ResultType != "complete" || d.TTLMs == nil || d.CacheScope != "public" ||
		string(d.Meta[mcp.MetaServerInfo]) != `{"name":"tester","version":"1.0"}` {
		t.Errorf("discover = %+v", d)
	}
	var prompts struct{ Prompts []any }
	result(t, modern(s, "prompts/list", ""), &prompts)
	if prompts.Prompts == nil {
		t.Error("prompts is null")
	}
	wantError(t, modern(s, "prompts/get", `"name":"x"`, "Mcp-Name: x"), 400, mcp.CodeInvalidParams)
	var completion struct{ Completion struct{ Values []string } }
	result(t, modern(s, "completion/complete", `"ref":{"type":"ref/prompt","name":"x"},"argument":{"name":"a","value":""}`), &completion)
	if completion.Completion.Values == nil {
		t.Error("values is null")
	}
	wantError(t, modern(s, "completion/complete", `"ref":{"type":"other"},"argument":{"name":"a","value":""}`), 400, mcp.CodeInvalidParams)
	var empty map[string]any
	result(t, legacy(s, mcp.Revision20251125, "logging/setLevel", `"level":"info"`), &empty)
	if len(empty) != 0 {
		t.Errorf("setLevel answered %v", empty)
	}
	wantError(t, legacy(s, mcp.Revision20251125, "logging/setLevel", `"level":"loud"`), 200, mcp.CodeInvalidParams)
}

func TestResources(t *testing.T) {
	t.Parallel()
	secret := &mcp.Resource{URI: "test://broken", Name: "broken", Description: "d", Read: func(context.Context, *mcp.ResourceRequest) ([]mcp.ResourceContents, error) {
		return nil, context.DeadlineExceeded
	}}
	blob := &mcp.Resource{URI: "test://blob", Name: "blob", Description: "d", Read: func(context.Context, *mcp.ResourceRequest) ([]mcp.ResourceContents, error) {
		return []mcp.ResourceContents{{Blob: []byte{1, 2, 3}, MIMEType: "image/png"}}, nil
	}}
	s := newServer(t, mcp.WithResources(secret, blob))
	t.Run("text", func(t *testing.T) {
		w := modern(s, "resources/read", `"uri":"test://note"`, "Mcp-Name: test://note")
		want := `{"contents":[{"uri":"test://note","mimeType":"text/plain","text":"remember"}],"ttlMs":0,"cacheScope":"public","resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"tester","version":"1.0"}}}`
		if got := string(decode(t, w).Result); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		w = legacy(s, mcp.Revision20250326, "resources/read", `"uri":"test://note"`)
		if got := string(decode(t, w).Result); got != `{"contents":[{"uri":"test://note","mimeType":"text/plain","text":"remember"}]}` {
			t.Errorf("legacy: %s", got)
		}
	})
	t.Run("bytes are private", func(t *testing.T) {
		w := modern(s, "resources/read", `"uri":"test://blob"`, "Mcp-Name: test://blob")
		if got := w.Body.String(); !strings.Contains(got, `"blob":"AQID"`) || !strings.Contains(got, `"cacheScope":"private"`) {
			t.Error(got)
		}
	})
	t.Run("§6 not found names the uri", func(t *testing.T) {
		a := wantError(t, modern(s, "resources/read", `"uri":"test://no"`, "Mcp-Name: test://no"), 400, mcp.CodeInvalidParams)
		if string(a.Error.Data) != `{"uri":"test://no"}` {
			t.Errorf("data = %s", a.Error.Data)
		}
	})
	t.Run("§4 an unknown error stays inside", func(t *testing.T) {
		a := wantError(t, legacy(s, mcp.Revision20251125, "resources/read", `"uri":"test://broken"`), 200, mcp.CodeInternalError)
		if a.Error.Message != "Internal error" {
			t.Errorf("message = %q", a.Error.Message)
		}
	})
	var list struct {
		Resources []struct{ URI, Name, Description string }
		Templates []any `json:"resourceTemplates"`
	}
	result(t, modern(s, "resources/list", ""), &list)
	if len(list.Resources) != 3 || list.Resources[0].URI != "test://note" {
		t.Errorf("resources/list = %+v", list)
	}
	result(t, modern(s, "resources/templates/list", ""), &list)
	if list.Templates == nil {
		t.Error("resourceTemplates is null")
	}
}

func TestBatch(t *testing.T) {
	t.Parallel()
	deny := tool(t, mcp.ToolSpec{Name: "deny"}, func(context.Context, *mcp.Call, struct{}) (any, error) {
		return nil, &mcp.HTTPRefusal{Status: 429, Header: http.Header{"Retry-After": {"5"}}, Message: "slow down"}
	})
	s := newServer(t, mcp.WithTools(deny))
	req := func(id, method, params string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":{` + params + `}}`
	}
	list := func(t *testing.T, w *httptest.ResponseRecorder) []rpcAnswer {
		t.Helper()
		var out []rpcAnswer
		if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil {
			t.Fatalf("%v: %s", err, w.Body)
		}
		return out
	}
	t.Run("§7 answers in order, notifications none", func(t *testing.T) {
		t.Parallel()
		for _, h := range [][]string{nil, {"MCP-Protocol-Version: 2025-03-26"}} {
			w := post(s, `[`+req("1", "ping", "")+`,{"jsonrpc":"2.0","method":"notifications/initialized"},`+
				req("2", "no/such", "")+`,7,`+req("3", "tools/call", `"name":"greet","arguments":{"name":"A"}`)+`]`, h...)
			got := list(t, w)
			if w.Code != 200 || len(got) != 4 || got[0].Error != nil || got[1].Error.Code != mcp.CodeMethodNotFound ||
				got[2].Error.Code != mcp.CodeInvalidRequest || string(got[3].ID) != "3" {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		}
	})
	t.Run("only notifications", func(t *testing.T) {
		t.Parallel()
		if w := post(s, `[{"jsonrpc":"2.0","method":"notifications/initialized"}]`); w.Code != 202 || w.Body.Len() != 0 {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
	t.Run("no initialize inside", func(t *testing.T) {
		t.Parallel()
		got := list(t, post(s, `[`+req("1", "initialize", `"protocolVersion":"2025-03-26"`)+`]`))
		if got[0].Error == nil || got[0].Error.Code != mcp.CodeInvalidRequest {
			t.Errorf("%+v", got)
		}
	})
	t.Run("a batch of refusals takes their status", func(t *testing.T) {
		t.Parallel()
		call := req("1", "tools/call", `"name":"deny"`)
		w := post(s, `[`+call+`]`)
		if got := list(t, w); w.Code != 429 || w.Header().Get("Retry-After") != "5" || got[0].Error.Message != "slow down" {
			t.Errorf("%d %s", w.Code, w.Body)
		}
		if w = post(s, `[`+call+`,`+req("2", "ping", "")+`]`); w.Code != 200 {
			t.Errorf("mixed: %d", w.Code)
		}
	})
	t.Run("malformed", func(t *testing.T) {
		t.Parallel()
		wantError(t, post(s, `[]`), 400, mcp.CodeInvalidRequest)
		wantError(t, post(s, `[{]`), 400, mcp.CodeParseError)
		wantError(t, post(s, `[1]x`), 400, mcp.CodeParseError)
		wantError(t, post(s, `[`+strings.Repeat(`1,`, 100)+`1]`), 400, mcp.CodeInvalidRequest)
	})
}
