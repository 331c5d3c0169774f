package app_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gatehouse/app"
	"gatehouse/app/apptest"
	"gatehouse/db/dbtest"
)

// Clients that are known by the URL of their document, against hosts that are down, wrong or hostile.

// padded is a document of exactly n bytes.
func padded(id string, n int) string {
	head := `{"client_id":"` + id + `","client_name":"Padded","redirect_uris":["` + callback + `"],"pad":"`
	return head + strings.Repeat("x", n-len(head)-2) + `"}`
}

func TestDocumentsThatAreRefused(t *testing.T) {
	t.Parallel()
	p := apptest.Start(t, fetchSettings(t)...)
	b := mustSignIn(t, p.AddUser(t, "ada@example.com"), p.URL)
	first, second := newDocumentHost(t), newDocumentHost(t) // 30 fetches a minute from one origin are the most
	first.publish("/moved/client.json", nil)
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	redirect := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/moved/client.json", code) }
	}
	var bomb bytes.Buffer
	zip := gzip.NewWriter(&bomb)
	_, _ = io.WriteString(zip, padded(second.URL+"/bomb.json", 600<<10))
	_ = zip.Close()
	for _, tc := range []struct {
		name, id string
		status   int
	}{
		{"CI-4 301", first.serve("/301.json", redirect(301)), 400},
		{"CI-4 302", first.serve("/302.json", redirect(302)), 400},
		{"CI-4 303", first.serve("/303.json", redirect(303)), 400},
		{"CI-4 307", first.serve("/307.json", redirect(307)), 400},
		{"CI-4 308", first.serve("/308.json", redirect(308)), 400},
		{"CI-4 204", first.serve("/204.json", status(204)), 400},
		{"CI-4 404", first.URL + "/nothing.json", 400},
		{"CI-4 403", first.serve("/403.json", status(403)), 400},
		{"CI-4 500", first.serve("/500.json", status(500)), 503},
		{"CI-4 503", first.serve("/503.json", status(503)), 503},
		{"CI-4 a connection that breaks off", first.serve("/broken.json", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }), 503},
		{"CI-6 a byte above 5 KB", first.serve("/large.json", jsonPage(padded(first.URL+"/large.json", 5*1024+1))), 400},
		{"CI-6 an endless body", first.serve("/endless.json", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			for range 1 << 10 {
				if _, err := io.WriteString(w, strings.Repeat(" ", 4096)); err != nil {
					return
				}
			}
		}), 400},
		{"CI-6 small while compressed", second.serve("/bomb.json", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb.Bytes())
		}), 400},
		{"CI-5 text/html", first.serve("/html.json", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, padded(first.URL+"/html.json", 500))
		}), 400},
		{"CI-5 two client_id members", second.serve("/two.json", jsonPage(`{"client_id":"https://other.example/c","client_id":"`+second.URL+`/two.json","client_name":"x","redirect_uris":["`+callback+`"]}`)), 400},
		{"CI-5 not UTF-8", second.serve("/latin.json", jsonPage("{\"client_id\":\""+second.URL+"/latin.json\",\"client_name\":\"\xe9\",\"redirect_uris\":[\""+callback+"\"]}")), 400},
		{"CI-5 an array", second.serve("/array.json", jsonPage(`[]`)), 400},
		{"CI-5 cut off", second.serve("/cut.json", jsonPage(`{"client_id":`)), 400},
		{"CI-5 nothing", second.serve("/empty.json", jsonPage(``)), 400},
		{"CI-3 another client_id", second.publish("/other.json", map[string]any{"client_id": second.URL + "/elsewhere.json"}), 400},
		{"CI-3 client_id with another query", second.publish("/query.json", map[string]any{"client_id": second.URL + "/query.json?"}), 400},
		{"CI-3 no client_id", second.publish("/none.json", map[string]any{"client_id": nil}), 400},
		{"CI-8 client_secret_basic", second.publish("/basic.json", map[string]any{"token_endpoint_auth_method": "client_secret_basic"}), 400},
		{"CI-8 client_secret_post", second.publish("/post.json", map[string]any{"token_endpoint_auth_method": "client_secret_post"}), 400},
		{"CI-8 client_secret_jwt", second.publish("/jwt.json", map[string]any{"token_endpoint_auth_method": "client_secret_jwt"}), 400},
		{"CI-8 a secret", second.publish("/secret.json", map[string]any{"client_secret": "abc"}), 400},
		{"CI-8 an end of a secret", second.publish("/ends.json", map[string]any{"client_secret_expires_at": 0}), 400},
		{"CI-10 private_key_jwt without keys", second.publish("/pkj.json", map[string]any{"token_endpoint_auth_method": "private_key_jwt"}), 400},
		{"CI-11 no name", second.publish("/unnamed.json", map[string]any{"client_name": nil}), 400},
		{"CI-11 no redirect URI", second.publish("/nowhere.json", map[string]any{"redirect_uris": []string{}}), 400},
		{"CI-11 only a forbidden redirect URI", second.publish("/script.json", map[string]any{"redirect_uris": []string{"javascript:alert(1)"}}), 400},
		{"CI-11 redirect_uris is a string", second.publish("/string.json", map[string]any{"redirect_uris": callback}), 400},
	} {
		t.Run(tc.name, func(t *testing.T) {
			page := mustOpen(t, b, apptest.NewClient(p.URL, tc.id, callback).AuthorizeURL())
			if !isPage(page, tc.status) || page.Form("decision") != nil {
				t.Errorf("%d: %s", page.Status, page.Text())
			}
		})
	}
	if n := first.count("/moved/client.json"); n != 0 {
		t.Errorf("CI-4 redirects were followed %d times", n)
	}
	exact := apptest.NewClient(p.URL, second.URL+"/exact.json", callback)
	second.serve("/exact.json", jsonPage(padded(exact.ID, 5*1024)))
	if _, err := exact.Connect(b); err != nil {
		t.Errorf("CI-6 exactly 5 KB: %v", err)
	}
}

