package db_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gatehouse/app/home"
	"gatehouse/db"
	"gatehouse/db/dbtest"
	"gatehouse/oauth"
)

func TestPrincipalByConnection(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) {
		s := seed{t, d}
		user, client, homes := s.home(clock, 2)
		c, r := s.connect(user, client, clock.Now(), homes...)
		p, err := d.PrincipalByConnection(context.Background(), c.ID, r.FamilyID, "jti", clock.Now())
		if err != nil {
			t.Fatal(err)
		}
		if p.UserID != user || p.UserName != "Ada" || p.Actor != home.ActorConnection || p.ConnectionID != c.ID ||
			p.FamilyID != r.FamilyID || p.ClientID != client || !p.CanWrite() || !slices.Equal(p.HiddenTools, []string{"thing_trash"}) {
			t.Errorf("principal is %+v", p)
		}
		if len(p.Locations) != 2 {
			t.Fatalf("locations are %+v", p.Locations)
		}
		l := p.Locations[0]
		if l.LocationID != homes[0] || l.Name != "Home 1" || l.Role != home.Owner || l.TimeZone != "Europe/Berlin" || l.Currency != "EUR" ||
			!slices.Equal(l.Currencies, []string{"EUR", "CHF"}) || !l.ViewerSeesMoney || !l.HasModule("mcp") || l.HasModule("fuel") {
			t.Errorf("location is %+v", l)
		}
	})
}

func TestPrincipalEnds(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) {
		ctx := context.Background()
		s := seed{t, d}
		type fixture struct {
			user, client, connection, family string
			homes                            []string
		}
		cases := []struct {
			name string
			do   func(f *fixture) error
			want error
		}{
			{"settled-3 the family ended", func(f *fixture) error {
				_, err := d.EndFamily(ctx, f.family, oauth.EndedByReuse, clock.Now())
				return err
			}, oauth.ErrEnded},
			{"CN-77 the connection ended", func(f *fixture) error {
				_, err := d.EndConnection(ctx, f.connection, oauth.EndedByUser, clock.Now())
				return err
			}, oauth.ErrEnded},
			{"KE-126 all connections of the person ended", func(f *fixture) error {
				n, err := d.EndConnectionsOfUser(ctx, f.user, "password", clock.Now())
				if n != 1 {
					t.Errorf("ended %d", n)
				}
				return err
			}, oauth.ErrEnded},
			{"the client's connections ended", func(f *fixture) error {
				_, err := d.EndConnectionsOfClient(ctx, f.client, oauth.EndedByDeletion, clock.Now())
				return err
			}, oauth.ErrEnded},
			{"RT-7 the person is disabled", func(f *fixture) error { s.disable(f.user); return nil }, oauth.ErrEnded},
			{"RFC7009-2.1 the one token is revoked", func(*fixture) error {
				return d.RevokeAccessToken(ctx, "this", clock.Now().Add(time.Hour))
			}, oauth.ErrEnded},
			{"unknown connection", func(f *fixture) error { f.connection = newID(t); return nil }, oauth.ErrNotFound},
			{"family of another connection", func(f *fixture) error {
				_, r := s.connect(f.user, "other-client", clock.Now(), f.homes...)
				f.family = r.FamilyID
				return nil
			}, oauth.ErrNotFound},
			{"no id", func(f *fixture) error { f.connection = "x"; return nil }, oauth.ErrNotFound},
		}
		for i, c := range cases {
			user, client, homes := s.home(clock, 1)
			con, r := s.connect(user, client, clock.Now(), homes...)
			f := &fixture{user, client, con.ID, r.FamilyID, homes}
			jti := fmt.Sprint("jti", i)
			if c.name == "RFC7009-2.1 the one token is revoked" {
				jti = "this"
			}
			if _, err := d.PrincipalByConnection(ctx, f.connection, f.family, jti, clock.Now()); err != nil {
				t.Fatalf("%s: before: %v", c.name, err)
			}
			if err := c.do(f); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if _, err := d.PrincipalByConnection(ctx, f.connection, f.family, jti, clock.Now()); !errors.Is(err, c.want) {
				t.Errorf("%s: got %v, want %v", c.name, err, c.want)
			}
		}
	})
}

func TestPrincipalLosesLocations(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) {
		ctx := context.Background()
		s := seed{t, d}
		user, client, homes := s.home(clock, 2)
		c, r := s.connect(user, client, clock.Now(), homes...)
		read := func() (*home.Principal, error) {
			return d.PrincipalByConnection(ctx, c.ID, r.FamilyID, "j", clock.Now())
		}
		s.exec(`DELETE FROM members WHERE location_id = ?`, homes[0])
		if p, err := read(); err != nil || len(p.Locations) != 1 || p.Locations[0].LocationID != homes[1] {
			t.Errorf("KE-83 after the membership ended: %+v, %v", p, err)
		}
		s.exec(`UPDATE locations SET deleted_at = ? WHERE id = ?`, db.TimeForTest(d, clock.Now()), homes[1])
		if p, err := read(); err != nil || len(p.Locations) != 0 {
			t.Errorf("KE-90 a person without locations stays a principal: %+v, %v", p, err)
		}
		s.exec(`UPDATE locations SET deleted_at = NULL WHERE id = ?`, homes[1])
		s.member(homes[0], user, "viewer")
		if err := db.LeaveForTest(d, user, homes[0], clock.Now()); err != nil {
			t.Fatal(err)
		}
		if p, err := read(); err != nil || len(p.Locations) != 1 {
			t.Errorf("KE-83 coming back brought the location back: %+v, %v", p, err)
		}
		if err := db.LeaveForTest(d, user, homes[1], clock.Now()); err != nil {
			t.Fatal(err)
		}
		if _, err := read(); !errors.Is(err, oauth.ErrEnded) {
			t.Errorf("KE-83 the last location left, but the connection gives %v", err)
		}
	})
}

