package audit

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/google/uuid"
)

// Store keeps entries. Their ids grow with time.
type Store interface {
	// InsertAudit writes an entry.
	InsertAudit(ctx context.Context, e Entry) error
	// ListAudit lists entries, the newest first, with the names of people and clients that still exist.
	ListAudit(ctx context.Context, f Filter) ([]Entry, error)
	// SweepAudit deletes what is older and gives the number.
	SweepAudit(ctx context.Context, before time.Time) (int, error)
}

// Config is what a Service works with.
type Config struct {
	Store Store
	Now   func() time.Time
	Rand  io.Reader
	Log   *slog.Logger
	// Keep is how long entries are kept.
	Keep time.Duration
}

// Service records and shows. It is safe for concurrent use.
type Service struct{ c Config }

// New makes the service.
func New(c Config) *Service { return &Service{c} }

// saveTime bounds a write: the caller waits for it.
const saveTime = 5 * time.Second

// Record writes an entry down after the thing was done. It does not fail the caller, who cannot take back what was done:
// an entry that cannot be stored goes to the log, whole. Leaving does not cancel it.
func (s *Service) Record(ctx context.Context, e Entry) {
	e.At = s.c.Now().UTC().Truncate(time.Millisecond)
	e.clean()
	save, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
	defer cancel()
	err := s.save(save, e)
	if err != nil {
		s.c.Log.ErrorContext(ctx, "an audit entry could not be stored", "cause", err, "action", e.Action, "actor", e.Actor, "actor_id", e.ActorID,
			"person", e.PersonID, "client", e.ClientID, "connection", e.ConnectionID, "address", e.Address)
	}
}

func (s *Service) save(ctx context.Context, e Entry) error {
	id, err := s.newID(e.At)
	if err != nil {
		return err
	}
	e.ID = id
	return s.c.Store.InsertAudit(ctx, e)
}

// Page is how many entries List gives when the filter does not say.
const Page = 50

// maxPage is the most that one call of List gives.
const maxPage = 1000

// List lists entries, the newest first. next continues the list in another filter's Before; it is empty at the end.
func (s *Service) List(ctx context.Context, f Filter) (list []Entry, next string, err error) {
	if f.Limit <= 0 {
		f.Limit = Page
	}
	f.Limit = min(f.Limit, maxPage)
	want := f.Limit
	f.Limit++
	list, err = s.c.Store.ListAudit(ctx, f)
	if err != nil || len(list) <= want {
		return list, "", err
	}
	list = list[:want]
	return list, list[want-1].ID, nil
}

// Sweep deletes entries past their time.
func (s *Service) Sweep(ctx context.Context) (int, error) {
	return s.c.Store.SweepAudit(ctx, s.c.Now().Add(-s.c.Keep))
}

// newID makes a UUID of version 7 (RFC 9562 §5.7), so that entries lie in the order of time.
func (s *Service) newID(at time.Time) (string, error) {
	var id uuid.UUID
	if _, err := io.ReadFull(s.c.Rand, id[6:]); err != nil {
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
