package db

import (
	"context"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// rowSet is what the rows of database/sql and those of the Postgres driver have in common.
type rowSet interface {
	Next() bool
	Scan(dest ...any) error
	Err() error
}

// readHot runs a read that every call makes and gives its rows to fn. On Postgres it speaks to the driver itself: for each
// read database/sql would start a goroutine that watches the caller, and make a decoder for each column. The driver keeps
// the statement prepared on each connection, as database/sql does.
func (d *DB) readHot(ctx context.Context, text string, args []any, fn func(rows rowSet) error) error {
	if d.dialect == Postgres {
		return d.readDirect(ctx, text, args, fn)
	}
	rows, err := d.query(ctx, text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	return fn(rows)
}

// readDirect tries again when the server had closed the connection before it took the statement.
func (d *DB) readDirect(ctx context.Context, text string, args []any, fn func(rows rowSet) error) error {
	text = d.texts.rebound(d, text)
	for again := 2; ; again-- {
		err := d.readDirectOnce(ctx, text, args, fn)
		if err == nil || again == 0 || !pgconn.SafeToRetry(err) {
			return err
		}
	}
}

func (d *DB) readDirectOnce(ctx context.Context, text string, args []any, fn func(rows rowSet) error) error {
	c, err := d.rsql.Conn(ctx)
	if err != nil {
		return fmt.Errorf("take a connection: %w", err)
	}
	defer c.Close()
	return c.Raw(func(raw any) error {
		rows, err := raw.(*stdlib.Conn).Conn().Query(ctx, text, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		return fn(rows)
	})
}

var _ rowSet = pgx.Rows(nil)

// texts are statements in Postgres' form, by their text.
type texts struct{ m sync.Map }

func (t *texts) rebound(d *DB, text string) string {
	if known, ok := t.m.Load(text); ok {
		return known.(string)
	}
	rebound := d.rebind(text)
	t.m.Store(text, rebound)
	return rebound
}
