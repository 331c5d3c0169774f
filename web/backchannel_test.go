package web_test

import (
	"encoding/base64"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

func TestTokenEndpoint(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	client := s.register(t)
	code := s.code(t, client)
	form := url.Values{"grant_type": {"authorization_code"}, "client_id": {client}, "code": {code}, "redirect_uri": {callback}, "code_verifier": {verifier},
		"client_secret": {""}, "unknown": {"ignored", "twice"}, "resource": {""}}
	a := s.postForm(t, "/token", form, "Origin", "https://inspector.example", "User-Agent", "claude-code/2.1 (cli)")
	if a.status != http.StatusOK {
		t.Fatalf("X-5 X-6 redemption: %d %s", a.status, a.body)
	}
	body := a.json(t)
	if _, isNumber := body["expires_in"].(float64); !isNumber || body["token_type"] != "Bearer" || body["scope"] != "home:read" || body["refresh_token"] == nil {
		t.Errorf("TK-3 answer %v", body)
	}
	if a.header.Get("Cache-Control") != "no-store" || a.header.Get("Pragma") != "no-cache" {
		t.Errorf("X-8 headers %v", a.header)
	}
	if a.header.Get("Access-Control-Allow-Origin") != "*" || !strings.Contains(a.header.Get("Access-Control-Expose-Headers"), "WWW-Authenticate") {
		t.Errorf("TK-11 CO-3 headers %v", a.header)
	}
	again := s.postForm(t, "/token/", form)
	if again.status != http.StatusBadRequest || again.json(t)["error"] != "invalid_grant" {
		t.Errorf("X-3 CG-1 the same code at /token/: %d %s", again.status, again.body)
	}
	refresh := url.Values{"grant_type": {"refresh_token"}, "client_id": {client}, "refresh_token": {body["refresh_token"].(string)}}
	_ = refresh
	fresh := s.tokens(t, client)
	refresh.Set("refresh_token", fresh["refresh_token"].(string))
	if a := s.postForm(t, "/oauth/token", refresh); a.status != http.StatusOK || a.json(t)["access_token"] == nil {
		t.Errorf("settled 16 refresh at /oauth/token: %d %s", a.status, a.body)
	}
}

func TestBackChannelRefusals(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	client := s.register(t)
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte("nobody:secret"))
	for _, tc := range []struct {
		name, method, path, body string
		headers                  []string
		status                   int
		code                     string
	}{
		{"TK-1 GET", "GET", "/token", "", nil, 405, "invalid_request"},
		{"TK-1 PUT", "PUT", "/token", "", nil, 405, "invalid_request"},
		{"TK-1 JSON body", "POST", "/token", "{}", []string{"Content-Type", "application/json"}, 400, "invalid_request"},
		{"TK-1 no content type", "POST", "/token", "grant_type=x", nil, 400, "invalid_request"},
		{"TK-2 secret in the URL", "POST", "/token?client_secret=x", "grant_type=x", []string{"Content-Type", formType}, 400, "invalid_request"},
		{"TK-2 token in the URL", "POST", "/revoke?token=x", "", []string{"Content-Type", formType}, 400, "invalid_request"},
		{"X-4 client_id twice", "POST", "/token", "client_id=a&client_id=b&grant_type=refresh_token", []string{"Content-Type", formType}, 400, "invalid_request"},
		{"X-4 grant_type twice", "POST", "/token", "client_id=" + client + "&grant_type=refresh_token&grant_type=refresh_token", []string{"Content-Type", formType}, 400, "invalid_request"},
		{"X-11 form over 64 KiB", "POST", "/token", "a=" + strings.Repeat("x", 64<<10), []string{"Content-Type", formType}, 413, "invalid_request"},
		{"X-11 query over 8 KiB", "POST", "/token?a=" + strings.Repeat("x", 8<<10), "", []string{"Content-Type", formType}, 400, "invalid_request"},
		{"broken percent encoding", "POST", "/token", "a=%zz", []string{"Content-Type", formType}, 400, "invalid_request"},
		{"bytes that are no text", "POST", "/token", "code=%ff%00", []string{"Content-Type", formType}, 400, "invalid_request"},
		{"TK-4 unknown client", "POST", "/token", "grant_type=refresh_token&client_id=nobody&refresh_token=x", []string{"Content-Type", formType}, 401, "invalid_client"},
		{"TK-4 unknown client in Basic", "POST", "/token", "grant_type=refresh_token&refresh_token=x", []string{"Content-Type", formType, "Authorization", basic}, 401, "invalid_client"},
		{"TK-5 two Authorization headers", "POST", "/token", "grant_type=refresh_token", []string{"Content-Type", formType, "Authorization", basic, "Authorization", basic}, 400, "invalid_request"},
		{"TK-9 unknown grant", "POST", "/token", "grant_type=password&client_id=" + client, []string{"Content-Type", formType}, 400, "unsupported_grant_type"},
		{"RV-1 GET", "GET", "/revoke", "", nil, 405, "invalid_request"},
		{"DR-2 not JSON", "POST", "/register", "a=b", []string{"Content-Type", formType}, 400, "invalid_client_metadata"},
		{"DR-2 broken JSON", "POST", "/register", "{", []string{"Content-Type", "application/json"}, 400, "invalid_client_metadata"},
		{"DR-2 bad redirect URI", "POST", "/register", `{"redirect_uris":["http://evil.example/"]}`, []string{"Content-Type", "application/json"}, 400, "invalid_redirect_uri"},
		{"X-11 registration over 64 KiB", "POST", "/register", `{"a":"` + strings.Repeat("x", 64<<10) + `"}`, []string{"Content-Type", "application/json"}, 413, "invalid_request"},
		{"X-9 GET /register", "GET", "/register", "", nil, 405, "invalid_request"},
		{"X-9 below the token endpoint", "POST", "/token/more", "", nil, 404, "invalid_request"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			a := s.call(t, tc.method, tc.path, tc.body, tc.headers...)
			if a.status != tc.status || a.json(t)["error"] != tc.code {
				t.Fatalf("status %d %s; want %d %s", a.status, a.body, tc.status, tc.code)
			}
			if !strings.HasPrefix(a.header.Get("Content-Type"), "application/json") || a.header.Get("Cache-Control") != "no-store" || a.header.Get("Access-Control-Allow-Origin") != "*" {
				t.Errorf("X-8 X-9 CO-1 headers %v", a.header)
			}
			if tc.status == 405 && a.header.Get("Allow") != "POST, OPTIONS" {
				t.Errorf("Allow %q", a.header.Get("Allow"))
			}
			if strings.Contains(strings.Join(tc.headers, " "), "Basic") && tc.status == 401 && !strings.HasPrefix(a.header.Get("WWW-Authenticate"), "Basic ") {
				t.Errorf("TK-4 challenge %q", a.header.Get("WWW-Authenticate"))
			}
			if text, _ := a.json(t)["error_description"].(string); strings.ContainsFunc(text, func(r rune) bool { return r < 0x20 || r > 0x7e || r == '"' || r == '\\' }) {
				t.Errorf("X-7 description %q", text)
			}
		})
	}
}

