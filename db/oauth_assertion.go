package db

import (
	"context"
	"fmt"
	"time"

	"gatehouse/oauth"
)

// UseAssertion implements oauth.ClientStore. The primary key picks the one winner, over all processes.
func (d *DB) UseAssertion(ctx context.Context, hash []byte, expires time.Time) error {
	n, err := d.exec(ctx, `INSERT INTO client_assertions (hash, expires_at) VALUES (?, ?) ON CONFLICT (hash) DO NOTHING`, hash, d.ts(expires))
	if err != nil {
		return fmt.Errorf("use client assertion: %w", err)
	}
	if n != 1 {
		return oauth.ErrUsed
	}
	return nil
}
