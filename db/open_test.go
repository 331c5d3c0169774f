package db_test

import (
	"context"
	"testing"

	"gatehouse/db"
	"gatehouse/db/dbtest"
)

func TestOpenMigrated(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB, _ *dbtest.Clock) {
		states, err := d.MigrationStatus(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range states {
			if !s.Applied {
				t.Errorf("migration %s is not applied", s.ID)
			}
		}
		if err := d.Migrate(context.Background()); err != nil {
			t.Errorf("migrating twice: %v", err)
		}
		if err := d.Ping(context.Background()); err != nil {
			t.Error(err)
		}
	})
}
