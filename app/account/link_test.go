package account_test

import (
	"strings"
	"testing"
	"time"

	"gatehouse/app/account"
	"gatehouse/db/dbtest"
)

const setupPrefix, resetPrefix = "https://home.example/setup?token=", "https://home.example/reset?token="

func (f *fixture) setupToken(t *testing.T) string {
	t.Helper()
	link, err := f.EnsureSetupLink(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return tokenOf(t, link, setupPrefix)
}

func first(email string) account.NewPerson {
	return account.NewPerson{Email: email, Password: goodPassword, LocationName: "Ockham Park"}
}

func TestSetupLink(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		old := f.setupToken(t)
		if !strings.HasPrefix(old, "gsu_") {
			t.Errorf("token %q", old)
		}
		token := f.setupToken(t)
		for name, link := range map[string]string{"first": old, "second": token} { // whichever output somebody reads
			if err := f.CheckSetup(ctx, link); err != nil {
				t.Errorf("the %s of two starts' links: %v", name, err)
			}
		}
		f.clock.Advance(24*time.Hour - time.Millisecond)
		if err := f.CheckSetup(ctx, token); err != nil {
			t.Error(err)
		}
		f.clock.Advance(time.Millisecond)
		wantCode(t, f.CheckSetup(ctx, token), account.CodeGone)
		_, err := f.CompleteSetup(ctx, token, first("ada@example.org"))
		wantCode(t, err, account.CodeGone)

		other := f.setupToken(t)
		token = f.setupToken(t)
		_, err = f.CompleteSetup(ctx, token, account.NewPerson{Email: "ada@example.org", Password: "short"})
		wantCode(t, err, account.CodeValidation) // and the link can be tried again
		hashes := f.hasher.hashes.Load()
		for _, bad := range []string{"", "gsu_", "gsu_" + strings.Repeat("A", 43), strings.Replace(token, "gsu_", "gsr_", 1)} {
			_, err = f.CompleteSetup(ctx, bad, first("ada@example.org"))
			wantCode(t, err, account.CodeGone)
		}
		if f.hasher.hashes.Load() != hashes {
			t.Error("a wrong link costs a hash")
		}
		p, err := f.CompleteSetup(ctx, token, first("ada@example.org"))
		if err != nil || !p.Admin {
			t.Fatalf("person %+v, %v", p, err)
		}
		if list, _ := f.home.LocationsOf(ctx, p.ID); len(list) != 1 || list[0].Name != "Ockham Park" {
			t.Errorf("locations %+v", list)
		}
		f.signIn(t, "ada@example.org", goodPassword)
		for _, link := range []string{token, other} { // all links are over when one was used
			_, err = f.CompleteSetup(ctx, link, first("eva@example.org"))
			wantCode(t, err, account.CodeGone)
		}
		if link, err := f.EnsureSetupLink(ctx); link != "" || err != nil {
			t.Errorf("with a person in the database: %q, %v", link, err)
		}
	})
}

func TestSetupLinksDoNotPileUp(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		var links []string
		for range 12 {
			links = append(links, f.setupToken(t))
			f.clock.Advance(time.Second)
		}
		for i, link := range links {
			if err := f.CheckSetup(ctx, link); (err == nil) != (i >= 2) {
				t.Errorf("link %d of 12: %v; want the latest ten to work", i, err)
			}
		}
	})
}

func TestSetupLinkWithdrawn(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		token := f.setupToken(t)
		f.person(t, "ada@example.org") // as the command line does
		wantCode(t, f.CheckSetup(ctx, token), account.CodeGone)
		_, err := f.CompleteSetup(ctx, token, first("eva@example.org"))
		wantCode(t, err, account.CodeGone)
	})
}

// The links of two starts make one person, whichever process they are used on and however often at once.
func TestSetupLinkRace(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		clock := dbtest.NewClock()
		f := newFixture(t, dbtest.Open(t, dbtest.SQLiteURL(t), clock.Now), clock)
		raceSetup(t, f, f)
	})
	t.Run("postgres, two processes", func(t *testing.T) {
		t.Parallel()
		clock := dbtest.NewClock()
		url := dbtest.PostgresURL(t)
		raceSetup(t, newFixture(t, dbtest.Open(t, url, clock.Now), clock), newFixture(t, dbtest.Open(t, url, clock.Now), clock))
	})
}

func raceSetup(t *testing.T, a, b *fixture) {
	tokens := []string{a.setupToken(t), b.setupToken(t)}
	won := race(t, account.CodeGone, func(n int) error {
		f := a
		if n%2 == 1 {
			f = b
		}
		_, err := f.CompleteSetup(ctx, tokens[n/2%2], first(strings.Repeat("a", n+1)+"@example.org"))
		return err
	})
	people, err := b.People(ctx)
	if won != 1 || len(people) != 1 || err != nil {
		t.Errorf("%d completed, people %+v, %v", won, people, err)
	}
}

func TestResetLink(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		p := f.person(t, "ada@example.org")
		link, err := f.ResetLink(ctx, p.ID)
		if err != nil {
			t.Fatal(err)
		}
		old := tokenOf(t, link, resetPrefix)
		if link, err = f.ResetLink(ctx, p.ID); err != nil {
			t.Fatal(err)
		}
		token := tokenOf(t, link, resetPrefix)
		_, err = f.CheckReset(ctx, old)
		wantCode(t, err, account.CodeGone)
		got, err := f.CheckReset(ctx, token)
		if err != nil || got.ID != p.ID {
			t.Errorf("person %+v, %v", got, err)
		}

		_, secret := f.signIn(t, p.Email, goodPassword)
		key := f.token(t, p.ID, account.NewToken{})
		connection := f.connect(t, p.ID)
		for range 5 { // locked out for a while by wrong tries
			_, _, _ = f.SignIn(ctx, p.Email, otherPassword, account.Device{IP: "198.51.100.1"})
		}
		_, err = f.CompleteReset(ctx, token, "short", false)
		wantCode(t, err, account.CodeValidation)
		won := race(t, account.CodeGone, func(int) error {
			_, err := f.CompleteReset(ctx, token, otherPassword, false)
			return err
		})
		if won != 1 {
			t.Errorf("single use: %d completed", won)
		}
		_, err = f.SessionBySecret(ctx, secret)
		wantCode(t, err, account.CodeNotFound)
		_, err = f.home.PrincipalByToken(ctx, key.Secret)
		wantCode(t, err, account.CodeUnauthorized)
		f.wantEnded(t, connection, "user")
		if _, _, err := f.SignIn(ctx, p.Email, otherPassword, account.Device{IP: "198.51.100.2"}); err != nil {
			t.Errorf("LT-1 sign-in after the reset: %v", err)
		}

		link, err = f.ResetLink(ctx, p.ID)
		if err != nil {
			t.Fatal(err)
		}
		f.clock.Advance(24 * time.Hour)
		_, err = f.CompleteReset(ctx, tokenOf(t, link, resetPrefix), goodPassword, false)
		wantCode(t, err, account.CodeGone)
	})
}
