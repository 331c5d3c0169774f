package db

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm"

	"gatehouse/app/account"
	"gatehouse/app/upstream"
)

// providerRow is a server at which people can sign in.
type providerRow struct {
	ID           string `gorm:"primaryKey"`
	Slug         string
	Name         string
	Issuer       string
	ClientID     string
	SecretSealed []byte
	Domains      string
	SignUp       bool
	CreatedAt    Timestamp `gorm:"autoCreateTime:false"`
}

// TableName names the table.
func (providerRow) TableName() string { return "identity_providers" }

func (r *providerRow) row() upstream.Row {
	return upstream.Row{SecretSealed: r.SecretSealed, Provider: upstream.Provider{ID: r.ID, Slug: r.Slug, Name: r.Name, Issuer: r.Issuer,
		ClientID: r.ClientID, Domains: strings.Fields(r.Domains), SignUp: r.SignUp, CreatedAt: r.CreatedAt.T}}
}

// InsertProvider implements upstream.Store.
func (d *DB) InsertProvider(ctx context.Context, r upstream.Row) error {
	row := providerRow{ID: r.ID, Slug: r.Slug, Name: r.Name, Issuer: r.Issuer, ClientID: r.ClientID, SecretSealed: r.SecretSealed,
		Domains: strings.Join(r.Domains, " "), SignUp: r.SignUp, CreatedAt: at(r.CreatedAt)}
	if err := d.w(ctx).Create(&row).Error; isUnique(err) {
		return upstream.ErrTaken
	} else if err != nil {
		return fmt.Errorf("insert provider: %w", err)
	}
	return nil
}

// Providers implements upstream.Store.
func (d *DB) Providers(ctx context.Context) ([]upstream.Row, error) {
	var rows []providerRow
	if err := d.r(ctx).Order("name, slug").Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("list providers: %w", err)
	}
	out := make([]upstream.Row, len(rows))
	for i := range rows {
		out[i] = rows[i].row()
	}
	return out, nil
}

// ProviderBySlug implements upstream.Store.
func (d *DB) ProviderBySlug(ctx context.Context, slug string) (*upstream.Row, error) {
	if !isText(slug) {
		return nil, account.ErrNotFound
	}
	row, err := first[providerRow](d.r(ctx).Where("slug = ?", slug))
	if err != nil {
		return nil, err
	}
	out := row.row()
	return &out, nil
}

// DeleteProvider implements upstream.Store.
func (d *DB) DeleteProvider(ctx context.Context, id string, force bool) error {
	return d.tx(ctx, func(tx *gorm.DB) error {
		if !force {
			var people []string
			err := tx.Raw(`SELECT DISTINCT u.id FROM users u JOIN identities i ON i.user_id = u.id JOIN identity_providers p ON p.issuer = i.issuer
				WHERE p.id = ? AND u.disabled_at IS NULL`, id).Scan(&people).Error
			if err != nil {
				return fmt.Errorf("read people of provider: %w", err)
			}
			if err := d.waysWithout(tx, id, people); err != nil {
				return err
			}
		}
		return one(tx.Exec(`DELETE FROM identity_providers WHERE id = ?`, id), account.ErrNotFound)
	})
}

// waysWithout checks that people could sign in without a provider.
func (d *DB) waysWithout(tx *gorm.DB, id string, people []string) error {
	for _, p := range people {
		w, err := waysIn(tx, p)
		if err != nil {
			return err
		}
		var here int
		err = tx.Raw(`SELECT count(*) FROM identities i JOIN identity_providers p ON p.issuer = i.issuer WHERE p.id = ? AND i.user_id = ?`, id, p).Scan(&here).Error
		if err != nil {
			return fmt.Errorf("count identities: %w", err)
		}
		if w.Identities -= here; !w.Any() {
			return upstream.ErrInUse
		}
	}
	return nil
}

// attemptRow is a sign-in at a provider that is under way.
type attemptRow struct {
	StateHash    []byte `gorm:"primaryKey"`
	ProviderID   string
	BrowserHash  []byte
	Purpose      string
	UserID       *string
	InvitationID *string
	Request      string
	ReturnPath   string
	ExpiresAt    Timestamp
}

// TableName names the table.
func (attemptRow) TableName() string { return "upstream_attempts" }

// InsertAttempt implements upstream.Store.
func (d *DB) InsertAttempt(ctx context.Context, a upstream.Attempt) error {
	row := attemptRow{StateHash: a.StateHash, ProviderID: a.ProviderID, BrowserHash: a.BrowserHash, Purpose: a.Purpose, Request: a.Request,
		ReturnPath: a.Return, ExpiresAt: at(a.ExpiresAt), UserID: orNull(a.UserID), InvitationID: orNull(a.InvitationID)}
	if err := d.w(ctx).Create(&row).Error; err != nil {
		return fmt.Errorf("insert attempt: %w", err)
	}
	return nil
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// TakeAttempt implements upstream.Store: whoever deletes the row has it.
func (d *DB) TakeAttempt(ctx context.Context, stateHash []byte, now time.Time) (taken *upstream.Attempt, err error) {
	err = d.tx(ctx, func(tx *gorm.DB) error {
		taken = nil
		row, err := first[attemptRow](tx.Where("state_hash = ? AND expires_at > ?", stateHash, d.ts(now)))
		if errors.Is(err, account.ErrNotFound) {
			return account.ErrLinkGone
		}
		if err != nil {
			return fmt.Errorf("read attempt: %w", err)
		}
		if err := one(tx.Exec(`DELETE FROM upstream_attempts WHERE state_hash = ?`, stateHash), account.ErrLinkGone); err != nil {
			return err
		}
		taken = &upstream.Attempt{StateHash: row.StateHash, ProviderID: row.ProviderID, BrowserHash: row.BrowserHash, Purpose: row.Purpose,
			UserID: deref(row.UserID), InvitationID: deref(row.InvitationID), Request: row.Request, Return: row.ReturnPath, ExpiresAt: row.ExpiresAt.T}
		return nil
	})
	return taken, err
}

// SweepAttempts implements upstream.Store.
func (d *DB) SweepAttempts(ctx context.Context, now time.Time) error {
	return wrap("sweep attempts", d.w(ctx).Exec(`DELETE FROM upstream_attempts WHERE expires_at <= ?`, d.ts(now)).Error)
}
