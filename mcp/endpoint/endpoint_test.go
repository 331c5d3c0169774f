package endpoint_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"gatehouse/app/account"
	"gatehouse/app/home"
	"gatehouse/mcp/endpoint"
	"gatehouse/oauth"
)

const publicURL = "https://home.example"

// world is an endpoint over stand-ins that know one connection token and one personal token.
type world struct {
	*endpoint.Endpoint
	events []endpoint.Event
	reads  int
	fault  error
	ended  bool
}

const (
	goodToken     = "good.jwt.token"
	narrowedToken = "narrowed.jwt.token"
	personalToken = "gth_abcdefgh_0123456789012345678901234567890123456789012"
)

func (w *world) VerifyAccessToken(_ context.Context, token, resource string) (*oauth.AccessToken, error) {
	if resource != publicURL+"/mcp" {
		return nil, errors.New("asked for another resource")
	}
	switch token {
	case goodToken, narrowedToken:
		return &oauth.AccessToken{ID: "j", Subject: "u", ClientID: "c", ConnectionID: "conn", FamilyID: "fam",
			Scopes: []string{home.ScopeRead}, Narrowed: token == narrowedToken}, nil
	case "foreign.jwt.token":
		return &oauth.AccessToken{Subject: "somebody else", ClientID: "c", ConnectionID: "conn"}, nil
	}
	return nil, oauth.InvalidToken("The access token is not valid.")
}

func (w *world) PrincipalByConnection(_ context.Context, connection, family, jti string, _ time.Time) (*home.Principal, error) {
	w.reads++
	if w.fault != nil {
		return nil, w.fault
	}
	if w.ended {
		return nil, oauth.ErrEnded
	}
	return &home.Principal{UserID: "u", ClientID: "c", Actor: home.ActorConnection, ConnectionID: connection, FamilyID: family,
		Scopes: []string{home.ScopeRead, home.ScopeWrite}}, nil
}

func (w *world) PrincipalByToken(_ context.Context, token string) (*home.Principal, error) {
	if token != personalToken {
		return nil, account.ErrUnauthorized
	}
	return &home.Principal{UserID: "u", Actor: home.ActorToken, TokenID: "t", Scopes: []string{home.ScopeRead}}, nil
}

// ServeHTTP of next answers with the scopes of the principal it was given.
func next(w http.ResponseWriter, r *http.Request) {
	p := home.PrincipalFrom(r.Context())
	if _, err := io.ReadAll(r.Body); err != nil {
		http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	_, _ = io.WriteString(w, strings.Join(p.Scopes, " ")+" "+p.IP+" "+p.Via)
}

func newWorld(change ...func(*endpoint.Config)) *world {
	w := &world{}
	cfg := endpoint.Config{
		Profile: endpoint.HomeProfile(publicURL, true, "home:read", []string{"https://claude.ai"}),
		Verify:  w, Connections: w, Tokens: w, Next: http.HandlerFunc(next),
		Address: func(*http.Request) string { return "192.0.2.7" }, RequestID: func(http.ResponseWriter) string { return "r" },
		Observe: func(_ *http.Request, e endpoint.Event) { w.events = append(w.events, e) },
		Log:     slog.New(slog.DiscardHandler), Now: time.Now,
	}
	for _, f := range change {
		f(&cfg)
	}
	w.Endpoint = endpoint.New(cfg)
	return w
}

// ask sends one request; head is "Name: value" lines.
func (w *world) ask(method string, head ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, publicURL+"/mcp", strings.NewReader("{}"))
	for _, line := range head {
		name, value, _ := strings.Cut(line, ": ")
		if name == "Host" {
			r.Host = value
			continue
		}
		r.Header.Add(name, value)
	}
	rec := httptest.NewRecorder()
	w.ServeHTTP(rec, r)
	return rec
}

