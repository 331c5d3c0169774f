package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"gatehouse/app/home"
	"gatehouse/oauth"
)

const insertAccess = `INSERT INTO access_tokens (hash, jti, family_id, scopes, narrowed, key_thumbprint, issued_at, expires_at, details)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`

// SaveAccessToken implements oauth.TokenStore.
func (d *DB) SaveAccessToken(ctx context.Context, t *oauth.StoredToken) error {
	_, err := d.exec(ctx, insertAccess, t.Hash, t.ID, t.FamilyID, joinWords(t.Scopes), t.Narrowed, t.KeyThumbprint,
		d.ts(t.IssuedAt), d.ts(t.ExpiresAt), rawText(t.Details))
	if err != nil {
		return fmt.Errorf("save access token: %w", err)
	}
	return nil
}

// accessColumns are what a stored token says, with what its family and connection add.
const accessColumns = `a.jti, a.scopes, a.narrowed, a.key_thumbprint, a.issued_at, a.expires_at, f.id, f.acr, f.auth_time, c.id, c.resource, a.details, f.origin`

const selectAccess = `SELECT c.user_id, c.client_id, ` + accessColumns + ` FROM access_tokens a
	JOIN families f ON f.id = a.family_id JOIN connections c ON c.id = f.connection_id WHERE a.hash = ?`

// accessFacts are the columns of accessColumns.
type accessFacts struct {
	token           oauth.AccessToken
	scopes          string
	issued, expires Timestamp
	auth            *Timestamp
	details         *string
	origin          string
}

func (a *accessFacts) columns() []any {
	t := &a.token
	return []any{&t.ID, &a.scopes, &t.Narrowed, &t.KeyThumbprint, &a.issued, &a.expires, &t.FamilyID, &t.ACR, &a.auth, &t.ConnectionID, &t.Resource,
		&a.details, &a.origin}
}

func (a *accessFacts) filled(userID, clientID string) *oauth.AccessToken {
	t := a.token
	t.Subject, t.ClientID, t.Scopes, t.IssuedAt, t.ExpiresAt = userID, clientID, splitWords(a.scopes), a.issued.T, a.expires.T
	if a.origin == oauth.GrantClientCredentials {
		t.Subject = oauth.ClientSubject(clientID)
	}
	t.AuthTime, t.Details, t.DetailsNarrowed = timeOf(a.auth), rawJSON(a.details), a.details != nil
	return &t
}

// timeOf is the moment of a nullable column, zero for none.
func timeOf(t *Timestamp) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.T
}

// AccessToken implements oauth.TokenStore.
func (d *DB) AccessToken(ctx context.Context, hash []byte) (*oauth.AccessToken, error) {
	var a accessFacts
	var userID, clientID string
	err := d.queryRow(ctx, selectAccess, []any{hash}, append([]any{&userID, &clientID}, a.columns()...)...)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, oauth.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read access token: %w", err)
	}
	return a.filled(userID, clientID), nil
}

// selectStored is selectPrincipal for tokens that are looked up: the same read, found by the token's hash.
const selectStored = `SELECT ` + principalColumns + `
		OR EXISTS (SELECT 1 FROM revoked_access_tokens r WHERE r.jti = a.jti)
		OR EXISTS (SELECT 1 FROM clients k WHERE k.id = c.client_id AND k.blocked_at IS NOT NULL),
	` + accessColumns + `, ` + locationColumns + `
	FROM access_tokens a
	JOIN families f ON f.id = a.family_id
	JOIN connections c ON c.id = f.connection_id` + principalJoins + `
	WHERE a.hash = ?`

// PrincipalByAccessToken reads who acts with the access token of this hash, and the token itself, in one statement. The
// errors are those of PrincipalByConnection. Whether the token has expired is the caller's to check.
func (d *DB) PrincipalByAccessToken(ctx context.Context, hash []byte, now time.Time) (*home.Principal, *oauth.AccessToken, error) {
	var a accessFacts
	var p *home.Principal
	var token *oauth.AccessToken
	err := d.readHot(ctx, selectStored, []any{hash}, func(rows rowSet) (err error) {
		p, err = readPrincipal(rows, now, a.columns(), func(c *connectionFacts) (string, string) {
			token = a.filled(c.userID, c.clientID)
			return token.ConnectionID, token.FamilyID
		})
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("read principal: %w", err)
	}
	return p, token, nil
}
