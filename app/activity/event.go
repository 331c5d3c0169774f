package activity

import (
	"encoding/json"
	"errors"
	"time"
)

// UndoFor is how long an entry can be undone (KE-87).
const UndoFor = 7 * 24 * time.Hour

// ErrNoLocation says that the location of a batch does not exist or is deleted.
var ErrNoLocation = errors.New("no such location")

// ActorType says what acted.
type ActorType string

// The kinds of actor.
const (
	ActorUser       ActorType = "user"
	ActorConnection ActorType = "connection"
	ActorToken      ActorType = "token"
	ActorAddon      ActorType = "addon"
	ActorSystem     ActorType = "system"
)

// Actor is who made a batch of changes: always the person, where there is one, and the connection, token or add-on
// through which they acted (KE-138).
type Actor struct {
	Type         ActorType
	UserID       string
	ConnectionID string
	TokenID      string
	AddonID      string
	// Via is the door: web, rest, mcp, console, addon or system.
	Via       string
	IP        string
	RequestID string
}

// Batch is one write to one location. All its entries share the id, the time and the actor.
type Batch struct {
	ID         string
	LocationID string
	Actor      Actor
	At         time.Time
}

// Subject types.
const (
	Thing = "thing"
	Place = "place"
	Tag   = "tag"
)

// Change is one field that differs. A secret field carries no values.
type Change struct {
	Field  string `json:"field"`
	From   any    `json:"from,omitempty"`
	To     any    `json:"to,omitempty"`
	Secret bool   `json:"secret,omitempty"`
}

// Entry is what a write reports to the log.
type Entry struct {
	ID          string
	Action      string
	SubjectType string
	SubjectID   string
	// SubjectVersion is the subject's row version after the write, 0 where it has none.
	SubjectVersion int
	RelatedID      string
	// CompanionOf is the main entry this one belongs to; empty for a main entry.
	CompanionOf string
	Changes     []Change
	// Undo is what an undo needs to know; nil makes the entry final.
	Undo json.RawMessage
	// UndoOf is the entry that this one undid; empty for all but an undo.
	UndoOf string
}

// Record is a stored entry.
type Record struct {
	Entry
	Seq        int64
	At         time.Time
	LocationID string
	BatchID    string
	Actor      Actor
	UndoUntil  *time.Time
	UndoneBy   string
}

// Receipt is what every write hands back about its entries: the ids of those that can be undone, in order, and until
// when; all main entries and nil when none can; nothing when nothing changed (KE-143).
type Receipt struct {
	AuditEventIDs []string
	UndoUntil     *time.Time
}

// ReceiptOf sums up the records of one batch. Companions are undone with their main entry and are left out.
func ReceiptOf(records []Record) Receipt {
	r := Receipt{AuditEventIDs: []string{}}
	var all []string
	for _, rec := range records {
		if rec.CompanionOf != "" {
			continue
		}
		all = append(all, rec.ID)
		if rec.UndoUntil != nil {
			r.AuditEventIDs = append(r.AuditEventIDs, rec.ID)
			r.UndoUntil = rec.UndoUntil
		}
	}
	if len(r.AuditEventIDs) == 0 && len(all) > 0 {
		r.AuditEventIDs = all
	}
	return r
}