func TestDocumentHostDown(t *testing.T) {
	t.Parallel()
	onBothWith(t, fetchSettings, func(t *testing.T, p *apptest.Program) {
		b := mustSignIn(t, p.AddUser(t, "ada@example.com"), p.URL)
		host := newDocumentHost(t)
		closed, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		_, port, _ := net.SplitHostPort(closed.Addr().String())
		_ = closed.Close()
		for name, id := range map[string]string{
			"X-10 nobody listens":        "https://localhost:" + port + "/client.json",
			"X-10 the name is not known": "https://no-such-host.invalid/client.json",
		} {
			page := mustOpen(t, b, apptest.NewClient(p.URL, id, callback).AuthorizeURL())
			if !isPage(page, http.StatusServiceUnavailable) || page.Header.Get("Retry-After") == "" {
				t.Errorf("%s: %d %v: %s", name, page.Status, page.Header, page.Text())
			}
		}
		// CI-13: a failure is not remembered.
		id := host.serve("/late.json", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
		c := apptest.NewClient(p.URL, id, callback)
		if page := mustOpen(t, b, c.AuthorizeURL()); !isPage(page, http.StatusServiceUnavailable) {
			t.Errorf("CI-13 while the host is in trouble: %d", page.Status)
		}
		host.publish("/late.json", map[string]any{"client_name": nil})
		if page := mustOpen(t, b, c.AuthorizeURL()); !isPage(page, http.StatusBadRequest) {
			t.Errorf("CI-13 while the document is invalid: %d", page.Status)
		}
		host.publish("/late.json", nil)
		if _, err := c.Connect(b); err != nil {
			t.Errorf("CI-13 after the host is well again: %v", err)
		}
	})
}

// onBothWith is onBoth with settings.
func onBothWith(t *testing.T, settings func(t testing.TB) []string, f func(t *testing.T, p *apptest.Program)) {
	t.Helper()
	for _, name := range []string{"sqlite", "postgres"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := settings(t)
			if name == "postgres" {
				env = append(env, "GATEHOUSE_DATABASE_URL="+dbtest.PostgresURL(t))
			}
			f(t, apptest.Start(t, env...))
		})
	}
}

