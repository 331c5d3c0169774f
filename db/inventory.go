package db

import (
	"context"
	"database/sql"

	"gorm.io/gorm"

	"gatehouse/app/activity"
	"gatehouse/app/inventory"
)

// inventoryTx is the inventory inside one transaction.
type inventoryTx struct {
	g         *gorm.DB
	dialect   string
	broadWord int64
}

var (
	_ inventory.Store  = (*DB)(nil)
	_ inventory.Writer = (*inventoryTx)(nil)
)

func (d *DB) inventoryTx(g *gorm.DB) *inventoryTx {
	return &inventoryTx{g: g, dialect: d.dialect, broadWord: d.broadWord}
}

// ReadInventory runs fn on one unchanging state of the database.
func (d *DB) ReadInventory(ctx context.Context, fn func(inventory.Reader) error) error {
	var opts []*sql.TxOptions
	if d.dialect == Postgres {
		opts = append(opts, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	}
	return d.r(ctx).Transaction(func(g *gorm.DB) error { return fn(d.inventoryTx(g)) }, opts...)
}

// WriteInventory runs fn in the one transaction that changes a location and logs the change.
func (d *DB) WriteInventory(ctx context.Context, b activity.Batch, log func() *activity.Log, fn func(inventory.Writer, *activity.Log) error) ([]activity.Record, error) {
	return d.writeLogged(ctx, b, log, func(g *gorm.DB, l *activity.Log) error {
		return fn(d.inventoryTx(g), l)
	})
}

// live is the condition on rows that tools may see; converted places became something else.
const (
	liveThing = "trashed_at IS NULL"
	livePlace = "trashed_at IS NULL AND converted_to_id IS NULL"
)

// onlyIDs drops what cannot be an id: Postgres would refuse the statement, where the row is just not found. The rest is
// padded.
func onlyIDs(ids []string) []string {
	out := make([]string, 0, len(ids))
	for _, id := range ids {
		if isID(id) {
			out = append(out, id)
		}
	}
	return padded(out)
}

// padded repeats the last id until the number of ids is a power of two. As a set it is the same, and statements with a
// list are prepared for a dozen lengths instead of for each.
func padded(ids []string) []string {
	for n := len(ids); n > 0 && n&(n-1) != 0; n++ {
		ids = append(ids, ids[n-1])
	}
	return ids
}
