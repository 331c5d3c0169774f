package db_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"gatehouse/app/account"
	"gatehouse/app/connection"
	"gatehouse/app/toolgrant"
	"gatehouse/db"
	"gatehouse/db/dbtest"
	"gatehouse/oauth"
)

func connections(d *db.DB, clock *dbtest.Clock) *connection.Service {
	return &connection.Service{
		Store: d, Now: clock.Now,
		Scopes: func(string) []connection.ScopeRule {
			return []connection.ScopeRule{{Name: "home:read"}, {Name: "home:write", Implies: []string{"home:read"}}, {Name: "reserved", Reserved: true}}
		},
		Located: func(resource string) bool { return resource == testResource },
		Tools: func(string) toolgrant.Catalog {
			return toolgrant.Catalog{{Name: "thing_find", Arguments: []toolgrant.Argument{{Name: "limit", Kind: toolgrant.Number}, {Name: "words", Kind: toolgrant.String}}}, {Name: "thing_move", Write: true}}
		},
	}
}

func TestConnectionsPage(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) {
		ctx := context.Background()
		s, service := seed{t, d}, connections(d, clock)
		ada, client, homes := s.home(clock, 2)
		bob := s.user("Bob")
		first, r1 := s.connect(ada, client, clock.Now(), homes...)
		clock.Advance(time.Minute)
		_, r2 := s.connect(ada, client, clock.Now(), homes...)
		s.connect(bob, client, clock.Now())
		again := dbtest.Again(t, d, clock.Now)
		again.TouchConnection(ctx, first.ID, r1.FamilyID, "thing_find", "203.0.113.9", clock.Now())
		_ = again.Close()

		list, err := service.List(ctx, ada)
		if err != nil || len(list) != 1 {
			t.Fatalf("GM-1 the list is %+v, %v", list, err)
		}
		c := list[0]
		if c.ID != first.ID || c.Client.Name != "Desk assistant" || c.Client.Kind != "dynamic" || c.UserName != "Ada" || !c.Live(clock.Now()) ||
			!slices.Equal(c.Scopes, []string{"home:read", "home:write"}) || len(c.Locations) != 2 || c.Locations[0].Name != "Home 1" {
			t.Errorf("GM-1 the connection is %+v", c)
		}
		if c.LastUsed == nil || c.LastUsed.Tool != "thing_find" || c.LastUsed.IP != "203.0.113.9" || !c.LastUsed.At.Equal(clock.Now()) {
			t.Errorf("GM-1 the last use is %+v", c.LastUsed)
		}
		if len(c.Installations) != 2 || c.Installations[0].ID != r2.FamilyID || c.Installations[0].LastUsed != nil ||
			c.Installations[1].DeviceHint != "Desk on Linux" || c.Installations[1].LastUsed == nil {
			t.Errorf("settled-3 the installations are %+v", c.Installations)
		}
		if all, err := service.ListAll(ctx, connection.Filter{}); err != nil || len(all) != 2 {
			t.Errorf("an administrator sees %d, %v", len(all), err)
		}
		if got, err := service.Existing(ctx, ada, client, testResource); err != nil || got == nil || got.ID != first.ID {
			t.Errorf("what approving again would change: %+v, %v", got, err)
		}
		if got, err := service.Existing(ctx, ada, client, "https://other.example/mcp"); err != nil || got != nil {
			t.Errorf("settled-1 another resource's connection: %+v, %v", got, err)
		}
	})
}

