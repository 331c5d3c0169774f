package db

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"gatehouse/oauth"
)

// SavePushedRequest implements oauth.RequestStore. The id is a capability: the row holds its SHA-256 alone.
func (d *DB) SavePushedRequest(ctx context.Context, p *oauth.PushedRequest) error {
	parameters, err := json.Marshal(p.Parameters)
	if err != nil {
		return fmt.Errorf("save pushed request: %w", err)
	}
	_, err = d.exec(ctx, `INSERT INTO pushed_requests (id_hash, client_id, parameters, created_at, expires_at) VALUES (?, ?, ?, ?, ?)`,
		oauth.HashSecret(p.ID), p.ClientID, string(parameters), d.ts(p.CreatedAt), d.ts(p.ExpiresAt))
	if err != nil {
		return fmt.Errorf("save pushed request: %w", err)
	}
	return nil
}

// PushedRequest implements oauth.RequestStore.
func (d *DB) PushedRequest(ctx context.Context, id string) (*oauth.PushedRequest, error) {
	p := oauth.PushedRequest{ID: id}
	var parameters string
	var created, expires Timestamp
	var opened *Timestamp
	err := d.queryRow(ctx, `SELECT client_id, parameters, created_at, expires_at, opened_at FROM pushed_requests WHERE id_hash = ?`,
		[]any{oauth.HashSecret(id)}, &p.ClientID, &parameters, &created, &expires, &opened)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, oauth.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read pushed request: %w", err)
	}
	if err := json.Unmarshal([]byte(parameters), &p.Parameters); err != nil {
		return nil, fmt.Errorf("read pushed request: parameters: %w", err)
	}
	p.CreatedAt, p.ExpiresAt, p.OpenedAt = created.T, expires.T, opened.ptr()
	return &p, nil
}

const (
	openPushed = `UPDATE pushed_requests SET opened_at = ? WHERE id_hash = ? AND opened_at IS NULL`
	hasPushed  = `SELECT EXISTS (SELECT 1 FROM pushed_requests WHERE id_hash = ?)`
)

// OpenPushedRequest implements oauth.RequestStore.
func (d *DB) OpenPushedRequest(ctx context.Context, id string, at time.Time, r *oauth.AuthorizationRequest) error {
	parameters, err := json.Marshal(r.Parameters)
	if err != nil {
		return fmt.Errorf("open pushed request: %w", err)
	}
	hash := oauth.HashSecret(id)
	err = d.rawTx(ctx, []string{openPushed, hasPushed, insertRequest}, func(ctx context.Context, st []*sql.Stmt) error {
		n, err := changed(ctx, st[0], d.ts(at), hash)
		if err != nil {
			return err
		}
		if n != 1 {
			return missingOr(ctx, st[1], oauth.ErrUsed, hash)
		}
		_, err = st[2].ExecContext(ctx, d.requestRow(r, string(parameters))...)
		return err
	})
	if err != nil {
		return fmt.Errorf("open pushed request: %w", err)
	}
	return nil
}
