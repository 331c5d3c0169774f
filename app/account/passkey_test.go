package account_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/descope/virtualwebauthn"

	"gatehouse/app/account"
	"gatehouse/db"
	"gatehouse/db/dbtest"
)

// device is a browser with an authenticator in it.
type authenticator struct {
	party virtualwebauthn.RelyingParty
	auth  virtualwebauthn.Authenticator
	key   virtualwebauthn.Credential
}

func newAuthenticator() *authenticator {
	return &authenticator{
		party: virtualwebauthn.RelyingParty{ID: "home.example", Name: "Gatehouse", Origin: "https://home.example"},
		auth:  virtualwebauthn.NewAuthenticator(), key: newKey(),
	}
}

// newKey makes a key. The library for tests writes a coordinate that begins with zero bytes too short; such a key is made
// again.
func newKey() virtualwebauthn.Credential {
	for {
		key := virtualwebauthn.NewCredential(virtualwebauthn.KeyTypeEC2)
		if len(key.Key.AttestationData()) == 77 {
			return key
		}
	}
}

// create answers a request for a new passkey.
func (a *authenticator) create(t testing.TB, r *account.PasskeyRequest) string {
	t.Helper()
	options, err := virtualwebauthn.ParseAttestationOptions(`{"publicKey":` + r.Options + `}`)
	if err != nil {
		t.Fatal(err)
	}
	a.auth.Options.UserHandle = []byte(options.UserID)
	return virtualwebauthn.CreateAttestationResponse(a.party, a.auth, a.key, *options)
}

// sign answers a request for a known one.
func (a *authenticator) sign(t testing.TB, r *account.PasskeyRequest) string {
	t.Helper()
	options, err := virtualwebauthn.ParseAssertionOptions(`{"publicKey":` + r.Options + `}`)
	if err != nil {
		t.Fatal(err)
	}
	return virtualwebauthn.CreateAssertionResponse(a.party, a.auth, a.key, *options)
}

const browser = "the secret of a cookie"

// addPasskey gives a person a passkey through a session, and the session that goes on.
func (f *fixture) addPasskey(t testing.TB, s *account.Session, a *authenticator) (*account.Session, string) {
	t.Helper()
	r, err := f.BeginAddPasskey(ctx, s, browser)
	if err != nil {
		t.Fatal(err)
	}
	fresh, secret, err := f.AddPasskey(ctx, s, browser, r.ID, a.create(t, r), "Laptop", account.Device{})
	if err != nil {
		t.Fatal(err)
	}
	return fresh, secret
}

func (f *fixture) passkeySignIn(t testing.TB, a *authenticator) (*account.Session, string, error) {
	t.Helper()
	r, err := f.BeginPasskeySignIn(ctx, browser)
	if err != nil {
		t.Fatal(err)
	}
	a.key.Counter++
	return f.SignInByPasskey(ctx, browser, r.ID, a.sign(t, r), account.Device{IP: "203.0.113.9"})
}

func TestPasskeyRequests(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		s, _ := f.signIn(t, f.person(t, "ada@example.org").Email, goodPassword)
		r, err := f.BeginAddPasskey(ctx, s, browser)
		if err != nil {
			t.Fatal(err)
		}
		var made struct {
			Challenge string
			RP        struct{ ID string }
			User      struct{ ID, Name string }
			Selection struct{ ResidentKey, UserVerification string } `json:"authenticatorSelection"`
		}
		if err := json.Unmarshal([]byte(r.Options), &made); err != nil {
			t.Fatal(err)
		}
		if made.RP.ID != "home.example" || len(made.Challenge) != 43 || len(made.User.ID) != 86 || made.User.Name != "ada@example.org" ||
			made.Selection.ResidentKey != "required" || made.Selection.UserVerification != "required" {
			t.Errorf("WA-1 options %s", r.Options)
		}
		if strings.Contains(r.Options, s.UserID) {
			t.Error("WA-1 the user handle tells who it is")
		}
		again, err := f.BeginAddPasskey(ctx, s, browser)
		if err != nil || !strings.Contains(again.Options, made.User.ID) || strings.Contains(again.Options, made.Challenge) {
			t.Errorf("WA-1 the handle stays and the challenge changes: %v", err)
		}
		r, err = f.BeginPasskeySignIn(ctx, browser)
		if err != nil || !strings.Contains(r.Options, `"userVerification":"required"`) || strings.Contains(r.Options, "allowCredentials") {
			t.Errorf("WA-1 sign-in options %+v, %v", r, err)
		}
	})
}

