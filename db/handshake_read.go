package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"gatehouse/app/handshake"
)

// Handshakes implements handshake.Store.
func (d *DB) Handshakes(ctx context.Context, f handshake.Filter) ([]handshake.Attempt, error) {
	if !isText(f.UserID) || !isText(f.Client) || !isText(f.Address) {
		return nil, nil
	}
	q := d.r(ctx).Table("handshake_attempts").Select(attemptColumns).Order("last_at DESC, id DESC")
	if f.UserID != "" {
		q = q.Where("user_id = ?", f.UserID)
	}
	if f.Client != "" {
		q = q.Where(`client_id = ? OR lower(client_name) LIKE ? ESCAPE '\'`, f.Client, contains(f.Client))
	}
	if f.Address != "" {
		q = q.Where("ip = ?", f.Address)
	}
	if f.Failed {
		q = q.Where("failed")
	}
	if f.Limit > 0 {
		q = q.Limit(f.Limit).Offset(f.Offset)
	}
	rows, err := q.Rows()
	if err != nil {
		return nil, wrap("list connection attempts", err)
	}
	defer rows.Close()
	var out []handshake.Attempt
	for rows.Next() {
		a, err := scanAttempt(rows)
		if err != nil {
			return nil, wrap("list connection attempts", err)
		}
		out = append(out, a)
	}
	return out, wrap("list connection attempts", rows.Err())
}

// Handshake implements handshake.Store.
func (d *DB) Handshake(ctx context.Context, id string) (*handshake.Attempt, error) {
	if id == "" || !isText(id) {
		return nil, handshake.ErrNotFound
	}
	a, err := d.findAttempt(ctx, id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, handshake.ErrNotFound
	}
	if err != nil {
		return nil, wrap("read connection attempt", err)
	}
	if a.Steps, err = d.handshakeSteps(ctx, a.ID); err != nil {
		return nil, wrap("read connection attempt", err)
	}
	return &a, nil
}

// findAttempt looks an id up as that of an attempt, of an authorization request, and of an HTTP request that was a step.
// All are random, so that they cannot meet.
func (d *DB) findAttempt(ctx context.Context, id string) (handshake.Attempt, error) {
	wheres := []string{"request_id = ?", "id IN (SELECT attempt_id FROM handshake_steps WHERE http_request = ?)"}
	if isID(id) {
		wheres = append([]string{"id = ?"}, wheres...)
	}
	for _, where := range wheres {
		a, err := scanAttempt(d.r(ctx).Raw(`SELECT `+attemptColumns+` FROM handshake_attempts WHERE `+where+` ORDER BY last_at DESC LIMIT 1`, id).Row())
		if !errors.Is(err, sql.ErrNoRows) {
			return a, err
		}
	}
	return handshake.Attempt{}, sql.ErrNoRows
}

// HandshakeStamp implements handshake.Store.
func (d *DB) HandshakeStamp(ctx context.Context, userID string) (string, error) {
	var steps int64
	var attempts int64
	var last *Timestamp
	err := d.queryRow(ctx, `SELECT count(*), CAST(coalesce(sum(steps), 0) AS bigint), max(last_at) FROM handshake_attempts WHERE user_id = ? AND user_id <> ''`,
		[]any{userID}, &attempts, &steps, &last)
	if err != nil {
		return "", wrap("look for news of connection attempts", err)
	}
	stamp := fmt.Sprint(attempts, " ", steps)
	if last != nil {
		stamp += last.T.Format(" 15:04:05.000")
	}
	return stamp, nil
}
