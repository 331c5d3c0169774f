package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"gatehouse/oauth"
)

const selectGrant = `SELECT user_id, client_id, resource, scopes, terms, details, expires_at, created_at, updated_at, ended_at, ended_reason
	FROM connections WHERE id = ?`

// Grant implements oauth.TokenStore.
func (d *DB) Grant(ctx context.Context, id string) (*oauth.Connection, error) {
	if !isID(id) {
		return nil, oauth.ErrNotFound
	}
	c := oauth.Connection{ID: id}
	var scopes string
	var terms, details, reason *string
	var created, updated Timestamp
	var expires, ended *Timestamp
	err := d.queryRow(ctx, selectGrant, []any{id}, &c.UserID, &c.ClientID, &c.Resource, &scopes, &terms, &details, &expires,
		&created, &updated, &ended, &reason)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, oauth.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read grant: %w", err)
	}
	c.Scopes, c.Terms, c.Details = splitWords(scopes), rawJSON(terms), rawJSON(details)
	c.ExpiresAt, c.CreatedAt, c.UpdatedAt, c.EndedAt, c.EndedReason = expires.ptr(), created.T, updated.T, ended.ptr(), deref(reason)
	return &c, nil
}
