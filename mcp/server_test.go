package mcp_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"gatehouse/mcp"
)

func TestConstruction(t *testing.T) {
	t.Parallel()
	note := func(uri, name, description string) *mcp.Resource {
		return mcp.TextResource(mcp.Resource{URI: uri, Name: name, Description: description}, "")
	}
	named := func(name string) *mcp.Tool { return tool(t, mcp.ToolSpec{Name: name}, greet) }
	silent, err := mcp.NewTool(mcp.ToolSpec{Name: "silent"}, greet)
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", 31)
	for name, tc := range map[string]struct {
		opts []mcp.Option
		want string
	}{
		"tool name empty":           {[]mcp.Option{mcp.WithTools(named(""))}, `tool "": name must be`},
		"tool name with a space":    {[]mcp.Option{mcp.WithTools(named("a b"))}, `tool "a b": name must be`},
		"tool name too long":        {[]mcp.Option{mcp.WithTools(named(long))}, "31 characters, at most 30"},
		"tool twice":                {[]mcp.Option{mcp.WithTools(named("a"), named("a"))}, `tool "a": registered twice`},
		"tool without description":  {[]mcp.Option{mcp.WithTools(silent)}, `tool "silent": description is missing`},
		"tool not made by NewTool":  {[]mcp.Option{mcp.WithTools(&mcp.Tool{Name: "a"})}, "not made by NewTool"},
		"tool nil":                  {[]mcp.Option{mcp.WithTools(nil)}, "not made by NewTool"},
		"both faults are named":     {[]mcp.Option{mcp.WithTools(named("a b"), silent)}, `tool "silent"`},
		"resource URI relative":     {[]mcp.Option{mcp.WithResources(note("x", "n", "d"))}, `resource "x": URI is not absolute`},
		"resource twice":            {[]mcp.Option{mcp.WithResources(note("a:x", "n", "d"), note("a:x", "n", "d"))}, "registered twice"},
		"resource without name":     {[]mcp.Option{mcp.WithResources(note("a:x", "", "d"))}, "name is missing"},
		"resource undescribed":      {[]mcp.Option{mcp.WithResources(note("a:x", "n", ""))}, "description is missing"},
		"resource without a reader": {[]mcp.Option{mcp.WithResources(&mcp.Resource{URI: "a:x", Name: "n", Description: "d"})}, "no reader"},
		"body limit":                {[]mcp.Option{mcp.WithBodyLimit(0)}, "body limit must be positive"},
		"depth":                     {[]mcp.Option{mcp.WithMaxDepth(-1)}, "max depth must be positive"},
		"deadline":                  {[]mcp.Option{mcp.WithToolDeadline(0)}, "tool deadline must be positive"},
		"name limit":                {[]mcp.Option{mcp.WithToolNameLimit(129)}, "between 1 and 128"},
		"logger":                    {[]mcp.Option{mcp.WithLogger(nil)}, "logger is nil"},
		"list TTL":                  {[]mcp.Option{mcp.WithListTTL(-1)}, "list TTL is negative"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := mcp.NewServer(mcp.Implementation{Name: "n", Version: "v"}, tc.opts...)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("err = %v, want %q", err, tc.want)
			}
		})
	}
	if _, err := mcp.NewServer(mcp.Implementation{Name: "n"}); err == nil {
		t.Error("no version: no error")
	}
	if _, err := mcp.NewServer(mcp.Implementation{Name: "n", Version: "v"}, mcp.WithTools(named(long)), mcp.WithToolNameLimit(128)); err != nil {
		t.Error(err)
	}
	if _, err := mcp.NewTool[greetIn, greetOut](mcp.ToolSpec{Name: "x"}, nil); err == nil {
		t.Error("no handler: no error")
	}
}

type toolList struct {
	Tools []struct {
		Name        string
		Annotations map[string]any
		Meta        map[string]any `json:"_meta"`
		Output      map[string]any `json:"outputSchema"`
	}
	TTLMs      *int   `json:"ttlMs"`
	CacheScope string `json:"cacheScope"`
	ResultType string `json:"resultType"`
}

func (l toolList) names() string {
	var out []string
	for _, t := range l.Tools {
		out = append(out, t.Name)
	}
	return strings.Join(out, " ")
}

