package db_test

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"gatehouse/db"
	"gatehouse/db/dbtest"
	"gatehouse/oauth"
)

func TestSweepOAuth(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) {
		ctx := context.Background()
		s := seed{t, d}
		user, client, homes := s.home(clock, 1)
		c, r := s.connect(user, client, clock.Now(), homes...)
		until := clock.Now().Add(time.Hour)
		short := oauth.Approval{UserID: user, ClientID: "short", Resource: testResource, Scopes: []string{"home:read"}, ExpiresAt: &until}
		if _, err := d.RedeemCode(ctx, redemption(t, s.approve(short, clock.Now()), clock.Now())); err != nil {
			t.Fatal(err)
		}
		if err := d.RevokeAccessToken(ctx, "jti", clock.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		stored := &oauth.StoredToken{Hash: randomBytes(), ID: "s", FamilyID: r.FamilyID, IssuedAt: clock.Now(), ExpiresAt: clock.Now().Add(time.Hour)}
		if err := d.SaveAccessToken(ctx, stored); err != nil {
			t.Fatal(err)
		}
		if err := d.UseProof(ctx, []byte("proof"), clock.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		if err := d.UseAssertion(ctx, randomBytes(), clock.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		pushed := &oauth.PushedRequest{ID: "p", ClientID: client, CreatedAt: clock.Now(), ExpiresAt: clock.Now().Add(90 * time.Second)}
		if err := d.SavePushedRequest(ctx, pushed); err != nil {
			t.Fatal(err)
		}
		s.client("unused", clock.Now())
		early := clock.Now().Add(6 * time.Minute) // DP-4: kept past the window, for clocks that differ
		if got, err := d.SweepOAuth(ctx, early); err != nil || got != (db.Swept{}) {
			t.Errorf("DP-4 swept %+v (%v) while the proof may still be replayed", got, err)
		}
		sweep := func(after time.Duration, want db.Swept) {
			t.Helper()
			clock.Advance(after)
			if got, err := d.SweepOAuth(ctx, clock.Now()); err != nil || got != want {
				t.Errorf("swept %+v (%v), want %+v", got, err, want)
			}
		}
		sweep(5*time.Minute, db.Swept{})
		sweep(25*time.Minute, db.Swept{Assertions: 1, Pushed: 1, Proofs: 1})
		sweep(time.Hour, db.Swept{Requests: 2, RevokedTokens: 1, AccessTokens: 1, Connections: 1})
		sweep(24*time.Hour, db.Swept{Codes: 2})
		if _, err := d.PrincipalByConnection(ctx, c.ID, r.FamilyID, "j", clock.Now()); err != nil {
			t.Errorf("the living connection gives %v", err)
		}
		sweep(72*time.Hour, db.Swept{Clients: 1})
		sweep(28*24*time.Hour, db.Swept{RefreshTokens: 2, Families: 2})
		if _, err := d.PrincipalByConnection(ctx, c.ID, r.FamilyID, "j", clock.Now()); !errors.Is(err, oauth.ErrEnded) {
			t.Errorf("RT-6 a family without a refresh token gives %v", err)
		}
		sweep(time.Hour, db.Swept{})
	})
}

func TestSweepManyRows(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) {
		s := seed{t, d}
		s.exec(`INSERT INTO revoked_access_tokens (jti, expires_at) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500)
			SELECT CAST(i AS text), ` + sqlTime(d, clock.Now()) + ` FROM n`)
		got, err := d.SweepOAuth(context.Background(), clock.Now().Add(time.Hour))
		if err != nil || got.RevokedTokens != 2500 {
			t.Errorf("swept %+v, %v", got, err)
		}
	})
}

func sqlTime(d *db.DB, at time.Time) string {
	if d.Dialect() == db.Postgres {
		return "timestamptz '" + at.Format(time.RFC3339) + "'"
	}
	return strconv.FormatInt(at.UnixMilli(), 10)
}

func TestRunLeased(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) {
		ctx := context.Background()
		processes := []*db.DB{d, dbtest.Again(t, d, clock.Now)}
		var runs atomic.Int32
		all := func(job func(context.Context) error) (ran int32) {
			runs.Store(0)
			errs := race(6, func(i int) error {
				_, err := processes[i%2].RunLeased(ctx, "sweep", time.Hour, func(ctx context.Context) error {
					runs.Add(1)
					return job(ctx)
				})
				return err
			})
			wantOthers(t, errs, errJob)
			return runs.Load()
		}
		fine := func(context.Context) error { return nil }
		failing := func(context.Context) error { return errJob }
		if n := all(fine); n != 1 {
			t.Errorf("the first time %d processes ran the job", n)
		}
		if n := all(fine); n != 0 {
			t.Errorf("not due, but run %d times", n)
		}
		clock.Advance(time.Hour)
		if n := all(failing); n != 1 {
			t.Errorf("when due %d processes ran the job", n)
		}
		clock.Advance(time.Minute)
		if n := all(fine); n != 1 {
			t.Errorf("after a failure %d processes ran the job", n)
		}
	})
}

var errJob = errors.New("the job failed")

func TestRunLeasedAfterDeath(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) {
		ctx := context.Background()
		s := seed{t, d}
		s.exec(`INSERT INTO jobs (name, due_at, lease, leased_until) VALUES ('sweep', ?, 'dead', ?)`,
			db.TimeForTest(d, clock.Now()), db.TimeForTest(d, clock.Now().Add(5*time.Minute)))
		run := func() bool {
			ran, err := d.RunLeased(ctx, "sweep", time.Hour, func(ctx context.Context) error {
				if _, ok := ctx.Deadline(); !ok {
					t.Error("the job may outlive its lease")
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
			return ran
		}
		if run() {
			t.Error("the lease of a dead process was broken before its time")
		}
		clock.Advance(5 * time.Minute)
		if !run() {
			t.Error("the job of a dead process was not taken over")
		}
	})
}
