package inventory

import (
	"errors"
	"slices"

	"gatehouse/app/activity"
)

// undoing is one transaction of undos. It holds the location's row, as every write does, so the values it compares cannot
// change until it ends, and of two undos of one entry the second sees the first.
type undoing struct {
	*write
}

// restoration is how one entry will be undone.
type restoration struct {
	// version is the subject's row version afterwards, changes what the entry about it says.
	version int
	changes []activity.Change
	apply   func() error
}

// run undoes the entries of the ids, the newest first.
func (u *undoing) run(ids []string) (UndoResult, error) {
	entries, err := u.Entries(ids)
	if err != nil {
		return UndoResult{}, err
	}
	out := UndoResult{Refused: missingEntries(ids, entries)}
	err = out.each(entries, func(e activity.Record) (UndoResult, error) {
		done, err := u.undo(e)
		var refusal *UndoRefusal
		if errors.As(err, &refusal) {
			return UndoResult{Refused: []UndoRefusal{*refusal}}, nil
		}
		return UndoResult{Undone: []Undone{done}}, err
	})
	return out, err
}

// undo undoes one entry; a refusal is a *UndoRefusal.
func (u *undoing) undo(e activity.Record) (Undone, error) {
	if err := u.checkState(e); err != nil {
		return Undone{}, err
	}
	r, err := undoers[e.Action].prepare(u, e)
	if err != nil {
		return Undone{}, err
	}
	id, err := u.log.Add(activity.Entry{
		Action: actionUndo, SubjectType: e.SubjectType, SubjectID: e.SubjectID, SubjectVersion: r.version, RelatedID: e.RelatedID,
		Changes: r.changes, UndoOf: e.ID,
	})
	if err != nil {
		return Undone{}, err
	}
	// The single claim: whoever changes the row undoes the entry.
	claimed, err := u.ClaimUndo(e.ID, id)
	if err != nil {
		return Undone{}, err
	}
	if !claimed {
		return Undone{}, refuse(e, ReasonAlreadyUndone)
	}
	if err := u.ClaimCompanions(e, id); err != nil {
		return Undone{}, err
	}
	return Undone{UndoOf: e.ID, EventID: id}, r.apply()
}

// checkState refuses by what is known of the entry itself.
func (u *undoing) checkState(e activity.Record) error {
	switch {
	case e.LocationID != u.access.LocationID:
		return refuse(e, ReasonNotFound)
	case !mayUndo(u.p, e):
		return refuse(e, ReasonForbidden)
	case !undoable(e):
		return refuse(e, ReasonNotUndoable)
	case e.UndoneBy != "":
		return refuse(e, ReasonAlreadyUndone)
	case !u.now.Before(*e.UndoUntil):
		return refuse(e, ReasonExpired)
	}
	return nil
}

func refuse(e activity.Record, reason UndoReason) error {
	return &UndoRefusal{EventID: e.ID, Reason: reason}
}

// standing gives the later entries about the entry's subject that were not undone, without undos themselves.
func (u *undoing) standing(e activity.Record, subjectID string) ([]activity.Record, error) {
	later, err := u.LaterEntries(subjectID, e.Seq)
	return slices.DeleteFunc(later, func(l activity.Record) bool {
		return l.UndoneBy != "" || l.Action == actionUndo || l.CompanionOf == e.ID || l.LocationID != e.LocationID
	}), err
}

// untouched refuses when something happened to the subject since that was not undone.
func (u *undoing) untouched(e activity.Record, subjectID string) error {
	later, err := u.standing(e, subjectID)
	if err != nil || len(later) == 0 {
		return err
	}
	return u.changedSince(e, fieldsOf(later), later[len(later)-1])
}

// gone refuses because the entry's subject is not there any more, and says who took it away where that is known.
func (u *undoing) gone(e activity.Record) error {
	if err := u.untouched(e, e.SubjectID); err != nil {
		return err
	}
	return refuse(e, ReasonInUse)
}

func fieldsOf(list []activity.Record) []string {
	var fields []string
	for _, l := range list {
		for _, c := range l.Changes {
			if !slices.Contains(fields, c.Field) {
				fields = append(fields, c.Field)
			}
		}
	}
	return fields
}

func (u *undoing) changedSince(e activity.Record, fields []string, last activity.Record) error {
	by, err := u.ActorOf(last)
	if err != nil {
		return err
	}
	return &UndoRefusal{EventID: e.ID, Reason: ReasonChangedSince, Fields: fields, ChangedBy: by}
}

// fieldsChanged refuses because fields have other values than the entry left, and names who changed them last.
func (u *undoing) fieldsChanged(e activity.Record, fields []string) error {
	later, err := u.LaterEntries(e.SubjectID, e.Seq)
	if err != nil {
		return err
	}
	for _, l := range slices.Backward(later) {
		if slices.ContainsFunc(l.Changes, func(c activity.Change) bool { return slices.Contains(fields, c.Field) }) {
			return u.changedSince(e, fields, l)
		}
	}
	return &UndoRefusal{EventID: e.ID, Reason: ReasonChangedSince, Fields: fields}
}

// reversed is the entry's changes the other way round.
func reversed(list []activity.Change) []activity.Change {
	out := make([]activity.Change, len(list))
	for i, c := range list {
		out[i] = activity.Change{Field: c.Field, From: c.To, To: c.From}
	}
	return out
}
