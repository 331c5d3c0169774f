package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"gatehouse/db"
)

// openDB opens the database of a configuration.
func openDB(ctx context.Context, cfg Config, log *slog.Logger, now func() time.Time) (*db.DB, error) {
	d, err := db.Open(ctx, db.Options{URL: cfg.databaseURL(), Now: now, Log: log, FullSync: cfg.SQLiteSyncFull})
	if err != nil {
		return nil, explainOpening(cfg, err)
	}
	return d, nil
}

// errNoInstallation is what commands say that only look after an installation. They make none: a folder that was
// mistyped would look like an installation that lost everybody.
func errNoInstallation(cfg Config) error {
	if cfg.DatabaseURL != "" {
		return errors.New("no installation in the database of GATEHOUSE_DATABASE_URL (check it, or start with gatehouse serve)")
	}
	return fmt.Errorf("no installation at %s (use --data-dir or GATEHOUSE_DATA_DIR, or start with gatehouse serve)", cfg.DataDir)
}

// explainOpening names the setting behind a database that does not open, and what to do.
func explainOpening(cfg Config, err error) error {
	var bad *db.URLError
	var away *db.UnreachableError
	var file *db.FileError
	switch {
	case errors.As(err, &bad):
		return &UsageError{Message: "GATEHOUSE_DATABASE_URL: " + bad.Problem}
	case errors.As(err, &away):
		return fmt.Errorf("cannot reach the database of GATEHOUSE_DATABASE_URL (%s): is it running, does it exist? (%s)", away.Where, away.Reason)
	case errors.As(err, &file):
		return explainFile(cfg, file)
	}
	return err
}

func explainFile(cfg Config, file *db.FileError) error {
	if file.Damaged() {
		return fmt.Errorf("%w: it is not a database or is damaged; restore it from a backup, or move it away to begin anew", file)
	}
	setting := "another folder with --data-dir or GATEHOUSE_DATA_DIR"
	if cfg.DatabaseURL != "" {
		setting = "another file with GATEHOUSE_DATABASE_URL"
	}
	return fmt.Errorf("%w: this user must be able to write in the folder and to the file; make it so, or name %s", file, setting)
}