func TestBackChannelPreflight(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, path := range []string{"/register", "/token", "/revoke", "/oauth/register", "/oauth/token", "/oauth/revoke", "/token/"} {
		checkPreflight(t, s, path, "POST")
	}
	if a := s.call(t, http.MethodOptions, "/authorize", "", "Origin", "https://x.example"); a.header.Get("Access-Control-Allow-Origin") != "" {
		t.Error("AZ-14 /authorize answers a preflight")
	}
}

func TestRegisterEndpoint(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	a := s.call(t, http.MethodPost, "/oauth/register/", `{"redirect_uris":["`+callback+`"]}`, "Content-Type", "application/json; charset=utf-8")
	body := a.json(t)
	if a.status != http.StatusCreated || body["client_id"] == nil || body["client_secret"] == nil || a.header.Get("Cache-Control") != "no-store" {
		t.Errorf("DR-1 %d %s", a.status, a.body)
	}
}

func TestRevokeEndpoint(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	client := s.register(t)
	tokens := s.tokens(t, client)
	for _, token := range []string{tokens["refresh_token"].(string), tokens["refresh_token"].(string), "unknown"} {
		a := s.postForm(t, "/revoke", url.Values{"token": {token}, "client_id": {client}, "token_type_hint": {"wrong"}})
		if a.status != http.StatusOK || a.body != "" || a.header.Get("Cache-Control") != "no-store" {
			t.Errorf("RV-1 %d %q", a.status, a.body)
		}
	}
	a := s.postForm(t, "/token", url.Values{"grant_type": {"refresh_token"}, "client_id": {client}, "refresh_token": {tokens["refresh_token"].(string)}})
	if a.status != http.StatusBadRequest || a.json(t)["error"] != "invalid_grant" {
		t.Errorf("RV-3 refresh after revocation: %d %s", a.status, a.body)
	}
}

