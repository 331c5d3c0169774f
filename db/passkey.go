package db

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"gatehouse/app/account"
)

// passkeyRow is one registered passkey.
type passkeyRow struct {
	ID             string `gorm:"primaryKey"`
	UserID         string
	Name           string
	CredentialID   []byte
	PublicKey      []byte
	AAGUID         []byte `gorm:"column:aaguid"`
	Transports     string
	SignCount      int64
	BackupEligible bool
	BackedUp       bool
	WentBackAt     *Timestamp
	LastUsedAt     *Timestamp
	CreatedAt      Timestamp `gorm:"autoCreateTime:false"`
}

// TableName names the table.
func (passkeyRow) TableName() string { return "passkeys" }

func (r *passkeyRow) passkey() account.Passkey {
	return account.Passkey{
		ID: r.ID, UserID: r.UserID, Name: r.Name, CredentialID: r.CredentialID, PublicKey: r.PublicKey, AAGUID: r.AAGUID,
		Transports: splitWords(r.Transports), SignCount: uint32(r.SignCount), BackupEligible: r.BackupEligible, BackedUp: r.BackedUp,
		WentBackAt: r.WentBackAt.ptr(), LastUsedAt: r.LastUsedAt.ptr(), CreatedAt: r.CreatedAt.T,
	}
}

// ceremonyRow is a question put to an authenticator.
type ceremonyRow struct {
	Hash      []byte `gorm:"primaryKey"`
	Kind      string
	UserID    *string
	Browser   []byte
	Data      []byte
	ExpiresAt Timestamp
	CreatedAt Timestamp `gorm:"autoCreateTime:false"`
}

// TableName names the table.
func (ceremonyRow) TableName() string { return "passkey_ceremonies" }

// InsertCeremony implements account.PasskeyStore.
func (d *DB) InsertCeremony(ctx context.Context, c account.Ceremony) error {
	row := ceremonyRow{Hash: c.Hash, Kind: c.Kind, Browser: c.Browser, Data: c.Data, ExpiresAt: at(c.ExpiresAt), CreatedAt: at(c.CreatedAt)}
	if c.UserID != "" {
		row.UserID = &c.UserID
	}
	if err := d.w(ctx).Create(&row).Error; err != nil {
		return fmt.Errorf("insert passkey ceremony: %w", err)
	}
	return nil
}

// TakeCeremony implements account.PasskeyStore.
func (d *DB) TakeCeremony(ctx context.Context, hash []byte, kind string, browser []byte, now time.Time) (*account.Ceremony, error) {
	var out *account.Ceremony
	err := d.tx(ctx, func(tx *gorm.DB) error {
		row, err := first[ceremonyRow](tx.Where("hash = ? AND kind = ? AND browser = ? AND expires_at > ?", hash, kind, browser, d.ts(now)))
		if err != nil {
			return err
		}
		if err := one(tx.Exec(`DELETE FROM passkey_ceremonies WHERE hash = ?`, hash), account.ErrNotFound); err != nil {
			return err
		}
		out = &account.Ceremony{Hash: row.Hash, Kind: row.Kind, UserID: deref(row.UserID), Browser: row.Browser, Data: row.Data,
			CreatedAt: row.CreatedAt.T, ExpiresAt: row.ExpiresAt.T}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("take passkey ceremony: %w", err)
	}
	return out, nil
}

// UserHandle implements account.PasskeyStore.
func (d *DB) UserHandle(ctx context.Context, userID string, fresh []byte) ([]byte, error) {
	if !isID(userID) {
		return nil, account.ErrNotFound
	}
	var handle []byte
	err := d.tx(ctx, func(tx *gorm.DB) error {
		if err := tx.Exec(`UPDATE users SET user_handle = ? WHERE id = ? AND user_handle IS NULL`, fresh, userID).Error; err != nil {
			return err
		}
		return tx.Raw(`SELECT user_handle FROM users WHERE id = ?`, userID).Row().Scan(&handle)
	})
	if err != nil {
		return nil, fmt.Errorf("read user handle: %w", err)
	}
	return handle, nil
}

// PersonByHandle implements account.PasskeyStore.
func (d *DB) PersonByHandle(ctx context.Context, handle []byte) (*account.Person, error) {
	if len(handle) == 0 {
		return nil, account.ErrNotFound
	}
	row, err := first[userRow](d.r(ctx).Where("user_handle = ? AND disabled_at IS NULL", handle))
	if err != nil {
		return nil, fmt.Errorf("read person: %w", err)
	}
	p := row.person()
	return &p, nil
}

// PasskeysOf implements account.PasskeyStore.
func (d *DB) PasskeysOf(ctx context.Context, userID string) ([]account.Passkey, error) {
	if !isID(userID) {
		return nil, nil
	}
	var rows []passkeyRow
	if err := d.r(ctx).Where("user_id = ?", userID).Order("created_at, id").Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("list passkeys: %w", err)
	}
	out := make([]account.Passkey, len(rows))
	for i := range rows {
		out[i] = rows[i].passkey()
	}
	return out, nil
}

