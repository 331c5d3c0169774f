package db

import (
	"encoding/json"
	"fmt"
	"time"

	"gatehouse/app/inventory"
)

type typeRow struct {
	ID           string `gorm:"primaryKey"`
	LocationID   *string
	Key          string
	Name         string
	NameKey      string
	Fields       jsonText
	IsContainer  bool
	IsConsumable bool
}

func (typeRow) TableName() string { return "types" }

// Types gives the built-in types and those of the locations.
func (t *inventoryTx) Types(locations []string) ([]inventory.Type, error) {
	var rows []typeRow
	err := t.g.Where("location_id IS NULL OR location_id IN ?", onlyIDs(locations)).Order("name_key, id").Find(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("read types: %w", err)
	}
	out := make([]inventory.Type, len(rows))
	for i, r := range rows {
		out[i] = inventory.Type{
			Named: inventory.Named{ID: r.ID, Name: r.Name}, LocationID: deref(r.LocationID), Key: r.Key, NameKey: r.NameKey,
			IsContainer: r.IsContainer, IsConsumable: r.IsConsumable,
		}
		if err := json.Unmarshal(r.Fields, &out[i].Fields); err != nil {
			return nil, fmt.Errorf("decode fields: %w", err)
		}
	}
	return out, nil
}

type cataloguedRow struct {
	ID         string
	LocationID string
	Name       string
	NameKey    string
}

// Brands gives a location's brands by id or name key.
func (t *inventoryTx) Brands(locationID string, ids, nameKeys []string) ([]inventory.Catalogued, error) {
	return t.catalogued("brands", []string{locationID}, ids, nameKeys)
}

// Tags gives the locations' tags by id or name key.
func (t *inventoryTx) Tags(locations []string, ids, nameKeys []string) ([]inventory.Catalogued, error) {
	return t.catalogued("tags", locations, ids, nameKeys)
}

func (t *inventoryTx) catalogued(table string, locations, ids, nameKeys []string) ([]inventory.Catalogued, error) {
	var rows []cataloguedRow
	ids, locations = onlyIDs(ids), onlyIDs(locations)
	if len(locations) == 0 || len(ids)+len(nameKeys) == 0 {
		return nil, nil
	}
	g := t.g.Table(table).Where("location_id IN ?", locations)
	switch {
	case len(ids) == 0:
		g = g.Where("name_key IN ?", nameKeys)
	case len(nameKeys) == 0:
		g = g.Where("id IN ?", ids)
	default:
		g = g.Where("(id IN ? OR name_key IN ?)", ids, nameKeys)
	}
	if err := g.Order("name_key, id").Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("read %s: %w", table, err)
	}
	out := make([]inventory.Catalogued, len(rows))
	for i, r := range rows {
		out[i] = inventory.Catalogued{Named: inventory.Named{ID: r.ID, Name: r.Name}, LocationID: r.LocationID, NameKey: r.NameKey}
	}
	return out, nil
}

// CountTags counts a location's tags.
func (t *inventoryTx) CountTags(locationID string) (int, error) {
	var n int64
	if err := t.g.Table("tags").Where("location_id = ?", locationID).Count(&n).Error; err != nil {
		return 0, fmt.Errorf("count tags: %w", err)
	}
	return int(n), nil
}

type tagRow struct {
	ID         string `gorm:"primaryKey"`
	LocationID string
	Name       string
	NameKey    string
	RowVersion int
	CreatedAt  Timestamp
	UpdatedAt  Timestamp
}

func (tagRow) TableName() string { return "tags" }

// InsertTag stores a new tag.
func (t *inventoryTx) InsertTag(tag inventory.Catalogued, when time.Time) error {
	w := at(when)
	row := tagRow{ID: tag.ID, LocationID: tag.LocationID, Name: tag.Name, NameKey: tag.NameKey, RowVersion: 1, CreatedAt: w, UpdatedAt: w}
	if err := t.g.Create(&row).Error; err != nil {
		return fmt.Errorf("insert tag: %w", err)
	}
	return nil
}
