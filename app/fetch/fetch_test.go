package fetch

import (
	"compress/gzip"
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"gatehouse/oauth"
)

// site is a TLS server on a loopback address, whose certificate is for example.com.
type site struct {
	*httptest.Server
	caFile string
}

func newSite(t *testing.T, listen string, handler http.HandlerFunc) site {
	t.Helper()
	l, err := net.Listen("tcp", listen)
	if err != nil {
		t.Fatal(err)
	}
	server := &httptest.Server{Listener: l, Config: &http.Server{Handler: handler, ReadHeaderTimeout: time.Second, ErrorLog: nil}}
	server.StartTLS()
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(file, block, 0o600); err != nil {
		t.Fatal(err)
	}
	return site{server, file}
}

// url is the site under the name example.com.
func (s site) url(path string) string {
	return fmt.Sprintf("https://example.com:%d%s", s.Listener.Addr().(*net.TCPAddr).Port, path)
}

// names is a resolver that answers every question for an IPv4 address with the next of its addresses, the last for good.
func names(t *testing.T, addresses ...string) *net.Resolver {
	t.Helper()
	var asked atomic.Int64
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go answerQuestions(server, func() netip.Addr {
			i := min(int(asked.Add(1)), len(addresses))
			return netip.MustParseAddr(addresses[i-1])
		})
		return client, nil
	}}
}

// answerQuestions speaks DNS over a stream: a length of two bytes, then the message.
func answerQuestions(conn net.Conn, next func() netip.Addr) {
	defer conn.Close()
	for {
		head := make([]byte, 2)
		if _, err := io.ReadFull(conn, head); err != nil {
			return
		}
		body := make([]byte, int(head[0])<<8|int(head[1]))
		if _, err := io.ReadFull(conn, body); err != nil {
			return
		}
		var question dnsmessage.Message
		if err := question.Unpack(body); err != nil || len(question.Questions) == 0 {
			return
		}
		q := question.Questions[0]
		answer := dnsmessage.Message{Header: dnsmessage.Header{ID: question.ID, Response: true, Authoritative: true}, Questions: question.Questions}
		if q.Type == dnsmessage.TypeA {
			answer.Answers = []dnsmessage.Resource{{
				Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class},
				Body:   &dnsmessage.AResource{A: next().As4()},
			}}
		}
		packed, err := answer.Pack()
		if err != nil {
			return
		}
		if _, err := conn.Write(append([]byte{byte(len(packed) >> 8), byte(len(packed))}, packed...)); err != nil {
			return
		}
	}
}

func mustAllow(t *testing.T, value string) []Allowed {
	t.Helper()
	allow, err := ParseAllow(value)
	if err != nil {
		t.Fatal(err)
	}
	return allow
}

