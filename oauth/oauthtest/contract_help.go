package oauthtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"

	"gatehouse/oauth"
)

// racers is how many goroutines compete in the single-winner tests.
const racers = 20

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantIs(t *testing.T, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Fatalf("error is %v, want %v", err, target)
	}
}

// same compares; nil and empty lists are one, and times are instants.
func same[T any](t *testing.T, want, got T) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), sameJSON); diff != "" {
		t.Errorf("differs (-want +got):\n%s", diff)
	}
}

// sameJSON: a database may keep a document's meaning and not its spaces.
var sameJSON = cmp.FilterPath(
	func(p cmp.Path) bool { return p.Last().Type() == reflect.TypeFor[json.RawMessage]() },
	cmp.FilterValues(
		func(a, b json.RawMessage) bool { return len(a) > 0 && len(b) > 0 },
		cmp.Comparer(func(a, b json.RawMessage) bool {
			var x, y any
			return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && cmp.Equal(x, y)
		}),
	),
)

func ptr[T any](v T) *T { return &v }

// race runs fn in all racers at once and hands each result to check, one after the other.
func race(t *testing.T, fn func(i int) error, check func(err error)) {
	t.Helper()
	results := make([]error, racers)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range racers {
		wg.Go(func() {
			<-start
			results[i] = fn(i)
		})
	}
	close(start)
	wg.Wait()
	for _, err := range results {
		check(err)
	}
}

// oneWinner expects one success and loss for all others.
func oneWinner(t *testing.T, loss error, fn func(i int) error) {
	t.Helper()
	winners := 0
	race(t, fn, func(err error) {
		if err == nil {
			winners++
		} else if !errors.Is(err, loss) {
			t.Errorf("a loser got %v, want %v", err, loss)
		}
	})
	same(t, 1, winners)
}

// grantOf is what one redeemed code left behind.
type grantOf struct {
	code       *oauth.AuthorizationCode
	connection *oauth.Connection
	familyID   string
	refresh    *oauth.RefreshToken
}

func newID() string { return uuid.NewString() }

// secretHash returns the hash of a fresh value.
func secretHash() []byte { return oauth.HashSecret(newID()) }

func newRequest(at time.Time) *oauth.AuthorizationRequest {
	return &oauth.AuthorizationRequest{
		ID: newID(), ClientID: "gc_1", CreatedAt: at, ExpiresAt: at.Add(10 * time.Minute),
		Parameters: map[string][]string{"state": {"a b\x01\"é"}, "resource": {"https://h.example/mcp", "https://h.example/x"}, "scope": {""}},
	}
}

func newCode(userID, clientID, resource string, at time.Time) *oauth.AuthorizationCode {
	return &oauth.AuthorizationCode{
		Hash: secretHash(), RequestID: newID(), RedirectURI: "https://app.example/cb?x=1", CodeChallenge: "challenge", KeyThumbprint: "thumbprint",
		Nonce: "n \"é", ACR: "two", AMR: []string{"pwd", "otp"},
		AuthTime: at.Add(-time.Minute), IssuedAt: at, ExpiresAt: at.Add(time.Minute),
		Approval: oauth.Approval{
			UserID: userID, ClientID: clientID, Resource: resource, Scopes: []string{"read", "write"},
			Terms: json.RawMessage(`{"mode": "ask", "where": ["a", "b"]}`), ExpiresAt: ptr(at.Add(24 * time.Hour)),
		},
	}
}

// storeCode has a request decided with the code.
func storeCode(t *testing.T, f Fixture, code *oauth.AuthorizationCode) {
	t.Helper()
	request := newRequest(code.IssuedAt)
	must(t, f.Requests.SaveRequest(t.Context(), request))
	must(t, f.Requests.DecideRequest(t.Context(), request.ID, oauth.OutcomeAllowed, code.IssuedAt, code))
}

// redemptionOf makes the facts of a redemption of the code at a time.
func redemptionOf(code *oauth.AuthorizationCode, at time.Time) oauth.Redemption {
	familyID := newID()
	return oauth.Redemption{
		CodeHash: code.Hash, At: at, NewConnectionID: newID(), FamilyID: familyID, DeviceHint: "device", KeyThumbprint: "key",
		ACR: code.ACR, AuthTime: code.AuthTime,
		Refresh: &oauth.RefreshToken{Hash: secretHash(), FamilyID: familyID, CreatedAt: at, ExpiresAt: at.Add(30 * 24 * time.Hour)},
	}
}

// approve brings a person and a client as far as a connection with one family. The client is made when missing. change
// may alter the approval.
func approve(t *testing.T, f Fixture, userID, clientID, resource string, change func(at *time.Time, a *oauth.Approval)) grantOf {
	t.Helper()
	if _, err := f.Clients.Client(t.Context(), clientID); errors.Is(err, oauth.ErrNotFound) {
		must(t, f.Clients.SaveClient(t.Context(), newClient(clientID, oauth.ClientDynamic)))
	}
	at := Start
	code := newCode(userID, clientID, resource, at)
	if change != nil {
		change(&at, &code.Approval)
		code.IssuedAt, code.ExpiresAt = at, at.Add(time.Minute)
	}
	storeCode(t, f, code)
	r := redemptionOf(code, at)
	connection, err := f.Codes.RedeemCode(t.Context(), r)
	if err != nil {
		t.Fatal(fmt.Errorf("redeem: %w", err))
	}
	return grantOf{code: code, connection: connection, familyID: r.FamilyID, refresh: r.Refresh}
}
