package oauthtest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"gatehouse/oauth"
)

const testResource = "https://h.example/mcp"

// rotate makes a successor of the token with this hash.
func rotate(t *testing.T, f Fixture, familyID string, presented []byte, at time.Time) (*oauth.RefreshToken, error) {
	t.Helper()
	next := &oauth.RefreshToken{
		Hash: secretHash(), FamilyID: familyID, ParentHash: presented, CreatedAt: at, ExpiresAt: at.Add(30 * 24 * time.Hour),
	}
	return next, f.Tokens.RotateRefreshToken(t.Context(), presented, next, append([]byte("sealed "), next.Hash...), at)
}

// approved gives each subtest a fixture of its own with one redeemed approval.
func approved(newFixture func(t *testing.T) Fixture) func(t *testing.T) (Fixture, grantOf) {
	return func(t *testing.T) (Fixture, grantOf) {
		t.Parallel()
		f := newFixture(t)
		return f, approve(t, f, f.NewUser(t), "gc_1", testResource, nil)
	}
}

func runTokenTests(t *testing.T, newFixture func(t *testing.T) Fixture) {
	setup := approved(newFixture)
	t.Run("unknown refresh token is ErrNotFound", func(t *testing.T) {
		t.Parallel()
		_, err := newFixture(t).Tokens.Lineage(t.Context(), secretHash())
		wantIs(t, err, oauth.ErrNotFound)
	})
	runStandingTests(t, newFixture)
	runAccessTokenTests(t, newFixture)
	t.Run("RT-2 rotation links predecessor and successor", func(t *testing.T) {
		f, g := setup(t)
		at := Start.Add(time.Minute)
		next, err := rotate(t, f, g.familyID, g.refresh.Hash, at)
		must(t, err)
		old, err := f.Tokens.Lineage(t.Context(), g.refresh.Hash)
		must(t, err)
		want := *g.refresh
		want.SuccessorHash, want.SuccessorSealed, want.RotatedAt = next.Hash, append([]byte("sealed "), next.Hash...), &at
		same(t, want, old.Token)
		same(t, false, old.SuccessorUsed)
		l, err := f.Tokens.Lineage(t.Context(), next.Hash)
		must(t, err)
		same(t, *next, l.Token)
		same(t, g.familyID, l.Family.ID)
	})
	t.Run("RT-9 the lineage tells a used successor", func(t *testing.T) {
		f, g := setup(t)
		second, err := rotate(t, f, g.familyID, g.refresh.Hash, Start)
		must(t, err)
		third, err := rotate(t, f, g.familyID, second.Hash, Start)
		must(t, err)
		for _, c := range []struct {
			hash []byte
			used bool
		}{{g.refresh.Hash, true}, {second.Hash, false}, {third.Hash, false}} {
			l, err := f.Tokens.Lineage(t.Context(), c.hash)
			must(t, err)
			same(t, c.used, l.SuccessorUsed)
		}
	})
	t.Run("RT-9 a second rotation is ErrConflict and changes nothing", func(t *testing.T) {
		f, g := setup(t)
		first, err := rotate(t, f, g.familyID, g.refresh.Hash, Start)
		must(t, err)
		lost, err := rotate(t, f, g.familyID, g.refresh.Hash, Start.Add(time.Second))
		wantIs(t, err, oauth.ErrConflict)
		_, err = f.Tokens.Lineage(t.Context(), lost.Hash)
		wantIs(t, err, oauth.ErrNotFound)
		l, err := f.Tokens.Lineage(t.Context(), g.refresh.Hash)
		must(t, err)
		same(t, first.Hash, l.Token.SuccessorHash)
	})
	t.Run("CN-69 renewing moves the expiry alone", func(t *testing.T) {
		f, g := setup(t)
		must(t, f.Tokens.RenewRefreshToken(t.Context(), g.refresh.Hash, Start.Add(time.Hour), Start.Add(1000*time.Hour)))
		l, err := f.Tokens.Lineage(t.Context(), g.refresh.Hash)
		must(t, err)
		want := *g.refresh
		want.ExpiresAt = Start.Add(1000 * time.Hour)
		same(t, want, l.Token)
	})
	runEndTests(t, newFixture)
}

