package db

import (
	"context"
	"fmt"
	"sync"
	"time"

	"gatehouse/app/account"
	"gatehouse/app/home"
)

// locationColumns are what scanning into locationFacts reads.
const locationColumns = `l.id, l.name, m.role, l.time_zone, l.currency, CAST(l.currencies AS text), l.viewer_sees_money, ` + enabledModules

// selectTokenPrincipal is the one statement that every call with a personal token runs: token and person, with a row for
// each location that the token names and the person belongs to at this moment. See selectPrincipal.
const selectTokenPrincipal = `SELECT t.id, t.user_id, u.name, t.hash, t.scope, t.expires_at, t.revoked_at IS NOT NULL OR u.disabled_at IS NOT NULL,
	` + locationColumns + `
	FROM personal_tokens t
	JOIN users u ON u.id = t.user_id
	LEFT JOIN personal_token_locations tl ON tl.token_id = t.id
	LEFT JOIN members m ON m.location_id = tl.location_id AND m.user_id = t.user_id
	LEFT JOIN locations l ON l.id = m.location_id AND l.deleted_at IS NULL
	WHERE t.lookup = ?`

// Scopes of a personal token's principal. They are shared and never changed.
var (
	readScopes  = []string{home.ScopeRead}
	writeScopes = []string{home.ScopeRead, home.ScopeWrite}
)

// PrincipalByPersonalToken implements home.PrincipalStore.
func (d *DB) PrincipalByPersonalToken(ctx context.Context, lookup string, hash []byte, now time.Time) (*home.Principal, error) {
	if !isText(lookup) {
		return nil, account.ErrUnauthorized
	}
	rows, err := d.query(ctx, selectTokenPrincipal, lookup)
	if err != nil {
		return nil, fmt.Errorf("read principal: %w", err)
	}
	defer rows.Close()
	var (
		p                       home.Principal
		id, userID, name, scope string
		stored                  []byte
		expires                 *Timestamp
		dead, found             bool
		l                       locationFacts
	)
	dest := append([]any{&id, &userID, &name, &stored, &scope, &expires, &dead}, l.columns()...)
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return nil, fmt.Errorf("read principal: %w", err)
		}
		if !found {
			found = true
			if !account.SameHash(stored, hash) || dead || expires != nil && !expires.T.After(now) {
				return nil, account.ErrUnauthorized
			}
			p = home.Principal{UserID: userID, UserName: name, Actor: home.ActorToken, TokenID: id, Scopes: readScopes}
			if scope == account.TokenWrite {
				p.Scopes = writeScopes
			}
		}
		if l.id.Valid {
			p.Locations = append(p.Locations, l.access())
		}
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read principal: %w", err)
	}
	if !found {
		return nil, account.ErrUnauthorized
	}
	sortAccess(p.Locations)
	return &p, nil
}

// columns are the destinations of locationColumns.
func (l *locationFacts) columns() []any {
	return []any{&l.id, &l.name, &l.role, &l.zone, &l.currency, &l.currencies, &l.money, &l.modules}
}

// AccessOf implements home.PrincipalStore.
func (d *DB) AccessOf(ctx context.Context, userID string) ([]home.Access, error) {
	if !isID(userID) {
		return nil, nil
	}
	rows, err := d.query(ctx, `SELECT `+locationColumns+` FROM members m JOIN locations l ON l.id = m.location_id
		WHERE m.user_id = ? AND l.deleted_at IS NULL`, userID)
	if err != nil {
		return nil, fmt.Errorf("read locations of a person: %w", err)
	}
	defer rows.Close()
	var l locationFacts
	dest := l.columns()
	var out []home.Access
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return nil, fmt.Errorf("read locations of a person: %w", err)
		}
		out = append(out, l.access())
	}
	sortAccess(out)
	return out, rows.Err()
}

// tokenUses remembers which tokens' uses were noted lately, so that a busy token costs one write a minute. The zero value
// is ready.
type tokenUses struct {
	mu    sync.Mutex
	noted map[string]time.Time
}

func (t *tokenUses) due(id string, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now.Sub(t.noted[id]) < touchEvery {
		return false
	}
	if t.noted == nil || len(t.noted) >= touchTracked {
		t.noted = map[string]time.Time{} // at worst every token is noted once more
	}
	t.noted[id] = now
	return true
}

// TouchPersonalToken notes when a personal token was last used and from which address, at most once a minute: other
// processes are kept to it by the condition.
func (d *DB) TouchPersonalToken(ctx context.Context, tokenID, ip string, now time.Time) error {
	if !isID(tokenID) || !d.tokenUses.due(tokenID, now) {
		return nil
	}
	_, err := d.exec(ctx, `UPDATE personal_tokens SET last_used_at = ?, last_used_ip = ? WHERE id = ? AND (last_used_at IS NULL OR last_used_at <= ?)`,
		d.ts(now), cleanText(ip), tokenID, d.ts(now.Add(-touchEvery)))
	if err != nil {
		return fmt.Errorf("note use of a token: %w", err)
	}
	return nil
}
