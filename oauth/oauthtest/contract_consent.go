package oauthtest

import (
	"encoding/json"
	"testing"
	"time"

	"gatehouse/oauth"
)

// runConsentTests is about what a decision carries besides scopes and terms.
func runConsentTests(t *testing.T, newFixture func(t *testing.T) Fixture) {
	const resource = "https://h.example/mcp"
	details := json.RawMessage(`[{"type":"t","n":1}]`)
	t.Run("RA-2 details go from the code to connection, family and standing", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		g := approve(t, f, f.NewUser(t), "gc_1", resource, func(_ *time.Time, a *oauth.Approval) { a.Details = details })
		code, err := f.Codes.Code(t.Context(), g.code.Hash)
		must(t, err)
		l, err := f.Tokens.Lineage(t.Context(), g.refresh.Hash)
		must(t, err)
		s, err := f.Tokens.Standing(t.Context(), g.connection.ID, g.familyID, "jti")
		must(t, err)
		grant, err := f.Tokens.Grant(t.Context(), g.connection.ID)
		must(t, err)
		for _, got := range []json.RawMessage{code.Approval.Details, g.connection.Details, l.Connection.Details, l.Family.Details, s.Details, grant.Details} {
			same(t, details, got)
		}
	})
	runGrantTests(t, newFixture)
	t.Run("CS-5 the answer goes to the request and not to the code", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		request := newRequest(Start)
		must(t, f.Requests.SaveRequest(t.Context(), request))
		code := newCode(f.NewUser(t), "gc_1", resource, Start)
		code.AnswerSealed = []byte("sealed")
		must(t, f.Requests.DecideRequest(t.Context(), request.ID, oauth.OutcomeAllowed, Start, code))
		got, err := f.Requests.Request(t.Context(), request.ID)
		must(t, err)
		same(t, []byte("sealed"), got.AnswerSealed)
		stored, err := f.Codes.Code(t.Context(), code.Hash)
		must(t, err)
		same(t, 0, len(stored.AnswerSealed))
	})
}

// runGrantTests is about grant management.
func runGrantTests(t *testing.T, newFixture func(t *testing.T) Fixture) {
	const resource = "https://h.example/mcp"
	t.Run("GM-1 a grant is read by its id, ended ones too", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		g := approve(t, f, f.NewUser(t), "gc_1", resource, nil)
		want := *g.connection
		got, err := f.Tokens.Grant(t.Context(), g.connection.ID)
		must(t, err)
		got.LastUsedAt = want.LastUsedAt
		same(t, &want, got)
		_, err = f.Tokens.EndConnection(t.Context(), g.connection.ID, oauth.EndedByUser, Start.Add(time.Second))
		must(t, err)
		got, err = f.Tokens.Grant(t.Context(), g.connection.ID)
		must(t, err)
		same(t, ptr(Start.Add(time.Second)), got.EndedAt)
		for _, id := range []string{newID(), "nothing"} {
			_, err = f.Tokens.Grant(t.Context(), id)
			wantIs(t, err, oauth.ErrNotFound)
		}
	})
	t.Run("GM-2 create ends the living connection and begins another", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		user := f.NewUser(t)
		first := approve(t, f, user, "gc_1", resource, nil)
		second := approve(t, f, user, "gc_1", resource, func(_ *time.Time, a *oauth.Approval) { a.GrantAction = oauth.GrantCreate })
		if first.connection.ID == second.connection.ID {
			t.Fatal("the connection was kept")
		}
		old, err := f.Tokens.Grant(t.Context(), first.connection.ID)
		must(t, err)
		same(t, oauth.EndedByReplacement, old.EndedReason)
		same(t, ptr(Start), old.EndedAt)
	})
	t.Run("GM-2 an approval for a grant that is no more is not redeemed", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		user := f.NewUser(t)
		first := approve(t, f, user, "gc_1", resource, nil)
		code := newCode(user, "gc_1", resource, Start)
		code.Approval.GrantAction, code.Approval.GrantID = oauth.GrantReplace, first.connection.ID
		storeCode(t, f, code)
		stored, err := f.Codes.Code(t.Context(), code.Hash)
		must(t, err)
		same(t, code, stored)
		_, err = f.Tokens.EndConnection(t.Context(), first.connection.ID, oauth.EndedByUser, Start)
		must(t, err)
		_, err = f.Codes.RedeemCode(t.Context(), redemptionOf(code, Start))
		wantIs(t, err, oauth.ErrEnded)
		stored, err = f.Codes.Code(t.Context(), code.Hash)
		must(t, err)
		same(t, nil, stored.UsedAt)
	})
}