func TestPasskeySignIn(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		p, a := f.person(t, "ada@example.org"), newAuthenticator()
		s, _ := f.signIn(t, p.Email, goodPassword)
		f.addPasskey(t, s, a)
		got, secret, err := f.passkeySignIn(t, a)
		if err != nil {
			t.Fatal(err)
		}
		if got.UserID != p.ID || account.StrengthOf(got.AMR) != account.StrengthMulti || got.AMR[0] != account.MethodHardwareKey {
			t.Errorf("WA-1 session %+v", got)
		}
		if live, err := f.SessionBySecret(ctx, secret); err != nil || live.ID != got.ID || len(live.AMR) != 3 {
			t.Errorf("SE-2 %+v, %v", live, err)
		}
		list, err := f.Factors(ctx, p.ID)
		if err != nil || len(list.Passkeys) != 1 || list.Passkeys[0].SignCount != 1 || list.Passkeys[0].LastUsedAt == nil || list.Passkeys[0].Name != "Laptop" {
			t.Errorf("WA-1 the counter is kept: %+v, %v", list, err)
		}
		if err := f.DisablePerson(ctx, p.ID); err != nil {
			t.Fatal(err)
		}
		if _, _, err := f.passkeySignIn(t, a); !errors.Is(err, account.ErrPasskey) {
			t.Errorf("a disabled person: %v", err)
		}
	})
}

func TestPasskeySynced(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		p, a := f.person(t, "ada@example.org"), newAuthenticator()
		a.auth.Options.BackupEligible = true
		s, _ := f.signIn(t, p.Email, goodPassword)
		f.addPasskey(t, s, a)
		a.auth.Options.BackupState = true
		got, _, err := f.passkeySignIn(t, a)
		if err != nil || got.AMR[0] != account.MethodSoftwareKey {
			t.Fatalf("WA-1 %+v, %v", got, err)
		}
		list, err := f.Factors(ctx, p.ID)
		if err != nil || !list.Passkeys[0].BackupEligible || !list.Passkeys[0].BackedUp {
			t.Errorf("WA-1 the backup flags are kept: %+v, %v", list, err)
		}
		a.auth.Options.BackupEligible, a.auth.Options.BackupState = false, false
		if _, _, err := f.passkeySignIn(t, a); !errors.Is(err, account.ErrPasskey) {
			t.Errorf("WA-1 a backup flag that may not change did: %v", err)
		}
	})
}

