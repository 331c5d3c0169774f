package db_test

import (
	"errors"
	"testing"
	"time"

	"gatehouse/db"
	"gatehouse/db/dbtest"
	"gatehouse/oauth"
)

// device stores a device request that the person has allowed, and gives its hash.
func (s seed) device(userID, clientID string, now time.Time) []byte {
	s.t.Helper()
	r := &oauth.DeviceRequest{Hash: randomBytes(), UserCodeHash: randomBytes(), ClientID: clientID, Resource: testResource, Address: "192.0.2.7",
		CreatedAt: now, ExpiresAt: now.Add(10 * time.Minute), Interval: 5 * time.Second, NextPollAt: now}
	if err := s.d.SaveDeviceRequest(s.t.Context(), r); err != nil {
		s.t.Fatal(err)
	}
	a := oauth.Approval{UserID: userID, ClientID: clientID, Resource: testResource, Scopes: []string{"home:read"}}
	if err := s.d.DecideDevice(s.t.Context(), r.UserCodeHash, now, &a, oauth.ResourceOwner{UserID: userID}); err != nil {
		s.t.Fatal(err)
	}
	return r.Hash
}

func machine(t *testing.T, userID, clientID string, now time.Time, locations ...string) oauth.NewGrant {
	terms := `{"locations":["` + locations[0] + `"],"hidden_tools":[]}`
	return oauth.NewGrant{Origin: oauth.GrantClientCredentials, Replace: true, At: now, NewConnectionID: newID(t), NewFamilyID: newID(t),
		Approval: oauth.Approval{UserID: userID, ClientID: clientID, Resource: testResource, Scopes: []string{"home:read"}, Terms: []byte(terms)}}
}

func TestMachineAtTheResource(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) {
		ctx, s := t.Context(), seed{t, d}
		userID, clientID, locations := s.home(clock, 2)
		foreign := s.location("Elsewhere")
		grant, err := d.WriteGrant(ctx, machine(t, userID, clientID, clock.Now(), locations[0]))
		if err != nil {
			t.Fatal(err)
		}
		p, err := d.PrincipalByConnection(ctx, grant.Connection.ID, grant.FamilyID, "jti", clock.Now())
		if err != nil || len(p.Locations) != 1 || p.Locations[0].LocationID != locations[0] || p.UserID != userID {
			t.Fatalf("CC-1 the call's row: %+v, %v", p, err)
		}
		stored := &oauth.StoredToken{Hash: randomBytes(), ID: "jti", FamilyID: grant.FamilyID, Scopes: []string{"home:read"}, IssuedAt: clock.Now(), ExpiresAt: clock.Now().Add(time.Hour)}
		if err := d.SaveAccessToken(ctx, stored); err != nil {
			t.Fatal(err)
		}
		if at, err := d.AccessToken(ctx, stored.Hash); err != nil || at.Subject != oauth.ClientSubject(clientID) {
			t.Errorf("CC-3 the subject of a token that is looked up: %+v, %v", at, err)
		}
		if p, at, err := d.PrincipalByAccessToken(ctx, stored.Hash, clock.Now()); err != nil || p.UserID != userID || at.Subject != oauth.ClientSubject(clientID) {
			t.Errorf("CC-3 the call: %+v, %+v, %v", p, at, err)
		}
		// The sweep ends families without refresh tokens, but not those that never had one.
		clock.Advance(30 * 24 * time.Hour)
		if _, err := d.SweepOAuth(ctx, clock.Now()); err != nil {
			t.Fatal(err)
		}
		if _, err := d.MachineGrant(ctx, clientID, testResource, clock.Now()); err != nil {
			t.Errorf("CC-1 after the sweep: %v", err)
		}
		again, err := d.WriteGrant(ctx, machine(t, userID, clientID, clock.Now(), foreign))
		if err != nil || again.Connection.ID != grant.Connection.ID {
			t.Fatalf("granted again: %+v, %v", again, err)
		}
		if p, err = d.PrincipalByConnection(ctx, grant.Connection.ID, again.FamilyID, "jti", clock.Now()); err != nil || len(p.Locations) != 0 {
			t.Errorf("CC-1 a machine reaches where the person does not belong: %+v, %v", p, err)
		}
		if err := d.DeleteKnownClient(ctx, clientID, clock.Now()); err != nil {
			t.Fatal(err)
		}
		if _, err := d.MachineGrant(ctx, clientID, testResource, clock.Now()); !errors.Is(err, oauth.ErrNotFound) {
			t.Errorf("CC-1 after the client was deleted: %v", err)
		}
	})
}

// TestDeviceApprovalsEnd: what was allowed and not yet fetched ends with whatever ends the app's access.
func TestDeviceApprovalsEnd(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(t *testing.T, d *db.DB, userID, clientID, connectionID string, now time.Time) error{
		"RT-7 Disconnect": func(t *testing.T, d *db.DB, userID, _, connectionID string, now time.Time) error {
			return d.CloseConnection(t.Context(), userID, connectionID, oauth.EndedByUser, now)
		},
		"RT-7 the person is disabled": func(t *testing.T, d *db.DB, userID, _, _ string, now time.Time) error {
			return d.DisablePerson(t.Context(), userID, now)
		},
		"RT-7 the client is deleted": func(t *testing.T, d *db.DB, _, clientID, _ string, now time.Time) error {
			return d.DeleteKnownClient(t.Context(), clientID, now)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) {
				s := seed{t, d}
				userID, clientID, locations := s.home(clock, 1)
				c, _ := s.connect(userID, clientID, clock.Now(), locations...)
				hash := s.device(userID, clientID, clock.Now())
				if err := end(t, d, userID, clientID, c.ID, clock.Now()); err != nil {
					t.Fatal(err)
				}
				if _, err := d.RedeemDevice(t.Context(), redemption(t, hash, clock.Now())); !errors.Is(err, oauth.ErrNotFound) {
					t.Errorf("the device still gets its tokens: %v", err)
				}
			})
		})
	}
}

func TestDeviceSweep(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) {
		s := seed{t, d}
		userID, clientID, _ := s.home(clock, 1)
		hash := s.device(userID, clientID, clock.Now())
		for _, step := range []struct {
			after time.Duration
			swept int
		}{{30 * time.Minute, 0}, {2 * time.Hour, 1}} {
			clock.Advance(step.after)
			if got, err := d.SweepOAuth(t.Context(), clock.Now()); err != nil || got.Devices != step.swept {
				t.Errorf("DG-1 swept %d device requests, %v; want %d", got.Devices, err, step.swept)
			}
		}
		if _, err := d.DeviceRequest(t.Context(), hash); !errors.Is(err, oauth.ErrNotFound) {
			t.Errorf("DG-1 it is still there: %v", err)
		}
		// A client that an administrator allowed devices is kept, although it was never used.
		if err := d.AllowDevices(t.Context(), clientID, true); err != nil {
			t.Fatal(err)
		}
		clock.Advance(100 * time.Hour)
		if _, err := d.SweepOAuth(t.Context(), clock.Now()); err != nil {
			t.Fatal(err)
		}
		if c, err := d.Client(t.Context(), clientID); err != nil || !c.DeviceGrant {
			t.Errorf("DG-5 the client: %+v, %v", c, err)
		}
	})
}