func TestSlowDocumentHost(t *testing.T) {
	t.Parallel()
	p := apptest.Start(t, fetchSettings(t)...)
	b := mustSignIn(t, p.AddUser(t, "ada@example.com"), p.URL)
	host, done := newDocumentHost(t), make(chan struct{})
	defer close(done)
	id := host.serve("/slow.json", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, "{")
		w.(http.Flusher).Flush()
		select {
		case <-done:
		case <-r.Context().Done():
		}
	})
	began := time.Now()
	page := mustOpen(t, b, apptest.NewClient(p.URL, id, callback).AuthorizeURL())
	if took := time.Since(began); !isPage(page, http.StatusServiceUnavailable) || took > 8*time.Second {
		t.Errorf("CI-6 a host that sends a byte and no more: %d after %s: %s", page.Status, took, page.Text())
	}
}

func TestDocumentsAreFetchedOnlyWithReason(t *testing.T) {
	t.Parallel()
	onBothWith(t, fetchSettings, func(t *testing.T, p *apptest.Program) {
		b := p.AddUser(t, "ada@example.com")
		host := newDocumentHost(t)
		id := host.publish("/client.json", nil)
		c := apptest.NewClient(p.URL, id, callback)
		for _, grant := range []url.Values{
			{"grant_type": {"authorization_code"}, "code": {"gtc_x"}, "code_verifier": {c.Verifier}},
			{"grant_type": {"refresh_token"}, "refresh_token": {"gtr_x"}},
			{"grant_type": {"client_credentials"}},
		} {
			status, answer, err := c.Token(grant)
			if err != nil || status != http.StatusUnauthorized || answer.Error != "invalid_client" {
				t.Errorf("CI-15 %s of a client that was never here: %d %v %+v", grant.Get("grant_type"), status, err, answer)
			}
		}
		if a := sendForm(t, p.URL+"/revoke", url.Values{"client_id": {id}, "token": {"gtr_x"}}); a.status != http.StatusUnauthorized || a.code(t) != "invalid_client" {
			t.Errorf("CI-15 revocation of a client that was never here: %d", a.status)
		}
		page := mustOpen(t, b, c.AuthorizeURL()) // nobody is signed in
		if page.Form("password") == nil || strings.Contains(page.Body, "Documented app") {
			t.Errorf("CI-15 a stranger at the authorization endpoint: %d %s", page.Status, page.Text())
		}
		mustOpen(t, b, page.URL.String())
		quiet := mustOpen(t, b, withQuery(t, c.AuthorizeURL(), "prompt", "none"))
		if !isPage(quiet, http.StatusBadRequest) {
			t.Errorf("CI-15 a stranger with prompt=none: %d, to %q", quiet.Status, quiet.Header.Get("Location"))
		}
		if n := host.count("/client.json"); n != 0 {
			t.Fatalf("CI-15 the document was fetched %d times for strangers", n)
		}
		tokens := connected(t, c, b)
		if n := host.count("/client.json"); n != 1 {
			t.Errorf("CI-13 fetched %d times for one connection", n)
		}
		for range 3 {
			status, next, err := c.Refresh(tokens.RefreshToken)
			if err != nil || status != http.StatusOK {
				t.Fatalf("refresh: %d %v %+v", status, err, next)
			}
			tokens = next
		}
		if n := host.count("/client.json"); n != 1 {
			t.Errorf("CI-13 fetched %d times while fresh", n)
		}
	})
}

