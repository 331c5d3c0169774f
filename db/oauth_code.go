package db

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"gatehouse/oauth"
)

const selectCode = `SELECT request_id, user_id, client_id, resource, scopes, terms, connection_expires_at, redirect_uri,
	code_challenge, auth_time, issued_at, expires_at, used_at, family_id, key_thumbprint, nonce, acr, amr,
	details, grant_action, grant_id FROM authorization_codes WHERE hash = ?`

// Code implements oauth.CodeStore.
func (d *DB) Code(ctx context.Context, hash []byte) (*oauth.AuthorizationCode, error) {
	c := oauth.AuthorizationCode{Hash: hash}
	a := &c.Approval
	var scopes, amr string
	var terms, family, details, grantID *string
	var until, used *Timestamp
	var auth, issued, expires Timestamp
	err := d.queryRow(ctx, selectCode, []any{hash}, &c.RequestID, &a.UserID, &a.ClientID, &a.Resource, &scopes, &terms,
		&until, &c.RedirectURI, &c.CodeChallenge, &auth, &issued, &expires, &used, &family, &c.KeyThumbprint, &c.Nonce, &c.ACR, &amr,
		&details, &a.GrantAction, &grantID)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, oauth.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read code: %w", err)
	}
	a.Scopes, a.Terms, a.ExpiresAt = splitWords(scopes), rawJSON(terms), until.ptr()
	c.AMR = splitWords(amr)
	a.Details, a.GrantID = rawJSON(details), deref(grantID)
	c.AuthTime, c.IssuedAt, c.ExpiresAt, c.UsedAt, c.FamilyID = auth.T, issued.T, expires.T, used.ptr(), deref(family)
	return &c, nil
}

// The statements of a redemption. The first is the single use: it must change one row, and it brings what was approved
// and whether the person may still sign in, in the same round trip.
const (
	useCode = `UPDATE authorization_codes SET used_at = ?, family_id = ? WHERE hash = ? AND used_at IS NULL
		RETURNING user_id, client_id, resource, scopes, terms, connection_expires_at, details, grant_action, grant_id,
		(SELECT disabled_at IS NOT NULL FROM users WHERE users.id = authorization_codes.user_id)`
	hasCode = `SELECT EXISTS (SELECT 1 FROM authorization_codes WHERE hash = ?)`
	// approve makes the live connection or updates it to the new approval. One that has expired is left alone and
	// gives no row: its tokens must not come back to life.
	approve = `INSERT INTO connections (id, user_id, client_id, resource, scopes, hidden_tools, terms, expires_at, created_at, updated_at, details)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (user_id, client_id, resource) WHERE ended_at IS NULL DO UPDATE SET
		scopes = excluded.scopes, hidden_tools = excluded.hidden_tools, terms = excluded.terms,
		expires_at = excluded.expires_at, updated_at = excluded.updated_at, details = excluded.details
		WHERE connections.expires_at IS NULL OR connections.expires_at > excluded.updated_at
		RETURNING id, created_at`
	endExpired = `UPDATE connections SET ended_at = ?, ended_reason = 'expired'
		WHERE user_id = ? AND client_id = ? AND resource = ? AND ended_at IS NULL`
	// endReplaced ends the live connection that a new one takes the place of.
	endReplaced = `UPDATE connections SET ended_at = ?, ended_reason = 'replaced'
		WHERE user_id = ? AND client_id = ? AND resource = ? AND ended_at IS NULL AND (expires_at IS NULL OR expires_at > ?)`
	clearLocations = `DELETE FROM connection_locations WHERE connection_id = ?`
	// addLocation lets a connection reach a location only while the person belongs to it.
	addLocation = `INSERT INTO connection_locations (connection_id, location_id)
		SELECT c.id, m.location_id FROM connections c JOIN members m ON m.user_id = c.user_id
		WHERE c.id = ? AND m.location_id = ? ON CONFLICT DO NOTHING`
	insertFamily = `INSERT INTO families (id, connection_id, device_hint, scopes, key_thumbprint, acr, auth_time, created_at, details)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`
	insertRefresh = `INSERT INTO refresh_tokens (hash, family_id, parent_hash, created_at, expires_at) VALUES (?, ?, ?, ?, ?)`
)

// statements of RedeemCode by position.
const (
	stUseCode = iota
	stHasCode
	stApprove
	stEndExpired
	stClearLocations
	stAddLocation
	stInsertFamily
	stInsertRefresh
	stEndReplaced
)

// storedTerms is what the store reads of an approval's terms: the locations become rows and the hidden tools a column,
// because every call reads them. The rest is kept as it came.
type storedTerms struct {
	Locations   []string `json:"locations"`
	HiddenTools []string `json:"hidden_tools"`
}

// readTerms never fails: terms of another program's shape name no locations and hide no tools.
func readTerms(raw *string) storedTerms {
	var t storedTerms
	if raw != nil && json.Unmarshal([]byte(*raw), &t) != nil {
		return storedTerms{}
	}
	return t
}