func TestFailuresOfOurs(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	client := s.register(t)
	tokens := s.tokens(t, client)
	s.memory.Fail(errors.New("connection refused to 10.1.2.3"))
	a := s.postForm(t, "/token", url.Values{"grant_type": {"refresh_token"}, "client_id": {client}, "refresh_token": {tokens["refresh_token"].(string)}})
	if a.status != http.StatusServiceUnavailable || a.json(t)["error"] != "temporarily_unavailable" || a.header.Get("Retry-After") == "" {
		t.Errorf("X-10 database down: %d %s", a.status, a.body)
	}
	if strings.Contains(a.body, "10.1.2.3") {
		t.Error("the cause reached the client")
	}
	if !strings.Contains(s.log.String(), "10.1.2.3") {
		t.Error("the cause is not in the log")
	}
	page := s.browser().get(t, "/authorize?"+authorizeQuery(client).Encode())
	if page.status != http.StatusServiceUnavailable || page.header.Get("Location") != "" || strings.Contains(page.body, "10.1.2.3") {
		t.Errorf("X-10 page: %d", page.status)
	}
	s.memory.Fail(nil)
	b := s.signedIn(t)
	s.accounts.down = errors.New("connection refused to 10.1.2.3")
	page = b.get(t, "/authorize?"+authorizeQuery(client).Encode())
	if page.status != http.StatusServiceUnavailable || page.header.Get("Retry-After") == "" || strings.Contains(page.body, "10.1.2.3") {
		t.Errorf("X-10 page of somebody signed in: %d", page.status)
	}
	if s.log.Len() > 0 && strings.Contains(s.log.String(), tokens["refresh_token"].(string)) {
		t.Error("KY-6 a token is in the log")
	}
}

func TestRateLimits(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	body := `{"redirect_uris":["` + callback + `"]}`
	confidential := s.call(t, http.MethodPost, "/register", body, "Content-Type", "application/json").json(t)
	wrong := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {"x"}, "client_id": {confidential["client_id"].(string)}, "client_secret": {"guess"}}
	var last *answer
	for range 31 {
		last = s.postForm(t, "/token", wrong)
	}
	if last.status != http.StatusTooManyRequests || last.header.Get("Retry-After") == "" || last.json(t)["error"] != "temporarily_unavailable" {
		t.Errorf("TK-10 guessing a secret: %d %s", last.status, last.body)
	}
	wrong.Set("client_secret", confidential["client_secret"].(string))
	if a := s.postForm(t, "/token", wrong); a.status != http.StatusBadRequest {
		t.Errorf("TK-10 the right secret is locked out: %d %s", a.status, a.body)
	}
	for range 601 {
		last = s.call(t, http.MethodPost, "/register", "{", "Content-Type", "application/json")
	}
	if last.status != http.StatusTooManyRequests || last.header.Get("Retry-After") == "" {
		t.Errorf("X-12 registrations: %d", last.status)
	}
	elsewhere := httptest.NewRequest(http.MethodPost, s.url+"/register", strings.NewReader(body))
	elsewhere.Header.Set("Content-Type", "application/json")
	elsewhere.RemoteAddr = "198.51.100.9:40000"
	w := httptest.NewRecorder()
	if s.handler.ServeHTTP(w, elsewhere); w.Code != http.StatusCreated {
		t.Errorf("X-12 one address shuts out another: %d", w.Code)
	}
	checkPreflight(t, s, "/register", "POST") // CO-1: before the limiter
}
