package inventory

import (
	"time"

	"gatehouse/app/activity"
)

// EntryReader reads audit entries. Rows in the trash have entries too.
type EntryReader interface {
	// Entries gives the entries of the ids that exist, in no order.
	Entries(ids []string) ([]activity.Record, error)
	// BatchEntries gives the entries of one batch, companions too, by number.
	BatchEntries(batchID string) ([]activity.Record, error)
	// LaterEntries gives the entries about a subject with a number above seq, by number.
	LaterEntries(subjectID string, seq int64) ([]activity.Record, error)
	// ActivityOf gives up to limit main entries made through a connection or token in the locations, the newest first, after
	// the entry named by after. An after that is not such an entry gives none.
	ActivityOf(through Through, locations []string, after string, limit int) ([]activity.Record, error)
	// Undoable gives the main entries that can still be undone by their age and state, the newest first.
	Undoable(q UndoableQuery) ([]activity.Record, error)
	// ActorOf names who made an entry.
	ActorOf(r activity.Record) (*ActorRef, error)
	// SubjectNames gives the names of things and places, also of those in the trash, by id.
	SubjectNames(ids []string) (map[string]string, error)
	// PersonNames gives the names of persons by id.
	PersonNames(ids []string) (map[string]string, error)
}

// Through is the connection or the personal token that a person acted through. Exactly one id is set.
type Through struct {
	ConnectionID string
	TokenID      string
}

// UndoableQuery says whose entries to look for.
type UndoableQuery struct {
	Through Through
	// AnyIn are the locations in which everybody's entries count, OwnIn those in which the person's do.
	AnyIn  []string
	OwnIn  []string
	UserID string
	// Since is the earliest time of an entry; zero for no bound. Now is the time at which it must be undoable.
	Since time.Time
	Now   time.Time
	Limit int
}

// UndoWriter writes what only an undo does.
type UndoWriter interface {
	// ClaimUndo marks an entry as undone by another. It reports false when the entry was undone before.
	ClaimUndo(entryID, undoneBy string) (bool, error)
	// ClaimCompanions marks the companions that are undone with their main entry.
	ClaimCompanions(main activity.Record, undoneBy string) error
	// TrashThing puts a thing whose version is one less than the one given into the trash. It is found no more.
	TrashThing(t *Thing, by string) error
	// TrashPlace is TrashThing for a place.
	TrashPlace(p *Place, by string) error
	// DropPurchase takes a thing's line off its purchase, and the purchase too when no line is left.
	DropPurchase(p *Purchase) error
}
