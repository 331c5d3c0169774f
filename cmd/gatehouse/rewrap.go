package main

import (
	"fmt"
	"io"

	"gatehouse/app"
)

type rewrapCmd struct {
	NewKeyFile string `placeholder:"FILE" help:"File of the new secret key, made where there is none. Default: a new key in the place of the key file in the data folder."`
}

// Run gives the database another secret key.
func (c rewrapCmd) Run(e *env) error {
	return e.with(func(a *app.Admin) error {
		done, err := a.Rewrap(e.ctx, c.NewKeyFile)
		if err != nil {
			return err
		}
		return e.print(done, func(w io.Writer) {
			fmt.Fprintf(w, "The database is sealed under the key in %s; the old key opens nothing any more. Back the new one up.\n", done.File)
			if !done.InPlace {
				fmt.Fprintln(w, "Set GATEHOUSE_SECRET_KEY_FILE (or GATEHOUSE_SECRET_KEY) to it for every process before it starts again; those that run go on.")
			}
		})
	})
}
