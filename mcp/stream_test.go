package mcp_test

import (
	"context"
	"strings"
	"testing"

	"gatehouse/mcp"
)

// events splits a stream into the data of its events.
func events(body string) []string {
	var out []string
	for block := range strings.SplitSeq(strings.TrimSuffix(body, "\n\n"), "\n\n") {
		_, data, _ := strings.Cut(block, "data: ")
		out = append(out, data)
	}
	return out
}

func streamServer(t *testing.T) *mcp.Server {
	var kept *mcp.Call
	return newServer(t, mcp.WithCapabilities(mcp.Capabilities{Logging: true}), mcp.WithTools(
		tool(t, mcp.ToolSpec{Name: "steps"}, func(_ context.Context, c *mcp.Call, _ struct{}) (any, error) {
			c.Progress(0, 100, "")
			c.Progress(50, 100, "half")
			c.Progress(50, 100, "again")
			c.Progress(20, 100, "back")
			c.Progress(100, 0, "")
			return "ok", nil
		}),
		tool(t, mcp.ToolSpec{Name: "logs"}, func(_ context.Context, c *mcp.Call, _ struct{}) (any, error) {
			c.Log(mcp.LogDebug, "", "fine")
			c.Log(mcp.LogWarning, "main", map[string]int{"n": 1})
			return "ok", nil
		}),
		tool(t, mcp.ToolSpec{Name: "late"}, func(_ context.Context, c *mcp.Call, _ struct{}) (any, error) {
			if kept != nil {
				kept.Progress(1, 0, "")
			}
			kept = c
			return "ok", nil
		}),
		tool(t, mcp.ToolSpec{Name: "fails"}, func(_ context.Context, c *mcp.Call, _ struct{}) (any, error) {
			c.Progress(1, 0, "")
			return nil, &mcp.HTTPRefusal{Status: 403, Message: "no"}
		}),
	))
}

func TestProgress(t *testing.T) {
	t.Parallel()
	s := streamServer(t)
	withToken := func(name, token string, headers ...string) (string, string) {
		meta := strings.Replace(modernMeta, `"_meta":{`, `"_meta":{"progressToken":`+token+`,`, 1)
		all := []string{v2026, "Mcp-Method: tools/call", "Mcp-Name: " + name}
		w := post(s, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+name+`",`+meta+`}}`, append(all, headers...)...)
		if got := w.Header().Get("X-Accel-Buffering"); (got == "no") != (w.Header().Get("Content-Type") == "text/event-stream") {
			t.Errorf("H9 X-Accel-Buffering = %q", got)
		}
		return w.Header().Get("Content-Type"), w.Body.String()
	}
	t.Run("H8 growing values, then the response, then the end", func(t *testing.T) {
		ct, body := withToken("steps", `"tok"`)
		got := events(body)
		want := []string{
			`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"tok","progress":0,"total":100}}`,
			`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"tok","progress":50,"total":100,"message":"half"}}`,
			`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"tok","progress":100}}`,
		}
		if ct != "text/event-stream" || len(got) != 4 || strings.Join(got[:3], "\n") != strings.Join(want, "\n") || !strings.Contains(got[3], `"id":1,"result":`) {
			t.Errorf("%s\n%s", ct, body)
		}
	})
	t.Run("JSON for a client without streams", func(t *testing.T) {
		if ct, body := withToken("steps", `1`, "Accept: application/json"); ct != "application/json" || strings.Contains(body, "progress") {
			t.Errorf("%s %s", ct, body)
		}
	})
	t.Run("JSON without a token", func(t *testing.T) {
		w := call(s, "steps", `{}`)
		if ct := w.Header().Get("Content-Type"); ct != "application/json" {
			t.Errorf("%s %s", ct, w.Body)
		}
		if _, body := withToken("steps", `{}`); strings.Contains(body, "progress") {
			t.Errorf("a token that is none: %s", body)
		}
	})
	t.Run("nothing after the answer", func(t *testing.T) {
		_, _ = withToken("late", `1`)
		if _, body := withToken("late", `2`); strings.Contains(body, "progress") {
			t.Error(body)
		}
	})
	t.Run("an error after the stream began", func(t *testing.T) {
		_, body := withToken("fails", `1`)
		if got := events(body); len(got) != 2 || !strings.Contains(got[1], `"error":{"code":-32600,"message":"no"}`) {
			t.Error(body)
		}
	})
	t.Run("legacy has progress too", func(t *testing.T) {
		w := legacy(s, mcp.Revision20250326, "tools/call", `"name":"steps","_meta":{"progressToken":5}`)
		if got := events(w.Body.String()); len(got) != 4 || !strings.Contains(got[0], `"progressToken":5`) {
			t.Error(w.Body)
		}
	})
	t.Run("a batch drops it", func(t *testing.T) {
		w := post(s, `[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"steps","_meta":{"progressToken":5}}}]`)
		if w.Header().Get("Content-Type") != "application/json" || strings.Contains(w.Body.String(), "progress") {
			t.Error(w.Body)
		}
	})
}

func TestLog(t *testing.T) {
	t.Parallel()
	s := streamServer(t)
	const warning = `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"warning","logger":"main","data":{"n":1}}}`
	at := func(level string) []string {
		meta := modernMeta
		if level != "" {
			meta = strings.Replace(modernMeta, `"_meta":{`, `"_meta":{"io.modelcontextprotocol/logLevel":"`+level+`",`, 1)
		}
		w := post(s, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"logs",`+meta+`}}`, v2026, "Mcp-Method: tools/call", "Mcp-Name: logs")
		return events(w.Body.String())
	}
	if got := at(""); len(got) != 1 {
		t.Errorf("§3 without logLevel: %q", got)
	}
	if got := at("info"); len(got) != 2 || got[0] != warning {
		t.Errorf("§3 info: %q", got)
	}
	if got := at("debug"); len(got) != 3 {
		t.Errorf("§3 debug: %q", got)
	}
	if got := at("error"); len(got) != 1 {
		t.Errorf("§3 error: %q", got)
	}
	w := legacy(s, mcp.Revision20251125, "tools/call", `"name":"logs"`)
	if got := events(w.Body.String()); len(got) != 2 || got[0] != warning {
		t.Errorf("legacy: %q", got)
	}
}

func TestListen(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	t.Run("§6 acknowledged with what is honoured, then the result", func(t *testing.T) {
		w := modern(s, "subscriptions/listen", `"notifications":{"toolsListChanged":true}`)
		got := events(w.Body.String())
		want := []string{
			`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":1},"notifications":{}}}`,
			`{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"tester","version":"1.0"},"io.modelcontextprotocol/subscriptionId":1}}}`,
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	})
	wantError(t, modern(s, "subscriptions/listen", ""), 400, mcp.CodeInvalidParams)
	wantError(t, modern(s, "subscriptions/listen", `"notifications":{}`, "Accept: application/json"), 406, mcp.CodeInvalidRequest)
	wantError(t, legacy(s, mcp.Revision20251125, "subscriptions/listen", `"notifications":{}`), 200, mcp.CodeMethodNotFound)
}
