package account_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"gatehouse/app/account"
	"gatehouse/app/limit"
	"gatehouse/db"
	"gatehouse/db/dbtest"
)

// phone is an authenticator app.
type phone struct {
	f      *fixture
	secret string
}

// code is what the app shows now, or so long before or after.
func (p *phone) code(t testing.TB, shift time.Duration) string {
	t.Helper()
	code, err := totp.GenerateCode(p.secret, p.f.clock.Now().Add(shift))
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// next waits for a code that was not used.
func (p *phone) next(t testing.TB) string {
	t.Helper()
	p.f.clock.Advance(30 * time.Second)
	return p.code(t, 0)
}

// enrol sets up an app for the person of a session.
func (f *fixture) enrol(t testing.TB, s *account.Session) (*phone, []string, *account.Session) {
	t.Helper()
	if err := f.BeginCodes(ctx, s); err != nil {
		t.Fatal(err)
	}
	e, err := f.Enrolment(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	p := &phone{f, e.Secret}
	codes, fresh, _, err := f.ConfirmCodes(ctx, s, p.code(t, 0), account.Device{})
	if err != nil {
		t.Fatal(err)
	}
	return p, codes, fresh
}

// password signs in up to the second factor.
func (f *fixture) password(t testing.TB, email, password string) string {
	t.Helper()
	_, secret, err := f.SignIn(ctx, email, password, account.Device{IP: "203.0.113.9"})
	var needed *account.SecondFactorNeeded
	if !errors.As(err, &needed) || secret != "" || !strings.HasPrefix(needed.Secret, "gps_") {
		t.Fatalf("TF-1 a password alone: %q, %v", secret, err)
	}
	return needed.Secret
}

var atHome = account.Device{IP: "203.0.113.9"}

func TestEnrolment(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		p, other := f.person(t, "ada@example.org"), f.person(t, "eva@example.org")
		s, secret := f.signIn(t, p.Email, goodPassword)
		_, elsewhere := f.signIn(t, p.Email, goodPassword)
		_, foreign := f.signIn(t, other.Email, goodPassword)
		token, connection, foreignConnection := f.token(t, p.ID, account.NewToken{}), f.connect(t, p.ID), f.connect(t, other.ID)
		if _, err := f.Enrolment(ctx, s); account.CodeOf(err) != account.CodeNotFound {
			t.Errorf("nothing was begun: %v", err)
		}
		var e *account.Enrolment
		for range 2 { // begun again, the first seed is worth nothing
			if err := f.BeginCodes(ctx, s); err != nil {
				t.Fatal(err)
			}
			next, err := f.Enrolment(ctx, s)
			if err != nil || e != nil && next.Secret == e.Secret {
				t.Fatalf("%+v, %v", next, err)
			}
			e = next
		}
		seed, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(e.Secret)
		if err != nil || len(seed)*8 < 160 {
			t.Errorf("TF-1 a seed of %d bits, %v", len(seed)*8, err)
		}
		u, err := url.Parse(e.URI)
		if err != nil || u.Scheme != "otpauth" || u.Host != "totp" || u.Query().Get("secret") != e.Secret || u.Query().Get("algorithm") != "SHA1" ||
			u.Query().Get("digits") != "6" || u.Query().Get("period") != "30" || u.Path != "/Gatehouse (home.example):ada@example.org" || strings.Contains(e.URI, "+") {
			t.Errorf("TF-1 %s", e.URI)
		}
		a, err := f.d.AuthenticatorOf(ctx, p.ID)
		if err != nil || bytes.Contains(a.Seed, seed) || bytes.Contains(a.Seed, []byte(e.Secret)) {
			t.Errorf("TF-1 the seed is stored readable, %v", err)
		}
		app := &phone{f, e.Secret}
		f.signIn(t, p.Email, goodPassword) // nothing holds until it is confirmed
		for _, wrong := range []string{"", "000000", "12345", app.code(t, 2*time.Minute), app.code(t, 0) + "0"} {
			if _, _, _, err := f.ConfirmCodes(ctx, s, wrong, account.Device{}); !errors.Is(err, account.ErrWrongCode) {
				t.Errorf("TF-1 confirmed by %q: %v", wrong, err)
			}
		}
		if _, err := f.SessionBySecret(ctx, elsewhere); err != nil {
			t.Errorf("a refused code ended a session: %v", err)
		}
		shown := app.code(t, 0)
		codes, _, fresh, err := f.ConfirmCodes(ctx, s, shown[:3]+" "+shown[3:], account.Device{})
		if err != nil {
			t.Fatal(err)
		}
		for _, gone := range []string{secret, elsewhere} {
			_, err := f.SessionBySecret(ctx, gone)
			wantCode(t, err, account.CodeNotFound) // KE-126 SE-2
		}
		f.wantTokenEnd(t, p.ID, token.Token.ID, account.TokenEndedByUser)
		f.wantEnded(t, connection, "user") // KE-126
		f.wantEnded(t, foreignConnection, "")
		for _, alive := range []string{fresh, foreign} {
			if _, err := f.SessionBySecret(ctx, alive); err != nil {
				t.Errorf("KE-126 a session that was to stay: %v", err)
			}
		}
		seen := map[string]bool{}
		for _, c := range codes {
			seen[c] = true
		}
		if len(seen) != 10 {
			t.Errorf("TF-1 %d recovery codes", len(seen))
		}
		if _, err := f.Enrolment(ctx, s); account.CodeOf(err) != account.CodeNotFound {
			t.Errorf("TF-1 a confirmed seed is shown again: %v", err)
		}
		if err := f.BeginCodes(ctx, s); !errors.Is(err, account.ErrCodesOn) {
			t.Errorf("a second app: %v", err)
		}
		if list, err := f.Factors(ctx, p.ID); err != nil || !list.SecondFactor() || list.RecoveryCodes != 10 {
			t.Errorf("factors %+v, %v", list, err)
		}
	})
}

