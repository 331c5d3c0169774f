package db_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"gatehouse/app/handshake"
	"gatehouse/db"
	"gatehouse/db/dbtest"
)

func recorder(t *testing.T, d *db.DB, clock *dbtest.Clock) *handshake.Recorder {
	t.Helper()
	r := handshake.NewRecorder(handshake.Options{Store: d, Now: clock.Now, Rand: rand.Reader, Log: slog.New(slog.DiscardHandler)})
	t.Cleanup(func() { flush(t, r) })
	return r
}

func flush(t *testing.T, r *handshake.Recorder) {
	t.Helper()
	if err := r.Close(context.Background()); err != nil || r.Dropped() != 0 {
		t.Errorf("flush: %v, dropped %d", err, r.Dropped())
	}
}

// from is an event from an app's own machine.
func from(step, ip string) handshake.Event {
	return handshake.Event{Step: step, OK: true, IP: ip, UserAgent: "desk/1.0"}
}

func with(e handshake.Event, fn func(e *handshake.Event)) handshake.Event {
	fn(&e)
	return e
}

func TestHandshakeWholeWay(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) {
		ctx := context.Background()
		// Two processes, as behind a balancer without sticky routing.
		processes := []*handshake.Recorder{recorder(t, d, clock), recorder(t, dbtest.Again(t, d, clock.Now), clock)}
		ada, connectionID := newID(t), newID(t)
		browser := func(step string) handshake.Event {
			return handshake.Event{Step: step, OK: true, IP: "198.51.100.7", UserAgent: "Mozilla/5.0"}
		}
		request := func(e *handshake.Event) { e.ClientID, e.RequestID = "gc_1", "corr" }
		way := []handshake.Event{
			from(handshake.StepChallenge, "203.0.113.1"),
			from(handshake.StepResourceMetadata, "203.0.113.1"),
			from(handshake.StepServerMetadata, "203.0.113.1"),
			with(from(handshake.StepRegister, "203.0.113.1"), func(e *handshake.Event) { e.ClientID, e.ClientName = "gc_1", "Desk" }),
			with(browser(handshake.StepAuthorize), request),
			with(browser(handshake.StepSignedIn), func(e *handshake.Event) { e.RequestID, e.UserID = "corr", ada }),
			with(browser(handshake.StepConsentShown), request),
			with(browser(handshake.StepDecision), func(e *handshake.Event) { request(e); e.UserID = ada }),
			with(from(handshake.StepCodeRedeemed, "203.0.113.2"), func(e *handshake.Event) { request(e); e.ConnectionID = connectionID }),
			with(from(handshake.StepFirstRequest, "203.0.113.3"), func(e *handshake.Event) { e.ConnectionID = connectionID }),
			with(from(handshake.StepFirstToolCall, "203.0.113.3"), func(e *handshake.Event) { e.ConnectionID = connectionID }),
			with(from(handshake.StepFirstToolCall, "203.0.113.3"), func(e *handshake.Event) { e.ConnectionID = connectionID }),
		}
		for i, e := range way {
			r := recorder(t, d, clock)
			if i%2 == 1 {
				r = recorder(t, dbtest.Again(t, d, clock.Now), clock)
			}
			r.Record(ctx, e)
			flush(t, r)
			clock.Advance(time.Second)
		}
		for _, r := range processes {
			flush(t, r)
		}
		service := &handshake.Service{Store: d, Now: clock.Now}
		list, err := service.List(ctx, ada)
		if err != nil || len(list) != 1 {
			t.Fatalf("one attempt expected: %+v, %v", list, err)
		}
		a, err := service.Show(ctx, ada, list[0].ID)
		if err != nil {
			t.Fatal(err)
		}
		var steps []string
		for _, s := range a.Steps {
			steps = append(steps, s.Step)
		}
		want := []string{"challenge_sent", "resource_metadata_read", "server_metadata_read", "client_registered", "authorize", "signed_in",
			"consent_shown", "decision", "code_redeemed", "first_request", "first_tool_call"}
		if !slices.Equal(steps, want) {
			t.Errorf("steps are %v", steps)
		}
		if !a.Done() || a.Reached != handshake.StepFirstToolCall || a.ClientName != "Desk" || a.IP != "203.0.113.1" {
			t.Errorf("the attempt is %+v", a)
		}
		if _, err := service.Show(ctx, newID(t), a.ID); !errors.Is(err, handshake.ErrNotFound) {
			t.Errorf("somebody else's attempt: %v", err)
		}
		if byRequest, err := service.ShowAny(ctx, "corr"); err != nil || byRequest.ID != a.ID {
			t.Errorf("by correlation id: %+v, %v", byRequest, err)
		}
	})
}

