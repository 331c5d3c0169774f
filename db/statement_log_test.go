package db_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"gatehouse/app/account"
	"gatehouse/db"
	"gatehouse/db/dbtest"
)

func TestStatementLog(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]func(testing.TB) string{"sqlite": dbtest.SQLiteURL, "postgres": dbtest.PostgresURL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			var log bytes.Buffer
			d, err := db.Open(ctx, db.Options{URL: at(t), Now: time.Now, Log: slog.New(slog.NewTextHandler(&log, nil))})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = d.Close() })
			if err := d.Migrate(ctx); err != nil {
				t.Fatal(err)
			}
			person := func(id string) error {
				c := account.Credentials{Person: account.Person{ID: id, Email: "ada@example.org", Name: "Ada"}, PasswordHash: "$argon2id$secret"}
				return d.InsertPerson(ctx, c, account.FirstLocation{ID: id, Name: "Ockham Park", TimeZone: "UTC", Currency: "EUR"})
			}
			if err := person("01a22be8-b240-7a11-8c00-5d1f00000001"); err != nil {
				t.Fatal(err)
			}
			if err := person("01a22be8-b240-7a11-8c00-5d1f00000002"); !errors.Is(err, account.ErrEmailTaken) {
				t.Errorf("the same address twice: %v", err)
			}
			gone, cancel := context.WithCancel(ctx)
			cancel()
			if _, err := d.PersonByID(gone, "01a22be8-b240-7a11-8c00-5d1f00000001"); err == nil {
				t.Error("who left was answered")
			}
			if log.Len() > 0 {
				t.Errorf("an expected conflict was logged: %s", &log)
			}
			if err := db.ExecForTest(d, `DROP TABLE one_time_links`); err != nil {
				t.Fatal(err)
			}
			if err := person("01a22be8-b240-7a11-8c00-5d1f00000003"); err == nil {
				t.Error("a table is gone and nothing was said")
			}
			if text := log.String(); !strings.Contains(text, "one_time_links") || strings.Contains(text, "argon2id") {
				t.Errorf("KY-6 a statement that fails is logged without values: %q", text)
			}
		})
	}
}
