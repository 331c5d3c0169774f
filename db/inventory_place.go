package db

import (
	"encoding/json"
	"fmt"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"gatehouse/app/activity"
	"gatehouse/app/inventory"
)

type placeRow struct {
	ID         string `gorm:"primaryKey"`
	LocationID string
	ShortCode  string
	ParentID   *string
	Kind       string
	Name       string
	NameKey    string
	ChildOrder string
	Position   int
	Custom     jsonText
	IsUnplaced bool
	RowVersion int
	CreatedAt  Timestamp
	UpdatedAt  Timestamp
}

func (placeRow) TableName() string { return "places" }

func placeRowOf(p *inventory.Place) (placeRow, error) {
	custom, err := customText(p.Custom)
	return placeRow{
		ID: p.ID, LocationID: p.LocationID, ShortCode: p.ShortCode, ParentID: nullable(p.ParentID), Kind: p.Kind, Name: p.Name,
		NameKey: p.NameKey, ChildOrder: p.ChildOrder, Position: p.Position, Custom: custom, IsUnplaced: p.IsUnplaced,
		RowVersion: p.RowVersion, CreatedAt: at(p.CreatedAt), UpdatedAt: at(p.UpdatedAt),
	}, err
}

func (r *placeRow) place() (*inventory.Place, error) {
	custom, err := customOf(r.Custom)
	return &inventory.Place{
		ID: r.ID, LocationID: r.LocationID, ShortCode: r.ShortCode, ParentID: deref(r.ParentID), Kind: r.Kind, Name: r.Name,
		NameKey: r.NameKey, ChildOrder: r.ChildOrder, Position: r.Position, Custom: custom, IsUnplaced: r.IsUnplaced,
		RowVersion: r.RowVersion, CreatedAt: r.CreatedAt.T, UpdatedAt: r.UpdatedAt.T,
	}, err
}

func placesOf(rows []placeRow) ([]*inventory.Place, error) {
	out := make([]*inventory.Place, len(rows))
	var err error
	for i := range rows {
		if out[i], err = rows[i].place(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// placesUp walks from places to the top. The rows above a live place are live.
const placesUp = `WITH RECURSIVE up AS (
	SELECT id, parent_id FROM places WHERE id IN ? AND ` + livePlace + `
	UNION
	SELECT p.id, p.parent_id FROM places p JOIN up ON p.id = up.parent_id
) SELECT * FROM places WHERE id IN (SELECT id FROM up)`

// PlacesUp gives the places and all that are above them.
func (t *inventoryTx) PlacesUp(ids []string) (map[string]*inventory.Place, error) {
	out := map[string]*inventory.Place{}
	if ids = onlyIDs(ids); len(ids) == 0 {
		return out, nil
	}
	var rows []placeRow
	if err := t.g.Raw(placesUp, ids).Scan(&rows).Error; err != nil {
		return nil, fmt.Errorf("read places: %w", err)
	}
	places, err := placesOf(rows)
	for _, p := range places {
		out[p.ID] = p
	}
	return out, err
}

// PlacesIn gives the places directly in the parent; no parent means the top.
func (t *inventoryTx) PlacesIn(locationID, parentID string) ([]*inventory.Place, error) {
	var rows []placeRow
	if err := t.inside(locationID, parentID).Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("read places: %w", err)
	}
	return placesOf(rows)
}

func (t *inventoryTx) inside(locationID, parentID string) *gorm.DB {
	g := t.g.Where(livePlace).Where("location_id = ?", locationID)
	if parentID == "" {
		return g.Where("parent_id IS NULL")
	}
	return g.Where("parent_id = ?", parentID)
}

// PlaceNamed gives the place of that name directly in the parent.
func (t *inventoryTx) PlaceNamed(locationID, parentID, nameKey string) (*inventory.Place, error) {
	return firstPlace(t.inside(locationID, parentID).Where("name_key = ?", nameKey))
}

// UnplacedPlace gives the location's place for things that were put nowhere.
func (t *inventoryTx) UnplacedPlace(locationID string) (*inventory.Place, error) {
	return firstPlace(t.g.Where("location_id = ? AND is_unplaced = ?", locationID, true))
}

func firstPlace(g *gorm.DB) (*inventory.Place, error) {
	var rows []placeRow
	if err := g.Limit(1).Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("read place: %w", err)
	}
	if len(rows) == 0 {
		return nil, inventory.ErrNotFound
	}
	return rows[0].place()
}

// TopOrder is the order of the places at the top of the location.
func (t *inventoryTx) TopOrder(locationID string) (string, error) {
	var order []string
	if err := t.g.Table("locations").Where("id = ?", locationID).Pluck("child_order", &order).Error; err != nil {
		return "", fmt.Errorf("read location: %w", err)
	}
	if len(order) == 0 {
		return "", inventory.ErrNotFound
	}
	return order[0], nil
}

// PlaceKind gives a kind, built in or the location's own.
func (t *inventoryTx) PlaceKind(locationID, key string) (*inventory.PlaceKind, error) {
	var rows []struct {
		Key    string
		Fields jsonText
	}
	err := t.g.Table("place_kinds").Where("key = ? AND (location_id IS NULL OR location_id = ?)", key, locationID).Limit(1).Find(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("read kind of place: %w", err)
	}
	if len(rows) == 0 {
		return nil, inventory.ErrNotFound
	}
	k := &inventory.PlaceKind{Key: rows[0].Key}
	if err := json.Unmarshal(rows[0].Fields, &k.Fields); err != nil {
		return nil, fmt.Errorf("decode fields: %w", err)
	}
	return k, nil
}

// InsertPlace stores a new place.
func (t *inventoryTx) InsertPlace(p *inventory.Place) error {
	row, err := placeRowOf(p)
	if err != nil {
		return err
	}
	if err := t.g.Create(&row).Error; err != nil {
		return fmt.Errorf("insert place: %w", err)
	}
	return nil
}

type shortCodeRow struct {
	Code        string `gorm:"primaryKey"`
	SubjectType *string
	SubjectID   *string
	AssignedAt  *Timestamp
	CreatedAt   Timestamp
	UpdatedAt   Timestamp
}

func (shortCodeRow) TableName() string { return "short_codes" }

// ClaimCode takes a code for a subject. A code that was ever given is not given again.
func (t *inventoryTx) ClaimCode(code, subjectType, subjectID string, when time.Time) (bool, error) {
	w := at(when)
	row := shortCodeRow{Code: code, SubjectType: &subjectType, SubjectID: &subjectID, AssignedAt: &w, CreatedAt: w, UpdatedAt: w}
	res := t.g.Clauses(clause.OnConflict{DoNothing: true}).Create(&row)
	if res.Error != nil {
		return false, fmt.Errorf("claim short code: %w", res.Error)
	}
	return res.RowsAffected == 1, nil
}

// createUnplaced gives a new location its place for things that were put nowhere.
func (d *DB) createUnplaced(tx *gorm.DB, locationID string, when time.Time) error {
	t := d.inventoryTx(tx)
	for attempt := range 10 {
		p := inventory.NewUnplaced(locationID, when, attempt)
		free, err := t.ClaimCode(p.ShortCode, activity.Place, p.ID, when)
		if err != nil {
			return err
		}
		if free {
			return t.InsertPlace(p)
		}
	}
	return fmt.Errorf("insert location: no free short code")
}
