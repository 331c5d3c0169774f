package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"gatehouse/app/account"
)

// linkRow is a one-time link of kind setup or reset.
type linkRow struct {
	ID        string `gorm:"primaryKey"`
	Kind      string
	UserID    *string
	TokenHash []byte
	ExpiresAt Timestamp
	UsedAt    *Timestamp
	CreatedAt Timestamp `gorm:"autoCreateTime:false"`
	UpdatedAt Timestamp `gorm:"autoUpdateTime:false"`
}

// TableName names the table.
func (linkRow) TableName() string { return "one_time_links" }

const noPerson = `NOT EXISTS (SELECT 1 FROM users)`

// AddSetupLink implements account.LinkStore.
func (d *DB) AddSetupLink(ctx context.Context, l account.Link, keep int) (made bool, err error) {
	err = d.tx(ctx, func(tx *gorm.DB) error {
		made = false
		if err := d.lockSetup(tx); err != nil {
			return err
		}
		var empty bool
		if err := tx.Raw(`SELECT ` + noPerson).Scan(&empty).Error; err != nil {
			return fmt.Errorf("look for people: %w", err)
		}
		if !empty {
			return nil
		}
		err := tx.Exec(`DELETE FROM one_time_links WHERE kind = 'setup' AND (used_at IS NOT NULL OR expires_at <= ? OR id NOT IN
			(SELECT id FROM one_time_links WHERE kind = 'setup' ORDER BY created_at DESC, id DESC LIMIT ?))`, d.ts(l.CreatedAt), keep-1).Error
		if err != nil {
			return fmt.Errorf("withdraw setup links: %w", err)
		}
		made = true
		return insertLink(tx, "setup", l)
	})
	return made && err == nil, err
}

// setupLock is the key of Postgres' advisory lock on the question whether there is a person.
const setupLock = 0x67687365

// lockSetup makes what depends on there being no person happen one after the other. SQLite writes one by one anyway.
func (d *DB) lockSetup(tx *gorm.DB) error {
	if d.dialect != Postgres {
		return nil
	}
	if err := tx.Exec(`SELECT pg_advisory_xact_lock(?)`, setupLock).Error; err != nil {
		return fmt.Errorf("lock setup: %w", err)
	}
	return nil
}

// ReplaceResetLink implements account.LinkStore.
func (d *DB) ReplaceResetLink(ctx context.Context, l account.Link) error {
	return d.tx(ctx, func(tx *gorm.DB) error {
		if _, err := d.lockUser(tx, l.UserID); err != nil {
			return err
		}
		if err := tx.Exec(`DELETE FROM one_time_links WHERE kind = 'reset' AND user_id = ?`, l.UserID).Error; err != nil {
			return fmt.Errorf("withdraw reset links: %w", err)
		}
		return insertLink(tx, "reset", l)
	})
}

func insertLink(tx *gorm.DB, kind string, l account.Link) error {
	row := linkRow{ID: l.ID, Kind: kind, TokenHash: l.TokenHash, ExpiresAt: at(l.ExpiresAt), CreatedAt: at(l.CreatedAt), UpdatedAt: at(l.CreatedAt)}
	if l.UserID != "" {
		row.UserID = &l.UserID
	}
	if err := tx.Create(&row).Error; err != nil {
		return fmt.Errorf("insert link: %w", err)
	}
	return nil
}

// SetupLinkOpen implements account.LinkStore.
func (d *DB) SetupLinkOpen(ctx context.Context, hash []byte, now time.Time) error {
	var open bool
	err := d.queryRow(ctx, `SELECT EXISTS (SELECT 1 FROM one_time_links WHERE kind = 'setup' AND token_hash = ? AND used_at IS NULL AND expires_at > ?)
		AND `+noPerson, []any{hash, d.ts(now)}, &open)
	if err != nil {
		return fmt.Errorf("read setup link: %w", err)
	}
	if !open {
		return account.ErrLinkGone
	}
	return nil
}

// ResetLinkOpen implements account.LinkStore.
func (d *DB) ResetLinkOpen(ctx context.Context, hash []byte, now time.Time) (*account.Person, error) {
	var id string
	err := d.queryRow(ctx, `SELECT u.id FROM one_time_links o JOIN users u ON u.id = o.user_id
		WHERE o.kind = 'reset' AND o.token_hash = ? AND o.used_at IS NULL AND o.expires_at > ? AND u.disabled_at IS NULL`,
		[]any{hash, d.ts(now)}, &id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, account.ErrLinkGone
	}
	if err != nil {
		return nil, fmt.Errorf("read reset link: %w", err)
	}
	return d.PersonByID(ctx, id)
}

// CompleteSetup implements account.LinkStore.
func (d *DB) CompleteSetup(ctx context.Context, hash []byte, c account.Credentials, first account.FirstLocation) error {
	return d.tx(ctx, func(tx *gorm.DB) error {
		if err := d.lockSetup(tx); err != nil {
			return err
		}
		now := d.ts(c.CreatedAt)
		res := tx.Exec(`UPDATE one_time_links SET used_at = ?, updated_at = ?
			WHERE kind = 'setup' AND token_hash = ? AND used_at IS NULL AND expires_at > ? AND `+noPerson, now, now, hash, now)
		if err := one(res, account.ErrLinkGone); err != nil {
			return err
		}
		return d.insertPerson(tx, c, first)
	})
}

// CompleteReset implements account.LinkStore.
func (d *DB) CompleteReset(ctx context.Context, hash []byte, c account.PasswordChange) error {
	return d.tx(ctx, func(tx *gorm.DB) error {
		now := d.ts(c.At)
		res := tx.Exec(`UPDATE one_time_links SET used_at = ?, updated_at = ?
			WHERE kind = 'reset' AND token_hash = ? AND user_id = ? AND used_at IS NULL AND expires_at > ?`, now, now, hash, c.UserID, now)
		if err := one(res, account.ErrLinkGone); err != nil {
			return err
		}
		if err := d.changePassword(tx, c); errors.Is(err, account.ErrNotFound) {
			return account.ErrLinkGone
		} else if err != nil {
			return err
		}
		return nil
	})
}
