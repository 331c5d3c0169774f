package db

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"gatehouse/app/account"
)

// RehashPassword implements account.PasswordStore. A hash that changed meanwhile is left alone.
func (d *DB) RehashPassword(ctx context.Context, userID, oldHash, newHash string) error {
	err := d.w(ctx).Exec(`UPDATE users SET password_hash = ? WHERE id = ? AND password_hash = ?`, newHash, userID, oldHash).Error
	if err != nil {
		return fmt.Errorf("renew password hash: %w", err)
	}
	return nil
}

// ChangePassword implements account.PasswordStore.
func (d *DB) ChangePassword(ctx context.Context, c account.PasswordChange) error {
	return d.tx(ctx, func(tx *gorm.DB) error { return d.changePassword(tx, c) })
}

func (d *DB) changePassword(tx *gorm.DB, c account.PasswordChange) error {
	u, err := d.lockUser(tx, c.UserID)
	if err != nil {
		return err
	}
	if c.OldHash != "" && u.PasswordHash != c.OldHash {
		return account.ErrNotFound
	}
	if c.Forget {
		if err := forgetFactors(tx, c.UserID, true); err != nil {
			return err
		}
	}
	if c.Short {
		on, err := hasCodes(tx, c.UserID)
		if err != nil {
			return err
		}
		if !on {
			return account.ErrShortPassword
		}
	}
	now := d.ts(c.At)
	res := tx.Exec(`UPDATE users SET password_hash = ?, password_short = ?, password_changed_at = ?, updated_at = ? WHERE id = ?`,
		c.NewHash, c.Short, now, now, c.UserID)
	if err := one(res, account.ErrNotFound); err != nil {
		return err
	}
	return d.startOver(tx, c.UserID, c.Session, c.At)
}
