package db_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"testing"

	"gatehouse/app/sealing"
	"gatehouse/db"
	"gatehouse/db/dbtest"
)

func TestSealingCheck(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB, _ *dbtest.Clock) {
		ctx := context.Background()
		sealer := func(b byte) *sealing.Sealer {
			s, err := sealing.New(bytes.Repeat([]byte{b}, sealing.KeySize), rand.Reader)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		errs := race(6, func(i int) error { return sealer(byte(i%2)).Check(ctx, d) })
		if n := countNil(errs); n != 3 {
			t.Errorf("KY-4 two keys at one first start: %d of 6 passed, want those of one key", n)
		}
		wantOthers(t, errs, sealing.ErrWrongKey)
		if err := sealer(9).Check(ctx, d); !errors.Is(err, sealing.ErrWrongKey) {
			t.Errorf("KY-4 a wrong key gives %v", err)
		}
	})
}