func TestSecondFactor(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		p := f.person(t, "ada@example.org")
		s, _ := f.signIn(t, p.Email, goodPassword)
		app, _, _ := f.enrol(t, s)
		t.Run("TF-1 the code that confirmed works no second time", func(t *testing.T) {
			_, _, err := f.CompleteSignIn(ctx, f.password(t, p.Email, goodPassword), app.code(t, 0), atHome)
			wantCode(t, err, account.CodeWrongCredentials)
		})
		t.Run("TF-1 a code, once", func(t *testing.T) {
			one, two := f.password(t, p.Email, goodPassword), f.password(t, p.Email, goodPassword)
			code := app.next(t)
			got, secret, err := f.CompleteSignIn(ctx, one, code, atHome)
			if err != nil || got.UserID != p.ID || account.StrengthOf(got.AMR) != account.StrengthMulti {
				t.Fatalf("%+v, %v", got, err)
			}
			if live, err := f.SessionBySecret(ctx, secret); err != nil || strings.Join(live.AMR, " ") != "pwd otp mfa" {
				t.Errorf("SE-2 %+v, %v", live, err)
			}
			if _, _, err := f.CompleteSignIn(ctx, two, code, atHome); !errors.Is(err, account.ErrWrongCode) {
				t.Errorf("TF-1 replayed: %v", err)
			}
			if _, _, err := f.CompleteSignIn(ctx, one, app.next(t), atHome); account.CodeOf(err) != account.CodeNotFound {
				t.Errorf("TF-1 a sign-in that is complete: %v", err)
			}
			if _, _, err := f.CompleteSignIn(ctx, two, app.next(t), atHome); err != nil {
				t.Errorf("a refused code ended the sign-in: %v", err)
			}
		})
		t.Run("TF-1 one step of tolerance to either side", func(t *testing.T) {
			f.clock.Advance(10 * time.Minute)
			for _, shift := range []time.Duration{-time.Minute, time.Minute} {
				_, _, err := f.CompleteSignIn(ctx, f.password(t, p.Email, goodPassword), app.code(t, shift), atHome)
				wantCode(t, err, account.CodeWrongCredentials)
			}
			for _, shift := range []time.Duration{-30 * time.Second, 30 * time.Second} {
				if _, _, err := f.CompleteSignIn(ctx, f.password(t, p.Email, goodPassword), app.code(t, shift), atHome); err != nil {
					t.Errorf("%s: %v", shift, err)
				}
			}
			// The step in the middle was passed by a later one (RFC 6238 §5.2).
			_, _, err := f.CompleteSignIn(ctx, f.password(t, p.Email, goodPassword), app.code(t, 0), atHome)
			wantCode(t, err, account.CodeWrongCredentials)
		})
		t.Run("TF-1 ten minutes", func(t *testing.T) {
			pending := f.password(t, p.Email, goodPassword)
			if who, err := f.PendingSignIn(ctx, pending); err != nil || who.ID != p.ID {
				t.Errorf("%+v, %v", who, err)
			}
			f.clock.Advance(10 * time.Minute)
			_, _, err := f.CompleteSignIn(ctx, pending, app.code(t, 0), atHome)
			wantCode(t, err, account.CodeNotFound)
			f.clock.Advance(time.Second)
			if err := f.Sweep(ctx); err != nil {
				t.Error(err)
			}
			hash := sha256.Sum256([]byte(pending))
			if _, err := f.d.PendingByHash(ctx, hash[:], f.clock.Now().Add(-time.Hour)); account.CodeOf(err) != account.CodeNotFound {
				t.Errorf("not swept: %v", err)
			}
		})
		t.Run("whatever ends sessions ends what waits", func(t *testing.T) {
			pending, cancelled := f.password(t, p.Email, goodPassword), f.password(t, p.Email, goodPassword)
			if err := f.CancelSignIn(ctx, cancelled); err != nil {
				t.Error(err)
			}
			if err := f.EndOtherSessions(ctx, p.ID, ""); err != nil {
				t.Fatal(err)
			}
			for _, gone := range []string{pending, cancelled, "", "gps_x"} {
				_, _, err := f.CompleteSignIn(ctx, gone, app.next(t), atHome)
				wantCode(t, err, account.CodeNotFound)
			}
		})
	})
}