func TestBearer(t *testing.T) {
	t.Parallel()
	const metadata = `resource_metadata="https://home.example/.well-known/oauth-protected-resource/mcp"`
	for _, c := range []struct {
		name   string
		method string
		head   []string
		status int
		want   string // in the challenge
		absent string // not in the challenge
	}{
		{"BR-1 no token", "POST", nil, 401, `Bearer ` + metadata + `, scope="home:read"`, "error"},
		{"BR-8 GET without a token", "GET", nil, 401, metadata, "error"},
		{"BR-8 HEAD without a token", "HEAD", nil, 401, metadata, "error"},
		{"BR-8 DELETE without a token", "DELETE", nil, 401, metadata, "error"},
		{"BR-1 another scheme counts as none", "POST", []string{"Authorization: Basic dTpw"}, 401, metadata, "error"},
		{"BR-2 a bad token", "POST", []string{"Authorization: Bearer nonsense"}, 401, `error="invalid_token"`, ""},
		{"BR-2 a dead personal token", "POST", []string{"Authorization: Bearer gth_x"}, 401, `error="invalid_token"`, ""},
		{"BR-2 the row belongs to somebody else", "POST", []string{"Authorization: Bearer foreign.jwt.token"}, 401, `error="invalid_token"`, ""},
		{"BR-4 two Authorization fields", "POST", []string{"Authorization: Bearer " + goodToken, "Authorization: Bearer " + goodToken}, 400, `error="invalid_request"`, ""},
		{"BR-4 an empty token", "POST", []string{"Authorization: Bearer "}, 400, `error="invalid_request"`, ""},
		{"BR-6 the scheme's case does not matter", "POST", []string{"Authorization: bEARER " + goodToken}, 200, "", ""},
		{"a good token", "POST", []string{"Authorization: Bearer " + goodToken}, 200, "", ""},
		{"a personal token", "POST", []string{"Authorization: Bearer " + personalToken}, 200, "", ""},
		{"settled 5: GET with a token", "GET", []string{"Authorization: Bearer " + goodToken}, 405, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			rec := newWorld().ask(c.method, c.head...)
			challenge := rec.Header().Get("WWW-Authenticate")
			if rec.Code != c.status || !strings.Contains(challenge, c.want) || c.absent != "" && strings.Contains(challenge, c.absent) {
				t.Errorf("%d %q", rec.Code, challenge)
			}
			if (challenge == "") != (c.status == 200 || c.status == 405) {
				t.Errorf("challenge %q with status %d", challenge, rec.Code)
			}
			if c.status == 405 && rec.Header().Get("Allow") != "POST" {
				t.Errorf("Allow is %q", rec.Header().Get("Allow"))
			}
		})
	}
}

func TestQueryTokenCountsAsNone(t *testing.T) {
	t.Parallel()
	w := newWorld()
	rec := httptest.NewRecorder()
	w.ServeHTTP(rec, httptest.NewRequest(http.MethodPost, publicURL+"/mcp?access_token="+goodToken, nil))
	if rec.Code != http.StatusUnauthorized || strings.Contains(rec.Header().Get("WWW-Authenticate"), "error") {
		t.Errorf("BR-5 %d %q", rec.Code, rec.Header().Get("WWW-Authenticate"))
	}
}

func TestRowDecides(t *testing.T) {
	t.Parallel()
	w := newWorld()
	if got := w.ask("POST", "Authorization: Bearer "+goodToken).Body.String(); got != "home:read home:write 192.0.2.7 mcp" {
		t.Errorf("CN-74 the connection's scopes hold, got %q", got)
	}
	if got := w.ask("POST", "Authorization: Bearer "+narrowedToken).Body.String(); !strings.HasPrefix(got, "home:read 192") {
		t.Errorf("RT-4 a narrowed token keeps to its own, got %q", got)
	}
	if w.ended = true; w.ask("POST", "Authorization: Bearer "+goodToken).Code != http.StatusUnauthorized {
		t.Error("CN-77 an ended connection is answered")
	}
	if w.reads != 3 {
		t.Errorf("settled 19: the row was read %d times in 3 calls", w.reads)
	}
}

func TestFaultsAreNotBadTokens(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.fault = errors.New("the database is down: postgres://secret")
	rec := w.ask("POST", "Authorization: Bearer "+goodToken)
	if rec.Code != http.StatusServiceUnavailable || rec.Header().Get("Retry-After") == "" || rec.Header().Get("WWW-Authenticate") != "" {
		t.Errorf("X-10 %d %v", rec.Code, rec.Header())
	}
	if strings.Contains(rec.Body.String(), "secret") {
		t.Error("the cause reached the client")
	}
}

func TestHostAndOrigin(t *testing.T) {
	t.Parallel()
	token := "Authorization: Bearer " + goodToken
	for _, c := range []struct {
		name   string
		head   []string
		status int
		cors   string
	}{
		{"BR-11 no Origin", nil, 200, ""},
		{"BR-11 our own", []string{"Origin: https://home.example"}, 200, "https://home.example"},
		{"BR-11 a configured one", []string{"Origin: https://claude.ai"}, 200, "https://claude.ai"},
		{"BR-11 a foreign one", []string{"Origin: https://evil.example"}, 403, ""},
		{"BR-11 null", []string{"Origin: null"}, 403, ""},
		{"BR-11 two", []string{"Origin: https://home.example", "Origin: https://home.example"}, 403, "https://home.example"},
		{"H6 a foreign Host", []string{"Host: evil.example"}, 403, ""},
		{"the default port spelled out", []string{"Host: home.example:443"}, 200, ""},
		{"the host in capitals", []string{"Host: HOME.example"}, 200, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			rec := w.ask("POST", append(c.head, token)...)
			told := w.events[0].Outcome
			if refused := strings.HasSuffix(told, "_refused"); refused != (c.status == 403) || strings.HasPrefix(told, "host") && !strings.HasPrefix(c.head[0], "Host") {
				t.Errorf("the observer was told %q of a %d", told, c.status)
			}
			if rec.Code != c.status || rec.Header().Get("Access-Control-Allow-Origin") != c.cors {
				t.Errorf("%d, CORS %q", rec.Code, rec.Header().Get("Access-Control-Allow-Origin"))
			}
			if rec.Code == 403 && !strings.Contains(rec.Body.String(), `"jsonrpc":"2.0"`) {
				t.Errorf("the refusal is not JSON-RPC: %s", rec.Body)
			}
			if rec.Header().Get("Access-Control-Allow-Credentials") != "" {
				t.Error("CO-2 credentials are allowed")
			}
		})
	}
}

