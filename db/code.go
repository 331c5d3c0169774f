package db

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"gatehouse/app/account"
)

// authenticatorRow is a person's authenticator app.
type authenticatorRow struct {
	ID          string `gorm:"primaryKey"`
	UserID      string
	Seed        []byte
	ConfirmedAt *Timestamp
	LastStep    int64
	CreatedAt   Timestamp `gorm:"autoCreateTime:false"`
}

// TableName names the table.
func (authenticatorRow) TableName() string { return "authenticators" }

// AuthenticatorOf implements account.CodeStore.
func (d *DB) AuthenticatorOf(ctx context.Context, userID string) (*account.Authenticator, error) {
	if !isID(userID) {
		return nil, account.ErrNotFound
	}
	row, err := first[authenticatorRow](d.r(ctx).Where("user_id = ?", userID))
	if err != nil {
		return nil, fmt.Errorf("read authenticator: %w", err)
	}
	return &account.Authenticator{ID: row.ID, UserID: row.UserID, Seed: row.Seed, ConfirmedAt: row.ConfirmedAt.ptr(),
		LastStep: row.LastStep, CreatedAt: row.CreatedAt.T}, nil
}

// hasCodes reports whether the person's second factor is on. The caller holds the person's row.
func hasCodes(tx *gorm.DB, userID string) (bool, error) {
	var n int64
	err := tx.Raw(`SELECT count(*) FROM authenticators WHERE user_id = ? AND confirmed_at IS NOT NULL`, userID).Row().Scan(&n)
	if err != nil {
		return false, fmt.Errorf("read authenticator: %w", err)
	}
	return n > 0, nil
}

// BeginAuthenticator implements account.CodeStore.
func (d *DB) BeginAuthenticator(ctx context.Context, a account.Authenticator) error {
	return d.tx(ctx, func(tx *gorm.DB) error {
		if _, err := d.lockUser(tx, a.UserID); err != nil {
			return err
		}
		if err := tx.Exec(`DELETE FROM authenticators WHERE user_id = ? AND confirmed_at IS NULL`, a.UserID).Error; err != nil {
			return fmt.Errorf("replace authenticator: %w", err)
		}
		err := tx.Create(&authenticatorRow{ID: a.ID, UserID: a.UserID, Seed: a.Seed, LastStep: a.LastStep, CreatedAt: at(a.CreatedAt)}).Error
		if isUnique(err) {
			return account.ErrCodesOn
		}
		if err != nil {
			return fmt.Errorf("insert authenticator: %w", err)
		}
		return nil
	})
}

// ConfirmAuthenticator implements account.CodeStore.
func (d *DB) ConfirmAuthenticator(ctx context.Context, id string, step int64, recovery [][]byte, c account.FactorChange) error {
	if !isID(id) {
		return account.ErrWrongCode
	}
	return d.changeFactors(ctx, c, func(tx *gorm.DB, _ *userRow) error {
		res := tx.Exec(`UPDATE authenticators SET confirmed_at = ?, last_step = ? WHERE id = ? AND user_id = ? AND confirmed_at IS NULL AND last_step < ?`,
			d.ts(c.At), step, id, c.UserID, step)
		if err := one(res, account.ErrWrongCode); err != nil {
			return err
		}
		return d.replaceRecovery(tx, c.UserID, recovery, c.At)
	})
}

// RemoveAuthenticator implements account.CodeStore.
func (d *DB) RemoveAuthenticator(ctx context.Context, c account.FactorChange) error {
	return d.changeFactors(ctx, c, func(tx *gorm.DB, u *userRow) error {
		if u.PasswordShort {
			return account.ErrShortPassword
		}
		res := tx.Exec(`DELETE FROM authenticators WHERE user_id = ? AND confirmed_at IS NOT NULL`, c.UserID)
		if err := one(res, account.ErrNotFound); err != nil {
			return err
		}
		return d.replaceRecovery(tx, c.UserID, nil, c.At)
	})
}

