package db

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
)

// The hot paths speak to database/sql with prepared statements. Statements of a transaction are prepared before it
// begins: SQLite has one writing connection, and preparing inside would wait for itself.

// rawTx runs fn in one write transaction with the statements given, in their order. Like tx it cuts the caller's
// cancellation and tries serialization failures again.
func (d *DB) rawTx(ctx context.Context, texts []string, fn func(ctx context.Context, st []*sql.Stmt) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 15*time.Second)
	defer cancel()
	var err error
	for range 4 {
		if err = d.rawTxOnce(ctx, texts, fn); !retryable(err) {
			return err
		}
	}
	return err
}

func (d *DB) rawTxOnce(ctx context.Context, texts []string, fn func(ctx context.Context, st []*sql.Stmt) error) error {
	st := make([]*sql.Stmt, len(texts))
	var err error
	for i, text := range texts {
		if st[i], err = d.prepared(ctx, true, text); err != nil {
			return err
		}
	}
	tx, err := d.wsql.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer func() { _ = tx.Rollback() }()
	for i := range st {
		st[i] = tx.StmtContext(ctx, st[i])
	}
	if err := fn(d.brief(ctx), st); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// exec runs one prepared statement on the writing pool and gives the number of rows it changed.
func (d *DB) exec(ctx context.Context, text string, args ...any) (int64, error) {
	st, err := d.prepared(ctx, true, text)
	if err != nil {
		return 0, err
	}
	res, err := st.ExecContext(context.WithoutCancel(ctx), args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// brief is the context of one short read. SQLite answers from this process in microseconds; watching for a caller who
// leaves would start two goroutines for each read, which cost as much as the read itself.
func (d *DB) brief(ctx context.Context) context.Context {
	if d.dialect == SQLite {
		return context.WithoutCancel(ctx)
	}
	return ctx
}

// query runs one prepared statement on the reading pool.
func (d *DB) query(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	ctx = d.brief(ctx)
	st, err := d.prepared(ctx, false, text)
	if err != nil {
		return nil, err
	}
	return st.QueryContext(ctx, args...)
}

// queryRow scans the one row of a prepared statement on the reading pool; sql.ErrNoRows when there is none.
func (d *DB) queryRow(ctx context.Context, text string, args []any, dest ...any) error {
	ctx = d.brief(ctx)
	st, err := d.prepared(ctx, false, text)
	if err != nil {
		return err
	}
	return st.QueryRowContext(ctx, args...).Scan(dest...)
}

// changed reports how many rows a statement inside a transaction changed.
func changed(ctx context.Context, st *sql.Stmt, args ...any) (int64, error) {
	res, err := st.ExecContext(ctx, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// tsPtr is ts for nullable parameters.
func (d *DB) tsPtr(t *time.Time) any {
	if t == nil {
		return nil
	}
	return d.ts(*t)
}

// isID reports whether s can be the value of an {id} column. What cannot be is not found; Postgres would refuse it.
func isID(s string) bool {
	if len(s) != 36 {
		return false
	}
	_, err := uuid.Parse(s)
	return err == nil
}

// isText reports whether s can be the value of a text column. Postgres refuses zero bytes and broken UTF-8.
func isText(s string) bool { return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 }

// cleanText makes s storable on both databases.
func cleanText(s string) string {
	if isText(s) {
		return s
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "")
}

// tsOrNull is ts for nullable parameters whose zero means none.
func (d *DB) tsOrNull(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return d.ts(t)
}
