package app_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/html"

	"gatehouse/app/apptest"
	"gatehouse/db/dbtest"
)

// Where answers may go, and what they say.

// lookalikes seem to be loopback and are not (RU-4), or must never get an answer (RU-6).
var lookalikes = []string{
	"http://127.0.0.1.evil.com/callback", "http://localhost.evil.com/callback", "http://127.0.0.1@evil.com/callback", "http://127.0.0.1:7780@evil.com/callback",
	"http://evil.com#@127.0.0.1/callback", "http://evil.com\\@127.0.0.1/callback", "http://127.1/callback", "http://2130706433/callback", "http://0x7f000001/callback",
	"http://0177.0.0.1/callback", "http://[::ffff:127.0.0.1]/callback", "http://localhost./callback", "http://127.0.0.1./callback", "http://127.0.0.2/callback", "http://0.0.0.0/callback",
	"http://[::]/callback", "http://LOCALHOST/callback", "HTTP://127.0.0.1/callback", "http://127.0.0.1%2eevil.com/callback", "http://127.0.0.1:80:80/callback",
	"http://127.0.0.1:/callback", "http://127.0.0.1:99999/callback", "http://127.0.0.1:-1/callback", "http://127.0.0.1:0x50/callback", "http:///callback", "http:/127.0.0.1/callback",
	"http://evil.com/callback", "//127.0.0.1/callback", "javascript:alert(1)", "JavaScript:alert(1)", "data:text/html,x", "vbscript:x", "file:///etc/passwd", "blob:https://a.example/x",
	"about:blank", "view-source:https://a.example/", "https://ada:pw@a.example/cb", "https://@a.example/cb", "https://", "https:///cb", "https:a.example/cb", "/callback", "callback", "",
	"https://a.example/cb#x", "https://a.example/cb#", "https://a.example/c b", "https://a.example/\r\nSet-Cookie:x", "https://a.example/\x00", "https://exämple.com/cb", "myapp://callback", "x:y",
}

func TestRedirectLookalikes(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *apptest.Program) {
		b := mustSignIn(t, p.AddUser(t, "ada@example.com"), p.URL)
		stranger := apptest.NewBrowser("nobody@example.com", "x")
		c := registerURIs(t, p.URL, "http://127.0.0.1/callback", "http://localhost/callback", "http://[::1]/callback", "https://a.example/cb")
		for _, uri := range lookalikes {
			t.Run("RU-4 RU-6 "+strings.ReplaceAll(uri, "/", "|"), func(t *testing.T) {
				body, _ := json.Marshal(map[string]any{"redirect_uris": []string{uri}, "token_endpoint_auth_method": "none"})
				if a := registerBody(t, p.URL, string(body)); a.status != http.StatusBadRequest || a.code(t) != "invalid_redirect_uri" {
					t.Errorf("register: %d %s", a.status, a.body)
				}
				body, _ = json.Marshal(map[string]any{"redirect_uris": []string{uri, callback}, "token_endpoint_auth_method": "none"})
				a := registerBody(t, p.URL, string(body))
				var made struct {
					Redirects []string `json:"redirect_uris"`
				}
				if err := json.Unmarshal([]byte(a.body), &made); err != nil || a.status != http.StatusCreated || !slices.Equal(made.Redirects, []string{callback}) {
					t.Errorf("RU-8 register with a good one: %d %s", a.status, a.body)
				}
				if uri == "" {
					return // an empty value counts as absent
				}
				for who, browser := range map[string]*apptest.Browser{"signed in": b, "stranger": stranger} {
					for _, extra := range []string{"", "none"} {
						page := mustGet(t, browser, withQuery(t, c.AuthorizeURL(), "redirect_uri", uri, "prompt", extra))
						if !isPage(page, http.StatusBadRequest) {
							t.Errorf("RU-1 %s: %d to %q", who, page.Status, page.Header.Get("Location"))
						}
					}
				}
			})
		}
		t.Run("RU-7 a scheme with a dot", func(t *testing.T) {
			c := registerURIs(t, p.URL, "com.example.app:/callback")
			if to, err := b.Authorize(c.AuthorizeURL()); err != nil || !strings.HasPrefix(to.String(), "com.example.app:/callback?code=") {
				t.Errorf("%v %v", to, err)
			}
		})
	})
}

