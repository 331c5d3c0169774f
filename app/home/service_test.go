package home_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"gatehouse/app/account"
	"gatehouse/app/home"
)

func TestCreateLocation(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		ada := f.person(t, "ada")
		l, err := f.CreateLocation(ctx, ada, home.NewLocation{Name: " Work  shop ", TimeZone: "Europe/Vienna", Currency: "CHF", Preset: "essentials"})
		if err != nil {
			t.Fatal(err)
		}
		p, err := f.PrincipalOfPerson(ctx, account.Person{ID: ada, Name: "Ada"})
		if err != nil || p.Actor != home.ActorSession || p.UserID != ada || !p.CanWrite() || len(p.Locations) != 2 {
			t.Fatalf("principal %+v, %v", p, err)
		}
		a := p.At(l.ID)
		slices.Sort(a.Modules)
		if a.Name != "Work shop" || a.TimeZone != "Europe/Vienna" || a.Currency != "CHF" || !slices.Equal(a.Currencies, []string{"CHF"}) ||
			a.Role != home.Owner || a.ViewerSeesMoney || !slices.Equal(a.Modules, []string{"console", "labels", "mcp"}) {
			t.Errorf("access %+v", a)
		}
		for name, n := range map[string]home.NewLocation{
			"name": {TimeZone: "UTC"}, "zone": {Name: "x"}, "currency": {Name: "x", TimeZone: "UTC", Currency: "E1R"}, "preset": {Name: "x", TimeZone: "UTC", Preset: "x"},
		} {
			if _, err := f.CreateLocation(ctx, ada, n); account.CodeOf(err) != account.CodeValidation {
				t.Errorf("%s: %v", name, err)
			}
		}
		_, err = f.CreateLocation(ctx, "x", home.NewLocation{Name: "x", TimeZone: "UTC"})
		wantCode(t, err, account.CodeNotFound)
		if list, err := f.LocationsOf(ctx, "x"); err != nil || len(list) != 0 {
			t.Errorf("locations of nobody: %v, %v", list, err)
		}
	})
}

func TestChoices(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		ada := f.person(t, "ada")
		closed := f.newLocation(t, ada, "Closed")
		if err := f.SetModule(ctx, ada, closed, home.ModuleMCP, false); err != nil {
			t.Fatal(err)
		}
		list, err := f.Choices(ctx, ada)
		if err != nil || len(list) != 1 || list[0].Name != "Home" {
			t.Errorf("KE-80 choices %+v, %v", list, err)
		}
	})
}

func TestPrincipalByToken(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		ada, eva := f.person(t, "ada"), f.person(t, "eva")
		one, two, three := f.newLocation(t, ada, "One"), f.newLocation(t, ada, "Two"), f.newLocation(t, eva, "Three")
		f.add(t, eva, three, ada, home.Member)
		f.newLocation(t, ada, "Not in the token")
		write, read := f.token(t, ada, account.TokenWrite, one, two, three), f.token(t, ada, account.TokenRead, three)

		p, err := f.PrincipalByToken(ctx, write.Secret)
		if err != nil {
			t.Fatal(err)
		}
		want := []string{one, two, three}
		slices.Sort(want)
		if p.Actor != home.ActorToken || p.UserID != ada || p.UserName != "ada" || p.TokenID != write.Token.ID || p.ConnectionID != "" ||
			!slices.Equal(p.Scopes, []string{home.ScopeRead, home.ScopeWrite}) || !slices.Equal(accessIDs(p.Locations), want) {
			t.Errorf("KE-104 KE-105 principal %+v", p)
		}
		if p.At(three).Role != home.Member || p.At(one).Role != home.Owner || !p.At(one).HasModule("lending") || p.At(one).HasModule("fuel") ||
			p.At(one).TimeZone != "Europe/Vienna" || p.At(one).Name != "One" || !slices.Equal(p.At(one).Currencies, []string{"EUR"}) {
			t.Errorf("access %+v", p.Locations)
		}
		p, err = f.PrincipalByToken(ctx, read.Secret)
		if err != nil || p.CanWrite() || !p.CanRead() || len(p.Locations) != 1 {
			t.Errorf("KE-104 read token: %+v, %v", p, err)
		}
		wrong := write.Secret[:13] + strings.Repeat("A", 43)
		for _, secret := range []string{"", "gth_", wrong, "gth_00000000_" + strings.Repeat("A", 43), read.Secret + "x", write.Secret[:13] + read.Secret[13:]} {
			_, err := f.PrincipalByToken(ctx, secret)
			wantCode(t, err, account.CodeUnauthorized)
		}
		t.Run("KE-83 a change of module or role holds from the next call", func(t *testing.T) {
			if err := f.SetModule(ctx, eva, three, "lending", false); err != nil {
				t.Fatal(err)
			}
			p, err := f.PrincipalByToken(ctx, read.Secret)
			if err != nil || p.At(three).HasModule("lending") || !p.At(three).HasModule("money") {
				t.Errorf("principal %+v, %v", p, err)
			}
		})
		t.Run("last use, at most once a minute", func(t *testing.T) {
			start := f.clock.Now()
			for _, c := range []struct {
				after, seen time.Duration
				ip          string
			}{{0, 0, "203.0.113.1"}, {59 * time.Second, 0, "203.0.113.1"}, {time.Second, time.Minute, "203.0.113.3"}} {
				f.clock.Advance(c.after)
				ip := map[time.Duration]string{0: "203.0.113.1", 59 * time.Second: "203.0.113.2", time.Second: "203.0.113.3"}[c.after]
				if err := f.d.TouchPersonalToken(ctx, read.Token.ID, ip, f.clock.Now()); err != nil {
					t.Fatal(err)
				}
				list, err := f.people.Tokens(ctx, ada)
				i := slices.IndexFunc(list, func(p account.PersonalToken) bool { return p.ID == read.Token.ID })
				if err != nil || list[i].LastUsedAt == nil || list[i].LastUsedAt.Sub(start) != c.seen || list[i].LastUsedIP != c.ip {
					t.Errorf("token %+v, %v", list[i], err)
				}
			}
		})
	})
}

func TestNewNeedsItsParts(t *testing.T) {
	t.Parallel()
	if _, err := home.New(home.Config{}); err == nil {
		t.Error("a service without a store was made")
	}
}