func TestDocumentChangesAndOutages(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"sqlite", "postgres"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			database := ""
			if name == "postgres" {
				database = dbtest.PostgresURL(t)
			}
			clock, ca := dbtest.NewClock(), caFile(t)
			h := inProcess(t, database, clock.Now, func(c *app.Config) {
				c.ClientDocuments, c.FetchAllow, c.FetchCAFile = true, []string{"127.0.0.0/8", "::1"}, ca
			})
			host := newDocumentHost(t)
			const moved = "http://127.0.0.1:7780/moved"
			c := apptest.NewClient(h.url, host.publish("/client.json", nil), callback)
			tokens := connected(t, c, h.person)
			host.publish("/client.json", map[string]any{"redirect_uris": []string{moved}, "client_name": "Renamed app"})
			if _, err := c.Code(h.person); err != nil {
				t.Errorf("CI-13 while the document is fresh: %v", err)
			}
			clock.Advance(6 * time.Minute)
			if page := mustOpen(t, h.person, c.AuthorizeURL()); !isPage(page, http.StatusBadRequest) {
				t.Errorf("CI-17 a redirect URI that the document has dropped: %d", page.Status)
			}
			c.Redirect = moved
			if page := mustOpen(t, h.person, c.AuthorizeURL()); page.Form("decision") == nil || !strings.Contains(page.Body, "Renamed app") {
				t.Errorf("CI-17 the new redirect URI: %d %s", page.Status, page.Text())
			}
			if _, err := c.Code(h.person); err != nil {
				t.Errorf("CI-17 the new redirect URI: %v", err)
			}

			host.server.Close()
			clock.Advance(time.Hour)
			status, next, err := c.Refresh(tokens.RefreshToken)
			if err != nil || status != http.StatusOK {
				t.Fatalf("CI-14 refresh during an outage of the document's host: %d %v %+v", status, err, next)
			}
			if _, err := c.Code(h.person); err != nil {
				t.Errorf("CI-14 authorization during an outage, with a good copy: %v", err)
			}
			clock.Advance(26 * time.Hour)
			mustSignIn(t, h.person, h.url) // the session has ended, too
			if page := mustOpen(t, h.person, c.AuthorizeURL()); !isPage(page, http.StatusServiceUnavailable) {
				t.Errorf("CI-14 authorization after a day of outage: %d", page.Status)
			}
			if status, answer, _ := c.Refresh(next.RefreshToken); answer == nil || answer.Error == "invalid_client" || answer.Error == "invalid_grant" {
				t.Errorf("X-10 refresh after a day of outage: %d %+v; clients throw their tokens away on that", status, answer)
			}
		})
	}
}

// trap is a listener that nobody may reach.
func trap(t *testing.T, address string) (port string, hits *atomic.Int64) {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Skipf("SKIPPED: cannot listen on %s: %v", address, err)
	}
	t.Cleanup(func() { _ = l.Close() })
	hits = &atomic.Int64{}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			hits.Add(1)
			_ = conn.Close()
		}
	}()
	_, port, _ = net.SplitHostPort(l.Addr().String())
	return port, hits
}

func TestDocumentsOnSpecialAddresses(t *testing.T) {
	t.Parallel()
	p := apptest.Start(t)
	b := mustSignIn(t, p.AddUser(t, "ada@example.com"), p.URL)
	port, hits := trap(t, "0.0.0.0:0")
	hosts := []string{
		"localhost", "localhost:443", "localhost:" + port, "LOCALHOST:" + port, "localhost.:" + port, "127.0.0.1", "127.0.0.1:" + port, "127.1:" + port, "127.0.1:" + port,
		"2130706433:" + port, "0x7f000001:" + port, "0x7f.0.0.1:" + port, "0177.0.0.1:" + port, "017700000001:" + port, "0:" + port, "0.0.0.0:" + port,
		"[::1]:" + port, "[::]:" + port, "[::ffff:127.0.0.1]:" + port, "[::ffff:7f00:1]:" + port, "[::127.0.0.1]:" + port, "[64:ff9b::7f00:1]:" + port,
		"10.0.0.1", "172.16.0.1", "192.168.1.1", "100.64.0.1", "169.254.169.254", "192.0.0.1", "192.0.2.1", "198.18.0.1", "203.0.113.1", "224.0.0.1", "240.0.0.1", "255.255.255.255",
		"[fc00::1]", "[fd00:ec2::254]", "[fe80::1]", "[fe80::1%25lo]:" + port, "[::ffff:10.0.0.1]", "[64:ff9b::a00:1]", "[2001:db8::1]", "[ff02::1]", "[2002:7f00:1::]",
		"127.0.0.1.:" + port, "user@localhost:" + port, "localhost:" + port + "@example.com", "localhost%00.example.com", "localhost\\.example.com", "example.com:" + port + "\\@localhost",
	}
	if name, err := os.Hostname(); err == nil {
		if addresses, err := net.LookupIP(name); err == nil && len(addresses) > 0 && (addresses[0].IsPrivate() || addresses[0].IsLoopback()) {
			hosts = append(hosts, name+":"+port, name)
		}
	}
	for _, host := range hosts {
		t.Run("CI-7 "+host, func(t *testing.T) {
			began := time.Now()
			page := mustOpen(t, b, apptest.NewClient(p.URL, "https://"+host+"/client.json", callback).AuthorizeURL())
			unresolved := strings.HasPrefix(host, "localhost.") && isPage(page, http.StatusServiceUnavailable) // some resolvers do not know it
			if !isPage(page, http.StatusBadRequest) && !unresolved {
				t.Errorf("%d: %s", page.Status, page.Text())
			}
			if took := time.Since(began); took > 2*time.Second {
				t.Errorf("took %s: it went to see", took)
			}
		})
	}
	if n := hits.Load(); n != 0 {
		t.Errorf("CI-7 %d connections were made", n)
	}
}

