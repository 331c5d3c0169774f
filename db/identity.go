package db

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"gatehouse/app/account"
)

// identityRow is who a person is at another server.
type identityRow struct {
	ID         string `gorm:"primaryKey"`
	UserID     string
	Issuer     string
	Tenant     string
	Subject    string
	Email      string
	CreatedAt  Timestamp `gorm:"autoCreateTime:false"`
	LastUsedAt *Timestamp
}

// TableName names the table.
func (identityRow) TableName() string { return "identities" }

func (r *identityRow) identity() *account.Identity {
	return &account.Identity{ID: r.ID, UserID: r.UserID, Issuer: r.Issuer, Tenant: r.Tenant, Subject: r.Subject, Email: r.Email,
		CreatedAt: r.CreatedAt.T, LastUsedAt: r.LastUsedAt.ptr()}
}

// insertIdentity writes an identity that nobody has; it reports false when somebody does.
func (d *DB) insertIdentity(tx *gorm.DB, i account.Identity) (bool, error) {
	res := tx.Exec(`INSERT INTO identities (id, user_id, issuer, tenant, subject, email, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (issuer, tenant, subject) DO NOTHING`, i.ID, i.UserID, i.Issuer, i.Tenant, i.Subject, i.Email, d.ts(i.CreatedAt))
	if res.Error != nil {
		return false, fmt.Errorf("insert identity: %w", res.Error)
	}
	return res.RowsAffected == 1, nil
}

// LinkIdentity implements account.IdentityStore.
func (d *DB) LinkIdentity(ctx context.Context, i account.Identity, keepSession string) (made bool, err error) {
	err = d.tx(ctx, func(tx *gorm.DB) error {
		made = false
		if _, err := d.lockUser(tx, i.UserID); err != nil {
			return err
		}
		fresh, err := d.insertIdentity(tx, i)
		if err != nil {
			return err
		}
		if !fresh {
			return d.ownIdentity(tx, i)
		}
		made = true
		return d.endAccess(tx, i.UserID, keepSession, account.TokenEndedByUser, i.CreatedAt)
	})
	return made && err == nil, err
}

// ownIdentity is nil when an identity that exists is the person's own.
func (d *DB) ownIdentity(tx *gorm.DB, i account.Identity) error {
	row, err := first[identityRow](tx.Where("issuer = ? AND tenant = ? AND subject = ?", i.Issuer, i.Tenant, i.Subject))
	if err != nil {
		return err
	}
	if row.UserID != i.UserID {
		return account.ErrIdentityTaken
	}
	return nil
}

// InsertPersonWithIdentity implements account.IdentityStore.
func (d *DB) InsertPersonWithIdentity(ctx context.Context, c account.Credentials, first account.FirstLocation, i account.Identity) error {
	return d.tx(ctx, func(tx *gorm.DB) error {
		if err := d.lockSetup(tx); err != nil {
			return err
		}
		if err := tx.Exec(`DELETE FROM one_time_links WHERE kind = 'setup'`).Error; err != nil {
			return fmt.Errorf("withdraw setup links: %w", err)
		}
		if err := d.insertPerson(tx, c, first); err != nil {
			return err
		}
		fresh, err := d.insertIdentity(tx, i)
		if err == nil && !fresh {
			err = account.ErrIdentityTaken
		}
		return err
	})
}

// IdentityBy implements account.IdentityStore.
func (d *DB) IdentityBy(ctx context.Context, issuer, tenant, subject string) (*account.Identity, error) {
	if !isText(issuer) || !isText(tenant) || !isText(subject) {
		return nil, account.ErrNotFound
	}
	row, err := first[identityRow](d.r(ctx).Where(`issuer = ? AND tenant = ? AND subject = ?
		AND user_id IN (SELECT id FROM users WHERE disabled_at IS NULL)`, issuer, tenant, subject))
	if err != nil {
		return nil, fmt.Errorf("read identity: %w", err)
	}
	return row.identity(), nil
}

// IdentitiesOf implements account.IdentityStore.
func (d *DB) IdentitiesOf(ctx context.Context, userID string) ([]account.Identity, error) {
	if !isID(userID) {
		return nil, nil
	}
	var rows []identityRow
	if err := d.r(ctx).Where("user_id = ?", userID).Order("created_at, id").Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("list identities: %w", err)
	}
	out := make([]account.Identity, len(rows))
	for i := range rows {
		out[i] = *rows[i].identity()
	}
	return out, nil
}

// TouchIdentity implements account.IdentityStore.
func (d *DB) TouchIdentity(ctx context.Context, id string, now time.Time) error {
	return d.w(ctx).Exec(`UPDATE identities SET last_used_at = ? WHERE id = ?`, d.ts(now), id).Error
}

// UnlinkIdentity implements account.IdentityStore.
func (d *DB) UnlinkIdentity(ctx context.Context, userID, id, keepSession string, now time.Time, decide func(account.WaysIn) error) error {
	if !isID(id) {
		return account.ErrNotFound
	}
	return d.tx(ctx, func(tx *gorm.DB) error {
		if _, err := d.lockUser(tx, userID); err != nil {
			return err
		}
		res := tx.Exec(`DELETE FROM identities WHERE id = ? AND user_id = ?`, id, userID)
		if err := one(res, account.ErrNotFound); err != nil {
			return err
		}
		left, err := waysIn(tx, userID)
		if err != nil {
			return err
		}
		if err := decide(left); err != nil {
			return err
		}
		return d.endAccess(tx, userID, keepSession, account.TokenEndedByUser, now)
	})
}

// WaysInOf implements account.IdentityStore.
func (d *DB) WaysInOf(ctx context.Context, userID string) (account.WaysIn, error) {
	if !isID(userID) {
		return account.WaysIn{}, account.ErrNotFound
	}
	return waysIn(d.r(ctx), userID)
}

// waysIn counts the identities of issuers at which one can sign in; others only name the person.
func waysIn(tx *gorm.DB, userID string) (account.WaysIn, error) {
	var w account.WaysIn
	row := tx.Raw(`SELECT u.password_hash <> '', (SELECT count(*) FROM identities i
		JOIN identity_providers p ON p.issuer = i.issuer WHERE i.user_id = u.id),
		(SELECT count(*) FROM passkeys k WHERE k.user_id = u.id) FROM users u WHERE u.id = ?`, userID).Row()
	if err := row.Scan(&w.Password, &w.Identities, &w.Passkeys); err != nil {
		return w, fmt.Errorf("read ways in: %w", err)
	}
	return w, nil
}

// InsertIdentitySession implements account.IdentityStore. The person's row is locked, so that an identity that is unlinked
// at this moment opens nothing.
func (d *DB) InsertIdentitySession(ctx context.Context, n account.NewSession, identityID string) error {
	return d.tx(ctx, func(tx *gorm.DB) error {
		if _, err := d.lockUser(tx, n.UserID); err != nil {
			return err
		}
		res := tx.Exec(`UPDATE identities SET last_used_at = ? WHERE id = ? AND user_id = ?`, d.ts(n.CreatedAt), identityID, n.UserID)
		if err := one(res, account.ErrNotFound); err != nil {
			return err
		}
		if err := tx.Create(newSessionRow(n)).Error; err != nil {
			return fmt.Errorf("insert session: %w", err)
		}
		return nil
	})
}
