package db

import (
	"context"
	"database/sql"
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

// bindFamily binds a family that is free.
const bindFamily = `UPDATE families SET key_thumbprint = ? WHERE id = ? AND key_thumbprint = ''`

// RotateAndBind implements oauth.TokenStore. The row of the presented token is claimed first: of two rotations at once, one
// of them without a key, the later one sees what the other made of the family.
func (d *DB) RotateAndBind(ctx context.Context, presented []byte, s *oauth.RefreshToken, sealed []byte, at time.Time, keyThumbprint string) error {
	err := d.rawTx(ctx, []string{rotateToken, hasToken, insertRefresh, bindFamily}, func(ctx context.Context, st []*sql.Stmt) error {
		n, err := changed(ctx, st[0], s.Hash, sealed, d.ts(at), presented)
		if err != nil {
			return err
		}
		if n != 1 {
			return missingOr(ctx, st[1], oauth.ErrConflict, presented)
		}
		if _, err = st[2].ExecContext(ctx, s.Hash, s.FamilyID, nullBytes(s.ParentHash), d.ts(s.CreatedAt), d.ts(s.ExpiresAt)); err != nil {
			return err
		}
		if n, err = changed(ctx, st[3], keyThumbprint, s.FamilyID); err == nil && n != 1 {
			err = oauth.ErrConflict
		}
		return err
	})
	return wrap("rotate and bind refresh token", err)
}
