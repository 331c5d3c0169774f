package db_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"gatehouse/app/account"
	"gatehouse/app/activity"
	"gatehouse/app/home"
	"gatehouse/app/inventory"
	"gatehouse/db"
	"gatehouse/db/dbtest"
)

// house is a person with a location and the inventory's services, on one database.
type house struct {
	t     testing.TB
	d     *db.DB
	clock *dbtest.Clock
	s     *inventory.Service
	p     *home.Principal
	loc   string
	at    inventory.At
}

var allModules = home.EffectiveModules([]string{"labels", "money", "warranties", "schedules", "lending", "paperwork", "vehicles",
	"fuel", "consumables", "moving", "secrets", "mcp", "console"})

func newHouse(t testing.TB, d *db.DB, clock *dbtest.Clock) *house {
	t.Helper()
	h := &house{t: t, d: d, clock: clock, s: inventory.New(inventory.Options{Store: d, Now: clock.Now, Rand: rand.Reader, PublicURL: "https://my.host"})}
	h.p, h.loc = h.person("Ada")
	return h
}

// eachHouse runs f on both databases.
func eachHouse(t *testing.T, f func(t *testing.T, h *house)) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) { f(t, newHouse(t, d, clock)) })
}

// person makes a person with a location of their own, and the principal of a connection to it.
func (h *house) person(name string) (*home.Principal, string) {
	h.t.Helper()
	user, loc := newID(h.t), newID(h.t)
	c := account.Credentials{Person: account.Person{ID: user, Email: user + "@example.org", Name: name, Locale: "en", CreatedAt: h.clock.Now()}}
	if err := h.d.InsertPerson(context.Background(), c, account.FirstLocation{ID: loc, Name: name + "'s home", TimeZone: "Europe/Madrid", Currency: "EUR"}); err != nil {
		h.t.Fatal(err)
	}
	p := &home.Principal{
		UserID: user, UserName: name, Actor: home.ActorConnection, ConnectionID: newID(h.t), Scopes: []string{home.ScopeWrite},
		Via: "mcp", RequestID: "r1", IP: "192.0.2.1",
	}
	p.Locations = []home.Access{access(loc, home.Owner)}
	return p, loc
}

func access(loc string, role home.Role) home.Access {
	return home.Access{LocationID: loc, Name: "Home", Role: role, TimeZone: "Europe/Madrid", Currency: "EUR", Currencies: []string{"EUR"}, Modules: allModules}
}

func (h *house) exec(text string, args ...any) {
	h.t.Helper()
	if err := db.ExecForTest(h.d, text, args...); err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) count(text string, args ...any) int {
	h.t.Helper()
	n, err := db.CountForTest(h.d, text, args...)
	if err != nil {
		h.t.Fatal(err)
	}
	return n
}

func (h *house) trash(table, id string) {
	h.t.Helper()
	h.exec(`UPDATE `+table+` SET trashed_at = ? WHERE id = ?`, db.TimeForTest(h.d, h.clock.Now()), id)
}

func (h *house) brand(name string) string {
	id, at := newID(h.t), db.TimeForTest(h.d, seedTime)
	h.exec(`INSERT INTO brands (id, location_id, name, name_key, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)`,
		id, h.loc, name, inventory.NameKey(name), at, at)
	return id
}

func (h *house) ownType(name, fields string) string {
	id, at := newID(h.t), db.TimeForTest(h.d, seedTime)
	h.exec(`INSERT INTO types (id, location_id, key, name, name_key, fields, is_container, is_consumable, is_vehicle, created_at, updated_at)
		VALUES (?, ?, 'own', ?, ?, ?, ?, ?, ?, ?, ?)`, id, h.loc, name, inventory.NameKey(name), fields, false, false, false, at, at)
	return id
}

func (h *house) place(name, parent string) inventory.PlaceRef {
	h.t.Helper()
	r, err := h.s.CreatePlace(context.Background(), h.p, h.at, inventory.CreatePlaceInput{Name: name, ParentID: parent})
	if err != nil {
		h.t.Fatal(err)
	}
	return r.Place
}

func (h *house) add(items ...inventory.AddItem) []inventory.ThingRef {
	h.t.Helper()
	r, err := h.s.AddThings(context.Background(), h.p, h.at, items)
	if err != nil {
		h.t.Fatal(err)
	}
	return r.Things
}

// thing adds one thing of the name, changed by with.
func (h *house) thing(name string, with ...func(*inventory.AddItem)) inventory.ThingRef {
	h.t.Helper()
	item := inventory.AddItem{Name: name}
	for _, f := range with {
		f(&item)
	}
	return h.add(item)[0]
}

func in(place string) func(*inventory.AddItem) {
	return func(i *inventory.AddItem) { i.PlaceID = place }
}

func inBox(container string) func(*inventory.AddItem) {
	return func(i *inventory.AddItem) { i.ContainerID = container }
}

func isBox(i *inventory.AddItem) { i.Type = ptr("box") }

func ptr[T any](v T) *T { return &v }

func (h *house) get(id string) inventory.ThingDetail {
	h.t.Helper()
	d, err := h.s.GetThing(context.Background(), h.p, h.at, id)
	if err != nil {
		h.t.Fatal(err)
	}
	return d
}

func (h *house) update(id string, fields string) (inventory.UpdateResult, error) {
	h.t.Helper()
	in := inventory.UpdateInput{ThingID: id, Fields: &inventory.UpdateFields{}}
	if err := json.Unmarshal([]byte(fields), in.Fields); err != nil {
		h.t.Fatal(err)
	}
	return h.s.UpdateThing(context.Background(), h.p, h.at, in)
}

func (h *house) events() []activity.Record {
	h.t.Helper()
	list, err := h.d.LocationEvents(context.Background(), h.loc, 0, 10_000)
	if err != nil {
		h.t.Fatal(err)
	}
	return list
}

func (h *house) last() activity.Record {
	h.t.Helper()
	list := h.events()
	if len(list) == 0 {
		h.t.Fatal("no events")
	}
	return list[len(list)-1]
}

// names are those of a search's hits.
func (h *house) names(in inventory.SearchInput) []string {
	h.t.Helper()
	if in.Limit == 0 {
		in.Limit = 200
	}
	r, err := h.s.SearchThings(context.Background(), h.p, h.at, in)
	if err != nil {
		h.t.Fatal(err)
	}
	var out []string
	for _, hit := range r.Items {
		out = append(out, hit.Name)
	}
	return out
}

func wantCode(t testing.TB, err error, code inventory.Code, path string) *inventory.Error {
	t.Helper()
	var e *inventory.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want %s", err, code)
	}
	if e.Code != code {
		t.Fatalf("got %v, want %s", e, code)
	}
	if path != "" && !slices.ContainsFunc(e.Details, func(f inventory.FieldError) bool { return f.Path == path }) {
		t.Fatalf("got %+v, want a complaint about %s", e.Details, path)
	}
	return e
}

func wantEqual[T comparable](t testing.TB, what string, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
