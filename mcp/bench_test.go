package mcp_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"gatehouse/mcp"
)

const benchLegacy = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet","arguments":{"name":"World","count":3}}}`

const benchModern = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet","arguments":{"name":"World","count":3},` + modernMeta + `}}`

// sink is a ResponseWriter that costs nothing.
type sink struct{ h http.Header }

func (s *sink) Header() http.Header         { return s.h }
func (s *sink) Write(p []byte) (int, error) { return len(p), nil }
func (s *sink) WriteHeader(int)             {}

func benchHandler(b *testing.B, s http.Handler, body string, headers map[string]string) {
	b.Helper()
	r := httptest.NewRequest(http.MethodPost, "/mcp", nil)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for k, v := range headers {
		r.Header.Set(k, v)
	}
	r.ContentLength = int64(len(body))
	w := &sink{h: http.Header{}}
	reader := strings.NewReader(body)
	r.Body = io.NopCloser(reader)
	b.ReportAllocs()
	for b.Loop() {
		reader.Reset(body)
		clear(w.h)
		s.ServeHTTP(w, r)
	}
}

var modernHeaders = map[string]string{"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "greet"}

func BenchmarkCallLegacy(b *testing.B) {
	benchHandler(b, newServer(b), benchLegacy, map[string]string{"MCP-Protocol-Version": "2025-06-18"})
}

func BenchmarkCallModern(b *testing.B) {
	benchHandler(b, newServer(b), benchModern, modernHeaders)
}

func BenchmarkToolsList40(b *testing.B) {
	var tools []*mcp.Tool
	for i := range 39 {
		tools = append(tools, tool(b, mcp.ToolSpec{Name: fmt.Sprintf("tool_%d", i)}, greet))
	}
	s := newServer(b, mcp.WithTools(tools...), mcp.WithView(func(context.Context) mcp.View {
		return mcp.View{Key: "all"}
	}))
	benchHandler(b, s, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, nil)
}

// BenchmarkBytes is the floor: read the body, write the same answer.
func BenchmarkBytes(b *testing.B) {
	answer := post(newServer(b), benchLegacy, "MCP-Protocol-Version: 2025-06-18").Body.Bytes()
	benchHandler(b, bytesHandler(answer), benchLegacy, nil)
}

func bytesHandler(answer []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answer)
	})
}

// BenchmarkHTTP compares both behind a real server, client included.
func BenchmarkHTTP(b *testing.B) {
	s := newServer(b)
	answer := post(s, benchModern, "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: greet").Body.Bytes()
	for name, h := range map[string]http.Handler{"bytes": bytesHandler(answer), "mcp": s} {
		b.Run(name, func(b *testing.B) {
			srv := httptest.NewServer(h)
			defer srv.Close()
			b.ReportAllocs()
			for b.Loop() {
				r, _ := http.NewRequest(http.MethodPost, srv.URL, strings.NewReader(benchModern))
				r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
				for k, v := range modernHeaders {
					r.Header.Set(k, v)
				}
				res, err := srv.Client().Do(r)
				if err != nil {
					b.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, res.Body)
				_ = res.Body.Close()
			}
		})
	}
}

// TestCallAllocations keeps the way of a call through the package lean.
func TestCallAllocations(t *testing.T) {
	s := newServer(t)
	for name, tc := range map[string]struct {
		body    string
		headers map[string]string
		most    float64
	}{
		"legacy": {benchLegacy, map[string]string{"MCP-Protocol-Version": "2025-06-18"}, 40},
		"modern": {benchModern, modernHeaders, 40},
	} {
		r := httptest.NewRequest(http.MethodPost, "/mcp", nil)
		r.Header.Set("Content-Type", "application/json")
		for k, v := range tc.headers {
			r.Header.Set(k, v)
		}
		reader := strings.NewReader(tc.body)
		r.Body, r.ContentLength = io.NopCloser(reader), int64(len(tc.body))
		w := &sink{h: http.Header{}}
		got := testing.AllocsPerRun(200, func() {
			reader.Reset(tc.body)
			s.ServeHTTP(w, r)
		})
		if got > tc.most {
			t.Errorf("%s: %.0f allocations, at most %.0f", name, got, tc.most)
		}
	}
}
