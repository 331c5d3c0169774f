package doctor_test

import (
	"context"
	"crypto/x509"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"gatehouse/app/doctor"
)

func TestURL(t *testing.T) {
	t.Parallel()
	s := newSite(public)
	o := options(t, s)
	o.As, o.Register = "claude", false
	for raw, want := range map[string]string{
		public: public + "/mcp", public + "/": public + "/mcp", "HTTPS://Example.COM:443/mcp": public + "/mcp", public + "/mcp/": public + "/mcp/",
		public + "/c/one/mcp": public + "/c/one/mcp",
	} {
		o.URL = raw
		if r := run(t, o); r.URL != want {
			t.Errorf("%s is read as %s", raw, r.URL)
		}
	}
	for _, raw := range []string{"", "example.com", "ftp://example.com", "https://", "https://a:b@example.com", "https://example.com/?x=1", "https://example.com/#x", "%"} {
		o.URL = raw
		if _, err := doctor.Run(t.Context(), o); !errors.Is(err, doctor.ErrURL) {
			t.Errorf("%q: %v", raw, err)
		}
	}
	o.URL, o.As = public, "gopher"
	if _, err := doctor.Run(t.Context(), o); err == nil {
		t.Error("an unknown app is played")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o.As = "all"
	if _, err := doctor.Run(ctx, o); !errors.Is(err, context.Canceled) {
		t.Errorf("a walk that was stopped: %v", err)
	}
}

func TestOneApp(t *testing.T) {
	t.Parallel()
	for as, want := range map[string][]string{
		"claude": {"all", "claude"}, "chatgpt": {"all", "chatgpt"}, "codex": {"all", "codex"}, "all": {"all", "claude", "chatgpt", "codex"},
	} {
		o := options(t, newSite(public))
		o.As = as
		var got []string
		for _, section := range run(t, o).Sections {
			got = append(got, section.As)
		}
		if !slices.Equal(got, want) {
			t.Errorf("--as %s walks %v", as, got)
		}
	}
}

func TestWhatIsSent(t *testing.T) {
	t.Parallel()
	s := newSite(public)
	run(t, options(t, s))
	bodies := map[string]bool{}
	for i, r := range s.seen {
		if r.URL.Path == "/register" && r.Method == http.MethodPost {
			bodies[s.body[i]] = true
		}
		if r.URL.Path == "/authorize" {
			q := r.URL.Query()
			if q.Get("resource") != public+"/mcp" || q.Get("code_challenge_method") != "S256" || q.Get("state") == "" || r.Header.Get("Authorization") != "" {
				t.Errorf("authorization request %s", r.URL)
			}
		}
	}
	const tail = `"grant_types":["authorization_code","refresh_token"],"response_types":["code"],"token_endpoint_auth_method":"none"`
	for _, want := range []string{
		`{"client_name":"Claude","redirect_uris":["https://claude.ai/api/mcp/auth_callback"],` + tail + `,"scope":"read offline_access"}`,
		`{"client_name":"ChatGPT","redirect_uris":["https://chatgpt.com/connector_platform_oauth_redirect"],` + tail + `,"scope":"read"}`,
		`{"client_name":"Claude Code (gatehouse)","redirect_uris":["http://localhost:49517/callback"],` + tail + `,"application_type":"native","scope":"read offline_access"}`,
		`{"client_name":"Codex","redirect_uris":["http://127.0.0.1:49517/callback"],` + tail + `,"application_type":"native","scope":"read offline_access"}`,
	} {
		if !bodies[want] {
			t.Errorf("RC-1 nobody registered with %s\n%v", want, bodies)
		}
	}
}

func TestNoRegister(t *testing.T) {
	t.Parallel()
	s := newSite(public)
	o := options(t, s)
	o.Register = false
	r := run(t, o)
	if got := findings(r); len(got) > 0 {
		t.Errorf("findings %v", got)
	}
	if slices.ContainsFunc(s.seen, func(r *http.Request) bool { return r.URL.Path == "/register" && r.Method == http.MethodPost }) {
		t.Error("it registered although it was asked not to")
	}
}

func TestThrowAwayClientIsRemoved(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		at   string
		want int
	}{{public + "/register/known", 1}, {"https://elsewhere.example/register/known", 0}} {
		s := newSite(public)
		s.registered["registration_client_uri"], s.registered["registration_access_token"] = c.at, "manage"
		deleted := 0
		s.before = func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodDelete {
				if r.Header.Get("Authorization") == "Bearer manage" && r.URL.Path == "/register/known" {
					deleted++
				}
				w.WriteHeader(204)
			}
			return r.Method == http.MethodDelete
		}
		o := options(t, s)
		o.As = "claude"
		if run(t, o); deleted != c.want {
			t.Errorf("management at %s: %d removals, want %d", c.at, deleted, c.want)
		}
	}
}

