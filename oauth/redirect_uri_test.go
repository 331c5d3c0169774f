package oauth

import (
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestMatchRedirectURI(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, registered, requested string
		want                        bool
	}{
		{"RU-1 equal", "https://a.example/cb", "https://a.example/cb", true},
		{"RU-1 host in capitals", "https://a.example/cb", "https://A.example/cb", false},
		{"RU-1 scheme in capitals", "https://a.example/cb", "HTTPS://a.example/cb", false},
		{"RU-1 default port", "https://a.example/cb", "https://a.example:443/cb", false},
		{"RU-1 slash at the end", "https://a.example/cb", "https://a.example/cb/", false},
		{"RU-1 no path against slash", "https://a.example", "https://a.example/", false},
		{"RU-1 percent-encoding", "https://a.example/c-b", "https://a.example/c%2Db", false},
		{"RU-1 percent case", "https://a.example/%2f", "https://a.example/%2F", false},
		{"RU-1 prefix", "https://a.example/cb", "https://a.example/cb/more", false},
		{"RU-1 dot segments", "https://a.example/cb", "https://a.example/x/../cb", false},
		{"RU-1 added query", "https://a.example/cb", "https://a.example/cb?x=1", false},
		{"RU-1 another port of https", "https://127.0.0.1:1/cb", "https://127.0.0.1:2/cb", false},
		{"RU-1 port of a private scheme", "com.example.app://127.0.0.1:1/cb", "com.example.app://127.0.0.1:2/cb", false},
		{"RU-2 another port", "http://127.0.0.1:8080/cb", "http://127.0.0.1:9090/cb", true},
		{"RU-2 port only in the request", "http://127.0.0.1/cb", "http://127.0.0.1:9090/cb", true},
		{"RU-2 port only in the registration", "http://127.0.0.1:8080/cb", "http://127.0.0.1/cb", true},
		{"RU-2 path differs", "http://127.0.0.1:8080/cb", "http://127.0.0.1:9090/other", false},
		{"RU-2 slash differs", "http://127.0.0.1/", "http://127.0.0.1:9090", false},
		{"RU-2 query equal", "http://127.0.0.1/cb?a=1", "http://127.0.0.1:9090/cb?a=1", true},
		{"RU-2 query differs", "http://127.0.0.1/cb?a=1", "http://127.0.0.1:9090/cb?a=2", false},
		{"RU-2 query without path", "http://127.0.0.1?a=1", "http://127.0.0.1:9090?a=1", true},
		{"RU-2 port zero", "http://127.0.0.1/cb", "http://127.0.0.1:0/cb", false},
		{"RU-2 port too large", "http://127.0.0.1/cb", "http://127.0.0.1:65536/cb", false},
		{"RU-2 port empty", "http://127.0.0.1/cb", "http://127.0.0.1:/cb", false},
		{"RU-2 port with a sign", "http://127.0.0.1/cb", "http://127.0.0.1:+80/cb", false},
		{"RU-3 localhost", "http://localhost/callback", "http://localhost:3118/callback", true},
		{"RU-3 IPv6", "http://[::1]/callback", "http://[::1]:3118/callback", true},
		{"RU-3 localhost is not 127.0.0.1", "http://localhost/callback", "http://127.0.0.1:3118/callback", false},
		{"RU-3 127.0.0.1 is not localhost", "http://127.0.0.1/callback", "http://localhost:3118/callback", false},
		{"RU-3 127.0.0.1 is not IPv6", "http://127.0.0.1/callback", "http://[::1]:3118/callback", false},
		{"RU-3 another loopback address", "http://127.0.0.1/callback", "http://127.0.0.2:3118/callback", false},
		{"RU-3 https is not http", "http://localhost/callback", "https://localhost:3118/callback", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			registered := []string{"https://other.example/", tt.registered}
			if got := matchRedirectURI(registered, tt.requested); got != tt.want {
				t.Errorf("matchRedirectURI(%q, %q) = %v, want %v", tt.registered, tt.requested, got, tt.want)
			}
		})
	}
}

// lookalikes pretend to be loopback addresses.
var lookalikes = []string{
	"http://127.0.0.1.evil.com",
	"http://localhost.evil.com",
	"http://127.0.0.1@evil.com",
	"http://evil.com#@127.0.0.1",
	"http://127.1",
	"http://2130706433",
	"http://[::ffff:127.0.0.1]",
	"http://localhost.",
	"http://127.0.0.1:80@evil.com",
	"http://127.0.0.1\\@evil.com",
	"http://127.0.0.1%2eevil.com",
	"http://0x7f.0.0.1",
	"http://127.0.0.01",
	"http://LOCALHOST",
	"http://[0:0:0:0:0:0:0:1]",
	"http://[::1%25lo]",
	"http://0.0.0.0",
	"http:127.0.0.1",
	"http:///127.0.0.1",
}

