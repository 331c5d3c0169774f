package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gatehouse/mcp"
)

// call is a tools/call on 2026-07-28.
func call(s http.Handler, name, args string) *httptest.ResponseRecorder {
	return modern(s, "tools/call", `"name":"`+name+`","arguments":`+args, "Mcp-Name: "+name)
}

func TestCallResult(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	want := `{"resultType":"complete","content":[{"type":"text","text":"{\"greeting\":\"Hello, A!\"}"}],` +
		`"structuredContent":{"greeting":"Hello, A!"},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"tester","version":"1.0"}}}`
	if got := string(decode(t, call(s, "greet", `{"name":"A"}`)).Result); got != want {
		t.Errorf("§4 modern:\ngot  %s\nwant %s", got, want)
	}
	for rev, want := range map[mcp.Revision]string{
		mcp.Revision20251125: `{"content":[{"type":"text","text":"{\"greeting\":\"Hello, A!\"}"}],"structuredContent":{"greeting":"Hello, A!"}}`,
		mcp.Revision20250618: `{"content":[{"type":"text","text":"{\"greeting\":\"Hello, A!\"}"}],"structuredContent":{"greeting":"Hello, A!"}}`,
		mcp.Revision20250326: `{"content":[{"type":"text","text":"{\"greeting\":\"Hello, A!\"}"}]}`,
	} {
		w := legacy(s, rev, "tools/call", `"name":"greet","arguments":{"name":"A"}`)
		if got := string(decode(t, w).Result); got != want {
			t.Errorf("§7 %s:\ngot  %s\nwant %s", rev, got, want)
		}
	}
}

func TestContentBlocks(t *testing.T) {
	t.Parallel()
	priority := 0.5
	blocks := tool(t, mcp.ToolSpec{Name: "blocks"}, func(context.Context, *mcp.Call, struct{}) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{
			Content: []mcp.Content{
				mcp.Text{Text: "a\"\n\u2028\x01\xffé", Annotations: &mcp.ContentAnnotations{Audience: []string{"user"}, Priority: &priority}},
				mcp.TextBytes("<b>"),
				mcp.Image{Data: []byte{1, 2}, MIMEType: "image/png"},
				mcp.Audio{Data: []byte{3}, MIMEType: "audio/wav"},
				mcp.EmbeddedResource{Resource: mcp.ResourceContents{URI: "test://x", MIMEType: "text/plain", Text: "t"}},
				mcp.ResourceLink{URI: "test://y", Name: "y"},
			},
			StructuredContent: json.RawMessage("{\n\"a\": 1}"),
			Meta:              map[string]any{"example.com/k": "<v>"},
		}, nil
	})
	s := newServer(t, mcp.WithTools(blocks))
	want := `{"resultType":"complete","content":[` +
		`{"type":"text","text":"a\"\n\u2028\u0001\ufffdé","annotations":{"audience":["user"],"priority":0.5}},` +
		`{"type":"text","text":"<b>"},{"type":"image","data":"AQI=","mimeType":"image/png"},{"type":"audio","data":"Aw==","mimeType":"audio/wav"},` +
		`{"type":"resource","resource":{"uri":"test://x","mimeType":"text/plain","text":"t"}},{"type":"resource_link","uri":"test://y","name":"y"}],` +
		"\"structuredContent\":{\n\"a\": 1},\"_meta\":{\"io.modelcontextprotocol/serverInfo\":{\"name\":\"tester\",\"version\":\"1.0\"},\"example.com/k\":\"<v>\"}}"
	if got := string(decode(t, call(s, "blocks", `{}`)).Result); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	w := legacy(s, mcp.Revision20250326, "tools/call", `"name":"blocks"`)
	if got := w.Body.String(); !strings.Contains(got, `{"type":"text","text":"test://y"}`) || strings.Contains(got, "structuredContent") {
		t.Errorf("§7 2025-03-26 knows no links: %s", got)
	}
	w = modern(s, "tools/call", `"name":"blocks"`, "Mcp-Name: blocks", "Accept: text/event-stream")
	if n := strings.Count(w.Body.String(), "\n"); n != 3 {
		t.Errorf("H8 an event of %d lines: %q", n, w.Body)
	}
}

