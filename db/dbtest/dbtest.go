package dbtest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"gatehouse/db"
)

// Clock is a clock that stands until told otherwise. It is safe for concurrent use.
type Clock struct {
	mu sync.Mutex
	t  time.Time
}

// NewClock starts a clock at a fixed moment.
func NewClock() *Clock { return &Clock{t: time.Date(2026, 11, 30, 10, 15, 0, 0, time.UTC)} }

// Now is the clock's time.
func (c *Clock) Now() time.Time { c.mu.Lock(); defer c.mu.Unlock(); return c.t }

// Advance moves the clock.
func (c *Clock) Advance(d time.Duration) { c.mu.Lock(); defer c.mu.Unlock(); c.t = c.t.Add(d) }

// Each runs f as a subtest on SQLite and on Postgres, each time with a fresh migrated database and a clock of its own.
func Each(t *testing.T, f func(t *testing.T, d *db.DB, clock *Clock)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		clock := NewClock()
		f(t, Open(t, SQLiteURL(t), clock.Now), clock)
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		clock := NewClock()
		f(t, Open(t, PostgresURL(t), clock.Now), clock)
	})
}

// Open opens and migrates the database at the URL and closes it when the test ends.
func Open(t testing.TB, url string, now func() time.Time) *db.DB {
	t.Helper()
	d, err := db.Open(context.Background(), db.Options{URL: url, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	urls.Store(d, url)
	t.Cleanup(func() { urls.Delete(d) })
	if err := d.Migrate(context.Background()); err != nil {
		t.Fatal(err)
	}
	return d
}

var sqliteTemplate = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "gatehouse-template-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "t.db")
	d, err := db.Open(context.Background(), db.Options{URL: "sqlite://" + path, Now: time.Now})
	if err != nil {
		return nil, err
	}
	if err := d.Migrate(context.Background()); err != nil {
		return nil, err
	}
	if err := d.Close(); err != nil { // the last connection to close folds the write-ahead log into the file
		return nil, err
	}
	return os.ReadFile(path)
})

// SQLiteURL gives the URL of a fresh migrated SQLite database that lives as long as the test.
func SQLiteURL(t testing.TB) string {
	t.Helper()
	image, err := sqliteTemplate()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "gatehouse.db")
	if err := os.WriteFile(path, image, 0o600); err != nil {
		t.Fatal(err)
	}
	return "sqlite://" + path
}

// PostgresURL gives the URL of a fresh migrated Postgres database that lives as long as the test, or skips.
func PostgresURL(t testing.TB) string {
	t.Helper()
	base := server(t)
	template, err := postgresTemplate()
	if err != nil {
		t.Fatal(err)
	}
	name := "gh_test_" + randomName()
	exec(t, base, `CREATE DATABASE `+name+` TEMPLATE `+template)
	t.Cleanup(func() { exec(t, base, `DROP DATABASE IF EXISTS `+name+` WITH (FORCE)`) })
	return withDatabase(base, name)
}

func randomName() string {
	b := make([]byte, 8)
	_, _ = rand.Read(b)
	return hex.EncodeToString(b)
}

func withDatabase(base, name string) string {
	u, err := url.Parse(base)
	if err != nil {
		panic("dbtest: GATEHOUSE_TEST_POSTGRES is not a URL")
	}
	u.Path = "/" + name
	return u.String()
}
