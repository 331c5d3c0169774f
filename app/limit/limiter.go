package limit

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"
)

// Block is a part of a window's budget that the store set aside for this process.
type Block struct {
	// Granted is the size of the part. None means that the whole budget is given away.
	Granted int
	// Taken is how much of the budget is given away by now, this part included.
	Taken int
	// ClosesAt is the end of the window.
	ClosesAt time.Time
}

// WindowStore keeps windows that several processes share.
type WindowStore interface {
	// ReserveWindow sets aside up to want calls of the key's window, opening a new one of the spec's length when there is
	// none or the last has closed. It is one atomic step; all parts of one window never exceed the budget.
	ReserveWindow(ctx context.Context, key string, spec Spec, want int, now time.Time) (Block, error)
}

// Config says what a Limiter works with.
type Config struct {
	Now func() time.Time
	// Store is nil where one process does all the counting.
	Store WindowStore
	// Budgets replaces the budgets of specs by their names, as an administrator set them.
	Budgets map[string]int
}

// Limiter counts calls. It is safe for concurrent use.
type Limiter struct {
	now     func() time.Time
	store   WindowStore
	budgets map[string]int

	mu      sync.Mutex
	windows map[string]*window
	sweepAt time.Time
}

// window is what this process knows of one key's window.
type window struct {
	mu       sync.Mutex
	closesAt time.Time
	left     int // of the parts set aside for this process
	taken    int // of the budget, by all processes, as far as known
	spent    bool
	gone     bool // forgotten by the limiter: look the key up again
}

// New makes a limiter.
func New(c Config) *Limiter {
	return &Limiter{now: c.Now, store: c.Store, budgets: c.Budgets, windows: map[string]*window{}}
}

// Result is the answer to one call.
type Result struct {
	Allowed bool
	// Limit is the budget, Remaining what is left of it.
	Limit, Remaining int
	// Reset is the time to the end of the window.
	Reset time.Duration
}

// ResetSeconds is Reset rounded up to whole seconds, at least 1.
func (r Result) ResetSeconds() int { return seconds(r.Reset) }

// Err is nil for an allowed call and an *Exceeded for a refused one.
func (r Result) Err() error {
	if r.Allowed {
		return nil
	}
	return &Exceeded{RetryAfter: r.Reset}
}

// Exceeded refuses for now.
type Exceeded struct{ RetryAfter time.Duration }

// Error says when to try again.
func (e *Exceeded) Error() string {
	return fmt.Sprintf("too many tries; again in %d seconds", e.Seconds())
}

// Seconds is RetryAfter rounded up to whole seconds, at least 1.
func (e *Exceeded) Seconds() int { return seconds(e.RetryAfter) }

func seconds(d time.Duration) int { return max(1, int(math.Ceil(d.Seconds()))) }

// Take counts one call under the key, or refuses it. A refused call is not counted and does not lengthen the window.
func (l *Limiter) Take(ctx context.Context, spec Spec, key string) (Result, error) {
	if n := l.budgets[spec.Name]; n > 0 {
		spec.Budget = n
	}
	now := l.now()
	w := l.lock(spec.Name+":"+key, now)
	defer w.mu.Unlock()
	if !now.Before(w.closesAt) {
		w.left, w.taken, w.spent = 0, 0, false
	}
	if w.left == 0 && !w.spent {
		if err := l.reserve(ctx, w, spec, key, now); err != nil {
			return Result{}, err
		}
	}
	allowed := w.left > 0
	if allowed {
		w.left--
	}
	return Result{Allowed: allowed, Limit: spec.Budget, Remaining: spec.Budget - w.taken + w.left, Reset: w.closesAt.Sub(now)}, nil
}

// reserve gets the next part of the budget: a tenth where the store is shared, all of it otherwise.
func (l *Limiter) reserve(ctx context.Context, w *window, spec Spec, key string, now time.Time) error {
	b := Block{Granted: spec.Budget - w.taken, Taken: spec.Budget, ClosesAt: w.closesAt}
	if w.taken == 0 {
		b.ClosesAt = now.Add(spec.Window)
	}
	if l.store != nil {
		var err error
		if b, err = l.store.ReserveWindow(ctx, spec.Name+":"+key, spec, max(1, spec.Budget/10), now); err != nil {
			return fmt.Errorf("limit %s: %w", spec.Name, err)
		}
	}
	w.left, w.taken, w.closesAt, w.spent = b.Granted, b.Taken, b.ClosesAt, b.Granted == 0
	return nil
}

// lock gives the key's window, locked.
func (l *Limiter) lock(key string, now time.Time) *window {
	for {
		w := l.window(key, now)
		w.mu.Lock()
		if !w.gone {
			return w
		}
		w.mu.Unlock()
	}
}

// window finds the key's window and, once a minute, forgets those that have closed.
func (l *Limiter) window(key string, now time.Time) *window {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.After(l.sweepAt) {
		l.sweepAt = now.Add(time.Minute)
		for k, w := range l.windows {
			if w.forget(now) {
				delete(l.windows, k)
			}
		}
	}
	w := l.windows[key]
	if w == nil {
		w = &window{}
		l.windows[key] = w
	}
	return w
}

// forget marks a window that has closed. One that somebody is busy with stays.
func (w *window) forget(now time.Time) bool {
	if !w.mu.TryLock() {
		return false
	}
	defer w.mu.Unlock()
	w.gone = !now.Before(w.closesAt)
	return w.gone
}
