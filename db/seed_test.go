package db_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"gatehouse/db"
	"gatehouse/db/dbtest"
	"gatehouse/oauth"
)

// seed puts people and homes into the database by plain statements, so that the tests of one store do not stand on
// another.
type seed struct {
	t testing.TB
	d *db.DB
}

func (s seed) exec(text string, args ...any) {
	s.t.Helper()
	if err := db.ExecForTest(s.d, text, args...); err != nil {
		s.t.Fatal(err)
	}
}

func newID(t testing.TB) string {
	t.Helper()
	id, err := uuid.NewV7()
	if err != nil {
		t.Fatal(err)
	}
	return id.String()
}

func randomBytes() []byte {
	b := make([]byte, 32)
	_, _ = rand.Read(b)
	return b
}

var seedTime = time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)

func (s seed) user(name string) string {
	s.t.Helper()
	id := newID(s.t)
	at := db.TimeForTest(s.d, seedTime)
	s.exec(`INSERT INTO users (id, email, name, is_admin, password_hash, password_changed_at, created_at, updated_at)
		VALUES (?, ?, ?, ?, '', ?, ?, ?)`, id, id+"@example.org", name, false, at, at, at)
	return id
}

func (s seed) disable(userID string) {
	s.exec(`UPDATE users SET disabled_at = ? WHERE id = ?`, db.TimeForTest(s.d, seedTime), userID)
}

func (s seed) location(name string) string {
	s.t.Helper()
	id := newID(s.t)
	at := db.TimeForTest(s.d, seedTime)
	s.exec(`INSERT INTO locations (id, name, time_zone, currency, currencies, viewer_sees_money, require_2fa, child_order, preset, created_at, updated_at)
		VALUES (?, ?, 'Europe/Berlin', 'EUR', '["EUR","CHF"]', ?, ?, 'custom', 'home', ?, ?)`, id, name, true, false, at, at)
	for _, m := range []string{"mcp", "places"} {
		s.exec(`INSERT INTO location_modules (location_id, module, enabled, changed_at) VALUES (?, ?, ?, ?)`, id, m, true, at)
	}
	return id
}

func (s seed) member(locationID, userID, role string) {
	at := db.TimeForTest(s.d, seedTime)
	s.exec(`INSERT INTO members (location_id, user_id, role, joined_at, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)`,
		locationID, userID, role, at, at, at)
}

func (s seed) client(id string, now time.Time) *oauth.Client {
	s.t.Helper()
	c := &oauth.Client{
		ID: id, Kind: oauth.ClientDynamic, Name: "Desk assistant", AuthMethods: []string{oauth.AuthNone},
		RedirectURIs: []string{"https://desk.example/cb"}, GrantTypes: []string{oauth.GrantAuthorizationCode},
		CreatedAt: now, LastSeenAt: now,
	}
	if err := s.d.SaveClient(context.Background(), c); err != nil {
		s.t.Fatal(err)
	}
	return c
}

const testResource = "https://home.example/mcp"

// code stores a decided request with its code and gives the code's hash.
func (s seed) code(userID, clientID string, now time.Time, locations ...string) []byte {
	s.t.Helper()
	terms, err := json.Marshal(map[string]any{"locations": locations, "hidden_tools": []string{"thing_trash"}})
	if err != nil {
		s.t.Fatal(err)
	}
	return s.approve(oauth.Approval{
		UserID: userID, ClientID: clientID, Resource: testResource, Scopes: []string{"home:read", "home:write"}, Terms: terms,
	}, now)
}

func (s seed) approve(a oauth.Approval, now time.Time) []byte {
	s.t.Helper()
	ctx := context.Background()
	request := &oauth.AuthorizationRequest{
		ID: fmt.Sprintf("%x", randomBytes()), Parameters: map[string][]string{"state": {"x"}}, ClientID: a.ClientID,
		CreatedAt: now, ExpiresAt: now.Add(10 * time.Minute),
	}
	if err := s.d.SaveRequest(ctx, request); err != nil {
		s.t.Fatal(err)
	}
	code := &oauth.AuthorizationCode{
		Hash: randomBytes(), RequestID: request.Correlation(), Approval: a, RedirectURI: "https://desk.example/cb",
		CodeChallenge: "c", AuthTime: now, IssuedAt: now, ExpiresAt: now.Add(time.Minute),
	}
	if err := s.d.DecideRequest(ctx, request.ID, oauth.OutcomeAllowed, now, code); err != nil {
		s.t.Fatal(err)
	}
	return code.Hash
}

func redemption(t testing.TB, code []byte, now time.Time) oauth.Redemption {
	family := newID(t)
	return oauth.Redemption{
		CodeHash: code, At: now, NewConnectionID: newID(t), FamilyID: family, DeviceHint: "Desk on Linux",
		Refresh: &oauth.RefreshToken{Hash: randomBytes(), FamilyID: family, CreatedAt: now, ExpiresAt: now.Add(30 * 24 * time.Hour)},
	}
}

// connect brings a person to a connection over the whole way; it gives the connection and the redemption.
func (s seed) connect(userID, clientID string, now time.Time, locations ...string) (*oauth.Connection, oauth.Redemption) {
	s.t.Helper()
	r := redemption(s.t, s.code(userID, clientID, now, locations...), now)
	c, err := s.d.RedeemCode(context.Background(), r)
	if err != nil {
		s.t.Fatal(err)
	}
	return c, r
}

// home makes a person with a client and n locations.
func (s seed) home(clock *dbtest.Clock, n int) (userID, clientID string, locations []string) {
	s.t.Helper()
	userID, clientID = s.user("Ada"), "gc_"+newID(s.t)
	s.client(clientID, clock.Now())
	for i := range n {
		id := s.location(fmt.Sprintf("Home %d", i+1))
		s.member(id, userID, "owner")
		locations = append(locations, id)
	}
	return userID, clientID, locations
}
