package account_test

import (
	"crypto/rand"
	"testing"

	"gatehouse/app/account"
	"gatehouse/app/connection"
	"gatehouse/app/upstream"
)

func (f *fixture) connections(t testing.TB, userID string) int {
	t.Helper()
	list, err := f.d.ListConnections(ctx, connection.Filter{UserID: userID}, f.clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// provider enters a provider, so that identities of its issuer are ways in.
func (f *fixture) provider(t testing.TB, issuer string) {
	t.Helper()
	id, err := account.NewID(f.clock.Now(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.d.InsertProvider(ctx, upstream.Row{Provider: upstream.Provider{ID: id, Slug: id, Name: "x", Issuer: issuer, ClientID: "x", CreatedAt: f.clock.Now()}}); err != nil {
		t.Fatal(err)
	}
}

// What happens to an account, and whether what acts for the person ends with it: connections, personal tokens and all
// sessions but the one that acts (KE-126). Signing out one chosen device ends that device alone (KE-128), and so does what
// is no matter of security.
func TestWhatEndsAccess(t *testing.T) {
	t.Parallel()
	type now struct {
		person         *account.Person
		session, other *account.Session
		secret         string
		identity       string
	}
	second := account.NewIdentity{Issuer: "https://second.example", Subject: "s"}
	for name, c := range map[string]struct {
		do func(f *fixture, n now) error
		// ends says that access ends; left is how many of the two sessions go on.
		ends bool
		left int
	}{
		"KE-126 password changed": {func(f *fixture, n now) error {
			_, _, err := f.ChangePassword(ctx, n.session, goodPassword, otherPassword, account.Device{})
			return err
		}, true, 1},
		"KE-126 password reset by link": {func(f *fixture, n now) error {
			link, err := f.ResetLink(ctx, n.person.ID)
			if err != nil {
				return err
			}
			_, err = f.CompleteReset(ctx, link[len("https://home.example/reset?token="):], otherPassword, false)
			return err
		}, true, 0},
		"KE-126 identity linked":  {func(f *fixture, n now) error { return f.LinkIdentity(ctx, n.person.ID, n.session.ID, second) }, true, 1},
		"KE-126 identity removed": {func(f *fixture, n now) error { return f.Unlink(ctx, n.person.ID, n.session.ID, n.identity) }, true, 1},
		"KE-126 address changed by link": {func(f *fixture, n now) error {
			link, err := f.EmailChangeLink(ctx, n.person.ID, "new@example.org")
			if err != nil {
				return err
			}
			return f.CompleteEmailChange(ctx, link[len("https://home.example/email?token="):], n.session)
		}, true, 1},
		"KE-126 address changed by an administrator": {func(f *fixture, n now) error { return f.SetEmail(ctx, n.person.ID, "new@example.org") }, true, 0},
		"KE-126 signed out everywhere else":          {func(f *fixture, n now) error { return f.EndOtherSessions(ctx, n.person.ID, n.session.ID) }, true, 1},
		"KE-126 signed out everywhere":               {func(f *fixture, n now) error { return f.EndOtherSessions(ctx, n.person.ID, "") }, true, 0},
		"KE-126 disabled":                            {func(f *fixture, n now) error { return f.DisablePerson(ctx, n.person.ID) }, true, 0},
		"KE-126 deletion requested": {func(f *fixture, n now) error {
			_, err := f.RequestDeletion(ctx, n.person.ID)
			return err
		}, true, 0},
		"KE-128 one device signed out": {func(f *fixture, n now) error { return f.EndSession(ctx, n.person.ID, n.other.ID) }, false, 1},
		"KE-128 signed out here":       {func(f *fixture, n now) error { return f.SignOut(ctx, n.secret) }, false, 1},
		"a link that was not used": {func(f *fixture, n now) error {
			_, err := f.EmailChangeLink(ctx, n.person.ID, "new@example.org")
			if err == nil {
				_, err = f.ResetLink(ctx, n.person.ID)
			}
			return err
		}, false, 2},
		"an identity that is linked already": {func(f *fixture, n now) error { return f.LinkIdentity(ctx, n.person.ID, n.session.ID, ada) }, false, 2},
		"a confirmed sign-in": {func(f *fixture, n now) error {
			_, _, err := f.Confirm(ctx, n.session, n.secret, goodPassword, "", account.Device{})
			return err
		}, false, 2},
		"somebody else's changes": {func(f *fixture, n now) error {
			bob, err := f.AddPerson(ctx, account.NewPerson{Email: "bob@example.org", Password: goodPassword})
			if err != nil {
				return err
			}
			return f.DisablePerson(ctx, bob.ID)
		}, false, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, f *fixture) {
				f.provider(t, ada.Issuer)
				var n now
				n.person = f.person(t, "ada@example.org")
				if err := f.LinkIdentity(ctx, n.person.ID, "", ada); err != nil {
					t.Fatal(err)
				}
				list, _ := f.Identities(ctx, n.person.ID)
				n.identity = list[0].ID
				n.session, n.secret = f.signIn(t, n.person.Email, goodPassword)
				n.other, _ = f.signIn(t, n.person.Email, goodPassword)
				f.token(t, n.person.ID, account.NewToken{})
				f.connect(t, n.person.ID)
				if err := c.do(f, n); err != nil {
					t.Fatal(err)
				}
				live := 1
				if c.ends {
					live = 0
				}
				if got := f.connections(t, n.person.ID); got != live {
					t.Errorf("%d connections live, want %d", got, live)
				}
				if tokens, _ := f.Tokens(ctx, n.person.ID); len(tokens) != 1 || (tokens[0].EndedReason == "") == c.ends {
					t.Errorf("personal token: %+v, want ended %t", tokens, c.ends)
				}
				if left, _ := f.Sessions(ctx, n.person.ID); len(left) != c.left {
					t.Errorf("%d sessions go on, want %d", len(left), c.left)
				}
			})
		})
	}
}
