package app_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"gatehouse/app/apptest"
)

// forwarding adds headers as a proxy would, or as somebody who would like to be taken for one.
type forwarding struct{ header http.Header }

func (f *forwarding) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, values := range f.header {
		r.Header[name] = values
	}
	return http.DefaultTransport.RoundTrip(r)
}

func TestForwardingHeadersOfStrangersDoNotCount(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, proxies, forwarded, want string
	}{
		{"X-14 nobody is trusted", "", "203.0.113.7", "127.0.0.1"},
		{"X-14 another network is trusted", "10.0.0.0/8", "203.0.113.7", "127.0.0.1"},
		{"X-14 the proxy is trusted", "127.0.0.1", "203.0.113.7", "203.0.113.7"},
		{"X-14 what stands before the proxy's own entry is the caller's word", "127.0.0.1", "198.51.100.1, 203.0.113.7", "203.0.113.7"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := apptest.Start(t, "GATEHOUSE_TRUSTED_PROXIES="+tc.proxies)
			b := p.AddUser(t, "ada@example.com")
			b.Through(&http.Client{Transport: &forwarding{http.Header{
				"X-Forwarded-For": {tc.forwarded}, "X-Real-Ip": {"192.0.2.9"}, "Forwarded": {"for=192.0.2.10"}, "X-Forwarded-Host": {"evil.example"},
			}}})
			page := mustOpen(t, mustSignIn(t, b, p.URL), p.URL+"/settings/account")
			if !strings.Contains(page.Text(), tc.want) {
				t.Errorf("no session from %s: %s", tc.want, page.Text())
			}
			if found := contains(page.Body, "192.0.2.9", "192.0.2.10", "198.51.100.1", "evil.example"); found != "" {
				t.Errorf("believed: %s", found)
			}
		})
	}
}

func TestPlainHTTPBeyondThisComputerIsRefused(t *testing.T) {
	t.Parallel()
	p := apptest.Start(t)
	for _, uri := range []string{"http://app.example/callback", "http://10.0.0.5/callback", "http://localhost.evil.example/callback"} {
		if c, err := apptest.RegisterClient(p.URL, uri); err == nil {
			t.Errorf("X-1 registered %s as %s", uri, c.ID)
		}
	}
	off := apptest.Start(t, "GATEHOUSE_PUBLIC_URL=http://home.example")
	address := "http://" + off.Bound(t)
	for _, path := range []string{"/.well-known/oauth-authorization-server", "/.well-known/oauth-protected-resource/mcp", "/authorize", "/token", "/register"} {
		if a := send(t, "GET", address+path, "", "Host: home.example"); a.status != http.StatusNotFound {
			t.Errorf("X-1 KE-108 %s with a plain public URL: %d", path, a.status)
		}
	}
	if !strings.Contains(off.Logs(), "https") {
		t.Error("X-1 the log does not say why")
	}
	secure, client := behindTLS(t)
	res, err := client.Get(secure.URL + "/.well-known/oauth-authorization-server")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var doc map[string]any
	if err := json.NewDecoder(res.Body).Decode(&doc); err != nil {
		t.Fatal(err)
	}
	for name, value := range doc {
		if s, ok := value.(string); ok && strings.Contains(s, "://") && !strings.HasPrefix(s, "https://") {
			t.Errorf("X-1 %s is %s", name, s)
		}
	}
}

// TestConsentIsNeverSilent approves everything once and then asks again in every way that could pass by itself.
func TestConsentIsNeverSilent(t *testing.T) {
	t.Parallel()
	onBothWith(t, fetchSettings, func(t *testing.T, p *apptest.Program) {
		b := p.AddUser(t, "ada@example.com")
		host := newDocumentHost(t)
		for name, c := range map[string]*apptest.Client{
			"a client that registered itself": registered(t, p),
			"a client with a document":        apptest.NewClient(p.URL, host.publish("/app.json", nil), callback),
		} {
			connected(t, c, b)
			for _, prompt := range []string{"-", "consent"} {
				page := mustOpen(t, b, withQuery(t, c.AuthorizeURL(), "prompt", prompt))
				for page.Status == http.StatusSeeOther {
					to, err := page.URL.Parse(page.Header.Get("Location"))
					if err != nil || !strings.HasPrefix(to.String(), p.URL) {
						t.Fatalf("CS-3 %s, prompt %s: sent to %s", name, prompt, to)
					}
					page = mustOpen(t, b, to.String())
				}
				if page.Form("decision") == nil {
					t.Errorf("CS-3 %s, prompt %s: no consent page: %d", name, prompt, page.Status)
				}
			}
			to, err := b.Authorize(withQuery(t, c.AuthorizeURL(), "prompt", "none"))
			if err == nil && to.Query().Get("code") != "" {
				t.Errorf("CS-3 %s: prompt=none gave a code", name)
			}
		}
	})
}

// TestTokensOfClientsGoNowhereElse records all that the program sends to other hosts while a client with a document and
// keys connects and calls.
func TestTokensOfClientsGoNowhereElse(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var sent []string
	var document string
	_, host := tlsServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var head strings.Builder
		_ = r.Header.Write(&head)
		mu.Lock()
		sent = append(sent, r.Method+" "+r.URL.String()+"\n"+head.String()+string(body))
		mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, document)
	}))
	id := host + "/app.json"
	document = `{"client_id":"` + id + `","client_name":"App","redirect_uris":["` + callback + `"],"token_endpoint_auth_method":"none"}`
	p := apptest.Start(t, fetchSettings(t)...)
	b := p.AddUser(t, "ada@example.com")
	c := apptest.NewClient(p.URL, id, callback)
	tokens := connected(t, c, b)
	if _, failed, err := apptest.CallTool(p.URL, tokens.AccessToken, "list_locations", "{}"); err != nil || failed {
		t.Fatalf("call: %v", err)
	}
	if status, _, err := c.Refresh(tokens.RefreshToken); err != nil || status != http.StatusOK {
		t.Fatalf("refresh: %d %v", status, err)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(sent) == 0 {
		t.Fatal("BR-9 nothing was fetched, so that nothing is proven")
	}
	secrets := []string{tokens.AccessToken, tokens.RefreshToken, "Authorization:", "Cookie:"}
	for _, cookie := range b.Cookies(p.URL) {
		secrets = append(secrets, cookie.Value, url.QueryEscape(cookie.Value))
	}
	for _, request := range sent {
		if found := contains(request, secrets...); found != "" {
			t.Errorf("BR-9 sent to another host: %s", request)
		}
	}
}
