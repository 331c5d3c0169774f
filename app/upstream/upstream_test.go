package upstream_test

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"gatehouse/app/account"
	"gatehouse/app/apptest"
	"gatehouse/app/home"
	"gatehouse/app/invitation"
	"gatehouse/app/limit"
	"gatehouse/app/sealing"
	"gatehouse/app/upstream"
	"gatehouse/db"
	"gatehouse/db/dbtest"
)

var ctx = context.Background()

const browser = "the browser's secret cookie"

// world is one process with a provider that it knows as "keys".
type world struct {
	*upstream.Service
	accounts    *account.Service
	homes       *home.Service
	invitations *invitation.Service
	d           *db.DB
	clock       *dbtest.Clock
	provider    *apptest.Provider
}

type plainHasher struct{}

func (plainHasher) Hash(_ context.Context, p string) (string, error) { return "x" + p, nil }
func (plainHasher) Verify(_ context.Context, p, h string) (bool, bool, error) {
	return h == "x"+p, false, nil
}

func newWorld(t *testing.T, d *db.DB, clock *dbtest.Clock, policy account.SignUpPolicy) *world {
	t.Helper()
	w := &world{d: d, clock: clock}
	var err error
	if w.accounts, err = account.New(account.Config{Now: clock.Now, Rand: rand.Reader, Store: d, PublicURL: "https://home.example", Hasher: plainHasher{}, SignUp: policy,
		SignIns: limit.NewSignIns(clock.Now, d, limit.New(limit.Config{Now: clock.Now}))}); err != nil {
		t.Fatal(err)
	}
	if w.homes, err = home.New(home.Config{Now: clock.Now, Rand: rand.Reader, Store: d}); err != nil {
		t.Fatal(err)
	}
	if w.invitations, err = invitation.New(invitation.Config{Now: clock.Now, Rand: rand.Reader, Store: d, Accounts: w.accounts, PublicURL: "https://home.example"}); err != nil {
		t.Fatal(err)
	}
	sealer, err := sealing.New(make([]byte, sealing.KeySize), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if w.Service, err = upstream.New(upstream.Config{Now: clock.Now, Rand: rand.Reader, Store: d, Sealer: sealer, Accounts: w.accounts, Invitations: w.invitations,
		Client: http.DefaultClient, PublicURL: "https://home.example"}); err != nil {
		t.Fatal(err)
	}
	return w
}

// each runs the test on both databases; change edits the provider before it is entered.
func each(t *testing.T, policy account.SignUpPolicy, change func(*upstream.NewProvider), f func(t *testing.T, w *world)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) {
		w := newWorld(t, d, clock, policy)
		w.provider = apptest.StartProvider(t)
		w.provider.Now = clock.Now
		n := upstream.NewProvider{Slug: "keys", Name: "House of Keys", Issuer: w.provider.URL, ClientID: apptest.ProviderClientID, ClientSecret: apptest.ProviderSecret}
		if change != nil {
			change(&n)
		}
		if _, err := w.Add(ctx, n); err != nil {
			t.Fatal(err)
		}
		f(t, w)
	})
}

// walk goes to the provider and gives the answer that comes back.
func (w *world) walk(t *testing.T, b upstream.Begin) upstream.Answer {
	t.Helper()
	b.Browser = browser
	to, err := w.Begin(ctx, "keys", b)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Get(to)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	back, err := res.Location()
	if err != nil || back.Scheme+"://"+back.Host+back.Path != "https://home.example/signin/with/keys/callback" {
		t.Fatalf("SE-3 the provider answers %d %v", res.StatusCode, back)
	}
	q := back.Query()
	return upstream.Answer{State: q.Get("state"), Code: q.Get("code"), Issuer: q.Get("iss"), Browser: browser}
}

func (w *world) finish(a upstream.Answer, s *account.Session) (upstream.Result, error) {
	return w.Finish(ctx, "keys", a, s, account.Device{UserAgent: "Test"})
}

