package account_test

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"gatehouse/app/account"
	"gatehouse/app/home"
	"gatehouse/app/limit"
	"gatehouse/app/sealing"
	"gatehouse/db"
	"gatehouse/db/dbtest"
)

const (
	goodPassword  = "seven green herons"
	otherPassword = "eleven amber lanterns"
)

var ctx = context.Background()

// hasher counts the work of a real one with small parameters.
type hasher struct {
	account.Hasher
	hashes, verifies atomic.Int32
}

func (h *hasher) Hash(ctx context.Context, password string) (string, error) {
	h.hashes.Add(1)
	return h.Hasher.Hash(ctx, password)
}

func (h *hasher) Verify(ctx context.Context, password, hash string) (bool, bool, error) {
	h.verifies.Add(1)
	return h.Hasher.Verify(ctx, password, hash)
}

func smallHasher(t testing.TB, memory uint32) *hasher {
	t.Helper()
	h, err := account.NewArgon2(account.PasswordParams{MemoryKiB: memory, Iterations: 1, Parallelism: 1})
	if err != nil {
		t.Fatal(err)
	}
	return &hasher{Hasher: h}
}

// fixture is one process on a database.
type fixture struct {
	*account.Service
	home   *home.Service
	d      *db.DB
	clock  *dbtest.Clock
	hasher *hasher

	mu    sync.Mutex
	notes []string
}

func (f *fixture) note(h account.Happening) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.notes = append(f.notes, h.Action)
}

// noted reports whether something was recorded.
func (f *fixture) noted(action string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Contains(f.notes, action)
}

func seal(t testing.TB) *sealing.Sealer {
	t.Helper()
	s, err := sealing.New(make([]byte, sealing.KeySize), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func newFixture(t testing.TB, d *db.DB, clock *dbtest.Clock, change ...func(*account.Config)) *fixture {
	t.Helper()
	f := &fixture{d: d, clock: clock, hasher: smallHasher(t, 64)}
	c := account.Config{
		Now: clock.Now, Rand: rand.Reader, Store: d, PublicURL: "https://home.example/", BearerAllowed: true, Hasher: f.hasher,
		Sealer: seal(t), Record: func(_ context.Context, h account.Happening) { f.note(h) },
		SignIns: limit.NewSignIns(clock.Now, d, limit.New(limit.Config{Now: clock.Now})),
	}
	for _, fn := range change {
		fn(&c)
	}
	var err error
	if f.Service, err = account.New(c); err != nil {
		t.Fatal(err)
	}
	if f.home, err = home.New(home.Config{Now: clock.Now, Rand: rand.Reader, Store: d}); err != nil {
		t.Fatal(err)
	}
	return f
}

// each runs the test on both databases with a fixture.
func each(t *testing.T, fn func(t *testing.T, f *fixture)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) { fn(t, newFixture(t, d, clock)) })
}

func (f *fixture) person(t testing.TB, email string) *account.Person {
	t.Helper()
	p, err := f.AddPerson(ctx, account.NewPerson{Email: email, Password: goodPassword})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (f *fixture) signIn(t testing.TB, email, password string) (*account.Session, string) {
	t.Helper()
	s, secret, err := f.SignIn(ctx, email, password, account.Device{IP: "203.0.113.9", UserAgent: "Test"})
	if err != nil {
		t.Fatal(err)
	}
	return s, secret
}

func (f *fixture) location(t testing.TB, userID string) string {
	t.Helper()
	list, err := f.home.LocationsOf(ctx, userID)
	if err != nil || len(list) == 0 {
		t.Fatalf("locations %v: %v", list, err)
	}
	return list[0].ID
}

func (f *fixture) token(t testing.TB, userID string, n account.NewToken) *account.CreatedToken {
	t.Helper()
	if n.Name == "" {
		n.Name = "laptop"
	}
	if n.Scope == "" {
		n.Scope = account.TokenRead
	}
	if n.LocationIDs == nil {
		n.LocationIDs = []string{f.location(t, userID)}
	}
	c, err := f.CreateToken(ctx, userID, n)
	if err != nil {
		t.Fatal(err)
	}
	return c
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

func wantCode(t *testing.T, err error, code string) {
	t.Helper()
	if account.CodeOf(err) != code {
		t.Errorf("got %v, want %s", err, code)
	}
}

func tokenOf(t *testing.T, link, before string) string {
	t.Helper()
	token, ok := strings.CutPrefix(link, before)
	if !ok {
		t.Fatalf("link %q does not begin with %s", link, before)
	}
	return token
}
