package account_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"gatehouse/app/account"
	"gatehouse/app/limit"
	"gatehouse/db/dbtest"
)

func TestSignIn(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		p := f.person(t, "Ada@Example.org")
		t.Run("SE-2 a session with a secret of which only the hash is stored", func(t *testing.T) {
			s, secret, err := f.SignIn(ctx, " ADA@example.org ", goodPassword, account.Device{IP: "2001:db8::1", UserAgent: "Firefox\x00" + strings.Repeat("é", 400)})
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(secret, "gss_") || len(secret) != 4+43 {
				t.Errorf("secret %q", secret)
			}
			got, err := f.SessionBySecret(ctx, secret)
			if err != nil {
				t.Fatal(err)
			}
			if got.ID != s.ID || got.UserID != p.ID || got.Person.Email != "ada@example.org" || got.IP != "2001:db8::1" ||
				!strings.HasPrefix(got.UserAgent, "Firefoxé") || len(got.UserAgent) > 300 || !got.AuthTime.Equal(f.clock.Now()) {
				t.Errorf("session %+v", got)
			}
			if _, again := f.signIn(t, "ada@example.org", goodPassword); again == secret {
				t.Error("the next sign-in has the same secret")
			}
		})
		t.Run("PW-3 one answer and equal work for every way to fail", func(t *testing.T) {
			off := f.person(t, "off@example.org")
			if err := f.DisablePerson(ctx, off.ID); err != nil {
				t.Fatal(err)
			}
			for name, c := range map[string]struct{ email, password string }{
				"wrong password":   {"ada@example.org", otherPassword},
				"unknown person":   {"nobody@example.org", goodPassword},
				"disabled person":  {"off@example.org", goodPassword},
				"no address":       {"not an address", goodPassword},
				"broken address":   {"a\xff\x00", goodPassword},
				"too long":         {"ada@example.org", strings.Repeat("long", 100)},
				"broken password":  {"ada@example.org", "seven\xffgreen herons"},
				"empty":            {"", ""},
				"another password": {"ada@example.org", goodPassword + " "},
			} {
				hashes, verifies := f.hasher.hashes.Load(), f.hasher.verifies.Load()
				_, _, err := f.SignIn(ctx, c.email, c.password, account.Device{IP: "198.51.100." + string(rune('0'+len(name)%10))})
				if !errors.Is(err, account.ErrWrongCredentials) {
					t.Errorf("%s: %v", name, err)
				}
				if f.hasher.hashes.Load() != hashes || f.hasher.verifies.Load() != verifies+1 {
					t.Errorf("%s: work differs", name)
				}
			}
		})
		t.Run("LT-1 too many tries", func(t *testing.T) {
			f.person(t, "eva@example.org")
			for range 5 {
				_, _, err := f.SignIn(ctx, "eva@example.org", otherPassword, account.Device{IP: "192.0.2.1"})
				wantCode(t, err, account.CodeWrongCredentials)
			}
			verifies := f.hasher.verifies.Load()
			_, _, err := f.SignIn(ctx, "eva@example.org", goodPassword, account.Device{IP: "192.0.2.1"})
			var exceeded *limit.Exceeded
			if !errors.As(err, &exceeded) || exceeded.Seconds() != 1 || f.hasher.verifies.Load() != verifies {
				t.Errorf("got %v", err)
			}
			f.clock.Advance(time.Second)
			if _, _, err := f.SignIn(ctx, "eva@example.org", goodPassword, account.Device{IP: "192.0.2.1"}); err != nil {
				t.Error(err)
			}
		})
	})
}

// full is a hasher with no room.
type full struct{ account.Hasher }

func (full) Verify(context.Context, string, string) (bool, bool, error) {
	return false, false, &limit.Exceeded{RetryAfter: time.Second}
}

func TestSignInWithoutRoom(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		f.person(t, "ada@example.org")
		busy := newFixture(t, f.d, f.clock, func(c *account.Config) { c.Hasher = full{f.hasher} })
		for range 8 {
			_, _, err := busy.SignIn(ctx, "ada@example.org", goodPassword, account.Device{IP: "192.0.2.1"})
			var exceeded *limit.Exceeded
			if !errors.As(err, &exceeded) || exceeded.RetryAfter != time.Second {
				t.Fatalf("PW-1: got %v", err)
			}
		}
		f.signIn(t, "ada@example.org", goodPassword) // what was turned away did not count as a failure
	})
}

