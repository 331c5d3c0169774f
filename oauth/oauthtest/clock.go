package oauthtest

import (
	"sync"
	"time"
)

// Start is the time at which a new clock stands.
var Start = time.Date(2026, time.March, 2, 9, 30, 0, 0, time.UTC)

// Clock is a clock that moves only when told to. It is safe for concurrent use.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a clock that stands at Start.
func NewClock() *Clock { return &Clock{now: Start} }

// Now returns the clock's time; pass the method as oauth.Config.Now.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock forward.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
