package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func etag(v string) func(*FetchedDocument) { return func(d *FetchedDocument) { d.ETag = v } }
func maxAge(s int) func(*FetchedDocument) {
	return func(d *FetchedDocument) { d.CacheControl = fmt.Sprintf("max-age=%d", s) }
}
func status(n int) func(*FetchedDocument) { return func(d *FetchedDocument) { d.Status = n } }
func mediaType(v string) func(*FetchedDocument) {
	return func(d *FetchedDocument) { d.ContentType = v }
}

func (l *clientLab) find(t *testing.T) *Client {
	t.Helper()
	c, err := l.lookupClient(context.Background(), docURL, true)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (l *clientLab) wantCalls(t *testing.T, n int) {
	t.Helper()
	if got := l.fetcher.count(); got != n {
		t.Fatalf("%d fetches, want %d", got, n)
	}
}

func TestLookupDocument(t *testing.T) {
	t.Parallel()
	t.Run("CI-4 fetched, saved and reported", func(t *testing.T) {
		t.Parallel()
		lab := newClientLab(t)
		lab.fetcher.serve(docURL, document(), etag(`"v1"`), maxAge(600))
		c := lab.find(t)
		saved := lab.clients.rows[docURL]
		if c.Name != "App" || saved.Name != "App" || saved.Document.ETag != `"v1"` || len(saved.Document.Digest) != 32 {
			t.Errorf("client %+v, saved %+v", c, saved)
		}
		if !saved.Document.FreshUntil.Equal(lab.clock.Now().Add(10 * time.Minute)) {
			t.Errorf("CI-13 fresh until %v", saved.Document.FreshUntil)
		}
		step := lab.steps.last(t)
		if step.Name != StepDocument || !step.OK || step.ClientID != docURL || step.Detail != "status 200, 0 ms" {
			t.Errorf("step %+v", step)
		}
	})
	t.Run("CI-13 fresh copies are not asked for, stale ones revalidated", func(t *testing.T) {
		t.Parallel()
		lab := newClientLab(t)
		lab.fetcher.serve(docURL, document(), etag(`"v1"`), maxAge(600))
		lab.find(t)
		lab.clock.advance(10*time.Minute - time.Millisecond)
		lab.find(t)
		lab.wantCalls(t, 1)
		lab.clock.advance(time.Millisecond)
		c := lab.find(t)
		lab.wantCalls(t, 2)
		if got := lab.fetcher.etags[1]; got != `"v1"` {
			t.Errorf("If-None-Match is %q", got)
		}
		if c.Name != "App" || !c.Document.FreshUntil.Equal(lab.clock.Now().Add(10*time.Minute)) || !c.Document.FetchedAt.Equal(lab.clock.Now()) {
			t.Errorf("after 304: %+v, %+v", c, c.Document)
		}
		if step := lab.steps.last(t); step.Detail != "status 304, 0 ms" {
			t.Errorf("step %+v", step)
		}
		lab.find(t)
		lab.wantCalls(t, 2)
	})
	t.Run("CI-17 changes are reported and replace what was saved", func(t *testing.T) {
		t.Parallel()
		lab := newClientLab(t)
		lab.fetcher.serve(docURL, document())
		created := lab.find(t).CreatedAt
		lab.clock.advance(5 * time.Minute)
		lab.fetcher.serve(docURL, document("redirect_uris", `["https://app.example/new"]`, "client_name", `"Other"`, "logo_uri", `"https://app.example/l.png"`))
		c := lab.find(t)
		saved := lab.clients.rows[docURL]
		if c.Name != "Other" || !slices.Equal(saved.RedirectURIs, []string{"https://app.example/new"}) || !saved.CreatedAt.Equal(created) {
			t.Errorf("client %+v, saved %+v", c, saved)
		}
		steps := lab.steps.list
		if step := steps[len(steps)-2]; !step.OK || step.Detail != "status 200, 0 ms, changed: redirect_uris, client_name, logo_uri" {
			t.Errorf("step %+v", step)
		}
		if step := lab.steps.last(t); step.Name != StepClientChanged || step.ClientID != docURL || step.Detail != "redirect_uris, client_name, logo_uri" {
			t.Errorf("step %+v", step)
		}
		if got := saved.ChangedSince(created); !slices.Equal(got, []string{"client_name", "logo_uri", "redirect_uris"}) {
			t.Errorf("changed since the first sight: %v", got)
		}
		if got := saved.ChangedSince(lab.clock.Now()); got != nil {
			t.Errorf("changed since now: %v", got)
		}
		lab.clock.advance(5 * time.Minute)
		lab.find(t)
		if step := lab.steps.last(t); strings.Contains(step.Detail, "changed") {
			t.Errorf("step %+v", step)
		}
	})
	t.Run("a block set during a fetch stays", func(t *testing.T) {
		t.Parallel()
		lab := newClientLab(t)
		lab.fetcher.serve(docURL, document())
		lab.find(t)
		lab.clock.advance(time.Hour)
		lab.fetcher.hold = make(chan struct{})
		done := make(chan error)
		go func() { _, err := lab.lookupClient(context.Background(), docURL, true); done <- err }()
		waitFor(t, func() bool { return lab.fetcher.count() == 2 })
		lab.clients.change(docURL, func(c *Client) { now := lab.clock.Now(); c.BlockedAt = &now })
		close(lab.fetcher.hold)
		wantError(t, <-done, "invalid_client", 401)
		if lab.clients.rows[docURL].BlockedAt == nil {
			t.Error("the block is gone")
		}
	})
	t.Run("CI-18 nothing but the document is fetched", func(t *testing.T) {
		t.Parallel()
		lab := newClientLab(t)
		lab.fetcher.serve(docURL, document("logo_uri", `"https://app.example/l.png"`, "jwks_uri", `"https://app.example/jwks"`))
		lab.find(t)
		lab.wantCalls(t, 1)
	})
}

func TestLookupDocumentRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, code string
		status     int
		prepare    func(*clientLab)
	}{
		{"CI-4 not found", "invalid_client", 401, func(l *clientLab) {}},
		{"CI-4 redirect", "invalid_client", 401, func(l *clientLab) { l.fetcher.serve(docURL, document(), status(302)) }},
		{"CI-4 201", "invalid_client", 401, func(l *clientLab) { l.fetcher.serve(docURL, document(), status(201)) }},
		{"CI-4 304 without a copy", "invalid_client", 401, func(l *clientLab) { l.fetcher.serve(docURL, "", status(304)) }},
		{"CI-4 turned away", "invalid_client", 401, func(l *clientLab) { l.fetcher.serve(docURL, "", status(403)) }},
		{"X-10 host in trouble", "temporarily_unavailable", 503, func(l *clientLab) { l.fetcher.serve(docURL, "", status(502)) }},
		{"X-10 host down", "temporarily_unavailable", 503, func(l *clientLab) { l.fetcher.fail(docURL, errors.New("connection refused")) }},
		{"CI-7 address refused", "invalid_client", 401, func(l *clientLab) { l.fetcher.fail(docURL, fmt.Errorf("dial: %w", ErrFetchRefused)) }},
		{"CI-5 HTML", "invalid_client", 401, func(l *clientLab) { l.fetcher.serve(docURL, document(), mediaType("text/html")) }},
		{"CI-6 too large", "invalid_client", 401, func(l *clientLab) {
			l.fetcher.serve(docURL, document("x", `"`+strings.Repeat("a", 5*1024)+`"`))
		}},
		{"CI-3 another client_id", "invalid_client", 401, func(l *clientLab) { l.fetcher.serve(docURL, document("client_id", `"https://b.example/x"`)) }},
		{"X-10 store down", "temporarily_unavailable", 503, func(l *clientLab) { l.clients.err = errors.New("database is gone") }},
		{"switched off", "invalid_client", 401, func(l *clientLab) { l.cfg.ClientDocuments = false }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			lab := newClientLab(t)
			tt.prepare(lab)
			_, err := lab.lookupClient(context.Background(), docURL, true)
			wantError(t, err, tt.code, tt.status)
			if len(lab.clients.rows) != 0 {
				t.Error("CI-13 something was saved")
			}
			for _, step := range lab.steps.list {
				if step.OK || step.Check == "" || step.Reason == "" {
					t.Errorf("step %+v", step)
				}
			}
			if tt.code == "invalid_client" && lab.cfg.ClientDocuments {
				// Errors are not cached: the mended document is seen at once.
				lab.fetcher.serve(docURL, document())
				lab.find(t)
			}
		})
	}
	t.Run("CI-1 a bad URL is not fetched", func(t *testing.T) {
		t.Parallel()
		lab := newClientLab(t)
		for _, id := range []string{"https://app.example/", "https://127.0.0.1/x", "https://app.example/a/../b", "http://app.example/x", "HTTPS://app.example/x", ""} {
			_, err := lab.lookupClient(context.Background(), id, true)
			wantError(t, err, "invalid_client", 401)
		}
		lab.wantCalls(t, 0)
	})
	t.Run("CI-15 nothing is fetched unless allowed", func(t *testing.T) {
		t.Parallel()
		lab := newClientLab(t)
		lab.fetcher.serve(docURL, document())
		if _, err := lab.lookupClient(context.Background(), docURL, false); !errors.Is(err, errNeedsFetch) {
			t.Errorf("error is %v", err)
		}
		lab.wantCalls(t, 0)
	})
	t.Run("CI-16 a pre-registered URL is not fetched", func(t *testing.T) {
		t.Parallel()
		lab := newClientLab(t)
		lab.clients.rows[docURL] = Client{ID: docURL, Kind: ClientRegistered, Name: "Entered"}
		if c := lab.find(t); c.Name != "Entered" {
			t.Errorf("client %+v", c)
		}
		lab.wantCalls(t, 0)
	})
	t.Run("CI-16 a blocked URL is refused without fetching", func(t *testing.T) {
		t.Parallel()
		lab := newClientLab(t)
		lab.fetcher.serve(docURL, document())
		lab.find(t)
		lab.clients.change(docURL, func(c *Client) { now := lab.clock.Now(); c.BlockedAt = &now })
		_, err := lab.lookupClient(context.Background(), docURL, true)
		if e := wantError(t, err, "invalid_client", 401); e.Check != "client_blocked" {
			t.Errorf("check %q", e.Check)
		}
		lab.wantCalls(t, 1)
	})
}

