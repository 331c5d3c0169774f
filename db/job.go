package db

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// Bounds of a lease: a job is done or given up when its lease ends, so that another process may take it.
const (
	shortestLease = time.Minute
	longestLease  = 15 * time.Minute
	// jobRetry is how soon a failed job is due again.
	jobRetry = time.Minute
)

// claimJob is one conditional UPDATE, on both databases: on Postgres a second process waits for the row for the moment
// of the first one's claim, then finds it leased.
const claimJob = `UPDATE jobs SET lease = ?, leased_until = ? WHERE name = ? AND due_at <= ?
	AND (leased_until IS NULL OR leased_until <= ?)`

// RunLeased runs fn when the job of this name is due and no other process holds it, and makes it due again after every.
// It reports whether fn ran. fn's context ends with the lease. A process that dies leaves a lease that runs out; a job
// that fails is due again soon.
func (d *DB) RunLeased(ctx context.Context, name string, every time.Duration, fn func(ctx context.Context) error) (ran bool, err error) {
	lease, err := uuid.NewRandom()
	if err != nil {
		return false, fmt.Errorf("job %s: %w", name, err)
	}
	now := d.now()
	length := min(max(every, shortestLease), longestLease)
	if claimed, err := d.claim(ctx, name, lease.String(), now, now.Add(length)); err != nil || !claimed {
		return false, wrap("job "+name, err)
	}
	work, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	failure := fn(work)
	due := now.Add(every)
	if failure != nil {
		due = now.Add(min(every, jobRetry))
	}
	_, err = d.exec(ctx, `UPDATE jobs SET lease = NULL, leased_until = NULL, due_at = ?, finished_at = ? WHERE name = ? AND lease = ?`,
		d.ts(due), d.ts(d.now()), name, lease.String())
	return true, wrap("job "+name, errors.Join(failure, err))
}

func (d *DB) claim(ctx context.Context, name, lease string, now, until time.Time) (bool, error) {
	n, err := d.exec(ctx, claimJob, lease, d.ts(until), name, d.ts(now), d.ts(now))
	if err != nil || n == 1 {
		return n == 1, err
	}
	// The first run of a job makes its row, due at once.
	if n, err = d.exec(ctx, `INSERT INTO jobs (name, due_at) VALUES (?, ?) ON CONFLICT (name) DO NOTHING`, name, d.ts(now)); err != nil || n == 0 {
		return false, err
	}
	n, err = d.exec(ctx, claimJob, lease, d.ts(until), name, d.ts(now), d.ts(now))
	return n == 1, err
}
