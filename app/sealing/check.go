package sealing

import (
	"bytes"
	"context"
	"errors"
	"fmt"
)

// CheckStore keeps the check value.
type CheckStore interface {
	// SealingCheck gives the stored check value, storing the one given when there is none: one step, one winner.
	SealingCheck(ctx context.Context, fresh []byte) (stored []byte, err error)
}

// ErrWrongKey says that the database was set up with another key.
var ErrWrongKey = errors.New("the secret key is not the one this database was set up with. " +
	"Set GATEHOUSE_SECRET_KEY or GATEHOUSE_SECRET_KEY_FILE to the original key, or restore the file secret.key in the data folder; " +
	"without it signing keys and seeds in the database cannot be read")

var checkText = []byte("gatehouse sealing check")

const checkPurpose, checkID = "check", "1"

// Check proves that the sealer has the key that the database was set up with. The first call on a database sets it up.
// A program must not start when it fails.
func (s *Sealer) Check(ctx context.Context, store CheckStore) error {
	fresh, err := s.Seal(checkPurpose, checkID, checkText)
	if err != nil {
		return fmt.Errorf("check secret key: %w", err)
	}
	stored, err := store.SealingCheck(ctx, fresh)
	if err != nil {
		return fmt.Errorf("check secret key: %w", err)
	}
	plain, err := s.Open(checkPurpose, checkID, stored)
	if err != nil || !bytes.Equal(plain, checkText) {
		return ErrWrongKey
	}
	return nil
}
