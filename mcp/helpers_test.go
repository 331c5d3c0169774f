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

type greetIn struct {
	Name  string   `json:"name" jsonschema:"who to greet" mcp:"min=1,max=20"`
	Count int      `json:"count,omitempty" mcp:"min=1,max=5"`
	Tags  []string `json:"tags,omitempty" mcp:"max=3,each.min=1"`
}

type greetOut struct {
	Greeting string `json:"greeting"`
}

func greet(_ context.Context, _ *mcp.Call, in greetIn) (greetOut, error) {
	return greetOut{Greeting: "Hello, " + in.Name + "!"}, nil
}

func greetTool(t testing.TB) *mcp.Tool {
	return tool(t, mcp.ToolSpec{Name: "greet", Description: "Greets."}, greet)
}

func tool[In, Out any](t testing.TB, spec mcp.ToolSpec, h func(context.Context, *mcp.Call, In) (Out, error)) *mcp.Tool {
	t.Helper()
	if spec.Description == "" {
		spec.Description = "A tool of the tests."
	}
	out, err := mcp.NewTool(spec, h)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// newServer has the tool greet, one resource, and what opts add.
func newServer(t testing.TB, opts ...mcp.Option) *mcp.Server {
	t.Helper()
	note := mcp.TextResource(mcp.Resource{
		URI: "test://note", Name: "note", Description: "A note.", MIMEType: "text/plain",
	}, "remember")
	opts = append([]mcp.Option{mcp.WithTools(greetTool(t)), mcp.WithResources(note)}, opts...)
	s, err := mcp.NewServer(mcp.Implementation{Name: "tester", Version: "1.0"}, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// post is one request to a server; headers are "Name: value".
func post(s http.Handler, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(body))
	return send(s, r, headers...)
}

func send(s http.Handler, r *http.Request, headers ...string) *httptest.ResponseRecorder {
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if value == "" {
			r.Header.Del(name)
			continue
		}
		r.Header.Add(name, value)
		if http.CanonicalHeaderKey(name) == "Accept" || http.CanonicalHeaderKey(name) == "Content-Type" {
			r.Header.Set(name, value)
		}
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// modernMeta is a complete _meta of 2026-07-28.
const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"}}`

// modern posts a 2026-07-28 request; params is the inside of the object.
func modern(s http.Handler, method, params string, headers ...string) *httptest.ResponseRecorder {
	if params != "" {
		params += ","
	}
	all := []string{"MCP-Protocol-Version: 2026-07-28", "Mcp-Method: " + method}
	return post(s, `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{`+params+modernMeta+`}}`, append(all, headers...)...)
}

// legacy posts a request of the given revision.
func legacy(s http.Handler, rev mcp.Revision, method, params string) *httptest.ResponseRecorder {
	return post(s, `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{`+params+`}}`, "MCP-Protocol-Version: "+string(rev))
}

type rpcAnswer struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  json.RawMessage `json:"result"`
	Error   *struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	} `json:"error"`
}

func decode(t testing.TB, w *httptest.ResponseRecorder) rpcAnswer {
	t.Helper()
	var a rpcAnswer
	if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil || a.JSONRPC != "2.0" {
		t.Fatalf("status %d: body is no JSON-RPC message: %v\n%s", w.Code, err, w.Body)
	}
	return a
}

// result decodes a successful answer into out.
func result(t testing.TB, w *httptest.ResponseRecorder, out any) {
	t.Helper()
	a := decode(t, w)
	if w.Code != http.StatusOK || a.Error != nil {
		t.Fatalf("status %d, want a result: %s", w.Code, w.Body)
	}
	if err := json.Unmarshal(a.Result, out); err != nil {
		t.Fatal(err)
	}
}

// wantError checks status and code of a refusal.
func wantError(t testing.TB, w *httptest.ResponseRecorder, status, code int) rpcAnswer {
	t.Helper()
	a := decode(t, w)
	if a.Error == nil || w.Code != status || a.Error.Code != code {
		t.Fatalf("got status %d %s, want status %d code %d", w.Code, w.Body, status, code)
	}
	if ct := w.Header().Get("Content-Type"); ct != "application/json" {
		t.Errorf("Content-Type = %q", ct)
	}
	return a
}

type callResult struct {
	ResultType string `json:"resultType"`
	Content    []struct {
		Type, Text, URI, Data, MimeType string
	} `json:"content"`
	Structured json.RawMessage            `json:"structuredContent"`
	IsError    bool                       `json:"isError"`
	Meta       map[string]json.RawMessage `json:"_meta"`
}