func (w *world) person(t *testing.T, email string) *account.Person {
	t.Helper()
	p, err := w.accounts.AddPerson(ctx, account.NewPerson{Email: email, Password: "seven green herons"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (w *world) session(t *testing.T, email string) *account.Session {
	t.Helper()
	s, _, err := w.accounts.SignIn(ctx, email, "seven green herons", account.Device{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var ada = map[string]any{"sub": "u-1", "email": "ada@keys.example", "email_verified": true, "name": "Ada Lovelace"}

func TestLinkAndSignIn(t *testing.T) {
	t.Parallel()
	each(t, account.SignUpPolicy{}, nil, func(t *testing.T, w *world) {
		w.provider.Be(ada)
		if _, err := w.finish(w.walk(t, upstream.Begin{Purpose: upstream.PurposeSignIn}), nil); !errors.Is(err, upstream.ErrStranger) {
			t.Errorf("a stranger while sign-up is closed: %v", err)
		}
		p := w.person(t, "ada@keys.example")
		if _, err := w.finish(w.walk(t, upstream.Begin{Purpose: upstream.PurposeSignIn}), nil); !errors.Is(err, upstream.ErrKnownAddress) {
			t.Errorf("an untrusted provider opens an account by its address: %v", err)
		}
		session := w.session(t, p.Email)
		link := upstream.Begin{Purpose: upstream.PurposeLink, UserID: p.ID}
		if _, err := w.finish(w.walk(t, link), nil); !errors.Is(err, upstream.ErrOtherSession) {
			t.Errorf("a link without a session: %v", err)
		}
		if r, err := w.finish(w.walk(t, link), session); err != nil || !r.Linked || r.Session != nil {
			t.Fatalf("link: %+v, %v", r, err)
		}
		r, err := w.finish(w.walk(t, upstream.Begin{Purpose: upstream.PurposeSignIn, Return: "/settings/connect"}), nil)
		if err != nil || r.Session.UserID != p.ID || r.Secret == "" || r.Attempt.Return != "/settings/connect" {
			t.Fatalf("sign-in: %+v, %v", r, err)
		}
		if bob := w.person(t, "bob@example.org"); true {
			other := w.session(t, bob.Email)
			if _, err := w.finish(w.walk(t, upstream.Begin{Purpose: upstream.PurposeLink, UserID: bob.ID}), other); !errors.Is(err, account.ErrIdentityTaken) {
				t.Errorf("an identity of somebody else: %v", err)
			}
		}
	})
}

// An answer works once, in the browser and for the provider that it began with.
func TestAnswersAreBound(t *testing.T) {
	t.Parallel()
	each(t, account.SignUpPolicy{Mode: account.SignUpOpen}, func(n *upstream.NewProvider) { n.SignUp = true }, func(t *testing.T, w *world) {
		w.provider.Be(ada)
		begin := func() upstream.Answer { return w.walk(t, upstream.Begin{Purpose: upstream.PurposeSignIn}) }
		for name, change := range map[string]func(*upstream.Answer){
			"SE-3 another browser":           func(a *upstream.Answer) { a.Browser = "another" },
			"a state of nobody":              func(a *upstream.Answer) { a.State = strings.Repeat("A", 43) },
			"no state":                       func(a *upstream.Answer) { a.State = "" },
			"RFC9207-2.4 another issuer":     func(a *upstream.Answer) { a.Issuer = "https://evil.example" },
			"an answer after eleven minutes": func(*upstream.Answer) { w.clock.Advance(11 * time.Minute) },
		} {
			a := begin()
			change(&a)
			if _, err := w.finish(a, nil); !errors.Is(err, upstream.ErrOver) {
				t.Errorf("%s: %v", name, err)
			}
		}
		mine, theirs := begin(), begin()
		mine.Code = theirs.Code
		if _, err := w.finish(mine, nil); err == nil {
			t.Error("RFC7636-4.6 a code of another sign-in is taken")
		}
		denied := begin()
		denied.Code, denied.Error = "", "access_denied"
		if _, err := w.finish(denied, nil); !errors.Is(err, upstream.ErrDenied) {
			t.Errorf("a denial: %v", err)
		}
		a := begin()
		if _, err := w.finish(a, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := w.finish(a, nil); !errors.Is(err, upstream.ErrOver) {
			t.Errorf("the same answer again: %v", err)
		}
	})
}

func TestTokensOfTheProvider(t *testing.T) {
	t.Parallel()
	each(t, account.SignUpPolicy{Mode: account.SignUpOpen}, func(n *upstream.NewProvider) { n.SignUp = true }, func(t *testing.T, w *world) {
		for name, claims := range map[string]map[string]any{
			"another audience": {"sub": "u", "aud": "somebody"}, "another issuer": {"sub": "u", "iss": "https://evil.example"},
			"an expired one": {"sub": "u", "exp": w.clock.Now().Add(-time.Hour).Unix()}, "another nonce": {"sub": "u", "nonce": "x"},
		} {
			w.provider.Be(claims)
			if r, err := w.finish(w.walk(t, upstream.Begin{Purpose: upstream.PurposeSignIn}), nil); err == nil || r.Session != nil {
				t.Errorf("OIDC-3.1.3.7 an ID token with %s is taken: %v", name, err)
			}
		}
		// A proof of an hour ago is no recent sign-in.
		claims := map[string]any{"auth_time": w.clock.Now().Add(-time.Hour).Unix()}
		for k, v := range ada {
			claims[k] = v
		}
		w.provider.Be(claims)
		r, err := w.finish(w.walk(t, upstream.Begin{Purpose: upstream.PurposeSignIn}), nil)
		if err != nil || r.Session.Fresh(w.clock.Now(), 10*time.Minute) {
			t.Errorf("AD-1 a sign-in with an old proof: %+v, %v", r.Session, err)
		}
	})
}

func TestSignUpWithAProvider(t *testing.T) {
	t.Parallel()
	domain := account.SignUpPolicy{Mode: account.SignUpDomain, Domains: []string{"keys.example"}}
	each(t, domain, func(n *upstream.NewProvider) { n.SignUp = true }, func(t *testing.T, w *world) {
		for name, c := range map[string]struct {
			claims map[string]any
			want   error
		}{
			"unverified":     {map[string]any{"sub": "u-2", "email": "eve@keys.example"}, upstream.ErrUnverified},
			"another domain": {map[string]any{"sub": "u-3", "email": "eve@evil.example", "email_verified": true}, upstream.ErrStranger},
			"no address":     {map[string]any{"sub": "u-4"}, upstream.ErrUnverified},
		} {
			w.provider.Be(c.claims)
			if _, err := w.finish(w.walk(t, upstream.Begin{Purpose: upstream.PurposeSignIn}), nil); !errors.Is(err, c.want) {
				t.Errorf("sign-up %s: %v", name, err)
			}
		}
		w.provider.InUserInfo = true
		w.provider.Be(map[string]any{"sub": "u-1", "email": "Ada@KEYS.example", "email_verified": "true", "name": "Ada Lovelace"})
		r, err := w.finish(w.walk(t, upstream.Begin{Purpose: upstream.PurposeSignIn}), nil)
		if err != nil || r.Session.Person.Email != "ada@keys.example" || r.Session.Person.Name != "Ada Lovelace" || r.Session.Person.Admin {
			t.Fatalf("sign-up: %+v, %v", r.Session, err)
		}
		list, _ := w.homes.LocationsOf(ctx, r.Session.UserID)
		if len(list) != 1 || list[0].Role != home.Owner {
			t.Errorf("a new person's locations: %+v", list)
		}
	})
}

// A trusted provider opens an account with a verified address; not one that somebody else may have made in its name.
func TestTrustedDomains(t *testing.T) {
	t.Parallel()
	each(t, account.SignUpPolicy{}, func(n *upstream.NewProvider) { n.Domains = []string{"Keys.Example"} }, func(t *testing.T, w *world) {
		w.provider.Be(ada)
		owner := w.person(t, "owner@example.org")
		places, _ := w.homes.LocationsOf(ctx, owner.ID)
		link, err := w.invitations.Invite(ctx, owner.ID, invitation.NewInvitation{LocationID: places[0].ID, Role: home.Member})
		if err != nil {
			t.Fatal(err)
		}
		i, err := w.invitations.Check(ctx, tokenOf(t, link))
		if err != nil {
			t.Fatal(err)
		}
		squatter, err := w.invitations.AcceptNew(ctx, i, account.NewPerson{Email: "ada@keys.example", Name: "Mallory", Password: "seven green herons"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.finish(w.walk(t, upstream.Begin{Purpose: upstream.PurposeSignIn}), nil); !errors.Is(err, upstream.ErrKnownAddress) {
			t.Errorf("the owner of an address walks into an account that somebody made with it: %v", err)
		}
		if err := w.accounts.SetEmail(ctx, squatter.ID, "mallory@example.org"); err != nil {
			t.Fatal(err)
		}
		real := w.person(t, "ada@keys.example")
		before := w.session(t, real.Email)
		r, err := w.finish(w.walk(t, upstream.Begin{Purpose: upstream.PurposeSignIn}), nil)
		if err != nil || !r.Linked || r.Session.UserID != real.ID {
			t.Fatalf("a trusted provider: %+v, %v", r, err)
		}
		if left, _ := w.accounts.Sessions(ctx, real.ID); len(left) != 1 || left[0].ID == before.ID {
			t.Errorf("KE-126 after the link: %+v", left)
		}
	})
}

func tokenOf(t *testing.T, link string) string {
	t.Helper()
	u, err := url.Parse(link)
	if err != nil || u.Query().Get("token") == "" {
		t.Fatalf("link %q", link)
	}
	return u.Query().Get("token")
}

func TestInvitedWithAProvider(t *testing.T) {
	t.Parallel()
	each(t, account.SignUpPolicy{}, nil, func(t *testing.T, w *world) {
		w.provider.Be(ada)
		owner := w.person(t, "owner@example.org")
		places, _ := w.homes.LocationsOf(ctx, owner.ID)
		link, err := w.invitations.Invite(ctx, owner.ID, invitation.NewInvitation{LocationID: places[0].ID, Role: home.Viewer})
		if err != nil {
			t.Fatal(err)
		}
		i, err := w.invitations.Check(ctx, tokenOf(t, link))
		if err != nil {
			t.Fatal(err)
		}
		b := upstream.Begin{Purpose: upstream.PurposeInvitation, InvitationID: i.ID}
		first, second := w.walk(t, b), w.walk(t, b)
		r, err := w.finish(first, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := w.homes.LocationsOf(ctx, r.Session.UserID)
		if len(got) != 1 || got[0].ID != places[0].ID || got[0].Role != home.Viewer {
			t.Errorf("who came by invitation belongs to %+v", got)
		}
		if _, err := w.finish(second, nil); !errors.Is(err, account.ErrLinkGone) {
			t.Errorf("an invitation that is used up: %v", err)
		}
	})
}

// Two processes take one answer: one of them signs in.
func TestAnswerRace(t *testing.T) {
	t.Parallel()
	each(t, account.SignUpPolicy{Mode: account.SignUpOpen}, func(n *upstream.NewProvider) { n.SignUp = true }, func(t *testing.T, w *world) {
		w.provider.Be(ada)
		both := []*world{w, newWorld(t, dbtest.Again(t, w.d, w.clock.Now), w.clock, account.SignUpPolicy{Mode: account.SignUpOpen})}
		a := w.walk(t, upstream.Begin{Purpose: upstream.PurposeSignIn})
		var mu sync.Mutex
		var wg sync.WaitGroup
		won := 0
		for n := range 8 {
			wg.Go(func() {
				switch _, err := both[n%2].finish(a, nil); {
				case err == nil:
					mu.Lock()
					won++
					mu.Unlock()
				case !errors.Is(err, upstream.ErrOver):
					t.Errorf("the other: %v", err)
				}
			})
		}
		wg.Wait()
		if won != 1 || w.provider.Served != 1 {
			t.Errorf("%d sign-ins by one answer, %d exchanges", won, w.provider.Served)
		}
	})
}

func TestProviders(t *testing.T) {
	t.Parallel()
	each(t, account.SignUpPolicy{}, nil, func(t *testing.T, w *world) {
		good := upstream.NewProvider{Slug: "more", Name: "More", Issuer: w.provider.URL, ClientID: "x"}
		for name, change := range map[string]func(*upstream.NewProvider){
			"a known issuer": func(*upstream.NewProvider) {}, "a path as short name": func(n *upstream.NewProvider) { n.Slug = "../x" },
			"plain http": func(n *upstream.NewProvider) { n.Issuer = "http://id.example" }, "no client id": func(n *upstream.NewProvider) { n.ClientID = "" },
			"an issuer with a query": func(n *upstream.NewProvider) { n.Issuer += "?x=1" }, "no domain": func(n *upstream.NewProvider) { n.Domains = []string{"a b"} },
			"nobody there": func(n *upstream.NewProvider) { n.Issuer = "http://127.0.0.1:1" }, "no name": func(n *upstream.NewProvider) { n.Name = " " },
		} {
			n := good
			change(&n)
			if _, err := w.Add(ctx, n); account.CodeOf(err) == "" {
				t.Errorf("%s: %v", name, err)
			}
		}
		rows, err := w.d.Providers(ctx)
		if err != nil || len(rows) != 1 || strings.Contains(string(rows[0].SecretSealed), apptest.ProviderSecret) {
			t.Errorf("KY-4 the secret lies open, or %d rows: %v", len(rows), err)
		}
		if _, err := w.accounts.AddPersonWithIdentity(ctx, account.NewPerson{Email: "only@example.org"}, account.NewIdentity{Issuer: w.provider.URL, Subject: "only"}); err != nil {
			t.Fatal(err)
		}
		if err := w.Remove(ctx, "keys", false); !errors.Is(err, upstream.ErrInUse) {
			t.Errorf("removing somebody's only way in: %v", err)
		}
		if err := w.Remove(ctx, "keys", true); err != nil {
			t.Error(err)
		}
		if err := w.Remove(ctx, "keys", true); account.CodeOf(err) != account.CodeNotFound {
			t.Errorf("removing what is not there: %v", err)
		}
	})
}

// FuzzAnswer gives whatever a browser can bring.
func FuzzAnswer(f *testing.F) {
	d := dbtest.Open(f, dbtest.SQLiteURL(f), time.Now)
	sealer, err := sealing.New(make([]byte, sealing.KeySize), rand.Reader)
	if err != nil {
		f.Fatal(err)
	}
	accounts, err := account.New(account.Config{Now: time.Now, Rand: rand.Reader, Store: d, Hasher: plainHasher{}, SignIns: limit.NewSignIns(time.Now, d, limit.New(limit.Config{Now: time.Now}))})
	if err != nil {
		f.Fatal(err)
	}
	invitations, err := invitation.New(invitation.Config{Now: time.Now, Rand: rand.Reader, Store: d, Accounts: accounts})
	if err != nil {
		f.Fatal(err)
	}
	away := httptest.NewServer(http.NotFoundHandler())
	f.Cleanup(away.Close)
	if err := d.InsertProvider(ctx, upstream.Row{Provider: upstream.Provider{ID: "01900000-0000-7000-8000-000000000001", Slug: "keys", Name: "x", Issuer: away.URL, ClientID: "x"}}); err != nil {
		f.Fatal(err)
	}
	s, err := upstream.New(upstream.Config{Now: time.Now, Rand: rand.Reader, Store: d, Sealer: sealer, Accounts: accounts, Invitations: invitations, Client: http.DefaultClient})
	if err != nil {
		f.Fatal(err)
	}
	f.Add("keys", strings.Repeat("A", 43), "code", "", "b")
	f.Add("\x00", "", "", "access_denied", "")
	f.Fuzz(func(t *testing.T, slug, state, code, failure, browser string) {
		r, err := s.Finish(ctx, slug, upstream.Answer{State: state, Code: code, Error: failure, Browser: browser}, nil, account.Device{})
		if err == nil || r.Session != nil || account.CodeOf(err) == "" {
			t.Errorf("an answer of nobody: %+v, %v", r, err)
		}
	})
}