func TestPreflight(t *testing.T) {
	t.Parallel()
	w := newWorld()
	rec := w.ask("OPTIONS", "Origin: https://claude.ai", "Access-Control-Request-Headers: mcp-param-region, x-evil")
	allowed := rec.Header().Get("Access-Control-Allow-Headers")
	if rec.Code != http.StatusNoContent || !strings.Contains(allowed, "Authorization") || !strings.Contains(allowed, "mcp-param-region") || strings.Contains(allowed, "evil") {
		t.Errorf("CO-1 %d %q", rec.Code, allowed)
	}
	if !strings.Contains(rec.Header().Get("Access-Control-Expose-Headers"), "WWW-Authenticate") {
		t.Error("CO-3 the challenge is not exposed")
	}
	if w.reads != 0 || len(w.events) != 0 {
		t.Error("CO-1 a preflight was authenticated")
	}
	rec = w.ask("OPTIONS", "Origin: https://evil.example")
	if rec.Code != http.StatusNoContent || rec.Header().Get("Access-Control-Allow-Headers") != "" {
		t.Errorf("a foreign preflight: %d %v", rec.Code, rec.Header())
	}
	if w.reads != 0 || len(w.events) != 1 || w.events[0].Outcome != "origin_refused" {
		t.Errorf("a foreign preflight: %d reads, events %+v; the browser goes no further, so it must be told of", w.reads, w.events)
	}
}

func TestBodyLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(func(c *endpoint.Config) { c.Profile.BodyLimit = 8 })
	r := httptest.NewRequest(http.MethodPost, publicURL+"/mcp", strings.NewReader("0123456789"))
	r.Header.Set("Authorization", "Bearer "+goodToken)
	rec := httptest.NewRecorder()
	w.ServeHTTP(rec, r)
	if rec.Code != http.StatusRequestEntityTooLarge || w.reads != 0 {
		t.Errorf("X-11 a declared length over the limit: %d after %d reads", rec.Code, w.reads)
	}
	r.ContentLength, r.Body = -1, io.NopCloser(strings.NewReader("0123456789"))
	rec = httptest.NewRecorder()
	if w.ServeHTTP(rec, r); rec.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("X-11 an undeclared one: %d", rec.Code)
	}
}

func TestWithoutOAuth(t *testing.T) {
	t.Parallel()
	w := newWorld(func(c *endpoint.Config) {
		c.Profile, c.Verify = endpoint.HomeProfile("http://192.0.2.1:8080", false, "home:read", nil), nil
	})
	r := httptest.NewRequest(http.MethodPost, "http://192.0.2.1:8080/mcp", nil)
	rec := httptest.NewRecorder()
	if w.ServeHTTP(rec, r); rec.Code != 401 || rec.Header().Get("WWW-Authenticate") != "Bearer" {
		t.Errorf("KE-109 %d %q", rec.Code, rec.Header().Get("WWW-Authenticate"))
	}
	r.Header.Set("Authorization", "Bearer "+goodToken)
	rec = httptest.NewRecorder()
	if w.ServeHTTP(rec, r); rec.Code != 401 {
		t.Errorf("KE-109 a connection's token is accepted: %d", rec.Code)
	}
}

func TestScopeRefusal(t *testing.T) {
	t.Parallel()
	refusal := newWorld().ScopeRefusal(t.Context(), "home:read home:write")
	challenge := refusal.Header.Get("WWW-Authenticate")
	for _, want := range []string{`error="insufficient_scope"`, `scope="home:read home:write"`, `resource_metadata="`} {
		if refusal.Status != http.StatusForbidden || !strings.HasPrefix(challenge, "Bearer ") || !strings.Contains(challenge, want) {
			t.Errorf("BR-3 %d %q lacks %s", refusal.Status, challenge, want)
		}
	}
}
