package account_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gatehouse/app/account"
	"gatehouse/app/home"
)

var tokenForm = regexp.MustCompile(`^gth_[A-Za-z0-9]{8}_[A-Za-z0-9_-]{43}$`)

func TestCreateToken(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		p := f.person(t, "ada@example.org")
		l := f.location(t, p.ID)
		expires := f.clock.Now().Add(time.Hour)
		c := f.token(t, p.ID, account.NewToken{Name: " Kitchen  display ", Scope: account.TokenWrite, LocationIDs: []string{l, l}, ExpiresAt: &expires})
		t.Run("KE-102 form", func(t *testing.T) {
			if !tokenForm.MatchString(c.Secret) || c.Token.Lookup != c.Secret[4:12] {
				t.Errorf("secret %q, lookup %q", c.Secret, c.Token.Lookup)
			}
		})
		t.Run("KE-104 KE-105 KE-147 what it is", func(t *testing.T) {
			list, err := f.Tokens(ctx, p.ID)
			if err != nil || len(list) != 1 {
				t.Fatalf("list %+v, %v", list, err)
			}
			got := list[0]
			if got.ID != c.Token.ID || got.Name != "Kitchen display" || got.Scope != "write" || !slices.Equal(got.LocationIDs, []string{l}) ||
				!got.ExpiresAt.Equal(expires) || got.LastUsedAt != nil || got.EndedAt != nil || len(c.Warnings) != 0 {
				t.Errorf("token %+v, warnings %v", got, c.Warnings)
			}
		})
		t.Run("KE-105 KE-106 refusals", func(t *testing.T) {
			other := f.person(t, "eva@example.org")
			theirs := f.location(t, other.ID)
			if err := f.home.AddMember(ctx, other.ID, theirs, p.ID, home.Viewer); err != nil {
				t.Fatal(err)
			}
			past := f.clock.Now()
			for name, c := range map[string]struct {
				n    account.NewToken
				code string
			}{
				"no name":             {account.NewToken{Name: " ", Scope: "read", LocationIDs: []string{l}}, account.CodeValidation},
				"scope":               {account.NewToken{Name: "x", Scope: "admin", LocationIDs: []string{l}}, account.CodeValidation},
				"no location":         {account.NewToken{Name: "x", Scope: "read"}, account.CodeValidation},
				"101 locations":       {account.NewToken{Name: "x", Scope: "read", LocationIDs: manyIDs(101)}, account.CodeValidation},
				"100 unknown":         {account.NewToken{Name: "x", Scope: "read", LocationIDs: manyIDs(100)}, account.CodeNotFound},
				"no id":               {account.NewToken{Name: "x", Scope: "read", LocationIDs: []string{l, "' OR 1=1 --"}}, account.CodeNotFound},
				"expired":             {account.NewToken{Name: "x", Scope: "read", LocationIDs: []string{l}, ExpiresAt: &past}, account.CodeValidation},
				"writing as a viewer": {account.NewToken{Name: "x", Scope: "write", LocationIDs: []string{l, theirs}}, account.CodeForbidden},
			} {
				_, err := f.CreateToken(ctx, p.ID, c.n)
				if account.CodeOf(err) != c.code {
					t.Errorf("%s: %v, want %s", name, err, c.code)
				}
			}
			_, err := f.CreateToken(ctx, other.ID, account.NewToken{Name: "x", Scope: "read", LocationIDs: []string{l}})
			wantCode(t, err, account.CodeNotFound) // a location of somebody else
			if c := f.token(t, p.ID, account.NewToken{LocationIDs: []string{l, theirs}}); len(c.Warnings) != 0 {
				t.Errorf("reading across locations warns: %v", c.Warnings)
			}
		})
		t.Run("https_required", func(t *testing.T) {
			plain := newFixture(t, f.d, f.clock, func(c *account.Config) { c.BearerAllowed = false })
			_, err := plain.CreateToken(ctx, p.ID, account.NewToken{Name: "x", Scope: "read", LocationIDs: []string{l}})
			wantCode(t, err, account.CodeHTTPSRequired)
		})
	})
}

func manyIDs(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = "00000000-0000-7000-8000-000000000" + string([]byte{'0' + byte(i/100), '0' + byte(i/10%10), '0' + byte(i%10)})
	}
	return out
}

func TestCrossLocationToken(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		p, other := f.person(t, "ada@example.org"), f.person(t, "eva@example.org")
		first := f.location(t, p.ID)
		second, err := f.home.CreateLocation(ctx, p.ID, home.NewLocation{Name: "Workshop", TimeZone: "UTC"})
		if err != nil {
			t.Fatal(err)
		}
		n := account.NewToken{Name: "x", Scope: account.TokenWrite, LocationIDs: []string{first, second.ID}}
		if c := f.token(t, p.ID, n); len(c.Warnings) != 0 {
			t.Errorf("same members: warnings %v", c.Warnings)
		}
		if err := f.home.AddMember(ctx, p.ID, second.ID, other.ID, home.Viewer); err != nil {
			t.Fatal(err)
		}
		_, err = f.CreateToken(ctx, p.ID, n)
		wantCode(t, err, account.CodeCrossLocationWrite)
		n.ConfirmCrossLocation = true
		if c := f.token(t, p.ID, n); !slices.Equal(c.Warnings, []string{"cross_location_write"}) {
			t.Errorf("confirmed: warnings %v", c.Warnings)
		}
	})
}

