package activity

import (
	"fmt"
	"time"
)

// Log collects the entries of one write while its transaction runs. It is made anew when the transaction is tried again.
type Log struct {
	newID   func() (string, error)
	entries []Entry
}

// NewLog makes an empty log that names its entries with newID.
func NewLog(newID func() (string, error)) *Log { return &Log{newID: newID} }

// Add appends an entry and returns its id.
func (l *Log) Add(e Entry) (string, error) {
	var err error
	if e.ID, err = l.newID(); err != nil {
		return "", err
	}
	l.entries = append(l.entries, e)
	return e.ID, nil
}

// Records turns the collected entries into the records to store, numbered from first.
func (l *Log) Records(b Batch, first int64) []Record {
	out := make([]Record, len(l.entries))
	for i, e := range l.entries {
		out[i] = Record{Entry: e, Seq: first + int64(i), At: b.At, LocationID: b.LocationID, BatchID: b.ID, Actor: b.Actor, UndoUntil: undoUntil(b.At, e)}
	}
	return out
}

func undoUntil(at time.Time, e Entry) *time.Time {
	if e.Undo == nil {
		return nil
	}
	t := at.Add(UndoFor)
	return &t
}

// Len is the number of collected entries.
func (l *Log) Len() int { return len(l.entries) }

// Check reports an entry that could not be stored: without action or subject, or a companion of an entry that is not in
// the same log.
func (l *Log) Check() error {
	seen := map[string]bool{}
	for _, e := range l.entries {
		if e.Action == "" || e.SubjectType == "" || e.SubjectID == "" {
			return fmt.Errorf("activity: entry %q has no action or subject", e.Action)
		}
		if e.CompanionOf != "" && !seen[e.CompanionOf] {
			return fmt.Errorf("activity: %s belongs to an entry that is not before it in its batch", e.Action)
		}
		seen[e.ID] = true
	}
	return nil
}
