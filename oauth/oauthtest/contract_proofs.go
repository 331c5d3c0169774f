package oauthtest

import (
	"sync/atomic"
	"testing"
	"time"

	"gatehouse/oauth"
)

func runProofTests(t *testing.T, newFixture func(t *testing.T) Fixture) {
	t.Run("DP-4 a proof is used once", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		hash, other := secretHash(), secretHash()
		must(t, f.Proofs.UseProof(t.Context(), hash, Start.Add(time.Minute)))
		wantIs(t, f.Proofs.UseProof(t.Context(), hash, Start.Add(time.Hour)), oauth.ErrUsed)
		must(t, f.Proofs.UseProof(t.Context(), other, Start.Add(time.Minute)))
	})
	t.Run("DP-4 twenty uses of one proof at once have one winner", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		hash := secretHash()
		oneWinner(t, oauth.ErrUsed, func(int) error {
			return f.Proofs.UseProof(t.Context(), hash, Start.Add(time.Minute))
		})
	})
	t.Run("DP-7 a family is bound once", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		g := approveUnbound(t, f)
		bind := func(presented []byte, key string) error {
			next := &oauth.RefreshToken{Hash: secretHash(), FamilyID: g.familyID, ParentHash: presented, CreatedAt: Start, ExpiresAt: Start.Add(time.Hour)}
			return f.Tokens.RotateAndBind(t.Context(), presented, next, []byte("sealed"), Start, key)
		}
		oneWinner(t, oauth.ErrConflict, func(i int) error { return bind(g.refresh.Hash, string(rune('a'+i))) })
		l, err := f.Tokens.Lineage(t.Context(), g.refresh.Hash)
		must(t, err)
		same(t, 1, len(l.Family.KeyThumbprint))
		wantIs(t, bind(secretHash(), "key"), oauth.ErrNotFound)
		wantIs(t, bind(l.Token.SuccessorHash, "key"), oauth.ErrConflict)
		last, err := f.Tokens.Lineage(t.Context(), l.Token.SuccessorHash)
		must(t, err)
		same(t, true, last.Token.SuccessorHash == nil && last.Family.KeyThumbprint == l.Family.KeyThumbprint)
	})
	t.Run("DP-7 of twenty rotations at once, half of them with a key, one wins, and the family is as it left it", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		g := approveUnbound(t, f)
		var bound atomic.Bool
		oneWinner(t, oauth.ErrConflict, func(i int) error {
			if i%2 == 0 {
				_, err := rotate(t, f, g.familyID, g.refresh.Hash, Start)
				return err
			}
			next := &oauth.RefreshToken{Hash: secretHash(), FamilyID: g.familyID, ParentHash: g.refresh.Hash, CreatedAt: Start, ExpiresAt: Start.Add(time.Hour)}
			err := f.Tokens.RotateAndBind(t.Context(), g.refresh.Hash, next, []byte("sealed"), Start, "key")
			if err == nil {
				bound.Store(true)
			}
			return err
		})
		l, err := f.Tokens.Lineage(t.Context(), g.refresh.Hash)
		must(t, err)
		same(t, bound.Load(), l.Family.KeyThumbprint == "key")
	})
	t.Run("RT-2 renewing a token that was rotated is ErrNotFound", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		g := approveUnbound(t, f)
		must(t, f.Tokens.RenewRefreshToken(t.Context(), g.refresh.Hash, Start, Start.Add(time.Hour)))
		_, err := rotate(t, f, g.familyID, g.refresh.Hash, Start)
		must(t, err)
		wantIs(t, f.Tokens.RenewRefreshToken(t.Context(), g.refresh.Hash, Start, Start.Add(time.Hour)), oauth.ErrNotFound)
	})
}

// approveUnbound is approve with a family that is bound to no key.
func approveUnbound(t *testing.T, f Fixture) grantOf {
	t.Helper()
	must(t, f.Clients.SaveClient(t.Context(), newClient("gc_1", oauth.ClientDynamic)))
	code := newCode(f.NewUser(t), "gc_1", testResource, Start)
	storeCode(t, f, code)
	r := redemptionOf(code, Start)
	r.KeyThumbprint = ""
	connection, err := f.Codes.RedeemCode(t.Context(), r)
	must(t, err)
	return grantOf{code: code, connection: connection, familyID: r.FamilyID, refresh: r.Refresh}
}
