package web_test

import (
	"bufio"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"gatehouse/web"
)

// changing is attempts that change while somebody watches.
type changing struct {
	anyAttempts
	mu    sync.Mutex
	stamp string
	list  []web.Attempt
}

func (f *changing) set(stamp string, list ...web.Attempt) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stamp, f.list = stamp, list
}

func (f *changing) AttemptsOf(context.Context, string) ([]web.Attempt, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.list, nil
}

func (f *changing) AttemptsStamp(context.Context, string) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.stamp, nil
}

// events reads a stream's events, each as its name and data.
func readEvents(t *testing.T, r *http.Response) <-chan [2]string {
	t.Helper()
	out := make(chan [2]string, 100)
	go func() {
		defer close(out)
		name, data := "", ""
		lines := bufio.NewScanner(r.Body)
		for lines.Scan() {
			field, value, _ := strings.Cut(lines.Text(), ":")
			switch {
			case lines.Text() == "":
				if name != "" {
					out <- [2]string{name, data}
				}
				name, data = "", ""
			case field == "event":
				name = strings.TrimSpace(value)
			case field == "data":
				data += strings.TrimPrefix(value, " ") + "\n"
			case field != "" && field != "retry":
				t.Errorf("a line of the stream belongs to no field: %q", lines.Text())
			}
		}
	}()
	return out
}

func next(t *testing.T, events <-chan [2]string) [2]string {
	t.Helper()
	select {
	case e := <-events:
		return e
	case <-time.After(10 * time.Second):
		t.Fatal("nothing came")
	}
	return [2]string{}
}

// watch opens a stream over a real connection.
func (b *browser) watch(t *testing.T, server *httptest.Server) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/settings/connect/live", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = "home.example"
	for name, value := range b.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	answer, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = answer.Body.Close() })
	return answer
}

func liveSite(t *testing.T) (*site, *changing, *httptest.Server, chan struct{}) {
	t.Helper()
	record, stop := &changing{stamp: "1"}, make(chan struct{})
	s := newSite(t, func(d *web.Deps, _ *string) { d.Attempts, d.Stopping = record, stop })
	server := httptest.NewServer(s.handler)
	t.Cleanup(server.Close)
	return s, record, server, stop
}

func TestAttemptsAreShownLive(t *testing.T) {
	t.Parallel()
	s, record, server, stop := liveSite(t)
	answer := s.signedIn(t).watch(t, server)
	for header, want := range map[string]string{"Content-Type": "text/event-stream", "X-Accel-Buffering": "no", "Cache-Control": "no-store, no-transform", "Access-Control-Allow-Origin": ""} {
		if got := answer.Header.Get(header); got != want {
			t.Errorf("oauth.md §6 %s is %q; want %q", header, got, want)
		}
	}
	events := readEvents(t, answer)
	if e := next(t, events); e[0] != "attempts" || !strings.Contains(e[1], "No attempt yet") {
		t.Errorf("oauth.md §6 first came %q", e)
	}
	record.set("2", web.Attempt{ID: "a1", App: "<b>Chat\nGPT", Steps: []web.AttemptStep{{Title: "The app registered itself"}}})
	if e := next(t, events); e[0] != "attempts" || !strings.Contains(e[1], "The app registered itself") || !strings.Contains(e[1], "&lt;b&gt;Chat") {
		t.Errorf("oauth.md §6 then came %q", e)
	}
	if e := next(t, events); e[0] != "news" || !strings.Contains(e[1], "The app registered itself") {
		t.Errorf("what happened is not said: %q", e)
	}
	close(stop)
	if e, open := <-events; open {
		t.Errorf("oauth.md §6 the stream goes on while the program stops: %q", e)
	}
}

func TestLiveStreamsAreBounded(t *testing.T) {
	t.Parallel()
	s, _, server, _ := liveSite(t)
	b := s.signedIn(t)
	if a := s.browser().get(t, "/settings/connect/live"); a.status != http.StatusNoContent {
		t.Errorf("a stranger: %d; want 204, so that the browser does not come again", a.status)
	}
	var open []*http.Response
	for range 4 {
		a := b.watch(t, server)
		if a.StatusCode != http.StatusOK {
			t.Fatalf("stream %d: %d", len(open), a.StatusCode)
		}
		open = append(open, a)
	}
	if a := b.watch(t, server); a.StatusCode != http.StatusTooManyRequests || a.Header.Get("Retry-After") == "" {
		t.Errorf("one stream too many: %d", a.StatusCode)
	}
	if a := s.signedInAs(t, "bob@example.org").watch(t, server); a.StatusCode != http.StatusOK {
		t.Errorf("somebody else: %d", a.StatusCode)
	}
	_ = open[0].Body.Close()
	for range 100 { // the server hears of it a moment later
		if a := b.watch(t, server); a.StatusCode == http.StatusOK {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Error("a stream that was left still counts")
}

func TestLiveStreamEndsWithTheSession(t *testing.T) {
	t.Parallel()
	s, _, server, _ := liveSite(t)
	b := s.signedIn(t)
	events := readEvents(t, b.watch(t, server))
	next(t, events)
	if a := b.press(t, "/settings/connect", "/signout"); a.status != http.StatusSeeOther {
		t.Fatalf("sign out: %d", a.status)
	}
	select {
	case e := <-events:
		if e[0] != "end" {
			t.Errorf("SE-1 %q; want the end", e)
		}
	case <-time.After(20 * time.Second):
		t.Error("SE-1 the stream outlives its session")
	}
}
