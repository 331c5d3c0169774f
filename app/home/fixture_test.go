package home_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gatehouse/app/account"
	"gatehouse/app/home"
	"gatehouse/app/limit"
	"gatehouse/db"
	"gatehouse/db/dbtest"
	"gatehouse/oauth"
)

var ctx = context.Background()

// fixture is one process on a database.
type fixture struct {
	*home.Service
	people *account.Service
	d      *db.DB
	clock  *dbtest.Clock
}

func each(t *testing.T, fn func(t *testing.T, f *fixture)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) {
		f := &fixture{d: d, clock: clock}
		var err error
		f.people, err = account.New(account.Config{
			Now: clock.Now, Rand: rand.Reader, Store: d, BearerAllowed: true,
			Passwords: account.PasswordParams{MemoryKiB: 64, Iterations: 1},
			SignIns:   limit.NewSignIns(clock.Now, d, limit.New(limit.Config{Now: clock.Now})),
		})
		if err != nil {
			t.Fatal(err)
		}
		if f.Service, err = home.New(home.Config{Now: clock.Now, Rand: rand.Reader, Store: d}); err != nil {
			t.Fatal(err)
		}
		fn(t, f)
	})
}

// person adds somebody and gives their id.
func (f *fixture) person(t testing.TB, name string) string {
	t.Helper()
	p, err := f.people.AddPerson(ctx, account.NewPerson{Email: name + "@example.org", Password: "seven green herons"})
	if err != nil {
		t.Fatal(err)
	}
	return p.ID
}

func (f *fixture) newLocation(t testing.TB, ownerID, name string) string {
	t.Helper()
	l, err := f.CreateLocation(ctx, ownerID, home.NewLocation{Name: name, TimeZone: "Europe/Vienna"})
	if err != nil {
		t.Fatal(err)
	}
	return l.ID
}

func (f *fixture) add(t testing.TB, actorID, locationID, personID string, role home.Role) {
	t.Helper()
	if err := f.AddMember(ctx, actorID, locationID, personID, role); err != nil {
		t.Fatal(err)
	}
}

func (f *fixture) role(t testing.TB, locationID, personID string) home.Role {
	t.Helper()
	list, err := f.d.MembersOf(ctx, locationID)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range list {
		if m.UserID == personID {
			return m.Role
		}
	}
	return ""
}

func (f *fixture) token(t testing.TB, userID, scope string, locations ...string) *account.CreatedToken {
	t.Helper()
	c, err := f.people.CreateToken(ctx, userID, account.NewToken{Name: "x", Scope: scope, LocationIDs: locations, ConfirmCrossLocation: true})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// connect makes a connection of a person over locations; the result names its refresh token and its parts.
func (f *fixture) connect(t testing.TB, userID string, locations ...string) oauth.Redemption {
	t.Helper()
	now := f.clock.Now()
	id := func() string {
		id, err := account.NewID(now, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	terms, err := json.Marshal(map[string]any{"locations": locations})
	if err != nil {
		t.Fatal(err)
	}
	client := "gc_" + id()
	request := &oauth.AuthorizationRequest{ID: id(), ClientID: client, CreatedAt: now, ExpiresAt: now.Add(time.Hour)}
	code := &oauth.AuthorizationCode{
		Hash: oauth.HashSecret(id()), RequestID: "r", RedirectURI: "https://app.example/cb", CodeChallenge: "c", AuthTime: now, IssuedAt: now, ExpiresAt: now.Add(time.Hour),
		Approval: oauth.Approval{UserID: userID, ClientID: client, Resource: "https://home.example/mcp", Scopes: []string{"home:read"}, Terms: terms},
	}
	family := id()
	r := oauth.Redemption{
		CodeHash: code.Hash, At: now, NewConnectionID: id(), FamilyID: family, DeviceHint: "App",
		Refresh: &oauth.RefreshToken{Hash: oauth.HashSecret(id()), FamilyID: family, CreatedAt: now, ExpiresAt: now.Add(time.Hour)},
	}
	_, redeemed := func() (*oauth.Connection, error) {
		err := errors.Join(
			f.d.SaveClient(ctx, &oauth.Client{ID: client, Kind: oauth.ClientDynamic, Name: "App", CreatedAt: now, LastSeenAt: now}),
			f.d.SaveRequest(ctx, request),
			f.d.DecideRequest(ctx, request.ID, oauth.OutcomeAllowed, now, code),
		)
		if err != nil {
			return nil, err
		}
		return f.d.RedeemCode(ctx, r)
	}()
	if redeemed != nil {
		t.Fatal(redeemed)
	}
	return r
}

// locationsOfConnection lists what a connection reaches now; ended says that it reaches nothing any more.
func (f *fixture) locationsOfConnection(t testing.TB, r oauth.Redemption) (ids []string, ended bool) {
	t.Helper()
	p, err := f.d.PrincipalByConnection(ctx, r.NewConnectionID, r.FamilyID, "jti", f.clock.Now())
	if errors.Is(err, oauth.ErrEnded) {
		return nil, true
	}
	if err != nil {
		t.Fatal(err)
	}
	return accessIDs(p.Locations), false
}

func accessIDs(list []home.Access) []string {
	out := []string{}
	for _, a := range list {
		out = append(out, a.LocationID)
	}
	return out
}

func wantCode(t *testing.T, err error, code string) {
	t.Helper()
	if account.CodeOf(err) != code {
		t.Errorf("got %v, want %s", err, code)
	}
}

// race runs fn on 20 goroutines at once and counts those without an error; the others must have the code.
func race(t *testing.T, code string, fn func(n int) error) int {
	t.Helper()
	var won atomic.Int32
	var wg sync.WaitGroup
	for n := range 20 {
		wg.Go(func() {
			switch err := fn(n); {
			case err == nil:
				won.Add(1)
			case account.CodeOf(err) != code:
				t.Errorf("got %v, want %s", err, code)
			}
		})
	}
	wg.Wait()
	return int(won.Load())
}