// runStandingTests is about what an access token stands on.
func runStandingTests(t *testing.T, newFixture func(t *testing.T) Fixture) {
	t.Run("IN-2 the standing of an access token", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		user := f.NewUser(t)
		g := approve(t, f, user, "gc_1", testResource, nil)
		standing := func(jti string) *oauth.Standing {
			t.Helper()
			s, err := f.Tokens.Standing(t.Context(), g.connection.ID, g.familyID, jti)
			must(t, err)
			return s
		}
		same(t, &oauth.Standing{Scopes: g.connection.Scopes, ExpiresAt: g.connection.ExpiresAt}, standing("jti-1"))
		must(t, f.Tokens.RevokeAccessToken(t.Context(), "jti-1", Start.Add(time.Hour)))
		same(t, true, standing("jti-1").Ended)
		same(t, false, standing("jti-2").Ended)
		other := approve(t, f, user, "gc_2", testResource, nil)
		for _, ids := range [][2]string{{newID(), g.familyID}, {g.connection.ID, newID()}, {g.connection.ID, other.familyID}, {"x", "y"}} {
			_, err := f.Tokens.Standing(t.Context(), ids[0], ids[1], "jti-2")
			wantIs(t, err, oauth.ErrNotFound)
		}
		ended, err := f.Tokens.EndFamily(t.Context(), g.familyID, oauth.EndedByUser, Start)
		must(t, err)
		same(t, true, ended)
		same(t, true, standing("jti-2").Ended)
		f.DisableUser(t, user)
		s, err := f.Tokens.Standing(t.Context(), other.connection.ID, other.familyID, "jti-2")
		must(t, err)
		same(t, true, s.Ended)
	})
}

// runEndTests is about what ends tokens.
func runEndTests(t *testing.T, newFixture func(t *testing.T) Fixture) {
	setup := approved(newFixture)
	t.Run("RT-7 a disabled person shows in the lineage", func(t *testing.T) {
		f, g := setup(t)
		f.DisableUser(t, g.connection.UserID)
		l, err := f.Tokens.Lineage(t.Context(), g.refresh.Hash)
		must(t, err)
		same(t, true, l.UserDisabled)
	})
	t.Run("settled-3 ending a family leaves the connection and its other families", func(t *testing.T) {
		f, g := setup(t)
		other := approve(t, f, g.connection.UserID, "gc_1", testResource, nil)
		at := Start.Add(time.Minute)
		for _, want := range []bool{true, false} {
			ended, err := f.Tokens.EndFamily(t.Context(), g.familyID, oauth.EndedByReuse, at)
			must(t, err)
			same(t, want, ended)
		}
		l, err := f.Tokens.Lineage(t.Context(), g.refresh.Hash)
		must(t, err)
		same(t, &at, l.Family.EndedAt)
		same(t, oauth.EndedByReuse, l.Family.EndedReason)
		same(t, nil, l.Connection.EndedAt)
		l, err = f.Tokens.Lineage(t.Context(), other.refresh.Hash)
		must(t, err)
		same(t, nil, l.Family.EndedAt)
	})
	t.Run("CN-77 ending a connection shows in every lineage, once", func(t *testing.T) {
		f, g := setup(t)
		other := approve(t, f, g.connection.UserID, "gc_1", testResource, nil)
		for i, want := range []bool{true, false} {
			ended, err := f.Tokens.EndConnection(t.Context(), g.connection.ID, fmt.Sprint("reason ", i), Start)
			must(t, err)
			same(t, want, ended)
		}
		for _, hash := range [][]byte{g.refresh.Hash, other.refresh.Hash} {
			l, err := f.Tokens.Lineage(t.Context(), hash)
			must(t, err)
			same(t, ptr(Start), l.Connection.EndedAt)
			same(t, "reason 0", l.Connection.EndedReason)
		}
	})
	t.Run("ending what is unknown ends nothing", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		ended, err := f.Tokens.EndFamily(t.Context(), newID(), oauth.EndedByUser, Start)
		must(t, err)
		same(t, false, ended)
		ended, err = f.Tokens.EndConnection(t.Context(), newID(), oauth.EndedByUser, Start)
		must(t, err)
		same(t, false, ended)
	})
	t.Run("RV-1 revoking an access token twice is fine", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		jti := newID()
		must(t, f.Tokens.RevokeAccessToken(t.Context(), jti, Start.Add(time.Hour)))
		must(t, f.Tokens.RevokeAccessToken(t.Context(), jti, Start.Add(time.Hour)))
	})
}

