package db

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"gatehouse/app/account"
	"gatehouse/app/home"
)

// userRow is a person.
type userRow struct {
	ID                string `gorm:"primaryKey"`
	Email             string
	Name              string
	Locale            string
	IsAdmin           bool
	PasswordHash      string
	PasswordChangedAt Timestamp
	PasswordShort     bool
	DisabledAt        *Timestamp
	EmailVerifiedAt   *Timestamp
	DeletionDueAt     *Timestamp
	CreatedAt         Timestamp `gorm:"autoCreateTime:false"`
	UpdatedAt         Timestamp `gorm:"autoUpdateTime:false"`
}

// TableName names the table.
func (userRow) TableName() string { return "users" }

func (r *userRow) person() account.Person {
	return account.Person{
		ID: r.ID, Email: r.Email, Name: r.Name, Locale: r.Locale, Admin: r.IsAdmin, DisabledAt: r.DisabledAt.ptr(),
		EmailVerifiedAt: r.EmailVerifiedAt.ptr(), DeletionDueAt: r.DeletionDueAt.ptr(),
		PasswordChangedAt: r.PasswordChangedAt.T, CreatedAt: r.CreatedAt.T,
	}
}

// InsertPerson implements account.PersonStore.
func (d *DB) InsertPerson(ctx context.Context, c account.Credentials, first account.FirstLocation) error {
	return d.tx(ctx, func(tx *gorm.DB) error {
		if err := d.lockSetup(tx); err != nil {
			return err
		}
		if err := tx.Exec(`DELETE FROM one_time_links WHERE kind = 'setup'`).Error; err != nil {
			return fmt.Errorf("withdraw setup links: %w", err)
		}
		return d.insertPerson(tx, c, first)
	})
}

func (d *DB) insertPerson(tx *gorm.DB, c account.Credentials, first account.FirstLocation) error {
	row := userRow{
		ID: c.ID, Email: c.Email, Name: c.Name, Locale: c.Locale, IsAdmin: c.Admin, PasswordHash: c.PasswordHash,
		PasswordChangedAt: at(c.PasswordChangedAt), CreatedAt: at(c.CreatedAt), UpdatedAt: at(c.CreatedAt),
	}
	if v := c.EmailVerifiedAt; v != nil {
		t := at(*v)
		row.EmailVerifiedAt = &t
	}
	if err := tx.Create(&row).Error; isUnique(err) {
		return account.ErrEmailTaken
	} else if err != nil {
		return fmt.Errorf("insert person: %w", err)
	}
	if first.ID == "" { // they come into somebody else's
		return nil
	}
	modules, _ := home.PresetModules(home.DefaultPreset)
	l := home.StartLocation(first.ID, first.Name, first.TimeZone, first.Currency, c.CreatedAt)
	return d.insertLocation(tx, l, c.ID, modules)
}

// PersonByID implements account.PersonStore.
func (d *DB) PersonByID(ctx context.Context, id string) (*account.Person, error) {
	if !isID(id) {
		return nil, account.ErrNotFound
	}
	row, err := first[userRow](d.r(ctx).Where("id = ?", id))
	if err != nil {
		return nil, fmt.Errorf("read person: %w", err)
	}
	p := row.person()
	return &p, nil
}

// CredentialsByEmail implements account.PersonStore.
func (d *DB) CredentialsByEmail(ctx context.Context, email string) (*account.Credentials, error) {
	if !isText(email) {
		return nil, account.ErrNotFound
	}
	row, err := first[userRow](d.r(ctx).Where("email = ?", email))
	if err != nil {
		return nil, fmt.Errorf("read person: %w", err)
	}
	return &account.Credentials{Person: row.person(), PasswordHash: row.PasswordHash}, nil
}

// People implements account.PersonStore.
func (d *DB) People(ctx context.Context) ([]account.Person, error) {
	var rows []userRow
	if err := d.r(ctx).Order("email").Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("list people: %w", err)
	}
	out := make([]account.Person, len(rows))
	for i := range rows {
		out[i] = rows[i].person()
	}
	return out, nil
}