// open makes a client that reaches the site, and nothing else on loopback.
func (s site) open(t *testing.T, change ...func(*Config)) *Client {
	t.Helper()
	host := s.Listener.Addr().(*net.TCPAddr).IP.String()
	cfg := Config{Allow: mustAllow(t, host), CAFile: s.caFile, Resolver: names(t, host)}
	for _, c := range change {
		c(&cfg)
	}
	client, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func writeJSON(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(w, `{"a":1}`)
}

func TestFetchDocument(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	t.Run("CI-6 the request and its answer", func(t *testing.T) {
		t.Parallel()
		var got *http.Request
		s := newSite(t, "127.0.0.1:0", func(w http.ResponseWriter, r *http.Request) {
			got = r
			w.Header().Set("ETag", `"v1"`)
			w.Header().Set("Cache-Control", "max-age=60")
			w.Header().Set("Expires", "Tue, 01 Dec 2026 11:00:00 GMT")
			writeJSON(w, r)
		})
		client := s.open(t, func(c *Config) { c.UserAgent = "gatehouse/1" })
		doc, err := client.FetchDocument(ctx, s.url("/client.json?v=1"), "")
		if err != nil {
			t.Fatal(err)
		}
		if doc.Status != 200 || string(doc.Body) != `{"a":1}` || doc.ContentType != "application/json" || doc.ETag != `"v1"` ||
			doc.CacheControl != "max-age=60" || doc.Expires != "Tue, 01 Dec 2026 11:00:00 GMT" {
			t.Errorf("document %+v", doc)
		}
		if got.Method != "GET" || got.RequestURI != "/client.json?v=1" || got.Header.Get("User-Agent") != "gatehouse/1" || got.Header.Get("Accept") != "application/json" {
			t.Errorf("request %s %s %v", got.Method, got.RequestURI, got.Header)
		}
		for _, name := range []string{"Cookie", "Authorization", "Referer", "If-None-Match"} {
			if got.Header.Get(name) != "" {
				t.Errorf("sent %s", name)
			}
		}
	})
	t.Run("CI-13 conditional", func(t *testing.T) {
		t.Parallel()
		s := newSite(t, "127.0.0.1:0", func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("If-None-Match") == `"v1"` {
				w.WriteHeader(http.StatusNotModified)
			}
		})
		doc, err := s.open(t).FetchDocument(ctx, s.url("/x"), `"v1"`)
		if err != nil || doc.Status != 304 || len(doc.Body) != 0 {
			t.Errorf("document %+v, %v", doc, err)
		}
	})
	t.Run("CI-4 redirects are not followed", func(t *testing.T) {
		t.Parallel()
		var calls atomic.Int64
		s := newSite(t, "127.0.0.1:0", func(w http.ResponseWriter, r *http.Request) {
			calls.Add(1)
			http.Redirect(w, r, "/other", http.StatusFound)
		})
		doc, err := s.open(t).FetchDocument(ctx, s.url("/x"), "")
		if err != nil || doc.Status != 302 || calls.Load() != 1 {
			t.Errorf("document %+v, %v, %d calls", doc, err, calls.Load())
		}
	})
	t.Run("CI-6 5 KB and not a byte more", func(t *testing.T) {
		t.Parallel()
		s := newSite(t, "127.0.0.1:0", func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, strings.Repeat("a", len(r.URL.Query().Get("n"))))
		})
		if doc, err := s.open(t).FetchDocument(ctx, s.url("/x?n="+strings.Repeat("1", 5*1024)), ""); err != nil || len(doc.Body) != 5*1024 {
			t.Errorf("exactly 5 KB: %v", err)
		}
		if _, err := s.open(t).FetchDocument(ctx, s.url("/x?n="+strings.Repeat("1", 5*1024+1)), ""); !errors.Is(err, oauth.ErrFetchRefused) {
			t.Errorf("a byte more: %v", err)
		}
	})
	t.Run("JW-4 a key set may have 64 KB and not a byte more", func(t *testing.T) {
		t.Parallel()
		size, accept := 64*1024, ""
		s := newSite(t, "127.0.0.1:0", func(w http.ResponseWriter, r *http.Request) {
			accept = r.Header.Get("Accept")
			if r.URL.Path == "/more" {
				fmt.Fprint(w, "a")
			}
			fmt.Fprint(w, strings.Repeat("a", size))
		})
		if set, err := s.open(t).FetchKeySet(ctx, s.url("/x")); err != nil || len(set.Body) != size || !strings.HasPrefix(accept, "application/jwk-set+json") {
			t.Errorf("exactly 64 KB: %v, accept %q", err, accept)
		}
		if _, err := s.open(t).FetchKeySet(ctx, s.url("/more")); !errors.Is(err, oauth.ErrFetchRefused) {
			t.Errorf("a byte more: %v", err)
		}
	})
	t.Run("CI-7 key sets are fetched under the same guard", func(t *testing.T) {
		t.Parallel()
		s := newSite(t, "127.0.0.1:0", writeJSON)
		closed := s.open(t, func(c *Config) { c.Allow = nil })
		if _, err := closed.FetchKeySet(ctx, s.url("/jwks.json")); !errors.Is(err, oauth.ErrFetchRefused) {
			t.Errorf("a loopback address: %v", err)
		}
	})
	t.Run("CI-6 the size counts after decompression", func(t *testing.T) {
		t.Parallel()
		s := newSite(t, "127.0.0.1:0", func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Accept-Encoding") != "gzip" {
				t.Errorf("Accept-Encoding is %q", r.Header.Get("Accept-Encoding"))
			}
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			defer z.Close()
			fmt.Fprint(z, strings.Repeat(" ", 1<<20))
		})
		if _, err := s.open(t).FetchDocument(ctx, s.url("/x"), ""); !errors.Is(err, oauth.ErrFetchRefused) {
			t.Errorf("error is %v", err)
		}
	})
	t.Run("X-10 a large error page keeps its status", func(t *testing.T) {
		t.Parallel()
		s := newSite(t, "127.0.0.1:0", func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusBadGateway)
			fmt.Fprint(w, strings.Repeat("a", 10*1024))
		})
		if doc, err := s.open(t).FetchDocument(ctx, s.url("/x"), ""); err != nil || doc.Status != 502 || doc.Body != nil {
			t.Errorf("document %+v, %v", doc, err)
		}
	})
	t.Run("CI-6 time bounds the whole answer", func(t *testing.T) {
		t.Parallel()
		release := make(chan struct{})
		s := newSite(t, "127.0.0.1:0", func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, "{")
			w.(http.Flusher).Flush()
			<-release
		})
		defer close(release)
		client := s.open(t, func(c *Config) { c.Timeout = 300 * time.Millisecond })
		_, err := client.FetchDocument(ctx, s.url("/x"), "")
		if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, oauth.ErrFetchRefused) {
			t.Errorf("error is %v", err)
		}
		if defaultTimeout != 5*time.Second {
			t.Errorf("the default is %v", defaultTimeout)
		}
	})
	t.Run("CI-6 no proxy and no cookies", func(t *testing.T) {
		t.Parallel()
		client, err := New(Config{})
		if err != nil {
			t.Fatal(err)
		}
		if transport := client.http.Transport.(*http.Transport); transport.Proxy != nil {
			t.Error("the client asks for a proxy")
		}
		if client.http.Jar != nil {
			t.Error("the client keeps cookies")
		}
	})
	t.Run("CI-1 only https", func(t *testing.T) {
		t.Parallel()
		client, err := New(Config{})
		if err != nil {
			t.Fatal(err)
		}
		for _, raw := range []string{"http://example.com/x", "ftp://example.com/x", "file:///etc/passwd", "https://u:p@example.com/x", "://", "/x"} {
			if _, err := client.FetchDocument(ctx, raw, ""); !errors.Is(err, oauth.ErrFetchRefused) {
				t.Errorf("%s: %v", raw, err)
			}
		}
	})
}

