package db_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"gatehouse/db"
	"gatehouse/db/dbtest"
	"gatehouse/oauth"
)

// A token that is looked up finds the same principal as a JWT of the same family, and ends with the same things.
func TestPrincipalByAccessToken(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) {
		ctx := context.Background()
		s := seed{t, d}
		setup := func() (user string, c *oauth.Connection, family string, stored *oauth.StoredToken) {
			user, client, homes := s.home(clock, 2)
			c, r := s.connect(user, client, clock.Now(), homes...)
			stored = &oauth.StoredToken{
				Hash: randomBytes(), ID: newID(t), FamilyID: r.FamilyID, Scopes: []string{"home:read"}, Narrowed: true, KeyThumbprint: "key",
				IssuedAt: clock.Now(), ExpiresAt: clock.Now().Add(time.Hour),
			}
			if err := d.SaveAccessToken(ctx, stored); err != nil {
				t.Fatal(err)
			}
			return user, c, r.FamilyID, stored
		}
		user, c, family, stored := setup()
		p, token, err := d.PrincipalByAccessToken(ctx, stored.Hash, clock.Now())
		if err != nil {
			t.Fatal(err)
		}
		same, err := d.PrincipalByConnection(ctx, c.ID, family, stored.ID, clock.Now())
		if err != nil || !reflect.DeepEqual(p, same) || len(p.Locations) != 2 {
			t.Errorf("settled-19 principal %+v and %+v (%v)", p, same, err)
		}
		if token.Subject != user || token.ConnectionID != c.ID || token.FamilyID != family || token.Resource != testResource || token.ID != stored.ID ||
			!token.Narrowed || token.KeyThumbprint != "key" || !token.ExpiresAt.Equal(stored.ExpiresAt) || !token.AuthTime.IsZero() {
			t.Errorf("KY-5 token %+v", token)
		}
		if _, _, err := d.PrincipalByAccessToken(ctx, randomBytes(), clock.Now()); !errors.Is(err, oauth.ErrNotFound) {
			t.Errorf("a token nobody issued gives %v", err)
		}
		for name, end := range map[string]func(user string, c *oauth.Connection, family string, stored *oauth.StoredToken) error{
			"RFC7009-2.1 the one token is revoked": func(_ string, _ *oauth.Connection, _ string, stored *oauth.StoredToken) error {
				return d.RevokeAccessToken(ctx, stored.ID, stored.ExpiresAt)
			},
			"settled-3 the family ended": func(_ string, _ *oauth.Connection, family string, _ *oauth.StoredToken) error {
				_, err := d.EndFamily(ctx, family, oauth.EndedByReuse, clock.Now())
				return err
			},
			"CN-77 the connection ended": func(_ string, c *oauth.Connection, _ string, _ *oauth.StoredToken) error {
				_, err := d.EndConnection(ctx, c.ID, oauth.EndedByUser, clock.Now())
				return err
			},
			"RT-7 the person is disabled": func(user string, _ *oauth.Connection, _ string, _ *oauth.StoredToken) error {
				s.disable(user)
				return nil
			},
		} {
			user, c, family, stored := setup()
			if err := end(user, c, family, stored); err != nil {
				t.Fatal(err)
			}
			if _, _, err := d.PrincipalByAccessToken(ctx, stored.Hash, clock.Now()); !errors.Is(err, oauth.ErrEnded) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}
