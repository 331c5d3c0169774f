package app_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"gatehouse/app"
)

// BenchmarkCall is one request to /mcp through every layer but the socket: signature, row, JSON-RPC, tool.
func BenchmarkCall(b *testing.B) { benchmarkCalls(b, "jwt") }

// BenchmarkCallOpaque is the same with access tokens that are looked up.
func BenchmarkCallOpaque(b *testing.B) { benchmarkCalls(b, "opaque") }

func benchmarkCalls(b *testing.B, format string) {
	h := inProcess(b, "", time.Now, func(c *app.Config) { c.AccessTokenFormat = format })
	tokens, err := h.client(b).Connect(h.person)
	if err != nil {
		b.Fatal(err)
	}
	handler, url, token := h.app.Handler(), h.url, tokens.AccessToken
	for _, bc := range []struct{ name, body string }{
		{"list_locations", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_locations","arguments":{}}}`},
		{"where_is", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"where_is","arguments":{"query":"torch"}}}`},
		{"tools_list", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`},
	} {
		b.Run(bc.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r := httptest.NewRequest(http.MethodPost, url+"/mcp", strings.NewReader(bc.body))
				r.Header.Set("Authorization", "Bearer "+token)
				r.Header.Set("Content-Type", "application/json")
				r.Header.Set("MCP-Protocol-Version", "2025-06-18")
				w := httptest.NewRecorder()
				handler.ServeHTTP(w, r)
				if w.Code != http.StatusOK {
					b.Fatalf("%d %s", w.Code, w.Body)
				}
			}
		})
	}
}
