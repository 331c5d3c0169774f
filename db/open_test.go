package db_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
	private(t, path, clock)
}

// A file that was restored, or left by a program that was killed, may have any mode.
func TestOpenMakesOldFilesPrivate(t *testing.T) {
	t.Parallel()
	clock := dbtest.NewClock()
	path := filepath.Join(t.TempDir(), "gatehouse.db")
	d := dbtest.Open(t, "sqlite://"+path, clock.Now)
	files, _ := filepath.Glob(path + "*")
	if len(files) != 3 {
		t.Fatalf("files %v; want the database, -wal and -shm", files)
	}
	for _, name := range files {
		if err := os.Chmod(name, 0o644); err != nil { //nolint:gosec // the open mode is the point
			t.Fatal(err)
		}
	}
	dbtest.Again(t, d, clock.Now)
	private(t, path, clock)
}

func private(t *testing.T, path string, clock *dbtest.Clock) {
	t.Helper()
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

func TestOpenErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, bytes.Repeat([]byte("no database "), 100), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		url  string
		want any
		text string
	}{
		"no scheme":              {"gatehouse.db", new(*db.URLError), "begin with"},
		"no path":                {"sqlite://", new(*db.URLError), "path"},
		"a file that is text":    {"sqlite://" + text, new(*db.FileError), text},
		"a folder in its place":  {"sqlite://" + dir, new(*db.FileError), dir},
		"a file for a folder":    {"sqlite://" + text + "/gatehouse.db", new(*db.FileError), text},
		"nobody listens":         {"postgres://u:hunter2@127.0.0.1:1/home", new(*db.UnreachableError), "127.0.0.1:1/home: "},
		"an unreadable password": {"postgres://u:hun/ter2@127.0.0.1/home", new(*db.URLError), "percent-encoded"},
		"an unknown mode":        {"postgres://u:hunter2@127.0.0.1/home?sslmode=perhaps", new(*db.URLError), "sslmode"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			_, err := db.Open(context.Background(), db.Options{URL: c.url, Now: time.Now, Log: slog.New(slog.NewTextHandler(&log, nil))})
			if err == nil || !errors.As(err, c.want) || !strings.Contains(err.Error(), c.text) {
				t.Fatalf("%v; want a %T with %q", err, c.want, c.text)
			}
			if strings.Contains(err.Error(), "ter2") || strings.Contains(err.Error(), "\n") {
				t.Errorf("KY-6 the password, or more than a line: %v", err)
			}
			if log.Len() > 0 {
				t.Errorf("logged as well as returned: %s", &log)
			}
		})
	}
}

func TestOpenMissingPostgresDatabase(t *testing.T) {
	t.Parallel()
	u, err := url.Parse(dbtest.PostgresURL(t))
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/nothing_here"
	_, err = db.Open(context.Background(), db.Options{URL: u.String(), Now: time.Now})
	var away *db.UnreachableError
	if !errors.As(err, &away) || !strings.HasSuffix(away.Where, "/nothing_here") || !strings.Contains(away.Reason, "does not exist") {
		t.Errorf("%+v", err)
	}
}

func TestMissing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "gatehouse.db")
	if !db.Missing("sqlite://"+path) || db.Missing("postgres://h/d") {
		t.Error("a file that is not there, and a server that nobody asked")
	}
	if dbtest.Open(t, "sqlite://"+path, time.Now); db.Missing("sqlite://" + path) {
		t.Error("a database is missing that is there")
	}
}