// approval is what a used-up code brings.
type approval struct {
	userID, clientID, resource, scopes string
	terms                              *string
	until                              *Timestamp
	details, grantID                   *string
	grantAction                        string
	disabled                           *bool
}

// RedeemCode implements oauth.CodeStore.
func (d *DB) RedeemCode(ctx context.Context, r oauth.Redemption) (*oauth.Connection, error) {
	var out *oauth.Connection
	texts := []string{useCode, hasCode, approve, endExpired, clearLocations, addLocation, insertFamily, insertRefresh, endReplaced}
	err := d.rawTx(ctx, texts, func(ctx context.Context, st []*sql.Stmt) (err error) {
		out, err = d.redeem(ctx, st, &r)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("redeem code: %w", err)
	}
	return out, nil
}

func (d *DB) redeem(ctx context.Context, st []*sql.Stmt, r *oauth.Redemption) (*oauth.Connection, error) {
	var a approval
	at := d.ts(r.At)
	err := st[stUseCode].QueryRowContext(ctx, at, r.FamilyID, r.CodeHash).
		Scan(&a.userID, &a.clientID, &a.resource, &a.scopes, &a.terms, &a.until, &a.details, &a.grantAction, &a.grantID, &a.disabled)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, missingOr(ctx, st[stHasCode], oauth.ErrUsed, r.CodeHash)
	}
	if err != nil {
		return nil, err
	}
	if a.disabled == nil || *a.disabled {
		return nil, oauth.ErrEnded // rolls the use back; the code dies of age
	}
	c, err := d.approve(ctx, st, &a, r)
	if err != nil {
		return nil, err
	}
	if _, err := st[stInsertFamily].ExecContext(ctx, r.FamilyID, c.ID, cleanText(r.DeviceHint), a.scopes, r.KeyThumbprint, r.ACR, d.tsOrNull(r.AuthTime), at, rawText(rawJSON(a.details))); err != nil {
		return nil, fmt.Errorf("family: %w", err)
	}
	t := r.Refresh
	if _, err := st[stInsertRefresh].ExecContext(ctx, t.Hash, t.FamilyID, nullBytes(t.ParentHash), d.ts(t.CreatedAt), d.ts(t.ExpiresAt)); err != nil {
		return nil, fmt.Errorf("refresh token: %w", err)
	}
	return c, nil
}

// approve brings the connection to the approval and replaces its locations.
func (d *DB) approve(ctx context.Context, st []*sql.Stmt, a *approval, r *oauth.Redemption) (*oauth.Connection, error) {
	terms := readTerms(a.terms)
	c := &oauth.Connection{
		UserID: a.userID, ClientID: a.clientID, Resource: a.resource, Scopes: splitWords(a.scopes),
		Terms: rawJSON(a.terms), Details: rawJSON(a.details), ExpiresAt: a.until.ptr(), UpdatedAt: r.At,
	}
	if a.grantAction == oauth.GrantCreate {
		if _, err := st[stEndReplaced].ExecContext(ctx, d.ts(r.At), a.userID, a.clientID, a.resource, d.ts(r.At)); err != nil {
			return nil, fmt.Errorf("end replaced connection: %w", err)
		}
	}
	err := d.upsertConnection(ctx, st, c, r.NewConnectionID, joinWords(terms.HiddenTools))
	if errors.Is(err, sql.ErrNoRows) { // the live row has expired
		if _, err := st[stEndExpired].ExecContext(ctx, d.ts(r.At), a.userID, a.clientID, a.resource); err != nil {
			return nil, err
		}
		err = d.upsertConnection(ctx, st, c, r.NewConnectionID, joinWords(terms.HiddenTools))
	}
	if err != nil {
		return nil, fmt.Errorf("connection: %w", err)
	}
	if a.grantID != nil && c.ID != *a.grantID {
		return nil, oauth.ErrEnded // what was approved has ended since
	}
	if c.ID != r.NewConnectionID {
		if _, err := st[stClearLocations].ExecContext(ctx, c.ID); err != nil {
			return nil, fmt.Errorf("locations: %w", err)
		}
	}
	for _, id := range terms.Locations {
		if !isID(id) {
			continue
		}
		if _, err := st[stAddLocation].ExecContext(ctx, c.ID, id); err != nil {
			return nil, fmt.Errorf("locations: %w", err)
		}
	}
	return c, nil
}

func (d *DB) upsertConnection(ctx context.Context, st []*sql.Stmt, c *oauth.Connection, newID, hidden string) error {
	var created Timestamp
	at := d.ts(c.UpdatedAt)
	err := st[stApprove].QueryRowContext(ctx, newID, c.UserID, c.ClientID, c.Resource, joinWords(c.Scopes), hidden,
		rawText(c.Terms), d.tsPtr(c.ExpiresAt), at, at, rawText(c.Details)).Scan(&c.ID, &created)
	c.CreatedAt = created.T
	return err
}
