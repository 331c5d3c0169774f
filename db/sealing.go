package db

import (
	"context"
	"database/sql"
	"errors"

	"gorm.io/gorm"
)

const (
	dataKeyName = "data_key"
	checkName   = "key" // what databases had before they had a data key
)

// DataKey implements sealing.DataKeyStore.
func (d *DB) DataKey(ctx context.Context, fresh []byte) ([]byte, error) {
	var stored []byte
	err := d.tx(ctx, func(tx *gorm.DB) error {
		if fresh != nil {
			err := tx.Exec(`INSERT INTO sealing_checks (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING`, dataKeyName, fresh).Error
			if err != nil {
				return err
			}
		}
		var err error
		stored, err = sealingValue(tx, dataKeyName)
		return err
	})
	return stored, wrap("read data key", err)
}

// ReplaceDataKey implements sealing.DataKeyStore.
func (d *DB) ReplaceDataKey(ctx context.Context, old, next []byte) (bool, error) {
	res := d.w(ctx).Exec(`UPDATE sealing_checks SET value = ? WHERE name = ? AND value = ?`, next, dataKeyName, old)
	return res.RowsAffected == 1, wrap("replace data key", res.Error)
}

// SealingCheck implements sealing.DataKeyStore.
func (d *DB) SealingCheck(ctx context.Context) ([]byte, error) {
	// Not on the writing pool: preparing there what a transaction is about to prepare, each would wait for the other.
	value, err := sealingValue(d.r(ctx), checkName)
	return value, wrap("read sealing check", err)
}

func sealingValue(tx *gorm.DB, name string) ([]byte, error) {
	var value []byte
	err := tx.Raw(`SELECT value FROM sealing_checks WHERE name = ?`, name).Row().Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return value, err
}

// Sealed reports whether the database was set up with a secret key before.
func (d *DB) Sealed(ctx context.Context) (bool, error) {
	var sealed bool
	err := d.w(ctx).Raw(`SELECT EXISTS (SELECT 1 FROM sealing_checks)`).Row().Scan(&sealed)
	return sealed, wrap("read data key", err)
}
