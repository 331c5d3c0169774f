package limit

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"time"
)

// Throttle is the count of wrong sign-ins under one key.
type Throttle struct {
	Failures int
	LastAt   time.Time
	// NextAt is when the next try may come.
	NextAt time.Time
	// FamiliarUntil is set on the key of an account and a network after a sign-in there.
	FamiliarUntil *time.Time
}

// ThrottleStore keeps the counts of wrong sign-ins, for all processes.
type ThrottleStore interface {
	// UpdateThrottles locks the keys, hands their counts to decide (a missing one as a zero value) and writes back those
	// that decide changed, all in one step. An error of decide changes nothing and comes back as it is.
	UpdateThrottles(ctx context.Context, keys []string, decide func(map[string]*Throttle) error) error
	// SweepThrottles forgets counts untouched since before that are not familiar at now.
	SweepThrottles(ctx context.Context, before, now time.Time) error
}

// How delays grow. The free tries come without delay, then it doubles from one second to its ceiling; after manyFailures
// in a row the ceiling of an account is an hour. A ceiling there always is: nobody is locked out for good.
const (
	freePerAccount = 5
	freePerNetwork = 20
	ceiling        = 15 * time.Minute
	manyFailures   = 100
	manyCeiling    = time.Hour
	// forgetAfter without a try clears a count.
	forgetAfter = 24 * time.Hour
	// familiarFor is how long a network counts as familiar for an account after a sign-in from it.
	familiarFor = 90 * 24 * time.Hour
)

// SignIns slows down guessing of passwords: per account, per network and overall.
//
// A network from which the account signed in lately has a count of its own: strangers who guess at the account's
// password delay themselves, and not the person at home.
//
// A try counts as a failure before the password is looked at, so that tries side by side cannot slip past the count.
type SignIns struct {
	now     func() time.Time
	store   ThrottleStore
	limiter *Limiter
}

// NewSignIns makes the throttle of sign-ins; limiter carries the ceiling over the whole installation.
func NewSignIns(now func() time.Time, store ThrottleStore, limiter *Limiter) *SignIns {
	return &SignIns{now: now, store: store, limiter: limiter}
}

// Attempt is an admitted try, counted as a failure until told otherwise.
type Attempt struct {
	s                      *SignIns
	account, network, pair string
	counted                []string
	familiar               bool
}

// Begin admits a try at an account from an address, or refuses it with *Exceeded. A refused try is not counted.
//
// The ceiling over the whole installation counts only what account and network let through, so that one network cannot
// use it up for everybody; and it does not hold for familiar networks, so that many strangers cannot either.
func (s *SignIns) Begin(ctx context.Context, account, ip string) (*Attempt, error) {
	network := Network(ip)
	a := &Attempt{s: s, account: throttleKey("account", account), network: throttleKey("network", network), pair: throttleKey("pair", account, network)}
	now := s.now()
	err := s.store.UpdateThrottles(ctx, []string{a.account, a.network, a.pair}, func(t map[string]*Throttle) error {
		return a.admit(t, now)
	})
	var exceeded *Exceeded
	if err != nil && !errors.As(err, &exceeded) {
		return nil, fmt.Errorf("throttle sign-in: %w", err)
	}
	if err != nil {
		return nil, err
	}
	if a.familiar {
		return a, nil
	}
	return a, a.underCeiling(ctx)
}

// underCeiling counts the try for the whole installation, or takes it back and refuses it.
func (a *Attempt) underCeiling(ctx context.Context) error {
	overall, err := a.s.limiter.Take(ctx, SignInsOverall, "all")
	if err == nil {
		err = overall.Err()
	}
	if err == nil {
		return nil
	}
	return errors.Join(err, a.Cancelled(ctx))
}

func (a *Attempt) admit(t map[string]*Throttle, now time.Time) error {
	own := a.account
	if f := t[a.pair].FamiliarUntil; f != nil && now.Before(*f) {
		own, a.familiar = a.pair, true
	}
	if wait := max(t[own].NextAt.Sub(now), t[a.network].NextAt.Sub(now)); wait > 0 {
		return &Exceeded{RetryAfter: wait}
	}
	t[own].count(now, freePerAccount)
	t[a.network].decay(now)
	t[a.network].count(now, freePerNetwork)
	a.counted = []string{own, a.network}
	return nil
}

// decay halves a network's failures for every hour without a try. A household's slips of many days would otherwise add
// up until one more shuts everybody there out for a quarter of an hour.
func (t *Throttle) decay(now time.Time) {
	if hours := int(now.Sub(t.LastAt) / time.Hour); hours > 0 {
		t.Failures >>= min(hours, 30)
	}
}

func (t *Throttle) count(now time.Time, free int) {
	if now.Sub(t.LastAt) >= forgetAfter {
		t.Failures = 0
	}
	t.Failures++
	t.LastAt, t.NextAt = now, now.Add(delay(t.Failures, free))
}

// delay is the wait after so many failures in a row.
func delay(failures, free int) time.Duration {
	switch over := failures - free; {
	case over < 0:
		return 0
	case failures >= manyFailures && free == freePerAccount:
		return manyCeiling
	case over > 10:
		return ceiling
	default:
		return min(ceiling, time.Second<<over)
	}
}

// Succeeded clears the account's counts and takes the try back from the network's, so that an attacker's own account
// does not wash the network clean. The network becomes familiar to the account.
func (a *Attempt) Succeeded(ctx context.Context) error {
	now := a.s.now()
	return a.update(ctx, func(t map[string]*Throttle) {
		until := now.Add(familiarFor)
		*t[a.account] = Throttle{LastAt: now, NextAt: now}
		*t[a.pair] = Throttle{LastAt: now, NextAt: now, FamiliarUntil: &until}
		t[a.network].takeBack(now)
	})
}

// Cancelled takes the try back: the password was never looked at.
func (a *Attempt) Cancelled(ctx context.Context) error {
	now := a.s.now()
	return a.update(ctx, func(t map[string]*Throttle) {
		for _, key := range a.counted {
			t[key].takeBack(now)
		}
	})
}

func (t *Throttle) takeBack(now time.Time) {
	t.Failures, t.NextAt = max(0, t.Failures-1), now
}

func (a *Attempt) update(ctx context.Context, fn func(map[string]*Throttle)) error {
	err := a.s.store.UpdateThrottles(ctx, []string{a.account, a.network, a.pair}, func(t map[string]*Throttle) error { fn(t); return nil })
	if err != nil {
		return fmt.Errorf("throttle sign-in: %w", err)
	}
	return nil
}

// Forgive clears an account's count, for instance after a reset link was used.
func (s *SignIns) Forgive(ctx context.Context, account string) error {
	key := throttleKey("account", account)
	err := s.store.UpdateThrottles(ctx, []string{key}, func(t map[string]*Throttle) error {
		*t[key] = Throttle{LastAt: s.now(), NextAt: s.now()}
		return nil
	})
	if err != nil {
		return fmt.Errorf("throttle sign-in: %w", err)
	}
	return nil
}

// Sweep forgets counts that no longer matter.
func (s *SignIns) Sweep(ctx context.Context) error {
	now := s.now()
	return s.store.SweepThrottles(ctx, now.Add(-forgetAfter), now)
}

// throttleKey hides what people typed into the form: it may be a password in the wrong field.
func throttleKey(kind string, parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return kind + ":" + base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:18])
}
