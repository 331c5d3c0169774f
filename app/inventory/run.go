package inventory

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gatehouse/app/account"
	"gatehouse/app/activity"
	"gatehouse/app/home"
)

// write is one write to one location while its transaction runs.
type write struct {
	Writer
	log    *activity.Log
	p      *home.Principal
	access *home.Access
	now    time.Time
	s      *Service
}

// read runs fn on one state of the database.
func (s *Service) read(ctx context.Context, p *home.Principal, fn func(Reader) error) error {
	if !p.CanRead() {
		return tokenScope()
	}
	return s.store.ReadInventory(ctx, fn)
}

// change finds the location of a write and runs fn in the one transaction that changes it. subject, where not nil, gives
// the location of the row the input addresses. fn may run more than once.
func (s *Service) change(ctx context.Context, p *home.Principal, at At, action home.Action, subject func(Reader) (string, error), fn func(*write) error) (activity.Receipt, error) {
	if !p.CanWrite() {
		return activity.Receipt{}, tokenScope()
	}
	access, err := s.place(ctx, p, at, action, subject)
	if err != nil {
		return activity.Receipt{}, err
	}
	now := s.Now()
	batch, err := account.NewID(now, s.rand)
	if err != nil {
		return activity.Receipt{}, err
	}
	b := activity.Batch{ID: batch, LocationID: access.LocationID, Actor: actorOf(p), At: now}
	records, err := s.store.WriteInventory(ctx, b, func() *activity.Log { return activity.NewLog(s.newID) }, func(w Writer, log *activity.Log) error {
		return fn(&write{Writer: w, log: log, p: p, access: access, now: now, s: s})
	})
	if errors.Is(err, activity.ErrNoLocation) {
		err = notFound()
	}
	if err != nil {
		return activity.Receipt{}, err
	}
	return activity.ReceiptOf(records), nil
}

func (s *Service) place(ctx context.Context, p *home.Principal, at At, action home.Action, subject func(Reader) (string, error)) (*home.Access, error) {
	if len(at.open(p, action)) == 0 {
		return nil, at.refusal()
	}
	row := ""
	if subject != nil {
		err := s.store.ReadInventory(ctx, func(r Reader) (err error) {
			row, err = subject(r)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return at.locate(p, action, row)
}

// newID makes an id.
func (s *Service) newID() (string, error) { return account.NewID(s.Now(), s.rand) }

// code gives the subject a short code nobody ever had.
func (w *write) code(subjectType, subjectID string) (string, error) {
	for range 20 {
		code, err := newCode(w.s.rand)
		if err != nil {
			return "", err
		}
		free, err := w.ClaimCode(code, subjectType, subjectID, w.now)
		if free || err != nil {
			return code, err
		}
	}
	return "", fmt.Errorf("no free short code found in 20 draws")
}

// zone is the location's time zone.
func zone(a *home.Access) *time.Location {
	loc, err := time.LoadLocation(a.TimeZone)
	if err != nil {
		return time.UTC
	}
	return loc
}

// today is the calendar day at the location.
func today(now time.Time, a *home.Access) string { return now.In(zone(a)).Format(time.DateOnly) }

// find gives the id of a live row of the write's location; a row of another location is not found.
func (w *write) find(typed, kind, path string) (string, error) {
	s, err := find(w, w.p, typed, kind, path)
	if err == nil && s.LocationID != w.access.LocationID {
		err = notFound()
	}
	return s.ID, err
}

// thing gives a live thing of the write's location.
func (w *write) thing(typed, path string) (*Thing, error) {
	id, err := w.find(typed, activity.Thing, path)
	if err != nil {
		return nil, err
	}
	return oneThing(w, id)
}

func oneThing(r Reader, id string) (*Thing, error) {
	things, err := r.Things([]string{id})
	if err != nil {
		return nil, err
	}
	if things[id] == nil {
		return nil, notFound()
	}
	return things[id], nil
}