func TestSessionLife(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		p := f.person(t, "ada@example.org")
		t.Run("SE-2 idle for 12 hours", func(t *testing.T) {
			_, secret := f.signIn(t, p.Email, goodPassword)
			f.clock.Advance(12*time.Hour - time.Millisecond)
			if _, err := f.SessionBySecret(ctx, secret); err != nil {
				t.Fatal(err)
			}
			f.clock.Advance(12 * time.Hour)
			_, err := f.SessionBySecret(ctx, secret)
			wantCode(t, err, account.CodeNotFound)
		})
		t.Run("SE-2 seven days at most", func(t *testing.T) {
			_, secret := f.signIn(t, p.Email, goodPassword)
			for range 14 {
				f.clock.Advance(11*time.Hour + 30*time.Minute)
				if _, err := f.SessionBySecret(ctx, secret); err != nil {
					t.Fatal(err)
				}
			}
			f.clock.Advance(7 * time.Hour) // seven days to the millisecond
			_, err := f.SessionBySecret(ctx, secret)
			wantCode(t, err, account.CodeNotFound)
			if list, err := f.Sessions(ctx, p.ID); err != nil || len(list) != 0 {
				t.Errorf("list %v, %v", list, err)
			}
			if err := f.Sweep(ctx); err != nil {
				t.Error(err)
			}
		})
		t.Run("a use is written at most once a minute", func(t *testing.T) {
			_, secret := f.signIn(t, p.Email, goodPassword)
			start := f.clock.Now()
			for _, c := range []struct{ after, seen time.Duration }{{59 * time.Second, 0}, {time.Second, time.Minute}, {time.Second, time.Minute}} {
				f.clock.Advance(c.after)
				if _, err := f.SessionBySecret(ctx, secret); err != nil {
					t.Fatal(err)
				}
				list, err := f.Sessions(ctx, p.ID)
				if err != nil || len(list) != 1 || list[0].LastSeenAt.Sub(start) != c.seen {
					t.Errorf("list %+v, %v, want last seen after %s", list, err, c.seen)
				}
			}
		})
		t.Run("SE-2 sign-out ends it on the server", func(t *testing.T) {
			_, secret := f.signIn(t, p.Email, goodPassword)
			for range 2 {
				if err := f.SignOut(ctx, secret); err != nil {
					t.Error(err)
				}
			}
			_, err := f.SessionBySecret(ctx, secret)
			wantCode(t, err, account.CodeNotFound)
		})
		t.Run("garbage finds nothing", func(t *testing.T) {
			for _, s := range []string{"", "gss_", "gss_" + strings.Repeat("A", 43), "gth_" + strings.Repeat("A", 43), "gss_" + strings.Repeat("\x00", 43)} {
				_, err := f.SessionBySecret(ctx, s)
				wantCode(t, err, account.CodeNotFound)
				if err := f.SignOut(ctx, s); err != nil {
					t.Error(err)
				}
			}
		})
	})
}

func TestConfirm(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		p := f.person(t, "ada@example.org")
		s, secret := f.signIn(t, p.Email, goodPassword)
		f.clock.Advance(20 * time.Minute)
		if s.Fresh(f.clock.Now(), 10*time.Minute) {
			t.Error("AD-1 a proof of 20 minutes ago is fresh")
		}
		_, _, err := f.Confirm(ctx, s, secret, otherPassword, "", account.Device{})
		wantCode(t, err, account.CodeWrongCredentials)
		renewed, fresh, err := f.Confirm(ctx, s, secret, goodPassword, "", account.Device{})
		if err != nil || !renewed.Fresh(f.clock.Now(), 10*time.Minute) {
			t.Fatalf("AD-1 %+v, %v", renewed, err)
		}
		_, err = f.SessionBySecret(ctx, secret)
		wantCode(t, err, account.CodeNotFound) // SE-2: another secret at a change of privilege
		got, err := f.SessionBySecret(ctx, fresh)
		if err != nil || got.ID != s.ID || !got.AuthTime.Equal(f.clock.Now()) {
			t.Errorf("SE-2 %+v, %v", got, err)
		}
		_, _, err = f.Confirm(ctx, s, secret, goodPassword, "", account.Device{})
		wantCode(t, err, account.CodeWrongCredentials)
	})
}

func TestNewNeedsItsParts(t *testing.T) {
	t.Parallel()
	if _, err := account.New(account.Config{Now: dbtest.NewClock().Now}); err == nil {
		t.Error("a service without a store was made")
	}
}