// Everything that an answer must not be.
func TestPasskeyRefused(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		p, a := f.person(t, "ada@example.org"), newAuthenticator()
		s, _ := f.signIn(t, p.Email, goodPassword)
		f.addPasskey(t, s, a)
		begin := func() *account.PasskeyRequest {
			r, err := f.BeginPasskeySignIn(ctx, browser)
			if err != nil {
				t.Fatal(err)
			}
			a.key.Counter++
			return r
		}
		refused := func(name, from, id, answer string) {
			t.Helper()
			if _, _, err := f.SignInByPasskey(ctx, from, id, answer, account.Device{}); !errors.Is(err, account.ErrPasskey) {
				t.Errorf("WA-1 %s: %v", name, err)
			}
		}
		r := begin()
		answer := a.sign(t, r)
		refused("another browser", "another cookie", r.ID, answer)
		if _, _, err := f.SignInByPasskey(ctx, browser, r.ID, answer, account.Device{}); err != nil {
			t.Errorf("WA-1 another browser's try used the challenge up: %v", err)
		}
		refused("single use", browser, r.ID, answer)

		r = begin()
		answer = a.sign(t, r)
		f.clock.Advance(5 * time.Minute)
		refused("five minutes", browser, r.ID, answer)

		r, other := begin(), begin()
		refused("another challenge", browser, other.ID, a.sign(t, r))
		for _, origin := range []string{"https://evil.example", "http://home.example", "https://home.example:8443", "https://sub.home.example"} {
			elsewhere := *a
			elsewhere.party.Origin = origin
			r = begin()
			refused("origin "+origin, browser, r.ID, elsewhere.sign(t, r))
		}
		elsewhere := *a
		elsewhere.party.ID = "evil.example"
		r = begin()
		refused("another relying party", browser, r.ID, elsewhere.sign(t, r))
		unverified := *a
		unverified.auth.Options.UserNotVerified = true
		r = begin()
		refused("no user verification", browser, r.ID, unverified.sign(t, r))
		forged := *a
		forged.key = newKey()
		forged.key.ID = a.key.ID
		r = begin()
		refused("another key", browser, r.ID, forged.sign(t, r))
		stranger := *a
		stranger.auth.Options.UserHandle = []byte("somebody")
		r = begin()
		refused("an unknown person", browser, r.ID, stranger.sign(t, r))
		for _, garbage := range []string{"", "{}", "null", "[]", strings.Repeat("x", 40<<10), `{"id":"AA","rawId":"AA","type":"public-key","response":{}}`} {
			refused("garbage", browser, begin().ID, garbage)
		}
		refused("no ceremony", browser, "gpc_"+strings.Repeat("A", 43), answer)
		refused("no id", browser, "", answer)
		// A challenge for one purpose is none for another, and none for somebody else.
		add, err := f.BeginAddPasskey(ctx, s, browser)
		if err == nil {
			_, _, err = f.SignInByPasskey(ctx, browser, add.ID, answer, account.Device{})
		}
		if !errors.Is(err, account.ErrPasskey) {
			t.Errorf("WA-1 a challenge of another kind: %v", err)
		}
		eve, _ := f.signIn(t, f.person(t, "eve@example.org").Email, goodPassword)
		if _, _, err := f.AddPasskey(ctx, eve, browser, add.ID, newAuthenticator().create(t, add), "x", account.Device{}); !errors.Is(err, account.ErrPasskey) {
			t.Errorf("WA-1 another person's challenge: %v", err)
		}
	})
}

func TestPasskeyCounter(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		p, a := f.person(t, "ada@example.org"), newAuthenticator()
		s, _ := f.signIn(t, p.Email, goodPassword)
		f.addPasskey(t, s, a)
		a.key.Counter = 40
		if _, _, err := f.passkeySignIn(t, a); err != nil {
			t.Fatal(err)
		}
		if f.noted(account.ActionPasskeyWentBack) {
			t.Error("WA-1 a counter that goes up is no news")
		}
		a.key.Counter = 3
		if _, _, err := f.passkeySignIn(t, a); err != nil {
			t.Errorf("WA-1 a counter that went back shuts nobody out: %v", err)
		}
		list, err := f.Factors(ctx, p.ID)
		if err != nil || list.Passkeys[0].WentBackAt == nil || list.Passkeys[0].SignCount != 41 || !f.noted(account.ActionPasskeyWentBack) {
			t.Errorf("WA-1 a counter that went back is told: %+v, %v", list, err)
		}
	})
}

