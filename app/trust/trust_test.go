package trust_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"gatehouse/app/account"
	"gatehouse/app/connection"
	"gatehouse/app/home"
	"gatehouse/app/limit"
	"gatehouse/app/trust"
	"gatehouse/db"
	"gatehouse/db/dbtest"
	"gatehouse/oauth"
)

const idp = "https://idp.example"

// fixture is the service over a real database.
type fixture struct {
	*trust.Service
	accounts *account.Service
	homes    *home.Service
	d        *db.DB

	mu   sync.Mutex
	told []string
}

func (f *fixture) tell(what string) func(context.Context, string, string) {
	return func(_ context.Context, _, issuer string) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.told = append(f.told, what+" "+issuer)
	}
}

func each(t *testing.T, fn func(t *testing.T, f *fixture)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) {
		f := &fixture{d: d}
		var err error
		f.accounts, err = account.New(account.Config{Now: clock.Now, Rand: rand.Reader, Store: d, PublicURL: "https://home.example", BearerAllowed: true,
			Passwords: account.PasswordParams{MemoryKiB: 19456, Iterations: 2, Parallelism: 1}, SignIns: limit.NewSignIns(clock.Now, d, limit.New(limit.Config{Now: clock.Now}))})
		if err != nil {
			t.Fatal(err)
		}
		if f.homes, err = home.New(home.Config{Now: clock.Now, Rand: rand.Reader, Store: d}); err != nil {
			t.Fatal(err)
		}
		f.Service = &trust.Service{Store: d, Accounts: f.accounts, Homes: f.homes, Now: clock.Now, OwnIssuer: "https://home.example",
			KnownScopes: []string{home.ScopeRead, home.ScopeWrite}, Linked: f.tell("linked"), Made: f.tell("made")}
		fn(t, f)
	})
}

func good() trust.Issuer {
	return trust.Issuer{Issuer: idp, JWKSURI: idp + "/keys", Algorithms: []string{"ES256"}, Domains: []string{"example.org"}, Scopes: []string{home.ScopeRead}}
}

func (f *fixture) trust(t *testing.T, change func(*trust.Issuer)) {
	t.Helper()
	i := good()
	change(&i)
	if err := f.Add(t.Context(), i); err != nil {
		t.Fatal(err)
	}
}

func (f *fixture) person(t *testing.T, email string) *account.Person {
	t.Helper()
	p, err := f.accounts.AddPerson(t.Context(), account.NewPerson{Email: email, NoPassword: true})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func subject(email string) oauth.AssertedSubject {
	return oauth.AssertedSubject{Issuer: idp, Tenant: "acme", Subject: "sub of " + email, Email: email, Name: "Ada"}
}

func TestIssuers(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		want := good()
		want.Tenant, want.SingleUse, want.CreatesPeople, want.IgnoredClaims = "acme", true, true, []string{"groups"}
		if err := f.Add(t.Context(), want); err != nil {
			t.Fatal(err)
		}
		if err := f.Add(t.Context(), good()); account.CodeOf(err) != account.CodeConflict {
			t.Errorf("twice: %v", err)
		}
		list, err := f.List(t.Context())
		if err != nil || len(list) != 1 || list[0].Tenant != "acme" || !list[0].SingleUse || !list[0].CreatesPeople || !slices.Equal(list[0].IgnoredClaims, want.IgnoredClaims) {
			t.Fatalf("list: %+v %v", list, err)
		}
		got, err := f.d.TrustedIssuer(t.Context(), idp)
		if err != nil || got.JWKSURI != want.JWKSURI || got.JWKS != nil || !got.SingleUse || got.Tenant != "acme" {
			t.Errorf("for the protocol: %+v %v", got, err)
		}
		for _, other := range []string{idp + "/", "", "x\x00"} {
			if _, err := f.d.TrustedIssuer(t.Context(), other); !errors.Is(err, oauth.ErrNotFound) {
				t.Errorf("JB-1 %q is trusted: %v", other, err)
			}
		}
		if err := f.Remove(t.Context(), idp); err != nil {
			t.Fatal(err)
		}
		if err := f.Remove(t.Context(), idp); !errors.Is(err, trust.ErrNotFound) {
			t.Errorf("removed twice: %v", err)
		}
	})
}

