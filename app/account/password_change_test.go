package account_test

import (
	"testing"

	"gatehouse/app/account"
)

func TestChangePassword(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		p := f.person(t, "ada@example.org")
		other := f.person(t, "eva@example.org")
		_, others := f.signIn(t, other.Email, goodPassword)
		s, secret := f.signIn(t, p.Email, goodPassword)
		_, elsewhere := f.signIn(t, p.Email, goodPassword)
		token := f.token(t, p.ID, account.NewToken{})
		connection, foreign := f.connect(t, p.ID), f.connect(t, other.ID)

		_, _, err := f.ChangePassword(ctx, s, otherPassword, "another one, quite long", account.Device{})
		wantCode(t, err, account.CodeWrongCredentials)
		_, _, err = f.ChangePassword(ctx, s, goodPassword, "short", account.Device{})
		wantCode(t, err, account.CodeValidation)
		if _, err := f.SessionBySecret(ctx, elsewhere); err != nil {
			t.Errorf("a refused change ended a session: %v", err)
		}

		_, fresh, err := f.ChangePassword(ctx, s, goodPassword, otherPassword, account.Device{IP: "203.0.113.9"})
		if err != nil {
			t.Fatal(err)
		}
		for _, gone := range []string{secret, elsewhere} {
			_, err = f.SessionBySecret(ctx, gone)
			wantCode(t, err, account.CodeNotFound) // SE-2
		}
		if got, err := f.SessionBySecret(ctx, fresh); err != nil || got.UserID != p.ID || !got.Person.PasswordChangedAt.Equal(f.clock.Now()) {
			t.Errorf("SE-2 session %+v, %v", got, err)
		}
		_, err = f.home.PrincipalByToken(ctx, token.Secret)
		wantCode(t, err, account.CodeUnauthorized)
		f.wantTokenEnd(t, p.ID, token.Token.ID, account.TokenEndedByUser)
		f.wantEnded(t, connection, "user") // KE-126
		f.wantEnded(t, foreign, "")
		if _, err := f.SessionBySecret(ctx, others); err != nil {
			t.Errorf("another person's session: %v", err)
		}
		_, _, err = f.SignIn(ctx, p.Email, goodPassword, account.Device{})
		wantCode(t, err, account.CodeWrongCredentials)
		f.signIn(t, p.Email, otherPassword)
	})
}

func TestChangePasswordRace(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		p := f.person(t, "ada@example.org")
		s, _ := f.signIn(t, p.Email, goodPassword)
		c, err := f.d.CredentialsByEmail(ctx, p.Email)
		if err != nil {
			t.Fatal(err)
		}
		won := race(t, account.CodeNotFound, func(n int) error {
			return f.d.ChangePassword(ctx, account.PasswordChange{UserID: p.ID, OldHash: c.PasswordHash, NewHash: "hash " + string(rune('a'+n)), At: f.clock.Now()})
		})
		if won != 1 {
			t.Errorf("%d changes from the same password", won)
		}
		// A session for a password that was replaced while it was being checked is not opened.
		err = f.d.InsertSession(ctx, account.NewSession{Session: *s, SecretHash: []byte("x")}, c.PasswordHash)
		wantCode(t, err, account.CodeNotFound)
	})
}

func TestEndSessions(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		p, other := f.person(t, "ada@example.org"), f.person(t, "eva@example.org")
		keep, kept := f.signIn(t, p.Email, goodPassword)
		chosen, gone := f.signIn(t, p.Email, goodPassword)
		_, third := f.signIn(t, p.Email, goodPassword)
		foreign, foreignSecret := f.signIn(t, other.Email, goodPassword)
		token, connection := f.token(t, p.ID, account.NewToken{}), f.connect(t, p.ID)

		wantCode(t, f.EndSession(ctx, p.ID, foreign.ID), account.CodeNotFound)
		wantCode(t, f.EndSession(ctx, p.ID, "x"), account.CodeNotFound)
		if err := f.EndSession(ctx, p.ID, chosen.ID); err != nil {
			t.Fatal(err)
		}
		_, err := f.SessionBySecret(ctx, gone)
		wantCode(t, err, account.CodeNotFound)
		if list, err := f.Sessions(ctx, p.ID); err != nil || len(list) != 2 {
			t.Errorf("SE-2 list %+v, %v", list, err)
		}
		if _, err := f.home.PrincipalByToken(ctx, token.Secret); err != nil {
			t.Errorf("KE-128 signing out one device ended a token: %v", err)
		}
		f.wantEnded(t, connection, "") // KE-128

		if err := f.EndOtherSessions(ctx, p.ID, keep.ID); err != nil {
			t.Fatal(err)
		}
		_, err = f.SessionBySecret(ctx, third)
		wantCode(t, err, account.CodeNotFound)
		for _, secret := range []string{kept, foreignSecret} {
			if _, err := f.SessionBySecret(ctx, secret); err != nil {
				t.Errorf("SE-2 a session that was to stay: %v", err)
			}
		}
		_, err = f.home.PrincipalByToken(ctx, token.Secret)
		wantCode(t, err, account.CodeUnauthorized)
		f.wantEnded(t, connection, "user") // KE-126
	})
}
