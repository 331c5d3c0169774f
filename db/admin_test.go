package db_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gatehouse/app/account"
	"gatehouse/app/connection"
	"gatehouse/app/handshake"
	"gatehouse/db"
	"gatehouse/db/dbtest"
)

func TestListPeople(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) {
		ctx, s := t.Context(), seed{t, d}
		ada, bob, carl := s.user("Ada"), s.user("Bob 100%"), s.user("Carl")
		s.disable(carl)
		if err := d.SetAdministrator(ctx, ada, true, clock.Now()); err != nil {
			t.Fatal(err)
		}
		for name, c := range map[string]struct {
			f    account.PeopleFilter
			want []string
		}{
			"by name":                 {account.PeopleFilter{Text: "aDA"}, []string{ada}},
			"by address":              {account.PeopleFilter{Text: bob[:30]}, []string{bob}},
			"a pattern is no pattern": {account.PeopleFilter{Text: "00%"}, []string{bob}},
			"nothing else matches %":  {account.PeopleFilter{Text: "%a"}, nil},
			"administrators":          {account.PeopleFilter{Administrators: true}, []string{ada}},
			"disabled":                {account.PeopleFilter{Disabled: true}, []string{carl}},
			"zero byte":               {account.PeopleFilter{Text: "a\x00"}, nil},
		} {
			c.f.Limit = 10
			list, err := d.ListPeople(ctx, c.f)
			var got []string
			for _, p := range list {
				got = append(got, p.ID)
			}
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("%s: %q, %v; want %q", name, got, err, c.want)
			}
		}
		first, err := d.ListPeople(ctx, account.PeopleFilter{Limit: 2})
		rest, err2 := d.ListPeople(ctx, account.PeopleFilter{Limit: 2, Offset: 2})
		if err != nil || err2 != nil || len(first) != 2 || len(rest) != 1 || strings.Compare(first[1].Email, rest[0].Email) >= 0 {
			t.Errorf("pages %v %v, %v %v", first, rest, err, err2)
		}
	})
}

func TestLastAdministratorStays(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) {
		ctx, s := t.Context(), seed{t, d}
		ada, bob := s.user("Ada"), s.user("Bob")
		for _, id := range []string{ada, bob} {
			if err := d.SetAdministrator(ctx, id, true, clock.Now()); err != nil {
				t.Fatal(err)
			}
		}
		if err := d.SetAdministrator(ctx, newID(t), true, clock.Now()); !errors.Is(err, account.ErrNotFound) {
			t.Errorf("nobody: %v", err)
		}
		var failed [2]error
		var wait sync.WaitGroup
		for i, id := range []string{ada, bob} { // both at once: one of them stays
			wait.Go(func() { failed[i] = d.SetAdministrator(ctx, id, false, clock.Now()) })
		}
		wait.Wait()
		left, err := d.ListPeople(ctx, account.PeopleFilter{Administrators: true, Limit: 10})
		if err != nil || len(left) != 1 || errors.Is(failed[0], account.ErrLastAdmin) == errors.Is(failed[1], account.ErrLastAdmin) {
			t.Fatalf("left %v, refused %v", left, failed)
		}
		if err := d.DisablePerson(ctx, left[0].ID, clock.Now()); !errors.Is(err, account.ErrLastAdmin) {
			t.Errorf("the last administrator was disabled: %v", err)
		}
	})
}

