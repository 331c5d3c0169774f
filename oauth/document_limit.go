package oauth

// Limits on fetching client metadata documents: draft-ietf-oauth-client-id-metadata-document §8 (amplification). They
// protect other people's hosts from this process, so they may live in its memory: with n processes n times the figures
// hold.

import (
	"net/url"
	"strings"
	"sync"
	"time"
)

// The figures. A window is fixed and runs from its first counted call.
const (
	maxFetches          = 16
	maxFetchesPerOrigin = 4
	maxFetchRate        = 120
	maxFetchOriginRate  = 30
	fetchWindow         = time.Minute
)

// fetchLimiter counts fetches in flight and per window, over all and per origin.
type fetchLimiter struct {
	mu      sync.Mutex
	all     fetchCount
	origins map[string]*fetchCount
}

type fetchCount struct {
	inFlight int
	counted  int
	opened   time.Time
}

// wait says how long to wait before a call is allowed; zero is now.
func (c *fetchCount) wait(now time.Time, concurrent, rate int) time.Duration {
	if now.Sub(c.opened) >= fetchWindow {
		c.opened, c.counted = now, 0
	}
	if c.counted >= rate {
		return c.opened.Add(fetchWindow).Sub(now)
	}
	if c.inFlight >= concurrent {
		return time.Second
	}
	return 0
}

func (c *fetchCount) idle(now time.Time) bool {
	return c.inFlight == 0 && now.Sub(c.opened) >= fetchWindow
}

// begin counts a fetch from the origin, or says how long to wait. The caller runs done when the fetch is over.
func (l *fetchLimiter) begin(origin string, now time.Time) (done func(), wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	one := l.origins[origin]
	if one == nil {
		l.forget(now)
		one = &fetchCount{opened: now}
	}
	wait = max(l.all.wait(now, maxFetches, maxFetchRate), one.wait(now, maxFetchesPerOrigin, maxFetchOriginRate))
	if wait > 0 {
		return nil, wait
	}
	l.origins[origin] = one
	for _, c := range []*fetchCount{&l.all, one} {
		c.inFlight++
		c.counted++
	}
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.all.inFlight--
		one.inFlight--
	}, 0
}

// fetchOrigin names the origin of a URL in one spelling, however it is written.
func fetchOrigin(u *url.URL) string {
	host, port := strings.TrimSuffix(strings.ToLower(u.Hostname()), "."), u.Port()
	if port == "" {
		port = "443"
	}
	return host + ":" + port
}

// forget drops idle origins. Live ones are bounded by the overall rate.
func (l *fetchLimiter) forget(now time.Time) {
	for origin, c := range l.origins {
		if c.idle(now) {
			delete(l.origins, origin)
		}
	}
}
