package sealing

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

// What the database keeps is sealed under a data key, and the data key lies in the database sealed under the secret key.
// A new secret key therefore seals one value anew, in one step, and all others stay as they are.

// DataKeyStore keeps the sealed data key.
type DataKeyStore interface {
	// DataKey gives the sealed data key, storing the one given when there is none: one step, one winner. With nothing
	// given it only reads, and nil says that there is none.
	DataKey(ctx context.Context, fresh []byte) (sealed []byte, err error)
	// ReplaceDataKey puts next in the place of old and reports whether old was there.
	ReplaceDataKey(ctx context.Context, old, next []byte) (replaced bool, err error)
	// SealingCheck gives the value that databases had before they had a data key, or nil.
	SealingCheck(ctx context.Context) ([]byte, error)
}

// ErrWrongKey says that the database was set up with another key.
var ErrWrongKey = errors.New("the secret key is not the one of this database. " +
	"Set GATEHOUSE_SECRET_KEY, GATEHOUSE_SECRET_KEY_FILE or GATEHOUSE_SECRET_KEY_COMMAND to its key, or restore the file secret.key in the data folder; " +
	"without it signing keys and seeds in the database cannot be read")

const (
	checkText, checkPurpose, checkID = "gatehouse sealing check", "check", "1"
	dataKeyPurpose, dataKeyID        = "data key", "1"
)

// OpenDataKey opens the database's data key with the secret key, making it on a database's first start. A program must
// not start when it fails: ErrWrongKey says that the secret key is another database's.
func OpenDataKey(ctx context.Context, secretKey []byte, rand io.Reader, store DataKeyStore) ([]byte, error) {
	wrapper, err := New(secretKey, rand)
	if err != nil {
		return nil, err
	}
	sealed, err := sealedDataKey(ctx, wrapper, secretKey, rand, store)
	if err != nil {
		return nil, err
	}
	key, err := wrapper.Open(dataKeyPurpose, dataKeyID, sealed)
	if err != nil {
		return nil, ErrWrongKey
	}
	return key, nil
}

// sealedDataKey reads the sealed data key and makes it where there is none.
func sealedDataKey(ctx context.Context, wrapper *Sealer, secretKey []byte, rand io.Reader, store DataKeyStore) ([]byte, error) {
	sealed, err := store.DataKey(ctx, nil)
	if err != nil || sealed != nil {
		return sealed, wrap(err)
	}
	candidate, err := candidate(ctx, wrapper, secretKey, rand, store)
	if err != nil {
		return nil, err
	}
	fresh, err := wrapper.Seal(dataKeyPurpose, dataKeyID, candidate)
	if err != nil {
		return nil, wrap(err)
	}
	sealed, err = store.DataKey(ctx, fresh)
	return sealed, wrap(err)
}

func wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("data key: %w", err)
}

// candidate is the data key of a database that has none yet. One that was set up before data keys existed has values
// sealed under the secret key itself, which goes on as its data key.
func candidate(ctx context.Context, wrapper *Sealer, secretKey []byte, rand io.Reader, store DataKeyStore) ([]byte, error) {
	check, err := store.SealingCheck(ctx)
	if err != nil {
		return nil, wrap(err)
	}
	if check != nil {
		if plain, err := wrapper.Open(checkPurpose, checkID, check); err == nil && string(plain) == checkText {
			return bytes.Clone(secretKey), nil
		}
		return nil, ErrWrongKey
	}
	key := make([]byte, KeySize)
	if _, err := io.ReadFull(rand, key); err != nil {
		return nil, wrap(err)
	}
	return key, nil
}

// Rewrap seals the data key under another secret key. From then on only next opens the database; processes that run
// hold the data key and go on.
func Rewrap(ctx context.Context, current, next []byte, rand io.Reader, store DataKeyStore) error {
	key, err := OpenDataKey(ctx, current, rand, store)
	if err != nil {
		return err
	}
	old, err := store.DataKey(ctx, nil)
	if err != nil {
		return wrap(err)
	}
	if from, err := New(current, rand); err != nil {
		return err
	} else if _, err := from.Open(dataKeyPurpose, dataKeyID, old); err != nil {
		return ErrWrongKey // another process was faster
	}
	wrapper, err := New(next, rand)
	if err != nil {
		return err
	}
	sealed, err := wrapper.Seal(dataKeyPurpose, dataKeyID, key)
	if err != nil {
		return fmt.Errorf("rewrap: %w", err)
	}
	if replaced, err := store.ReplaceDataKey(ctx, old, sealed); err != nil {
		return fmt.Errorf("rewrap: %w", err)
	} else if !replaced {
		return errors.New("rewrap: another process changed the secret key at the same time; nothing was changed here")
	}
	return nil
}