// ReplaceRecoveryCodes implements account.CodeStore.
func (d *DB) ReplaceRecoveryCodes(ctx context.Context, userID string, recovery [][]byte, now time.Time) error {
	return d.tx(ctx, func(tx *gorm.DB) error {
		if _, err := d.lockUser(tx, userID); err != nil {
			return err
		}
		on, err := hasCodes(tx, userID)
		if err != nil {
			return err
		}
		if !on {
			return account.ErrNotFound
		}
		return d.replaceRecovery(tx, userID, recovery, now)
	})
}

func (d *DB) replaceRecovery(tx *gorm.DB, userID string, recovery [][]byte, now time.Time) error {
	if err := tx.Exec(`DELETE FROM recovery_codes WHERE user_id = ?`, userID).Error; err != nil {
		return fmt.Errorf("replace recovery codes: %w", err)
	}
	for _, hash := range recovery {
		if err := tx.Exec(`INSERT INTO recovery_codes (user_id, hash, created_at) VALUES (?, ?, ?)`, userID, hash, d.ts(now)).Error; err != nil {
			return fmt.Errorf("insert recovery code: %w", err)
		}
	}
	return nil
}

// useCodeOf uses a code of a person up: each step of an app and each recovery code once, over all processes.
func (d *DB) useCodeOf(tx *gorm.DB, userID string, code account.UsedCode, now time.Time) error {
	if code.RecoveryHash != nil {
		return one(tx.Exec(`UPDATE recovery_codes SET used_at = ? WHERE hash = ? AND user_id = ? AND used_at IS NULL`,
			d.ts(now), code.RecoveryHash, userID), account.ErrWrongCode)
	}
	if !isID(code.AuthenticatorID) {
		return account.ErrWrongCode
	}
	return one(tx.Exec(`UPDATE authenticators SET last_step = ? WHERE id = ? AND user_id = ? AND confirmed_at IS NOT NULL AND last_step < ?`,
		code.Step, code.AuthenticatorID, userID, code.Step), account.ErrWrongCode)
}

// InsertPending implements account.PendingStore.
func (d *DB) InsertPending(ctx context.Context, p account.Pending, passwordHash string) error {
	return d.tx(ctx, func(tx *gorm.DB) error {
		u, err := d.lockUser(tx, p.UserID)
		if err != nil {
			return err
		}
		if u.PasswordHash != passwordHash {
			return account.ErrNotFound
		}
		err = tx.Exec(`INSERT INTO pending_sign_ins (user_id, hash, expires_at, created_at) VALUES (?, ?, ?, ?)`,
			p.UserID, p.Hash, d.ts(p.ExpiresAt), d.ts(p.CreatedAt)).Error
		if err != nil {
			return fmt.Errorf("insert pending sign-in: %w", err)
		}
		return nil
	})
}

// PendingByHash implements account.PendingStore.
func (d *DB) PendingByHash(ctx context.Context, hash []byte, now time.Time) (*account.Person, error) {
	row, err := first[userRow](d.r(ctx).Where(`disabled_at IS NULL AND id IN (SELECT user_id FROM pending_sign_ins WHERE hash = ? AND expires_at > ?)`,
		hash, d.ts(now)))
	if err != nil {
		return nil, fmt.Errorf("read pending sign-in: %w", err)
	}
	p := row.person()
	return &p, nil
}

// CompletePending implements account.PendingStore.
func (d *DB) CompletePending(ctx context.Context, hash []byte, code account.UsedCode, n account.NewSession) error {
	return d.tx(ctx, func(tx *gorm.DB) error {
		if _, err := d.lockUser(tx, n.UserID); err != nil {
			return err
		}
		res := tx.Exec(`DELETE FROM pending_sign_ins WHERE hash = ? AND user_id = ? AND expires_at > ?`, hash, n.UserID, d.ts(n.CreatedAt))
		if err := one(res, account.ErrNotFound); err != nil {
			return err
		}
		if err := d.useCodeOf(tx, n.UserID, code, n.CreatedAt); err != nil {
			return err
		}
		return insertSession(tx, n)
	})
}

// EndPending implements account.PendingStore.
func (d *DB) EndPending(ctx context.Context, hash []byte) error {
	return d.w(ctx).Exec(`DELETE FROM pending_sign_ins WHERE hash = ?`, hash).Error
}