func TestPasskeyChanges(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		p, other := f.person(t, "ada@example.org"), f.person(t, "eva@example.org")
		foreign, foreignSecret := f.signIn(t, other.Email, goodPassword)
		s, secret := f.signIn(t, p.Email, goodPassword)
		f.clock.Advance(time.Minute)
		_, elsewhere := f.signIn(t, p.Email, goodPassword)
		token, connection := f.token(t, p.ID, account.NewToken{}), f.connect(t, p.ID)
		foreignConnection := f.connect(t, other.ID)

		a := newAuthenticator()
		fresh, kept := f.addPasskey(t, s, a)
		if !fresh.AuthTime.Equal(s.AuthTime) || !fresh.ExpiresAt.Equal(s.ExpiresAt) {
			t.Errorf("the session that goes on has another proof or end: %+v", fresh)
		}
		for _, gone := range []string{secret, elsewhere} {
			_, err := f.SessionBySecret(ctx, gone)
			wantCode(t, err, account.CodeNotFound) // KE-126 SE-2
		}
		f.wantTokenEnd(t, p.ID, token.Token.ID, account.TokenEndedByUser) // KE-126
		f.wantEnded(t, connection, "user")                                // KE-126
		f.wantEnded(t, foreignConnection, "")
		for _, alive := range []string{kept, foreignSecret} {
			if _, err := f.SessionBySecret(ctx, alive); err != nil {
				t.Errorf("KE-126 a session that was to stay: %v", err)
			}
		}
		r, err := f.BeginAddPasskey(ctx, s, browser)
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = f.AddPasskey(ctx, s, browser, r.ID, newAuthenticator().create(t, r), "", account.Device{})
		wantCode(t, err, account.CodeNotFound) // a session that has ended changes nothing

		f.addPasskey(t, foreign, newAuthenticator())
		r, err = f.BeginAddPasskey(ctx, fresh, browser)
		if err != nil || !strings.Contains(r.Options, "excludeCredentials") {
			t.Fatalf("WA-1 known ones are excluded: %v", err)
		}
		_, _, err = f.AddPasskey(ctx, fresh, browser, r.ID, a.create(t, r), "", account.Device{})
		wantCode(t, err, account.CodeConflict)

		list, _ := f.Factors(ctx, p.ID)
		id := list.Passkeys[0].ID
		theirs, _ := f.Factors(ctx, other.ID)
		wantCode(t, f.RenamePasskey(ctx, fresh, theirs.Passkeys[0].ID, "mine"), account.CodeNotFound)
		wantCode(t, f.RenamePasskey(ctx, fresh, id, "\n"), account.CodeValidation)
		if err := f.RenamePasskey(ctx, fresh, id, " Desk  computer "); err != nil {
			t.Error(err)
		}
		if list, _ = f.Factors(ctx, p.ID); list.Passkeys[0].Name != "Desk computer" {
			t.Errorf("renamed %+v", list)
		}
		_, _, err = f.RemovePasskey(ctx, fresh, theirs.Passkeys[0].ID, account.Device{})
		wantCode(t, err, account.CodeNotFound)

		connection = f.connect(t, p.ID)
		if _, _, err = f.RemovePasskey(ctx, fresh, id, account.Device{}); err != nil {
			t.Fatal(err)
		}
		f.wantEnded(t, connection, "user") // KE-126
		if _, _, err := f.passkeySignIn(t, a); !errors.Is(err, account.ErrPasskey) {
			t.Errorf("a removed passkey: %v", err)
		}
	})
}

func TestPasskeysOnly(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		p, a, b := f.person(t, "ada@example.org"), newAuthenticator(), newAuthenticator()
		s, _ := f.signIn(t, p.Email, goodPassword)
		_, _, err := f.DropPassword(ctx, s, account.Device{})
		if !errors.Is(err, account.ErrLastFactor) {
			t.Errorf("WA-1 the last factor: %v", err)
		}
		s, _ = f.addPasskey(t, s, a)
		f.clock.Advance(time.Second)
		s, _ = f.addPasskey(t, s, b)
		connection := f.connect(t, p.ID)
		if s, _, err = f.DropPassword(ctx, s, account.Device{}); err != nil {
			t.Fatal(err)
		}
		f.wantEnded(t, connection, "user") // KE-126
		for _, password := range []string{goodPassword, ""} {
			_, _, err := f.SignIn(ctx, p.Email, password, account.Device{})
			wantCode(t, err, account.CodeWrongCredentials)
		}
		list, _ := f.Factors(ctx, p.ID)
		if s, _, err = f.RemovePasskey(ctx, s, list.Passkeys[0].ID, account.Device{}); err != nil {
			t.Fatal(err)
		}
		if _, _, err := f.RemovePasskey(ctx, s, list.Passkeys[1].ID, account.Device{}); !errors.Is(err, account.ErrLastFactor) {
			t.Errorf("WA-1 the last factor: %v", err)
		}
		if s, _, err = f.passkeySignIn(t, b); err != nil {
			t.Fatal(err)
		}
		_, _, err = f.SetPassword(ctx, s, "short", account.Device{})
		wantCode(t, err, account.CodeValidation)
		if s, _, err = f.SetPassword(ctx, s, otherPassword, account.Device{}); err != nil {
			t.Fatal(err)
		}
		f.signIn(t, p.Email, otherPassword)
		_, _, err = f.SetPassword(ctx, s, goodPassword, account.Device{})
		wantCode(t, err, account.CodeConflict)
	})
}