func TestConnectionEdit(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) {
		ctx := context.Background()
		s, service := seed{t, d}, connections(d, clock)
		ada, client, homes := s.home(clock, 2)
		bob := s.user("Bob")
		foreign := s.location("Bob's")
		s.member(foreign, bob, "owner")
		c, r := s.connect(ada, client, clock.Now(), homes[0])
		good := connection.Edit{Scopes: []string{"home:read"}, Terms: connection.Terms{Locations: homes[1:], HiddenTools: []string{"thing_move"}}}
		if err := service.Edit(ctx, bob, c.ID, good); !errors.Is(err, connection.ErrNotFound) {
			t.Errorf("somebody else's connection: %v", err)
		}
		past, long := clock.Now(), toolgrant.Rule{}
		for i := range 20 {
			long.Values = append(long.Values, strings.Repeat(string(rune('a'+i)), 180))
		}
		bad := map[string]connection.Edit{
			"scope":        {Terms: good.Terms},
			"location":     {Scopes: good.Scopes, Terms: connection.Terms{Locations: []string{foreign}}},
			"locations":    {Scopes: good.Scopes, Terms: connection.Terms{Locations: []string{"x"}}},
			"hidden_tools": {Scopes: good.Scopes, Terms: connection.Terms{Locations: homes, HiddenTools: []string{"a b"}}},
			"expires":      {Scopes: good.Scopes, Terms: good.Terms, ExpiresAt: &past},
			"scope ":       {Scopes: []string{"reserved"}, Terms: good.Terms},
			"tool":         {Scopes: good.Scopes, Terms: good.Terms, Tools: &toolgrant.Grant{Listed: true}},
			"tool  ":       {Scopes: good.Scopes, Terms: good.Terms, Tools: &toolgrant.Grant{Limits: map[string]map[string]toolgrant.Rule{"thing_find": {"words": long}}}},
			"tool ":        {Scopes: good.Scopes, Terms: good.Terms, Tools: &toolgrant.Grant{Listed: true, Tools: []string{"thing_eat"}}},
		}
		for field, e := range bad {
			var refusal *connection.Invalid
			if err := service.Edit(ctx, ada, c.ID, e); !errors.As(err, &refusal) || refusal.Field != strings.TrimSpace(field) {
				t.Errorf("editing with a bad %s gives %v", field, err)
			}
		}
		if err := service.Edit(ctx, ada, c.ID, good); err != nil {
			t.Fatal(err)
		}
		p, err := d.PrincipalByConnection(ctx, c.ID, r.FamilyID, "j", clock.Now())
		if err != nil || p.CanWrite() || len(p.Locations) != 1 || p.Locations[0].LocationID != homes[1] || !slices.Equal(p.HiddenTools, []string{"thing_move"}) {
			t.Errorf("KE-119 the next call sees %+v, %v", p, err)
		}
		good.Scopes = []string{"home:write"}
		if err := service.Edit(ctx, ada, c.ID, good); err != nil {
			t.Fatal(err)
		}
		if p, err = d.PrincipalByConnection(ctx, c.ID, r.FamilyID, "j", clock.Now()); err != nil || !slices.Equal(p.Scopes, []string{"home:read", "home:write"}) {
			t.Errorf("write does not imply read: %+v, %v", p, err)
		}
		five, until := 5.0, clock.Now().Add(time.Hour)
		good.Tools, good.ExpiresAt = &toolgrant.Grant{Limits: map[string]map[string]toolgrant.Rule{"thing_find": {"limit": {Maximum: &five}}}}, &until
		good.Terms.HiddenTools = nil
		if err := service.Edit(ctx, ada, c.ID, good); err != nil {
			t.Fatal(err)
		}
		p, err = d.PrincipalByConnection(ctx, c.ID, r.FamilyID, "j", clock.Now())
		if err != nil || !p.Tools.Limited("thing_find") || p.Tools.Listed {
			t.Errorf("RA-3 the next call sees the tools %+v, %v", p, err)
		}
		list, err := service.List(ctx, ada)
		if err != nil || len(list) != 1 || list[0].ExpiresAt == nil || !list[0].ExpiresAt.Equal(until) || !list[0].Tools.Limited("thing_find") {
			t.Errorf("CS-4 the list shows %+v, %v", list, err)
		}
		if grant, err := d.Grant(ctx, c.ID); err != nil || string(grant.Details) != `[{"type":"mcp_tools","locations":["`+testResource+`"],"limits":{"thing_find":{"limit":{"maximum":5}}}}]` {
			t.Errorf("RA-2 the client is told %s, %v", grant.Details, err)
		}
		good.Tools, good.ExpiresAt = nil, nil
		if err := service.Edit(ctx, ada, c.ID, good); err != nil {
			t.Fatal(err)
		}
		if p, err := d.PrincipalByConnection(ctx, c.ID, r.FamilyID, "j", until); err != nil || p.Tools != nil {
			t.Errorf("after limits and end were lifted: %+v, %v", p, err)
		}
	})
}

func TestTokenOfAFormSentTwice(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) {
		s := seed{t, d}
		ada, _, homes := s.home(clock, 1)
		row := account.TokenRow{Hash: oauth.HashSecret("secret"), PersonalToken: account.PersonalToken{
			ID: uuid.NewString(), UserID: ada, Name: "Script", Lookup: "abcdefgh", Scope: account.TokenRead, LocationIDs: homes, CreatedAt: clock.Now(),
		}}
		allow := func(account.TokenFacts) error { return nil }
		if err := d.InsertToken(t.Context(), row, allow); err != nil {
			t.Fatal(err)
		}
		row.ID = uuid.NewString()
		if err := d.InsertToken(t.Context(), row, allow); !errors.Is(err, account.ErrRepeated) {
			t.Errorf("the same secret again: %v", err)
		}
		if list, err := d.TokensOf(t.Context(), ada); err != nil || len(list) != 1 {
			t.Errorf("%d tokens, %v", len(list), err)
		}
	})
}

