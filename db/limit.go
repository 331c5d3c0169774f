package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"gorm.io/gorm"

	"gatehouse/app/limit"
)

// reserveWindow opens a window, or takes the next part of one that is open and not given away. The part is what is left
// when that is less than asked for, so the parts of a window never exceed its budget.
const reserveWindow = `INSERT INTO rate_windows (key, closes_at, taken, granted) VALUES (?, ?, ?, ?)
	ON CONFLICT (key) DO UPDATE SET
		granted = CASE WHEN rate_windows.closes_at <= ? OR rate_windows.taken + excluded.granted <= ?
			THEN excluded.granted ELSE ? - rate_windows.taken END,
		taken = CASE WHEN rate_windows.closes_at <= ? THEN excluded.taken
			WHEN rate_windows.taken + excluded.granted <= ? THEN rate_windows.taken + excluded.granted ELSE ? END,
		closes_at = CASE WHEN rate_windows.closes_at <= ? THEN excluded.closes_at ELSE rate_windows.closes_at END
	WHERE rate_windows.closes_at <= ? OR rate_windows.taken < ?
	RETURNING closes_at, taken, granted`

// ReserveWindow implements limit.WindowStore.
func (d *DB) ReserveWindow(ctx context.Context, key string, spec limit.Spec, want int, now time.Time) (limit.Block, error) {
	want = min(want, spec.Budget)
	st, err := d.prepared(ctx, true, reserveWindow)
	if err != nil {
		return limit.Block{}, err
	}
	t, budget := d.ts(now), spec.Budget
	var closes Timestamp
	var b limit.Block
	err = st.QueryRowContext(ctx, cleanText(key), d.ts(now.Add(spec.Window)), want, want,
		t, budget, budget, t, budget, budget, t, t, budget).Scan(&closes, &b.Taken, &b.Granted)
	if errors.Is(err, sql.ErrNoRows) {
		return d.spentWindow(ctx, key, spec, now)
	}
	if err != nil {
		return limit.Block{}, fmt.Errorf("reserve in a window: %w", err)
	}
	b.ClosesAt = closes.T
	return b, nil
}

// spentWindow reads when a window that is given away closes.
func (d *DB) spentWindow(ctx context.Context, key string, spec limit.Spec, now time.Time) (limit.Block, error) {
	var closes Timestamp
	err := d.queryRow(ctx, `SELECT closes_at FROM rate_windows WHERE key = ?`, []any{cleanText(key)}, &closes)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return limit.Block{}, fmt.Errorf("read a window: %w", err)
	}
	if closes.T.Before(now) {
		closes.T = now.Add(time.Second) // swept at this moment: ask again soon
	}
	return limit.Block{Taken: spec.Budget, ClosesAt: closes.T}, nil
}

// SweepWindows forgets windows that have closed.
func (d *DB) SweepWindows(ctx context.Context, now time.Time) error {
	if err := d.w(ctx).Exec(`DELETE FROM rate_windows WHERE closes_at <= ?`, d.ts(now)).Error; err != nil {
		return fmt.Errorf("sweep windows: %w", err)
	}
	return nil
}

// UpdateThrottles implements limit.ThrottleStore. Keys that have no row yet cannot be locked by row, hence the advisory
// locks on Postgres; they are taken in order.
func (d *DB) UpdateThrottles(ctx context.Context, keys []string, decide func(map[string]*limit.Throttle) error) error {
	keys = slices.Compact(slices.Sorted(slices.Values(keys)))
	return d.tx(ctx, func(tx *gorm.DB) error {
		for _, k := range keys {
			if d.dialect != Postgres {
				break
			}
			if err := tx.Exec(`SELECT pg_advisory_xact_lock(hashtextextended(?, 0))`, k).Error; err != nil {
				return fmt.Errorf("lock throttle: %w", err)
			}
		}
		counts, err := readThrottles(tx, keys)
		if err != nil {
			return err
		}
		before := map[string]limit.Throttle{}
		for k, t := range counts {
			before[k] = *t
		}
		if err := decide(counts); err != nil {
			return err
		}
		for _, k := range slices.Sorted(maps.Keys(counts)) {
			if *counts[k] != before[k] {
				if err := d.writeThrottle(tx, k, counts[k]); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func readThrottles(tx *gorm.DB, keys []string) (map[string]*limit.Throttle, error) {
	out := map[string]*limit.Throttle{}
	for _, k := range keys {
		out[k] = &limit.Throttle{}
	}
	var rows []struct {
		Key            string
		Failures       int
		LastAt, NextAt Timestamp
		FamiliarUntil  *Timestamp
	}
	err := tx.Raw(`SELECT key, failures, last_at, next_at, familiar_until FROM sign_in_throttle WHERE key IN ?`, keys).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("read throttle: %w", err)
	}
	for _, r := range rows {
		out[r.Key] = &limit.Throttle{Failures: r.Failures, LastAt: r.LastAt.T, NextAt: r.NextAt.T, FamiliarUntil: r.FamiliarUntil.ptr()}
	}
	return out, nil
}

func (d *DB) writeThrottle(tx *gorm.DB, key string, t *limit.Throttle) error {
	err := tx.Exec(`INSERT INTO sign_in_throttle (key, failures, last_at, next_at, familiar_until) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (key) DO UPDATE SET failures = excluded.failures, last_at = excluded.last_at, next_at = excluded.next_at,
			familiar_until = excluded.familiar_until`, key, t.Failures, d.ts(t.LastAt), d.ts(t.NextAt), d.tsPtr(t.FamiliarUntil)).Error
	if err != nil {
		return fmt.Errorf("write throttle: %w", err)
	}
	return nil
}

// SweepThrottles implements limit.ThrottleStore.
func (d *DB) SweepThrottles(ctx context.Context, before, now time.Time) error {
	err := d.w(ctx).Exec(`DELETE FROM sign_in_throttle WHERE last_at < ? AND (familiar_until IS NULL OR familiar_until <= ?)`, d.ts(before), d.ts(now)).Error
	if err != nil {
		return fmt.Errorf("sweep throttle: %w", err)
	}
	return nil
}
