package db

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"gatehouse/app/account"
	"gatehouse/app/home"
)

// DeletionFacts implements account.DeletionStore.
func (d *DB) DeletionFacts(ctx context.Context, userID string) (account.DeletionFacts, error) {
	if !isID(userID) {
		return account.DeletionFacts{}, account.ErrNotFound
	}
	return deletionFacts(d.r(ctx), userID)
}

func deletionFacts(tx *gorm.DB, userID string) (account.DeletionFacts, error) {
	var f account.DeletionFacts
	var rows []struct {
		Name   string
		Others int
	}
	err := tx.Raw(`SELECT l.name, (SELECT count(*) FROM members o WHERE o.location_id = l.id AND o.user_id <> m.user_id) AS others
		FROM members m JOIN locations l ON l.id = m.location_id
		WHERE m.user_id = ? AND m.role = 'owner' AND l.deleted_at IS NULL ORDER BY l.id`, userID).Scan(&rows).Error
	if err != nil {
		return f, fmt.Errorf("read owned locations: %w", err)
	}
	for _, r := range rows {
		if r.Others == 0 {
			f.Alone = append(f.Alone, r.Name)
		} else {
			f.Shared = append(f.Shared, r.Name)
		}
	}
	row := tx.Raw(`SELECT EXISTS (SELECT 1 FROM users WHERE id = ? AND is_admin) AND NOT EXISTS
		(SELECT 1 FROM users WHERE id <> ? AND is_admin AND disabled_at IS NULL AND deletion_due_at IS NULL)`, userID, userID).Row()
	if err := row.Scan(&f.LastAdmin); err != nil {
		return f, fmt.Errorf("read administrators: %w", err)
	}
	return f, nil
}

// lockAdmins locks a person and all administrators in order, so that two who go at once do not leave none.
func (d *DB) lockAdmins(tx *gorm.DB, userID string) error {
	var rows []userRow
	if err := d.locked(tx).Where("id = ? OR is_admin", userID).Order("id").Find(&rows).Error; err != nil {
		return fmt.Errorf("lock administrators: %w", err)
	}
	return nil
}

// RequestDeletion implements account.DeletionStore.
func (d *DB) RequestDeletion(ctx context.Context, userID string, due, now time.Time, decide func(account.DeletionFacts) error) error {
	if !isID(userID) {
		return account.ErrNotFound
	}
	return d.tx(ctx, func(tx *gorm.DB) error {
		if err := d.lockAdmins(tx, userID); err != nil {
			return err
		}
		facts, err := deletionFacts(tx, userID)
		if err != nil {
			return err
		}
		if err := decide(facts); err != nil {
			return err
		}
		res := tx.Exec(`UPDATE users SET deletion_due_at = ?, updated_at = ? WHERE id = ? AND deletion_due_at IS NULL`, d.ts(due), d.ts(now), userID)
		if err := one(res, account.ErrNotFound); err != nil {
			return err
		}
		return d.endAccess(tx, userID, "", account.TokenEndedByUser, now)
	})
}

// KeepPerson implements account.DeletionStore.
func (d *DB) KeepPerson(ctx context.Context, userID string, now time.Time) error {
	if !isID(userID) {
		return account.ErrNotFound
	}
	res := d.w(ctx).Exec(`UPDATE users SET deletion_due_at = NULL, updated_at = ? WHERE id = ? AND deletion_due_at IS NOT NULL`, d.ts(now), userID)
	return one(res, account.ErrNotFound)
}

// DueDeletions implements account.DeletionStore.
func (d *DB) DueDeletions(ctx context.Context, now time.Time) ([]string, error) {
	var ids []string
	err := d.r(ctx).Raw(`SELECT id FROM users WHERE deletion_due_at <= ? ORDER BY deletion_due_at LIMIT 100`, d.ts(now)).Scan(&ids).Error
	return ids, wrap("list due deletions", err)
}

// DeletePerson implements account.DeletionStore. Locations are locked before people, as everywhere.
func (d *DB) DeletePerson(ctx context.Context, userID string, now time.Time) error {
	return d.tx(ctx, func(tx *gorm.DB) error {
		var owned []string
		if err := tx.Raw(`SELECT location_id FROM members WHERE user_id = ? AND role = 'owner' ORDER BY location_id`, userID).Scan(&owned).Error; err != nil {
			return fmt.Errorf("read owned locations: %w", err)
		}
		for _, id := range owned {
			if err := d.lockLocation(tx, id); err != nil && !errors.Is(err, account.ErrNotFound) {
				return err
			}
		}
		if err := d.lockAdmins(tx, userID); err != nil {
			return err
		}
		if _, err := first[userRow](tx.Where("id = ? AND deletion_due_at <= ?", userID, d.ts(now))); err != nil {
			return err
		}
		facts, err := deletionFacts(tx, userID)
		if err != nil {
			return err
		}
		if facts.LastAdmin {
			return account.ErrLastAdmin
		}
		for _, id := range owned {
			if err := d.leaveOwned(tx, id, userID, now); err != nil {
				return err
			}
		}
		return d.deleteUser(tx, userID)
	})
}

func (d *DB) deleteUser(tx *gorm.DB, userID string) error {
	for _, text := range []string{
		`DELETE FROM handshake_attempts WHERE user_id = ?`, // no foreign key
		`DELETE FROM users WHERE id = ?`,
	} {
		if err := tx.Exec(text, userID).Error; err != nil {
			return fmt.Errorf("delete person: %w", err)
		}
	}
	return nil
}

// leaveOwned hands a location to another member, or deletes it when there is none.
func (d *DB) leaveOwned(tx *gorm.DB, locationID, userID string, now time.Time) error {
	list, err := members(tx, locationID)
	if err != nil {
		return err
	}
	heir := ""
	for _, role := range []home.Role{home.Admin, home.Member, home.Viewer} {
		for _, m := range list { // in the order of joining
			if heir == "" && m.Role == role && m.UserID != userID {
				heir = m.UserID
			}
		}
	}
	if heir == "" {
		return deleteLocation(tx, locationID)
	}
	if err := tx.Exec(`DELETE FROM members WHERE location_id = ? AND user_id = ?`, locationID, userID).Error; err != nil {
		return fmt.Errorf("leave location: %w", err)
	}
	res := tx.Exec(`UPDATE members SET role = 'owner', updated_at = ? WHERE location_id = ? AND user_id = ?`, d.ts(now), locationID, heir)
	return one(res, account.ErrNotFound)
}

// deleteLocation deletes a location with everything in it. Things and places refer to one another, so that their order
// counts; a short code stays, since it is never given again.
func deleteLocation(tx *gorm.DB, id string) error {
	for _, text := range []string{
		`UPDATE short_codes SET subject_type = NULL, subject_id = NULL WHERE subject_id IN (SELECT id FROM things WHERE location_id = ?)`,
		`UPDATE short_codes SET subject_type = NULL, subject_id = NULL WHERE subject_id IN (SELECT id FROM places WHERE location_id = ?)`,
		`DELETE FROM things WHERE location_id = ?`,
		`DELETE FROM places WHERE location_id = ?`,
		`DELETE FROM types WHERE location_id = ?`,
		`DELETE FROM brands WHERE location_id = ?`,
		`DELETE FROM locations WHERE id = ?`,
	} {
		if err := tx.Exec(text, id).Error; err != nil {
			return fmt.Errorf("delete location: %w", err)
		}
	}
	return nil
}
