package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"gorm.io/gorm"

	"gatehouse/app/account"
	"gatehouse/app/home"
)

// EnabledModules implements home.ModuleStore.
func (d *DB) EnabledModules(ctx context.Context, locationID, userID string) ([]string, home.Role, error) {
	if !isID(locationID) || !isID(userID) {
		return nil, "", account.ErrNotFound
	}
	var role, list string
	err := d.queryRow(ctx, `SELECT m.role, COALESCE(`+enabledModules+`, '') FROM members m JOIN locations l ON l.id = m.location_id
		WHERE l.id = ? AND m.user_id = ? AND l.deleted_at IS NULL`, []any{locationID, userID}, &role, &list)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, "", account.ErrNotFound
	}
	if err != nil {
		return nil, "", fmt.Errorf("read modules: %w", err)
	}
	return splitWords(list), home.Role(role), nil
}

// enabledModules selects the names of the enabled modules of a location l, between spaces.
const enabledModules = `(SELECT string_agg(lm.module, ' ') FROM location_modules lm WHERE lm.location_id = l.id AND lm.enabled)`

// ChangeModules implements home.ModuleStore.
func (d *DB) ChangeModules(ctx context.Context, locationID, userID string, now time.Time, decide func(home.Role) (home.ModuleChange, error)) error {
	if !isID(userID) {
		return account.ErrNotFound
	}
	return d.tx(ctx, func(tx *gorm.DB) error {
		if err := d.lockLocation(tx, locationID); err != nil {
			return err
		}
		m, err := first[memberRow](tx.Where("location_id = ? AND user_id = ?", locationID, userID))
		if err != nil {
			return fmt.Errorf("read member: %w", err)
		}
		change, err := decide(home.Role(m.Role))
		if err != nil {
			return err
		}
		if err := d.setModules(tx, locationID, userID, change.Set, now); err != nil {
			return err
		}
		if change.Preset != "" {
			if err := tx.Exec(`UPDATE locations SET preset = ? WHERE id = ?`, change.Preset, locationID).Error; err != nil {
				return fmt.Errorf("note preset: %w", err)
			}
		}
		return d.touchLocation(tx, locationID, now)
	})
}

func (d *DB) setModules(tx *gorm.DB, locationID, userID string, set map[string]bool, now time.Time) error {
	for _, module := range slices.Sorted(maps.Keys(set)) {
		err := tx.Exec(`INSERT INTO location_modules (location_id, module, enabled, changed_at, changed_by) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (location_id, module) DO UPDATE
			SET enabled = excluded.enabled, changed_at = excluded.changed_at, changed_by = excluded.changed_by
			WHERE location_modules.enabled <> excluded.enabled`, locationID, module, set[module], d.ts(now), userID).Error
		if err != nil {
			return fmt.Errorf("set module: %w", err)
		}
	}
	return nil
}