func TestConnectionEnds(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) {
		ctx := context.Background()
		s, service := seed{t, d}, connections(d, clock)
		ada, client, homes := s.home(clock, 1)
		bob := s.user("Bob")
		c, r1 := s.connect(ada, client, clock.Now(), homes...)
		_, r2 := s.connect(ada, client, clock.Now(), homes...)
		read := func(family string) error {
			_, err := d.PrincipalByConnection(ctx, c.ID, family, "j", clock.Now())
			return err
		}
		if err := service.EndInstallation(ctx, bob, r1.FamilyID); !errors.Is(err, connection.ErrNotFound) {
			t.Errorf("ending somebody else's installation: %v", err)
		}
		if err := service.EndInstallation(ctx, ada, r1.FamilyID); err != nil {
			t.Fatal(err)
		}
		if err := read(r1.FamilyID); !errors.Is(err, oauth.ErrEnded) {
			t.Errorf("settled-3 the ended installation gives %v", err)
		}
		if err := read(r2.FamilyID); err != nil {
			t.Errorf("settled-3 the other installation gives %v", err)
		}
		if err := service.Disconnect(ctx, bob, c.ID); !errors.Is(err, connection.ErrNotFound) {
			t.Errorf("ending somebody else's connection: %v", err)
		}
		if err := service.Disconnect(ctx, ada, c.ID); err != nil {
			t.Fatal(err)
		}
		if err := read(r2.FamilyID); !errors.Is(err, oauth.ErrEnded) {
			t.Errorf("KE-120 after Disconnect the next call gives %v", err)
		}
		if err := service.Disconnect(ctx, ada, c.ID); !errors.Is(err, connection.ErrNotFound) {
			t.Errorf("disconnecting twice: %v", err)
		}
		if list, err := service.List(ctx, ada); err != nil || len(list) != 0 {
			t.Errorf("the list still shows %+v, %v", list, err)
		}
		if got, err := service.Get(ctx, ada, c.ID); err != nil || got.EndedReason != connection.EndedByUser || got.EndedAt == nil {
			t.Errorf("the ended connection reads %+v, %v", got, err)
		}
		if err := service.Edit(ctx, ada, c.ID, connection.Edit{}); !errors.Is(err, connection.ErrNotFound) {
			t.Errorf("editing an ended connection: %v", err)
		}
		other, r3 := s.connect(ada, client, clock.Now(), homes...)
		if err := service.End(ctx, other.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := d.PrincipalByConnection(ctx, other.ID, r3.FamilyID, "j", clock.Now()); !errors.Is(err, oauth.ErrEnded) {
			t.Errorf("an administrator's end gives %v", err)
		}
	})
}

func TestKnownClients(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) {
		ctx := context.Background()
		s := seed{t, d}
		ada, client, homes := s.home(clock, 1)
		c, r := s.connect(ada, client, clock.Now(), homes...)
		clients := &connection.Clients{Store: d, Now: clock.Now, Register: func(_ context.Context, _ []byte) (string, string, error) {
			return s.client("added", clock.Now()).ID, "once", nil
		}}
		id, secret, err := clients.Add(ctx, connection.NewClient{Name: "Added", RedirectURIs: []string{"https://a.example/cb"}, Confidential: true})
		if err != nil || id != "added" || secret != "once" {
			t.Fatalf("adding gives %q, %v", id, err)
		}
		if err := clients.Block(ctx, client); err != nil {
			t.Fatal(err)
		}
		list, err := clients.List(ctx)
		if err != nil || len(list) != 2 {
			t.Fatalf("the list is %+v, %v", list, err)
		}
		for _, k := range list {
			if k.ID == client && (k.BlockedAt == nil || k.Connections != 1 || !k.Public) || k.ID == "added" && k.Kind != "registered" {
				t.Errorf("the client is %+v", k)
			}
		}
		if err := clients.Unblock(ctx, client); err != nil {
			t.Fatal(err)
		}
		if err := clients.Delete(ctx, client); err != nil {
			t.Fatal(err)
		}
		if _, err := d.PrincipalByConnection(ctx, c.ID, r.FamilyID, "j", clock.Now()); !errors.Is(err, oauth.ErrEnded) {
			t.Errorf("RT-7 the deleted client's connection gives %v", err)
		}
		for name, err := range map[string]error{"block": clients.Block(ctx, "no"), "unblock": clients.Unblock(ctx, "no"), "delete": clients.Delete(ctx, client)} {
			if !errors.Is(err, connection.ErrNotFound) {
				t.Errorf("%s of an unknown client: %v", name, err)
			}
		}
	})
}
