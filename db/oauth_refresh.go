package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"gatehouse/oauth"
)

const selectLineage = `SELECT t.family_id, t.parent_hash, t.successor_hash, t.successor_sealed, t.created_at, t.rotated_at, t.expires_at,
	f.connection_id, f.device_hint, f.scopes, f.created_at, f.last_used_at, f.ended_at, f.ended_reason, f.key_thumbprint, f.acr, f.auth_time,
	c.user_id, c.client_id, c.resource, c.scopes, c.terms, c.expires_at, c.created_at, c.updated_at, c.ended_at, c.ended_reason,
	s.successor_hash IS NOT NULL, u.disabled_at IS NOT NULL, f.details, c.details
	FROM refresh_tokens t JOIN families f ON f.id = t.family_id JOIN connections c ON c.id = f.connection_id
	JOIN users u ON u.id = c.user_id LEFT JOIN refresh_tokens s ON s.hash = t.successor_hash
	WHERE t.hash = ?`

// Lineage implements oauth.TokenStore. The connection's last use is the family's: of this installation.
func (d *DB) Lineage(ctx context.Context, hash []byte) (*oauth.Lineage, error) {
	var l oauth.Lineage
	t, f, c := &l.Token, &l.Family, &l.Connection
	var tCreated, tExpires, fCreated, cCreated, cUpdated Timestamp
	var fAuth, tRotated, fUsed, fEnded, cExpires, cEnded *Timestamp
	var fReason, cReason, terms, fDetails, cDetails *string
	var scopes, granted string
	err := d.queryRow(ctx, selectLineage, []any{hash},
		&t.FamilyID, &t.ParentHash, &t.SuccessorHash, &t.SuccessorSealed, &tCreated, &tRotated, &tExpires,
		&f.ConnectionID, &f.DeviceHint, &granted, &fCreated, &fUsed, &fEnded, &fReason, &f.KeyThumbprint, &f.ACR, &fAuth,
		&c.UserID, &c.ClientID, &c.Resource, &scopes, &terms, &cExpires, &cCreated, &cUpdated, &cEnded, &cReason,
		&l.SuccessorUsed, &l.UserDisabled, &fDetails, &cDetails)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, oauth.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read refresh token: %w", err)
	}
	t.Hash, t.CreatedAt, t.RotatedAt, t.ExpiresAt = hash, tCreated.T, tRotated.ptr(), tExpires.T
	f.Scopes, f.AuthTime = splitWords(granted), timeOf(fAuth)
	f.Details, c.Details = rawJSON(fDetails), rawJSON(cDetails)
	f.ID, f.CreatedAt, f.LastUsedAt, f.EndedAt, f.EndedReason = t.FamilyID, fCreated.T, fUsed.ptr(), fEnded.ptr(), deref(fReason)
	c.ID, c.Scopes, c.Terms, c.ExpiresAt = f.ConnectionID, splitWords(scopes), rawJSON(terms), cExpires.ptr()
	c.CreatedAt, c.UpdatedAt, c.LastUsedAt = cCreated.T, cUpdated.T, f.LastUsedAt
	c.EndedAt, c.EndedReason = cEnded.ptr(), deref(cReason)
	return &l, nil
}

const (
	rotateToken = `UPDATE refresh_tokens SET successor_hash = ?, successor_sealed = ?, rotated_at = ?
		WHERE hash = ? AND successor_hash IS NULL`
	hasToken = `SELECT EXISTS (SELECT 1 FROM refresh_tokens WHERE hash = ?)`
	// rotateAtOnce is both statements of a rotation in one, which Postgres can: one round trip in place of four.
	rotateAtOnce = `WITH used AS (UPDATE refresh_tokens SET successor_hash = ?, successor_sealed = ?, rotated_at = ?
		WHERE hash = ? AND successor_hash IS NULL RETURNING hash)
		INSERT INTO refresh_tokens (hash, family_id, parent_hash, created_at, expires_at)
		SELECT ?::bytea, ?::uuid, ?::bytea, ?::timestamptz, ?::timestamptz FROM used`
)

// RotateRefreshToken implements oauth.TokenStore.
func (d *DB) RotateRefreshToken(ctx context.Context, presented []byte, successor *oauth.RefreshToken, sealed []byte, at time.Time) error {
	rotate := d.rotateInTwo
	if d.dialect == Postgres {
		rotate = d.rotateInOne
	}
	if err := rotate(ctx, presented, successor, sealed, at); err != nil {
		return fmt.Errorf("rotate refresh token: %w", err)
	}
	return nil
}

func (d *DB) rotateInTwo(ctx context.Context, presented []byte, s *oauth.RefreshToken, sealed []byte, at time.Time) error {
	return d.rawTx(ctx, []string{rotateToken, hasToken, insertRefresh}, func(ctx context.Context, st []*sql.Stmt) error {
		n, err := changed(ctx, st[0], s.Hash, sealed, d.ts(at), presented)
		if err != nil {
			return err
		}
		if n != 1 {
			return missingOr(ctx, st[1], oauth.ErrConflict, presented)
		}
		_, err = st[2].ExecContext(ctx, s.Hash, s.FamilyID, nullBytes(s.ParentHash), d.ts(s.CreatedAt), d.ts(s.ExpiresAt))
		return err
	})
}

func (d *DB) rotateInOne(ctx context.Context, presented []byte, s *oauth.RefreshToken, sealed []byte, at time.Time) error {
	n, err := d.exec(ctx, rotateAtOnce, s.Hash, sealed, d.ts(at), presented,
		s.Hash, s.FamilyID, nullBytes(s.ParentHash), d.ts(s.CreatedAt), d.ts(s.ExpiresAt))
	if err != nil || n == 1 {
		return err
	}
	st, err := d.prepared(ctx, false, hasToken)
	if err != nil {
		return err
	}
	return missingOr(ctx, st, oauth.ErrConflict, presented)
}

// RenewRefreshToken implements oauth.TokenStore. A token that was rotated or does not exist gives oauth.ErrNotFound.
func (d *DB) RenewRefreshToken(ctx context.Context, hash []byte, _, expires time.Time) error {
	n, err := d.exec(ctx, `UPDATE refresh_tokens SET expires_at = ? WHERE hash = ? AND successor_hash IS NULL`, d.ts(expires), hash)
	if err != nil {
		return fmt.Errorf("renew refresh token: %w", err)
	}
	if n != 1 {
		return oauth.ErrNotFound
	}
	return nil
}

// RevokeAccessToken implements oauth.TokenStore.
func (d *DB) RevokeAccessToken(ctx context.Context, jti string, expires time.Time) error {
	_, err := d.exec(ctx, `INSERT INTO revoked_access_tokens (jti, expires_at) VALUES (?, ?) ON CONFLICT (jti) DO NOTHING`, jti, d.ts(expires))
	if err != nil {
		return fmt.Errorf("revoke access token: %w", err)
	}
	return nil
}
