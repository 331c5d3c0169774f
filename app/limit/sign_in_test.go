package limit_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gatehouse/app/limit"
	"gatehouse/db"
	"gatehouse/db/dbtest"
)

const home4, away4 = "203.0.113.9", "198.51.100.7"

func signIns(d *db.DB, clock *dbtest.Clock) *limit.SignIns {
	return limit.NewSignIns(clock.Now, d, limit.New(limit.Config{Now: clock.Now}))
}

// try begins an attempt and gives the wait, zero when admitted.
func try(t *testing.T, s *limit.SignIns, account, ip string) (*limit.Attempt, time.Duration) {
	t.Helper()
	a, err := s.Begin(context.Background(), account, ip)
	var exceeded *limit.Exceeded
	if errors.As(err, &exceeded) {
		return nil, exceeded.RetryAfter
	}
	if err != nil {
		t.Fatal(err)
	}
	return a, 0
}

func TestSignIns(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) {
		ctx := context.Background()
		s := signIns(d, clock)

		t.Run("LT-1 delays per account grow to a ceiling and never lock for good", func(t *testing.T) {
			last, longest := time.Duration(0), time.Duration(0)
			for n := range 130 {
				ip := fmt.Sprintf("10.1.%d.1", n) // a botnet: the network never counts
				_, wait := try(t, s, "ada@example.org", ip)
				if n < 5 && wait != 0 {
					t.Fatalf("try %d has to wait %s", n+1, wait)
				}
				if wait == 0 {
					continue
				}
				if wait < last || wait > time.Hour {
					t.Fatalf("try %d: wait %s after %s", n+1, wait, last)
				}
				if n < 100 && wait > 15*time.Minute {
					t.Fatalf("try %d: wait %s", n+1, wait)
				}
				last, longest = wait, max(longest, wait)
				clock.Advance(wait)
				if _, wait := try(t, s, "ada@example.org", ip); wait != 0 {
					t.Fatalf("try %d after the wait: still %s", n+1, wait)
				}
			}
			if longest != time.Hour {
				t.Errorf("after 100 failures the ceiling is %s", longest)
			}
		})
		t.Run("LT-1 a familiar network is not slowed down by strangers", func(t *testing.T) {
			a, _ := try(t, s, "eva@example.org", home4)
			if err := a.Succeeded(ctx); err != nil {
				t.Fatal(err)
			}
			for range 5 {
				try(t, s, "eva@example.org", away4)
			}
			if _, wait := try(t, s, "eva@example.org", away4); wait == 0 {
				t.Error("the stranger is not slowed down")
			}
			a, wait := try(t, s, "eva@example.org", home4)
			if wait != 0 {
				t.Fatalf("the person at home waits %s", wait)
			}
			if err := a.Succeeded(ctx); err != nil {
				t.Fatal(err)
			}
			if _, wait := try(t, s, "eva@example.org", "192.0.2.1"); wait != 0 {
				t.Errorf("a sign-in did not clear the account's count: wait %s", wait)
			}
		})
		t.Run("LT-1 per network, IPv6 by /64", func(t *testing.T) {
			for n := range 20 {
				if _, wait := try(t, s, fmt.Sprintf("p%d@example.org", n), fmt.Sprintf("2001:db8::%x", n+1)); wait != 0 {
					t.Fatalf("try %d waits %s", n+1, wait)
				}
			}
			if _, wait := try(t, s, "p@example.org", "2001:db8::ffff"); wait == 0 {
				t.Error("the same /64 is not slowed down")
			}
			if _, wait := try(t, s, "p@example.org", "2001:db8:0:1::1"); wait != 0 {
				t.Error("another /64 is slowed down")
			}
		})
		t.Run("LT-1 slips of a household do not add up for good", func(t *testing.T) {
			for n := range 25 {
				clock.Advance(time.Minute)
				try(t, s, fmt.Sprintf("q%d@example.org", n), "192.0.2.30")
			}
			clock.Advance(3 * time.Hour)
			for n := range 3 {
				if _, wait := try(t, s, fmt.Sprintf("r%d@example.org", n), "192.0.2.30"); wait != 0 {
					t.Errorf("try %d hours later waits %s", n+1, wait)
				}
			}
		})
		t.Run("LT-1 a refused try is not counted, a cancelled one taken back", func(t *testing.T) {
			for range 4 {
				try(t, s, "uma@example.org", "192.0.2.10")
			}
			a, _ := try(t, s, "uma@example.org", "192.0.2.10")
			_, wait := try(t, s, "uma@example.org", "192.0.2.10")
			_, again := try(t, s, "uma@example.org", "192.0.2.10")
			if wait == 0 || again != wait {
				t.Errorf("waits %s, then %s", wait, again)
			}
			if err := a.Cancelled(ctx); err != nil {
				t.Fatal(err)
			}
			if _, wait := try(t, s, "uma@example.org", "192.0.2.10"); wait != 0 {
				t.Errorf("after taking back: wait %s", wait)
			}
		})
		t.Run("LT-1 forgiven, and forgotten after a day", func(t *testing.T) {
			for range 7 {
				try(t, s, "ida@example.org", "192.0.2.20")
			}
			if err := s.Forgive(ctx, "ida@example.org"); err != nil {
				t.Fatal(err)
			}
			for n := range 4 {
				if _, wait := try(t, s, "ida@example.org", "192.0.2.20"); wait != 0 {
					t.Errorf("try %d after forgiving waits %s", n+1, wait)
				}
			}
			clock.Advance(25 * time.Hour)
			if err := s.Sweep(ctx); err != nil {
				t.Fatal(err)
			}
			for n := range 5 {
				if _, wait := try(t, s, "ida@example.org", "192.0.2.20"); wait != 0 {
					t.Errorf("try %d on the next day waits %s", n+1, wait)
				}
			}
		})
	})
}

