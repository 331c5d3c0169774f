package handshake

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

const (
	queueSize = 2048
	batchSize = 128
	// gatherTime is how long the first event of a batch waits for others: a transaction for each event costs a busy server
	// more than the event itself, and nobody sees the difference.
	gatherTime = 20 * time.Millisecond
	saveTime   = 10 * time.Second
	// repeats is how often the same event is kept within a minute: apps that poll without a token would fill the record.
	repeats   = 3
	trackedBy = 10_000
	// opensBy is how many attempts one address may open within a minute by one step. Who changes the user agent with every
	// request would otherwise fill the database without ever signing in.
	opensBy = 60
)

// Options are what a recorder is made from.
type Options struct {
	Store Store
	Now   func() time.Time
	Rand  io.Reader
	Log   *slog.Logger
}

// Recorder takes events and stores them beside the requests they are about. It is safe for concurrent use.
type Recorder struct {
	o       Options
	queue   chan Event
	done    chan struct{}
	dropped atomic.Int64

	mu     sync.Mutex
	closed bool
	minute time.Time
	seen   map[repeat]int
	opens  map[opening]int
	once   map[repeat]bool
}

// opening is what attempts are counted by: the network and the step.
type opening struct{ network, step string }

// repeat is what makes two events the same.
type repeat struct{ source, step, check, client, request, connection, family string }

// NewRecorder makes a recorder and starts its worker; Close stops it.
func NewRecorder(o Options) *Recorder {
	r := &Recorder{
		o: o, queue: make(chan Event, queueSize), done: make(chan struct{}), seen: map[repeat]int{}, opens: map[opening]int{},
		once: map[repeat]bool{},
	}
	go r.work()
	return r
}

// Record takes an event. It returns at once and never fails: what cannot be queued is dropped and counted.
func (r *Recorder) Record(ctx context.Context, e Event) {
	if e.At.IsZero() {
		e.At = r.o.Now()
	}
	if s := sourceFrom(ctx); e.IP == "" && e.UserAgent == "" {
		e.IP, e.UserAgent = s.ip, s.userAgent
	}
	if e.HTTPRequest == "" {
		e.HTTPRequest = httpRequestFrom(ctx)
	}
	if r.knows(&e) {
		return
	}
	e.trim()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || r.repeated(&e) {
		return
	}
	select {
	case r.queue <- e:
	default:
		r.dropped.Add(1)
	}
}

// knows reports whether a step that is kept once was taken before: the everyday case of every call, so it costs a look
// into a map and no more.
func (r *Recorder) knows(e *Event) bool {
	if !e.Once() {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.once[e.onceKey()]
}

func (e *Event) onceKey() repeat {
	return repeat{step: e.Step, request: e.RequestID, connection: e.ConnectionID, family: e.FamilyID}
}

// Observe takes a step of the protocol's library. Refreshes, and tokens without a code, that succeed are the everyday life of a connection and not
// part of an attempt.
func (r *Recorder) Observe(ctx context.Context, s Step) {
	if (s.Name == StepTokenRefreshed || s.Name == StepTokenGranted) && s.OK {
		return
	}
	r.Record(ctx, Event{
		Step: s.Name, OK: s.OK, Check: s.Check, Reason: s.Reason, Detail: s.Detail,
		ClientID: s.ClientID, RequestID: s.RequestID, ConnectionID: s.ConnectionID, UserID: s.UserID,
	})
}

// repeated reports whether the event says nothing new. The caller holds the lock.
func (r *Recorder) repeated(e *Event) bool {
	if e.Once() {
		key := e.onceKey()
		if r.once[key] {
			return true
		}
		if len(r.once) >= trackedBy {
			clear(r.once)
		}
		r.once[key] = true
		return false
	}
	if e.At.Sub(r.minute) >= time.Minute {
		clear(r.seen)
		clear(r.opens)
		r.minute = e.At
	}
	if len(r.seen) >= trackedBy {
		clear(r.seen)
	}
	if r.tooMany(e) {
		return true
	}
	key := repeat{e.Source(), e.Step, e.Check, e.ClientID, e.RequestID, e.ConnectionID, e.FamilyID}
	r.seen[key]++
	return r.seen[key] > repeats
}

// tooMany counts an event that nothing but its source ties to an attempt, so that it may open one. The caller holds the
// lock.
func (r *Recorder) tooMany(e *Event) bool {
	if !e.Opens() || e.RequestID != "" || e.ConnectionID != "" {
		return false
	}
	key := opening{network(e.IP), e.Step}
	if r.opens[key] >= opensBy || len(r.opens) >= trackedBy {
		return true
	}
	r.opens[key]++
	return false
}

// network is what one party commands: an IPv4 address, or the /64 of an IPv6 address.
func network(ip string) string {
	a, err := netip.ParseAddr(ip)
	if err != nil || a.Unmap().Is4() {
		return ip
	}
	p, err := a.WithZone("").Prefix(64)
	if err != nil {
		return ip
	}
	return p.String()
}

// Dropped is the number of events that were lost to a full queue or a failing store.
func (r *Recorder) Dropped() int64 { return r.dropped.Load() }

// Close stores what is queued and stops, or gives up when the context ends.
func (r *Recorder) Close(ctx context.Context) error {
	r.mu.Lock()
	if !r.closed {
		r.closed = true
		close(r.queue)
	}
	r.mu.Unlock()
	select {
	case <-r.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("flush record of attempts: %w", ctx.Err())
	}
}

func (r *Recorder) work() {
	defer close(r.done)
	var reported int64
	for first := range r.queue {
		r.save(r.gather(first))
		if n := r.dropped.Load(); n != reported {
			r.o.Log.Warn("the record of connection attempts lost events", "count", n-reported)
			reported = n
		}
	}
}

// gather adds to the first event what comes within gatherTime. Closing ends the wait.
func (r *Recorder) gather(first Event) []Event {
	batch := append(make([]Event, 0, 8), first)
	enough := time.NewTimer(gatherTime)
	defer enough.Stop()
	for len(batch) < batchSize {
		select {
		case e, open := <-r.queue:
			if !open {
				return batch
			}
			batch = append(batch, e)
		case <-enough.C:
			return batch
		}
	}
	return batch
}

func (r *Recorder) save(batch []Event) {
	ctx, cancel := context.WithTimeout(context.Background(), saveTime)
	defer cancel()
	if err := r.o.Store.SaveHandshakes(ctx, batch, r.newID); err != nil {
		r.dropped.Add(int64(len(batch)))
		r.o.Log.Warn("the record of connection attempts could not be stored", "error", err)
	}
}

// newID makes a UUID of version 7 (RFC 9562 §5.7), so that rows lie in the order of time.
func (r *Recorder) newID(at time.Time) (string, error) {
	var id uuid.UUID
	if _, err := io.ReadFull(r.o.Rand, id[6:]); err != nil {
		return "", fmt.Errorf("read random bytes: %w", err)
	}
	ms := at.UnixMilli()
	for i := range 6 {
		id[i] = byte(ms >> (40 - 8*i))
	}
	id[6] = id[6]&0x0f | 0x70
	id[8] = id[8]&0x3f | 0x80
	return id.String(), nil
}