func runRaceTests(t *testing.T, newFixture func(t *testing.T) Fixture) {
	t.Run("CS-5 one of twenty decisions wins", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		r := newRequest(Start)
		must(t, f.Requests.SaveRequest(t.Context(), r))
		user := f.NewUser(t)
		codes := make([]*oauth.AuthorizationCode, racers)
		oneWinner(t, oauth.ErrUsed, func(i int) error {
			codes[i] = newCode(user, "gc_1", testResource, Start)
			return f.Requests.DecideRequest(t.Context(), r.ID, oauth.OutcomeAllowed, Start, codes[i])
		})
		stored := 0
		for _, code := range codes {
			if _, err := f.Codes.Code(t.Context(), code.Hash); err == nil {
				stored++
			}
		}
		same(t, 1, stored)
	})
	t.Run("CG-1 one of twenty redemptions wins", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		must(t, f.Clients.SaveClient(t.Context(), newClient("gc_1", oauth.ClientDynamic)))
		code := newCode(f.NewUser(t), "gc_1", testResource, Start)
		storeCode(t, f, code)
		oneWinner(t, oauth.ErrUsed, func(int) error {
			_, err := f.Codes.RedeemCode(t.Context(), redemptionOf(code, Start))
			return err
		})
	})
	t.Run("settled-1 twenty codes redeemed at once make one connection", func(t *testing.T) {
		t.Parallel()
		runConnectionRace(t, newFixture(t))
	})
	t.Run("RT-10 one of twenty rotations wins", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		g := approve(t, f, f.NewUser(t), "gc_1", testResource, nil)
		oneWinner(t, oauth.ErrConflict, func(int) error {
			_, err := rotate(t, f, g.familyID, g.refresh.Hash, Start)
			return err
		})
	})
	t.Run("one of twenty ends of a family is the one that ended it", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		g := approve(t, f, f.NewUser(t), "gc_1", testResource, nil)
		oneWinner(t, errNotMine, func(int) error {
			ended, err := f.Tokens.EndFamily(t.Context(), g.familyID, oauth.EndedByReuse, Start)
			if err == nil && !ended {
				return errNotMine
			}
			return err
		})
	})
}

var errNotMine = errors.New("somebody else did it")

func runConnectionRace(t *testing.T, f Fixture) {
	must(t, f.Clients.SaveClient(t.Context(), newClient("gc_1", oauth.ClientDynamic)))
	user := f.NewUser(t)
	redemptions := make([]oauth.Redemption, racers)
	for i := range redemptions {
		code := newCode(user, "gc_1", testResource, Start)
		storeCode(t, f, code)
		redemptions[i] = redemptionOf(code, Start)
	}
	ids := make([]string, racers)
	race(t, func(i int) error {
		connection, err := f.Codes.RedeemCode(t.Context(), redemptions[i])
		if err == nil {
			ids[i] = connection.ID
		}
		return err
	}, func(err error) { must(t, err) })
	for _, id := range ids {
		same(t, ids[0], id)
	}
}
