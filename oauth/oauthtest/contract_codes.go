package oauthtest

import (
	"testing"
	"time"

	"gatehouse/oauth"
)

func runRequestTests(t *testing.T, newFixture func(t *testing.T) Fixture) {
	t.Run("AZ-17 stored request comes back whole, byte for byte", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		want := newRequest(Start)
		want.Pushed = true
		must(t, f.Requests.SaveRequest(t.Context(), want))
		got, err := f.Requests.Request(t.Context(), want.ID)
		must(t, err)
		same(t, want, got)
	})
	t.Run("unknown request is ErrNotFound", func(t *testing.T) {
		t.Parallel()
		_, err := newFixture(t).Requests.Request(t.Context(), "nothing")
		wantIs(t, err, oauth.ErrNotFound)
	})
	t.Run("PA-3 a pushed request comes back whole and opens once", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		want := &oauth.PushedRequest{
			ID: newID(), ClientID: "gc_1", CreatedAt: Start, ExpiresAt: Start.Add(90 * time.Second),
			Parameters: map[string][]string{"state": {"a b\x01\"é"}, "resource": {"https://h.example/mcp", "x"}},
		}
		must(t, f.Requests.SavePushedRequest(t.Context(), want))
		got, err := f.Requests.PushedRequest(t.Context(), want.ID)
		must(t, err)
		same(t, want, got)
		r := newRequest(Start)
		r.Pushed = true
		oneWinner(t, oauth.ErrUsed, func(int) error {
			return f.Requests.OpenPushedRequest(t.Context(), want.ID, Start.Add(time.Second), r)
		})
		opened, err := f.Requests.Request(t.Context(), r.ID)
		must(t, err)
		same(t, r, opened)
		got, err = f.Requests.PushedRequest(t.Context(), want.ID)
		must(t, err)
		same(t, ptr(Start.Add(time.Second)), got.OpenedAt)
		_, err = f.Requests.PushedRequest(t.Context(), "nothing")
		wantIs(t, err, oauth.ErrNotFound)
		wantIs(t, f.Requests.OpenPushedRequest(t.Context(), "nothing", Start, newRequest(Start)), oauth.ErrNotFound)
	})
	t.Run("a denial is remembered and stores no code", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		r := newRequest(Start)
		must(t, f.Requests.SaveRequest(t.Context(), r))
		must(t, f.Requests.DecideRequest(t.Context(), r.ID, oauth.OutcomeDenied, Start.Add(time.Second), nil))
		got, err := f.Requests.Request(t.Context(), r.ID)
		must(t, err)
		same(t, oauth.OutcomeDenied, got.Outcome)
		same(t, ptr(Start.Add(time.Second)), got.DecidedAt)
	})
	t.Run("CS-5 a second decision is ErrUsed and its code is not stored", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		r := newRequest(Start)
		must(t, f.Requests.SaveRequest(t.Context(), r))
		must(t, f.Requests.DecideRequest(t.Context(), r.ID, oauth.OutcomeDenied, Start, nil))
		code := newCode(f.NewUser(t), "gc_1", "https://h.example/mcp", Start)
		wantIs(t, f.Requests.DecideRequest(t.Context(), r.ID, oauth.OutcomeAllowed, Start, code), oauth.ErrUsed)
		_, err := f.Codes.Code(t.Context(), code.Hash)
		wantIs(t, err, oauth.ErrNotFound)
		got, err := f.Requests.Request(t.Context(), r.ID)
		must(t, err)
		same(t, oauth.OutcomeDenied, got.Outcome)
	})
}

func runCodeTests(t *testing.T, newFixture func(t *testing.T) Fixture) {
	const resource = "https://h.example/mcp"
	t.Run("AZ-11 stored code comes back whole", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		must(t, f.Clients.SaveClient(t.Context(), newClient("gc_1", oauth.ClientDynamic)))
		want := newCode(f.NewUser(t), "gc_1", resource, Start)
		storeCode(t, f, want)
		got, err := f.Codes.Code(t.Context(), want.Hash)
		must(t, err)
		same(t, want, got)
	})
	t.Run("unknown code is ErrNotFound", func(t *testing.T) {
		t.Parallel()
		_, err := newFixture(t).Codes.Code(t.Context(), secretHash())
		wantIs(t, err, oauth.ErrNotFound)
	})
	t.Run("CN-63 redeeming makes connection, family and refresh token", func(t *testing.T) {
		t.Parallel()
		runFirstRedemption(t, newFixture(t), resource)
	})
	t.Run("CG-2 a used code names its family and is ErrUsed", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		g := approve(t, f, f.NewUser(t), "gc_1", resource, nil)
		again := redemptionOf(g.code, Start.Add(time.Second))
		_, err := f.Codes.RedeemCode(t.Context(), again)
		wantIs(t, err, oauth.ErrUsed)
		_, err = f.Tokens.Lineage(t.Context(), again.Refresh.Hash)
		wantIs(t, err, oauth.ErrNotFound)
		code, err := f.Codes.Code(t.Context(), g.code.Hash)
		must(t, err)
		same(t, g.familyID, code.FamilyID)
		same(t, ptr(Start), code.UsedAt)
	})
	t.Run("CG-5 a disabled person redeems nothing", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		must(t, f.Clients.SaveClient(t.Context(), newClient("gc_1", oauth.ClientDynamic)))
		user := f.NewUser(t)
		code := newCode(user, "gc_1", resource, Start)
		storeCode(t, f, code)
		f.DisableUser(t, user)
		r := redemptionOf(code, Start)
		_, err := f.Codes.RedeemCode(t.Context(), r)
		wantIs(t, err, oauth.ErrEnded)
		_, err = f.Tokens.Lineage(t.Context(), r.Refresh.Hash)
		wantIs(t, err, oauth.ErrNotFound)
	})
	runApprovalTests(t, newFixture, resource)
}