// DisablePerson implements account.PersonStore.
func (d *DB) DisablePerson(ctx context.Context, id string, now time.Time) error {
	if !isID(id) {
		return account.ErrNotFound
	}
	return d.tx(ctx, func(tx *gorm.DB) error {
		last, err := d.lastAdministrator(tx, id)
		if err != nil {
			return err
		}
		if last {
			return account.ErrLastAdmin
		}
		err = tx.Exec(`UPDATE users SET disabled_at = ?, updated_at = ? WHERE id = ? AND disabled_at IS NULL`, d.ts(now), d.ts(now), id).Error
		if err != nil {
			return fmt.Errorf("disable person: %w", err)
		}
		return d.endAccess(tx, id, "", account.TokenEndedByAdmin, now)
	})
}

// EnablePerson implements account.PersonStore.
func (d *DB) EnablePerson(ctx context.Context, id string, now time.Time) error {
	if !isID(id) {
		return account.ErrNotFound
	}
	res := d.w(ctx).Exec(`UPDATE users SET disabled_at = NULL, updated_at = ? WHERE id = ?`, d.ts(now), id)
	return one(res, account.ErrNotFound)
}

// endAccess ends everything that acts for a person: sessions but the one to keep, personal tokens, connections, and
// codes on their way to become one. reason is account.TokenEndedByUser or account.TokenEndedByAdmin; connections use the
// same words.
//
// The order closes the gaps for what is under way: a decision holds its session, so its code is there before codes go;
// a redemption holds its code, so its connection is there before connections end. Tokens are made under the person's
// lock, which the caller holds.
func (d *DB) endAccess(tx *gorm.DB, userID, keepSession, reason string, now time.Time) error {
	steps := []struct {
		text string
		args []any
	}{
		{`DELETE FROM sessions WHERE user_id = ? AND CAST(id AS text) <> ?`, []any{userID, keepSession}},
		{`DELETE FROM one_time_links WHERE user_id = ?`, []any{userID}},
		{`DELETE FROM pending_sign_ins WHERE user_id = ?`, []any{userID}},
		{`DELETE FROM passkey_ceremonies WHERE user_id = ?`, []any{userID}},
		{`DELETE FROM address_links WHERE user_id = ?`, []any{userID}},
		{`UPDATE personal_tokens SET revoked_at = ?, revoked_reason = ?, updated_at = ?
			WHERE user_id = ? AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)`,
			[]any{d.ts(now), reason, d.ts(now), userID, d.ts(now)}},
		{`DELETE FROM authorization_codes WHERE user_id = ? AND used_at IS NULL`, []any{userID}},
		{`DELETE FROM device_requests WHERE user_id = ? AND used_at IS NULL`, []any{userID}},
		{`UPDATE connections SET ended_at = ?, ended_reason = ? WHERE user_id = ? AND ended_at IS NULL`, []any{d.ts(now), reason, userID}},
	}
	for _, s := range steps {
		if err := tx.Exec(s.text, s.args...).Error; err != nil {
			return fmt.Errorf("end access of a person: %w", err)
		}
	}
	return nil
}

// lockUser locks an enabled person's row until the transaction ends; account.ErrNotFound when there is none.
func (d *DB) lockUser(tx *gorm.DB, id string) (*userRow, error) {
	if !isID(id) {
		return nil, account.ErrNotFound
	}
	row, err := first[userRow](d.locked(tx).Where("id = ? AND disabled_at IS NULL", id))
	if err != nil {
		return nil, fmt.Errorf("lock person: %w", err)
	}
	return row, nil
}

// locked makes a query lock the rows it reads. SQLite needs no lock: a write transaction is alone.
func (d *DB) locked(tx *gorm.DB) *gorm.DB {
	if d.dialect != Postgres {
		return tx
	}
	return tx.Clauses(clause.Locking{Strength: "NO KEY UPDATE"})
}

// first reads one row; account.ErrNotFound when there is none.
func first[Row any](q *gorm.DB) (*Row, error) {
	var row Row
	err := q.Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return nil, account.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	return &row, nil
}