func TestRedirectComparison(t *testing.T) {
	t.Parallel()
	p := apptest.Start(t)
	b := mustSignIn(t, p.AddUser(t, "ada@example.com"), p.URL)
	one := registerURIs(t, p.URL, "https://a.example/cb?x=1&y=%2F")
	two := registerURIs(t, p.URL, "https://a.example/cb", "http://127.0.0.1/callback", "http://[::1]:5000/callback?k=v", "http://localhost/callback")
	for _, tc := range []struct {
		name   string
		client *apptest.Client
		uri    string
		want   string // what the answer begins with; empty for a refusal
	}{
		{"RU-9 omitted, one registered", one, "", "https://a.example/cb?x=1&y=%2F&code="},
		{"RU-9 omitted, several registered", two, "", ""},
		{"RU-10 a query is kept", one, "https://a.example/cb?x=1&y=%2F", "https://a.example/cb?x=1&y=%2F&code="},
		{"RU-1 another query", one, "https://a.example/cb?x=1&y=/", ""},
		{"RU-1 without the query", one, "https://a.example/cb", ""},
		{"RU-1 exact", two, "https://a.example/cb", "https://a.example/cb?code="},
		{"RU-1 a slash more", two, "https://a.example/cb/", ""},
		{"RU-1 upper-case host", two, "https://A.example/cb", ""},
		{"RU-1 upper-case path", two, "https://a.example/CB", ""},
		{"RU-1 the default port", two, "https://a.example:443/cb", ""},
		{"RU-1 another port", two, "https://a.example:8443/cb", ""},
		{"RU-1 percent-encoded", two, "https://a.example/%63b", ""},
		{"RU-1 a longer path", two, "https://a.example/cb/../cb", ""},
		{"RU-1 a query more", two, "https://a.example/cb?x=1", ""},
		{"RU-1 http", two, "http://a.example/cb", ""},
		{"RU-2 RU-10 a port", two, "http://127.0.0.1:61023/callback", "http://127.0.0.1:61023/callback?code="},
		{"RU-2 no port", two, "http://127.0.0.1/callback", "http://127.0.0.1/callback?code="},
		{"RU-2 another port than the registered", two, "http://[::1]:6000/callback?k=v", "http://[::1]:6000/callback?k=v&code="},
		{"RU-2 a registered port left out", two, "http://[::1]/callback?k=v", "http://[::1]/callback?k=v&code="},
		{"RU-2 another path", two, "http://127.0.0.1:61023/other", ""},
		{"RU-2 a slash more", two, "http://127.0.0.1:61023/callback/", ""},
		{"RU-2 another query", two, "http://[::1]:6000/callback?k=w", ""},
		{"RU-2 https on loopback", two, "https://127.0.0.1/callback", ""},
		{"RU-3 localhost", two, "http://localhost:3118/callback", "http://localhost:3118/callback?code="},
		{"RU-3 one loopback is not another", two, "http://[::1]:6000/callback", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			address := withQuery(t, tc.client.AuthorizeURL(), "redirect_uri", tc.uri)
			if tc.want == "" {
				if page := mustOpen(t, b, address); !isPage(page, http.StatusBadRequest) {
					t.Errorf("%d to %q", page.Status, page.Header.Get("Location"))
				}
				return
			}
			page := mustPost(t, b, consentForm(t, b, address))
			if to := page.Header.Get("Location"); page.Status != http.StatusSeeOther || !strings.HasPrefix(to, tc.want) {
				t.Errorf("AZ-15 %d to %q; want 303 to %q…", page.Status, to, tc.want)
			}
		})
	}
}

// states are values that must come back byte for byte.
var states = map[string]string{
	"empty": "", "plain": "st-1", "URL": "vscode://vscode.microsoft-authentication?nonce=a%2Fb&windowId=1", "base64": "ab+/cd==", "colon": "user:server:1", "spaces": " a  b ",
	"plus and percent": "100%+2%20%", "HTML": `"><script>alert(1)</script><img src=x onerror='y'>`, "JSON": `{"a":"b\\c","d":[1]}`, "line break": "a\r\nSet-Cookie: x=y\r\n\r\n<b>", "tab": "a\tb",
	"emoji": "🏠👩‍👩‍👧", "right to left": "\u202eevil\u202c", "2 KiB": strings.Repeat("Aé+/=&?", 256), "query": "a=b&code=evil&iss=https://evil.example", "control": "\x01\x02\x7f",
}

