package db

import (
	"context"
	"fmt"
	"time"

	"gatehouse/oauth"
)

// UseProof implements oauth.ProofStore: of all processes on the database one inserts the row.
func (d *DB) UseProof(ctx context.Context, hash []byte, expires time.Time) error {
	n, err := d.exec(ctx, `INSERT INTO used_proofs (hash, expires_at) VALUES (?, ?) ON CONFLICT (hash) DO NOTHING`, hash, d.ts(expires))
	if err != nil {
		return fmt.Errorf("use proof: %w", err)
	}
	if n != 1 {
		return oauth.ErrUsed
	}
	return nil
}

// BindFamily implements oauth.TokenStore.
func (d *DB) BindFamily(ctx context.Context, id, keyThumbprint string) error {
	if !isID(id) {
		return oauth.ErrNotFound
	}
	n, err := d.exec(ctx, `UPDATE families SET key_thumbprint = ? WHERE id = ? AND key_thumbprint = ''`, keyThumbprint, id)
	if err != nil {
		return fmt.Errorf("bind family: %w", err)
	}
	if n == 1 {
		return nil
	}
	st, err := d.prepared(ctx, false, `SELECT EXISTS (SELECT 1 FROM families WHERE id = ?)`)
	if err != nil {
		return fmt.Errorf("bind family: %w", err)
	}
	return missingOr(ctx, st, oauth.ErrConflict, id)
}
