package web_test

import (
	"net/http"
	"strings"
	"testing"
)

func TestDocuments(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	paths := []string{
		"/.well-known/oauth-authorization-server", "/.well-known/openid-configuration", "/.well-known/oauth-protected-resource",
		"/.well-known/oauth-protected-resource/mcp", "/.well-known/jwks.json",
	}
	for _, path := range paths {
		t.Run("MD-1 MD-9 "+path, func(t *testing.T) {
			a := s.call(t, http.MethodGet, path, "", "MCP-Protocol-Version", "2026-07-28")
			if a.status != http.StatusOK || !strings.HasPrefix(a.header.Get("Content-Type"), "application/json") {
				t.Fatalf("status %d, type %s", a.status, a.header.Get("Content-Type"))
			}
			a.json(t)
			if a.header.Get("Cache-Control") != "public, max-age=300" || a.header.Get("Access-Control-Allow-Origin") != "*" || a.header.Get("Access-Control-Expose-Headers") != "ETag" {
				t.Errorf("headers %v", a.header)
			}
			again := s.call(t, http.MethodGet, path, "", "If-None-Match", `"other", W/`+a.header.Get("ETag"))
			if again.status != http.StatusNotModified || again.body != "" {
				t.Errorf("MD-9 with its ETag: %d %q", again.status, again.body)
			}
			if head := s.call(t, http.MethodHead, path, ""); head.status != http.StatusOK || head.header.Get("ETag") != a.header.Get("ETag") {
				t.Errorf("MD-9 HEAD: %d", head.status)
			}
			if slash := s.call(t, http.MethodGet, path+"/", ""); slash.status != http.StatusOK || slash.body != a.body {
				t.Errorf("X-3 with a trailing slash: %d %s", slash.status, slash.body)
			}
			if host := s.call(t, http.MethodGet, path, "", "X-Forwarded-Host", "evil.example"); host.body != a.body {
				t.Error("X-2 the document depends on the caller's headers")
			}
			post := s.call(t, http.MethodPost, path, "")
			if post.status != http.StatusMethodNotAllowed || post.header.Get("Allow") != "GET, HEAD, OPTIONS" || post.json(t)["error"] != "invalid_request" {
				t.Errorf("X-9 POST: %d %v %s", post.status, post.header.Get("Allow"), post.body)
			}
			checkPreflight(t, s, path, "GET, HEAD")
		})
	}
}

func checkPreflight(t *testing.T, s *site, path, methods string) {
	t.Helper()
	a := s.call(t, http.MethodOptions, path, "", "Origin", "https://inspector.example", "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "authorization")
	allowed := a.header.Get("Access-Control-Allow-Headers")
	if a.status != http.StatusNoContent || !strings.Contains(allowed, "Authorization") || !strings.Contains(allowed, "MCP-Protocol-Version") || a.header.Get("Access-Control-Allow-Credentials") != "" {
		t.Errorf("CO-1 CO-2 preflight of %s: %d %v", path, a.status, a.header)
	}
	if !strings.HasPrefix(a.header.Get("Access-Control-Allow-Methods"), methods) {
		t.Errorf("§22 methods %q of %s", a.header.Get("Access-Control-Allow-Methods"), path)
	}
}

func TestDocumentsAgree(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	server := s.call(t, http.MethodGet, "/.well-known/oauth-authorization-server", "").json(t)
	openID := s.call(t, http.MethodGet, "/.well-known/openid-configuration", "").json(t)
	resource := s.call(t, http.MethodGet, "/.well-known/oauth-protected-resource/mcp", "").json(t)
	root := s.call(t, http.MethodGet, "/.well-known/oauth-protected-resource", "").json(t)
	if server["issuer"] != s.url || openID["issuer"] != s.url || resource["authorization_servers"].([]any)[0] != s.url {
		t.Error("MD-2 the issuer is spelled in more than one way")
	}
	if resource["resource"] != s.url+"/mcp" || root["resource"] != s.url+"/mcp" {
		t.Errorf("PR-1 PR-2 resource %v and %v", resource["resource"], root["resource"])
	}
	for _, key := range []string{"jwks_uri", "subject_types_supported", "id_token_signing_alg_values_supported"} {
		if openID[key] == nil {
			t.Errorf("MD-8 %s is missing", key)
		}
	}
	for key, path := range map[string]string{"authorization_endpoint": "/authorize", "token_endpoint": "/token", "registration_endpoint": "/register", "revocation_endpoint": "/revoke"} {
		if server[key] != s.url+path {
			t.Errorf("settled 16 %s is %v", key, server[key])
		}
	}
}

func TestUnknownWellKnown(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, path := range []string{
		"/.well-known/oauth-authorization-server/mcp", "/.well-known/openid-configuration/mcp", "/.well-known/oauth-protected-resource/other",
		"/.well-known/nothing", "/.well-known/", "/.well-known", "/.well-known/a/b/c",
	} {
		a := s.call(t, http.MethodGet, path, "", "Accept", "text/html")
		if a.status != http.StatusNotFound || a.json(t)["error"] == nil || a.header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("MD-4 X-9 %s: %d %s", path, a.status, a.body)
		}
	}
}

func TestOAuthOff(t *testing.T) {
	t.Parallel()
	s := newSite(t, off)
	for _, path := range []string{"/.well-known/oauth-authorization-server", "/.well-known/oauth-protected-resource/mcp", "/register", "/token", "/revoke", "/par", "/introspect", "/oauth/token"} {
		if a := s.call(t, http.MethodPost, path, ""); a.status != http.StatusNotFound || a.json(t)["error"] == nil {
			t.Errorf("KE-109 %s: %d %s", path, a.status, a.body)
		}
	}
	if a := s.call(t, http.MethodGet, "/authorize?client_id=x", "", "Accept", "text/html"); a.status != http.StatusNotFound {
		t.Errorf("KE-109 /authorize: %d", a.status)
	}
	if page := s.signedIn(t).get(t, "/settings/connections"); !strings.Contains(page.body, "Personal tokens need an https address") {
		t.Error("inventory §2.5 a token is offered over plain http")
	}
}
