package handshake

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

const (
	queueSize = 2048
	batchSize = 64
	saveTime  = 10 * time.Second
	// repeats is how often the same event is kept within a minute: apps that poll without a token would fill the record.
	repeats   = 3
	trackedBy = 10_000
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
	once   map[repeat]bool
}

// repeat is what makes two events the same.
type repeat struct{ source, step, check, client, request, connection, family string }

// NewRecorder makes a recorder and starts its worker; Close stops it.
func NewRecorder(o Options) *Recorder {
	r := &Recorder{
		o: o, queue: make(chan Event, queueSize), done: make(chan struct{}), seen: map[repeat]int{}, once: map[repeat]bool{},
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

// Observe takes a step of the protocol's library. Refreshes that succeed are the everyday life of a connection and not
// part of an attempt.
func (r *Recorder) Observe(ctx context.Context, s Step) {
	if s.Name == StepTokenRefreshed && s.OK {
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
		key := repeat{step: e.Step, connection: e.ConnectionID, family: e.FamilyID}
		if r.once[key] {
			return true
		}
		if len(r.once) >= trackedBy {
			clear(r.once)
		}
		r.once[key] = true
		return false
	}
	if e.At.Sub(r.minute) >= time.Minute || len(r.seen) >= trackedBy {
		clear(r.seen)
		r.minute = e.At
	}
	key := repeat{e.Source(), e.Step, e.Check, e.ClientID, e.RequestID, e.ConnectionID, e.FamilyID}
	r.seen[key]++
	return r.seen[key] > repeats
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
		batch := append(make([]Event, 0, batchSize), first)
		for len(batch) < batchSize && len(r.queue) > 0 {
			if e, ok := <-r.queue; ok {
				batch = append(batch, e)
			}
		}
		r.save(batch)
		if n := r.dropped.Load(); n != reported {
			r.o.Log.Warn("the record of connection attempts lost events", "count", n-reported)
			reported = n
		}
	}
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
