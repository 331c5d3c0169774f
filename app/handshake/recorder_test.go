package handshake_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gatehouse/app/handshake"
)

var now = time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC)

// memory is a store that keeps events, and can be slow or broken.
type memory struct {
	handshake.Store
	mu     sync.Mutex
	events []handshake.Event
	saves  int
	gate   chan struct{}
	fail   error
}

func (m *memory) SaveHandshakes(_ context.Context, events []handshake.Event, _ func(time.Time) (string, error)) error {
	if m.gate != nil {
		<-m.gate
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.events = append(m.events, events...)
	m.saves++
	return m.fail
}

func (m *memory) counts() (events, saves int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.events), m.saves
}

func start(m *memory) *handshake.Recorder {
	return handshake.NewRecorder(handshake.Options{
		Store: m, Now: func() time.Time { return now }, Rand: rand.Reader, Log: slog.New(slog.DiscardHandler),
	})
}

func TestRecorderNeverWaits(t *testing.T) {
	t.Parallel()
	m := &memory{gate: make(chan struct{})}
	r := start(m)
	for i := range 5000 { // the store stands still; a recorder that waited would hang here
		r.Record(context.Background(), handshake.Event{Step: handshake.StepChallenge, OK: true, IP: "192.0.2.1", ClientID: strings.Repeat("x", i%500), RequestID: string(rune('a' + i/500))})
	}
	if r.Dropped() == 0 {
		t.Error("a full queue dropped nothing")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := r.Close(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("closing before the store answers: %v", err)
	}
	close(m.gate)
	if err := r.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got := len(m.events) + int(r.Dropped()); got != 5000 {
		t.Errorf("stored and dropped make %d", got)
	}
	r.Record(context.Background(), handshake.Event{Step: handshake.StepChallenge}) // after closing: nothing, and no panic
}

// Events that come one after the other share a transaction, and closing waits for no others.
func TestRecorderGathers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		r := start(m)
		for i := range 10 {
			r.Record(context.Background(), handshake.Event{Step: handshake.StepChallenge, OK: true, IP: "192.0.2.1", RequestID: fmt.Sprint(i)})
			synctest.Wait() // the worker has taken it
		}
		if _, saves := m.counts(); saves != 0 {
			t.Errorf("%d saves before anything was gathered", saves)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if events, saves := m.counts(); saves != 1 || events != 10 {
			t.Errorf("%d events in %d saves, want 10 in 1", events, saves)
		}
		began := time.Now()
		r.Record(context.Background(), handshake.Event{Step: handshake.StepChallenge, OK: true, IP: "192.0.2.2"})
		err := r.Close(context.Background())
		if events, _ := m.counts(); err != nil || events != 11 || !time.Now().Equal(began) {
			t.Errorf("closing: %v, %d events, after %v", err, events, time.Since(began))
		}
	})
}

func TestRecorderCountsFailures(t *testing.T) {
	t.Parallel()
	m := &memory{fail: errors.New("down")}
	r := start(m)
	r.Record(context.Background(), handshake.Event{Step: handshake.StepChallenge})
	if err := r.Close(context.Background()); err != nil || r.Dropped() != 1 {
		t.Errorf("a failing store: %v, dropped %d", err, r.Dropped())
	}
}

// A stranger who sends another user agent with each request may not fill the record.
func TestRecorderUnderFlood(t *testing.T) {
	t.Parallel()
	m := &memory{}
	r := start(m)
	record := func(ip string, n int, e handshake.Event) {
		for i := range n {
			r.Record(handshake.WithSource(context.Background(), ip, fmt.Sprintf("flood/%s/%d", ip, i)), e)
		}
	}
	challenge := handshake.Event{Step: handshake.StepChallenge, OK: true, Detail: "flood"}
	record("192.0.2.66", 500, challenge)
	record("2001:db8::1", 100, challenge)
	record("2001:db8::2", 100, challenge) // the same household
	record("192.0.2.1", 1, handshake.Event{Step: handshake.StepChallenge, OK: true})
	record("192.0.2.66", 100, handshake.Event{Step: handshake.StepAuthorize, OK: true, RequestID: "r"})
	if err := r.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for _, e := range m.events {
		counts[e.IP+" "+e.Step]++
	}
	v6 := counts["2001:db8::1 challenge_sent"] + counts["2001:db8::2 challenge_sent"]
	if counts["192.0.2.66 challenge_sent"] != 60 || v6 != 60 || counts["192.0.2.1 challenge_sent"] != 1 || counts["192.0.2.66 authorize"] != 100 {
		t.Errorf("kept %v", counts)
	}
}

func TestRecorderKeepsItShort(t *testing.T) {
	t.Parallel()
	m := &memory{}
	r := start(m)
	ctx := handshake.WithSource(context.Background(), "192.0.2.1", "desk\x00\r\n"+strings.Repeat("é", 300))
	for range 20 {
		r.Record(ctx, handshake.Event{Step: handshake.StepChallenge, OK: true})
		r.Record(ctx, handshake.Event{Step: handshake.StepFirstRequest, OK: true, ConnectionID: "c", FamilyID: "f"})
	}
	r.Record(ctx, handshake.Event{Step: handshake.StepFirstRequest, OK: true, ConnectionID: "c", FamilyID: "g"})
	r.Observe(ctx, handshake.Step{Name: handshake.StepTokenRefreshed, OK: true})
	r.Observe(ctx, handshake.Step{Name: handshake.StepTokenRefreshed, Check: "refresh_reuse"})
	for range 2 {
		r.Record(ctx, handshake.Event{Step: handshake.StepConsentShown, OK: true, RequestID: "one"})
		r.Record(ctx, handshake.Event{Step: handshake.StepConsentShown, OK: true, RequestID: "another"})
	}
	if err := r.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for _, e := range m.events {
		counts[e.Step]++
		if e.IP != "192.0.2.1" || len(e.UserAgent) > 256 || strings.ContainsAny(e.UserAgent, "\x00\r\n\uFFFD") || !e.At.Equal(now) {
			t.Errorf("the event is %+v", e)
		}
	}
	if counts[handshake.StepChallenge] != 3 || counts[handshake.StepFirstRequest] != 2 || counts[handshake.StepTokenRefreshed] != 1 ||
		counts[handshake.StepConsentShown] != 2 {
		t.Errorf("kept %v", counts)
	}
}

func TestAdvice(t *testing.T) {
	t.Parallel()
	for _, check := range []string{"redirect_uri", "code_verifier", "client_blocked", "no such check", ""} {
		if handshake.Advice(check) == "" {
			t.Errorf("no advice for %q", check)
		}
	}
	if handshake.Advice("redirect_uri") == handshake.Advice("code_verifier") {
		t.Error("different checks, same advice")
	}
}