func TestLastGoodCopy(t *testing.T) {
	t.Parallel()
	away := map[string]func(*clientLab){
		"host down":   func(l *clientLab) { l.fetcher.fail(docURL, errors.New("connection refused")) },
		"status 503":  func(l *clientLab) { l.fetcher.serve(docURL, "", status(503)) },
		"status 403":  func(l *clientLab) { l.fetcher.serve(docURL, "", status(403)) },
		"over limits": func(l *clientLab) { l.docs.limits.all = fetchCount{inFlight: maxFetches, opened: l.clock.Now()} },
	}
	for name, breakIt := range away {
		t.Run("CI-14 stands in for 24 hours: "+name, func(t *testing.T) {
			t.Parallel()
			lab := newClientLab(t)
			lab.fetcher.serve(docURL, document(), maxAge(3600))
			lab.find(t)
			lab.clock.advance(time.Hour + 24*time.Hour - time.Second)
			breakIt(lab)
			if c := lab.find(t); c.Name != "App" {
				t.Errorf("client %+v", c)
			}
			lab.clock.advance(time.Second)
			if _, err := lab.lookupClient(context.Background(), docURL, true); err == nil {
				t.Error("still accepted after 24 hours")
			}
		})
	}
	gone := map[string]func(*clientLab){
		"status 404":       func(l *clientLab) { l.fetcher.serve(docURL, "", status(404)) },
		"status 410":       func(l *clientLab) { l.fetcher.serve(docURL, "", status(410)) },
		"redirect":         func(l *clientLab) { l.fetcher.serve(docURL, "", status(301)) },
		"invalid document": func(l *clientLab) { l.fetcher.serve(docURL, "{}") },
		"address refused":  func(l *clientLab) { l.fetcher.fail(docURL, ErrFetchRefused) },
	}
	for name, breakIt := range gone {
		t.Run("CI-14 no new authorization on it: "+name, func(t *testing.T) {
			t.Parallel()
			lab := newClientLab(t)
			lab.fetcher.serve(docURL, document())
			lab.find(t)
			lab.clock.advance(time.Hour)
			breakIt(lab)
			_, err := lab.lookupClient(context.Background(), docURL, true)
			wantError(t, err, "invalid_client", 401)
			if saved := lab.clients.rows[docURL]; saved.Name != "App" {
				t.Error("CI-13 the saved copy was touched")
			}
		})
		t.Run("CI-14 sessions go on: "+name, func(t *testing.T) {
			t.Parallel()
			lab := newClientLab(t)
			lab.fetcher.serve(docURL, document())
			lab.find(t)
			lab.clients.connected[docURL] = true
			lab.clock.advance(time.Hour)
			breakIt(lab)
			if _, err := lab.AuthenticateClient(context.Background(), onlyID(docURL)); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestDocumentClientAtTokenEndpoint(t *testing.T) {
	t.Parallel()
	authenticate := func(lab *clientLab) error {
		_, err := lab.AuthenticateClient(context.Background(), onlyID(docURL))
		return err
	}
	t.Run("CI-15 never seen: 401 without fetching", func(t *testing.T) {
		t.Parallel()
		lab := newClientLab(t)
		lab.fetcher.serve(docURL, document())
		wantError(t, authenticate(lab), "invalid_client", 401)
		lab.wantCalls(t, 0)
	})
	t.Run("CI-15 seen but without a connection: the copy, without fetching", func(t *testing.T) {
		t.Parallel()
		lab := newClientLab(t)
		lab.fetcher.serve(docURL, document())
		lab.find(t)
		lab.clock.advance(9 * time.Minute) // consent took longer than the copy is fresh
		if err := authenticate(lab); err != nil {
			t.Error(err)
		}
		lab.clock.advance(25 * time.Hour)
		wantError(t, authenticate(lab), "invalid_client", 401)
		lab.wantCalls(t, 1)
	})
	t.Run("CI-15 with a connection a stale copy is revalidated", func(t *testing.T) {
		t.Parallel()
		lab := newClientLab(t)
		lab.fetcher.serve(docURL, document())
		lab.find(t)
		lab.clients.connected[docURL] = true
		if err := authenticate(lab); err != nil {
			t.Error(err)
		}
		lab.wantCalls(t, 1)
		lab.clock.advance(48 * time.Hour)
		if err := authenticate(lab); err != nil {
			t.Error(err)
		}
		lab.wantCalls(t, 2)
	})
	t.Run("X-10 with a connection, copy too old and host down", func(t *testing.T) {
		t.Parallel()
		lab := newClientLab(t)
		lab.fetcher.serve(docURL, document())
		lab.find(t)
		lab.clients.connected[docURL] = true
		lab.clock.advance(48 * time.Hour)
		lab.fetcher.fail(docURL, errors.New("connection refused"))
		wantError(t, authenticate(lab), "temporarily_unavailable", 503)
	})
	t.Run("Basic with an empty secret, as Go clients try first", func(t *testing.T) {
		t.Parallel()
		lab := newClientLab(t)
		lab.fetcher.serve(docURL, document())
		lab.find(t)
		in := basic("https%3A%2F%2Fapp.example%2Foauth%2Fclient.json", "")
		if c, err := lab.AuthenticateClient(context.Background(), in); err != nil || c.ID != docURL {
			t.Errorf("got %v, %v", c, err)
		}
	})
}

func TestFetchLimits(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC)
	limiter := func() *fetchLimiter { return &fetchLimiter{origins: map[string]*fetchCount{}} }
	t.Run("CI-15 4 in flight per origin, 16 overall", func(t *testing.T) {
		t.Parallel()
		l := limiter()
		var done []func()
		for i := range 16 {
			d, wait := l.begin(fmt.Sprint("o", i/4), now)
			if d == nil {
				t.Fatalf("fetch %d waits %v", i, wait)
			}
			done = append(done, d)
			if i == 3 {
				if d, wait := l.begin("o0", now); d != nil || wait <= 0 {
					t.Fatal("a fifth fetch of one origin began")
				}
			}
		}
		if d, wait := l.begin("another", now); d != nil || wait <= 0 {
			t.Fatal("a 17th fetch began")
		}
		done[0]()
		if d, _ := l.begin("another", now); d == nil {
			t.Fatal("no fetch began although one ended")
		}
	})
	t.Run("CI-15 30 a minute per origin", func(t *testing.T) {
		t.Parallel()
		l := limiter()
		for i := range 30 {
			d, wait := l.begin("o", now.Add(time.Duration(i)*time.Second))
			if d == nil {
				t.Fatalf("fetch %d waits %v", i, wait)
			}
			d()
		}
		if d, wait := l.begin("o", now.Add(40*time.Second)); d != nil || wait != 20*time.Second {
			t.Fatalf("the 31st: wait %v", wait)
		}
		if d, _ := l.begin("o", now.Add(time.Minute)); d == nil {
			t.Fatal("none after a minute")
		}
	})
	t.Run("CI-15 120 a minute overall", func(t *testing.T) {
		t.Parallel()
		l := limiter()
		for i := range 120 {
			d, wait := l.begin(fmt.Sprint("o", i), now)
			if d == nil {
				t.Fatalf("fetch %d waits %v", i, wait)
			}
			d()
		}
		if d, wait := l.begin("fresh", now); d != nil || wait != time.Minute {
			t.Fatalf("the 121st: wait %v", wait)
		}
		if len(l.origins) > 120 {
			t.Errorf("%d origins remembered", len(l.origins))
		}
		if d, _ := l.begin("fresh", now.Add(time.Minute)); d == nil || len(l.origins) != 1 {
			t.Errorf("after a minute %d origins are remembered", len(l.origins))
		}
	})
	t.Run("CI-15 over the limit: 429 with Retry-After", func(t *testing.T) {
		t.Parallel()
		lab := newClientLab(t)
		for i := range 31 {
			id := fmt.Sprintf("https://app.example/%d", i)
			_, err := lab.lookupClient(context.Background(), id, true)
			if i < 30 {
				wantError(t, err, "invalid_client", 401)
			} else if e := wantError(t, err, "temporarily_unavailable", http.StatusTooManyRequests); e.RetryAfter != time.Minute {
				t.Errorf("RetryAfter %v", e.RetryAfter)
			}
		}
		lab.wantCalls(t, 30)
	})
}

func TestSingleFlight(t *testing.T) {
	t.Parallel()
	t.Run("CI-15 one flight per URL", func(t *testing.T) {
		t.Parallel()
		lab := newClientLab(t)
		lab.fetcher.serve(docURL, document())
		lab.fetcher.hold = make(chan struct{})
		var wg sync.WaitGroup
		results := make(chan *Client, 20)
		for range 20 {
			wg.Go(func() {
				c, err := lab.lookupClient(context.Background(), docURL, true)
				if err != nil {
					t.Error(err)
				}
				results <- c
			})
		}
		waitFor(t, func() bool { return lab.fetcher.count() == 1 })
		close(lab.fetcher.hold)
		wg.Wait()
		close(results)
		lab.wantCalls(t, 1)
		seen := map[*Client]bool{}
		for c := range results {
			if seen[c] {
				t.Error("two callers share one client value")
			}
			seen[c] = true
		}
	})
	t.Run("CI-15 a caller who leaves does not end the flight", func(t *testing.T) {
		t.Parallel()
		lab := newClientLab(t)
		lab.fetcher.serve(docURL, document())
		lab.fetcher.hold = make(chan struct{})
		ctx, leave := context.WithCancel(context.Background())
		done := make(chan error)
		go func() { _, err := lab.lookupClient(ctx, docURL, true); done <- err }()
		waitFor(t, func() bool { return lab.fetcher.count() == 1 })
		leave()
		wantError(t, <-done, "temporarily_unavailable", 503)
		close(lab.fetcher.hold)
		waitFor(t, func() bool {
			_, err := lab.clients.Client(context.Background(), docURL)
			return err == nil
		})
	})
}

// waitFor waits for something that another goroutine is about to do.
func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	for range 2000 {
		if done() {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("it never happened")
}
