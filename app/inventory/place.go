package inventory

import (
	"cmp"
	"slices"
	"time"
)

// Kinds of place every location has. Unplaced is the system's own.
const (
	KindRoom     = "room"
	KindUnplaced = "unplaced"
)

// UnplacedName is the name of the place for things that were put nowhere.
const UnplacedName = "Unplaced"

// Orders of the places directly inside another.
const (
	OrderCustom = "custom"
	OrderName   = "name"
	OrderKind   = "kind"
)

const maxPlaceDepth = 10

// Place is a place as it is kept. No parent means the top of the location.
type Place struct {
	ID         string
	LocationID string
	ShortCode  string
	ParentID   string
	Kind       string
	Name       string
	NameKey    string
	ChildOrder string
	Position   int
	Custom     map[string]any
	IsUnplaced bool
	RowVersion int
	CreatedAt  time.Time
	UpdatedAt  time.Time
}

// PlaceKind is a kind of place, built in or a location's own.
type PlaceKind struct {
	Key    string
	Fields []FieldDef
}

// sortPlaces orders siblings (KE-68); Unplaced comes last whatever the order.
func sortPlaces(list []*Place, order string) {
	slices.SortFunc(list, func(a, b *Place) int {
		if a.IsUnplaced != b.IsUnplaced {
			return boolOrder(a.IsUnplaced)
		}
		byName := cmp.Or(cmp.Compare(a.NameKey, b.NameKey), cmp.Compare(a.ID, b.ID))
		switch order {
		case OrderCustom:
			return cmp.Or(cmp.Compare(a.Position, b.Position), byName)
		case OrderKind:
			return cmp.Or(cmp.Compare(a.Kind, b.Kind), byName)
		default:
			return byName
		}
	})
}

func boolOrder(last bool) int {
	if last {
		return 1
	}
	return -1
}

// placePath gives the names from the top down to the place itself. known holds the place and all above it.
func placePath(known map[string]*Place, id string) []string {
	var path []string
	for range maxPlaceDepth + 1 {
		p := known[id]
		if p == nil {
			break
		}
		path = append(path, p.Name)
		id = p.ParentID
	}
	slices.Reverse(path)
	return path
}

// placeDepth counts the levels from the top down to the place.
func placeDepth(known map[string]*Place, id string) int { return len(placePath(known, id)) }

func placeRef(known map[string]*Place, p *Place) PlaceRef {
	return PlaceRef{ID: p.ID, ShortCode: p.ShortCode, LocationID: p.LocationID, Kind: p.Kind, Name: p.Name, Path: placePath(known, p.ID)}
}
