package app_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"gatehouse/app"
	"gatehouse/app/apptest"
)

// inProcess is the whole server in the test's own process, with a connected client's access token.
func inProcess(tb testing.TB) (http.Handler, string, string) {
	tb.Helper()
	server := httptest.NewUnstartedServer(nil)
	cfg := app.Config{DataDir: tb.TempDir(), LogLevel: "warn", LogFormat: "json", DynamicRegistration: true, SigningAlgorithm: "ES256",
		AccessTokenLife: time.Hour, ReadsPerMinute: 1 << 30, WritesPerMinute: 1 << 30}
	a, err := app.New(tb.Context(), cfg, server.Listener.Addr().String(), "test", app.NewLogger(io.Discard, "warn", "json"), time.Now)
	if err != nil {
		tb.Fatal(err)
	}
	server.Config.Handler = a.Handler()
	server.Start()
	tb.Cleanup(func() { server.Close(); _ = a.Close() })
	admin, err := app.OpenAdmin(tb.Context(), withURL(cfg, server.URL), io.Discard)
	if err != nil {
		tb.Fatal(err)
	}
	defer admin.Close()
	if _, _, err := admin.AddUser(tb.Context(), app.NewUser{Email: "ada@example.com", Password: apptest.Password}); err != nil {
		tb.Fatal(err)
	}
	c, err := apptest.RegisterClient(server.URL, callback)
	if err != nil {
		tb.Fatal(err)
	}
	tokens, err := c.Connect(apptest.NewBrowser("ada@example.com", apptest.Password))
	if err != nil {
		tb.Fatal(err)
	}
	return a.Handler(), server.URL, tokens.AccessToken
}

func withURL(cfg app.Config, url string) app.Config {
	cfg.PublicURL = url
	return cfg
}

// BenchmarkCall is one request to /mcp through every layer but the socket: signature, row, JSON-RPC, tool.
func BenchmarkCall(b *testing.B) {
	handler, url, token := inProcess(b)
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
