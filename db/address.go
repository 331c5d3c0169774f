package db

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"gatehouse/app/account"
)

// addressLinkRow is a link that proves an address.
type addressLinkRow struct {
	ID        string `gorm:"primaryKey"`
	Kind      string
	UserID    *string
	Email     string
	TokenHash []byte
	CreatedAt Timestamp `gorm:"autoCreateTime:false"`
	ExpiresAt Timestamp
}

// TableName names the table.
func (addressLinkRow) TableName() string { return "address_links" }

// AddAddressLink implements account.AddressStore.
func (d *DB) AddAddressLink(ctx context.Context, l account.AddressLink) error {
	row := addressLinkRow{ID: l.ID, Kind: "sign_up", Email: l.Email, TokenHash: l.TokenHash, CreatedAt: at(l.CreatedAt), ExpiresAt: at(l.ExpiresAt)}
	return d.tx(ctx, func(tx *gorm.DB) error {
		earlier := tx.Exec(`DELETE FROM address_links WHERE kind = 'sign_up' AND email = ?`, l.Email)
		if l.UserID != "" {
			if _, err := d.lockUser(tx, l.UserID); err != nil {
				return err
			}
			row.Kind, row.UserID = "email_change", &l.UserID
			earlier = tx.Exec(`DELETE FROM address_links WHERE user_id = ?`, l.UserID)
		}
		if earlier.Error != nil {
			return fmt.Errorf("withdraw address links: %w", earlier.Error)
		}
		if err := tx.Create(&row).Error; err != nil {
			return fmt.Errorf("insert address link: %w", err)
		}
		return nil
	})
}

// AddressLinkOpen implements account.AddressStore.
func (d *DB) AddressLinkOpen(ctx context.Context, hash []byte, now time.Time) (*account.AddressLink, error) {
	row, err := first[addressLinkRow](d.r(ctx).Where("token_hash = ? AND expires_at > ?", hash, d.ts(now)))
	if errors.Is(err, account.ErrNotFound) {
		return nil, account.ErrLinkGone
	}
	if err != nil {
		return nil, fmt.Errorf("read address link: %w", err)
	}
	return &account.AddressLink{ID: row.ID, UserID: deref(row.UserID), Email: row.Email, TokenHash: row.TokenHash,
		CreatedAt: row.CreatedAt.T, ExpiresAt: row.ExpiresAt.T}, nil
}

// takeAddressLink uses a link up: whoever deletes its row has it.
func (d *DB) takeAddressLink(tx *gorm.DB, hash []byte, now time.Time) error {
	return one(tx.Exec(`DELETE FROM address_links WHERE token_hash = ? AND expires_at > ?`, hash, d.ts(now)), account.ErrLinkGone)
}

// CompleteSignUp implements account.AddressStore.
func (d *DB) CompleteSignUp(ctx context.Context, hash []byte, c account.Credentials, first account.FirstLocation) error {
	return d.tx(ctx, func(tx *gorm.DB) error {
		if err := d.lockSetup(tx); err != nil {
			return err
		}
		if err := d.takeAddressLink(tx, hash, c.CreatedAt); err != nil {
			return err
		}
		return d.insertPerson(tx, c, first)
	})
}

// CompleteEmailChange implements account.AddressStore. The person is locked before the link is taken, as where access ends.
func (d *DB) CompleteEmailChange(ctx context.Context, hash []byte, l account.AddressLink, keepSession string, now time.Time) error {
	return d.tx(ctx, func(tx *gorm.DB) error {
		if _, err := d.lockUser(tx, l.UserID); errors.Is(err, account.ErrNotFound) {
			return account.ErrLinkGone
		} else if err != nil {
			return err
		}
		if err := d.takeAddressLink(tx, hash, now); err != nil {
			return err
		}
		return d.changeEmail(tx, l.UserID, l.Email, keepSession, account.TokenEndedByUser, now)
	})
}

// ChangeEmail implements account.AddressStore.
func (d *DB) ChangeEmail(ctx context.Context, userID, email, keepSession string, now time.Time) error {
	return d.tx(ctx, func(tx *gorm.DB) error {
		if _, err := first[userRow](d.locked(tx).Where("id = ?", userID)); err != nil {
			return err
		}
		return d.changeEmail(tx, userID, email, keepSession, account.TokenEndedByAdmin, now)
	})
}

func (d *DB) changeEmail(tx *gorm.DB, userID, email, keepSession, reason string, now time.Time) error {
	err := tx.Exec(`UPDATE users SET email = ?, email_verified_at = ?, updated_at = ? WHERE id = ?`, email, d.ts(now), d.ts(now), userID).Error
	if isUnique(err) {
		return account.ErrEmailTaken
	}
	if err != nil {
		return fmt.Errorf("change address: %w", err)
	}
	return d.endAccess(tx, userID, keepSession, reason, now)
}