func TestHandshakeTies(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) {
		ctx := context.Background()
		count := 0
		send := func(events ...handshake.Event) int {
			r := recorder(t, d, clock)
			for _, e := range events {
				r.Record(ctx, e)
			}
			flush(t, r)
			n, err := db.CountForTest(d, `SELECT count(*) FROM handshake_attempts`)
			if err != nil {
				t.Fatal(err)
			}
			grown := n - count
			count = n
			return grown
		}
		check := func(name string, got, want int) {
			t.Helper()
			if got != want {
				t.Errorf("%s: %d new attempts, want %d", name, got, want)
			}
		}
		challenge := func(ip string) handshake.Event { return from(handshake.StepChallenge, ip) }
		check("two sources", send(challenge("192.0.2.1"), challenge("192.0.2.2")), 2)
		check("same source at once", send(challenge("192.0.2.1")), 0)
		clock.Advance(handshake.Window + time.Second)
		check("same source later", send(challenge("192.0.2.1")), 1)
		check("another user agent", send(with(challenge("192.0.2.1"), func(e *handshake.Event) { e.UserAgent = "other" })), 1)
		shared := func(ip, request string) handshake.Event {
			return with(from(handshake.StepAuthorize, ip), func(e *handshake.Event) { e.ClientID, e.RequestID = "https://app.example/c.json", request })
		}
		check("a shared client id ties nothing", send(shared("192.0.2.11", "r1"), shared("192.0.2.12", "r2")), 2)
		check("two requests from one source", send(shared("192.0.2.11", "r3")), 1)
		check("a step that opens nothing", send(from(handshake.StepSignedIn, "192.0.2.20")), 0)
		check("an old connection's call", send(with(from(handshake.StepFirstRequest, "192.0.2.20"), func(e *handshake.Event) { e.ConnectionID = newID(t) })), 0)
		own := func(ip, user string) handshake.Event {
			return with(from(handshake.StepAuthorize, ip), func(e *handshake.Event) { e.ClientID, e.UserID = "gc_x", user })
		}
		check("another person keeps out", send(own("192.0.2.30", newID(t)), own("192.0.2.31", newID(t))), 2)
	})
}

func TestHandshakeFailure(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) {
		ctx := handshake.WithSource(context.Background(), "192.0.2.1", "desk/1.0\x00\xff")
		r := recorder(t, d, clock)
		r.Observe(ctx, handshake.Step{Name: handshake.StepCodeRedeemed, ClientID: "gc_1", RequestID: "corr", Check: "code_verifier",
			Reason: "The code_verifier does not match.", Detail: "authorization_code"})
		for range 100 { // a client in a loop
			r.Observe(ctx, handshake.Step{Name: handshake.StepCodeRedeemed, ClientID: "gc_1", RequestID: "corr", Check: "code_used"})
		}
		r.Observe(ctx, handshake.Step{Name: handshake.StepTokenRefreshed, OK: true, ClientID: "gc_1"})
		flush(t, r)
		for i := range 30 { // many processes do not fill the record either
			r := recorder(t, d, clock)
			for range 3 {
				r.Observe(ctx, handshake.Step{Name: handshake.StepCodeRedeemed, ClientID: "gc_1", RequestID: "corr", Check: fmt.Sprint("c", i)})
			}
			flush(t, r)
		}
		service := &handshake.Service{Store: d, Now: clock.Now}
		a, err := service.ShowAny(ctx, "corr")
		if err != nil || !a.Failed || len(a.Steps) != handshake.MaxSteps || a.UserAgent != "desk/1.0" {
			t.Fatalf("the attempt is %+v with %d steps, %v", a, len(a.Steps), err)
		}
		if s := a.Steps[0]; s.OK || s.Check != "code_verifier" || s.Advice == "" || s.Advice == handshake.Advice("") {
			t.Errorf("the failing step is %+v", s)
		}
		clock.Advance(handshake.KeepFor + time.Second)
		if n, err := service.Sweep(ctx); err != nil || n != 1 {
			t.Errorf("swept %d, %v", n, err)
		}
		if n, _ := db.CountForTest(d, `SELECT count(*) FROM handshake_steps`); n != 0 {
			t.Errorf("%d steps left", n)
		}
		if _, err := service.ShowAny(ctx, a.ID); !errors.Is(err, handshake.ErrNotFound) {
			t.Errorf("after the sweep: %v", err)
		}
	})
}

func TestHandshakeAtOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) {
		errs := race(8, func(i int) error {
			r := handshake.NewRecorder(handshake.Options{Store: dbtest.Again(t, d, clock.Now), Now: clock.Now, Rand: rand.Reader, Log: slog.New(slog.DiscardHandler)})
			r.Record(context.Background(), from([]string{handshake.StepChallenge, handshake.StepResourceMetadata}[i%2], "192.0.2.9"))
			return r.Close(context.Background())
		})
		if countNil(errs) != len(errs) {
			t.Fatal(errs)
		}
		if n, err := db.CountForTest(d, `SELECT count(*) FROM handshake_attempts`); err != nil || n != 1 {
			t.Errorf("%d attempts from one app's first requests (%v), want 1", n, err)
		}
	})
}
