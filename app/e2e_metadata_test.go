package app_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"gatehouse/app/apptest"
)

// The published documents, and which sites may read what.

func decoded(t *testing.T, a *rawAnswer) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(a.body), &m); err != nil || a.status != http.StatusOK {
		t.Fatalf("%d %s: %v", a.status, a.body, err)
	}
	return m
}

func TestMetadataDocuments(t *testing.T) {
	t.Parallel()
	p := apptest.Start(t)
	server, openID := decoded(t, send(t, "GET", p.URL+pathServer, "")), decoded(t, send(t, "GET", p.URL+pathOpenID, ""))
	list := func(m map[string]any, name string) []string {
		var out []string
		values, _ := m[name].([]any)
		for _, v := range values {
			out = append(out, v.(string))
		}
		return out
	}
	for _, m := range []map[string]any{server, openID} {
		for name, want := range map[string]string{
			"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token", "registration_endpoint": p.URL + "/register", "revocation_endpoint": p.URL + "/revoke", "jwks_uri": p.URL + pathKeys,
		} {
			if m[name] != want {
				t.Errorf("MD-5 %s is %v; want %s", name, m[name], want)
			}
		}
		if !slices.Equal(list(m, "response_types_supported"), []string{"code"}) || !slices.Equal(list(m, "code_challenge_methods_supported"), []string{"S256"}) {
			t.Errorf("MD-5 PK-6 %v %v", m["response_types_supported"], m["code_challenge_methods_supported"])
		}
		for _, name := range []string{"token_endpoint_auth_methods_supported", "revocation_endpoint_auth_methods_supported"} {
			if methods := list(m, name); !slices.Contains(methods, "none") || !slices.Contains(methods, "client_secret_post") || !slices.Contains(methods, "client_secret_basic") {
				t.Errorf("MD-6 %s %v", name, methods)
			}
		}
		if m["authorization_response_iss_parameter_supported"] != true || m["client_id_metadata_document_supported"] != true || m["request_uri_parameter_supported"] != false {
			t.Errorf("MD-7 MD-8 %v", m)
		}
		for name, v := range m {
			if values, ok := v.([]any); v == nil || ok && len(values) == 0 {
				t.Errorf("MD-1 %s is there without a value", name)
			}
			// What is named must be there: no endpoint that answers 404.
			if u, ok := v.(string); ok && strings.HasSuffix(name, "_endpoint") {
				if a := send(t, "OPTIONS", u, ""); a.status != http.StatusNoContent {
					t.Errorf("MD-1 %s answers %d", name, a.status)
				}
			}
		}
	}
	for name, v := range server {
		if got, want := jsonOf(t, openID[name]), jsonOf(t, v); got != want {
			t.Errorf("MD-8 %s: %s and %s", name, got, want)
		}
	}
	if len(list(openID, "subject_types_supported")) == 0 || len(list(openID, "id_token_signing_alg_values_supported")) == 0 {
		t.Errorf("MD-8 %v", openID)
	}
	root, full := decoded(t, send(t, "GET", p.URL+pathResource, "")), decoded(t, send(t, "GET", p.URL+pathResource+"/mcp", ""))
	for _, m := range []map[string]any{root, full} {
		if m["resource"] != p.URL+"/mcp" || !slices.Equal(list(m, "authorization_servers"), []string{p.URL}) || !slices.Equal(list(m, "bearer_methods_supported"), []string{"header"}) {
			t.Errorf("PR-1 PR-2 %v", m)
		}
		if !slices.Equal(list(m, "scopes_supported"), []string{"home:read"}) || m["resource_name"] == nil || m["jwks_uri"] != nil {
			t.Errorf("PR-3 %v", m)
		}
	}
	if scopes := list(server, "scopes_supported"); !slices.Contains(scopes, "offline_access") || slices.Contains(list(full, "scopes_supported"), "offline_access") {
		t.Errorf("RT-8 %v", scopes)
	}
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestDocumentHeaders(t *testing.T) {
	t.Parallel()
	p := apptest.Start(t, "GATEHOUSE_TRUSTED_PROXIES=127.0.0.1")
	for _, path := range documentPaths {
		a := send(t, "GET", p.URL+path, "", "Accept: application/json")
		if cache := a.header.Get("Cache-Control"); cache != "public, max-age=300" || a.header.Get("ETag") == "" || a.header.Get("Access-Control-Allow-Origin") != "*" || !strings.HasPrefix(a.header.Get("Content-Type"), "application/json") {
			t.Errorf("MD-9 %s: %v", path, a.header)
		}
		if head := send(t, "HEAD", p.URL+path, ""); head.status != http.StatusOK || head.body != "" || head.header.Get("ETag") != a.header.Get("ETag") {
			t.Errorf("MD-9 HEAD %s: %d %v", path, head.status, head.header)
		}
		for _, tag := range []string{a.header.Get("ETag"), "W/" + a.header.Get("ETag"), `"x", ` + a.header.Get("ETag"), "*"} {
			if again := send(t, "GET", p.URL+path, "", "If-None-Match: "+tag); again.status != http.StatusNotModified || again.body != "" {
				t.Errorf("MD-9 %s If-None-Match %s: %d", path, tag, again.status)
			}
		}
		for _, fields := range [][]string{
			{"Host: evil.example"}, {"Host: evil.example:8080", "X-Forwarded-Host: evil.example", "X-Forwarded-Proto: https", "Forwarded: host=evil.example;proto=https", "X-Forwarded-Prefix: /x", "X-Original-URL: /token"},
			{"Host: " + strings.ToUpper(strings.TrimPrefix(p.URL, "http://")) + "."}, {"Accept: text/html"}, {"MCP-Protocol-Version: 2026-07-28"}, {"Origin: https://evil.example"}, {"Authorization: Bearer x"},
		} {
			if other := send(t, "GET", p.URL+path, "", fields...); other.status != http.StatusOK || other.body != a.body {
				t.Errorf("X-2 %s with %q: %d %s", path, fields, other.status, other.body)
			}
		}
	}
	b := mustSignIn(t, p.AddUser(t, "ada@example.com"), p.URL)
	c := enteredClient(t, p, callback)
	fields := []string{"Host: evil.example", "X-Forwarded-Host: evil.example"}
	for _, cookie := range b.Cookies(p.URL) {
		fields = append(fields, "Cookie: "+cookie.Name+"="+cookie.Value)
	}
	a := send(t, "GET", withQuery(t, c.AuthorizeURL(), "response_type", "x"), "", fields...)
	checkAnswer(t, p, a.header.Get("Location"), "st-1", "unsupported_response_type")
}

func TestOneIssuer(t *testing.T) {
	t.Parallel()
	check := func(t *testing.T, p *apptest.Program, client *http.Client) {
		b := p.AddUser(t, "ada@example.com")
		if client != nil {
			b.Through(client)
		} else {
			client = plainHTTP
		}
		get := func(path string) map[string]any { return decoded(t, sendBy(t, client, "GET", p.URL+path, nil)) }
		c := enteredClient(t, p, callback)
		c.HTTP = client
		tokens := connected(t, c, b) // checks iss of the answer
		header, claims := segments(t, tokens.AccessToken)
		page := mustGet(t, b, withQuery(t, c.AuthorizeURL(), "response_type", "x"))
		q := checkAnswer(t, p, page.Header.Get("Location"), "st-1", "unsupported_response_type")
		for where, got := range map[string]any{
			"server metadata": get(pathServer)["issuer"], "openid-configuration": get(pathOpenID)["issuer"], "authorization_servers": get(pathResource + "/mcp")["authorization_servers"].([]any)[0],
			"error redirect": q.Get("iss"), "access token": claims["iss"],
		} {
			if got != p.URL {
				t.Errorf("MD-2 %s says %v; want %s", where, got, p.URL)
			}
		}
		if claims["aud"] != p.URL+"/mcp" || header["typ"] != "at+jwt" || header["kid"] == nil || header["alg"] == nil {
			t.Errorf("AT-1 RI-3 header %v, aud %v", header, claims["aud"])
		}
		for _, name := range []string{"iss", "exp", "aud", "sub", "client_id", "iat", "jti", "scope", "cid", "fam"} {
			if claims[name] == nil {
				t.Errorf("AT-1 the token has no %s", name)
			}
		}
		if found := contains(jsonOf(t, claims), "ada@", "Ada", "example.com", "email"); found != "" {
			t.Errorf("AT-4 the token holds %s", found)
		}
		if r, err := apptest.CallBy(client, p.URL, tokens.AccessToken, "tools/list", ""); err != nil || r.Status != http.StatusOK {
			t.Errorf("%v %+v", err, r)
		}
		r, err := apptest.CallBy(client, p.URL, "", "ping", "")
		if err != nil || !strings.Contains(r.Header.Get("WWW-Authenticate"), `resource_metadata="`+p.URL+pathResource+`/mcp"`) {
			t.Errorf("BR-1 %v %v", err, r.Header)
		}
	}
	t.Run("loopback", func(t *testing.T) { t.Parallel(); check(t, apptest.Start(t), nil) })
	t.Run("upper case, default port and slash", func(t *testing.T) {
		t.Parallel()
		p, client := behindTLS(t, "GATEHOUSE_PUBLIC_URL=https://HOME.example:443/")
		if p.URL != "https://home.example" {
			t.Errorf("MD-2 the public URL is %s", p.URL)
		}
		check(t, p, client)
	})
	t.Run("https", func(t *testing.T) {
		t.Parallel()
		p, client := behindTLS(t)
		check(t, p, client)
		b := apptest.NewBrowser("ada@example.com", apptest.Password)
		b.Through(client)
		page := mustOpen(t, b, p.URL+"/signin")
		if page.Header.Get("Strict-Transport-Security") == "" {
			t.Error("BH-6 no Strict-Transport-Security")
		}
		signIn := page.Form("password")
		signIn.Values.Set("email", b.Email)
		signIn.Values.Set("password", b.Password)
		for _, cookie := range mustPost(t, b, signIn).Header.Values("Set-Cookie") {
			if !strings.HasPrefix(cookie, "__Host-") || contains(cookie, "Secure", "HttpOnly", "SameSite=Lax", "Path=/") != "Secure, HttpOnly, SameSite=Lax, Path=/" || strings.Contains(cookie, "Domain") {
				t.Errorf("SE-1 %s", strings.SplitN(cookie, "=", 2)[0])
			}
		}
	})
}

func TestOAuthOffOverPlainHTTP(t *testing.T) {
	t.Parallel()
	p := apptest.Start(t, "GATEHOUSE_PUBLIC_URL=http://home.example")
	at := "http://" + p.Bound(t)
	for _, path := range slices.Concat(documentPaths, []string{"/authorize"}) {
		if a := send(t, "GET", at+path, "", "Accept: application/json"); a.status != http.StatusNotFound {
			t.Errorf("KE-109 %s: %d", path, a.status)
		}
	}
	for _, path := range backChannels {
		if a := send(t, "POST", at+path, "", formType); a.status != http.StatusNotFound {
			t.Errorf("KE-109 %s: %d", path, a.status)
		}
	}
	if a := send(t, "POST", at+"/mcp", "{}", "Host: home.example"); a.status != http.StatusUnauthorized || strings.Contains(a.header.Get("WWW-Authenticate"), "resource_metadata") {
		t.Errorf("KE-109 /mcp: %d %q", a.status, a.header.Get("WWW-Authenticate"))
	}
	if !strings.Contains(strings.ToLower(p.Logs()), "oauth") {
		t.Errorf("KE-109 the log does not say why: %s", p.Logs())
	}
}

func TestCrossOrigin(t *testing.T) {
	t.Parallel()
	const inspector = "http://localhost:6274"
	p := apptest.Start(t, "GATEHOUSE_ALLOWED_ORIGINS="+inspector)
	preflight := func(path, method, headers, origin string) *rawAnswer {
		return send(t, "OPTIONS", p.URL+path, "", "Origin: "+origin, "Access-Control-Request-Method: "+method, "Access-Control-Request-Headers: "+headers)
	}
	has := func(list string, names ...string) bool {
		var got []string
		for v := range strings.SplitSeq(strings.ToLower(list), ",") {
			got = append(got, strings.TrimSpace(v))
		}
		return !slices.ContainsFunc(names, func(n string) bool { return !slices.Contains(got, strings.ToLower(n)) })
	}
	check := func(what string, a *rawAnswer, origin, method string, headers ...string) {
		t.Helper()
		if a.status != http.StatusNoContent || a.header.Get("Access-Control-Allow-Origin") != origin || !has(a.header.Get("Access-Control-Allow-Methods"), method) || !has(a.header.Get("Access-Control-Allow-Headers"), headers...) {
			t.Errorf("CO-1 CO-2 %s: %d %v", what, a.status, a.header)
		}
		if a.header.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("CO-2 %s allows credentials", what)
		}
	}
	for _, path := range documentPaths {
		check(path, preflight(path, "GET", "mcp-protocol-version", "https://any.example"), "*", "GET", "MCP-Protocol-Version", "Accept", "Content-Type", "Authorization")
		for _, at := range []string{path, "/.well-known/none"} {
			if a := send(t, "GET", p.URL+at, "", "Origin: https://any.example"); a.header.Get("Access-Control-Allow-Origin") != "*" || !has(a.header.Get("Access-Control-Expose-Headers"), "ETag") {
				t.Errorf("CO-1 %s: %v", at, a.header)
			}
		}
	}
	for _, path := range backChannels {
		check(path, preflight(path, "POST", "authorization,content-type,dpop", "https://any.example"), "*", "POST", "Authorization", "Content-Type", "DPoP", "MCP-Protocol-Version", "Accept")
		for name, a := range map[string]*rawAnswer{
			"400": send(t, "POST", p.URL+path, "", "Origin: https://any.example"), "405": send(t, "GET", p.URL+path, "", "Origin: https://any.example"),
			"401": send(t, "POST", p.URL+path, "client_id=x&token=x&grant_type=x", "Origin: https://any.example", formType),
			"413": send(t, "POST", p.URL+path, strings.Repeat("x", 70000), "Origin: https://any.example", formType),
		} {
			if a.header.Get("Access-Control-Allow-Origin") != "*" || !has(a.header.Get("Access-Control-Expose-Headers"), "WWW-Authenticate", "DPoP-Nonce", "Retry-After") || a.header.Get("Access-Control-Allow-Credentials") != "" {
				t.Errorf("CO-1 CO-3 %s with %s (%d): %v", path, name, a.status, a.header)
			}
		}
	}
	names := "authorization, content-type, mcp-protocol-version, mcp-session-id, mcp-method, mcp-name, last-event-id, mcp-param-region, x-other"
	check("/mcp", preflight("/mcp", "POST", names, inspector), inspector, "POST", "Authorization", "Content-Type", "Accept", "MCP-Protocol-Version", "Mcp-Session-Id", "Mcp-Method", "Mcp-Name", "Mcp-Param-Region", "Last-Event-ID")
	check("/mcp GET", preflight("/mcp", "GET", "authorization", inspector), inspector, "GET", "Authorization")
	check("/mcp DELETE", preflight("/mcp", "DELETE", "authorization", p.URL), p.URL, "DELETE", "Authorization")
	if a := preflight("/mcp", "POST", names, inspector); has(a.header.Get("Access-Control-Allow-Headers"), "x-other") || a.header.Get("Vary") == "" {
		t.Errorf("CO-2 %v", a.header)
	}
	for _, origin := range []string{"https://evil.example", "null", "http://localhost:6275", inspector + ".evil.example", ""} {
		if a := preflight("/mcp", "POST", "authorization", origin); a.header.Get("Access-Control-Allow-Origin") != "" || a.header.Get("Access-Control-Allow-Headers") != "" || a.status >= 500 {
			t.Errorf("BR-11 preflight from %q: %d %v", origin, a.status, a.header)
		}
	}
	for _, method := range []string{"POST", "GET", "DELETE"} {
		a := send(t, method, p.URL+"/mcp", "{}", "Origin: "+inspector)
		if a.status != http.StatusUnauthorized || a.header.Get("Access-Control-Allow-Origin") != inspector || !has(a.header.Get("Access-Control-Expose-Headers"), "WWW-Authenticate", "MCP-Protocol-Version", "Mcp-Session-Id") {
			t.Errorf("CO-3 %s /mcp: %d %v", method, a.status, a.header)
		}
	}
	for _, path := range []string{"/authorize", "/oauth/authorize", "/authorize/x", "/authorize/x/decision", "/signin", "/setup", "/", "/settings/connections", "/settings/account", "/nothing"} {
		for _, a := range []*rawAnswer{preflight(path, "POST", "authorization", p.URL), send(t, "GET", p.URL+path, "", "Origin: https://any.example"), send(t, "POST", p.URL+path, "", "Origin: https://any.example", formType)} {
			for name := range a.header {
				if strings.HasPrefix(name, "Access-Control-") {
					t.Errorf("AZ-14 %s sends %s (%d)", path, name, a.status)
				}
			}
		}
	}
}
