package home_test

import (
	"crypto/rand"
	"testing"

	"gatehouse/app/account"
	"gatehouse/app/home"
	"gatehouse/app/limit"
	"gatehouse/db/dbtest"
)

// BenchmarkPrincipalByToken is the read that every call with a personal token begins with, on SQLite with three locations.
func BenchmarkPrincipalByToken(b *testing.B) {
	clock := dbtest.NewClock()
	f := &fixture{d: dbtest.Open(b, dbtest.SQLiteURL(b), clock.Now), clock: clock}
	var err error
	f.people, err = account.New(account.Config{
		Now: clock.Now, Rand: rand.Reader, Store: f.d, BearerAllowed: true, Passwords: account.PasswordParams{MemoryKiB: 64, Iterations: 1},
		SignIns: limit.NewSignIns(clock.Now, f.d, limit.New(limit.Config{Now: clock.Now})),
	})
	if err != nil {
		b.Fatal(err)
	}
	if f.Service, err = home.New(home.Config{Now: clock.Now, Rand: rand.Reader, Store: f.d}); err != nil {
		b.Fatal(err)
	}
	ada := f.person(b, "ada")
	token := f.token(b, ada, account.TokenWrite, f.newLocation(b, ada, "One"), f.newLocation(b, ada, "Two"), f.newLocation(b, ada, "Three"))
	b.ReportAllocs()
	for b.Loop() {
		if p, err := f.PrincipalByToken(ctx, token.Secret); err != nil || len(p.Locations) != 3 {
			b.Fatal(err)
		}
	}
}