// Two processes remove the last two ways to sign in at once: one of them stays.
func TestLastFactorRace(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) {
		both := []*fixture{newFixture(t, d, clock), newFixture(t, dbtest.Again(t, d, clock.Now), clock)}
		p := both[0].person(t, "ada@example.org")
		s, _ := both[0].signIn(t, p.Email, goodPassword)
		both[0].addPasskey(t, s, newAuthenticator())
		list, err := both[0].Factors(ctx, p.ID)
		if err != nil {
			t.Fatal(err)
		}
		won := race(t, account.CodeConflict, func(n int) error {
			c := account.FactorChange{UserID: p.ID, At: clock.Now()}
			if n%2 == 0 {
				err := both[0].d.DropPassword(ctx, c)
				return err
			}
			err := both[1].d.RemovePasskey(ctx, list.Passkeys[0].ID, c)
			if account.CodeOf(err) == account.CodeNotFound { // removed by another
				return account.ErrLastFactor
			}
			return err
		})
		left, err := both[0].WaysIn(ctx, p.ID)
		if err != nil || !left.Any() || won == 0 {
			t.Errorf("WA-1 left %+v after %d changes, %v", left, won, err)
		}
	})
}

func TestPasskeysNeedAHost(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t, dbtest.SQLiteURL(t), dbtest.NewClock().Now)
	for url, possible := range map[string]bool{
		"https://home.example": true, "https://home.example:8443": true, "http://localhost:8080": true,
		"http://127.0.0.1:8080": false, "https://192.0.2.7": false, "https://[2001:db8::1]": false, "http://home.example": false, "": false,
	} {
		f := newFixture(t, d, dbtest.NewClock(), func(c *account.Config) { c.PublicURL = url })
		if f.PasskeysPossible() != possible {
			t.Errorf("WA-1 %q: possible %v", url, !possible)
		}
		if _, err := f.BeginPasskeySignIn(ctx, browser); (err == nil) != possible {
			t.Errorf("WA-1 %q: %v", url, err)
		}
	}
}

func FuzzPasskeyAnswer(f *testing.F) {
	d := dbtest.Open(f, dbtest.SQLiteURL(f), dbtest.NewClock().Now)
	fix, a := newFixture(f, d, dbtest.NewClock()), newAuthenticator()
	p := fix.person(f, "ada@example.org")
	s, _ := fix.signIn(f, p.Email, goodPassword)
	fix.addPasskey(f, s, a)
	r, err := fix.BeginPasskeySignIn(ctx, browser)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(a.sign(f, r))
	f.Add(`{"id":"AA","rawId":"AA","type":"public-key","response":{"clientDataJSON":"e30","authenticatorData":"AA","signature":"AA","userHandle":""}}`)
	f.Fuzz(func(t *testing.T, answer string) {
		r, err := fix.BeginPasskeySignIn(ctx, browser)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := fix.SignInByPasskey(ctx, browser, r.ID, answer, account.Device{}); !errors.Is(err, account.ErrPasskey) {
			t.Errorf("%q: %v", answer, err)
		}
	})
}
