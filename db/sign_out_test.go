package db_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"gatehouse/app/account"
	"gatehouse/app/connection"
	"gatehouse/db"
	"gatehouse/db/dbtest"
	"gatehouse/oauth"
)

// session signs a person in and gives the session's id.
func (s seed) session(userID string, now time.Time) string {
	s.t.Helper()
	id, at := newID(s.t), db.TimeForTest(s.d, now)
	s.exec(`INSERT INTO sessions (id, user_id, secret_hash, auth_time, last_seen_at, expires_at, ip, user_agent, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, ?, '', '', ?, ?)`, id, userID, randomBytes(), at, at, db.TimeForTest(s.d, now.Add(time.Hour)), at, at)
	return id
}

// request stores an open request and gives the function that allows it through a session.
func (s seed) request(userID, clientID, sessionID string, now time.Time, homes ...string) func(d *db.DB) ([]byte, error) {
	s.t.Helper()
	r := &oauth.AuthorizationRequest{ID: fmt.Sprintf("%x", randomBytes()), ClientID: clientID, CreatedAt: now, ExpiresAt: now.Add(10 * time.Minute)}
	if err := s.d.SaveRequest(context.Background(), r); err != nil {
		s.t.Fatal(err)
	}
	terms, err := connection.Terms{Locations: homes}.Encode()
	if err != nil {
		s.t.Fatal(err)
	}
	code := &oauth.AuthorizationCode{
		Hash: randomBytes(), RequestID: r.Correlation(), RedirectURI: "https://desk.example/cb", CodeChallenge: "c", SignIn: sessionID,
		Approval: oauth.Approval{UserID: userID, ClientID: clientID, Resource: testResource, Scopes: []string{"home:read"}, Terms: terms},
		AuthTime: now, IssuedAt: now, ExpiresAt: now.Add(time.Minute),
	}
	return func(d *db.DB) ([]byte, error) {
		return code.Hash, d.DecideRequest(context.Background(), r.ID, oauth.OutcomeAllowed, now, code)
	}
}

func TestDecisionOfEndedSession(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) {
		ctx := context.Background()
		s := seed{t, d}
		ada, client, homes := s.home(clock, 1)
		session, bobs := s.session(ada, clock.Now()), s.session(s.user("Bob"), clock.Now())
		for name, id := range map[string]string{"another person's": bobs, "misshapen": "x", "unknown": newID(t)} {
			if _, err := s.request(ada, client, id, clock.Now(), homes...)(d); !errors.Is(err, oauth.ErrEnded) {
				t.Errorf("KE-126 a decision through a session that is %s: %v", name, err)
			}
		}
		allow := s.request(ada, client, session, clock.Now(), homes...)
		if err := d.EndOtherSessions(ctx, ada, "", clock.Now()); err != nil {
			t.Fatal(err)
		}
		if _, err := allow(d); !errors.Is(err, oauth.ErrEnded) {
			t.Errorf("KE-126 a decision after signing out everywhere: %v", err)
		}
	})
}

