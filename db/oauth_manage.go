package db

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"gatehouse/app/connection"
	"gatehouse/oauth"
)

// changesText is the JSON of when members changed; times are those of the database, in milliseconds.
func changesText(changes map[string]time.Time) (string, error) {
	if len(changes) == 0 {
		return "{}", nil
	}
	text, err := json.Marshal(changes)
	return string(text), err
}

const usableToken = `revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?) AND (max_uses IS NULL OR uses < max_uses)`

// CheckInitialToken implements oauth.ManagementStore.
func (d *DB) CheckInitialToken(ctx context.Context, hash []byte, at time.Time) error {
	var usable bool
	err := d.queryRow(ctx, `SELECT `+usableToken+` FROM registration_tokens WHERE hash = ?`, []any{d.ts(at), hash}, &usable)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return oauth.ErrNotFound
	case err != nil:
		return wrap("look up initial access token", err)
	case !usable:
		return oauth.ErrEnded
	}
	return nil
}

const useInitialToken = `UPDATE registration_tokens SET uses = uses + 1, last_used_at = ? WHERE hash = ? AND ` + usableToken

// RegisterClient implements oauth.ManagementStore.
func (d *DB) RegisterClient(ctx context.Context, c *oauth.Client, initial []byte) error {
	row, err := d.clientRow(c)
	if err != nil {
		return wrap("register client", err)
	}
	err = d.rawTx(ctx, []string{useInitialToken, saveClient}, func(ctx context.Context, st []*sql.Stmt) error {
		n, err := changed(ctx, st[0], d.ts(c.CreatedAt), initial, d.ts(c.CreatedAt))
		if err != nil {
			return err
		}
		if n != 1 {
			return oauth.ErrEnded
		}
		_, err = st[1].ExecContext(ctx, row...)
		return err
	})
	return wrap("register client", err)
}

const replaceClient = `UPDATE clients SET name = ?, secret_hash = ?, metadata = ?, changes = ?, pending_at = ?, last_seen_at = ?
	WHERE id = ? AND registration_hash = ? AND blocked_at IS NULL`

// ReplaceClient implements oauth.ManagementStore.
func (d *DB) ReplaceClient(ctx context.Context, c *oauth.Client) error {
	metadata, err := json.Marshal(metadataOf(c))
	if err != nil {
		return fmt.Errorf("replace client: %w", err)
	}
	changes, err := changesText(c.Changes)
	if err != nil {
		return fmt.Errorf("replace client: %w", err)
	}
	n, err := d.exec(ctx, replaceClient, cleanText(c.Name), nullBytes(c.SecretHash), string(metadata), changes, d.tsPtr(c.PendingAt),
		d.ts(c.LastSeenAt), c.ID, nullBytes(c.RegistrationHash))
	if err == nil && n != 1 {
		err = oauth.ErrNotFound
	}
	return wrap("replace client", err)
}

// DeleteClient implements oauth.ManagementStore.
func (d *DB) DeleteClient(ctx context.Context, id string, at time.Time) error {
	err := d.DeleteKnownClient(ctx, id, at)
	if errors.Is(err, connection.ErrNotFound) {
		return oauth.ErrNotFound
	}
	return err
}

// RevokeRegistrationToken implements oauth.ManagementStore.
func (d *DB) RevokeRegistrationToken(ctx context.Context, hash []byte) error {
	_, err := d.exec(ctx, `UPDATE clients SET registration_hash = NULL WHERE registration_hash = ?`, hash)
	return wrap("revoke registration access token", err)
}

// HostHasConnection implements oauth.ManagementStore.
func (d *DB) HostHasConnection(ctx context.Context, host string) (bool, error) {
	if !isText(host) {
		return false, nil
	}
	var has bool
	err := d.queryRow(ctx, `SELECT EXISTS (SELECT 1 FROM clients k JOIN connections c ON c.client_id = k.id
		WHERE k.kind = 'document' AND k.host = ?)`, []any{host}, &has)
	return has, wrap("look for connections", err)
}

// BindRequest implements oauth.RequestStore.
func (d *DB) BindRequest(ctx context.Context, id string, browserHash []byte) error {
	n, err := d.exec(ctx, `UPDATE authorization_requests SET browser_hash = ? WHERE id_hash = ? AND browser_hash IS NULL`,
		browserHash, oauth.HashSecret(id))
	if err == nil && n != 1 {
		err = oauth.ErrConflict
	}
	return wrap("bind request", err)
}