func TestLoopbackLookalikes(t *testing.T) {
	t.Parallel()
	registered := []string{"http://127.0.0.1/cb", "http://localhost/cb", "http://[::1]/cb", "http://127.0.0.1", "http://localhost", "http://[::1]"}
	for _, base := range lookalikes {
		for _, uri := range []string{base, base + "/cb"} {
			t.Run("RU-4 "+uri, func(t *testing.T) {
				t.Parallel()
				if isLoopbackRedirect(uri) {
					t.Error("taken for loopback")
				}
				if matchRedirectURI(registered, uri) {
					t.Error("matched a loopback registration")
				}
				wantError(t, checkRedirectURI(uri, nil), "invalid_redirect_uri", 400)
			})
		}
	}
}

func TestCheckRedirectURI(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, uri string
		ok        bool
	}{
		{"RU-3 loopback IPv4", "http://127.0.0.1:1234/cb", true},
		{"RU-3 loopback IPv6", "http://[::1]/cb", true},
		{"RU-3 localhost", "http://localhost/cb", true},
		{"RU-5 fragment", "https://a.example/cb#x", false},
		{"RU-5 empty fragment", "https://a.example/cb#", false},
		{"RU-5 relative", "/cb", false},
		{"RU-5 relative to scheme", "//a.example/cb", false},
		{"RU-5 empty", "", false},
		{"RU-5 no host", "https:///cb", false},
		{"RU-5 too long", "https://a.example/" + strings.Repeat("x", 2048), false},
		{"RU-6 https", "https://a.example/cb", true},
		{"RU-6 https with port and query", "https://a.example:8443/cb?tenant=1", true},
		{"RU-6 http elsewhere", "http://a.example/cb", false},
		{"RU-6 http on a private network", "http://192.168.1.4/cb", false},
		{"RU-6 javascript", "javascript:alert(1)", false},
		{"RU-6 javascript with authority", "javascript://a.example/%0aalert(1)", false},
		{"RU-6 JavaScript in capitals", "JavaScript://a.example/", false},
		{"RU-6 data", "data:text/html,x", false},
		{"RU-6 vbscript", "vbscript:x", false},
		{"RU-6 file", "file:///etc/passwd", false},
		{"RU-6 blob", "blob:https://a.example/x", false},
		{"RU-6 about", "about:blank", false},
		{"RU-6 user information", "https://user@a.example/cb", false},
		{"RU-6 empty user information", "https://@a.example/cb", false},
		{"RU-6 bad port", "https://a.example:99999/cb", false},
		{"RU-6 empty port", "https://a.example:/cb", false},
		{"RU-7 reversed domain name", "com.example.app:/oauth", true},
		{"RU-7 reversed domain name with host", "com.example.app://oauth/cb", true},
		{"RU-7 opaque", "com.example.app:oauth", false},
		{"RU-7 no dot", "myapp://oauth/cb", false},
		{"RU-7 urn", "urn:ietf:wg:oauth:2.0:oob", false},
		{"RU-7 Cursor callback", "cursor://anysphere.cursor-mcp/oauth/callback", true},
		{"RU-7 Cursor return", "cursor://anysphere.cursor-mcp/oauth/return", true},
		{"RU-7 Cursor user callback", "cursor://anysphere.cursor-mcp/oauth/user-linear_2/callback", true},
		{"RU-7 Cursor user callback with a slash", "cursor://anysphere.cursor-mcp/oauth/user-a/b/callback", false},
		{"RU-7 Cursor user callback without a name", "cursor://anysphere.cursor-mcp/oauth/user-/callback", false},
		{"RU-7 Cursor elsewhere", "cursor://anysphere.other/oauth/callback", false},
		{"RU-7 Cursor with a query", "cursor://anysphere.cursor-mcp/oauth/callback?x", false},
		{"RU-7 Grok", "grokbot://mcp/oauth/callback", true},
		{"RU-7 private scheme with an empty host", "com.example.app:///cb", true},
		{"RU-10 nothing behind the scheme", "com.example.app://", false},
		{"RU-10 empty query", "https://a.example/cb?", true},
		{"RU-11 line feed", "https://a.example/cb\nX: y", false},
		{"RU-11 space", "https://a.example/c b", false},
		{"RU-11 quote", "https://a.example/\"", false},
		{"RU-11 backslash", "https://a.example\\@evil.com/", false},
		{"RU-11 not ASCII", "https://exämple.org/", false},
		{"RU-11 delete", "https://a.example/\x7f", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := checkRedirectURI(tt.uri, DefaultRedirectExceptions())
			if tt.ok {
				if err != nil {
					t.Errorf("checkRedirectURI(%q) = %v", tt.uri, err)
				}
				return
			}
			wantError(t, err, "invalid_redirect_uri", 400)
		})
	}
	t.Run("RU-7 the list is configurable", func(t *testing.T) {
		t.Parallel()
		if err := checkRedirectURI("myapp://cb", []string{"myapp://cb"}); err != nil {
			t.Error(err)
		}
		wantError(t, checkRedirectURI("cursor://anysphere.cursor-mcp/oauth/callback", []string{}), "invalid_redirect_uri", 400)
		wantError(t, checkRedirectURI("javascript://cb", []string{"javascript://cb"}), "invalid_redirect_uri", 400)
		lab := newClientLab(t, func(c *Config) { c.RedirectExceptions = []string{"myapp://cb"} })
		if got := lab.redirectExceptions(); len(got) != 1 || got[0] != "myapp://cb" {
			t.Errorf("exceptions are %q", got)
		}
	})
}