func TestIssuerChecks(t *testing.T) {
	t.Parallel()
	s := &trust.Service{OwnIssuer: "https://home.example", KnownScopes: []string{home.ScopeRead}}
	for name, change := range map[string]func(*trust.Issuer){
		"plain http":         func(i *trust.Issuer) { i.Issuer = "http://idp.example" },
		"query":              func(i *trust.Issuer) { i.Issuer += "?x=1" },
		"ourselves":          func(i *trust.Issuer) { i.Issuer = "https://home.example" },
		"no keys":            func(i *trust.Issuer) { i.JWKSURI = "" },
		"both kinds of keys": func(i *trust.Issuer) { i.JWKS = json.RawMessage(`{"keys":[]}`) },
		"empty key set":      func(i *trust.Issuer) { i.JWKSURI, i.JWKS = "", json.RawMessage(`{"keys":[]}`) },
		"keys over http":     func(i *trust.Issuer) { i.JWKSURI = "http://idp.example/keys" },
		"symmetric":          func(i *trust.Issuer) { i.Algorithms = []string{"HS256"} },
		"no algorithm":       func(i *trust.Issuer) { i.Algorithms = nil },
		"unknown permission": func(i *trust.Issuer) { i.Scopes = []string{"all"} },
		"no permission":      func(i *trust.Issuer) { i.Scopes = nil },
		"domain with a path": func(i *trust.Issuer) { i.Domains = []string{"example.org/x"} },
		"top-level domain":   func(i *trust.Issuer) { i.Domains = []string{"org"} },
		"makes anybody":      func(i *trust.Issuer) { i.Domains, i.CreatesPeople = nil, true },
		"claim with a space": func(i *trust.Issuer) { i.IgnoredClaims = []string{"a b"} },
		"location":           func(i *trust.Issuer) { i.Locations = []string{"home"} },
		"too many":           func(i *trust.Issuer) { i.Domains = strings.Fields(strings.Repeat("a.example ", 51)) },
	} {
		t.Run("IJ-1 "+name, func(t *testing.T) {
			t.Parallel()
			i := good()
			change(&i)
			if err := s.Add(t.Context(), i); account.CodeOf(err) != account.CodeValidation {
				t.Errorf("added: %v", err)
			}
		})
	}
}

func TestResolveSubject(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		f.trust(t, func(i *trust.Issuer) { i.Scopes = []string{home.ScopeWrite} })
		ada := f.person(t, "ada@example.org")
		if _, _, err := f.accounts.SignIn(ctx, ada.Email, "x", account.Device{}); err == nil {
			t.Fatal("no password was set")
		}
		nobody := func(name string, s oauth.AssertedSubject) {
			t.Helper()
			if got, err := f.ResolveSubject(ctx, s); !errors.Is(err, oauth.ErrNotFound) {
				t.Errorf("IJ-4 %s: %+v, %v", name, got, err)
			}
		}
		unverified, other, foreign := subject(ada.Email), subject("ada@other.example"), subject(ada.Email)
		unverified.EmailUnverified, foreign.Issuer = true, "https://unknown.example"
		nobody("an address that the issuer did not check", unverified)
		nobody("a domain that the issuer does not own", other)
		nobody("an issuer that is not trusted", foreign)
		nobody("nobody with the address", subject("bob@example.org"))
		if _, err := f.accounts.AddPerson(ctx, account.NewPerson{Email: "typed@example.org", NoPassword: true, Unverified: true}); err != nil {
			t.Fatal(err)
		}
		nobody("an account whose address was only typed", subject("typed@example.org"))
		nobody("no address", oauth.AssertedSubject{Issuer: idp, Subject: "x"})
		first, err := f.ResolveSubject(ctx, subject("ADA@example.org"))
		if err != nil || first.UserID != ada.ID || !slices.Equal(first.Scopes, []string{home.ScopeWrite}) {
			t.Fatalf("IJ-4 a first link by the address: %+v, %v", first, err)
		}
		var terms connection.Terms
		if err := json.Unmarshal(first.Terms, &terms); err != nil || len(terms.Locations) != 1 {
			t.Errorf("the person's first location: %s %v", first.Terms, err)
		}
		moved := subject("ADA@example.org")
		moved.Email, moved.EmailUnverified = "somebody@other.example", true
		if again, err := f.ResolveSubject(ctx, moved); err != nil || again.UserID != ada.ID {
			t.Errorf("IJ-4 afterwards the address does not matter: %+v, %v", again, err)
		}
		tenant := subject("ADA@example.org")
		tenant.Tenant, tenant.Email = "other", ""
		nobody("the same subject of another tenant", tenant)
		if err := f.accounts.DisablePerson(ctx, ada.ID); err != nil {
			t.Fatal(err)
		}
		nobody("a disabled person", subject("ADA@example.org"))
		if !slices.Equal(f.told, []string{"linked " + idp}) {
			t.Errorf("told: %v", f.told)
		}
	})
}

func TestMadePeople(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		f.trust(t, func(i *trust.Issuer) { i.CreatesPeople = true })
		found := make([]*oauth.ResolvedSubject, 8)
		errs := make([]error, len(found))
		var wg sync.WaitGroup
		for i := range found {
			wg.Go(func() { found[i], errs[i] = f.ResolveSubject(t.Context(), subject("eve@example.org")) })
		}
		wg.Wait()
		for i := range found {
			if errs[i] != nil || found[i].UserID != found[0].UserID {
				t.Fatalf("IJ-4 at the same time: %+v, %v", found[i], errs[i])
			}
		}
		p, err := f.accounts.PersonByEmail(t.Context(), "eve@example.org")
		if err != nil || p.Admin || p.Name != "Ada" || p.ID != found[0].UserID {
			t.Errorf("IJ-4 the person made: %+v, %v", p, err)
		}
		if _, err := f.ResolveSubject(t.Context(), subject("eve@other.example")); !errors.Is(err, oauth.ErrNotFound) {
			t.Errorf("IJ-4 made for a foreign domain: %v", err)
		}
		if !slices.Equal(f.told, []string{"made " + idp}) {
			t.Errorf("told: %v", f.told)
		}
	})
}
