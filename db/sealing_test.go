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

func TestDataKey(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB, _ *dbtest.Clock) {
		ctx := context.Background()
		secret := func(b byte) []byte { return bytes.Repeat([]byte{b}, sealing.KeySize) }
		open := func(b byte) ([]byte, error) { return sealing.OpenDataKey(ctx, secret(b), rand.Reader, d) }
		errs := race(6, func(i int) error { _, err := open(byte(i % 2)); return err })
		if n := countNil(errs); n != 3 {
			t.Errorf("KY-4 two keys at one first start: %d of 6 passed, want those of one key", n)
		}
		wantOthers(t, errs, sealing.ErrWrongKey)
		winner := byte(0)
		key, err := open(winner)
		if err != nil {
			winner = 1
			if key, err = open(winner); err != nil {
				t.Fatal(err)
			}
		}
		if bytes.Equal(key, secret(winner)) {
			t.Error("KY-4 the data key is the secret key")
		}
		if _, err := open(9); !errors.Is(err, sealing.ErrWrongKey) {
			t.Errorf("KY-4 a wrong key gives %v", err)
		}
		if err := sealing.Rewrap(ctx, secret(9), secret(5), rand.Reader, d); !errors.Is(err, sealing.ErrWrongKey) {
			t.Errorf("KY-4 rewrap from a wrong key gives %v", err)
		}
		errs = race(6, func(i int) error { return sealing.Rewrap(ctx, secret(winner), secret(byte(20+i)), rand.Reader, d) })
		if n := countNil(errs); n != 1 {
			t.Errorf("KY-4 six rewraps at once: %d succeeded, want one", n)
		}
		if _, err := open(winner); !errors.Is(err, sealing.ErrWrongKey) {
			t.Errorf("KY-4 the old key after a rewrap gives %v", err)
		}
		for i, err := range errs {
			again, opening := open(byte(20 + i))
			if (err == nil) != (opening == nil) || opening == nil && !bytes.Equal(again, key) {
				t.Errorf("KY-4 key %d: rewrap %v, open %v", i, err, opening)
			}
		}
	})
}

// TestDataKeyOfOlderDatabases opens a database whose values are sealed under the secret key itself.
func TestDataKeyOfOlderDatabases(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB, _ *dbtest.Clock) {
		ctx := context.Background()
		secret := bytes.Repeat([]byte{3}, sealing.KeySize)
		sealer, err := sealing.New(secret, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		check, err := sealer.Seal("check", "1", []byte("gatehouse sealing check"))
		if err != nil {
			t.Fatal(err)
		}
		if err := db.ExecForTest(d, `INSERT INTO sealing_checks (name, value) VALUES ('key', ?)`, check); err != nil {
			t.Fatal(err)
		}
		if _, err := sealing.OpenDataKey(ctx, bytes.Repeat([]byte{4}, sealing.KeySize), rand.Reader, d); !errors.Is(err, sealing.ErrWrongKey) {
			t.Errorf("KY-4 another key: %v", err)
		}
		for range 2 {
			if key, err := sealing.OpenDataKey(ctx, secret, rand.Reader, d); err != nil || !bytes.Equal(key, secret) {
				t.Errorf("KY-4 its own key: %v", err)
			}
		}
	})
}
