package inventory

import (
	"context"
	"errors"
	"time"

	"gatehouse/app/activity"
)

// ErrNotFound says that a store has no such live row.
var ErrNotFound = errors.New("not found")

// Store keeps the inventory. Each function runs in one transaction and may run more than once, so it must not change
// anything outside itself before it returns.
type Store interface {
	// ReadInventory runs fn on one unchanging state of the database.
	ReadInventory(ctx context.Context, fn func(Reader) error) error
	// WriteInventory runs fn while no other write to the batch's location runs, and stores the log's entries with it.
	// It gives activity.ErrNoLocation when the location is gone.
	WriteInventory(ctx context.Context, b activity.Batch, log func() *activity.Log, fn func(Writer, *activity.Log) error) ([]activity.Record, error)
}

// Reader reads live rows only: not those in the trash, not those that became something else.
type Reader interface {
	ThingReader
	PlaceReader
	CatalogReader
	SearchReader
	HistoryReader
	EntryReader
}

// Subject is a row found by id or code.
type Subject struct {
	Type       string
	ID         string
	LocationID string
}

// Below is a thing somewhere inside a container; Depth 1 is directly inside.
type Below struct {
	ID    string
	Depth int
}

// ThingReader reads things.
type ThingReader interface {
	// FindSubject gives the live thing or place of an id or code in one of the locations, or ErrNotFound.
	FindSubject(ref Ref, locations []string) (Subject, error)
	Things(ids []string) (map[string]*Thing, error)
	// ThingsIn gives up to limit things directly in the holder, by name.
	ThingsIn(h Holder, limit int) ([]*Thing, error)
	ThingsBelow(containerID string) ([]Below, error)
	// PurchaseOf gives a thing's purchase, or ErrNotFound.
	PurchaseOf(thingID string) (*Purchase, error)
}

// PlaceReader reads places.
type PlaceReader interface {
	// PlacesUp gives the places and all that are above them.
	PlacesUp(ids []string) (map[string]*Place, error)
	// PlacesIn gives the places directly in the parent, in no order; no parent means the top.
	PlacesIn(locationID, parentID string) ([]*Place, error)
	// PlaceNamed gives the place of that name key directly in the parent, or ErrNotFound.
	PlaceNamed(locationID, parentID, nameKey string) (*Place, error)
	UnplacedPlace(locationID string) (*Place, error)
	// TopOrder is the order of the places at the top of the location.
	TopOrder(locationID string) (string, error)
}

// Type is what a thing is: built in or a location's own.
type Type struct {
	Named
	// LocationID is empty for a built-in type.
	LocationID   string
	Key          string
	NameKey      string
	Fields       []FieldDef
	IsContainer  bool
	IsConsumable bool
}

// CatalogReader reads what things refer to. Rows are found by id or by name key.
type CatalogReader interface {
	// Types gives the built-in types and those of the locations.
	Types(locations []string) ([]Type, error)
	Brands(locationID string, ids, nameKeys []string) ([]Catalogued, error)
	Tags(locations []string, ids, nameKeys []string) ([]Catalogued, error)
	CountTags(locationID string) (int, error)
	// PlaceKind gives a kind, built in or the location's own, or ErrNotFound.
	PlaceKind(locationID, key string) (*PlaceKind, error)
}

// Catalogued is a brand or a tag.
type Catalogued struct {
	Named
	LocationID string
	NameKey    string
}

// Filter narrows a search. Empty fields do not.
type Filter struct {
	Locations []string
	// TypeIDs and TagIDs are alternatives; an empty list that is not nil matches nothing.
	TypeIDs []string
	TagIDs  []string
	// PlaceID is a place; all that is below it counts.
	PlaceID   string
	Lifecycle string
	// State is one of the derived states. ConfirmedSince is the time before which a place is doubtful.
	State          string
	ConfirmedSince time.Time
	// StockLocations are those where a low stock counts.
	StockLocations []string
}

// Candidate is a thing that matches all words, with what its score is made of.
type Candidate struct {
	ID         string
	NameKey    string
	Lifecycle  string
	LastSeenAt *time.Time
	// AliasEqual says that an alias is the whole query.
	AliasEqual bool
	Uncertain  bool
	Hits       []Hit
}

// Hit is a token of a thing that some word matches, and the weight of the best field it occurs in.
type Hit struct {
	Token  string
	Weight int
}

// SearchReader finds things.
type SearchReader interface {
	// ListThings gives the ids of things that pass the filter, by name key and id: up to limit after the thing named by
	// after; when that is empty or gone, after the first skip.
	ListThings(f Filter, after string, skip, limit int) ([]string, error)
	// MatchThings gives up to limit things that pass the filter and have all words, by name key and id.
	MatchThings(f Filter, words []Word, queryKey string, limit int) ([]Candidate, error)
	// Passes reports whether one thing passes the filter.
	Passes(f Filter, thingID string) (bool, error)
}

// HistoryReader reads the log.
type HistoryReader interface {
	// ChangedSince gives the fields of a subject that changed after its version, and who changed it last.
	ChangedSince(subjectID string, version int) ([]string, *ActorRef, error)
}

// Writer changes rows inside a transaction.
type Writer interface {
	Reader
	ThingWriter
	PlaceWriter
	UndoWriter
}

// ThingWriter writes things and what hangs on them.
type ThingWriter interface {
	InsertThing(t *Thing) error
	// UpdateThing writes all fields, aliases and tags included, of a row whose version is one less than the thing's.
	UpdateThing(t *Thing) error
	SavePurchase(p *Purchase, at time.Time) error
	InsertTag(tag Catalogued, at time.Time) error
	// IndexThing replaces the tokens under which a thing is found; the values are weights.
	IndexThing(locationID, thingID string, tokens map[string]int) error
}

// PlaceWriter writes places and short codes.
type PlaceWriter interface {
	InsertPlace(p *Place) error
	// ClaimCode takes a code for a subject. It reports false when the code was ever given before.
	ClaimCode(code, subjectType, subjectID string, at time.Time) (bool, error)
}