func TestStateByteForByte(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *apptest.Program) {
		b := mustSignIn(t, p.AddUser(t, "ada@example.com"), p.URL)
		entered, self := enteredClient(t, p, callback), registered(t, p)
		for name, state := range states {
			t.Run("AZ-9 "+name, func(t *testing.T) {
				for _, c := range []*apptest.Client{entered, self} {
					page := mustPost(t, b, consentForm(t, b, withQuery(t, c.AuthorizeURL(), "state", state)))
					checkAnswer(t, p, page.Header.Get("Location"), state, "")
				}
				f := consentForm(t, b, withQuery(t, entered.AuthorizeURL(), "state", state))
				f.Values.Set("decision", "deny")
				checkAnswer(t, p, mustPost(t, b, f).Header.Get("Location"), state, "access_denied")
				page := mustGet(t, b, withQuery(t, entered.AuthorizeURL(), "state", state, "response_type", "token"))
				checkAnswer(t, p, page.Header.Get("Location"), state, "unsupported_response_type")
				page = mustGet(t, b, withQuery(t, self.AuthorizeURL(), "state", state, "response_type", "token"))
				checkAnswer(t, p, leaveLink(t, page), state, "unsupported_response_type")
			})
		}
		t.Run("AZ-9 none sent", func(t *testing.T) {
			page := mustPost(t, b, consentForm(t, b, withQuery(t, entered.AuthorizeURL(), "state", "-")))
			if q := checkAnswer(t, p, page.Header.Get("Location"), "", ""); q.Has("state") {
				t.Errorf("a state came back: %v", q)
			}
		})
		t.Run("AZ-9 a state with NUL is refused cleanly", func(t *testing.T) {
			if page := mustGet(t, b, withQuery(t, entered.AuthorizeURL(), "state", "a\x00b")); page.Status != http.StatusBadRequest {
				t.Errorf("%d", page.Status)
			}
		})
	})
}

// checkAnswer checks an answer to the client: where to, state and issuer as they must be, and a code or this error.
func checkAnswer(t *testing.T, p *apptest.Program, location, state, wantError string) url.Values {
	t.Helper()
	base, query, _ := strings.Cut(location, "?")
	q, err := url.ParseQuery(query)
	if err != nil || base != callback {
		t.Errorf("the answer goes to %q (%v)", location, err)
		return nil
	}
	if got := q["state"]; len(got) > 1 || q.Get("state") != state {
		t.Errorf("AZ-9 state %q came back as %q", state, got)
	}
	if got := q["iss"]; len(got) != 1 || got[0] != p.URL || !strings.Contains(query, "iss="+url.QueryEscape(p.URL)) {
		t.Errorf("IS-1 iss %q in %q; want %q, encoded once", got, query, p.URL)
	}
	if q.Get("error") != wantError || q.Has("code") != (wantError == "") {
		t.Errorf("error %q, code %v; want error %q", q.Get("error"), q.Has("code"), wantError)
	}
	for _, c := range []byte(q.Get("error_description")) {
		if c < 0x20 || c > 0x7e || c == '"' || c == '\\' {
			t.Errorf("X-7 the byte %#x in %q", c, q.Get("error_description"))
		}
	}
	return q
}

// leaveLink is the link of a page that shows where an answer would go instead of going there.
func leaveLink(t *testing.T, page *apptest.Page) string {
	t.Helper()
	if page.Header.Get("Location") != "" || page.Status/100 == 3 {
		t.Fatalf("AZ-13 went to %q at once", page.Header.Get("Location"))
	}
	for n := range page.Doc.Descendants() {
		if n.Type != html.ElementNode || n.Data != "a" {
			continue
		}
		for _, a := range n.Attr {
			if a.Key == "href" && strings.HasPrefix(a.Val, callback) {
				return a.Val
			}
		}
	}
	t.Fatalf("AZ-13 no link to the client (%d): %s", page.Status, page.Text())
	return ""
}

