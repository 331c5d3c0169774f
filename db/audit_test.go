package db_test

import (
	"crypto/rand"
	"log/slog"
	"reflect"
	"testing"
	"time"

	"gatehouse/app/audit"
	"gatehouse/db"
	"gatehouse/db/dbtest"
)

func TestAudit(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) {
		ctx, start := t.Context(), clock.Now()
		s := audit.New(audit.Config{Store: d, Now: clock.Now, Rand: rand.Reader, Log: slog.New(slog.DiscardHandler), Keep: 365 * 24 * time.Hour})
		for _, e := range []audit.Entry{
			{Actor: audit.ActorCLI, Action: audit.ClientBlocked, ClientID: "client-1", Address: "192.0.2.1"},
			{Actor: audit.ActorPerson, ActorID: "ada", Action: audit.PersonDisabled, PersonID: "bob", Detail: map[string]string{"reason": "gone\x00 \xff home", "empty": ""}},
			{Actor: audit.ActorClient, ActorID: "client-1", Action: audit.RefreshReused, PersonID: "ada", ConnectionID: "c1"},
			{Actor: audit.ActorServer, Action: audit.KeyRotated},
		} {
			s.Record(ctx, e)
			clock.Advance(time.Hour)
		}
		for name, c := range map[string]struct {
			f    audit.Filter
			want []string
		}{
			"newest first":            {audit.Filter{}, []string{audit.KeyRotated, audit.RefreshReused, audit.PersonDisabled, audit.ClientBlocked}},
			"who and whom":            {audit.Filter{PersonID: "ada"}, []string{audit.RefreshReused, audit.PersonDisabled}},
			"action":                  {audit.Filter{Action: audit.KeyRotated}, []string{audit.KeyRotated}},
			"noun":                    {audit.Filter{Action: "client"}, []string{audit.ClientBlocked}},
			"part of a noun":          {audit.Filter{Action: "clie"}, nil},
			"a pattern is no pattern": {audit.Filter{Action: "%"}, nil},
			"client":                  {audit.Filter{ClientID: "client-1"}, []string{audit.ClientBlocked}},
			"connection":              {audit.Filter{ConnectionID: "c1"}, []string{audit.RefreshReused}},
			"time":                    {audit.Filter{From: start.Add(time.Hour), Until: start.Add(2 * time.Hour)}, []string{audit.PersonDisabled}},
			"zero byte":               {audit.Filter{PersonID: "a\x00"}, nil},
			"foreign cursor":          {audit.Filter{Before: "nothing"}, nil},
		} {
			list, next, err := s.List(ctx, c.f)
			var got []string
			for _, e := range list {
				got = append(got, e.Action)
			}
			if err != nil || next != "" || !reflect.DeepEqual(got, c.want) {
				t.Errorf("%s: %q, next %q, %v; want %q", name, got, next, err, c.want)
			}
		}
		first, next, err := s.List(ctx, audit.Filter{Limit: 3})
		if err != nil || len(first) != 3 || next == "" {
			t.Fatalf("first page: %d entries, next %q, %v", len(first), next, err)
		}
		if rest, next, err := s.List(ctx, audit.Filter{Limit: 3, Before: next}); err != nil || len(rest) != 1 || next != "" || rest[0].Address != "192.0.2.1" || !rest[0].At.Equal(start) {
			t.Errorf("second page: %+v, next %q, %v", rest, next, err)
		}
		if want := (map[string]string{"reason": "gone  home"}); !reflect.DeepEqual(first[2].Detail, want) {
			t.Errorf("facts %q; want %q", first[2].Detail, want)
		}
		clock.Advance(365*24*time.Hour - 4*time.Hour + time.Minute)
		if n, err := s.Sweep(ctx); err != nil || n != 1 {
			t.Errorf("swept %d, %v; want the one that is older than a year", n, err)
		}
	})
}

func TestAuditNamesWhomItIsAbout(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) {
		s := seed{t, d}
		user, client := s.user("Ada"), s.client("client-1", clock.Now())
		a := audit.New(audit.Config{Store: d, Now: clock.Now, Rand: rand.Reader, Log: slog.New(slog.DiscardHandler), Keep: time.Hour})
		a.Record(t.Context(), audit.Entry{Actor: audit.ActorPerson, ActorID: user, Action: audit.ClientBlocked, PersonID: user, ClientID: client.ID})
		list, _, err := a.List(t.Context(), audit.Filter{})
		if err != nil || len(list) != 1 || list[0].ActorName != user+"@example.org" || list[0].PersonName != user+"@example.org" || list[0].ClientName == "" {
			t.Errorf("got %+v, %v", list, err)
		}
	})
}
