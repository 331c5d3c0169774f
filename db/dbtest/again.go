package dbtest

import (
	"context"
	"sync"
	"testing"
	"time"

	"gatehouse/db"
)

// urls are the URLs of the databases that are open.
var urls sync.Map

// Again opens the database of d a second time, as another process would, and closes it when the test ends.
func Again(t testing.TB, d *db.DB, now func() time.Time) *db.DB {
	t.Helper()
	url, ok := urls.Load(d)
	if !ok {
		t.Fatal("dbtest: this database was not opened by dbtest")
	}
	other, err := db.Open(context.Background(), db.Options{URL: url.(string), Now: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Close() })
	return other
}