func TestSecondFactorThrottle(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		p := f.person(t, "ada@example.org")
		s, _ := f.signIn(t, p.Email, goodPassword)
		app, _, _ := f.enrol(t, s)
		var exceeded *limit.Exceeded
		for n := range 6 {
			// A right password does not wash wrong codes away.
			_, _, err := f.CompleteSignIn(ctx, f.password(t, p.Email, goodPassword), "000000", atHome)
			if n < 5 && !errors.Is(err, account.ErrWrongCode) || n == 5 && !errors.As(err, &exceeded) {
				t.Errorf("TF-1 try %d: %v", n+1, err)
			}
		}
		pending := f.password(t, p.Email, goodPassword)
		if _, _, err := f.CompleteSignIn(ctx, pending, app.code(t, 30*time.Second), atHome); !errors.As(err, &exceeded) {
			t.Errorf("TF-1 a right code during the delay: %v", err)
		}
		if !f.noted(account.ActionCodeRefused) {
			t.Error("wrong codes after a right password are not recorded")
		}
		f.clock.Advance(time.Minute)
		if _, _, err := f.CompleteSignIn(ctx, pending, app.code(t, 0), atHome); err != nil {
			t.Errorf("TF-1 after the delay: %v", err)
		}
	})
}

func TestRecoveryCodes(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		p, other := f.person(t, "ada@example.org"), f.person(t, "eva@example.org")
		s, _ := f.signIn(t, p.Email, goodPassword)
		theirs, _ := f.signIn(t, other.Email, goodPassword)
		_, codes, s := f.enrol(t, s)
		_, foreign, _ := f.enrol(t, theirs)
		use := func(code string) error {
			_, _, err := f.CompleteSignIn(ctx, f.password(t, p.Email, goodPassword), code, atHome)
			return err
		}
		if err := use(strings.ToUpper(strings.ReplaceAll(codes[0], "-", " "))); err != nil {
			t.Errorf("TF-1 a recovery code: %v", err)
		}
		for name, code := range map[string]string{"used": codes[0], "another person's": foreign[0], "garbage": "aaaa-aaaa-aaaa-aaaa"} {
			if err := use(code); !errors.Is(err, account.ErrWrongCode) {
				t.Errorf("TF-1 %s: %v", name, err)
			}
		}
		if list, err := f.Factors(ctx, p.ID); err != nil || list.RecoveryCodes != 9 || !f.noted(account.ActionRecoveryCodeUsed) {
			t.Errorf("TF-1 %+v, %v", list, err)
		}
		again, err := f.NewRecoveryCodes(ctx, s)
		if err != nil || len(again) != 10 {
			t.Fatalf("%v, %v", again, err)
		}
		if err := use(codes[1]); !errors.Is(err, account.ErrWrongCode) {
			t.Errorf("TF-1 a replaced one: %v", err)
		}
		if err := use(again[1]); err != nil {
			t.Errorf("TF-1 a new one: %v", err)
		}
	})
}

