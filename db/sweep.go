package db

import (
	"context"
	"fmt"
	"time"
)

// How long rows are kept after they have expired: so long that a late client still gets the exact reason, and that the
// replay of a code still ends the family that came from it.
const (
	keepRequests      = time.Hour
	keepCodes         = 24 * time.Hour
	keepRefreshTokens = 24 * time.Hour
	keepRevoked       = 5 * time.Minute
	keepProofs        = 5 * time.Minute // room for clocks of processes that differ
	keepUnusedClients = 72 * time.Hour
	keepPushed        = 15 * time.Minute // a reload may come while the opened request lives
	keepLogos         = 24 * time.Hour
	keepAccess        = 5 * time.Minute
	keepAssertions    = 5 * time.Minute // longer than clocks may differ
)

// Swept counts what one sweep did.
type Swept struct {
	Requests, Codes, RefreshTokens, RevokedTokens, AccessTokens, Assertions, Pushed, Proofs, Devices, Logos, Clients int
	// Connections and Families were not deleted but marked as ended.
	Connections, Families int
}

// SweepOAuth deletes what has expired in the authorization server's tables, in small portions that leave the writer
// free in between, and marks what has expired as ended.
func (d *DB) SweepOAuth(ctx context.Context, now time.Time) (Swept, error) {
	var s Swept
	steps := []struct {
		count  *int
		text   string
		before time.Time
	}{
		{&s.Requests, expired("authorization_requests", "id_hash"), now.Add(-keepRequests)},
		{&s.Codes, expired("authorization_codes", "hash"), now.Add(-keepCodes)},
		{&s.RefreshTokens, expired("refresh_tokens", "hash"), now.Add(-keepRefreshTokens)},
		{&s.RevokedTokens, expired("revoked_access_tokens", "jti"), now.Add(-keepRevoked)},
		{&s.AccessTokens, expired("access_tokens", "hash"), now.Add(-keepAccess)},
		{&s.Pushed, expired("pushed_requests", "id_hash"), now.Add(-keepPushed)},
		{&s.Assertions, expired("client_assertions", "hash"), now.Add(-keepAssertions)},
		{&s.Proofs, expired("used_proofs", "hash"), now.Add(-keepProofs)},
		{&s.Logos, expired("client_logos", "client_id"), now.Add(-keepLogos)},
		{&s.Devices, expired("device_requests", "hash"), now.Add(-keepRequests)},
	}
	for _, step := range steps {
		n, err := d.deleteSome(ctx, step.text, step.before)
		if err != nil {
			return s, fmt.Errorf("sweep: %w", err)
		}
		*step.count = n
	}
	if err := d.endExpired(ctx, now, &s); err != nil {
		return s, fmt.Errorf("sweep: %w", err)
	}
	var err error
	s.Clients, err = d.DeleteUnusedClients(ctx, now.Add(-keepUnusedClients))
	return s, wrap("sweep", err)
}

func expired(table, key string) string {
	return `DELETE FROM ` + table + ` WHERE ` + key + ` IN (SELECT ` + key + ` FROM ` + table + ` WHERE expires_at < ? LIMIT 1000)`
}

// deleteSome repeats a statement that deletes at most 1000 rows older than a time until it deletes fewer.
func (d *DB) deleteSome(ctx context.Context, text string, before time.Time) (int, error) {
	total := 0
	for {
		n, err := d.exec(ctx, text, d.ts(before))
		total += int(n)
		if err != nil || n < 1000 {
			return total, err
		}
		if err := ctx.Err(); err != nil {
			return total, err
		}
	}
}

// endExpired marks connections past their date, and families whose last refresh token is gone: nobody can come back
// through them, so that they are no installations any more. Families of grants without a code never had one.
func (d *DB) endExpired(ctx context.Context, now time.Time, s *Swept) error {
	n, err := d.exec(ctx, `UPDATE connections SET ended_at = expires_at, ended_reason = 'expired'
		WHERE ended_at IS NULL AND expires_at <= ?`, d.ts(now))
	if err != nil {
		return err
	}
	s.Connections = int(n)
	n, err = d.exec(ctx, `UPDATE families SET ended_at = ?, ended_reason = 'expired' WHERE ended_at IS NULL AND created_at < ?
		AND origin = '' AND NOT EXISTS (SELECT 1 FROM refresh_tokens t WHERE t.family_id = families.id)`, d.ts(now), d.ts(now.Add(-keepRefreshTokens)))
	s.Families = int(n)
	return err
}
