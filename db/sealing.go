package db

import (
	"context"
	"fmt"

	"gorm.io/gorm"
)

// SealingCheck implements sealing.CheckStore.
func (d *DB) SealingCheck(ctx context.Context, fresh []byte) ([]byte, error) {
	var stored []byte
	err := d.tx(ctx, func(tx *gorm.DB) error {
		err := tx.Exec(`INSERT INTO sealing_checks (name, value) VALUES ('key', ?) ON CONFLICT (name) DO NOTHING`, fresh).Error
		if err != nil {
			return err
		}
		return tx.Raw(`SELECT value FROM sealing_checks WHERE name = 'key'`).Row().Scan(&stored)
	})
	if err != nil {
		return nil, fmt.Errorf("read sealing check: %w", err)
	}
	return stored, nil
}

// Sealed reports whether the database was set up with a secret key before.
func (d *DB) Sealed(ctx context.Context) (bool, error) {
	var sealed bool
	err := d.w(ctx).Raw(`SELECT EXISTS (SELECT 1 FROM sealing_checks WHERE name = 'key')`).Row().Scan(&sealed)
	return sealed, wrap("read sealing check", err)
}
