package db

import (
	"context"
	"strings"
	"time"

	"gorm.io/gorm"
)

// ExecForTest runs one statement on the writing pool.
func ExecForTest(d *DB, text string, args ...any) error {
	_, err := d.wsql.ExecContext(context.Background(), d.rebind(text), args...)
	return err
}

// SetBroadWordForTest makes a word broad that has this many hits.
func SetBroadWordForTest(d *DB, hits int64) { d.broadWord = hits }

// CountForTest gives the number of rows that a statement counts.
func CountForTest(d *DB, text string, args ...any) (int, error) {
	var n int
	err := d.rsql.QueryRowContext(context.Background(), d.rebind(text), args...).Scan(&n)
	return n, err
}

// TimeForTest is a time as a statement's parameter.
func TimeForTest(d *DB, t time.Time) any { return d.ts(t) }

// SweepStrangersForTest is the sweep of attempts without a person with another number to keep.
func SweepStrangersForTest(d *DB, keep int) error {
	return d.sweepStrangers(context.Background(), keep)
}

// LeaveForTest is the leaving of a location as its transaction runs it.
func LeaveForTest(d *DB, userID, locationID string, at time.Time) error {
	return d.tx(context.Background(), func(tx *gorm.DB) error { return d.dropConnectionsFromLocation(tx, userID, locationID, at) })
}

// HotStatements are the reads whose cost must not grow with the tables.
func HotStatements() map[string]string {
	return map[string]string{
		"principal": selectPrincipal, "lineage": selectLineage, "code": selectCode, "client": selectClient,
		"use code": useCode, "rotate": rotateToken,
	}
}

// PlanForTest gives SQLite's plan of a statement.
func PlanForTest(d *DB, text string) ([]string, error) {
	args := make([]any, strings.Count(text, "?"))
	rows, err := d.rsql.QueryContext(context.Background(), "EXPLAIN QUERY PLAN "+text, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var plan []string
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			return nil, err
		}
		plan = append(plan, detail)
	}
	return plan, rows.Err()
}
