package db

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"gatehouse/app/connection"
	"gatehouse/oauth"
)

// OAuthClient implements connection.SettingsStore.
func (d *DB) OAuthClient(ctx context.Context, id string) (*oauth.Client, error) {
	c, err := d.Client(ctx, id)
	if errors.Is(err, oauth.ErrNotFound) {
		return nil, connection.ErrNotFound
	}
	return c, err
}

// SaveClientSettings implements connection.SettingsStore.
func (d *DB) SaveClientSettings(ctx context.Context, id string, s oauth.ClientSettings) error {
	if !isText(id) {
		return connection.ErrNotFound
	}
	text, err := json.Marshal(s)
	if err != nil {
		return wrap("save client settings", err)
	}
	n, err := d.exec(ctx, `UPDATE clients SET settings = ? WHERE id = ?`, string(text), id)
	if err == nil && n != 1 {
		err = connection.ErrNotFound
	}
	return wrap("save client settings", err)
}

// DecideClient implements connection.SettingsStore.
func (d *DB) DecideClient(ctx context.Context, id string, since, blocked *time.Time) error {
	if !isText(id) {
		return connection.ErrNotFound
	}
	text, args := `UPDATE clients SET pending_at = NULL, blocked_at = coalesce(?, blocked_at) WHERE id = ? AND pending_at `, []any{d.tsPtr(blocked), id}
	if since == nil {
		text += `IS NOT NULL`
	} else {
		text, args = text+`= ?`, append(args, d.ts(*since))
	}
	n, err := d.exec(ctx, text, args...)
	if err == nil && n != 1 {
		err = connection.ErrNotFound
	}
	return wrap("decide client", err)
}

// WaitingClients implements connection.SettingsStore.
func (d *DB) WaitingClients(ctx context.Context) ([]*oauth.Client, error) {
	all, err := d.clientsWhere(ctx, `pending_at IS NOT NULL AND blocked_at IS NULL ORDER BY pending_at, id`)
	return all, wrap("list waiting clients", err)
}
