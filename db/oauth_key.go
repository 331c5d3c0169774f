package db

import (
	"context"
	"fmt"
	"slices"

	"gorm.io/gorm"

	"gatehouse/oauth"
)

const selectKeys = `SELECT kid, algorithm, public_jwk, sealed, state, created_at, activated_at, retired_at
	FROM signing_keys ORDER BY created_at, kid`

// Keys implements oauth.KeyStore.
func (d *DB) Keys(ctx context.Context) ([]oauth.SigningKey, error) {
	keys, err := readKeys(d.r(ctx))
	if err != nil {
		return nil, fmt.Errorf("read keys: %w", err)
	}
	return keys, nil
}

func readKeys(g *gorm.DB) ([]oauth.SigningKey, error) {
	rows, err := g.Raw(selectKeys).Rows()
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var keys []oauth.SigningKey
	for rows.Next() {
		var k oauth.SigningKey
		var created Timestamp
		var activated, retired *Timestamp
		if err := rows.Scan(&k.KID, &k.Algorithm, &k.PublicJWK, &k.Sealed, &k.State, &created, &activated, &retired); err != nil {
			return nil, err
		}
		k.CreatedAt, k.ActivatedAt, k.RetiredAt = created.T, activated.ptr(), retired.ptr()
		keys = append(keys, k)
	}
	return keys, rows.Err()
}

// keyLock is the key of Postgres' advisory lock for the set of signing keys.
const keyLock = 0x6b657973

// ChangeKeys implements oauth.KeyStore. On Postgres an advisory lock of the transaction keeps other processes out; on
// SQLite the write transaction itself does. fn may run again when the transaction is retried.
func (d *DB) ChangeKeys(ctx context.Context, fn func(keys []oauth.SigningKey) ([]oauth.SigningKey, error)) error {
	err := d.tx(ctx, func(tx *gorm.DB) error {
		if d.dialect == Postgres {
			if err := tx.Exec(`SELECT pg_advisory_xact_lock(?)`, keyLock).Error; err != nil {
				return err
			}
		}
		before, err := readKeys(tx)
		if err != nil {
			return err
		}
		after, err := fn(slices.Clone(before)) // fn may work in place
		if err != nil {
			return err
		}
		return d.storeKeys(tx, before, after)
	})
	if err != nil {
		return fmt.Errorf("change keys: %w", err)
	}
	return nil
}

func (d *DB) storeKeys(tx *gorm.DB, before, after []oauth.SigningKey) error {
	kept := map[string]bool{}
	for _, k := range after {
		kept[k.KID] = true
	}
	for _, k := range before {
		if kept[k.KID] {
			continue
		}
		if err := tx.Exec(`DELETE FROM signing_keys WHERE kid = ?`, k.KID).Error; err != nil {
			return err
		}
	}
	for _, k := range after {
		err := tx.Exec(`INSERT INTO signing_keys (kid, algorithm, public_jwk, sealed, state, created_at, activated_at, retired_at)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (kid) DO UPDATE SET sealed = excluded.sealed, state = excluded.state,
			activated_at = excluded.activated_at, retired_at = excluded.retired_at`,
			k.KID, k.Algorithm, k.PublicJWK, k.Sealed, string(k.State), d.ts(k.CreatedAt), d.tsPtr(k.ActivatedAt), d.tsPtr(k.RetiredAt)).Error
		if err != nil {
			return err
		}
	}
	return nil
}
