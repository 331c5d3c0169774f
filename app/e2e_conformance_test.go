package app_test

import (
	"bufio"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gatehouse/app/apptest"
)

// The official conformance suite against the running program. The suite cannot send a token, so a loopback proxy adds
// one and passes everything else on as it came, Host included.

// fixtureFree are the scenarios that need no fixture tools.
var fixtureFree = map[string][]string{
	"2026-07-28": {
		"completion-complete", "tools-list", "resources-list", "prompts-list", "server-sse-multiple-streams", "sep-2164-resource-not-found",
		"dns-rebinding-protection", "caching", "http-header-validation", "input-required-result-missing-input-response",
		"input-required-result-unsupported-methods", "input-required-result-ignore-extra-params", "input-required-result-validate-input",
	},
	"2025-11-25": {
		"server-initialize", "ping", "logging-set-level", "completion-complete", "tools-list", "resources-list", "prompts-list",
		"dns-rebinding-protection", "server-sse-multiple-streams",
	},
}

// conformance runs the suite and returns what it printed.
func conformance(t *testing.T, args ...string) (string, error) {
	t.Helper()
	out, err := conformanceCommand(t, args...).CombinedOutput()
	return string(out), err
}

func conformanceCommand(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	dir := clientsDir(t)
	cmd := exec.Command(node22(t, dir), append([]string{filepath.Join(dir, "node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js")}, args...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	return cmd
}

// withToken is a proxy in front of the program that adds a bearer token. Its address must be known to the program as
// its public URL before it starts, because Host is checked.
func withToken(t *testing.T, scopes ...string) (mcpURL string) {
	t.Helper()
	var target *url.URL
	var token atomic.Value // the proxy serves the client's own way to its token, too
	token.Store("")
	proxy := httptest.NewUnstartedServer(nil)
	proxy.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(pr *httputil.ProxyRequest) {
			pr.Out.URL.Scheme, pr.Out.URL.Host = target.Scheme, target.Host
			pr.Out.Host = pr.In.Host
			if t := token.Load().(string); t != "" && strings.HasPrefix(pr.In.URL.Path, "/mcp") {
				pr.Out.Header.Set("Authorization", "Bearer "+t)
			}
		}}
		p.ServeHTTP(w, r)
	})
	public := "http://" + proxy.Listener.Addr().String()
	p := apptest.Start(t, "GATEHOUSE_PUBLIC_URL="+public, "GATEHOUSE_READS_PER_MINUTE=100000", "GATEHOUSE_WRITES_PER_MINUTE=100000")
	target = &url.URL{Scheme: "http", Host: p.Bound(t)}
	proxy.Start()
	t.Cleanup(proxy.Close)
	b := p.AddUser(t, "ada@example.com")
	c, err := apptest.RegisterClient(public, callback)
	if err != nil {
		t.Fatal(err)
	}
	token.Store(connected(t, c, b).AccessToken)
	return public + "/mcp"
}

func TestConformanceServer(t *testing.T) {
	t.Parallel()
	clientsDir(t)
	u := withToken(t)
	for version, scenarios := range fixtureFree {
		for _, s := range scenarios {
			t.Run(version+" "+s, func(t *testing.T) {
				out, err := conformance(t, "server", "--url", u, "--scenario", s, "--spec-version", version)
				if err != nil || strings.Contains(out, "0/0") && s != "server-sse-multiple-streams" {
					t.Errorf("%v\n%s", err, out)
				}
			})
		}
	}
}

// TestConformanceAuthorizationServer runs both scenarios together, as the second needs what the first reads. The person
// at the browser is played: the suite prints an authorization URL and listens for the redirect.
func TestConformanceAuthorizationServer(t *testing.T) {
	t.Parallel()
	clientsDir(t)
	onBoth(t, func(t *testing.T, p *apptest.Program) {
		b := p.AddUser(t, "ada@example.com")
		port := freePort(t)
		c, err := apptest.RegisterClient(p.URL, "http://127.0.0.1:"+port+"/callback")
		if err != nil {
			t.Fatal(err)
		}
		cmd := conformanceCommand(t, "authorization", "--url", p.URL, "--client-id", c.ID, "--resource", p.URL+"/mcp", "--port", port)
		printed, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stderr = cmd.Stdout
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		stop := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
		defer stop.Stop()
		var out strings.Builder
		for lines := bufio.NewScanner(printed); lines.Scan(); {
			out.WriteString(lines.Text() + "\n")
			if u := authorizationURL.FindString(lines.Text()); u != "" {
				go followAuthorization(t, b, u)
			}
		}
		err = cmd.Wait()
		text, ok := out.String(), err == nil && !strings.Contains(out.String(), "WARNING")
		for _, passed := range []string{"✓ authorization-server-metadata-endpoint: 2 passed, 0 failed", "✓ authorization-code-grant: 1 passed, 0 failed"} {
			ok = ok && strings.Contains(text, passed) // a scenario that was left out is no failure to the suite
		}
		if !ok {
			t.Errorf("%v\n%s", err, text)
		}
	})
}

var authorizationURL = regexp.MustCompile(`http://\S+/authorize\?\S+`)

func followAuthorization(t *testing.T, b *apptest.Browser, address string) {
	to, err := b.Authorize(address)
	if err != nil {
		t.Errorf("authorize: %v", err)
		return
	}
	res, err := http.Get(to.String())
	if err != nil {
		t.Errorf("callback: %v", err)
		return
	}
	_ = res.Body.Close()
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}