// wrongRequests are faults that are reported to the client.
var wrongRequests = []struct {
	name, want string
	pairs      []string
}{
	{"AZ-4 no response_type", "invalid_request", []string{"response_type", "-"}},
	{"AZ-4 empty response_type", "invalid_request", []string{"response_type", ""}},
	{"AZ-4 token", "unsupported_response_type", []string{"response_type", "token"}},
	{"AZ-4 id_token token", "unsupported_response_type", []string{"response_type", "id_token token"}},
	{"AZ-4 code token", "unsupported_response_type", []string{"response_type", "code token"}},
	{"AZ-4 CODE", "unsupported_response_type", []string{"response_type", "CODE"}},
	{"AZ-4 response_mode fragment", "invalid_request", []string{"response_mode", "fragment"}},
	{"AZ-4 response_mode form_post", "invalid_request", []string{"response_mode", "form_post"}},
	{"PK-1 no challenge", "invalid_request", []string{"code_challenge", "-"}},
	{"PK-1 empty challenge", "invalid_request", []string{"code_challenge", ""}},
	{"PK-2 plain", "invalid_request", []string{"code_challenge_method", "plain"}},
	{"PK-2 no method", "invalid_request", []string{"code_challenge_method", "-"}},
	{"PK-2 s256", "invalid_request", []string{"code_challenge_method", "s256"}},
	{"PK-3 42 characters", "invalid_request", []string{"code_challenge", strings.Repeat("a", 42)}},
	{"PK-3 44 characters", "invalid_request", []string{"code_challenge", strings.Repeat("a", 44)}},
	{"PK-3 padded", "invalid_request", []string{"code_challenge", strings.Repeat("a", 43) + "="}},
	{"PK-3 plain base64", "invalid_request", []string{"code_challenge", strings.Repeat("a", 42) + "+"}},
	{"AZ-6 malformed scope", "invalid_scope", []string{"scope", `home:read "x"`}},
	{"AZ-6 scope not ASCII", "invalid_scope", []string{"scope", "home:réad"}},
	{"AZ-7 only unknown scopes", "invalid_scope", []string{"scope", "address email profile"}},
	{"RI-1 unknown resource", "invalid_target", []string{"resource", "https://elsewhere.example/mcp"}},
	{"RI-1 resource with fragment", "invalid_target", []string{"resource", "http://127.0.0.1/mcp#x"}},
	{"RI-1 relative resource", "invalid_target", []string{"resource", "/mcp"}},
	{"RI-1 malformed resource", "invalid_target", []string{"resource", "http://[::1"}},
	{"JA-1 request object", "request_not_supported", []string{"request", "eyJhbGciOiJub25lIn0.e30."}},
	{"JA-1 request_uri", "request_uri_not_supported", []string{"request_uri", "https://client.example/request.jwt"}},
	{"AZ-16 prompt none with a person who has not approved", "consent_required", []string{"prompt", "none"}},
	{"AZ-16 prompt none login", "invalid_request", []string{"prompt", "none login"}},
	{"AZ-16 max_age not a number", "invalid_request", []string{"max_age", "soon"}},
	{"AZ-16 max_age negative", "invalid_request", []string{"max_age", "-1"}},
}