func TestTokenLimit(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		p := f.person(t, "ada@example.org")
		n := account.NewToken{Name: "x", Scope: account.TokenRead, LocationIDs: []string{f.location(t, p.ID)}}
		soon := f.clock.Now().Add(time.Minute)
		n.ExpiresAt = &soon
		dead := f.token(t, p.ID, n)
		n.ExpiresAt = nil
		for range 39 {
			f.token(t, p.ID, n)
		}
		if won := race(t, account.CodeLimitReached, func(int) error { _, err := f.CreateToken(ctx, p.ID, n); return err }); won != 10 {
			t.Errorf("%d tokens made after 40, want 10", won)
		}
		f.clock.Advance(time.Minute)
		f.wantTokenEnd(t, p.ID, dead.Token.ID, account.TokenEndedByExpiry)
		f.token(t, p.ID, n) // one that expired does not count
		_, err := f.CreateToken(ctx, p.ID, n)
		wantCode(t, err, account.CodeLimitReached)
	})
}

func TestTokenLife(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		p, other := f.person(t, "ada@example.org"), f.person(t, "eva@example.org")
		expires := f.clock.Now().Add(time.Hour)
		c := f.token(t, p.ID, account.NewToken{ExpiresAt: &expires})
		second := f.token(t, p.ID, account.NewToken{})
		if err := f.RenameToken(ctx, p.ID, second.Token.ID, " Desk "); err != nil {
			t.Fatal(err)
		}
		list, _ := f.Tokens(ctx, p.ID)
		if len(list) != 2 || list[0].Name != "Desk" && list[1].Name != "Desk" {
			t.Errorf("list %+v", list)
		}
		for _, id := range []string{c.Token.ID, "x", ""} {
			wantCode(t, f.RenameToken(ctx, other.ID, id, "mine"), account.CodeNotFound)
			wantCode(t, f.RevokeToken(ctx, other.ID, id), account.CodeNotFound)
		}
		wantCode(t, f.RenameToken(ctx, p.ID, c.Token.ID, "a\nb"), account.CodeValidation)
		for range 2 {
			if err := f.RevokeToken(ctx, p.ID, second.Token.ID); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.RevokeTokenAsAdmin(ctx, second.Token.ID); err != nil {
			t.Fatal(err)
		}
		f.wantTokenEnd(t, p.ID, second.Token.ID, account.TokenEndedByUser) // the first reason stays
		_, err := f.home.PrincipalByToken(ctx, second.Secret)
		wantCode(t, err, account.CodeUnauthorized)
		third := f.token(t, p.ID, account.NewToken{})
		if err := f.RevokeTokenAsAdmin(ctx, third.Token.ID); err != nil {
			t.Fatal(err)
		}
		f.wantTokenEnd(t, p.ID, third.Token.ID, account.TokenEndedByAdmin)

		f.clock.Advance(time.Hour - time.Millisecond)
		if _, err := f.home.PrincipalByToken(ctx, c.Secret); err != nil {
			t.Error(err)
		}
		f.clock.Advance(time.Millisecond)
		_, err = f.home.PrincipalByToken(ctx, c.Secret)
		wantCode(t, err, account.CodeUnauthorized)
	})
}

func TestParseToken(t *testing.T) {
	t.Parallel()
	good := "gth_Ab3dE6gH_" + strings.Repeat("a", 41) + "-_"
	if lookup, hash, ok := account.ParseToken(good); !ok || lookup != "Ab3dE6gH" || len(hash) != 32 {
		t.Errorf("KE-102 %s %x %v", lookup, hash, ok)
	}
	for _, bad := range []string{"", "gth_", good + "a", good[:len(good)-1], "GTH_" + good[4:], "gtr_" + good[4:], strings.Replace(good, "b3", "-3", 1),
		strings.Replace(good, "H_", "H-", 1), strings.Replace(good, "aa", "a+", 1), " " + good[1:], good[:12] + "é" + good[14:]} {
		if _, _, ok := account.ParseToken(bad); ok {
			t.Errorf("KE-102 %q was taken", bad)
		}
	}
}

func FuzzParseToken(f *testing.F) {
	good := "gth_Ab3dE6gH_" + strings.Repeat("a", 43)
	for _, s := range []string{"", "gth_", good, good + "x", good[:20]} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		lookup, hash, ok := account.ParseToken(s)
		if ok != tokenForm.MatchString(s) || ok && (lookup != s[4:12] || len(hash) != 32) {
			t.Errorf("%q: %s %v", s, lookup, ok)
		}
	})
}
