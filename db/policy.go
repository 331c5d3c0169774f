package db

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"gatehouse/app/policy"
)

// clientPolicy is the name of the one row that there is so far.
const clientPolicy = "clients"

// Policy implements policy.Store.
func (d *DB) Policy(ctx context.Context) (*policy.Policy, error) {
	var value string
	err := d.queryRow(ctx, `SELECT value FROM policies WHERE name = ?`, []any{clientPolicy}, &value)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, policy.ErrNone
	}
	if err != nil {
		return nil, wrap("read policy", err)
	}
	var p policy.Policy
	if err := json.Unmarshal([]byte(value), &p); err != nil {
		return nil, wrap("read policy", err)
	}
	return &p, nil
}

// SavePolicy implements policy.Store.
func (d *DB) SavePolicy(ctx context.Context, p *policy.Policy, now time.Time) error {
	if p == nil {
		_, err := d.exec(ctx, `DELETE FROM policies WHERE name = ?`, clientPolicy)
		return wrap("reset policy", err)
	}
	value, err := json.Marshal(p)
	if err == nil {
		_, err = d.exec(ctx, `INSERT INTO policies (name, value, updated_at) VALUES (?, ?, ?)
			ON CONFLICT (name) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`, clientPolicy, string(value), d.ts(now))
	}
	return wrap("save policy", err)
}

// InsertRegistrationToken implements policy.TokenStore.
func (d *DB) InsertRegistrationToken(ctx context.Context, t policy.Token, hash []byte) error {
	var uses any
	if t.MaxUses > 0 {
		uses = t.MaxUses
	}
	_, err := d.exec(ctx, `INSERT INTO registration_tokens (id, hash, name, created_at, expires_at, max_uses) VALUES (?, ?, ?, ?, ?, ?)`,
		t.ID, hash, cleanText(t.Name), d.ts(t.CreatedAt), d.tsPtr(t.ExpiresAt), uses)
	return wrap("save registration token", err)
}

// RegistrationTokens implements policy.TokenStore.
func (d *DB) RegistrationTokens(ctx context.Context) ([]policy.Token, error) {
	rows, err := d.query(ctx, `SELECT id, name, coalesce(max_uses, 0), uses, created_at, expires_at, last_used_at, revoked_at
		FROM registration_tokens ORDER BY created_at DESC, id`)
	if err != nil {
		return nil, wrap("list registration tokens", err)
	}
	defer rows.Close()
	var out []policy.Token
	for rows.Next() {
		var t policy.Token
		var created Timestamp
		var expires, used, revoked *Timestamp
		if err := rows.Scan(&t.ID, &t.Name, &t.MaxUses, &t.Uses, &created, &expires, &used, &revoked); err != nil {
			return nil, wrap("list registration tokens", err)
		}
		t.CreatedAt, t.ExpiresAt, t.LastUsedAt, t.RevokedAt = created.T, expires.ptr(), used.ptr(), revoked.ptr()
		out = append(out, t)
	}
	return out, wrap("list registration tokens", rows.Err())
}

// RevokeRegistrationTokenByID implements policy.TokenStore.
func (d *DB) RevokeRegistrationTokenByID(ctx context.Context, id string, now time.Time) error {
	if !isID(id) {
		return policy.ErrNone
	}
	n, err := d.exec(ctx, `UPDATE registration_tokens SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL`, d.ts(now), id)
	if err == nil && n != 1 {
		err = policy.ErrNone
	}
	return wrap("revoke registration token", err)
}