func TestWrongAuthorizationRequests(t *testing.T) {
	t.Parallel()
	p := apptest.Start(t)
	b := mustSignIn(t, p.AddUser(t, "ada@example.com"), p.URL)
	stranger := apptest.NewBrowser("nobody@example.com", "x")
	entered, self := enteredClient(t, p, callback), registered(t, p)
	check := func(t *testing.T, want string, address func(c *apptest.Client) string) {
		t.Helper()
		page := mustOpen(t, b, address(entered))
		if page.Status != http.StatusSeeOther || page.Header.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("AZ-15 %d, Referrer-Policy %q; want 303 and no-referrer", page.Status, page.Header.Get("Referrer-Policy"))
		}
		checkAnswer(t, p, page.Header.Get("Location"), "st-1", want)
		checkAnswer(t, p, leaveLink(t, mustOpen(t, b, address(self))), "st-1", want)
		if page = mustOpen(t, stranger, address(entered)); page.Form("password") == nil {
			// AZ-12: a stranger is not sent on; with prompt=none, which forbids asking, only to a trusted client.
			if strings.Contains(address(entered), "prompt=none&") || strings.HasSuffix(address(entered), "prompt=none") {
				checkAnswer(t, p, page.Header.Get("Location"), "st-1", "login_required")
			} else {
				checkAnswer(t, p, leaveLink(t, page), "st-1", want)
			}
		}
		page = mustOpen(t, stranger, address(self))
		if page.Header.Get("Location") != "" {
			t.Errorf("AZ-12 AZ-13 a stranger was sent to %q", page.Header.Get("Location"))
		}
	}
	for _, tc := range wrongRequests {
		t.Run(tc.name, func(t *testing.T) {
			check(t, tc.want, func(c *apptest.Client) string { return withQuery(t, c.AuthorizeURL(), tc.pairs...) })
		})
	}
	for _, name := range []string{"response_type", "scope", "code_challenge", "code_challenge_method", "prompt", "max_age", "login_hint", "nonce", "response_mode", "request", "request_uri"} {
		t.Run("X-4 twice "+name, func(t *testing.T) {
			check(t, "invalid_request", func(c *apptest.Client) string {
				return withQuery(t, c.AuthorizeURL(), name, "") + "&" + name + "="
			})
		})
	}
	t.Run("X-4 twice state", func(t *testing.T) {
		page := mustOpen(t, b, entered.AuthorizeURL()+"&state=st-1")
		if q := checkAnswer(t, p, page.Header.Get("Location"), "", "invalid_request"); q.Has("state") {
			t.Errorf("one of two states came back: %v", q)
		}
	})
	for _, name := range []string{"client_id", "redirect_uri"} {
		t.Run("X-4 twice "+name, func(t *testing.T) {
			for _, value := range []string{entered.ID, callback, ""} {
				if page := mustOpen(t, b, entered.AuthorizeURL()+"&"+name+"="+url.QueryEscape(value)); !isPage(page, http.StatusBadRequest) {
					t.Errorf("%d to %q", page.Status, page.Header.Get("Location"))
				}
			}
		})
	}
	t.Run("AZ-2 AZ-3 unknown client", func(t *testing.T) {
		for _, id := range []string{"gc_unknown", "-", "", "ba d", strings.Repeat("x", 3000), "\u202e", "https", "../.."} {
			page := mustOpen(t, b, withQuery(t, entered.AuthorizeURL(), "client_id", id))
			if !isPage(page, http.StatusBadRequest) {
				t.Errorf("%q: %d to %q", id, page.Status, page.Header.Get("Location"))
			}
			if id == "gc_unknown" && (!strings.Contains(page.Body, "remove the connector") || !strings.Contains(page.Body, page.Header.Get("X-Request-Id"))) {
				t.Errorf("AZ-3 the page does not say how to recover: %s", page.Text())
			}
		}
		for accept, wantJSON := range map[string]bool{"application/json": true, "*/*": false, "text/html": false} {
			a := send(t, http.MethodGet, withQuery(t, entered.AuthorizeURL(), "client_id", "gc_unknown"), "", "Accept: "+accept)
			if isJSON := strings.HasPrefix(a.header.Get("Content-Type"), "application/json"); isJSON != wantJSON || a.header.Get("Location") != "" {
				t.Errorf("Accept %s: %d %s", accept, a.status, a.header.Get("Content-Type"))
			} else if isJSON && a.code(t) != "invalid_client" {
				t.Errorf("mcp-remote's look ahead: %s", a.body)
			}
		}
	})
	t.Run("X-6 unknown parameters", func(t *testing.T) {
		page := mustPost(t, b, consentForm(t, b, entered.AuthorizeURL()+"&utm=1&utm=2&claims=%7B%7D&id_token_hint=x"))
		checkAnswer(t, p, page.Header.Get("Location"), "st-1", "")
	})
	t.Run("RI-1 the same resource twice, in its spellings", func(t *testing.T) {
		for _, address := range []string{
			entered.AuthorizeURL() + "&resource=" + url.QueryEscape(p.URL+"/mcp"), withQuery(t, entered.AuthorizeURL(), "resource", "-"), withQuery(t, entered.AuthorizeURL(), "resource", ""),
			withQuery(t, entered.AuthorizeURL(), "resource", strings.Replace(p.URL, "http", "HTTP", 1)+"/mcp"),
		} {
			page := mustPost(t, b, consentForm(t, b, address))
			checkAnswer(t, p, page.Header.Get("Location"), "st-1", "")
		}
	})
	t.Run("AZ-1 methods", func(t *testing.T) {
		u, _ := url.Parse(entered.AuthorizeURL())
		if a := sendForm(t, p.URL+"/authorize", u.Query()); a.status != http.StatusSeeOther || !strings.HasPrefix(a.header.Get("Location"), "/signin?request=") {
			t.Errorf("POST: %d to %q", a.status, a.header.Get("Location"))
		}
		for _, method := range []string{http.MethodPut, http.MethodDelete, http.MethodPatch, "TRACE", "FOO"} {
			if a := send(t, method, entered.AuthorizeURL(), ""); a.status != http.StatusMethodNotAllowed || !strings.Contains(a.header.Get("Allow"), "GET") || a.header.Get("Location") != "" {
				t.Errorf("%s: %d, Allow %q", method, a.status, a.header.Get("Allow"))
			}
		}
	})
}

func TestPromptsOfAuthorizationRequests(t *testing.T) {
	t.Parallel()
	p := apptest.Start(t)
	b := p.AddUser(t, "ada@example.com")
	entered, self := enteredClient(t, p, callback), registered(t, p)
	stranger := mustOpen(t, b, withQuery(t, entered.AuthorizeURL(), "prompt", "none"))
	checkAnswer(t, p, stranger.Header.Get("Location"), "st-1", "login_required")
	checkAnswer(t, p, leaveLink(t, mustOpen(t, b, withQuery(t, self.AuthorizeURL(), "prompt", "none"))), "st-1", "login_required")
	connected(t, entered, b)
	for _, prompt := range []string{"none"} {
		page := mustOpen(t, b, withQuery(t, entered.AuthorizeURL(), "prompt", prompt))
		checkAnswer(t, p, page.Header.Get("Location"), "st-1", "consent_required")
	}
	for _, prompt := range []string{"consent", "select_account", "consent select_account", "create"} {
		if page := mustOpen(t, b, withQuery(t, entered.AuthorizeURL(), "prompt", prompt)); page.Form("decision") == nil {
			t.Errorf("AZ-16 prompt=%s: %d %s", prompt, page.Status, page.Text())
		}
	}
	for _, pairs := range [][]string{{"prompt", "login"}, {"prompt", "login consent"}, {"max_age", "0"}} {
		address := withQuery(t, entered.AuthorizeURL(), pairs...)
		page := mustOpen(t, b, address)
		if page.Form("password") == nil {
			t.Errorf("AZ-16 %v: the person was not asked to sign in again: %d %s", pairs, page.Status, page.Text())
			continue
		}
		request := page.URL.Query().Get("request")
		if direct := mustOpen(t, b, p.URL+"/authorize/"+request); direct.Form("password") == nil {
			t.Errorf("AZ-16 %v: the sign-in can be stepped around", pairs)
		}
		if to, err := b.Authorize(address); err != nil || to.Query().Get("code") == "" {
			t.Errorf("AZ-16 %v: after signing in again: %v %v", pairs, to, err)
		}
	}
}

