package db

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"gorm.io/gorm/clause"

	"gatehouse/app/activity"
	"gatehouse/app/inventory"
)

type aliasRow struct {
	ThingID  string `gorm:"primaryKey"`
	Position int    `gorm:"primaryKey"`
	Alias    string
	AliasKey string
}

func (aliasRow) TableName() string { return "thing_aliases" }

type thingTagRow struct {
	ThingID string `gorm:"primaryKey"`
	TagID   string `gorm:"primaryKey"`
}

func (thingTagRow) TableName() string { return "thing_tags" }

// InsertThing stores a new thing with its aliases and tags.
func (t *inventoryTx) InsertThing(thing *inventory.Thing) error {
	row, err := thingRowOf(thing)
	if err != nil {
		return err
	}
	if err := t.g.Create(&row).Error; err != nil {
		return fmt.Errorf("insert thing: %w", err)
	}
	return t.insertParts(thing)
}

// UpdateThing writes all fields of a thing whose stored version is one less.
func (t *inventoryTx) UpdateThing(thing *inventory.Thing) error {
	row, err := thingRowOf(thing)
	if err != nil {
		return err
	}
	res := t.g.Model(&thingRow{}).Where("id = ? AND row_version = ?", thing.ID, thing.RowVersion-1).Where(liveThing).
		Select("*").Omit("id", "location_id", "created_at", "created_by").Updates(&row)
	if err := one(res, inventory.ErrNotFound); err != nil {
		return fmt.Errorf("update thing: %w", err)
	}
	if err := t.g.Where("thing_id = ?", thing.ID).Delete(&aliasRow{}).Error; err != nil {
		return fmt.Errorf("update aliases: %w", err)
	}
	if err := t.g.Where("thing_id = ?", thing.ID).Delete(&thingTagRow{}).Error; err != nil {
		return fmt.Errorf("update tags: %w", err)
	}
	return t.insertParts(thing)
}

func (t *inventoryTx) insertParts(thing *inventory.Thing) error {
	var aliases []aliasRow
	for i, a := range thing.Aliases {
		aliases = append(aliases, aliasRow{ThingID: thing.ID, Position: i, Alias: a, AliasKey: inventory.NameKey(a)})
	}
	if len(aliases) > 0 {
		if err := t.g.Create(&aliases).Error; err != nil {
			return fmt.Errorf("insert aliases: %w", err)
		}
	}
	var tags []thingTagRow
	for _, g := range thing.Tags {
		tags = append(tags, thingTagRow{ThingID: thing.ID, TagID: g.ID})
	}
	if len(tags) > 0 {
		if err := t.g.Create(&tags).Error; err != nil {
			return fmt.Errorf("insert tags: %w", err)
		}
	}
	return nil
}

type purchaseRow struct {
	ID          string `gorm:"primaryKey"`
	LocationID  string
	PurchasedOn dateColumn
	Seller      string
	Reference   string
	RowVersion  int
	CreatedAt   Timestamp `gorm:"<-:create"`
	UpdatedAt   Timestamp
}

func (purchaseRow) TableName() string { return "purchases" }

type purchaseLineRow struct {
	ID            string `gorm:"primaryKey"`
	LocationID    string
	PurchaseID    string
	ThingID       string
	PriceAmount   *int64
	PriceCurrency *string
	CreatedAt     Timestamp `gorm:"<-:create"`
	UpdatedAt     Timestamp
}

func (purchaseLineRow) TableName() string { return "purchase_lines" }

// PurchaseOf gives a thing's purchase.
func (t *inventoryTx) PurchaseOf(thingID string) (*inventory.Purchase, error) {
	var lines []purchaseLineRow
	if err := t.g.Where("thing_id = ?", thingID).Find(&lines).Error; err != nil {
		return nil, fmt.Errorf("read purchase: %w", err)
	}
	if len(lines) == 0 {
		return nil, inventory.ErrNotFound
	}
	l := lines[0]
	var p purchaseRow
	if err := t.g.Where("id = ?", l.PurchaseID).Take(&p).Error; err != nil {
		return nil, fmt.Errorf("read purchase: %w", err)
	}
	return &inventory.Purchase{
		ID: p.ID, LineID: l.ID, LocationID: p.LocationID, ThingID: thingID, PurchasedOn: string(p.PurchasedOn), Seller: p.Seller,
		Reference: p.Reference, Price: moneyOf(l.PriceAmount, l.PriceCurrency), RowVersion: p.RowVersion,
	}, nil
}

// SavePurchase stores a purchase and the thing's line on it, new or changed.
func (t *inventoryTx) SavePurchase(p *inventory.Purchase, when time.Time) error {
	w := at(when)
	row := purchaseRow{
		ID: p.ID, LocationID: p.LocationID, PurchasedOn: dateColumn(p.PurchasedOn), Seller: p.Seller, Reference: p.Reference,
		RowVersion: p.RowVersion, CreatedAt: w, UpdatedAt: w,
	}
	upsert := clause.OnConflict{Columns: []clause.Column{{Name: "id"}}, UpdateAll: true}
	if err := t.g.Clauses(upsert).Create(&row).Error; err != nil {
		return fmt.Errorf("save purchase: %w", err)
	}
	line := purchaseLineRow{ID: p.LineID, LocationID: p.LocationID, PurchaseID: p.ID, ThingID: p.ThingID, CreatedAt: w, UpdatedAt: w}
	line.PriceAmount, line.PriceCurrency = moneyColumns(p.Price)
	if err := t.g.Clauses(upsert).Create(&line).Error; err != nil {
		return fmt.Errorf("save purchase line: %w", err)
	}
	return nil
}

// ChangedSince gives the fields of a subject that changed after its version, and who changed it last.
func (t *inventoryTx) ChangedSince(subjectID string, version int) ([]string, *inventory.ActorRef, error) {
	var rows []eventRow
	err := t.g.Where("subject_id = ? AND subject_version > ?", subjectID, version).Order("seq").Find(&rows).Error
	if err != nil {
		return nil, nil, fmt.Errorf("read events: %w", err)
	}
	var fields []string
	for _, r := range rows {
		var changes []activity.Change
		if err := json.Unmarshal(r.Changes, &changes); err != nil {
			return nil, nil, fmt.Errorf("decode changes: %w", err)
		}
		for _, c := range changes {
			fields = append(fields, c.Field)
		}
	}
	slices.Sort(fields)
	if len(rows) == 0 {
		return nil, nil, nil
	}
	by, err := t.actor(&rows[len(rows)-1])
	return slices.Compact(fields), by, err
}

// actor names who made an event: the person, or the connection, token or add-on they acted through.
func (t *inventoryTx) actor(e *eventRow) (*inventory.ActorRef, error) {
	ref := &inventory.ActorRef{Type: e.ActorType}
	for _, id := range []*string{e.ConnectionID, e.TokenID, e.AddonID, e.UserID} {
		if id != nil {
			ref.ID = *id
			break
		}
	}
	if e.UserID == nil {
		return ref, nil
	}
	var names []string
	if err := t.g.Table("users").Where("id = ?", *e.UserID).Pluck("name", &names).Error; err != nil {
		return nil, fmt.Errorf("read person: %w", err)
	}
	if len(names) > 0 {
		ref.Name = names[0]
	}
	return ref, nil
}
