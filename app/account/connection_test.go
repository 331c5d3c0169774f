package account_test

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"gatehouse/app/account"
	"gatehouse/oauth"
)

// code stores an approval of a person for an app, not yet exchanged, and gives the exchange.
func (f *fixture) code(t testing.TB, userID string) oauth.Redemption {
	t.Helper()
	now := f.clock.Now()
	id := func() string {
		id, err := account.NewID(now, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	terms, err := json.Marshal(map[string]any{"locations": []string{f.location(t, userID)}})
	if err != nil {
		t.Fatal(err)
	}
	request := &oauth.AuthorizationRequest{ID: id(), ClientID: "gc_" + userID, CreatedAt: now, ExpiresAt: now.Add(time.Hour)}
	code := &oauth.AuthorizationCode{
		Hash: oauth.HashSecret(id()), RequestID: "r", RedirectURI: "https://app.example/cb", CodeChallenge: "c", AuthTime: now, IssuedAt: now, ExpiresAt: now.Add(time.Hour),
		Approval: oauth.Approval{UserID: userID, ClientID: "gc_" + userID, Resource: "https://home.example/mcp", Scopes: []string{"home:read"}, Terms: terms},
	}
	err = errors.Join(
		f.d.SaveClient(ctx, &oauth.Client{ID: "gc_" + userID, Kind: oauth.ClientDynamic, Name: "App", CreatedAt: now, LastSeenAt: now}),
		f.d.SaveRequest(ctx, request),
		f.d.DecideRequest(ctx, request.ID, oauth.OutcomeAllowed, now, code),
	)
	if err != nil {
		t.Fatal(err)
	}
	family := id()
	return oauth.Redemption{
		CodeHash: code.Hash, At: now, NewConnectionID: id(), FamilyID: family, DeviceHint: "App",
		Refresh: &oauth.RefreshToken{Hash: oauth.HashSecret(id()), FamilyID: family, CreatedAt: now, ExpiresAt: now.Add(time.Hour)},
	}
}

// connect makes a connection of a person and gives the hash of its refresh token.
func (f *fixture) connect(t testing.TB, userID string) []byte {
	t.Helper()
	r := f.code(t, userID)
	if _, err := f.d.RedeemCode(ctx, r); err != nil {
		t.Fatal(err)
	}
	return r.Refresh.Hash
}

// wantEnded checks with which reason a connection ended; "" for one that goes on.
func (f *fixture) wantEnded(t *testing.T, refresh []byte, reason string) {
	t.Helper()
	l, err := f.d.Lineage(ctx, refresh)
	if err != nil {
		t.Fatal(err)
	}
	if l.Connection.EndedReason != reason || (l.Connection.EndedAt != nil) != (reason != "") {
		t.Errorf("connection ended with reason %q, want %q", l.Connection.EndedReason, reason)
	}
}

// wantTokenEnd checks with which reason a personal token ended; "" for a live one.
func (f *fixture) wantTokenEnd(t *testing.T, userID, id, reason string) {
	t.Helper()
	list, err := f.Tokens(ctx, userID)
	if err != nil {
		t.Fatal(err)
	}
	for _, token := range list {
		if token.ID == id {
			if token.EndedReason != reason || (token.EndedAt != nil) != (reason != "") {
				t.Errorf("token ended with reason %q, want %q", token.EndedReason, reason)
			}
			return
		}
	}
	t.Errorf("the token is not in the list")
}

// An app that was approved just before cannot come in through its code afterwards.
func TestCodesEndWithAccess(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		p := f.person(t, "ada@example.org")
		s, _ := f.signIn(t, p.Email, goodPassword)
		r := f.code(t, p.ID)
		if _, _, err := f.ChangePassword(ctx, s, goodPassword, otherPassword, account.Device{}); err != nil {
			t.Fatal(err)
		}
		if c, err := f.d.RedeemCode(ctx, r); err == nil {
			t.Errorf("KE-126 a code from before the change made connection %+v", c)
		}
	})
}