func TestDecisions(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *apptest.Program) {
		b := mustSignIn(t, p.AddUser(t, "ada@example.com"), p.URL)
		entered, self := enteredClient(t, p, callback), registered(t, p)
		deny := func(c *apptest.Client) *apptest.Page {
			f := consentForm(t, b, c.AuthorizeURL())
			f.Values.Set("decision", "deny")
			return mustPost(t, b, f)
		}
		t.Run("AZ-10 AZ-13 deny", func(t *testing.T) {
			page := deny(entered)
			if page.Status != http.StatusSeeOther {
				t.Errorf("a client somebody vouches for: %d", page.Status)
			}
			checkAnswer(t, p, page.Header.Get("Location"), "st-1", "access_denied")
			page = deny(self)
			if page.Status != http.StatusOK || !strings.Contains(page.Text(), "127.0.0.1") {
				t.Errorf("a client that registered itself: %d %s", page.Status, page.Text())
			}
			checkAnswer(t, p, leaveLink(t, page), "st-1", "access_denied")
		})
		t.Run("CS-5 a second click", func(t *testing.T) {
			f := consentForm(t, b, self.AuthorizeURL())
			first := mustPost(t, b, f).Header.Get("Location")
			checkAnswer(t, p, first, "st-1", "")
			if again := mustSubmit(t, b, f); again.Status != http.StatusSeeOther || again.Header.Get("Location") != first {
				t.Errorf("the second click: %d, to %q; want where the first went", again.Status, again.Header.Get("Location"))
			}
			for _, again := range []*apptest.Page{mustOpen(t, b, f.Action), mustOpen(t, b, strings.TrimSuffix(f.Action, "/decision"))} {
				if !isPage(again, http.StatusOK) || !strings.Contains(again.Text(), "You allowed this request") {
					t.Errorf("%d %s", again.Status, again.Text())
				}
			}
			f.Values.Set("decision", "deny")
			if again := mustSubmit(t, b, f); !isPage(again, http.StatusOK) || !strings.Contains(again.Text(), "You allowed") {
				t.Errorf("deny after allow: %d to %q", again.Status, again.Header.Get("Location"))
			}
		})
		t.Run("CS-5 ten clicks at once", func(t *testing.T) {
			f := consentForm(t, b, self.AuthorizeURL())
			var mu sync.Mutex
			codes := map[string]int{}
			inParallel(10, func(int) {
				page, err := b.Post(f.Action, f.Values)
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err != nil:
					t.Error(err)
				case strings.Contains(page.Header.Get("Location"), "code="):
					codes[page.Header.Get("Location")]++
				default:
					t.Errorf("%d %s", page.Status, page.Text())
				}
			})
			if len(codes) != 1 {
				t.Errorf("%d different answers; want the same one ten times", len(codes))
			}
		})
		t.Run("AZ-17 two tabs", func(t *testing.T) {
			first, second := apptest.NewClient(p.URL, self.ID, callback), apptest.NewClient(p.URL, entered.ID, callback)
			one := consentForm(t, b, withQuery(t, first.AuthorizeURL(), "state", "first"))
			two := consentForm(t, b, withQuery(t, second.AuthorizeURL(), "state", "second", "scope", "home:read"))
			two.Tick("scope", []string{"home:read"})
			a2 := checkAnswer(t, p, mustPost(t, b, two).Header.Get("Location"), "second", "")
			a1 := checkAnswer(t, p, mustPost(t, b, one).Header.Get("Location"), "first", "")
			for _, x := range []struct {
				c     *apptest.Client
				code  string
				scope string
			}{{first, a1.Get("code"), "home:read home:write"}, {second, a2.Get("code"), "home:read"}} {
				if status, tokens, err := x.c.Redeem(x.code); err != nil || status != http.StatusOK || tokens.Scope != x.scope {
					t.Errorf("%d %v %+v; want scope %q", status, err, tokens, x.scope)
				}
			}
		})
		t.Run("CS-5 another person's form", func(t *testing.T) {
			f := consentForm(t, b, self.AuthorizeURL())
			other := mustSignIn(t, p.AddUser(t, "eve@example.com"), p.URL)
			if page := mustPost(t, other, f); !isPage(page, http.StatusForbidden) {
				t.Errorf("%d to %q", page.Status, page.Header.Get("Location"))
			}
			for name, fields := range map[string][]string{
				"another site": {"Origin: https://evil.example", "Sec-Fetch-Site: cross-site"}, "no origin told": {"Origin: null"}, "a subdomain": {"Sec-Fetch-Site: same-site"},
			} {
				a := sendBy(t, b.Client(), http.MethodPost, f.Action, strings.NewReader(f.Values.Encode()), append(fields, "Content-Type: application/x-www-form-urlencoded")...)
				if a.status != http.StatusForbidden || a.header.Get("Location") != "" {
					t.Errorf("CS-4 %s: %d to %q", name, a.status, a.header.Get("Location"))
				}
			}
			for _, token := range []string{"", "x", strings.Repeat("a", 43)} {
				g := *f
				g.Values = url.Values{"decision": {"allow"}, "scope": f.Values["scope"], "location": f.Values["location"], "csrf": {token}}
				if page := mustPost(t, b, &g); !isPage(page, http.StatusForbidden) {
					t.Errorf("CS-5 form token %q: %d", token, page.Status)
				}
			}
			checkAnswer(t, p, mustPost(t, b, f).Header.Get("Location"), "st-1", "") // nothing of that decided anything
		})
		t.Run("CS-4 incomplete forms are asked for again", func(t *testing.T) {
			f := consentForm(t, b, self.AuthorizeURL())
			for name, change := range map[string]func(v url.Values){
				"no scope": func(v url.Values) { v.Del("scope") }, "no location": func(v url.Values) { v.Del("location") }, "no decision": func(v url.Values) { v.Del("decision") },
				"a foreign scope": func(v url.Values) { v["scope"] = []string{"admin"} }, "a foreign location": func(v url.Values) { v["location"] = []string{"01a22f18-d8a0-7279-a110-bb8a4d6aeb4a"} },
				"a location that is no id": func(v url.Values) { v["location"] = []string{"' OR 1=1 --"} }, "another life": func(v url.Values) { v.Set("expires", "100y") },
			} {
				g := apptest.Form{Action: f.Action, Values: url.Values{}}
				for k, v := range f.Values {
					g.Values[k] = slices.Clone(v)
				}
				change(g.Values)
				if page := mustPost(t, b, &g); page.Status != http.StatusUnprocessableEntity || page.Form("decision") == nil {
					t.Errorf("%s: %d to %q: %s", name, page.Status, page.Header.Get("Location"), page.Text())
				}
			}
			checkAnswer(t, p, mustPost(t, b, f).Header.Get("Location"), "st-1", "")
		})
		t.Run("BH-1 BH-2 BH-3 headers of the consent page", func(t *testing.T) {
			page := mustOpen(t, b, self.AuthorizeURL())
			h := page.Header
			policy := h.Get("Content-Security-Policy")
			if strings.Contains(policy, "form-action") || !strings.Contains(policy, "frame-ancestors 'none'") || h.Get("X-Frame-Options") != "DENY" ||
				h.Get("Cross-Origin-Opener-Policy") != "" || h.Get("Referrer-Policy") != "same-origin" || h.Get("Cache-Control") != "no-store" || h.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%v", h)
			}
		})
		t.Run("AZ-17 unknown requests", func(t *testing.T) {
			for _, id := range []string{"x", strings.Repeat("a", 43), "%00", "%2e%2e", strings.Repeat("a", 4000), "%ff"} {
				if page := mustOpen(t, b, p.URL+"/authorize/"+id); page.Status >= 500 || page.Status < 400 || page.Header.Get("Location") != "" {
					t.Errorf("%q: %d", id, page.Status)
				}
			}
		})
	})
}

