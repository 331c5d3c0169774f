package main

import (
	"fmt"
	"io"

	"gatehouse/app"
)

type serveCmd struct{}

// Run serves until a signal comes.
func (serveCmd) Run(e *env) error {
	return app.Serve(e.ctx, e.cfg, versionText(), e.out, e.errOut)
}

type migrateCmd struct {
	Up     migrateUpCmd     `cmd:"" default:"1" help:"Bring the database up to date."`
	Status migrateStatusCmd `cmd:"" help:"Show which migrations the database has."`
}

type migrateUpCmd struct{}

// Run migrates.
func (migrateUpCmd) Run(e *env) error {
	states, err := app.Migrate(e.ctx, e.cfg, e.errOut)
	if err != nil {
		return err
	}
	return printMigrations(e, states)
}

type migrateStatusCmd struct{}

// Run shows the state.
func (migrateStatusCmd) Run(e *env) error {
	states, err := app.MigrationStatus(e.ctx, e.cfg, e.errOut)
	if err != nil {
		return err
	}
	return printMigrations(e, states)
}

func printMigrations(e *env, states []app.Migration) error {
	return e.print(states, func(w io.Writer) {
		for _, s := range states {
			word := "pending"
			if s.Applied {
				word = "applied"
			}
			fmt.Fprintf(w, "%s  %s\n", word, s.ID)
		}
	})
}