// One code comes to two processes many times at once: it opens one session.
func TestCodeRace(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) {
		free := func(c *account.Config) {
			c.SignIns = limit.NewSignIns(clock.Now, noThrottle{}, limit.New(limit.Config{Now: clock.Now}))
		}
		both := []*fixture{newFixture(t, d, clock, free), newFixture(t, dbtest.Again(t, d, clock.Now), clock, free)}
		f := both[0]
		p := f.person(t, "ada@example.org")
		s, _ := f.signIn(t, p.Email, goodPassword)
		app, codes, _ := f.enrol(t, s)
		for name, code := range map[string]string{"app": app.next(t), "recovery": codes[0]} {
			pending := make([]string, 20)
			for i := range pending {
				pending[i] = f.password(t, p.Email, goodPassword)
			}
			won := race(t, account.CodeWrongCredentials, func(n int) error {
				_, _, err := both[n%2].CompleteSignIn(ctx, pending[n], code, atHome)
				return err
			})
			if won != 1 {
				t.Errorf("TF-1 %s: one code opened %d sessions", name, won)
			}
		}
	})
}

func TestRemoveCodes(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		p := f.person(t, "ada@example.org")
		s, _ := f.signIn(t, p.Email, goodPassword)
		_, _, err := f.RemoveCodes(ctx, s, atHome)
		wantCode(t, err, account.CodeNotFound)
		_, _, s = f.enrol(t, s)
		connection := f.connect(t, p.ID)
		for _, password := range []string{"seven77", "dragon12"} {
			_, _, err = f.ChangePassword(ctx, s, goodPassword, password, atHome)
			wantCode(t, err, account.CodeValidation) // PW-2 seven characters, and a pattern
		}
		if s, _, err = f.ChangePassword(ctx, s, goodPassword, "tram9vas", atHome); err != nil {
			t.Fatalf("PW-2 eight characters beside a second factor: %v", err)
		}
		f.wantEnded(t, connection, "user")
		if _, _, err := f.RemoveCodes(ctx, s, atHome); !errors.Is(err, account.ErrShortPassword) {
			t.Errorf("PW-2 a short password alone: %v", err)
		}
		if s, _, err = f.ChangePassword(ctx, s, "tram9vas", otherPassword, atHome); err != nil {
			t.Fatal(err)
		}
		connection = f.connect(t, p.ID)
		if _, _, err := f.RemoveCodes(ctx, s, atHome); err != nil {
			t.Fatal(err)
		}
		f.wantEnded(t, connection, "user") // KE-126
		f.signIn(t, p.Email, otherPassword)
		if list, err := f.Factors(ctx, p.ID); err != nil || list.SecondFactor() || list.RecoveryCodes != 0 {
			t.Errorf("%+v, %v", list, err)
		}
	})
}

// noThrottle lets every try through.
type noThrottle struct{}

func (noThrottle) UpdateThrottles(_ context.Context, keys []string, decide func(map[string]*limit.Throttle) error) error {
	counts := map[string]*limit.Throttle{}
	for _, k := range keys {
		counts[k] = &limit.Throttle{}
	}
	return decide(counts)
}

func (noThrottle) SweepThrottles(context.Context, time.Time, time.Time) error { return nil }

func TestConfirmWithCode(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		p := f.person(t, "ada@example.org")
		s, _ := f.signIn(t, p.Email, goodPassword)
		app, _, _ := f.enrol(t, s)
		s, secret, err := f.CompleteSignIn(ctx, f.password(t, p.Email, goodPassword), app.next(t), atHome)
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = f.Confirm(ctx, s, secret, goodPassword, "", atHome)
		wantCode(t, err, account.CodeWrongCredentials) // AD-1 asks for the factors there are
		renewed, fresh, err := f.Confirm(ctx, s, secret, goodPassword, app.next(t), atHome)
		if err != nil || !renewed.Fresh(f.clock.Now(), time.Minute) || strings.Join(renewed.AMR, " ") != "pwd otp mfa" {
			t.Fatalf("AD-1 %+v, %v", renewed, err)
		}
		if got, err := f.SessionBySecret(ctx, fresh); err != nil || strings.Join(got.AMR, " ") != "pwd otp mfa" {
			t.Errorf("SE-2 %+v, %v", got, err)
		}
	})
}

