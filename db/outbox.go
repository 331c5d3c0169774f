package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"gatehouse/app/mail"
)

// AddMail implements mail.Store.
func (d *DB) AddMail(ctx context.Context, e mail.Entry) error {
	_, err := d.exec(ctx, `INSERT INTO outbox (id, message, attempts, next_at, created_at) VALUES (?, ?, 0, ?, ?)`,
		e.ID, e.Message, d.ts(e.Created), d.ts(e.Created))
	return wrap("add mail", err)
}

// TakeMail implements mail.Store. Of two processes that see the same entry, one moves its time.
func (d *DB) TakeMail(ctx context.Context, now, until time.Time) (taken *mail.Entry, err error) {
	err = d.tx(ctx, func(tx *gorm.DB) error {
		taken = nil
		var e mail.Entry
		var created Timestamp
		text := `SELECT id, message, attempts, created_at FROM outbox WHERE next_at <= ? ORDER BY next_at LIMIT 1`
		if d.dialect == Postgres {
			text += ` FOR UPDATE SKIP LOCKED`
		}
		err := tx.Raw(text, d.ts(now)).Row().Scan(&e.ID, &e.Message, &e.Attempts, &created)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read outbox: %w", err)
		}
		res := tx.Exec(`UPDATE outbox SET next_at = ?, attempts = attempts + 1 WHERE id = ? AND attempts = ? AND next_at <= ?`,
			d.ts(until), e.ID, e.Attempts, d.ts(now))
		if res.Error != nil || res.RowsAffected != 1 {
			return res.Error
		}
		e.Created = created.T
		taken = &e
		return nil
	})
	return taken, err
}

// RetryMail implements mail.Store.
func (d *DB) RetryMail(ctx context.Context, id string, next time.Time) error {
	_, err := d.exec(ctx, `UPDATE outbox SET next_at = ? WHERE id = ?`, d.ts(next), id)
	return wrap("put mail back", err)
}

// DropMail implements mail.Store.
func (d *DB) DropMail(ctx context.Context, id string) error {
	_, err := d.exec(ctx, `DELETE FROM outbox WHERE id = ?`, id)
	return wrap("drop mail", err)
}
