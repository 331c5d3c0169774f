package db

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"gatehouse/app/account"
)

// FactorsOf implements account.FactorStore.
func (d *DB) FactorsOf(ctx context.Context, userID string) (*account.Factors, error) {
	if !isID(userID) {
		return nil, account.ErrNotFound
	}
	var f account.Factors
	var confirmed *Timestamp
	row := d.r(ctx).Raw(`SELECT u.password_hash <> '', u.password_short,
		(SELECT a.confirmed_at FROM authenticators a WHERE a.user_id = u.id),
		(SELECT count(*) FROM recovery_codes r WHERE r.user_id = u.id AND r.used_at IS NULL)
		FROM users u WHERE u.id = ?`, userID).Row()
	if err := row.Scan(&f.Password, &f.ShortPassword, &confirmed, &f.RecoveryCodes); err != nil {
		return nil, fmt.Errorf("read factors: %w", err)
	}
	f.CodesSince = confirmed.ptr()
	var err error
	f.Passkeys, err = d.PasskeysOf(ctx, userID)
	return &f, err
}

// changeFactors runs one step of a change of factors: with the person's row locked, while the session that makes the
// change is still there. Afterwards everything that acts for the person ends, and the session goes on.
func (d *DB) changeFactors(ctx context.Context, c account.FactorChange, do func(tx *gorm.DB, u *userRow) error) error {
	return d.tx(ctx, func(tx *gorm.DB) error {
		u, err := d.lockUser(tx, c.UserID)
		if err != nil {
			return err
		}
		if c.Through != "" {
			res := tx.Exec(`UPDATE sessions SET updated_at = ? WHERE id = ? AND user_id = ?`, d.ts(c.At), c.Through, c.UserID)
			if err := one(res, account.ErrNotFound); err != nil {
				return err
			}
		}
		if err := do(tx, u); err != nil {
			return err
		}
		return d.startOver(tx, c.UserID, c.Session, c.At)
	})
}

// startOver ends everything that acts for a person and opens the session that goes on, if any.
func (d *DB) startOver(tx *gorm.DB, userID string, session *account.NewSession, now time.Time) error {
	if err := d.endAccess(tx, userID, "", account.TokenEndedByUser, now); err != nil {
		return err
	}
	if session == nil {
		return nil
	}
	return insertSession(tx, *session)
}

func insertSession(tx *gorm.DB, n account.NewSession) error {
	if err := tx.Create(newSessionRow(n)).Error; err != nil {
		return fmt.Errorf("insert session: %w", err)
	}
	return nil
}

// DropPassword implements account.FactorStore.
func (d *DB) DropPassword(ctx context.Context, c account.FactorChange) error {
	return d.changeFactors(ctx, c, func(tx *gorm.DB, _ *userRow) error {
		if err := dropPassword(tx, c.UserID); err != nil {
			return err
		}
		left, err := waysIn(tx, c.UserID)
		if err == nil && left.Passkeys == 0 {
			err = account.ErrLastFactor
		}
		return err
	})
}

func dropPassword(tx *gorm.DB, userID string) error {
	err := tx.Exec(`UPDATE users SET password_hash = '', password_short = ? WHERE id = ?`, false, userID).Error
	if err != nil {
		return fmt.Errorf("drop password: %w", err)
	}
	return nil
}

// ResetFactors implements account.FactorStore. A disabled person's can be reset as well.
func (d *DB) ResetFactors(ctx context.Context, userID string, passkeys bool, now time.Time) (password bool, err error) {
	if !isID(userID) {
		return false, account.ErrNotFound
	}
	err = d.tx(ctx, func(tx *gorm.DB) error {
		u, err := first[userRow](d.locked(tx).Where("id = ?", userID))
		if err != nil {
			return err
		}
		password = u.PasswordHash != "" && !u.PasswordShort
		if u.PasswordShort {
			if err := dropPassword(tx, userID); err != nil {
				return err
			}
		}
		if err := forgetFactors(tx, userID, passkeys); err != nil {
			return err
		}
		return d.endAccess(tx, userID, "", account.TokenEndedByAdmin, now)
	})
	return password && err == nil, err
}

// forgetFactors removes a person's authenticator app and recovery codes, and their passkeys when asked.
func forgetFactors(tx *gorm.DB, userID string, passkeys bool) error {
	tables := []string{"authenticators", "recovery_codes"}
	if passkeys {
		tables = append(tables, "passkeys")
	}
	for _, table := range tables {
		if err := tx.Exec(`DELETE FROM `+table+` WHERE user_id = ?`, userID).Error; err != nil {
			return fmt.Errorf("forget factors: %w", err)
		}
	}
	return nil
}

// SweepFactors implements account.FactorStore. An authenticator app that was never confirmed is forgotten after a day.
func (d *DB) SweepFactors(ctx context.Context, now time.Time) error {
	for _, step := range []struct {
		text   string
		before time.Time
	}{
		{expired("pending_sign_ins", "hash"), now},
		{expired("passkey_ceremonies", "hash"), now},
		{`DELETE FROM authenticators WHERE id IN (SELECT id FROM authenticators WHERE confirmed_at IS NULL AND created_at < ? LIMIT 1000)`, now.Add(-24 * time.Hour)},
	} {
		if _, err := d.deleteSome(ctx, step.text, step.before); err != nil {
			return err
		}
	}
	return nil
}
