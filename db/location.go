package db

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"gorm.io/gorm"

	"gatehouse/app/account"
	"gatehouse/app/home"
)

// locationRow is a location.
type locationRow struct {
	ID              string `gorm:"primaryKey"`
	Name            string
	TimeZone        string
	Currency        string
	Currencies      string
	ViewerSeesMoney bool
	Require2FA      bool `gorm:"column:require_2fa"`
	ChildOrder      string
	Preset          string
	RowVersion      int64
	DeletedAt       *Timestamp
	CreatedAt       Timestamp `gorm:"autoCreateTime:false"`
	UpdatedAt       Timestamp `gorm:"autoUpdateTime:false"`
}

// TableName names the table.
func (locationRow) TableName() string { return "locations" }

func (r *locationRow) location() home.Location {
	return home.Location{
		ID: r.ID, Name: r.Name, TimeZone: r.TimeZone, Currency: r.Currency, Currencies: codes(r.Currencies), ViewerSeesMoney: r.ViewerSeesMoney,
		Require2FA: r.Require2FA, ChildOrder: r.ChildOrder, Preset: r.Preset, RowVersion: r.RowVersion, CreatedAt: r.CreatedAt.T,
	}
}

// InsertLocation implements home.LocationStore.
func (d *DB) InsertLocation(ctx context.Context, l home.Location, ownerID string, modules []string, limit int) error {
	return d.tx(ctx, func(tx *gorm.DB) error {
		if _, err := d.lockUser(tx, ownerID); err != nil {
			return err
		}
		n, err := countLocations(tx, ownerID)
		if err != nil {
			return err
		}
		if n >= limit {
			return home.ErrTooManyLocations
		}
		return d.insertLocation(tx, l, ownerID, modules)
	})
}

func countLocations(tx *gorm.DB, userID string) (int, error) {
	var n int
	err := tx.Raw(`SELECT count(*) FROM members m JOIN locations l ON l.id = m.location_id WHERE m.user_id = ? AND l.deleted_at IS NULL`, userID).Scan(&n).Error
	if err != nil {
		return 0, fmt.Errorf("count locations: %w", err)
	}
	return n, nil
}

// insertLocation writes a location with its owner and modules.
func (d *DB) insertLocation(tx *gorm.DB, l home.Location, ownerID string, modules []string) error {
	currencies, err := json.Marshal(l.Currencies)
	if err != nil {
		return fmt.Errorf("insert location: %w", err)
	}
	now := at(l.CreatedAt)
	row := locationRow{
		ID: l.ID, Name: l.Name, TimeZone: l.TimeZone, Currency: l.Currency, Currencies: string(currencies), ViewerSeesMoney: l.ViewerSeesMoney,
		Require2FA: l.Require2FA, ChildOrder: l.ChildOrder, Preset: l.Preset, RowVersion: l.RowVersion, CreatedAt: now, UpdatedAt: now,
	}
	if err := tx.Create(&row).Error; err != nil {
		return fmt.Errorf("insert location: %w", err)
	}
	if err := tx.Create(&memberRow{LocationID: l.ID, UserID: ownerID, Role: string(home.Owner), JoinedAt: now, CreatedAt: now, UpdatedAt: now}).Error; err != nil {
		return fmt.Errorf("insert owner: %w", err)
	}
	set := map[string]bool{}
	for _, m := range modules {
		set[m] = true
	}
	if err := d.createUnplaced(tx, l.ID, l.CreatedAt); err != nil {
		return err
	}
	return d.setModules(tx, l.ID, ownerID, set, l.CreatedAt)
}

// lockLocation locks a location's row until the transaction ends; account.ErrNotFound when it is not there or deleted.
func (d *DB) lockLocation(tx *gorm.DB, id string) error {
	if !isID(id) {
		return account.ErrNotFound
	}
	if _, err := first[locationRow](d.locked(tx).Where("id = ? AND deleted_at IS NULL", id)); err != nil {
		return fmt.Errorf("lock location: %w", err)
	}
	return nil
}

// LocationsOf implements home.LocationStore.
func (d *DB) LocationsOf(ctx context.Context, userID string) ([]home.Membership, error) {
	if !isID(userID) {
		return nil, nil
	}
	var rows []struct {
		Of   locationRow `gorm:"embedded"`
		Role string
	}
	err := d.r(ctx).Table("locations l").Select("l.*, m.role").Joins("JOIN members m ON m.location_id = l.id").
		Where("m.user_id = ? AND l.deleted_at IS NULL", userID).Order("l.id").Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("list locations: %w", err)
	}
	out := make([]home.Membership, len(rows))
	for i := range rows {
		out[i] = home.Membership{Location: rows[i].Of.location(), Role: home.Role(rows[i].Role)}
	}
	return out, nil
}

// touchLocation counts a change of a location's settings.
func (d *DB) touchLocation(tx *gorm.DB, id string, now time.Time) error {
	err := tx.Exec(`UPDATE locations SET row_version = row_version + 1, updated_at = ? WHERE id = ?`, d.ts(now), id).Error
	if err != nil {
		return fmt.Errorf("count change of location: %w", err)
	}
	return nil
}
