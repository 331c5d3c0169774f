package limit_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gatehouse/app/limit"
	"gatehouse/db/dbtest"
)

func take(t *testing.T, l *limit.Limiter, spec limit.Spec, key string) limit.Result {
	t.Helper()
	r, err := l.Take(context.Background(), spec, key)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestLimiter(t *testing.T) {
	t.Parallel()
	t.Run("KE-136 KE-137 budgets of reads and writes", func(t *testing.T) {
		t.Parallel()
		l := limit.New(limit.Config{Now: dbtest.NewClock().Now})
		for _, spec := range []limit.Spec{{Name: "read", Budget: 120, Window: time.Minute}, {Name: "write", Budget: 30, Window: time.Minute}} {
			got := limit.Reads
			if spec.Name == "write" {
				got = limit.Writes
			}
			if got != spec {
				t.Fatalf("spec %+v, want %+v", got, spec)
			}
			for i := range spec.Budget {
				if r := take(t, l, got, "token:1"); !r.Allowed || r.Remaining != spec.Budget-1-i || r.Limit != spec.Budget {
					t.Fatalf("%s call %d: %+v", spec.Name, i+1, r)
				}
			}
			if r := take(t, l, got, "token:1"); r.Allowed || r.Remaining != 0 {
				t.Errorf("%s call %d: %+v", spec.Name, spec.Budget+1, r)
			}
		}
		if !take(t, l, limit.Writes, "token:2").Allowed {
			t.Error("KE-135: another key shares the window")
		}
	})
	t.Run("KE-137 a window opens with the first counted call and refused calls do not lengthen it", func(t *testing.T) {
		t.Parallel()
		clock := dbtest.NewClock()
		l := limit.New(limit.Config{Now: clock.Now})
		spec := limit.Spec{Name: "s", Budget: 2, Window: time.Minute}
		clock.Advance(42 * time.Second)
		take(t, l, spec, "k")
		clock.Advance(43*time.Second + 500*time.Millisecond)
		take(t, l, spec, "k")
		r := take(t, l, spec, "k")
		if r.Allowed || r.Reset != 16*time.Second+500*time.Millisecond || r.ResetSeconds() != 17 {
			t.Errorf("refused call: %+v", r)
		}
		var exceeded *limit.Exceeded
		if !errors.As(r.Err(), &exceeded) || exceeded.Seconds() != 17 {
			t.Errorf("error %v", r.Err())
		}
		clock.Advance(16*time.Second + 499*time.Millisecond)
		if r := take(t, l, spec, "k"); r.Allowed || r.ResetSeconds() != 1 {
			t.Errorf("before the end: %+v", r)
		}
		clock.Advance(time.Millisecond)
		if r := take(t, l, spec, "k"); !r.Allowed || r.Remaining != 1 || r.Reset != time.Minute {
			t.Errorf("new window: %+v", r)
		}
	})
	t.Run("exact under many goroutines while windows are forgotten", func(t *testing.T) {
		t.Parallel()
		clock := dbtest.NewClock()
		l := limit.New(limit.Config{Now: clock.Now})
		spec := limit.Spec{Name: "s", Budget: 50, Window: time.Minute}
		for range 5 {
			var allowed atomic.Int32
			var wg sync.WaitGroup
			for range 20 {
				wg.Go(func() {
					for range 10 {
						if r, err := l.Take(context.Background(), spec, "k"); err == nil && r.Allowed {
							allowed.Add(1)
						}
					}
				})
			}
			wg.Wait()
			if allowed.Load() != 50 {
				t.Errorf("%d calls allowed, want 50", allowed.Load())
			}
			clock.Advance(2 * time.Minute)
		}
	})
	t.Run("a failing store refuses nobody silently", func(t *testing.T) {
		t.Parallel()
		l := limit.New(limit.Config{Now: dbtest.NewClock().Now, Store: failing{}})
		if _, err := l.Take(context.Background(), limit.Reads, "k"); !errors.Is(err, errStore) {
			t.Errorf("got %v", err)
		}
	})
}

var errStore = errors.New("store is down")

type failing struct{}

func (failing) ReserveWindow(context.Context, string, limit.Spec, int, time.Time) (limit.Block, error) {
	return limit.Block{}, errStore
}

func TestSpecsAreNamedOnce(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, s := range []limit.Spec{limit.Reads, limit.Writes, limit.Browser, limit.SignInsOverall, limit.LinkTries, limit.OAuthTokens,
		limit.OAuthRevocations, limit.OAuthPages, limit.OAuthClientFailures, limit.Registrations} {
		if seen[s.Name] || s.Budget < 1 || s.Window <= 0 {
			t.Errorf("spec %+v shares a name or is empty", s)
		}
		seen[s.Name] = true
	}
}

func TestNetwork(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ ip, want string }{
		"LT-1 IPv4 by address":       {"203.0.113.9", "203.0.113.9"},
		"LT-1 IPv6 by /64":           {"2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"},
		"LT-1 IPv4 inside IPv6":      {"::ffff:203.0.113.9", "203.0.113.9"},
		"a zone is no other network": {"fe80::1%eth0", "fe80::/64"},
		"no address":                 {"", "unknown"},
		"garbage":                    {"203.0.113.9, 10.0.0.1", "unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := limit.Network(c.ip); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func FuzzNetwork(f *testing.F) {
	for _, s := range []string{"203.0.113.9", "2001:db8::1", "::ffff:1.2.3.4", "fe80::1%x", "", "x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, ip string) {
		n := limit.Network(ip)
		if n == "" || limit.Network(ip) != n {
			t.Errorf("unstable network %q", n)
		}
	})
}