// TestChain holds the order of the steps, and that each can stop the call.
func TestChain(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var steps []string
	step := func(name string) { mu.Lock(); steps = append(steps, name); mu.Unlock() }
	build := func(fail string, argumentsFirst bool) *mcp.Server {
		result := func(name string) error {
			step(name)
			if name == fail {
				return errors.New("dsn=secret")
			}
			return nil
		}
		work := tool(t, mcp.ToolSpec{Name: "work"}, func(_ context.Context, c *mcp.Call, _ greetIn) (string, error) {
			return "done", result("handler")
		})
		return newServer(t, mcp.WithTools(work), mcp.WithArgumentsFirst(argumentsFirst),
			mcp.WithMiddleware(func(next mcp.MessageHandler) mcp.MessageHandler {
				return func(ctx context.Context, m *mcp.Message) (mcp.Result, error) {
					step("middleware " + m.Method + " " + m.Target)
					return next(ctx, m)
				}
			}),
			mcp.WithAuthorize(func(_ context.Context, c *mcp.Call) error { return result("authorize") }),
			mcp.WithLimit(func(_ context.Context, c *mcp.Call) error {
				c.OnDone(func() { step("done") })
				return result("limit")
			}),
			mcp.WithErrorCodec(func(_ context.Context, c *mcp.Call, err error) *mcp.CallToolResult {
				if _, ok := errors.AsType[*mcp.ArgumentError](err); ok {
					step("bad arguments")
				}
				return mcp.ErrorResult("no: " + c.Tool().Name)
			}),
			mcp.WithResultCodec(func(_ context.Context, _ *mcp.Call, out any) (*mcp.CallToolResult, error) {
				step("codec")
				return mcp.TextResult(out.(string)), nil
			}))
	}
	tests := []struct {
		name, fail, args string
		argumentsFirst   bool
		want             string
	}{
		{"all", "", `{"name":"A"}`, false, "authorize limit handler codec done"},
		{"authorize stops", "authorize", `{}`, false, "authorize"},
		{"authorize before arguments", "", `{}`, false, "authorize bad arguments"},
		{"arguments before authorize", "authorize", `{}`, true, "bad arguments"},
		{"limit stops", "limit", `{"name":"A"}`, false, "authorize limit done"},
		{"handler fails", "handler", `{"name":"A"}`, true, "authorize limit handler done"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			steps = nil
			var res callResult
			result(t, call(build(tc.fail, tc.argumentsFirst), "work", tc.args), &res)
			if got, want := strings.Join(steps, " "), "middleware tools/call work "+tc.want; got != want {
				t.Errorf("steps: %s\nwant:  %s", got, want)
			}
			if res.IsError != (tc.name != "all") || strings.Contains(res.Content[0].Text, "secret") {
				t.Errorf("result %+v", res)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	var mu sync.Mutex
	s := newServer(t, mcp.WithLogger(slog.New(slog.NewTextHandler(&lockedWriter{mu: &mu, w: &log}, nil))),
		mcp.WithTools(
			failing(t, "rpc", func() error { return &mcp.RPCError{Code: 4711, Message: "own", Data: []int{1}} }),
			failing(t, "refused", func() error {
				return &mcp.HTTPRefusal{Status: 403, Header: http.Header{"www-authenticate": {`Bearer error="insufficient_scope"`}}, Message: "scope"}
			}),
			failing(t, "shown", func() error { return &mcp.ToolError{Text: "No such thing.", Cause: errors.New("row secret")} }),
			failing(t, "unknown", func() error { return errors.New("dial db: secret") }),
			failing(t, "late", func() error { return context.DeadlineExceeded }),
			failing(t, "panics", func() error { panic("boom secret") }),
		))
	t.Run("RPCError", func(t *testing.T) {
		a := wantError(t, call(s, "rpc", `{}`), 200, 4711)
		if a.Error.Message != "own" || string(a.Error.Data) != "[1]" {
			t.Errorf("%+v", a.Error)
		}
	})
	t.Run("HTTPRefusal", func(t *testing.T) {
		w := call(s, "refused", `{}`)
		a := wantError(t, w, 403, mcp.CodeInvalidRequest)
		if w.Header().Get("WWW-Authenticate") != `Bearer error="insufficient_scope"` || string(a.ID) != "1" {
			t.Errorf("%v %s", w.Header(), w.Body)
		}
	})
	for name, want := range map[string]string{
		"shown": "No such thing.", "unknown": "The tool failed.", "late": "The tool took too long and was stopped.",
	} {
		t.Run(name, func(t *testing.T) {
			var res callResult
			result(t, call(s, name, `{}`), &res)
			if !res.IsError || res.Content[0].Text != want {
				t.Errorf("%+v, want %q", res, want)
			}
		})
	}
	t.Run("P1 a panic is one internal error", func(t *testing.T) {
		a := wantError(t, call(s, "panics", `{}`), 200, mcp.CodeInternalError)
		if strings.Contains(a.Error.Message, "secret") {
			t.Error("the panic's text leaked")
		}
		mu.Lock()
		defer mu.Unlock()
		if !strings.Contains(log.String(), "boom secret") || !strings.Contains(log.String(), "call_test.go") {
			t.Errorf("log lacks panic or stack: %s", log.String())
		}
	})
	result(t, call(s, "greet", `{"name":"A"}`), &struct{}{})
}

func failing(t *testing.T, name string, f func() error) *mcp.Tool {
	return tool(t, mcp.ToolSpec{Name: name}, func(context.Context, *mcp.Call, struct{}) (any, error) { return nil, f() })
}

type lockedWriter struct {
	mu *sync.Mutex
	w  *strings.Builder
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

func TestMiddlewareRefuses(t *testing.T) {
	t.Parallel()
	refuse := &mcp.HTTPRefusal{Status: 429, Code: -1, Message: "later"}
	s := newServer(t, mcp.WithMiddleware(func(next mcp.MessageHandler) mcp.MessageHandler {
		return func(ctx context.Context, m *mcp.Message) (mcp.Result, error) {
			switch m.Method {
			case "tools/list":
				return nil, refuse
			case "ping":
				return nil, nil
			case "resources/list":
				return mcp.RawResult(`{"resources":[]}`), nil
			case "notifications/initialized":
				return nil, refuse
			}
			return next(ctx, m)
		}
	}))
	wantError(t, modern(s, "tools/list", ""), 429, -1)
	wantError(t, legacy(s, mcp.Revision20251125, "ping", ""), 200, mcp.CodeInternalError)
	result(t, modern(s, "resources/list", ""), &struct{}{})
	a := wantError(t, post(s, `{"jsonrpc":"2.0","method":"notifications/initialized"}`), 429, -1)
	if a.ID != nil {
		t.Errorf("id = %s for a notification", a.ID)
	}
}

// TestDeadline and the two after it hold that a call does not outlive its time or its client.
func TestDeadline(t *testing.T) {
	t.Parallel()
	wait := func(ctx context.Context, _ *mcp.Call, _ struct{}) (any, error) { <-ctx.Done(); return nil, ctx.Err() }
	s := newServer(t, mcp.WithToolDeadline(time.Hour),
		mcp.WithTools(tool(t, mcp.ToolSpec{Name: "wait", Deadline: time.Millisecond}, wait)))
	var res callResult
	result(t, call(s, "wait", `{}`), &res)
	if !res.IsError || !strings.Contains(res.Content[0].Text, "too long") {
		t.Errorf("%+v", res)
	}
}

func TestClientGone(t *testing.T) {
	t.Parallel()
	for _, era := range []string{"H11 modern", "legacy"} {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			began, ended := make(chan struct{}), make(chan error, 1)
			s := newServer(t, mcp.WithTools(tool(t, mcp.ToolSpec{Name: "wait"}, func(ctx context.Context, _ *mcp.Call, _ struct{}) (any, error) {
				close(began)
				<-ctx.Done()
				ended <- ctx.Err()
				return nil, ctx.Err()
			})))
			srv := httptest.NewServer(s)
			defer srv.Close()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait"}}`
			if strings.HasPrefix(era, "H11") {
				body = strings.Replace(body, `}}`, `,`+modernMeta+`}}`, 1)
			}
			r, _ := http.NewRequestWithContext(ctx, http.MethodPost, srv.URL, strings.NewReader(body))
			r.Header.Set("Content-Type", "application/json")
			if strings.HasPrefix(era, "H11") {
				r.Header.Set("MCP-Protocol-Version", "2026-07-28")
				r.Header.Set("Mcp-Method", "tools/call")
				r.Header.Set("Mcp-Name", "wait")
			}
			go func() { <-began; cancel() }()
			if res, err := http.DefaultClient.Do(r); err == nil {
				_ = res.Body.Close()
				t.Fatalf("the request was answered: %d", res.StatusCode)
			}
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("handler saw %v", err)
			}
		})
	}
}

func TestObserver(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var seen []mcp.Observation
	tick := time.Unix(0, 0)
	s := newServer(t,
		mcp.WithClock(func() time.Time { mu.Lock(); defer mu.Unlock(); tick = tick.Add(time.Second); return tick }),
		mcp.WithObserver(func(_ context.Context, o mcp.Observation) { mu.Lock(); seen = append(seen, o); mu.Unlock() }),
		mcp.WithTools(failing(t, "refused", func() error { return &mcp.HTTPRefusal{Status: 403, Message: "no"} })))
	tests := []struct {
		name string
		do   func()
		want mcp.Observation
	}{
		{"ok", func() { call(s, "greet", `{"name":"A"}`) }, mcp.Observation{Method: "tools/call", Tool: "greet", Target: "greet", Revision: "2026-07-28", Outcome: mcp.OutcomeOK, Status: 200}},
		{"tool error", func() { call(s, "greet", `{}`) }, mcp.Observation{Method: "tools/call", Tool: "greet", Target: "greet", Revision: "2026-07-28", Outcome: mcp.OutcomeToolError, Status: 200}},
		{"refused", func() { call(s, "refused", `{}`) }, mcp.Observation{Method: "tools/call", Tool: "refused", Target: "refused", Revision: "2026-07-28", Outcome: mcp.OutcomeRefused, Code: mcp.CodeInvalidRequest, Status: 403}},
		{"unknown tool", func() { call(s, "nope", `{}`) }, mcp.Observation{Method: "tools/call", Target: "nope", Revision: "2026-07-28", Outcome: mcp.OutcomeRPCError, Code: mcp.CodeInvalidParams, Status: 400}},
		{"parse error", func() { post(s, `{`) }, mcp.Observation{Outcome: mcp.OutcomeRPCError, Code: mcp.CodeParseError, Status: 400}},
		{"GET", func() { send(s, httptest.NewRequest("GET", "/", nil)) }, mcp.Observation{Outcome: mcp.OutcomeRPCError, Code: mcp.CodeInvalidRequest, Status: 405}},
		{"initialize", func() {
			post(s, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","clientInfo":{"name":"cl","version":"9"}}}`)
		}, mcp.Observation{Method: "initialize", Revision: "2025-06-18", Outcome: mcp.OutcomeOK, Status: 200}},
	}
	for _, tc := range tests {
		seen = nil
		tc.do()
		if len(seen) != 1 {
			t.Fatalf("%s: %d observations", tc.name, len(seen))
		}
		got := seen[0]
		if got.Duration != time.Second {
			t.Errorf("%s: duration %v", tc.name, got.Duration)
		}
		if (got.Err == nil) != (got.Outcome == mcp.OutcomeOK) {
			t.Errorf("%s: err = %v", tc.name, got.Err)
		}
		if tc.name == "initialize" && (got.Client == nil || got.Client.Name != "cl") {
			t.Errorf("client = %+v", got.Client)
		}
		got.Err, got.Duration, got.Client = nil, 0, nil
		if got != tc.want {
			t.Errorf("%s:\ngot  %+v\nwant %+v", tc.name, got, tc.want)
		}
	}
}

func TestCallFacts(t *testing.T) {
	t.Parallel()
	var got []string
	s := newServer(t, mcp.WithTools(tool(t, mcp.ToolSpec{Name: "facts"}, func(_ context.Context, c *mcp.Call, _ struct{}) (any, error) {
		got = []string{c.Tool().Name, string(c.Revision()), c.Client().Name, string(c.Meta().Get("example.com/tool")), string(c.Arguments()), string(c.Meta().ClientCapabilities), string(c.Message().ID)}
		return nil, nil
	})))
	body := `{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"facts","_meta":{"example.com/tool":[1],` + strings.TrimPrefix(modernMeta, `"_meta":{`) + `}}`
	w := post(s, body, v2026, "Mcp-Method: tools/call", "Mcp-Name: facts")
	result(t, w, &struct{}{})
	if want := []string{"facts", "2026-07-28", "c", "[1]", "{}", "{}", `"x"`}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