func TestToolsList(t *testing.T) {
	t.Parallel()
	s := newServer(t, mcp.WithListTTL(3_600_000_000_000), mcp.WithTools(tool(t, mcp.ToolSpec{
		Name: "b", OutputSchema: mcp.Infer, Meta: map[string]any{"example.com/x": 1},
		Annotations: mcp.Annotations{ReadOnlyHint: true},
	}, greet), tool(t, mcp.ToolSpec{Name: "a"}, greet)))
	var l toolList
	result(t, modern(s, "tools/list", ""), &l)
	if l.names() != "greet b a" || *l.TTLMs != 3_600_000 || l.CacheScope != "public" || l.ResultType != "complete" {
		t.Errorf("%+v", l)
	}
	for _, tool := range l.Tools {
		for _, hint := range []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} {
			if _, ok := tool.Annotations[hint]; !ok {
				t.Errorf("%s lacks %s", tool.Name, hint)
			}
		}
	}
	if l.Tools[1].Output["type"] != "object" || l.Tools[1].Meta["example.com/x"] != 1.0 {
		t.Errorf("%+v", l.Tools[1])
	}
	w := legacy(s, mcp.Revision20251125, "tools/list", "")
	for _, field := range []string{"ttlMs", "cacheScope", "resultType", "serverInfo"} {
		if strings.Contains(w.Body.String(), field) {
			t.Errorf("§7 %s in a legacy answer", field)
		}
	}
}

type callerKey struct{}

// as sets who calls, the way a layer above would.
func as(s http.Handler, caller string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, caller)))
	})
}

func TestView(t *testing.T) {
	t.Parallel()
	var judged atomic.Int64
	view := mcp.WithView(func(ctx context.Context) mcp.View {
		caller, _ := ctx.Value(callerKey{}).(string)
		return mcp.View{
			Key: caller,
			Tool: func(t *mcp.Tool) bool {
				judged.Add(1)
				return caller == "owner" || t.Name != "drop"
			},
			Resource: func(*mcp.Resource) bool { return caller == "owner" },
		}
	})
	drop := mcp.WithTools(tool(t, mcp.ToolSpec{Name: "drop"}, greet))
	s := newServer(t, drop, view)
	for range 3 {
		for caller, want := range map[string]string{"owner": "greet drop", "guest": "greet"} {
			var l toolList
			result(t, modern(as(s, caller), "tools/list", ""), &l)
			if l.names() != want || l.CacheScope != "private" {
				t.Errorf("%s: %s (%s), want %s", caller, l.names(), l.CacheScope, want)
			}
		}
	}
	if n := judged.Load(); n != 4 {
		t.Errorf("tools were judged %d times, want once per caller", n)
	}
	t.Run("equal sets share one encoding", func(t *testing.T) {
		for i := range 2000 { // beyond the bound on keys
			var l toolList
			result(t, modern(as(s, fmt.Sprint("guest", i)), "tools/list", ""), &l)
			if l.names() != "greet" {
				t.Fatalf("guest%d: %s", i, l.names())
			}
		}
	})
	t.Run("a hidden tool is unknown", func(t *testing.T) {
		wantError(t, call(as(s, "guest"), "drop", `{"name":"A"}`), 400, mcp.CodeInvalidParams)
		result(t, call(as(s, "owner"), "drop", `{"name":"A"}`), &struct{}{})
	})
	t.Run("a hidden resource is unknown", func(t *testing.T) {
		wantError(t, modern(as(s, "guest"), "resources/read", `"uri":"test://note"`, "Mcp-Name: test://note"), 400, mcp.CodeInvalidParams)
		w := modern(as(s, "guest"), "resources/list", "")
		if !strings.Contains(w.Body.String(), `"resources":[],`) {
			t.Error(w.Body)
		}
	})
	t.Run("an authorize hook decides about hidden tools", func(t *testing.T) {
		s := newServer(t, drop, view, mcp.WithAuthorize(func(_ context.Context, c *mcp.Call) error {
			if !c.Visible() {
				return &mcp.HTTPRefusal{Status: 403, Message: "scope"}
			}
			return nil
		}))
		wantError(t, call(as(s, "guest"), "drop", `{}`), 403, mcp.CodeInvalidRequest)
		wantError(t, call(as(s, "guest"), "nope", `{}`), 400, mcp.CodeInvalidParams)
		result(t, call(as(s, "owner"), "drop", `{"name":"A"}`), &struct{}{})
	})
	t.Run("without a key", func(t *testing.T) {
		odd := 0
		s := newServer(t, drop, mcp.WithView(func(context.Context) mcp.View {
			odd++
			return mcp.View{Tool: func(t *mcp.Tool) bool { return odd%2 == 0 || t.Name != "drop" }}
		}))
		var got []string
		for range 4 {
			var l toolList
			result(t, modern(s, "tools/list", ""), &l)
			got = append(got, l.names())
		}
		if !slices.Equal(got, []string{"greet", "greet drop", "greet", "greet drop"}) {
			t.Errorf("%q", got)
		}
	})
	var d struct {
		CacheScope string `json:"cacheScope"`
	}
	result(t, modern(s, "server/discover", ""), &d)
	if d.CacheScope != "private" {
		t.Errorf("discover is %s", d.CacheScope)
	}
}