func TestResetFactors(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		p, a := f.person(t, "ada@example.org"), newAuthenticator()
		s, _ := f.signIn(t, p.Email, goodPassword)
		s, _ = f.addPasskey(t, s, a)
		_, _, s = f.enrol(t, s)
		connection := f.connect(t, p.ID)
		password, err := f.ResetFactors(ctx, p.ID, false)
		if err != nil || !password {
			t.Fatalf("%v, %v", password, err)
		}
		f.wantEnded(t, connection, "admin") // KE-126
		s, _ = f.signIn(t, p.Email, goodPassword)
		if _, _, err := f.passkeySignIn(t, a); err != nil {
			t.Errorf("a passkey that was to stay: %v", err)
		}
		_, _, s = f.enrol(t, s)
		if _, _, err = f.ChangePassword(ctx, s, goodPassword, "tram9vas", atHome); err != nil {
			t.Fatal(err)
		}
		if password, err = f.ResetFactors(ctx, p.ID, true); err != nil || password {
			t.Errorf("PW-2 a short password stands alone after a reset: %v", err)
		}
		_, _, err = f.SignIn(ctx, p.Email, "tram9vas", atHome)
		wantCode(t, err, account.CodeWrongCredentials)
		if ways, err := f.WaysIn(ctx, p.ID); err != nil || ways.Any() {
			t.Errorf("%+v, %v", ways, err)
		}
		_, err = f.ResetFactors(ctx, "x", true)
		wantCode(t, err, account.CodeNotFound)
	})
}

func TestResetLinkForgets(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		p, a := f.person(t, "ada@example.org"), newAuthenticator()
		s, _ := f.signIn(t, p.Email, goodPassword)
		s, _ = f.addPasskey(t, s, a)
		f.enrol(t, s)
		link := func() string {
			l, err := f.ResetLink(ctx, p.ID)
			if err != nil {
				t.Fatal(err)
			}
			return tokenOf(t, l, "https://home.example/reset?token=")
		}
		if _, err := f.CompleteReset(ctx, link(), "tram9vas", false); err != nil {
			t.Errorf("PW-2 eight characters beside a second factor: %v", err)
		}
		f.password(t, p.Email, "tram9vas") // the second factor stays
		token := link()
		_, err := f.CompleteReset(ctx, token, "tram9vas", true)
		wantCode(t, err, account.CodeValidation) // PW-2 it would stand alone
		if _, err := f.CompleteReset(ctx, token, otherPassword, true); err != nil {
			t.Fatal(err)
		}
		f.signIn(t, p.Email, otherPassword)
		if _, _, err := f.passkeySignIn(t, a); !errors.Is(err, account.ErrPasskey) {
			t.Errorf("a lost passkey: %v", err)
		}
	})
}

func FuzzCode(f *testing.F) {
	d := dbtest.Open(f, dbtest.SQLiteURL(f), dbtest.NewClock().Now)
	fix := newFixture(f, d, dbtest.NewClock(), func(c *account.Config) {
		c.SignIns = limit.NewSignIns(c.Now, noThrottle{}, limit.New(limit.Config{Now: c.Now, Budgets: map[string]int{limit.SignInTries.Name: 1 << 30, limit.SignInsOverall.Name: 1 << 30}}))
	})
	p := fix.person(f, "ada@example.org")
	s, _ := fix.signIn(f, p.Email, goodPassword)
	app, codes, _ := fix.enrol(f, s)
	pending := fix.password(f, p.Email, goodPassword)
	for _, seed := range []string{"", "000000", "12 34-56", "\u00a0", codes[0] + "x", strings.Repeat("9", 70)} {
		f.Add(seed)
	}
	right := app.code(f, 30*time.Second)
	f.Fuzz(func(t *testing.T, code string) {
		if strings.Contains(code, right) {
			t.Skip()
		}
		if _, _, err := fix.CompleteSignIn(ctx, pending, code, atHome); !errors.Is(err, account.ErrWrongCode) {
			t.Errorf("%q: %v", code, err)
		}
	})
}