// TestTokenStays: the token goes to the endpoint alone, and only over a connection that is safe.
func TestTokenStays(t *testing.T) {
	t.Parallel()
	sent := func(s *site) (toEndpoint, elsewhere int) {
		for _, r := range s.seen {
			switch {
			case r.Header.Get("Authorization") != "Bearer "+goodToken:
			case r.URL.Path == "/mcp":
				toEndpoint++
			default:
				elsewhere++
			}
		}
		return toEndpoint, elsewhere
	}
	t.Run("verified TLS", func(t *testing.T) {
		t.Parallel()
		s := newSite(public)
		o := options(t, s)
		o.Token = goodToken
		run(t, o)
		if to, elsewhere := sent(s); to == 0 || elsewhere > 0 {
			t.Errorf("%d times to the endpoint, %d times elsewhere", to, elsewhere)
		}
	})
	t.Run("a certificate that is not trusted", func(t *testing.T) {
		t.Parallel()
		s := newSite(public)
		o := options(t, s)
		o.Token, o.Roots = goodToken, x509.NewCertPool()
		run(t, o)
		if to, elsewhere := sent(s); to+elsewhere > 0 {
			t.Error("the token was sent over a connection that anybody could have answered")
		}
	})
	t.Run("plain http beyond this computer", func(t *testing.T) {
		t.Parallel()
		s := newSite("http://example.com")
		o := optionsOf(t, httptest.NewServer(s))
		o.URL, o.Token = "http://example.com", goodToken
		got := findings(run(t, o))
		if to, elsewhere := sent(s); to+elsewhere > 0 || !slices.Contains(got, "all:https/plain_http") {
			t.Errorf("sent %d times; findings %v", to+elsewhere, got)
		}
	})
	t.Run("a redirect is not followed", func(t *testing.T) {
		t.Parallel()
		s := newSite(public)
		s.before = func(w http.ResponseWriter, r *http.Request) bool {
			if r.Header.Get("Authorization") != "" {
				http.Redirect(w, r, public+"/token", http.StatusTemporaryRedirect)
			}
			return r.Header.Get("Authorization") != ""
		}
		o := options(t, s)
		o.Token = goodToken
		got := findings(run(t, o))
		if _, elsewhere := sent(s); elsewhere > 0 || !slices.Contains(got, "token:mcp.initialize/redirect") {
			t.Errorf("followed %d times; findings %v", elsewhere, got)
		}
	})
}

func TestThisComputer(t *testing.T) {
	t.Parallel()
	var s *site
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.ServeHTTP(w, r) }))
	s = newSite(server.URL)
	o := optionsOf(t, server)
	o.Lookup, o.Dial = nil, nil
	t.Run("warnings for hosted apps only", func(t *testing.T) {
		o := o
		o.URL = server.URL
		if got := findings(run(t, o)); !slices.Equal(got, []string{"claude:reach/loopback!", "chatgpt:reach/loopback!"}) {
			t.Errorf("findings %v", got)
		}
	})
	t.Run("localhost is another name than 127.0.0.1", func(t *testing.T) {
		o := o
		o.URL = strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
		got := findings(run(t, o))
		for _, want := range []string{"all:challenge.post/loopback_name", "all:resource.path/loopback_name"} {
			if !slices.Contains(got, want) {
				t.Errorf("want %s, got %v", want, got)
			}
		}
	})
}

func TestIssuerWithAPath(t *testing.T) {
	t.Parallel()
	s := newSite(public)
	s.resource["authorization_servers"] = []string{public + "/t"}
	s.server["issuer"] = public + "/t"
	s.before = func(w http.ResponseWriter, r *http.Request) bool {
		switch r.URL.Path {
		case serverPath, openIDPath, openIDPath + "/t", serverPath + "/t":
			w.WriteHeader(404)
		case "/t" + openIDPath:
			sendJSON(w, 200, s.server)
		default:
			return false
		}
		return true
	}
	if got := findings(run(t, options(t, s))); len(got) > 0 {
		t.Errorf("MD-3 an issuer with a path whose metadata is at its third place: %v", got)
	}
}

// TestSlow turns the clock by a fixed time at every look, so that no test waits.
func TestSlow(t *testing.T) {
	t.Parallel()
	for step, want := range map[time.Duration]string{2 * time.Second: "all:speed/slow!", 5 * time.Second: "all:speed/too_slow"} {
		o := options(t, newSite(public))
		at := time.Now()
		o.Now = func() time.Time { at = at.Add(step); return at }
		o.As = "claude"
		if got := findings(run(t, o)); !slices.Contains(got, want) {
			t.Errorf("%s per request: want %s, got %v", step, want, got)
		}
	}
}

func TestBufferedStream(t *testing.T) {
	t.Parallel()
	s := newSite(public)
	hold := make(chan struct{})
	inner := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Method") == "subscriptions/listen" {
			<-hold
			return
		}
		s.ServeHTTP(w, r)
	}))
	inner.StartTLS()
	o := optionsOf(t, inner)
	t.Cleanup(func() { close(hold) })
	o.Token, o.Timeout = goodToken, 300*time.Millisecond
	if got := findings(run(t, o)); !slices.Equal(got, []string{"token:mcp.stream/buffered!"}) {
		t.Errorf("findings %v", got)
	}
}

func TestOlderServerIsNoFault(t *testing.T) {
	t.Parallel()
	s := newSite(public)
	s.before = func(w http.ResponseWriter, r *http.Request) bool {
		older := r.Header.Get("Mcp-Method") == "server/discover" && r.Header.Get("Authorization") != ""
		if older {
			sendJSON(w, 200, map[string]any{"jsonrpc": "2.0", "id": 1, "error": map[string]any{"code": -32601, "message": "unknown"}})
		}
		return older
	}
	o := options(t, s)
	o.Token = goodToken
	if got := findings(run(t, o)); len(got) > 0 {
		t.Errorf("findings %v", got)
	}
}
