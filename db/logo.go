package db

import (
	"context"
	"database/sql"
	"errors"

	"gatehouse/app/logo"
)

// Logo implements logo.Store.
func (d *DB) Logo(ctx context.Context, clientID string) (*logo.Logo, error) {
	if !isText(clientID) {
		return nil, logo.ErrNone
	}
	l := logo.Logo{ClientID: clientID}
	var fetched, expires Timestamp
	err := d.queryRow(ctx, `SELECT logo_uri, image, fetched_at, expires_at FROM client_logos WHERE client_id = ?`, []any{clientID},
		&l.URI, &l.Image, &fetched, &expires)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, logo.ErrNone
	}
	l.FetchedAt, l.ExpiresAt = fetched.T, expires.T
	return &l, wrap("read logo", err)
}

// SaveLogo implements logo.Store.
func (d *DB) SaveLogo(ctx context.Context, l logo.Logo) error {
	_, err := d.exec(ctx, `INSERT INTO client_logos (client_id, logo_uri, image, fetched_at, expires_at) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (client_id) DO UPDATE SET logo_uri = excluded.logo_uri, image = excluded.image, fetched_at = excluded.fetched_at,
		expires_at = excluded.expires_at`, l.ClientID, l.URI, nullBytes(l.Image), d.ts(l.FetchedAt), d.ts(l.ExpiresAt))
	return wrap("save logo", err)
}
