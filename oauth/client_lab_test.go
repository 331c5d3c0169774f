package oauth

import (
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"net/http"
	"sync"
	"testing"
	"time"
)

// clientLab is a server with a client store of its own, a clock that stands still and a scripted fetcher: enough for
// everything that ends before an authorization request begins.
type clientLab struct {
	*Server
	clients *labClients
	fetcher *labFetcher
	clock   *labClock
	steps   *labSteps
}

func newClientLab(t *testing.T, change ...func(*Config)) *clientLab {
	t.Helper()
	lab := &clientLab{
		clients: &labClients{rows: map[string]Client{}, connected: map[string]bool{}},
		fetcher: &labFetcher{answers: map[string]labAnswer{}},
		clock:   &labClock{now: time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC)},
		steps:   &labSteps{},
	}
	cfg := Config{
		Issuer: "https://auth.example.org",
		Resources: []Resource{{URI: "https://auth.example.org/mcp", Name: "Example", Scopes: []Scope{
			{Name: "data:read", Baseline: true},
			{Name: "data:write", Implies: []string{"data:read"}, Baseline: true},
			{Name: "extra:use"},
		}}},
		DynamicRegistration: true,
		ClientDocuments:     true,
		Fetch:               lab.fetcher,
		Observe:             lab.steps.add,
		Now:                 lab.clock.Now,
		Rand:                rand.Reader,
	}
	for _, c := range change {
		c(&cfg)
	}
	lab.Server = &Server{cfg: cfg, stores: Stores{Clients: lab.clients}, docs: newDocuments(cfg)}
	return lab
}

type labClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *labClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *labClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

type labSteps struct {
	mu   sync.Mutex
	list []Step
}

func (l *labSteps) add(_ context.Context, s Step) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, s)
}

func (l *labSteps) last(t *testing.T) Step {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.list) == 0 {
		t.Fatal("no step was observed")
	}
	return l.list[len(l.list)-1]
}

// labClients is a ClientStore in memory.
type labClients struct {
	mu        sync.Mutex
	rows      map[string]Client
	connected map[string]bool
	touched   int
	// assertions are the hashes that were used.
	assertions map[string]bool
	err        error
}

func (m *labClients) Client(_ context.Context, id string) (*Client, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return nil, m.err
	}
	c, ok := m.rows[id]
	if !ok {
		return nil, ErrNotFound
	}
	if c.Document != nil {
		state := *c.Document
		c.Document = &state
	}
	return &c, nil
}

func (m *labClients) SaveClient(_ context.Context, c *Client) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return m.err
	}
	m.rows[c.ID] = *c
	return nil
}

func (m *labClients) AllowDevices(context.Context, string, bool) error { return nil }

func (m *labClients) TouchClient(_ context.Context, id string, at time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.rows[id]
	c.LastSeenAt = at
	m.rows[id] = c
	m.touched++
	return nil
}

func (m *labClients) CountClients(_ context.Context, kind ClientKind) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	for _, c := range m.rows {
		if c.Kind == kind {
			n++
		}
	}
	return n, m.err
}

func (m *labClients) ClientHasConnection(_ context.Context, id string) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.connected[id], m.err
}

func (m *labClients) UseAssertion(_ context.Context, hash []byte, _ time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return m.err
	}
	if m.assertions[string(hash)] {
		return ErrUsed
	}
	if m.assertions == nil {
		m.assertions = map[string]bool{}
	}
	m.assertions[string(hash)] = true
	return nil
}

func (m *labClients) DeleteUnusedClients(_ context.Context, before time.Time) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	size := len(m.rows)
	maps.DeleteFunc(m.rows, func(id string, c Client) bool { return c.CreatedAt.Before(before) && !m.connected[id] })
	return size - len(m.rows), m.err
}

func (m *labClients) change(id string, f func(*Client)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.rows[id]
	f(&c)
	m.rows[id] = c
}

// labFetcher answers from a script and remembers what it was asked. While hold is set, answers wait until it is closed.
type labFetcher struct {
	mu      sync.Mutex
	answers map[string]labAnswer
	calls   []string
	etags   []string
	hold    chan struct{}
}

type labAnswer struct {
	doc FetchedDocument
	err error
}

func (f *labFetcher) FetchDocument(ctx context.Context, url, ifNoneMatch string) (*FetchedDocument, error) {
	f.mu.Lock()
	f.calls = append(f.calls, url)
	f.etags = append(f.etags, ifNoneMatch)
	answer, ok := f.answers[url]
	hold := f.hold
	f.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if !ok {
		return &FetchedDocument{Status: http.StatusNotFound}, nil
	}
	if answer.err != nil {
		return nil, answer.err
	}
	doc := answer.doc
	if ifNoneMatch != "" && ifNoneMatch == doc.ETag && doc.Status == http.StatusOK {
		return &FetchedDocument{Status: http.StatusNotModified, ETag: doc.ETag, CacheControl: doc.CacheControl}, nil
	}
	return &doc, nil
}

func (f *labFetcher) FetchKeySet(ctx context.Context, url string) (*FetchedDocument, error) {
	return f.FetchDocument(ctx, url, "")
}

func (f *labFetcher) serve(url, body string, headers ...func(*FetchedDocument)) {
	doc := FetchedDocument{Status: http.StatusOK, ContentType: "application/json", Body: []byte(body)}
	for _, h := range headers {
		h(&doc)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answers[url] = labAnswer{doc: doc}
}

func (f *labFetcher) fail(url string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answers[url] = labAnswer{err: err}
}

func (f *labFetcher) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.calls)
}

// wantError fails the test unless err is an *Error with this code and status.
func wantError(t *testing.T, err error, code string, status int) *Error {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("error is %v, want %s", err, code)
	}
	if e.Code != code || e.Status != status {
		t.Fatalf("error is %d %s (%v), want %d %s", e.Status, e.Code, err, status, code)
	}
	if e.Description != CleanDescription(e.Description) || e.Description == "" {
		t.Errorf("description %q is empty or has characters outside RFC 6749 section 5.2", e.Description)
	}
	return e
}