func TestSelectRedirectURI(t *testing.T) {
	t.Parallel()
	one := &Client{RedirectURIs: []string{"http://localhost/cb"}}
	two := &Client{RedirectURIs: []string{"http://localhost/cb", "https://a.example/cb"}}
	t.Run("RU-9 omitted with one registered", func(t *testing.T) {
		t.Parallel()
		if uri, err := selectRedirectURI(one, ""); err != nil || uri != "http://localhost/cb" {
			t.Errorf("got %q, %v", uri, err)
		}
	})
	t.Run("RU-9 omitted with two registered", func(t *testing.T) {
		t.Parallel()
		_, err := selectRedirectURI(two, "")
		wantError(t, err, "invalid_request", 400)
	})
	t.Run("RU-10 the port of the request is used", func(t *testing.T) {
		t.Parallel()
		if uri, err := selectRedirectURI(two, "http://localhost:4711/cb"); err != nil || uri != "http://localhost:4711/cb" {
			t.Errorf("got %q, %v", uri, err)
		}
	})
	t.Run("RU-1 unregistered", func(t *testing.T) {
		t.Parallel()
		_, err := selectRedirectURI(one, "https://evil.example/")
		if e := wantError(t, err, "invalid_request", 400); e.Check != "redirect_uri" {
			t.Errorf("check is %q", e.Check)
		}
	})
}