func TestFetchGuard(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	t.Run("CI-7 the connected address counts, not the name", func(t *testing.T) {
		t.Parallel()
		var reached atomic.Int64
		s := newSite(t, "127.0.0.1:0", func(http.ResponseWriter, *http.Request) { reached.Add(1) })
		for _, address := range []string{"127.0.0.1", "10.0.0.1", "169.254.169.254", "0.0.0.0"} {
			client := s.open(t, func(c *Config) {
				c.Allow, c.Resolver = nil, names(t, address)
				c.Ports = []uint16{uint16(s.Listener.Addr().(*net.TCPAddr).Port)}
			})
			if _, err := client.FetchDocument(ctx, s.url("/x"), ""); !errors.Is(err, oauth.ErrFetchRefused) {
				t.Errorf("%s: %v", address, err)
			}
		}
		if reached.Load() != 0 {
			t.Error("the server was reached")
		}
	})
	t.Run("CI-7 a name that flips its address", func(t *testing.T) {
		t.Parallel()
		// Two loopback addresses stand for a public one and an inner one: only the first is allowed. Where the system has
		// the second, a server waits there too.
		var inner atomic.Int64
		outer := newSite(t, "127.0.0.1:0", writeJSON)
		second := fmt.Sprintf("127.0.0.2:%d", outer.Listener.Addr().(*net.TCPAddr).Port)
		if l, err := net.Listen("tcp", second); err == nil {
			l.Close()
			newSite(t, second, func(http.ResponseWriter, *http.Request) { inner.Add(1) })
		}
		client := outer.open(t, func(c *Config) { c.Resolver = names(t, "127.0.0.1", "127.0.0.2") })
		if _, err := client.FetchDocument(ctx, outer.url("/x"), ""); err != nil {
			t.Fatalf("before the flip: %v", err)
		}
		if _, err := client.FetchDocument(ctx, outer.url("/x"), ""); !errors.Is(err, oauth.ErrFetchRefused) {
			t.Errorf("after the flip: %v", err)
		}
		if inner.Load() != 0 {
			t.Error("the inner server was reached")
		}
	})
	t.Run("allowed networks count for documents only on loopback", func(t *testing.T) {
		t.Parallel()
		s := newSite(t, "127.0.0.1:0", writeJSON)
		for publicURL, want := range map[string]bool{
			"http://127.0.0.1:8080": true, "http://localhost:8080": true, "http://[::1]:8080": true,
			"https://home.example.org": false, "https://localhost.example.org": false, "http://10.0.0.1": false, "": false, "%": false,
		} {
			client, err := NewForDocuments(Config{Allow: mustAllow(t, "127.0.0.1"), CAFile: s.caFile, Resolver: names(t, "127.0.0.1")}, publicURL)
			if err != nil {
				t.Fatal(err)
			}
			_, err = client.FetchDocument(ctx, s.url("/x"), "")
			if want && err != nil || !want && !errors.Is(err, oauth.ErrFetchRefused) {
				t.Errorf("%s: %v", publicURL, err)
			}
		}
	})
	t.Run("a host that refuses connections is not a refusal of ours", func(t *testing.T) {
		t.Parallel()
		s := newSite(t, "127.0.0.1:0", writeJSON)
		client, url := s.open(t), s.url("/x")
		s.Close()
		if _, err := client.FetchDocument(ctx, url, ""); err == nil || errors.Is(err, oauth.ErrFetchRefused) {
			t.Errorf("error is %v", err)
		}
	})
	t.Run("unknown certificates are refused", func(t *testing.T) {
		t.Parallel()
		s := newSite(t, "127.0.0.1:0", writeJSON)
		client := s.open(t, func(c *Config) { c.CAFile = "" })
		if _, err := client.FetchDocument(ctx, s.url("/x"), ""); err == nil {
			t.Error("fetched")
		}
	})
	t.Run("bad certificate files are told at the start", func(t *testing.T) {
		t.Parallel()
		empty := filepath.Join(t.TempDir(), "empty.pem")
		if err := os.WriteFile(empty, []byte("nothing"), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, file := range []string{empty, filepath.Join(t.TempDir(), "missing.pem")} {
			if _, err := New(Config{CAFile: file}); err == nil {
				t.Errorf("%s was accepted", file)
			}
		}
	})
}
