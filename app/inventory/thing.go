package inventory

import (
	"slices"
	"time"
)

// Lifecycles of a thing.
const (
	LifecycleInUse = "in_use"
)

// lifecycles are the values of lifecycle (inventory value lists).
var lifecycles = []string{"in_use", "sold", "given_away", "lost", "disposed", "stolen", "destroyed", "returned_to_owner"}

// The states derived from what is known about a thing.
const (
	StateUncertain = "uncertain"
	StateEnded     = "ended"
	StateLent      = "lent"
	StateBorrowed  = "borrowed"
	StateInRepair  = "in_repair"
	StateLowStock  = "low_stock"
)

var states = []string{StateUncertain, StateEnded, StateLent, StateBorrowed, StateInRepair, StateLowStock}

// conditions are the values of condition.
var conditions = []string{"new", "good", "fair", "poor", "broken"}

// uncertainAfter is the time after which a place nobody confirmed is doubtful.
const uncertainAfter = 365 * 24 * time.Hour

// Bounds of a thing.
const (
	maxQuantity       = 100_000
	maxAliases        = 20
	maxThingTags      = 20
	maxLocationTags   = 500
	maxContainerDepth = 8
)

// Thing is a thing as it is kept. It is in exactly one place or one container.
type Thing struct {
	ID          string
	LocationID  string
	ShortCode   string
	Name        string
	NameKey     string
	PlaceID     string
	ContainerID string
	Quantity    int
	Aliases     []string
	Type        *Named
	Brand       *Named
	Model       string
	Serial      string
	Notes       string
	Condition   string
	Tags        []Named
	Custom      map[string]any
	IsContainer bool
	AcquiredOn  string
	Value       *Money
	Minimum     *int
	Lifecycle   string
	LastSeenAt  *time.Time
	PlacedAt    time.Time
	SplitFromID string
	CreatedBy   string
	RowVersion  int
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// Holder is what a thing is directly in: a place or a container.
type Holder struct {
	PlaceID     string
	ContainerID string
}

// Holder gives where the thing is.
func (t *Thing) Holder() Holder { return Holder{PlaceID: t.PlaceID, ContainerID: t.ContainerID} }

func (t *Thing) typeID() string { return idOf(t.Type) }

func (t *Thing) brandID() string { return idOf(t.Brand) }

func (t *Thing) tagIDs() []string { return idsOf(t.Tags) }

func idOf(n *Named) string {
	if n == nil {
		return ""
	}
	return n.ID
}

func nameOf(n *Named) string {
	if n == nil {
		return ""
	}
	return n.Name
}

func idsOf(list []Named) []string {
	out := make([]string, len(list))
	for i, n := range list {
		out[i] = n.ID
	}
	return out
}

func namesOf(list []Named) []string {
	out := make([]string, len(list))
	for i, n := range list {
		out[i] = n.Name
	}
	return out
}

// doubtful reports whether nobody has confirmed the thing's place for a year.
func (t *Thing) doubtful(now time.Time) bool {
	latest := t.PlacedAt
	for _, at := range []*time.Time{t.LastSeenAt, &t.CreatedAt} {
		if at != nil && at.After(latest) {
			latest = *at
		}
	}
	return now.Sub(latest) > uncertainAfter
}

// clone copies the thing so that changes leave the original alone.
func (t *Thing) clone() *Thing {
	c := *t
	c.Aliases, c.Tags = slices.Clone(t.Aliases), slices.Clone(t.Tags)
	c.Custom = map[string]any{}
	for k, v := range t.Custom {
		c.Custom[k] = v
	}
	return &c
}

// Purchase is how a thing was bought: its line and the purchase the line is on.
type Purchase struct {
	ID          string
	LineID      string
	LocationID  string
	ThingID     string
	PurchasedOn string
	Seller      string
	Reference   string
	Price       *Money
	RowVersion  int
}
