package db_test

import (
	"context"
	"os"
	"path/filepath"
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

// The file holds everything about everybody; the folder may be one that others can look into.
func TestOpenMakesPrivateFiles(t *testing.T) {
	t.Parallel()
	clock := dbtest.NewClock()
	path := filepath.Join(t.TempDir(), "open", "gatehouse.db")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // the open folder is the point
		t.Fatal(err)
	}
	dbtest.Open(t, "sqlite://"+path, clock.Now)
	files, err := filepath.Glob(path + "*")
	if err != nil || len(files) == 0 {
		t.Fatalf("files %v, %v", files, err)
	}
	for _, name := range files {
		info, err := os.Stat(name)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, %v", filepath.Base(name), info.Mode().Perm(), err)
		}
	}
}
