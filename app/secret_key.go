package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"gatehouse/app/sealing"
)

// openKey loads the secret key, makes it on the first start of a database, and opens the database's data key with it. A
// database that has a key already never gets another one: that would only hide which one is missing.
func (c *core) openKey(ctx context.Context) (*sealing.Sealer, error) {
	sealed, err := c.db.Sealed(ctx)
	if err != nil {
		return nil, err
	}
	if !sealed && !c.setUp {
		return nil, errNoInstallation(c.set.Config)
	}
	source := c.keySource(!sealed)
	secret, err := source.Load(ctx, c.rand)
	if err == nil {
		c.key, err = sealing.OpenDataKey(ctx, secret, c.rand, c.db)
	}
	if err != nil && source.InDataFolder() {
		err = c.finishRewrap(ctx, err)
	}
	if err != nil {
		return nil, err
	}
	return sealing.New(c.key, c.rand)
}

// finishRewrap ends a change of the key file that was interrupted after the database had the new key: the file that the
// change left behind opens the database then, and takes its place.
func (c *core) finishRewrap(ctx context.Context, cause error) error {
	if !errors.Is(cause, sealing.ErrWrongKey) && !errors.Is(cause, sealing.ErrNoKey) {
		return cause
	}
	file := c.keyFile()
	next := sealing.Source{KeyFile: nextKeyFile(file)}
	secret, err := next.Load(ctx, c.rand)
	if err != nil {
		return cause
	}
	if c.key, err = sealing.OpenDataKey(ctx, secret, c.rand, c.db); err != nil {
		return cause
	}
	return os.Rename(nextKeyFile(file), file)
}

func (c *core) keySource(create bool) sealing.Source {
	return sealing.Source{Key: c.set.SecretKey, KeyFile: c.set.SecretKeyFile, Command: c.set.SecretKeyCommand,
		DataFile: c.keyFile(), Create: create}
}

func (c *core) keyFile() string { return filepath.Join(c.set.DataDir, "secret.key") }

func nextKeyFile(file string) string { return file + ".next" }

// Rewrapped says where the new secret key is.
type Rewrapped struct {
	// File holds the new key. InPlace says that it is the key file in the data folder, so that nothing is left to do.
	File    string `json:"file"`
	InPlace bool   `json:"in_place"`
}

// Rewrap gives the database another secret key. With a file it is the key in it, which is made where there is none; with
// "" the key file in the data folder is replaced. The old key opens nothing afterwards.
func (a *Admin) Rewrap(ctx context.Context, file string) (*Rewrapped, error) {
	c := a.c
	source := c.keySource(false)
	current, err := source.Load(ctx, c.rand)
	if err != nil {
		return nil, err
	}
	out := &Rewrapped{File: file}
	if file == "" {
		if !source.InDataFolder() {
			return nil, &UsageError{Message: "the secret key comes from the settings: name the file of the new one with --new-key-file, and set it afterwards"}
		}
		out.File, out.InPlace = c.keyFile(), true
		file = nextKeyFile(out.File)
	}
	next, err := sealing.Source{DataFile: file, Create: true}.Load(ctx, c.rand)
	if err != nil {
		return nil, fmt.Errorf("new secret key: %w", err)
	}
	if err := sealing.Rewrap(ctx, current, next, c.rand, c.db); err != nil {
		return nil, err
	}
	if out.InPlace {
		if err := os.Rename(file, out.File); err != nil {
			return nil, fmt.Errorf("the database has its new key, which is still in %s: %w", file, err)
		}
	}
	return out, nil
}