func TestTouchConnection(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) {
		s := seed{t, d}
		ctx := context.Background()
		user, client, homes := s.home(clock, 1)
		c, r := s.connect(user, client, clock.Now(), homes...)
		first := dbtest.Again(t, d, clock.Now)
		at := clock.Now()
		first.TouchConnection(ctx, c.ID, r.FamilyID, "thing_find", "203.0.113.9", at)
		first.TouchConnection(ctx, c.ID, r.FamilyID, "thing_get", "203.0.113.9", at.Add(59*time.Second))
		if err := first.Close(); err != nil { // closing writes what waits
			t.Fatal(err)
		}
		first.TouchConnection(ctx, c.ID, r.FamilyID, "late", "", at.Add(time.Hour)) // does nothing, and does no harm
		count := func(tool string, at time.Time) int {
			n, err := db.CountForTest(d, `SELECT count(*) FROM families WHERE last_used_tool = ? AND last_used_at = ?`, tool, db.TimeForTest(d, at))
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		if count("thing_find", at) != 1 {
			t.Error("the first use was not noted, or the second within a minute was")
		}
		next := dbtest.Again(t, d, clock.Now)
		next.TouchConnection(ctx, c.ID, r.FamilyID, "thing_get", "203.0.113.9", at.Add(61*time.Second))
		_ = next.Close()
		if count("thing_get", at.Add(61*time.Second)) != 1 {
			t.Error("the use a minute later was not noted")
		}
		behind := dbtest.Again(t, d, clock.Now)
		behind.TouchConnection(ctx, c.ID, r.FamilyID, "old", "", at.Add(30*time.Second))
		_ = behind.Close()
		if count("thing_get", at.Add(61*time.Second)) != 1 {
			t.Error("a last use moved backwards")
		}
	})
}

// benchHome is a connection with two locations among n connections.
func benchHome(b *testing.B, url string, n int) (*db.DB, *oauth.Connection, oauth.Redemption, *dbtest.Clock) {
	clock := dbtest.NewClock()
	d := dbtest.Open(b, url, clock.Now)
	s := seed{b, d}
	user, client, homes := s.home(clock, 2)
	for i := range n {
		s.connect(user, fmt.Sprint("c", i), clock.Now(), homes...)
	}
	c, r := s.connect(user, client, clock.Now(), homes...)
	return d, c, r, clock
}

func BenchmarkPrincipalByConnection(b *testing.B) {
	b.Run("sqlite", func(b *testing.B) { benchPrincipal(b, dbtest.SQLiteURL(b)) })
	b.Run("postgres", func(b *testing.B) { benchPrincipal(b, dbtest.PostgresURL(b)) })
}

func benchPrincipal(b *testing.B, url string) {
	d, c, r, clock := benchHome(b, url, 1000)
	ctx, cancel := context.WithCancel(context.Background()) // a request's context can be cancelled
	defer cancel()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := d.PrincipalByConnection(ctx, c.ID, r.FamilyID, "jti", clock.Now()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRedeemCode(b *testing.B) {
	d, c, _, clock := benchHome(b, dbtest.SQLiteURL(b), 0)
	s := seed{b, d}
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		code := s.code(c.UserID, newID(b), clock.Now())
		b.StartTimer()
		if _, err := d.RedeemCode(context.Background(), redemption(b, code, clock.Now())); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRotateRefreshToken(b *testing.B) {
	d, _, r, clock := benchHome(b, dbtest.SQLiteURL(b), 0)
	ctx := context.Background()
	presented, now := r.Refresh.Hash, clock.Now()
	b.ReportAllocs()
	for b.Loop() {
		next := &oauth.RefreshToken{Hash: randomBytes(), FamilyID: r.FamilyID, ParentHash: presented, CreatedAt: now, ExpiresAt: now.Add(time.Hour)}
		if err := d.RotateRefreshToken(ctx, presented, next, []byte("sealed"), now); err != nil {
			b.Fatal(err)
		}
		presented = next.Hash
	}
}

// TestHotStatementsSearch holds the hot reads to look-ups by key: none may scan a table.
func TestHotStatementsSearch(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t, dbtest.SQLiteURL(t), dbtest.NewClock().Now)
	for name, text := range db.HotStatements() {
		plan, err := db.PlanForTest(d, text)
		if err != nil || len(plan) == 0 {
			t.Fatalf("%s: %v, %v", name, plan, err)
		}
		for _, step := range plan {
			if strings.Contains(step, "SCAN") && step != "SCAN CONSTANT ROW" {
				t.Errorf("%s scans: %s", name, strings.Join(plan, "; "))
			}
		}
	}
}
