package inventory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"gatehouse/app/account"
	"gatehouse/app/activity"
	"gatehouse/app/home"
)

// UndoReason says why an entry is not undone.
type UndoReason string

// The reasons.
const (
	ReasonNotUndoable   UndoReason = "not_undoable"
	ReasonExpired       UndoReason = "expired"
	ReasonAlreadyUndone UndoReason = "already_undone"
	ReasonChangedSince  UndoReason = "changed_since"
	ReasonInUse         UndoReason = "in_use"
	ReasonForbidden     UndoReason = "forbidden"
	ReasonNotFound      UndoReason = "not_found"
)

// Modes of undoing several entries.
const (
	// UndoAll undoes all or nothing.
	UndoAll = "all"
	// UndoEach undoes each entry that can be.
	UndoEach = "each"
)

const (
	maxUndoIDs     = 200
	maxUndoThrough = 1000
)

// actionUndo is the action of an entry that an undo leaves.
const actionUndo = "audit.undo"

// Undone is an entry that was undone, and the entry that says so.
type Undone struct {
	UndoOf  string
	EventID string
}

// UndoRefusal is an entry that was not undone. Fields and ChangedBy explain changed_since.
type UndoRefusal struct {
	EventID   string
	Reason    UndoReason
	Fields    []string
	ChangedBy *ActorRef
}

// Error gives the entry and the reason.
func (r *UndoRefusal) Error() string { return "undo of " + r.EventID + ": " + string(r.Reason) }

// UndoResult is what became of several entries. More says that a call's bound left some out.
type UndoResult struct {
	Undone  []Undone
	Refused []UndoRefusal
	More    bool
}

// UndoInput names entries of one location: by their ids, or all of a batch.
type UndoInput struct {
	EventIDs []string
	BatchID  string
	// Mode is UndoAll, which is meant where it is empty, or UndoEach.
	Mode string
}

// errUndoRefused takes back a transaction in which something was refused.
var errUndoRefused = errors.New("undo refused")

// UndoEntry undoes one entry. A refusal is an error: forbidden, not_found, else undo_refused with the reason.
func (s *Service) UndoEntry(ctx context.Context, p *home.Principal, id string) (Undone, error) {
	if err := mayCallUndo(p); err != nil {
		return Undone{}, err
	}
	found, err := s.visibleEntries(ctx, p, func(r Reader) ([]activity.Record, error) { return r.Entries([]string{id}) })
	if err != nil {
		return Undone{}, err
	}
	if len(found) == 0 {
		return Undone{}, notFound()
	}
	out, err := s.undoTogether(ctx, p, found)
	switch {
	case err != nil:
		return Undone{}, err
	case len(out.Undone) == 1:
		return out.Undone[0], nil
	}
	switch out.Refused[0].Reason {
	case ReasonForbidden:
		return Undone{}, undoForbidden()
	case ReasonNotFound:
		return Undone{}, notFound()
	}
	return Undone{}, undoRefused(out.Refused)
}

// UndoEntries undoes several entries of one location, the newest first (KE-75). In mode all a refusal takes everything
// back and is the error undo_refused; in mode each it is listed.
func (s *Service) UndoEntries(ctx context.Context, p *home.Principal, in UndoInput) (UndoResult, error) {
	if err := mayCallUndo(p); err != nil {
		return UndoResult{}, err
	}
	in.Mode = cmp.Or(in.Mode, UndoAll)
	if err := in.check(); err != nil {
		return UndoResult{}, err
	}
	found, err := s.visibleEntries(ctx, p, func(r Reader) ([]activity.Record, error) {
		if in.BatchID != "" {
			return r.BatchEntries(in.BatchID)
		}
		return r.Entries(in.EventIDs)
	})
	if err != nil {
		return UndoResult{}, err
	}
	if in.BatchID != "" && len(found) == 0 {
		return UndoResult{}, notFound()
	}
	if slices.ContainsFunc(found, func(e activity.Record) bool { return e.LocationID != found[0].LocationID }) {
		return UndoResult{}, invalid("event_ids", "must all be of one location")
	}
	out := UndoResult{Refused: missingEntries(in.EventIDs, found)}
	found = slices.DeleteFunc(found, func(e activity.Record) bool { return e.CompanionOf != "" })
	if in.Mode == UndoEach {
		err := out.each(found, func(e activity.Record) (UndoResult, error) { return s.undoTogether(ctx, p, []activity.Record{e}) })
		return out, err
	}
	if len(out.Refused) == 0 && len(found) > 0 {
		if out, err = s.undoTogether(ctx, p, found); err != nil {
			return UndoResult{}, err
		}
	}
	if len(out.Refused) > 0 {
		return UndoResult{}, undoRefused(out.Refused)
	}
	return out, nil
}

// check refuses what names no entries, or names them twice.
func (in UndoInput) check() error {
	if (len(in.EventIDs) == 0) == (in.BatchID == "") {
		return invalid("event_ids", "must be given, or batch_id, but not both")
	}
	if len(in.EventIDs) > maxUndoIDs {
		return invalidf("event_ids", "must hold 1 to %d ids", maxUndoIDs)
	}
	if in.Mode != UndoAll && in.Mode != UndoEach {
		return invalid("mode", "must be all or each")
	}
	return nil
}

