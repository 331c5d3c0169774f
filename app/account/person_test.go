package account_test

import (
	"errors"
	"testing"

	"gatehouse/app/account"
	"gatehouse/app/home"
)

func TestAddPerson(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		p, err := f.AddPerson(ctx, account.NewPerson{
			Email: "Ada@Example.org", Name: "Ada  Lovelace", Admin: true, Password: goodPassword,
			LocationName: "Ockham Park", TimeZone: "Europe/London", Currency: "GBP",
		})
		if err != nil {
			t.Fatal(err)
		}
		got, err := f.PersonByEmail(ctx, " aDA@example.ORG")
		if err != nil || got.ID != p.ID || got.Email != "ada@example.org" || got.Name != "Ada Lovelace" || !got.Admin || got.Locale != "en" ||
			!got.CreatedAt.Equal(f.clock.Now()) || got.Disabled() {
			t.Errorf("person %+v, %v", got, err)
		}
		list, err := f.home.LocationsOf(ctx, p.ID)
		if err != nil || len(list) != 1 {
			t.Fatalf("locations %v, %v", list, err)
		}
		l := list[0]
		if l.Name != "Ockham Park" || l.TimeZone != "Europe/London" || l.Currency != "GBP" || len(l.Currencies) != 1 || l.Currencies[0] != "GBP" ||
			l.Role != home.Owner || l.Preset != home.PresetHousehold || l.ViewerSeesMoney || l.RowVersion != 1 || l.ChildOrder != "custom" {
			t.Errorf("location %+v", l)
		}
		t.Run("defaults", func(t *testing.T) {
			p := f.person(t, "eva@example.org")
			list, _ := f.home.LocationsOf(ctx, p.ID)
			if p.Name != "eva" || p.Admin || len(list) != 1 || list[0].Name != "Home" || list[0].TimeZone != "UTC" || list[0].Currency != "EUR" {
				t.Errorf("person %+v, locations %+v", p, list)
			}
		})
		t.Run("refusals leave nothing behind", func(t *testing.T) {
			for name, c := range map[string]struct {
				n          account.NewPerson
				code, path string
			}{
				"known address":  {account.NewPerson{Email: "ADA@example.org", Password: goodPassword}, account.CodeConflict, "email"},
				"no address":     {account.NewPerson{Email: "ada", Password: goodPassword}, account.CodeValidation, "email"},
				"name":           {account.NewPerson{Email: "x@example.org", Name: "a\nb", Password: goodPassword}, account.CodeValidation, "name"},
				"short password": {account.NewPerson{Email: "x@example.org", Password: "short"}, account.CodeValidation, "password"},
				"zone":           {account.NewPerson{Email: "x@example.org", Password: goodPassword, TimeZone: "../etc/passwd"}, account.CodeValidation, "time_zone"},
				"local zone":     {account.NewPerson{Email: "x@example.org", Password: goodPassword, TimeZone: "Local"}, account.CodeValidation, "time_zone"},
				"currency":       {account.NewPerson{Email: "x@example.org", Password: goodPassword, Currency: "eur"}, account.CodeValidation, "currency"},
			} {
				_, err := f.AddPerson(ctx, c.n)
				var r *account.Refusal
				if !errors.As(err, &r) || r.Code != c.code || r.Path != c.path {
					t.Errorf("%s: %v", name, err)
				}
			}
			if people, err := f.People(ctx); err != nil || len(people) != 2 || people[0].Email != "ada@example.org" || people[1].Email != "eva@example.org" {
				t.Errorf("people %+v, %v", people, err)
			}
		})
		t.Run("one of twenty with the same address", func(t *testing.T) {
			won := race(t, account.CodeConflict, func(int) error {
				_, err := f.AddPerson(ctx, account.NewPerson{Email: "uma@example.org", Password: goodPassword})
				return err
			})
			if won != 1 {
				t.Errorf("%d were added", won)
			}
		})
		t.Run("unknown ones", func(t *testing.T) {
			for _, id := range []string{"", "x", "00000000-0000-7000-8000-000000000000"} {
				_, err := f.PersonByID(ctx, id)
				wantCode(t, err, account.CodeNotFound)
				wantCode(t, f.DisablePerson(ctx, id), account.CodeNotFound)
				wantCode(t, f.EnablePerson(ctx, id), account.CodeNotFound)
				_, err = f.ResetLink(ctx, id)
				wantCode(t, err, account.CodeNotFound)
			}
			_, err := f.PersonByEmail(ctx, "nobody@example.org")
			wantCode(t, err, account.CodeNotFound)
		})
	})
}

func TestDisablePerson(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		admin, err := f.AddPerson(ctx, account.NewPerson{Email: "ada@example.org", Admin: true, Password: goodPassword})
		if err != nil {
			t.Fatal(err)
		}
		p := f.person(t, "eva@example.org")
		_, secret := f.signIn(t, p.Email, goodPassword)
		token := f.token(t, p.ID, account.NewToken{})
		connection := f.connect(t, p.ID)
		link, err := f.ResetLink(ctx, p.ID)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.DisablePerson(ctx, p.ID); err != nil {
			t.Fatal(err)
		}
		_, err = f.SessionBySecret(ctx, secret)
		wantCode(t, err, account.CodeNotFound)
		_, err = f.home.PrincipalByToken(ctx, token.Secret)
		wantCode(t, err, account.CodeUnauthorized)
		f.wantEnded(t, connection, "admin")
		f.wantTokenEnd(t, p.ID, token.Token.ID, account.TokenEndedByAdmin)
		_, err = f.CheckReset(ctx, tokenOf(t, link, "https://home.example/reset?token="))
		wantCode(t, err, account.CodeGone)
		_, err = f.CreateToken(ctx, p.ID, account.NewToken{Name: "x", Scope: "read", LocationIDs: []string{f.location(t, p.ID)}})
		wantCode(t, err, account.CodeNotFound)
		if got, _ := f.PersonByID(ctx, p.ID); !got.Disabled() {
			t.Error("not marked")
		}
		if err := f.EnablePerson(ctx, p.ID); err != nil {
			t.Fatal(err)
		}
		f.signIn(t, p.Email, goodPassword)
		_, err = f.home.PrincipalByToken(ctx, token.Secret)
		wantCode(t, err, account.CodeUnauthorized) // what has ended stays ended

		wantCode(t, f.DisablePerson(ctx, admin.ID), account.CodeConflict)
		second, err := f.AddPerson(ctx, account.NewPerson{Email: "ida@example.org", Admin: true, Password: goodPassword})
		if err != nil {
			t.Fatal(err)
		}
		won := race(t, account.CodeConflict, func(n int) error { return f.DisablePerson(ctx, []string{admin.ID, second.ID}[n%2]) })
		people, _ := f.People(ctx)
		enabled := 0
		for _, q := range people {
			if q.Admin && !q.Disabled() {
				enabled++
			}
		}
		if enabled != 1 || won == 0 {
			t.Errorf("%d administrators are left", enabled)
		}
	})
}
