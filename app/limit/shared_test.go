package limit_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gatehouse/app/limit"
	"gatehouse/db"
	"gatehouse/db/dbtest"
)

func TestSharedWindows(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) {
		spec := limit.Spec{Name: "s", Budget: 25, Window: time.Minute}
		l := limit.New(limit.Config{Now: clock.Now, Store: d})
		for i := range 25 {
			if r := take(t, l, spec, "one"); !r.Allowed || r.Remaining != 24-i {
				t.Fatalf("call %d: %+v", i+1, r)
			}
		}
		clock.Advance(30 * time.Second)
		if r := take(t, l, spec, "one"); r.Allowed || r.Remaining != 0 || r.Reset != 30*time.Second {
			t.Errorf("call 26: %+v", r)
		}
		if r := take(t, limit.New(limit.Config{Now: clock.Now, Store: d}), spec, "one"); r.Allowed || r.Reset != 30*time.Second {
			t.Errorf("another process: %+v", r)
		}
		clock.Advance(30 * time.Second)
		if r := take(t, l, spec, "one"); !r.Allowed || r.Reset != time.Minute {
			t.Errorf("next window: %+v", r)
		}
		clock.Advance(time.Minute)
		if err := d.SweepWindows(context.Background(), clock.Now()); err != nil {
			t.Fatal(err)
		}
		if r := take(t, l, spec, "one"); !r.Allowed || r.Remaining != 24 {
			t.Errorf("after the sweep: %+v", r)
		}
	})
}

func TestSharedWindowsRace(t *testing.T) {
	t.Parallel()
	clock := dbtest.NewClock()
	url := dbtest.PostgresURL(t)
	var processes []*limit.Limiter
	for range 2 {
		processes = append(processes, limit.New(limit.Config{Now: clock.Now, Store: dbtest.Open(t, url, clock.Now)}))
	}
	for window := range 3 {
		var allowed atomic.Int32
		var wg sync.WaitGroup
		for n := range 20 {
			wg.Go(func() {
				for range 20 {
					r, err := processes[n%2].Take(context.Background(), limit.Reads, "k")
					if err != nil {
						t.Error(err)
						return
					}
					if r.Allowed {
						allowed.Add(1)
					}
				}
			})
		}
		wg.Wait()
		// Both processes ask until they are refused, so no part of the budget stays unused.
		if allowed.Load() != 120 {
			t.Errorf("KE-136 window %d: %d calls allowed by two processes, want 120", window, allowed.Load())
		}
		clock.Advance(time.Minute)
	}
}