// runApprovalTests is about what a redemption does to connections that are there already.
func runApprovalTests(t *testing.T, newFixture func(t *testing.T) Fixture, resource string) {
	t.Run("CN-72 approving again updates the one connection", func(t *testing.T) {
		t.Parallel()
		runSecondApproval(t, newFixture(t), resource)
	})
	t.Run("settled-1 another person, client or resource is another connection", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		user := f.NewUser(t)
		ids := map[string]bool{}
		for _, g := range []grantOf{
			approve(t, f, user, "gc_1", resource, nil), approve(t, f, user, "gc_2", resource, nil),
			approve(t, f, user, "gc_1", "https://h.example/c/x/mcp", nil), approve(t, f, f.NewUser(t), "gc_1", resource, nil),
		} {
			ids[g.connection.ID] = true
		}
		same(t, 4, len(ids))
	})
	t.Run("an ended connection is not revived", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		user := f.NewUser(t)
		old := approve(t, f, user, "gc_1", resource, nil)
		ended, err := f.Tokens.EndConnection(t.Context(), old.connection.ID, oauth.EndedByUser, Start)
		must(t, err)
		same(t, true, ended)
		runNotRevived(t, f, old, approve(t, f, user, "gc_1", resource, nil))
	})
	t.Run("an expired connection is not revived", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		user := f.NewUser(t)
		old := approve(t, f, user, "gc_1", resource, func(_ *time.Time, a *oauth.Approval) { a.ExpiresAt = ptr(Start.Add(time.Hour)) })
		later := approve(t, f, user, "gc_1", resource, func(at *time.Time, a *oauth.Approval) {
			*at, a.ExpiresAt = Start.Add(time.Hour), nil
		})
		runNotRevived(t, f, old, later)
	})
}

func runFirstRedemption(t *testing.T, f Fixture, resource string) {
	user := f.NewUser(t)
	g := approve(t, f, user, "gc_1", resource, nil)
	a := g.code.Approval
	same(t, &oauth.Connection{
		ID: g.connection.ID, UserID: user, ClientID: "gc_1", Resource: resource, Scopes: a.Scopes, Terms: a.Terms,
		ExpiresAt: a.ExpiresAt, CreatedAt: Start, UpdatedAt: Start, LastUsedAt: g.connection.LastUsedAt,
	}, g.connection)
	l, err := f.Tokens.Lineage(t.Context(), g.refresh.Hash)
	must(t, err)
	same(t, *g.refresh, l.Token)
	same(t, oauth.Family{
		ID: g.familyID, ConnectionID: g.connection.ID, DeviceHint: "device", KeyThumbprint: "key", Scopes: a.Scopes, CreatedAt: Start, ACR: g.code.ACR, AuthTime: g.code.AuthTime, LastUsedAt: l.Family.LastUsedAt,
	}, l.Family)
	same(t, g.connection.ID, l.Connection.ID)
	same(t, a.Scopes, l.Connection.Scopes)
	same(t, false, l.SuccessorUsed || l.UserDisabled)
}

func runSecondApproval(t *testing.T, f Fixture, resource string) {
	user := f.NewUser(t)
	first := approve(t, f, user, "gc_1", resource, nil)
	second := approve(t, f, user, "gc_1", resource, func(at *time.Time, a *oauth.Approval) {
		*at = Start.Add(time.Hour)
		a.Scopes, a.Terms, a.ExpiresAt = []string{"read"}, []byte(`{"mode": "act"}`), nil
	})
	same(t, first.connection.ID, second.connection.ID)
	same(t, []string{"read"}, second.connection.Scopes)
	// CN-74: the new terms hold for the tokens of the first approval too.
	l, err := f.Tokens.Lineage(t.Context(), first.refresh.Hash)
	must(t, err)
	same(t, []string{"read"}, l.Connection.Scopes)
	same(t, second.code.Approval.Terms, l.Connection.Terms)
	same(t, nil, l.Connection.ExpiresAt)
	same(t, Start, l.Connection.CreatedAt)
	same(t, Start.Add(time.Hour), l.Connection.UpdatedAt)
	same(t, first.familyID, l.Family.ID)
	same(t, nil, l.Family.EndedAt) // CI-19: connecting on one device leaves the others alone
}

func runNotRevived(t *testing.T, f Fixture, old, later grantOf) {
	t.Helper()
	if old.connection.ID == later.connection.ID {
		t.Fatal("the connection was revived")
	}
	l, err := f.Tokens.Lineage(t.Context(), old.refresh.Hash)
	must(t, err)
	same(t, old.connection.ID, l.Connection.ID)
	if l.Connection.EndedAt == nil {
		t.Error("the old connection has not ended")
	}
}