// A stolen session decides, and its codes are exchanged, while the owner signs out everywhere: nothing may come through.
func TestSignOutEverywhereDuringDecisions(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) {
		ctx := context.Background()
		s := seed{t, d}
		processes := []*db.DB{d, dbtest.Again(t, d, clock.Now)}
		ada, client, homes := s.home(clock, 1)
		session := s.session(ada, clock.Now())
		var allow []func(*db.DB) ([]byte, error)
		var codes [][]byte
		for i := range 40 {
			f := s.request(ada, client, session, clock.Now(), homes...)
			if i%2 == 0 { // half is decided before, and on its way to a connection
				hash, err := f(d)
				if err != nil {
					t.Fatal(err)
				}
				codes = append(codes, hash)
				continue
			}
			allow = append(allow, f)
		}
		var mu sync.Mutex
		var connections []string
		redeem := func(p *db.DB, hash []byte) {
			c, err := p.RedeemCode(ctx, redemption(t, hash, clock.Now()))
			if err == nil {
				mu.Lock()
				connections = append(connections, c.ID)
				mu.Unlock()
			} else if !errors.Is(err, oauth.ErrNotFound) && !errors.Is(err, oauth.ErrUsed) {
				t.Errorf("redemption: %v", err)
			}
		}
		first := slices.Clone(codes) // codes grows during the race
		errs := race(41, func(i int) error {
			p := processes[i%2]
			switch {
			case i == 40:
				return p.EndOtherSessions(ctx, ada, "", clock.Now())
			case i%2 == 0:
				redeem(p, first[i/2])
				return nil
			}
			hash, err := allow[i/2](p)
			if err == nil {
				mu.Lock()
				codes = append(codes, hash)
				mu.Unlock()
			} else if !errors.Is(err, oauth.ErrEnded) {
				t.Errorf("decision: %v", err)
			}
			return nil
		})
		if countNil(errs) != len(errs) {
			t.Fatalf("signing out: %v", errs)
		}
		before := len(connections)
		for _, hash := range codes {
			redeem(d, hash)
		}
		if len(connections) != before {
			t.Errorf("KE-126 %d codes outlived the sign-out", len(connections)-before)
		}
		list, err := d.ListConnections(ctx, connection.Filter{UserID: ada}, clock.Now())
		if err != nil || len(list) != 0 {
			t.Errorf("KE-126 connections outlived the sign-out: %+v, %v", list, err)
		}
	})
}

func TestCodeOfEndedConnection(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) {
		ctx := context.Background()
		s, service := seed{t, d}, connections(d, clock)
		ada, client, homes := s.home(clock, 1)
		bob := s.user("Bob")
		c, _ := s.connect(ada, client, clock.Now(), homes...)
		again, elsewhere := s.code(ada, client, clock.Now(), homes...), s.code(bob, client, clock.Now())
		if err := service.Disconnect(ctx, bob, c.ID); !errors.Is(err, connection.ErrNotFound) {
			t.Fatal(err)
		}
		if _, err := d.Code(ctx, again); err != nil {
			t.Errorf("somebody else's Disconnect took a code: %v", err)
		}
		if err := service.Disconnect(ctx, ada, c.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := d.RedeemCode(ctx, redemption(t, again, clock.Now())); !errors.Is(err, oauth.ErrNotFound) {
			t.Errorf("CG-5 a code from before the Disconnect: %v", err)
		}
		if _, err := d.RedeemCode(ctx, redemption(t, elsewhere, clock.Now())); err != nil {
			t.Errorf("another person's code: %v", err)
		}
		late := s.code(ada, client, clock.Now(), homes...)
		if err := d.DeleteKnownClient(ctx, client, clock.Now()); err != nil {
			t.Fatal(err)
		}
		if _, err := d.RedeemCode(ctx, redemption(t, late, clock.Now())); !errors.Is(err, oauth.ErrNotFound) {
			t.Errorf("CG-5 a code of a deleted client: %v", err)
		}
	})
}

func TestTokenOfEndedSession(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) {
		ctx := context.Background()
		s := seed{t, d}
		ada, _, homes := s.home(clock, 1)
		session := s.session(ada, clock.Now())
		insert := func(sessionID string) error {
			row := account.TokenRow{Hash: randomBytes(), SessionID: sessionID, PersonalToken: account.PersonalToken{
				ID: newID(t), UserID: ada, Name: "x", Lookup: newID(t)[28:], Scope: account.TokenRead, LocationIDs: slices.Clone(homes), CreatedAt: clock.Now(),
			}}
			return d.InsertToken(ctx, row, func(account.TokenFacts) error { return nil })
		}
		if err := errors.Join(insert(session), insert("")); err != nil {
			t.Errorf("live session, and command line: %v", err)
		}
		if err := d.EndOtherSessions(ctx, ada, "", clock.Now()); err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{session, "x", newID(t)} {
			if err := insert(id); !errors.Is(err, account.ErrNotFound) {
				t.Errorf("KE-126 a token after signing out everywhere: %v", err)
			}
		}
	})
}
