package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/go-gormigrate/gormigrate/v2"
	"gorm.io/gorm"

	"gatehouse/db/migrations"
)

// ErrNewerDatabase says that the database was migrated by a newer program.
var ErrNewerDatabase = errors.New("the database was changed by a newer version of the program; start that version, or restore a backup")

// MigrationState is one line of the migration status.
type MigrationState struct {
	ID      string
	Applied bool
}

// migrationLock is the key of Postgres' advisory lock that keeps two starting processes apart.
const migrationLock = 0x67617465

// Migrate brings the tables up to date, under a lock that holds across processes. A database that knows migrations this
// program does not gives ErrNewerDatabase and is left alone.
func (d *DB) Migrate(ctx context.Context) error { return d.onFile(d.migrate(ctx)) }

func (d *DB) migrate(ctx context.Context) error {
	unlock, err := d.lockMigrations(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := d.checkNotNewer(ctx); err != nil {
		return err
	}
	opts := *gormigrate.DefaultOptions
	opts.UseTransaction = true
	var list []*gormigrate.Migration
	for _, m := range migrations.All() {
		list = append(list, &gormigrate.Migration{ID: m.ID, Migrate: func(tx *gorm.DB) error { return migrations.Run(tx, m) }})
	}
	if err := gormigrate.New(d.write.WithContext(ctx), &opts, list).Migrate(); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return nil
}

// MigrationStatus lists all migrations of the program and whether the database has them.
func (d *DB) MigrationStatus(ctx context.Context) ([]MigrationState, error) {
	applied, err := d.appliedMigrations(ctx)
	if err != nil {
		return nil, d.onFile(err)
	}
	out := PendingMigrations()
	for i := range out {
		out[i].Applied = applied[out[i].ID]
	}
	return out, nil
}

// PendingMigrations is the status of a database that is not there yet.
func PendingMigrations() []MigrationState {
	var out []MigrationState
	for _, m := range migrations.All() {
		out = append(out, MigrationState{ID: m.ID})
	}
	return out
}

// Migrated reports whether the database has any of the program's tables.
func (d *DB) Migrated(ctx context.Context) (bool, error) {
	applied, err := d.appliedMigrations(ctx)
	return len(applied) > 0, d.onFile(err)
}

func (d *DB) checkNotNewer(ctx context.Context) error {
	applied, err := d.appliedMigrations(ctx)
	if err != nil {
		return err
	}
	for _, m := range migrations.All() {
		delete(applied, m.ID)
	}
	delete(applied, "SCHEMA_INIT")
	if len(applied) > 0 {
		return ErrNewerDatabase
	}
	return nil
}

func (d *DB) appliedMigrations(ctx context.Context) (map[string]bool, error) {
	applied := map[string]bool{}
	if !d.write.WithContext(ctx).Migrator().HasTable("migrations") {
		return applied, nil
	}
	var ids []string
	if err := d.w(ctx).Table("migrations").Pluck("id", &ids).Error; err != nil {
		return nil, fmt.Errorf("read migrations: %w", err)
	}
	for _, id := range ids {
		applied[id] = true
	}
	return applied, nil
}

// lockMigrations holds Postgres' advisory lock on a connection of its own. SQLite's single writer transaction per
// migration is lock enough: a second process finds the migration's row.
func (d *DB) lockMigrations(ctx context.Context) (func(), error) {
	if d.dialect != Postgres {
		return func() {}, nil
	}
	conn, err := d.wsql.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock($1)", migrationLock); err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("migrate: lock: %w", err)
	}
	return func() { unlockMigrations(conn) }, nil
}

func unlockMigrations(conn *sql.Conn) {
	_, _ = conn.ExecContext(context.Background(), "SELECT pg_advisory_unlock($1)", migrationLock)
	_ = conn.Close()
}
