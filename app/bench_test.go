package app_test

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/libtnb/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"gatehouse/app"
	"gatehouse/app/apptest"
	"gatehouse/oauth"
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

// BenchmarkToken is a code exchange and a refresh through every layer but the socket, on SQLite.
func BenchmarkToken(b *testing.B) {
	path := filepath.Join(b.TempDir(), "gatehouse.db")
	h := inProcess(b, "sqlite://"+path, time.Now)
	c := h.client(b)
	tokens, err := c.Connect(h.person)
	if err != nil {
		b.Fatal(err)
	}
	d, err := gorm.Open(sqlite.Open("file:"+path+"?_pragma=busy_timeout(10000)"), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		b.Fatal(err)
	}
	// What a decision stores, again and again: the code that was just redeemed, as a fresh one.
	store := func(codes []string) {
		for _, code := range codes {
			hash := oauth.HashSecret(code)
			err := d.Exec(`INSERT INTO authorization_codes (request_id, hash, user_id, client_id, resource, scopes, terms, redirect_uri, code_challenge, auth_time, issued_at, expires_at)
				SELECT request_id, ?, user_id, client_id, resource, scopes, terms, redirect_uri, code_challenge, auth_time, issued_at, expires_at + 86400000 FROM authorization_codes LIMIT 1`, hash).Error
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	n := 0
	post := func(form url.Values) string {
		form.Set("client_id", c.ID)
		n++
		r := httptest.NewRequest(http.MethodPost, h.url+"/token", strings.NewReader(form.Encode()))
		r.RemoteAddr = fmt.Sprintf("198.18.%d.%d:1", n/200%256, n%200)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		h.app.Handler().ServeHTTP(w, r)
		var answer apptest.Tokens
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code != http.StatusOK {
			b.Fatalf("%d %s", w.Code, w.Body)
		}
		return answer.RefreshToken
	}
	b.Run("code", func(b *testing.B) {
		codes := make([]string, b.N)
		for i := range codes {
			codes[i] = rand.Text()
		}
		store(codes)
		b.ReportAllocs()
		b.ResetTimer()
		for _, code := range codes {
			post(url.Values{"grant_type": {"authorization_code"}, "code": {code}, "code_verifier": {c.Verifier}, "redirect_uri": {c.Redirect}})
		}
	})
	b.Run("refresh", func(b *testing.B) {
		b.ReportAllocs()
		refresh := tokens.RefreshToken
		for range b.N {
			refresh = post(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {refresh}})
		}
		tokens.RefreshToken = refresh
	})
}
