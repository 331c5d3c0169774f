package main

import (
	"io"

	"gatehouse/app"
)

type keysCmd struct {
	List   keysListCmd   `cmd:"" help:"List signing keys."`
	Rotate keysRotateCmd `cmd:"" help:"Sign with the next key from now on, and make a new next one, for each algorithm in use."`
	Drop   keysDropCmd   `cmd:"" help:"Drop a key at once; tokens signed with it stop working. One of its algorithm takes its place."`
}

type keysListCmd struct{}

// Run lists keys.
func (keysListCmd) Run(e *env) error {
	return e.with(func(a *app.Admin) error {
		list, err := a.Keys(e.ctx)
		if err != nil {
			return err
		}
		return e.print(list, func(w io.Writer) {
			rows := make([][]any, len(list))
			for i, k := range list {
				rows[i] = []any{k.KID, k.Algorithm, k.State, k.CreatedAt, k.ActivatedAt, k.RetiredAt}
			}
			table(w, "KID\tALGORITHM\tSTATE\tCREATED\tACTIVE SINCE\tRETIRED", rows)
		})
	})
}

type keysRotateCmd struct {
	Algorithm string `help:"Only keys of this algorithm: ES256, RS256 or EdDSA."`
}

// Run rotates.
func (c keysRotateCmd) Run(e *env) error {
	return e.with(func(a *app.Admin) error { return e.done(a.RotateKeys(e.ctx, c.Algorithm), "Rotated.") })
}

type keysDropCmd struct {
	KID string `arg:"" name:"kid" help:"Key id."`
}

// Run drops a key.
func (c keysDropCmd) Run(e *env) error {
	return e.with(func(a *app.Admin) error { return e.done(a.DropKey(e.ctx, c.KID), "Dropped.") })
}
