package db

import (
	"context"
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm"

	"gatehouse/app/account"
)

// contains is the pattern of LIKE … ESCAPE '\' for a part of a text that was made lower case.
func contains(part string) string {
	return "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(strings.ToLower(part)) + "%"
}

// ListPeople implements account.AdministrationStore.
func (d *DB) ListPeople(ctx context.Context, f account.PeopleFilter) ([]account.Person, error) {
	if !isText(f.Text) {
		return nil, nil
	}
	q := d.r(ctx).Order("email").Limit(f.Limit).Offset(f.Offset)
	if f.Text != "" {
		q = q.Where(`lower(email) LIKE ? ESCAPE '\' OR lower(name) LIKE ? ESCAPE '\'`, contains(f.Text), contains(f.Text))
	}
	if f.Administrators {
		q = q.Where("is_admin")
	}
	if f.Disabled {
		q = q.Where("disabled_at IS NOT NULL")
	}
	var rows []userRow
	if err := q.Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("list people: %w", err)
	}
	out := make([]account.Person, len(rows))
	for i := range rows {
		out[i] = rows[i].person()
	}
	return out, nil
}

// SetAdministrator implements account.AdministrationStore.
func (d *DB) SetAdministrator(ctx context.Context, id string, admin bool, now time.Time) error {
	if !isID(id) {
		return account.ErrNotFound
	}
	return d.tx(ctx, func(tx *gorm.DB) error {
		last, err := d.lastAdministrator(tx, id)
		if err != nil {
			return err
		}
		if last && !admin {
			return account.ErrLastAdmin
		}
		if err := tx.Exec(`UPDATE users SET is_admin = ?, updated_at = ? WHERE id = ?`, admin, d.ts(now), id).Error; err != nil {
			return fmt.Errorf("change administrator: %w", err)
		}
		return nil
	})
}

// lastAdministrator reports whether the person is the only administrator who can sign in; account.ErrNotFound when there
// is no such person. Administrators are locked in order, so that two who go at once do not leave none.
func (d *DB) lastAdministrator(tx *gorm.DB, id string) (bool, error) {
	var admins []userRow
	if err := d.locked(tx).Where("id = ? OR is_admin AND disabled_at IS NULL AND deletion_due_at IS NULL", id).Order("id").Find(&admins).Error; err != nil {
		return false, fmt.Errorf("read administrators: %w", err)
	}
	found, others, admin := false, 0, false
	for _, a := range admins {
		if a.ID == id {
			found, admin = true, a.IsAdmin && a.DisabledAt == nil
		} else {
			others++
		}
	}
	if !found {
		return false, account.ErrNotFound
	}
	return admin && others == 0, nil
}