func TestClientIDsThatAreNoDocumentURL(t *testing.T) {
	t.Parallel()
	p := apptest.Start(t, fetchSettings(t)...)
	b := mustSignIn(t, p.AddUser(t, "ada@example.com"), p.URL)
	host := newDocumentHost(t)
	at := host.URL
	for i, id := range []string{
		at, at + "/", at + "/a/../client.json", at + "/./client.json", at + "/%2e%2e/client.json", at + "/a/.%2E/client.json", at + "/..", at + "/client.json#x", at + "/client.json#",
		strings.Replace(at, "https://", "https://ada:pw@", 1) + "/client.json", strings.Replace(at, "https://", "https://@", 1) + "/client.json",
		strings.Replace(at, "https", "HTTPS", 1) + "/client.json", strings.Replace(at, "https", "http", 1) + "/client.json", at + "/client .json", at + "/cliént.json",
		at + "/a\\..\\client.json", at + "\\client.json", at + "/" + strings.Repeat("x", 2100), "https:///client.json", "https://", "https:localhost/client.json", at + ":1/client.json",
		strings.Replace(at, "localhost:", "localhost:0", 1) + "/client.json",
	} {
		t.Run(fmt.Sprintf("CI-1 CI-2 %d %.60s", i, id), func(t *testing.T) {
			page := mustOpen(t, b, apptest.NewClient(p.URL, id, callback).AuthorizeURL())
			if !isPage(page, http.StatusBadRequest) {
				t.Errorf("authorize: %d %s", page.Status, page.Text())
			}
			a := sendForm(t, p.URL+"/token", url.Values{"grant_type": {"authorization_code"}, "code": {"x"}, "client_id": {id}})
			if a.status != http.StatusUnauthorized || a.code(t) != "invalid_client" {
				t.Errorf("token: %d %s", a.status, a.body)
			}
		})
	}
	for path, n := range host.hits {
		t.Errorf("CI-1 %s was fetched %d times", path, n)
	}
}

func TestDocumentsOfAPublicServer(t *testing.T) {
	t.Parallel()
	// A server that is reached from outside must not be sent to its own network, whatever is allowed for other fetches.
	p, client := behindTLS(t, fetchSettings(t)...)
	b := p.AddUser(t, "ada@example.com")
	b.Through(client)
	mustSignIn(t, b, p.URL)
	host := newDocumentHost(t)
	page := mustOpen(t, b, apptest.NewClient(p.URL, host.publish("/client.json", nil), callback).AuthorizeURL())
	if !isPage(page, http.StatusBadRequest) || host.count("/client.json") != 0 {
		t.Errorf("CI-7 a document on this computer: %d, fetched %d times: %s", page.Status, host.count("/client.json"), page.Text())
	}
}
