package db_test

import (
	"bytes"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/google/uuid"

	"gatehouse/app/connection"
	"gatehouse/app/logo"
	"gatehouse/app/policy"
	"gatehouse/db"
	"gatehouse/db/dbtest"
	"gatehouse/oauth"
)

func TestPolicyStore(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) {
		ctx := t.Context()
		if _, err := d.Policy(ctx); !errors.Is(err, policy.ErrNone) {
			t.Errorf("before any: %v", err)
		}
		for _, mode := range []oauth.RegistrationMode{oauth.RegistrationToken, oauth.RegistrationOff} {
			want := &policy.Policy{Registration: mode, ClientDocuments: true, BlockedHosts: []string{"a.example", "*.b.example"}, DocumentHosts: []string{}, RedirectHosts: []string{}}
			if err := d.SavePolicy(ctx, want, clock.Now()); err != nil {
				t.Fatal(err)
			}
			if got, err := d.Policy(ctx); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("CI-16 saved %+v, %v", got, err)
			}
		}
		if err := d.SavePolicy(ctx, nil, clock.Now()); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Policy(ctx); !errors.Is(err, policy.ErrNone) {
			t.Errorf("after the reset: %v", err)
		}
	})
}

func TestRegistrationTokenStore(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) {
		ctx, now := t.Context(), clock.Now().UTC().Truncate(time.Millisecond)
		ends := now.Add(time.Hour)
		old := policy.Token{ID: uuid.NewString(), Name: "öld", CreatedAt: now.Add(-time.Hour)}
		last := policy.Token{ID: uuid.NewString(), Name: "new", MaxUses: 3, CreatedAt: now, ExpiresAt: &ends}
		for i, token := range []policy.Token{old, last} {
			if err := d.InsertRegistrationToken(ctx, token, oauth.HashSecret(token.Name)); err != nil {
				t.Fatal(i, err)
			}
		}
		if list, err := d.RegistrationTokens(ctx); err != nil || !reflect.DeepEqual(list, []policy.Token{last, old}) {
			t.Errorf("DR-8 listed %+v, %v", list, err)
		}
		client := &oauth.Client{ID: "gc_1", Kind: oauth.ClientDynamic, CreatedAt: now, LastSeenAt: now}
		if err := d.RegisterClient(ctx, client, oauth.HashSecret("new")); err != nil {
			t.Fatal(err)
		}
		if err := d.RevokeRegistrationTokenByID(ctx, last.ID, now); err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{last.ID, uuid.NewString(), "x"} {
			if err := d.RevokeRegistrationTokenByID(ctx, id, now); !errors.Is(err, policy.ErrNone) {
				t.Errorf("DR-8 revoked %s: %v", id, err)
			}
		}
		if err := d.CheckInitialToken(ctx, oauth.HashSecret("new"), now); !errors.Is(err, oauth.ErrEnded) {
			t.Errorf("DR-8 a revoked token: %v", err)
		}
		list, err := d.RegistrationTokens(ctx)
		if err != nil || list[0].Uses != 1 || list[0].RevokedAt == nil || list[0].LastUsedAt == nil || !list[0].LastUsedAt.Equal(now) {
			t.Errorf("DR-8 listed %+v, %v", list, err)
		}
	})
}

func TestClientSettingsStore(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) {
		ctx, now := t.Context(), clock.Now().UTC().Truncate(time.Millisecond)
		for _, id := range []string{"gc_1", "gc_2"} {
			if err := d.SaveClient(ctx, &oauth.Client{ID: id, Kind: oauth.ClientDynamic, CreatedAt: now, LastSeenAt: now, PendingAt: &now}); err != nil {
				t.Fatal(err)
			}
		}
		want := oauth.ClientSettings{KeepOnStale: true, RequirePushed: true, PerMinute: 9}
		if err := d.SaveClientSettings(ctx, "gc_1", want); err != nil {
			t.Fatal(err)
		}
		c, err := d.OAuthClient(ctx, "gc_1")
		if err != nil || c.Settings != want {
			t.Errorf("RT-10 PA-4 X-12 saved %+v, %v", c, err)
		}
		if list, err := d.WaitingClients(ctx); err != nil || len(list) != 2 {
			t.Errorf("DR-8 waiting %+v, %v", list, err)
		}
		other := c.PendingAt.Add(-time.Millisecond)
		if err := d.DecideClient(ctx, "gc_1", &other, nil); !errors.Is(err, connection.ErrNotFound) {
			t.Errorf("DR-8 approved what it was before: %v", err)
		}
		if err := errors.Join(d.DecideClient(ctx, "gc_1", c.PendingAt, nil), d.DecideClient(ctx, "gc_2", nil, &now)); err != nil {
			t.Fatal(err)
		}
		for id, blocked := range map[string]bool{"gc_1": false, "gc_2": true} {
			c, err := d.OAuthClient(ctx, id)
			if err != nil || c.PendingAt != nil || (c.BlockedAt != nil) != blocked {
				t.Errorf("DR-8 decided %+v, %v", c, err)
			}
			if err := d.DecideClient(ctx, id, nil, &now); !errors.Is(err, connection.ErrNotFound) {
				t.Errorf("DR-8 decided twice: %v", err)
			}
		}
		for _, id := range []string{"nobody", "\x00"} {
			_, err := d.OAuthClient(ctx, id)
			for _, err := range []error{err, d.SaveClientSettings(ctx, id, want), d.DecideClient(ctx, id, nil, nil)} {
				if !errors.Is(err, connection.ErrNotFound) {
					t.Errorf("%q: %v", id, err)
				}
			}
		}
	})
}

func TestLogoStore(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) {
		ctx, now := t.Context(), clock.Now().UTC().Truncate(time.Millisecond)
		if _, err := d.Logo(ctx, "https://app.example/c"); !errors.Is(err, logo.ErrNone) {
			t.Errorf("before any: %v", err)
		}
		for _, image := range [][]byte{{1, 0, 2}, nil} {
			l := logo.Logo{ClientID: "https://app.example/c", URI: "https://app.example/l", Image: image, FetchedAt: now, ExpiresAt: now.Add(time.Hour)}
			if err := d.SaveLogo(ctx, l); err != nil {
				t.Fatal(err)
			}
			got, err := d.Logo(ctx, l.ClientID)
			if err != nil || got.URI != l.URI || !bytes.Equal(got.Image, image) || !got.ExpiresAt.Equal(l.ExpiresAt) {
				t.Errorf("CI-18 kept %+v, %v", got, err)
			}
		}
		if swept, err := d.SweepOAuth(ctx, now.Add(26*time.Hour)); err != nil || swept.Logos != 1 {
			t.Errorf("CI-18 swept %+v, %v", swept, err)
		}
	})
}
