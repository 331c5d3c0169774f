package app_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"gatehouse/app/apptest"
)

// A bad network between real clients and the real binary. Whatever is lost, nobody may be asked to sign in again who
// need not be, and nothing may be done twice by the server for a call that was made once.

// fault is one thing that goes wrong: the first times requests that match meet it.
type fault struct {
	request string // method and path
	body    string // a part of the body, or empty
	times   int
	does    string // drop: forward, then cut the answer. cut: never forward. A status: answer that, as a proxy would
}

// badNetwork is a proxy that follows a list of faults and remembers what passed.
type badNetwork struct {
	mu     sync.Mutex
	target *url.URL
	faults []*fault
	seen   []string // "POST /token grant_type=refresh_token" and, where one applied, the fault
}

// behindBadNetwork starts a program whose public URL is a proxy's.
func behindBadNetwork(t *testing.T, env ...string) (*apptest.Program, *badNetwork) {
	t.Helper()
	n := &badNetwork{}
	proxy := httptest.NewUnstartedServer(n)
	public := "http://" + proxy.Listener.Addr().String()
	p := apptest.Start(t, append([]string{"GATEHOUSE_PUBLIC_URL=" + public, "GATEHOUSE_CLIENT_DOCUMENTS=false"}, env...)...)
	n.target = &url.URL{Scheme: "http", Host: p.Bound(t)}
	proxy.Start()
	t.Cleanup(proxy.Close)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("what passed:\n%s", strings.Join(n.log(), "\n"))
		}
	})
	return p, n
}

// breaks adds faults from now on.
func (n *badNetwork) breaks(faults ...fault) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, f := range faults {
		n.faults = append(n.faults, &f)
	}
}

func (n *badNetwork) log() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]string(nil), n.seen...)
}

// count is how many requests passed whose note has all of the parts.
func (n *badNetwork) count(parts ...string) int {
	found := 0
	for _, s := range n.log() {
		all := true
		for _, part := range parts {
			all = all && strings.Contains(s, part)
		}
		if all {
			found++
		}
	}
	return found
}

// signIns is how often somebody was sent to the authorization endpoint.
func (n *badNetwork) signIns() int { return n.count("GET /authorize ") }

// unmet are the faults that did not happen.
func (n *badNetwork) unmet() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var out []string
	for _, f := range n.faults {
		if f.times > 0 {
			out = append(out, fmt.Sprintf("%s %s: %d left", f.does, f.request, f.times))
		}
	}
	return out
}

func (n *badNetwork) meets(r *http.Request, body []byte) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	request, does := r.Method+" "+r.URL.Path, ""
	for _, f := range n.faults {
		if f.times > 0 && f.request == request && bytes.Contains(body, []byte(f.body)) {
			f.times--
			does = f.does
			break
		}
	}
	note := request + " " + strings.TrimSpace(strings.ReplaceAll(firstWords(body), "\n", " "))
	if does != "" {
		note += " FAULT " + does
	}
	n.seen = append(n.seen, note)
	return does
}

// firstWords is what tells requests apart: the grant of a form, the method of a JSON-RPC message.
func firstWords(body []byte) string {
	if form, err := url.ParseQuery(string(body)); err == nil && form.Get("grant_type") != "" {
		return "grant_type=" + form.Get("grant_type")
	}
	for _, method := range []string{"tools/call", "tools/list", "initialize", "server/discover"} {
		if bytes.Contains(body, []byte(`"`+method+`"`)) {
			return method
		}
	}
	return ""
}

// ServeHTTP implements http.Handler.
func (n *badNetwork) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	does := n.meets(r, body)
	if does == "cut" {
		hangUp(w)
		return
	}
	if does == "401" || does == "503" {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(map[string]int{"401": 401, "503": 503}[does])
		_, _ = io.WriteString(w, "<h1>upstream</h1>")
		return
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	proxy := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(pr *httputil.ProxyRequest) {
		pr.Out.URL.Scheme, pr.Out.URL.Host, pr.Out.Host = n.target.Scheme, n.target.Host, pr.In.Host
	}, ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { hangUp(w) }}
	if does == "drop" {
		proxy.ModifyResponse = func(res *http.Response) error {
			_, _ = io.Copy(io.Discard, res.Body)
			return fmt.Errorf("dropped")
		}
	}
	proxy.ServeHTTP(w, r)
}

func hangUp(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		_ = conn.Close()
	}
}

// aTokenLife is short enough that Codex and Claude Code refresh at each start.
const aTokenLife = "GATEHOUSE_ACCESS_TOKEN_LIFE=100s"

