package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"gatehouse/oauth"
)

const selectStanding = `SELECT c.scopes, c.details, c.expires_at,
	c.ended_at IS NOT NULL OR f.ended_at IS NOT NULL OR u.disabled_at IS NOT NULL
		OR EXISTS (SELECT 1 FROM revoked_access_tokens r WHERE r.jti = ?)
		OR EXISTS (SELECT 1 FROM clients k WHERE k.id = c.client_id AND k.blocked_at IS NOT NULL)
	FROM connections c JOIN families f ON f.id = ? AND f.connection_id = c.id JOIN users u ON u.id = c.user_id
	WHERE c.id = ?`

// Standing implements oauth.TokenStore: the facts by which a call at the resource is admitted, without its locations.
func (d *DB) Standing(ctx context.Context, connectionID, familyID, jti string) (*oauth.Standing, error) {
	if !isID(connectionID) || !isID(familyID) || !isText(jti) {
		return nil, oauth.ErrNotFound
	}
	var s oauth.Standing
	var scopes string
	var details *string
	var expires *Timestamp
	err := d.queryRow(ctx, selectStanding, []any{jti, familyID, connectionID}, &scopes, &details, &expires, &s.Ended)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, oauth.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read what a token stands on: %w", err)
	}
	s.Scopes, s.Details, s.ExpiresAt = splitWords(scopes), rawJSON(details), expires.ptr()
	return &s, nil
}