// UndoThrough undoes what a connection or token did since a time, the newest first and each entry for itself: all that can be
// undone still and that the person may undo, at most 1,000 entries a call. A zero time sets no bound.
func (s *Service) UndoThrough(ctx context.Context, p *home.Principal, through Through, since time.Time) (UndoResult, error) {
	if err := mayCallUndo(p); err != nil {
		return UndoResult{}, err
	}
	q := UndoableQuery{Through: through, UserID: p.UserID, Since: since, Now: s.Now(), Limit: maxUndoThrough + 1}
	for i := range p.Locations {
		a := &p.Locations[i]
		switch {
		case home.Can(a, home.AuditUndoAny):
			q.AnyIn = append(q.AnyIn, a.LocationID)
		case home.CanOwn(a, home.AuditUndoOwn):
			q.OwnIn = append(q.OwnIn, a.LocationID)
		}
	}
	found, err := s.visibleEntries(ctx, p, func(r Reader) ([]activity.Record, error) { return r.Undoable(q) })
	if err != nil {
		return UndoResult{}, err
	}
	out := UndoResult{More: len(found) > maxUndoThrough}
	found = found[:min(len(found), maxUndoThrough)]
	found = slices.DeleteFunc(found, func(e activity.Record) bool { return !mayUndo(p, e) || !undoable(e) })
	err = out.each(found, func(e activity.Record) (UndoResult, error) { return s.undoTogether(ctx, p, []activity.Record{e}) })
	return out, err
}

// each tries entries one by one, the newest first. What stands in an entry's way can itself be undone later in the same
// call, as when two entries of one write depend on each other, so refusals that state can lift are tried again as long as
// something else was undone.
func (r *UndoResult) each(entries []activity.Record, attempt func(activity.Record) (UndoResult, error)) error {
	for progress := true; progress && len(entries) > 0; {
		progress = false
		var blocked []activity.Record
		var refusals []UndoRefusal
		for _, e := range newestFirst(entries) {
			got, err := attempt(e)
			if err != nil {
				return err
			}
			r.Undone = append(r.Undone, got.Undone...)
			progress = progress || len(got.Undone) > 0
			for _, refusal := range got.Refused {
				if refusal.Reason == ReasonInUse || refusal.Reason == ReasonChangedSince {
					blocked, refusals = append(blocked, e), append(refusals, refusal)
				} else {
					r.Refused = append(r.Refused, refusal)
				}
			}
		}
		if entries = blocked; !progress {
			r.Refused = append(r.Refused, refusals...)
		}
	}
	return nil
}

func newestFirst(entries []activity.Record) []activity.Record {
	return slices.SortedStableFunc(slices.Values(entries), func(a, b activity.Record) int {
		if a.LocationID == b.LocationID {
			return cmp.Compare(b.Seq, a.Seq)
		}
		return b.At.Compare(a.At)
	})
}

// undoTogether undoes entries of one location in one transaction: all, or none and the reasons.
func (s *Service) undoTogether(ctx context.Context, p *home.Principal, entries []activity.Record) (UndoResult, error) {
	access := p.At(entries[0].LocationID)
	ids := make([]string, len(entries))
	for i, e := range entries {
		ids[i] = e.ID
	}
	now := s.Now()
	batch, err := account.NewID(now, s.rand)
	if err != nil {
		return UndoResult{}, err
	}
	b := activity.Batch{ID: batch, LocationID: access.LocationID, Actor: actorOf(p), At: now}
	var out UndoResult
	_, err = s.store.WriteInventory(ctx, b, func() *activity.Log { return activity.NewLog(s.newID) }, func(w Writer, log *activity.Log) error {
		u := &undoing{write: &write{Writer: w, log: log, p: p, access: access, now: now, s: s}}
		out, err = u.run(ids)
		if err == nil && len(out.Refused) > 0 {
			return errUndoRefused
		}
		return err
	})
	switch {
	case errors.Is(err, errUndoRefused):
		return UndoResult{Refused: out.Refused}, nil
	case errors.Is(err, activity.ErrNoLocation):
		return UndoResult{}, notFound()
	case err != nil:
		return UndoResult{}, fmt.Errorf("undo: %w", err)
	}
	return out, nil
}

// visibleEntries reads entries and keeps those in the principal's locations. What is elsewhere does not exist.
func (s *Service) visibleEntries(ctx context.Context, p *home.Principal, get func(Reader) ([]activity.Record, error)) ([]activity.Record, error) {
	var found []activity.Record
	err := s.store.ReadInventory(ctx, func(r Reader) (err error) {
		found, err = get(r)
		return err
	})
	return slices.DeleteFunc(found, func(e activity.Record) bool { return !home.Can(p.At(e.LocationID), home.ContentView) }), err
}

func missingEntries(ids []string, found []activity.Record) []UndoRefusal {
	var out []UndoRefusal
	for _, id := range ids {
		if !slices.ContainsFunc(found, func(e activity.Record) bool { return e.ID == id }) {
			out = append(out, UndoRefusal{EventID: id, Reason: ReasonNotFound})
		}
	}
	return out
}

func undoForbidden() *Error {
	return &Error{Code: CodeForbidden, Hint: "You may not undo this change."}
}

func undoRefused(list []UndoRefusal) *Error {
	return &Error{Code: CodeUndoRefused, Hint: "Nothing was undone; the refusals say why.", Refusals: list}
}
