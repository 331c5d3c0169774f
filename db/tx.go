package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"gorm.io/gorm"
)

// r is a handle for reading, w one for writing outside a transaction.
func (d *DB) r(ctx context.Context) *gorm.DB { return d.read.WithContext(ctx) }
func (d *DB) w(ctx context.Context) *gorm.DB { return d.write.WithContext(ctx) }

// tx runs fn in one write transaction. A state change once begun is not given up because the caller left: the context's
// cancellation is cut and replaced by a deadline. Postgres' serialization failures and deadlocks are tried again.
func (d *DB) tx(ctx context.Context, fn func(tx *gorm.DB) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 15*time.Second)
	defer cancel()
	var err error
	for range 4 {
		err = d.write.WithContext(ctx).Transaction(fn)
		if !retryable(err) {
			return err
		}
	}
	return err
}

func retryable(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "40001" || pg.Code == "40P01")
}

// isUnique reports whether err is a broken unique constraint.
func isUnique(err error) bool { return errors.Is(err, gorm.ErrDuplicatedKey) }

// one checks that a conditional statement changed exactly one row; else it gives the error.
func one(res *gorm.DB, otherwise error) error {
	if res.Error != nil {
		return res.Error
	}
	if res.RowsAffected != 1 {
		return otherwise
	}
	return nil
}

// statements are prepared statements of the hot paths, by text. Postgres and SQLite share a text with ? as placeholder.
type statements struct {
	mu sync.RWMutex
	m  map[string]*sql.Stmt
}

// prepared returns the statement for the text on the reading or the writing pool, preparing it once.
func (d *DB) prepared(ctx context.Context, write bool, text string) (*sql.Stmt, error) {
	key := text
	if write {
		key = "w" + text
	}
	d.stmts.mu.RLock()
	st := d.stmts.m[key]
	d.stmts.mu.RUnlock()
	if st != nil {
		return st, nil
	}
	return d.prepare(ctx, write, key, text)
}

func (d *DB) prepare(ctx context.Context, write bool, key, text string) (*sql.Stmt, error) {
	d.stmts.mu.Lock()
	defer d.stmts.mu.Unlock()
	if st := d.stmts.m[key]; st != nil {
		return st, nil
	}
	pool := d.rsql
	if write {
		pool = d.wsql
	}
	st, err := pool.PrepareContext(context.WithoutCancel(ctx), d.rebind(text))
	if err != nil {
		return nil, fmt.Errorf("prepare statement: %w", err)
	}
	if d.stmts.m == nil {
		d.stmts.m = map[string]*sql.Stmt{}
	}
	d.stmts.m[key] = st
	return st, nil
}

func (s *statements) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, st := range s.m {
		_ = st.Close()
	}
	s.m = nil
}

// rebind turns ? into $1, $2 … for Postgres. Statement texts hold no question marks in literals.
func (d *DB) rebind(text string) string {
	if d.dialect != Postgres {
		return text
	}
	var b strings.Builder
	n := 0
	for i := range len(text) {
		if text[i] != '?' {
			b.WriteByte(text[i])
			continue
		}
		n++
		b.WriteString("$" + strconv.Itoa(n))
	}
	return b.String()
}