// AddPasskey implements account.PasskeyStore.
func (d *DB) AddPasskey(ctx context.Context, p account.Passkey, most int, c account.FactorChange) error {
	if p.AAGUID == nil {
		p.AAGUID = []byte{}
	}
	return d.changeFactors(ctx, c, func(tx *gorm.DB, _ *userRow) error {
		left, err := waysIn(tx, c.UserID)
		if err != nil {
			return err
		}
		if left.Passkeys >= most {
			return account.ErrTooManyPasskeys
		}
		err = tx.Create(&passkeyRow{
			ID: p.ID, UserID: c.UserID, Name: p.Name, CredentialID: p.CredentialID, PublicKey: p.PublicKey, AAGUID: p.AAGUID,
			Transports: joinWords(p.Transports), SignCount: int64(p.SignCount), BackupEligible: p.BackupEligible, BackedUp: p.BackedUp, CreatedAt: at(p.CreatedAt),
		}).Error
		if isUnique(err) {
			return account.ErrPasskeyKnown
		}
		if err != nil {
			return fmt.Errorf("insert passkey: %w", err)
		}
		return nil
	})
}

// RenamePasskey implements account.PasskeyStore.
func (d *DB) RenamePasskey(ctx context.Context, userID, id, name string) error {
	if !isID(userID) || !isID(id) {
		return account.ErrNotFound
	}
	return one(d.w(ctx).Exec(`UPDATE passkeys SET name = ? WHERE id = ? AND user_id = ?`, name, id, userID), account.ErrNotFound)
}

// RemovePasskey implements account.PasskeyStore.
func (d *DB) RemovePasskey(ctx context.Context, id string, c account.FactorChange) error {
	if !isID(id) {
		return account.ErrNotFound
	}
	return d.changeFactors(ctx, c, func(tx *gorm.DB, _ *userRow) error {
		if err := one(tx.Exec(`DELETE FROM passkeys WHERE id = ? AND user_id = ?`, id, c.UserID), account.ErrNotFound); err != nil {
			return err
		}
		left, err := waysIn(tx, c.UserID)
		if err == nil && !left.Any() {
			err = account.ErrLastFactor
		}
		return err
	})
}

// SignInByPasskey implements account.PasskeyStore.
func (d *DB) SignInByPasskey(ctx context.Context, use account.PasskeyUse, n account.NewSession) error {
	return d.tx(ctx, func(tx *gorm.DB) error {
		if err := d.usePasskey(tx, use); err != nil {
			return err
		}
		return insertSession(tx, n)
	})
}

// usePasskey writes a use down, with the person's row locked. The counter never goes down: two uses can cross.
func (d *DB) usePasskey(tx *gorm.DB, use account.PasskeyUse) error {
	if _, err := d.lockUser(tx, use.UserID); err != nil {
		return err
	}
	now := d.ts(use.At)
	res := tx.Exec(`UPDATE passkeys SET sign_count = CASE WHEN sign_count > ? THEN sign_count ELSE ? END, backed_up = ?, last_used_at = ?
		WHERE id = ? AND user_id = ?`, use.SignCount, use.SignCount, use.BackedUp, now, use.PasskeyID, use.UserID)
	if err := one(res, account.ErrNotFound); err != nil {
		return err
	}
	if !use.WentBack {
		return nil
	}
	return one(tx.Exec(`UPDATE passkeys SET went_back_at = ? WHERE id = ?`, now, use.PasskeyID), account.ErrNotFound)
}
