package inventory

import (
	"time"

	"gatehouse/app/activity"
)

// ThingRef names a thing and where it is: Path goes from the top place down to its holder.
type ThingRef struct {
	ID         string
	ShortCode  string
	LocationID string
	Name       string
	Aliases    []string
	Path       []string
}

// PlaceRef names a place; Path goes from the top down to the place itself.
type PlaceRef struct {
	ID         string
	ShortCode  string
	LocationID string
	Kind       string
	Name       string
	Path       []string
}

// ThingSummary is a thing in a list.
type ThingSummary struct {
	ThingRef
	Quantity   int
	Lifecycle  string
	States     []string
	LastSeenAt *time.Time
}

// Named is a row with a name: a type, a brand, a tag.
type Named struct {
	ID   string
	Name string
}

// ThingDetail is all that is known about a thing. Parts of modules that are off and money the reader may not see are nil.
type ThingDetail struct {
	ThingSummary
	Type        *Named
	Brand       *Named
	Condition   string
	PlaceID     string
	ContainerID string
	IsContainer bool
	Minimum     *int
	AcquiredOn  string
	RowVersion  int
	CreatedAt   time.Time
	UpdatedAt   time.Time
	Value       *Money
	Purchase    *PurchaseView
	// Attachments is the number of files.
	Attachments int
	Model       string
	Serial      string
	Notes       string
	Tags        []Named
	Custom      map[string]any
	URL         string
}

// PurchaseView is how a thing was bought.
type PurchaseView struct {
	ID          string
	PurchasedOn string
	Seller      string
	Reference   string
	Price       *Money
}

// Paging asks for one page: up to Limit entries after a position that an earlier page gave.
type Paging struct {
	After string
	Limit int
}

// Page is one page of a list. Positions[i] continues after Items[i]; More says that something follows the last.
type Page[T any] struct {
	Items     []T
	Positions []string
	More      bool
}

// SearchInput is a search for things. An empty query lists what passes the filters, by name.
type SearchInput struct {
	Query   string
	Type    string
	PlaceID string
	Tag     string
	// Status is a lifecycle or a state.
	Status string
	Paging
}

// How a hit was found.
const (
	MatchedByCode    = "code"
	MatchedByKeyword = "keyword"
)

// SearchHit is a found thing.
type SearchHit struct {
	ThingSummary
	MatchedBy string
}

// SearchResult is a page of hits. Incomplete says that more things matched than are scored.
type SearchResult struct {
	Page[SearchHit]
	Incomplete bool
}

// WhereHit is a thing and whether its place can be relied on.
type WhereHit struct {
	ThingSummary
	Uncertain bool
}

// ContentsInput names a place or a container; neither means the top of the location. Depth 0 counts as 1.
type ContentsInput struct {
	PlaceID     string
	ContainerID string
	Depth       int
	Paging
}

// ContentsItem is a place or a thing at some depth below the parent.
type ContentsItem struct {
	Depth       int
	Place       *PlaceRef
	Thing       *ThingRef
	Quantity    int
	IsContainer bool
}

// ContentsResult is a page of what is inside. At most one of the parents is set; both nil is the top of the location.
type ContentsResult struct {
	ParentPlace *PlaceRef
	ParentThing *ThingRef
	Page[ContentsItem]
	// Truncated says that the walk stopped early.
	Truncated bool
}

// AddResult is what became of the added things.
type AddResult struct {
	activity.Receipt
	// Things are in the order of the items.
	Things []ThingRef
	// Places are those made by this call.
	Places []PlaceRef
	Placed []Placed
	NotSet []NotSet
}

// Where an added thing went.
const (
	PlacedFound    = "found"
	PlacedCreated  = "created"
	PlacedUnplaced = "unplaced"
)

// Placed says where an item went; Place is an index into AddResult.Places for a created one.
type Placed struct {
	Item   int
	Status string
	Place  *int
}

// NotSet is a type or brand nobody knows here; the thing was saved without it (KE-29).
type NotSet struct {
	Item  int
	Field string
	Value string
}

// UpdateResult is a thing after a change. ChangedFields is empty when nothing changed.
type UpdateResult struct {
	activity.Receipt
	Thing         ThingRef
	ChangedFields []string
	RowVersion    int
	PurchaseID    string
}

// MoveResult is the part that moved, and the thing it was split from, if it was.
type MoveResult struct {
	activity.Receipt
	Thing     ThingRef
	SplitFrom string
}

// PlaceResult is a place after a change.
type PlaceResult struct {
	activity.Receipt
	Place PlaceRef
}
