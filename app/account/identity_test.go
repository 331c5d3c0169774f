package account_test

import (
	"testing"
	"time"

	"gatehouse/app/account"
	"gatehouse/db"
	"gatehouse/db/dbtest"
)

var ada = account.NewIdentity{Issuer: "https://id.example", Tenant: "", Subject: "248289761001", Email: "Ada@Id.Example"}

func TestIdentities(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		p, bob := f.person(t, "ada@example.org"), f.person(t, "bob@example.org")
		kept, _ := f.signIn(t, p.Email, goodPassword)
		f.signIn(t, p.Email, goodPassword)
		f.token(t, p.ID, account.NewToken{})
		if err := f.LinkIdentity(ctx, p.ID, kept.ID, ada); err != nil {
			t.Fatal(err)
		}
		if left, _ := f.Sessions(ctx, p.ID); len(left) != 1 || left[0].ID != kept.ID {
			t.Errorf("KE-126 after an identity was linked: %d sessions", len(left))
		}
		if list, _ := f.Tokens(ctx, p.ID); len(list) != 1 || list[0].EndedReason != account.TokenEndedByUser {
			t.Errorf("KE-126 the personal token lives on: %+v", list)
		}
		f.signIn(t, p.Email, goodPassword)
		if err := f.LinkIdentity(ctx, p.ID, kept.ID, ada); err != nil {
			t.Errorf("linking what is linked: %v", err)
		}
		if left, _ := f.Sessions(ctx, p.ID); len(left) != 2 {
			t.Errorf("linking again signed out: %d sessions", len(left))
		}
		wantCode(t, f.LinkIdentity(ctx, bob.ID, "", ada), account.CodeConflict)
		f.clock.Advance(time.Hour)
		got, err := f.IdentityPerson(ctx, ada.Issuer, ada.Tenant, ada.Subject)
		if err != nil || got.ID != p.ID {
			t.Fatalf("whose it is: %+v, %v", got, err)
		}
		list, _ := f.Identities(ctx, p.ID)
		if len(list) != 1 || list[0].Email != "ada@id.example" || list[0].LastUsedAt == nil || !list[0].LastUsedAt.Equal(f.clock.Now()) {
			t.Errorf("the list: %+v", list)
		}
		for _, other := range []account.NewIdentity{
			{Issuer: ada.Issuer + "/", Subject: ada.Subject}, {Issuer: ada.Issuer, Tenant: "t", Subject: ada.Subject}, {Issuer: ada.Issuer, Subject: "x"}, {Issuer: "\x00"},
		} {
			if _, err := f.IdentityPerson(ctx, other.Issuer, other.Tenant, other.Subject); account.CodeOf(err) != account.CodeNotFound {
				t.Errorf("%+v belongs to somebody: %v", other, err)
			}
		}
		if err := f.DisablePerson(ctx, p.ID); err != nil {
			t.Fatal(err)
		}
		_, _, err = f.SignInWithIdentity(ctx, ada, time.Time{}, account.Device{})
		wantCode(t, err, account.CodeNotFound)
	})
}

func TestUnlink(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		p, err := f.AddPersonWithIdentity(ctx, account.NewPerson{Email: "ada@example.org"}, ada)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := f.SignIn(ctx, p.Email, "", account.Device{}); account.CodeOf(err) != account.CodeWrongCredentials {
			t.Errorf("somebody without a password signs in with one: %v", err)
		}
		s, secret, err := f.SignInWithIdentity(ctx, ada, time.Time{}, account.Device{UserAgent: "Test"})
		if err != nil || secret == "" {
			t.Fatal(err)
		}
		list, _ := f.Identities(ctx, p.ID)
		wantCode(t, f.Unlink(ctx, p.ID, s.ID, list[0].ID), account.CodeConflict)
		second := ada
		second.Issuer = "https://other.example"
		f.provider(t, second.Issuer)
		if err := f.LinkIdentity(ctx, p.ID, s.ID, second); err != nil {
			t.Fatal(err)
		}
		other, _, err := f.SignInWithIdentity(ctx, second, time.Time{}, account.Device{})
		if err != nil {
			t.Fatal(err)
		}
		wantCode(t, f.Unlink(ctx, f.person(t, "bob@example.org").ID, "", list[0].ID), account.CodeNotFound)
		if err := f.Unlink(ctx, p.ID, s.ID, list[0].ID); err != nil {
			t.Fatal(err)
		}
		left, _ := f.Sessions(ctx, p.ID)
		if len(left) != 1 || left[0].ID == other.ID {
			t.Errorf("KE-126 after an identity was removed: %+v", left)
		}
		_, _, err = f.SignInWithIdentity(ctx, ada, time.Time{}, account.Device{})
		wantCode(t, err, account.CodeNotFound)
	})
}

// Two processes link one identity to two people at once: one of them has it.
func TestIdentityRace(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) {
		both := []*fixture{newFixture(t, d, clock), newFixture(t, dbtest.Again(t, d, clock.Now), clock)}
		people := []*account.Person{both[0].person(t, "ada@example.org"), both[0].person(t, "bob@example.org")}
		race(t, account.CodeConflict, func(n int) error { return both[n%2].LinkIdentity(ctx, people[n/2%2].ID, "", ada) })
		count := 0
		for _, p := range people {
			list, err := both[0].Identities(ctx, p.ID)
			if err != nil {
				t.Fatal(err)
			}
			count += len(list)
		}
		if count != 1 {
			t.Errorf("one identity belongs to %d people", count)
		}
	})
}