func TestExpiredRequests(t *testing.T) {
	t.Parallel()
	inTime(t, func(t *testing.T, h *house, clock *dbtest.Clock) {
		c := h.client(t)
		mustSignIn(t, h.person, h.url)
		f := consentForm(t, h.person, c.AuthorizeURL())
		inTimeForm := consentForm(t, h.person, c.AuthorizeURL())
		clock.Advance(9*time.Minute + 59*time.Second)
		if page := mustPost(t, h.person, inTimeForm); page.Status != http.StatusSeeOther || !strings.Contains(page.Header.Get("Location"), "code=") {
			t.Errorf("CN-53 a decision within ten minutes: %d", page.Status)
		}
		clock.Advance(2 * time.Second)
		for _, page := range []*apptest.Page{mustPost(t, h.person, f), mustOpen(t, h.person, strings.TrimSuffix(f.Action, "/decision"))} {
			if !isPage(page, http.StatusBadRequest) || !strings.Contains(page.Text(), "request is over") {
				t.Errorf("CN-53 a request after ten minutes: %d to %q: %s", page.Status, page.Header.Get("Location"), page.Text())
			}
		}
		f.Values.Set("decision", "deny")
		if page := mustPost(t, h.person, f); !isPage(page, http.StatusBadRequest) {
			t.Errorf("CN-53 deny after ten minutes: %d to %q", page.Status, page.Header.Get("Location"))
		}
	})
}

