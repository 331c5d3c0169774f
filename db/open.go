package db

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/libtnb/sqlite"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// Dialects.
const (
	SQLite   = "sqlite"
	Postgres = "postgres"
)

// Options say how to open a database.
type Options struct {
	// URL is postgres://… or sqlite:///path (sqlite://relative works too).
	URL string
	// Now is the clock for created_at and updated_at.
	Now func() time.Time
	// Log receives slow and failed statements, without their values.
	Log *slog.Logger
	// FullSync makes SQLite wait for the disk at every commit (synchronous=FULL instead of NORMAL).
	FullSync bool
}

// DB is an open database. It is safe for concurrent use.
type DB struct {
	write     *gorm.DB
	read      *gorm.DB
	wsql      *sql.DB
	rsql      *sql.DB
	dialect   string
	path      string // of SQLite's file
	now       func() time.Time
	stmts     statements
	texts     texts
	log       *slog.Logger
	broadWord int64 // of searches
	touch     touches
	tokenUses tokenUses
}

// Open opens the database at o.URL and checks that it answers. It changes no tables; see Migrate.
func Open(ctx context.Context, o Options) (*DB, error) {
	switch {
	case strings.HasPrefix(o.URL, "postgres://"), strings.HasPrefix(o.URL, "postgresql://"):
		return openPostgres(ctx, o)
	case strings.HasPrefix(o.URL, "sqlite://"):
		return openSQLite(ctx, o, strings.TrimPrefix(o.URL, "sqlite://"))
	default:
		return nil, &URLError{Problem: "it must begin with postgres:// or sqlite://"}
	}
}

// Missing reports whether the URL names an SQLite file that is not there or has nothing in it yet. Opening would make it.
func Missing(rawURL string) bool {
	path, ok := strings.CutPrefix(rawURL, "sqlite://")
	if !ok {
		return false
	}
	info, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0
}

// Dialect is SQLite or Postgres.
func (d *DB) Dialect() string { return d.dialect }

// Close writes what waits to be noted and closes all connections.
func (d *DB) Close() error {
	d.touch.close()
	d.stmts.close()
	if d.rsql != d.wsql {
		_ = d.rsql.Close()
	}
	return d.wsql.Close()
}

// Ping checks that the database answers.
func (d *DB) Ping(ctx context.Context) error { return d.rsql.PingContext(ctx) }

func logOf(o Options) *slog.Logger {
	if o.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return o.Log
}

func (d *DB) config(log *slog.Logger) *gorm.Config {
	return &gorm.Config{
		NowFunc:                func() time.Time { return d.now().UTC().Truncate(time.Millisecond) },
		TranslateError:         true,
		PrepareStmt:            true,
		SkipDefaultTransaction: true,
		Logger:                 gormLogger(log),
	}
}

// open opens a pool. GORM would log what goes wrong here; whoever asked puts it into words.
func (d *DB) open(dialector gorm.Dialector, log *slog.Logger) (*gorm.DB, *sql.DB, error) {
	c := d.config(log)
	c.DisableAutomaticPing, c.Logger = true, logger.Discard
	g, err := gorm.Open(dialector, c)
	if err != nil {
		return nil, nil, err
	}
	g.Logger = gormLogger(log)
	s, err := g.DB()
	return g, s, err
}

func openSQLite(ctx context.Context, o Options, path string) (*DB, error) {
	if path == "" {
		return nil, &URLError{Problem: "sqlite:// needs a path, as in sqlite:///var/lib/gatehouse/gatehouse.db"}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, &FileError{Path: path, Err: err}
	}
	if err := makePrivate(path); err != nil {
		return nil, &FileError{Path: path, Err: err}
	}
	d := &DB{dialect: SQLite, path: path, now: o.Now, log: logOf(o), broadWord: broadWord}
	var err error
	if d.write, d.wsql, err = d.sqlite(o, path, "_txlock=immediate"); err != nil {
		return nil, &FileError{Path: path, Err: err}
	}
	d.wsql.SetMaxOpenConns(1)
	d.wsql.SetMaxIdleConns(1)
	if err := d.wsql.PingContext(ctx); err != nil {
		_ = d.wsql.Close()
		return nil, &FileError{Path: path, Err: err}
	}
	if d.read, d.rsql, err = d.sqlite(o, path, "_txlock=deferred"); err != nil {
		_ = d.wsql.Close()
		return nil, &FileError{Path: path, Err: err}
	}
	readers := max(4, runtime.GOMAXPROCS(0)*2)
	d.rsql.SetMaxOpenConns(readers)
	d.rsql.SetMaxIdleConns(readers)
	return d, nil
}

// makePrivate makes a missing file and sees to it that only its owner can read it, whatever the folder allows. SQLite gives
// its other files the mode of the first; those that were left by a program that was killed, or restored with another mode,
// are put right here.
func makePrivate(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		info, err := os.Stat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 == 0 {
			continue
		}
		if err := os.Chmod(name, 0o600); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (d *DB) sqlite(o Options, path, lock string) (*gorm.DB, *sql.DB, error) {
	sync := "NORMAL"
	if o.FullSync {
		sync = "FULL"
	}
	q := []string{
		"_pragma=busy_timeout(10000)", "_pragma=journal_mode(WAL)", "_pragma=synchronous(" + sync + ")",
		"_pragma=foreign_keys(1)", "_pragma=cache_size(-16000)", "_pragma=temp_store(MEMORY)", lock,
		// Times are integers here, and texts are texts: without these two the driver tries to read every text of an
		// expression as a date.
		"_texttotime=0", "_inttotime=0",
	}
	dsn := "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + strings.Join(q, "&")
	return d.open(sqlite.Open(dsn), o.Log)
}

func openPostgres(ctx context.Context, o Options) (*DB, error) {
	c, err := parsePostgres(withRuntime(o.URL))
	if err != nil {
		return nil, err
	}
	d := &DB{dialect: Postgres, now: o.Now, log: logOf(o), broadWord: broadWord}
	g, s, err := d.open(postgres.New(postgres.Config{DSN: withRuntime(o.URL)}), o.Log)
	if err != nil {
		return nil, unreachable(c, err)
	}
	s.SetMaxOpenConns(max(16, runtime.GOMAXPROCS(0)*8))
	s.SetMaxIdleConns(max(8, runtime.GOMAXPROCS(0)*4))
	s.SetConnMaxIdleTime(5 * time.Minute)
	d.write, d.read, d.wsql, d.rsql = g, g, s, s
	if err := s.PingContext(ctx); err != nil {
		_ = s.Close()
		return nil, unreachable(c, err)
	}
	return d, nil
}

// withRuntime adds the session settings we rely on, where the URL does not set them itself.
func withRuntime(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return raw
	}
	q := u.Query()
	for k, v := range map[string]string{"lock_timeout": "10000", "timezone": "UTC", "application_name": "gatehouse",
		"jit": "off"} {
		if !q.Has(k) {
			q.Set(k, v)
		}
	}
	u.RawQuery = q.Encode()
	return u.String()
}