func TestFindClientsAndConnections(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) {
		ctx, s, now := t.Context(), seed{t, d}, clock.Now()
		user := s.user("Ada")
		for i, id := range []string{"dyn-1", "https://app.example/client.json", "dyn-2"} {
			c := s.client(id, now)
			c.Name = fmt.Sprintf("App_%d", i)
			if i == 1 {
				c.Kind, c.Host, c.SoftwareID = "document", "app.example", "soft"
			}
			if err := d.SaveClient(ctx, c); err != nil {
				t.Fatal(err)
			}
			s.exec(`INSERT INTO connections (id, user_id, client_id, resource, scopes, hidden_tools, created_at, updated_at) VALUES (?, ?, ?, 'r', '', '', ?, ?)`,
				newID(t), user, id, db.TimeForTest(d, now), db.TimeForTest(d, now))
		}
		if err := d.SetClientBlocked(ctx, "dyn-2", &now); err != nil {
			t.Fatal(err)
		}
		for name, c := range map[string]struct {
			f    connection.ClientFilter
			want []string
		}{
			"id":                      {connection.ClientFilter{Text: "dyn-1"}, []string{"dyn-1"}},
			"part of a name":          {connection.ClientFilter{Text: "app_0"}, []string{"dyn-1"}},
			"a pattern is no pattern": {connection.ClientFilter{Text: "a%0"}, nil},
			"host":                    {connection.ClientFilter{Text: "APP.example"}, []string{"https://app.example/client.json"}},
			"kind":                    {connection.ClientFilter{Kind: "document"}, []string{"https://app.example/client.json"}},
			"blocked":                 {connection.ClientFilter{Blocked: true}, []string{"dyn-2"}},
			"second page":             {connection.ClientFilter{Offset: 3}, nil},
		} {
			c.f.Limit = 10
			list, err := d.FindKnownClients(ctx, c.f, now)
			var got []string
			for _, k := range list {
				got = append(got, k.ID)
				if k.Connections != 1 {
					t.Errorf("%s: %s has %d connections", name, k.ID, k.Connections)
				}
			}
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("%s: %q, %v; want %q", name, got, err, c.want)
			}
		}
		if k, err := d.KnownClient(ctx, "https://app.example/client.json", now); err != nil || k.SoftwareID != "soft" || k.Host != "app.example" {
			t.Errorf("one client: %+v, %v", k, err)
		}
		if _, err := d.KnownClient(ctx, "nobody", now); !errors.Is(err, connection.ErrNotFound) {
			t.Errorf("nobody: %v", err)
		}
		for name, c := range map[string]struct {
			f    connection.Filter
			want int
		}{
			"client id": {connection.Filter{Client: "dyn-1"}, 1}, "part of a name": {connection.Filter{Client: "app_"}, 3}, "host": {connection.Filter{Host: "App.example"}, 1},
			"other host": {connection.Filter{Host: "other.example"}, 0}, "limit": {connection.Filter{Limit: 2}, 2}, "offset": {connection.Filter{Limit: 2, Offset: 2}, 1},
		} {
			if list, err := d.ListConnections(ctx, c.f, now); err != nil || len(list) != c.want {
				t.Errorf("connections by %s: %d, %v; want %d", name, len(list), err, c.want)
			}
		}
	})
}

func TestFindAttempts(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) {
		ctx, now := t.Context(), clock.Now()
		before, err := d.HandshakeStamp(ctx, "ada")
		if err != nil {
			t.Fatal(err)
		}
		if err := d.SaveHandshakes(ctx, []handshake.Event{
			{At: now, Step: handshake.StepAuthorize, OK: true, ClientID: "c1", ClientName: "Claude", RequestID: "r1", UserID: "ada", IP: "192.0.2.1", HTTPRequest: "http-1"},
			{At: now, Step: handshake.StepAuthorize, Check: "client", ClientID: "c2", RequestID: "r2", IP: "192.0.2.2", HTTPRequest: "http-2"},
		}, func(time.Time) (string, error) { return newID(t), nil }); err != nil {
			t.Fatal(err)
		}
		stamp, err := d.HandshakeStamp(ctx, "ada")
		if other, err2 := d.HandshakeStamp(ctx, "bob"); err != nil || err2 != nil || stamp == before || other == stamp {
			t.Errorf("stamps %q, then %q, somebody else's %q, %v %v", before, stamp, other, err, err2)
		}
		for id, want := range map[string]string{"http-1": "c1", "http-2": "c2", "r1": "c1", "http-3": "", "a\x00": "", "": ""} {
			a, err := d.Handshake(ctx, id)
			if want == "" && !errors.Is(err, handshake.ErrNotFound) || want != "" && (err != nil || a.ClientID != want || len(a.Steps) != 1) {
				t.Errorf("oauth.md §7 by %q: %+v, %v; want %q", id, a, err, want)
			}
		}
		for name, c := range map[string]struct {
			f    handshake.Filter
			want int
		}{
			"everybody": {handshake.Filter{}, 2}, "client": {handshake.Filter{Client: "clau"}, 1}, "client id": {handshake.Filter{Client: "c2"}, 1},
			"address": {handshake.Filter{Address: "192.0.2.2"}, 1}, "failed": {handshake.Filter{Failed: true}, 1}, "offset": {handshake.Filter{Limit: 1, Offset: 2}, 0},
		} {
			if list, err := d.Handshakes(ctx, c.f); err != nil || len(list) != c.want {
				t.Errorf("attempts by %s: %d, %v; want %d", name, len(list), err, c.want)
			}
		}
	})
}