// lost are faults after which the apps go on by themselves. Each is met after the sign-in, once.
var lost = []struct {
	name  string
	fault fault
}{
	{"RT-9 the answer to a refresh is lost", fault{"POST /token", "grant_type=refresh_token", 1, "drop"}},
	{"a refresh does not arrive", fault{"POST /token", "grant_type=refresh_token", 1, "cut"}},
	{"a proxy answers a refresh with 503", fault{"POST /token", "grant_type=refresh_token", 1, "503"}},
	{"one 401 to a call", fault{"POST /mcp", `"tools/call"`, 1, "401"}},
	{"a storm of 401", fault{"POST /mcp", "", 3, "401"}},
	{"the answer to a call is lost", fault{"POST /mcp", `"tools/call"`, 1, "drop"}},
}

func TestFaultsClaudeCode(t *testing.T) {
	t.Parallel()
	claude := claudeBinary(t)
	for _, tt := range lost {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p, network := behindBadNetwork(t, aTokenLife)
			a := appBeside(t, p)
			claudeConnects(a, claude)
			network.breaks(tt.fault)
			url := model(t, "list_locations", "{}", 1)
			var out string
			for range 3 { // a run may fail on the fault itself; a later one must work without a sign-in
				if out = claudePrompt(a, claude, url); strings.Contains(out, "time_zone") {
					break
				}
			}
			goesOn(t, network, out)
		})
	}
}

func TestFaultsCodex(t *testing.T) {
	t.Parallel()
	codex := codexBinary(t)
	for _, tt := range lost {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p, network := behindBadNetwork(t, "GATEHOUSE_ACCESS_TOKEN_LIFE=20s")
			a := appBeside(t, p)
			codexConnects(a, codex)
			network.breaks(tt.fault)
			var out string
			for range 5 {
				s := startCodex(a, codex)
				if out = s.tool("list_locations", "{}"); strings.Contains(out, "time_zone") {
					break
				}
			}
			goesOn(t, network, out)
		})
	}
}

func goesOn(t *testing.T, n *badNetwork, out string) {
	t.Helper()
	if !strings.Contains(out, "time_zone") {
		t.Errorf("the call never worked: %s", tail(out))
	}
	if got := n.signIns(); got != 1 {
		t.Errorf("the person was asked %d times", got)
	}
	if left := n.unmet(); len(left) > 0 {
		t.Errorf("did not happen: %v", left)
	}
}

// TestFaultsTypeScript drives both SDKs, whose own rule is to sign in again after a refresh that failed on the way or a
// second 401 in a row; the rest they must survive.
func TestFaultsTypeScript(t *testing.T) {
	t.Parallel()
	clientsDir(t)
	for _, major := range []string{"1", "2"} {
		for _, tt := range lost {
			if strings.Contains(tt.fault.body, "refresh") || tt.fault.times > 1 {
				continue
			}
			t.Run("SDK "+major+" "+tt.name, func(t *testing.T) {
				t.Parallel()
				p, network := behindBadNetwork(t)
				b := p.AddUser(t, "ada@example.com")
				network.breaks(tt.fault)
				node(t, nil, "faults.mjs", p.URL+"/mcp", robot(t, p.URL, b).URL, major)
				goesOn(t, network, "time_zone")
			})
		}
	}
}

// TestFaultsOfTheExchange cuts the answer to the code exchange: the next try of the same client is refused and ends the
// family, and the person signs in once more, which then works.
func TestFaultsOfTheExchange(t *testing.T) {
	t.Parallel()
	p, network := behindBadNetwork(t)
	b := p.AddUser(t, "ada@example.com")
	c, err := apptest.RegisterClient(p.URL, callback)
	if err != nil {
		t.Fatal(err)
	}
	code, err := c.Code(b)
	if err != nil {
		t.Fatal(err)
	}
	network.breaks(fault{"POST /token", "authorization_code", 1, "drop"})
	if status, _, err := c.Redeem(code); err == nil {
		t.Fatalf("the exchange was answered: %d", status)
	}
	time.Sleep(50 * time.Millisecond)
	status, refused, err := c.Redeem(code)
	if err != nil || status != http.StatusBadRequest || refused.Error != "invalid_grant" {
		t.Errorf("CG-2 the second try: %d %+v %v", status, refused, err)
	}
	tokens := connected(t, c, b)
	if _, failed, err := apptest.CallTool(p.URL, tokens.AccessToken, "list_locations", "{}"); err != nil || failed {
		t.Errorf("after signing in again: %v", err)
	}
}