func TestSignInsOverall(t *testing.T) {
	t.Parallel()
	clock := dbtest.NewClock()
	d := dbtest.Open(t, dbtest.SQLiteURL(t), clock.Now)
	l := limit.New(limit.Config{Now: clock.Now})
	s := limit.NewSignIns(clock.Now, d, l)
	for range 2 * limit.SignInsOverall.Budget { // refused by its network from the 21st on
		try(t, s, "nobody@example.org", away4)
	}
	a, wait := try(t, s, "ada@example.org", home4)
	if wait != 0 {
		t.Fatalf("LT-1 one network used up the ceiling of all: wait %s", wait)
	}
	if err := a.Succeeded(context.Background()); err != nil {
		t.Fatal(err)
	}
	for range limit.SignInsOverall.Budget {
		take(t, l, limit.SignInsOverall, "all")
	}
	if _, wait := try(t, s, "ada@example.org", "192.0.2.1"); wait != time.Minute {
		t.Errorf("LT-1 overall: wait %s", wait)
	}
	if _, wait := try(t, s, "ada@example.org", home4); wait != 0 {
		t.Errorf("LT-1 strangers shut out the person at home: wait %s", wait)
	}
	clock.Advance(time.Minute)
	for n := range 4 { // what the ceiling refused was not counted as a wrong password
		if _, wait := try(t, s, "ada@example.org", "192.0.2.1"); wait != 0 {
			t.Errorf("LT-1 try %d after the ceiling: wait %s", n+1, wait)
		}
	}
}

// Tries side by side, on two processes where the database can be shared, are admitted exactly as often as tries one by one.
func TestSignInsRace(t *testing.T) {
	t.Parallel()
	t.Run("LT-1 sqlite", func(t *testing.T) {
		t.Parallel()
		clock := dbtest.NewClock()
		d := dbtest.Open(t, dbtest.SQLiteURL(t), clock.Now)
		raceSignIns(t, signIns(d, clock), signIns(d, clock))
	})
	t.Run("LT-1 postgres, two processes", func(t *testing.T) {
		t.Parallel()
		clock := dbtest.NewClock()
		url := dbtest.PostgresURL(t)
		raceSignIns(t, signIns(dbtest.Open(t, url, clock.Now), clock), signIns(dbtest.Open(t, url, clock.Now), clock))
	})
}

func raceSignIns(t *testing.T, a, b *limit.SignIns) {
	var admitted atomic.Int32
	var wg sync.WaitGroup
	for n := range 20 {
		s := a
		if n%2 == 1 {
			s = b
		}
		wg.Go(func() {
			_, err := s.Begin(context.Background(), "ada@example.org", fmt.Sprintf("10.0.0.%d", n))
			var exceeded *limit.Exceeded
			if err == nil {
				admitted.Add(1)
			} else if !errors.As(err, &exceeded) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if admitted.Load() != 5 {
		t.Errorf("%d tries admitted, want 5", admitted.Load())
	}
}