func TestReturnPathsStayHere(t *testing.T) {
	t.Parallel()
	p := apptest.Start(t)
	p.AddUser(t, "ada@example.com")
	for _, target := range []string{
		"//evil.example", "///evil.example", "/\\evil.example", "\\\\evil.example", "https://evil.example", "http:evil.example", "javascript:alert(1)", "/\t/evil.example", "/\n/evil.example", "/\r\nLocation: https://evil.example",
		"/%2f/evil.example", "/%5cevil.example", "/..//evil.example", "@evil.example", ".evil.example", "evil.example", "/settings/account", "/settings/connections?done=saved", "", "/\x00",
	} {
		t.Run("BH-7 "+strings.ReplaceAll(target, "/", "|"), func(t *testing.T) {
			b := apptest.NewBrowser("ada@example.com", apptest.Password)
			page := mustOpen(t, b, p.URL+"/signin?return="+url.QueryEscape(target))
			f := page.Form("password")
			if f == nil {
				t.Fatalf("%d %s", page.Status, page.Text())
			}
			f.Values.Set("return", target) // as a page of another site could send it, were it not for the form token
			f.Values.Set("email", b.Email)
			f.Values.Set("password", b.Password)
			page = mustPost(t, b, f)
			to := page.Header.Get("Location")
			u, err := page.URL.Parse(to)
			if page.Status != http.StatusSeeOther && page.Status != http.StatusBadRequest || err != nil || page.Status == http.StatusSeeOther && (u.Host != page.URL.Host || !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.ContainsAny(to, "\\\r\n\t")) {
				t.Errorf("%d to %q (%v)", page.Status, to, err)
			}
			if strings.HasPrefix(target, "/settings/") && to != target {
				t.Errorf("a path of ours leads to %q", to)
			}
		})
	}
}

func TestGuessedEndpoints(t *testing.T) {
	t.Parallel()
	// Clients whose discovery fails guess paths: both families of them are the same endpoints.
	p := apptest.Start(t)
	b := p.AddUser(t, "ada@example.com")
	a := send(t, "POST", p.URL+"/oauth/register", `{"redirect_uris":["`+callback+`"],"token_endpoint_auth_method":"none"}`, "Content-Type: application/json")
	var made struct {
		ID string `json:"client_id"`
	}
	if err := json.Unmarshal([]byte(a.body), &made); err != nil || a.status != http.StatusCreated {
		t.Fatalf("settled 16: %d %s", a.status, a.body)
	}
	c := apptest.NewClient(p.URL, made.ID, callback)
	to, err := b.Authorize(strings.Replace(c.AuthorizeURL(), "/authorize?", "/oauth/authorize?", 1))
	if err != nil {
		t.Fatal(err)
	}
	code := checkAnswer(t, p, to.String(), "st-1", "").Get("code")
	c.Base = p.URL + "/oauth"
	status, tokens, err := c.Token(url.Values{"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {callback}, "code_verifier": {c.Verifier}})
	if err != nil || status != http.StatusOK || mustCall(t, p.URL, tokens.AccessToken, "ping", "").Status != http.StatusOK {
		t.Fatalf("settled 16: %d %v %+v", status, err, tokens)
	}
	if a := sendForm(t, p.URL+"/oauth/revoke", url.Values{"client_id": {c.ID}, "token": {tokens.RefreshToken}}); a.status != http.StatusOK {
		t.Errorf("settled 16: %d", a.status)
	}
	if mustCall(t, p.URL, tokens.AccessToken, "ping", "").Status != http.StatusUnauthorized {
		t.Error("CN-77 the connection goes on after the client gave its refresh token back")
	}
}