func TestRedirectLocation(t *testing.T) {
	t.Parallel()
	parameters := url.Values{"code": {"gtc_a.b"}, "state": {"a b+/=%&\u00e4"}}
	for _, tt := range []struct{ name, uri, want string }{
		{"RU-10 no query", "https://a.example/cb", "https://a.example/cb?code=gtc_a.b&state=a%20b%2B%2F%3D%25%26%C3%A4"},
		{"RU-10 query kept", "https://a.example/cb?x=%7e&y", "https://a.example/cb?x=%7e&y&code=gtc_a.b&state=a%20b%2B%2F%3D%25%26%C3%A4"},
		{"RU-10 path kept", "https://a.example/a%2Fb;c", "https://a.example/a%2Fb;c?code=gtc_a.b&state=a%20b%2B%2F%3D%25%26%C3%A4"},
		{"RU-10 private scheme", "com.example.app:/cb", "com.example.app:/cb?code=gtc_a.b&state=a%20b%2B%2F%3D%25%26%C3%A4"},
		{"RU-10 no path", "http://127.0.0.1:80", "http://127.0.0.1:80?code=gtc_a.b&state=a%20b%2B%2F%3D%25%26%C3%A4"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := redirectLocation(tt.uri, parameters)
			if err != nil || got != tt.want {
				t.Errorf("got %q, %v, want %q", got, err, tt.want)
			}
		})
	}
	for _, uri := range []string{"https://a.example/\r\nX:y", "https://a.example/?a=\n", "https://a.example/?a=\"", "https://[", "https://a.example/?a=ä"} {
		t.Run("RU-11 refused "+uri, func(t *testing.T) {
			t.Parallel()
			if got, err := redirectLocation(uri, parameters); err == nil {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestRedirectHost(t *testing.T) {
	t.Parallel()
	for uri, want := range map[string]string{
		"https://claude.ai/api/mcp/auth_callback":      "claude.ai",
		"http://localhost:3118/callback":               "localhost",
		"http://[::1]:3118/callback":                   "::1",
		"cursor://anysphere.cursor-mcp/oauth/callback": "cursor://anysphere.cursor-mcp",
		"com.example.app:/cb":                          "com.example.app:",
		"://":                                          "",
	} {
		if got := redirectHost(uri); got != want {
			t.Errorf("redirectHost(%q) = %q, want %q", uri, got, want)
		}
	}
}

// redirectParts generates URIs from a few parts, so that near misses are common.
func redirectParts(t *rapid.T, label string) string {
	return rapid.SampledFrom([]string{"http://", "https://", "HTTP://", "http:/"}).Draw(t, label+" scheme") +
		rapid.SampledFrom([]string{"127.0.0.1", "localhost", "[::1]", "a.example", "127.0.0.1.a.example", "user@localhost", "localhost."}).Draw(t, label+" host") +
		rapid.SampledFrom([]string{"", ":1", ":8080", ":65535", ":65536", ":", ":0", ":x", ":80@a.example"}).Draw(t, label+" port") +
		rapid.SampledFrom([]string{"", "/", "/cb", "/cb/", "/CB", "?x", "/cb?x=1", "/cb#f"}).Draw(t, label+" rest")
}

// TestMatchRedirectURIProperty: a match is equality, or both URIs are http loopback and differ in the port alone. The
// second half is judged by net/url, not by the code under test.
func TestMatchRedirectURIProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		registered, requested := redirectParts(t, "registered"), redirectParts(t, "requested")
		want := registered == requested || differByLoopbackPort(registered, requested)
		if got := matchRedirectURI([]string{registered}, requested); got != want {
			t.Fatalf("RU-2 matchRedirectURI(%q, %q) = %v, want %v", registered, requested, got, want)
		}
		if matchRedirectURI([]string{registered}, requested) != matchRedirectURI([]string{requested}, registered) {
			t.Fatalf("RU-2 the match of %q and %q is not symmetric", registered, requested)
		}
	})
}

func differByLoopbackPort(a, b string) bool {
	x, errX := url.Parse(a)
	y, errY := url.Parse(b)
	if errX != nil || errY != nil || !strings.HasPrefix(a, "http://") || !strings.HasPrefix(b, "http://") {
		return false
	}
	for _, u := range []*url.URL{x, y} {
		if u.User != nil || strings.HasSuffix(u.Host, ":") || u.Port() != "" && !isPort(u.Port()) {
			return false
		}
	}
	loopback := map[string]bool{"127.0.0.1": true, "::1": true, "localhost": true}
	return loopback[x.Hostname()] && x.Hostname() == y.Hostname() &&
		x.EscapedPath() == y.EscapedPath() && x.RawQuery == y.RawQuery &&
		!strings.Contains(a+b, "#")
}

func FuzzMatchRedirectURI(f *testing.F) {
	f.Add("http://127.0.0.1/cb", "http://127.0.0.1:1/cb")
	for _, uri := range lookalikes {
		f.Add("http://127.0.0.1", uri)
		f.Add(uri, "http://localhost")
	}
	f.Fuzz(func(t *testing.T, registered, requested string) {
		if checkRedirectURI(registered, nil) != nil {
			return // never stored
		}
		if matchRedirectURI([]string{registered}, requested) && registered != requested && !differByLoopbackPort(registered, requested) {
			t.Errorf("%q matches %q", requested, registered)
		}
	})
}

func FuzzCheckRedirectURI(f *testing.F) {
	for _, uri := range append(lookalikes, "https://a.example/cb?x=1", "com.example.app:/cb", "javascript:x", "https://a.example/%", "a.b://") {
		f.Add(uri)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		if checkRedirectURI(uri, defaultRedirectExceptions) != nil {
			return
		}
		location, err := redirectLocation(uri, url.Values{"code": {"c"}})
		if err != nil {
			t.Fatalf("accepted %q but cannot redirect to it: %v", uri, err)
		}
		if !strings.HasPrefix(location, uri) {
			t.Errorf("redirect to %q went to %q", uri, location)
		}
	})
}
