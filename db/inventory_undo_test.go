package db_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gatehouse/app/activity"
	"gatehouse/app/home"
	"gatehouse/app/inventory"
)

// person is the house's person at a browser; the writes of the tests come through their connection.
func (h *house) browser() *home.Principal {
	p := *h.p
	p.Actor, p.ConnectionID, p.Scopes, p.Via = home.ActorSession, "", nil, "web"
	return &p
}

func (h *house) undo(id string) error { return h.undoAs(h.browser(), id) }

func (h *house) undoAs(p *home.Principal, id string) error {
	_, err := h.s.UndoEntry(context.Background(), p, id)
	return err
}

// undone undoes the entry, which must work, and gives the event that says so.
func (h *house) undone(what, id string) activity.Record {
	h.t.Helper()
	u, err := h.s.UndoEntry(context.Background(), h.browser(), id)
	if err != nil {
		h.t.Fatalf("%s: %v %+v", what, err, err)
	}
	last := h.last()
	if last.ID != u.EventID || last.Action != "audit.undo" || last.UndoOf != id || u.UndoOf != id || last.Undo != nil || last.UndoUntil != nil || last.Actor.Type != activity.ActorUser {
		h.t.Errorf("KE-87 %s: the undo's entry is %+v", what, last)
	}
	if e := h.event(id); e.UndoneBy != u.EventID {
		h.t.Errorf("KE-87 %s: undone_by is %q", what, e.UndoneBy)
	}
	wantReason(h.t, what+" twice", h.undo(id), inventory.ReasonAlreadyUndone)
	return last
}

func (h *house) event(id string) activity.Record {
	h.t.Helper()
	for _, e := range h.events() {
		if e.ID == id {
			return e
		}
	}
	h.t.Fatalf("no event %s", id)
	return activity.Record{}
}

func wantReason(t testing.TB, what string, err error, reason inventory.UndoReason) inventory.UndoRefusal {
	t.Helper()
	var e *inventory.Error
	if !errors.As(err, &e) || e.Code != inventory.CodeUndoRefused || len(e.Refusals) != 1 || e.Refusals[0].Reason != reason {
		t.Errorf("KE-87 %s: got %v %+v, want %s", what, err, e, reason)
		return inventory.UndoRefusal{}
	}
	return e.Refusals[0]
}

// is checks what a thing is like now, apart from its version and times.
func (h *house) is(what string, before inventory.ThingDetail) {
	h.t.Helper()
	now := h.get(before.ID)
	if now.RowVersion <= before.RowVersion {
		h.t.Errorf("KE-87 %s: the version is %d after %d", what, now.RowVersion, before.RowVersion)
	}
	now.RowVersion, now.UpdatedAt = before.RowVersion, before.UpdatedAt
	if got, want := string(mustJSON(h.t, now)), string(mustJSON(h.t, before)); got != want {
		h.t.Errorf("KE-87 %s: after the undo\n%s\nbefore\n%s", what, got, want)
	}
}

func TestUndoRestoresEveryChange(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		h.brand("Nordkap")
		h.ownType("Lamp", `[{"key":"watts","label":"Watts","kind":"number"},{"key":"colour","label":"Colour","kind":"text"}]`)
		garage := h.place("Garage", "")
		box := h.thing("Crate", isBox, in(garage.ID))
		lamp := h.thing("Lamp", func(i *inventory.AddItem) {
			i.Type, i.Model, i.Tags, i.Aliases = ptr("lamp"), ptr("GSR"), []string{"warm", "old"}, []string{"Leuchte"}
			i.Custom = map[string]json.RawMessage{"watts": json.RawMessage("7.5"), "colour": json.RawMessage(`"red"`)}
			i.Value = &inventory.MoneyInput{Amount: "12.50", Currency: "EUR"}
		})
		salt := h.thing("Salt", func(i *inventory.AddItem) { i.Type, i.Quantity = ptr("consumable"), ptr(3) })
		for _, c := range []struct {
			name, id, fields string
			entries          int
		}{
			{"thing.update texts", lamp.ID, `{"name":"Torch","model":null,"serial":"S","notes":"n","condition":"good","aliases":null,"acquired_on":"2025-01-02","brand":"nordkap"}`, 1},
			{"thing.update quantity and value", lamp.ID, `{"quantity":4,"value":null}`, 1},
			{"thing.update custom", lamp.ID, `{"custom":{"watts":9,"colour":null}}`, 1},
			{"thing.update container", lamp.ID, `{"is_container":true,"value":{"amount":"1","currency":"EUR"}}`, 1},
			{"thing.retype drops custom", lamp.ID, `{"type":"tool"}`, 1},
			{"thing.retype to none", lamp.ID, `{"type":null}`, 1},
			{"thing.tags with a new one", lamp.ID, `{"tags":["warm","brand new"]}`, 1},
			{"thing.tags none", lamp.ID, `{"tags":null}`, 1},
			{"thing.minimum", salt.ID, `{"minimum":2}`, 1},
		} {
			before := h.get(c.id)
			r, err := h.update(c.id, c.fields)
			if err != nil || len(r.AuditEventIDs) != c.entries {
				t.Fatalf("%s: %v %+v", c.name, err, r)
			}
			h.clock.Advance(time.Second)
			undo := h.undone(c.name, r.AuditEventIDs[0])
			h.is(c.name, before)
			if undo.SubjectVersion != h.get(c.id).RowVersion || len(undo.Changes) == 0 {
				t.Errorf("KE-70 %s: the undo's entry has version %d and changes %v", c.name, undo.SubjectVersion, undo.Changes)
			}
		}
		if n := h.count(`SELECT count(*) FROM tags WHERE name_key = 'brand new'`); n != 1 {
			t.Error("KE-87 the companion tag.create stays")
		}
		before := h.get(lamp.ID)
		r, err := h.s.MoveThing(context.Background(), h.p, h.at, inventory.MoveInput{ThingID: lamp.ID, ToContainerID: box.ID})
		if err != nil {
			t.Fatal(err)
		}
		h.undone("thing.move", r.AuditEventIDs[0])
		h.is("thing.move", before)
		if got := h.names(inventory.SearchInput{Query: "crate lamp"}); len(got) != 0 {
			t.Errorf("KE-87 found under its place of before the undo: %v", got)
		}
		if got := h.names(inventory.SearchInput{Query: "unplaced lamp"}); len(got) != 1 {
			t.Errorf("KE-87 not found under its place: %v", got)
		}
	})
}

func TestUndoSplitTrashAndPlaces(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		ctx := context.Background()
		garage := h.place("Garage", "")
		made := h.last().ID
		screws := h.thing("Screws", func(i *inventory.AddItem) { i.Quantity = ptr(10) })
		added := h.last().ID
		split, err := h.s.MoveThing(ctx, h.p, h.at, inventory.MoveInput{ThingID: screws.ID, ToPlaceID: garage.ID, Quantity: ptr(4)})
		if err != nil {
			t.Fatal(err)
		}
		wantReason(t, "thing.create after a split", h.undo(added), inventory.ReasonChangedSince)
		wantReason(t, "place.create with a thing in it", h.undo(made), inventory.ReasonInUse)
		companion := h.last()
		wantReason(t, "a companion alone", h.undo(companion.ID), inventory.ReasonNotUndoable)
		if _, err := h.update(split.Thing.ID, `{"notes":"mine"}`); err != nil {
			t.Fatal(err)
		}
		note := h.last().ID
		refusal := wantReason(t, "a split whose part changed", h.undo(split.AuditEventIDs[0]), inventory.ReasonChangedSince)
		wantEqual(t, "KE-87 fields", refusal.Fields, []string{"notes"})
		h.undone("the note", note)
		h.undone("thing.split", split.AuditEventIDs[0])
		if d := h.get(screws.ID); d.Quantity != 10 {
			t.Errorf("KE-87 the quantities do not join: %d", d.Quantity)
		}
		_, err = h.s.GetThing(ctx, h.p, h.at, split.Thing.ID)
		wantCode(t, err, "not_found", "")
		if h.event(companion.ID).UndoneBy != h.event(split.AuditEventIDs[0]).UndoneBy {
			t.Error("KE-87 the companion is undone with its main entry")
		}
		h.undone("thing.create", added)
		if got := h.names(inventory.SearchInput{Query: "screws"}); len(got) != 0 {
			t.Errorf("KE-87 found in the trash: %v", got)
		}
		if n := h.count(`SELECT count(*) FROM search_tokens`); n != 0 {
			t.Errorf("KE-87 %d search tokens of things in the trash", n)
		}
		if n := h.count(`SELECT count(*) FROM things WHERE trashed_at IS NOT NULL AND trashed_by = ?`, h.p.UserID); n != 2 {
			t.Errorf("KE-87 %d things in the trash", n)
		}
		shelf := h.place("Shelf", garage.ID)
		wantReason(t, "place.create with a place in it", h.undo(made), inventory.ReasonInUse)
		h.undone("place.create", h.last().ID)
		h.undone("place.create", made)
		if again := h.place("Garage", ""); again.ID == garage.ID || shelf.ID == "" {
			t.Error("KE-87 the name of a place in the trash is free")
		}
		box := h.thing("Box", isBox)
		boxed := h.last().ID
		h.thing("Cup", inBox(box.ID))
		wantReason(t, "thing.create of a box that holds something", h.undo(boxed), inventory.ReasonInUse)
	})
}

func TestUndoPurchase(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		drill := h.thing("Drill")
		added := h.last().ID
		buy := func(in inventory.PurchaseInput) string {
			t.Helper()
			r, err := h.s.UpdateThing(context.Background(), h.p, h.at, inventory.UpdateInput{ThingID: drill.ID, Purchase: &in})
			if err != nil {
				t.Fatal(err)
			}
			return r.AuditEventIDs[0]
		}
		create := buy(inventory.PurchaseInput{Seller: ptr("Shop"), Price: &inventory.MoneyInput{Amount: "9.90", Currency: "EUR"}})
		before := h.get(drill.ID)
		update := buy(inventory.PurchaseInput{Seller: ptr(""), Reference: ptr("A-1"), Price: &inventory.MoneyInput{Amount: "10", Currency: "EUR"}})
		refusal := wantReason(t, "purchase.create changed since", h.undo(create), inventory.ReasonChangedSince)
		wantEqual(t, "KE-87 fields", refusal.Fields, []string{"purchase.price", "purchase.reference", "purchase.seller"})
		wantReason(t, "thing.create with a purchase", h.undo(added), inventory.ReasonChangedSince)
		h.undone("purchase.update", update)
		h.is("purchase.update", before)
		h.undone("purchase.create", create)
		if h.get(drill.ID).Purchase != nil || h.count(`SELECT count(*) FROM purchases`) != 0 {
			t.Error("KE-87 the purchase is still there")
		}
		again := buy(inventory.PurchaseInput{Seller: ptr("Other")})
		h.undone("a second purchase", again)
		h.undone("thing.create", added)
	})
}

func TestUndoRefusals(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		ctx := context.Background()
		garage := h.place("Garage", "")
		box := h.thing("Box", isBox, in(garage.ID))
		drill := h.thing("Drill", inBox(box.ID))
		change := func(fields string) string {
			t.Helper()
			r, err := h.update(drill.ID, fields)
			if err != nil {
				t.Fatal(err)
			}
			return r.AuditEventIDs[0]
		}
		name, notes := change(`{"name":"Borer","model":"A"}`), change(`{"notes":"x"}`)
		other := change(`{"name":"Auger"}`)
		refusal := wantReason(t, "changed since", h.undo(name), inventory.ReasonChangedSince)
		wantEqual(t, "KE-87 fields", refusal.Fields, []string{"name"})
		if by := refusal.ChangedBy; by == nil || by.Type != "connection" || by.ID != h.p.ConnectionID || by.Name != "Ada" {
			t.Errorf("KE-87 changed by %+v", refusal.ChangedBy)
		}
		h.undone("a change of other fields", notes)
		h.undone("the later change", other)
		h.undone("the first change, since what came after is undone", name)
		r, err := h.s.MoveThing(ctx, h.p, h.at, inventory.MoveInput{ThingID: drill.ID, ToPlaceID: garage.ID})
		if err != nil {
			t.Fatal(err)
		}
		h.trash("things", box.ID)
		wantReason(t, "the old container is in the trash", h.undo(r.AuditEventIDs[0]), inventory.ReasonInUse)
		h.exec(`UPDATE things SET trashed_at = NULL, is_container = ? WHERE id = ?`, false, box.ID)
		wantReason(t, "the old container is none any more", h.undo(r.AuditEventIDs[0]), inventory.ReasonInUse)
		many := change(`{"quantity":5}`)
		one := change(`{"quantity":1,"notes":"y"}`)
		container := change(`{"is_container":true}`)
		wantReason(t, "a container of five", h.undo(one), inventory.ReasonInUse)
		h.undone("is_container", container)
		h.undone("quantity", one)
		h.undone("quantity", many)
		undo := h.last().ID
		wantReason(t, "an undo", h.undo(undo), inventory.ReasonNotUndoable)
		wantCode(t, h.undo(newID(t)), "not_found", "")
		wantCode(t, h.undo("x"), "not_found", "")
		late := change(`{"notes":"late"}`)
		h.clock.Advance(7*24*time.Hour - time.Millisecond)
		last := h.event(late)
		h.clock.Advance(time.Millisecond)
		wantReason(t, "after 7 days", h.undo(late), inventory.ReasonExpired)
		if !last.UndoUntil.Equal(last.At.Add(7 * 24 * time.Hour)) {
			t.Errorf("KE-87 undo until %v", last.UndoUntil)
		}
		fresh := change(`{"notes":"fresh"}`)
		h.clock.Advance(7*24*time.Hour - time.Millisecond)
		h.undone("a moment before 7 days are over", fresh)
		secret := change(`{"notes":"secret"}`)
		h.exec(`UPDATE events SET changes = ? WHERE id = ?`, `[{"field":"custom.pin","secret":true}]`, secret)
		wantReason(t, "a secret's value", h.undo(secret), inventory.ReasonNotUndoable)
		h.trash("things", drill.ID)
		h.exec(`UPDATE events SET changes = ? WHERE id = ?`, `[{"field":"notes"}]`, secret)
		wantReason(t, "the thing is in the trash", h.undo(secret), inventory.ReasonInUse)
	})
}

func TestUndoWho(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		drill := h.thing("Drill")
		other, _ := h.person("Eve")
		stranger := *other
		stranger.Actor = home.ActorSession
		as := func(role home.Role, own bool) *home.Principal {
			p := h.browser()
			if !own {
				p.UserID = other.UserID
			}
			p.Locations = []home.Access{access(h.loc, role)}
			return p
		}
		token := func(id string) *home.Principal {
			p := h.browser()
			p.Actor, p.TokenID, p.Scopes = home.ActorToken, id, []string{home.ScopeWrite}
			return p
		}
		reader := token("")
		reader.Scopes = []string{home.ScopeRead}
		for _, c := range []struct {
			name string
			p    *home.Principal
			code inventory.Code
		}{
			{"own entry, member", as(home.Member, true), ""},
			{"own entry, viewer now", as(home.Viewer, true), "forbidden"},
			{"another's entry, member", as(home.Member, false), "forbidden"},
			{"another's entry, viewer", as(home.Viewer, false), "forbidden"},
			{"another's entry, admin", as(home.Admin, false), ""},
			{"another's entry, owner", as(home.Owner, false), ""},
			{"not a member", &stranger, "not_found"},
			{"KE-77 the connection itself", h.p, "forbidden"},
			{"a personal token, another's entry", token(newID(t)), "forbidden"},
			{"KE-104 a token that may only read", reader, "token_scope"},
		} {
			r, err := h.update(drill.ID, `{"notes":"`+c.name+`"}`)
			if err != nil {
				t.Fatal(err)
			}
			err = h.undoAs(c.p, r.AuditEventIDs[0])
			if c.code == "" && err != nil || c.code != "" && !errors.Is(err, &inventory.Error{Code: c.code}) {
				t.Errorf("KE-87 %s: %v, want %q", c.name, err, c.code)
			}
		}
		own := token(newID(t))
		h.p = own
		r, err := h.update(drill.ID, `{"notes":"by the token"}`)
		if err != nil {
			t.Fatal(err)
		}
		if err := h.undoAs(own, r.AuditEventIDs[0]); err != nil {
			t.Errorf("KE-87 a personal token undoes its own entry: %v", err)
		}
		through := inventory.Through{TokenID: own.TokenID}
		if _, err := h.update(drill.ID, `{"notes":"again"}`); err != nil {
			t.Fatal(err)
		}
		page, err := h.s.Activity(context.Background(), h.browser(), through, inventory.Paging{})
		if err != nil || len(page.Items) != 3 || page.Items[0].UndoUntil == nil || page.Items[2].UndoneAt == nil || page.Items[1].Summary != "Undid a change of “Drill”." {
			t.Errorf("KE-138 what a token wrote: %v %+v", err, page.Items)
		}
		if out, err := h.s.UndoThrough(context.Background(), own, through, time.Time{}); err != nil || len(out.Undone) != 1 {
			t.Errorf("KE-87 everything of a token: %v %+v", err, out)
		}
		if e := h.last(); e.Actor.Type != activity.ActorToken || e.Actor.TokenID != own.TokenID {
			t.Errorf("KE-138 %+v", e.Actor)
		}
	})
}

func TestTwentyParallelUndos(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		drill := h.thing("Drill")
		r, err := h.update(drill.ID, `{"notes":"x"}`)
		if err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var wg sync.WaitGroup
		won, lost := 0, 0
		for range 20 {
			wg.Go(func() {
				err := h.undo(r.AuditEventIDs[0])
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					won++
				} else if wantReason(t, "a parallel undo", err, inventory.ReasonAlreadyUndone).EventID != "" {
					lost++
				}
			})
		}
		wg.Wait()
		if won != 1 || lost != 19 {
			t.Errorf("KE-87 twenty parallel undos: %d won, %d lost", won, lost)
		}
		if d := h.get(drill.ID); d.RowVersion != 3 || d.Notes != "" {
			t.Errorf("KE-87 %+v", d)
		}
		for i, e := range h.events() {
			if e.Seq != int64(i+1) {
				t.Errorf("refused undos used up numbers: event %d has %d", i+1, e.Seq)
			}
		}
	})
}

func TestUndoAllOrEach(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		ctx := context.Background()
		run := func(mode string, ids ...string) (inventory.UndoResult, error) {
			return h.s.UndoEntries(ctx, h.browser(), inventory.UndoInput{EventIDs: ids, Mode: mode})
		}
		salt := h.thing("Salt", func(i *inventory.AddItem) { i.Type, i.Quantity = ptr("consumable"), ptr(3) })
		added := h.last().ID
		h.update(salt.ID, `{"minimum":2}`)
		before := h.get(salt.ID)
		r, err := h.update(salt.ID, `{"type":"tool","name":"Hammer","tags":["new"]}`)
		if err != nil || len(r.AuditEventIDs) != 4 {
			t.Fatalf("%v %+v", err, r)
		}
		wantReason(t, "a minimum without a consumable", h.undo(r.AuditEventIDs[3]), inventory.ReasonInUse)
		companion := h.events()[len(h.events())-2]
		if companion.CompanionOf == "" {
			t.Fatalf("no companion: %+v", companion)
		}
		version := h.get(salt.ID).RowVersion
		if _, err := run("", append(slices.Clone(r.AuditEventIDs), added)...); !errors.Is(err, &inventory.Error{Code: "undo_refused"}) || h.get(salt.ID).RowVersion != version {
			t.Errorf("KE-75 all or nothing: %v", err)
		}
		unknown := newID(t)
		if _, err := run("all", r.AuditEventIDs[0], unknown); wantReason(t, "an unknown id", err, inventory.ReasonNotFound).EventID != unknown {
			t.Errorf("KE-75 %v", err)
		}
		out, err := run("all", append(slices.Clone(r.AuditEventIDs), companion.ID)...)
		if err != nil || len(out.Undone) != 4 || len(out.Refused) != 0 {
			t.Fatalf("KE-75 a companion is skipped, and entries that depend on each other are undone together: %v %+v", err, out)
		}
		h.is("all", before)
		last := h.events()[len(h.events())-4:]
		if last[0].BatchID != last[3].BatchID || last[0].UndoOf != r.AuditEventIDs[2] {
			t.Errorf("KE-75 one batch, the newest first: %+v", last)
		}
		out, err = run("each", r.AuditEventIDs[0], unknown)
		if err != nil || len(out.Undone) != 0 || len(out.Refused) != 2 {
			t.Errorf("KE-75 each: %v %+v", err, out)
		}
		r, _ = h.update(salt.ID, `{"notes":"a","minimum":5}`)
		batch := h.last().BatchID
		all, err := h.s.UndoEntries(ctx, h.browser(), inventory.UndoInput{BatchID: batch})
		if err != nil || len(all.Undone) != 2 || len(r.AuditEventIDs) != 2 {
			t.Errorf("KE-75 a batch: %v %+v", err, all)
		}
		h.is("a batch", before)
		many := make([]string, 201)
		for _, in := range []inventory.UndoInput{{}, {EventIDs: []string{added}, BatchID: batch}, {EventIDs: many}, {EventIDs: []string{added}, Mode: "some"}} {
			_, err := h.s.UndoEntries(ctx, h.browser(), in)
			wantCode(t, err, "validation", "")
		}
		_, err = h.s.UndoEntries(ctx, h.browser(), inventory.UndoInput{BatchID: unknown})
		wantCode(t, err, "not_found", "")
		eve, second := h.person("Eve")
		if _, err := h.s.AddThings(ctx, eve, inventory.At{}, []inventory.AddItem{{Name: "Cup"}}); err != nil {
			t.Fatal(err)
		}
		foreign, err := h.d.LocationEvents(ctx, second, 0, 1)
		if err != nil {
			t.Fatal(err)
		}
		both := h.browser()
		both.Locations = append(both.Locations, access(second, home.Owner))
		_, err = h.s.UndoEntries(ctx, both, inventory.UndoInput{EventIDs: []string{added, foreign[0].ID}})
		wantCode(t, err, "validation", "event_ids")
	})
}

func TestUndoConnection(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		ctx := context.Background()
		old := h.thing("Old")
		h.clock.Advance(time.Hour)
		since := h.clock.Now()
		h.add(inventory.AddItem{Name: "Tent", NewPlace: &inventory.NewPlace{Name: "Attic"}}, inventory.AddItem{Name: "Stove", NewPlace: &inventory.NewPlace{Name: "attic"}})
		box := h.thing("Box", isBox)
		if _, err := h.s.MoveThing(ctx, h.p, h.at, inventory.MoveInput{ThingID: old.ID, ToContainerID: box.ID}); err != nil {
			t.Fatal(err)
		}
		if _, err := h.update(old.ID, `{"name":"Renamed"}`); err != nil {
			t.Fatal(err)
		}
		// The person changes the name on top, by hand.
		app := h.p
		h.p = h.browser()
		if _, err := h.update(old.ID, `{"name":"By hand"}`); err != nil {
			t.Fatal(err)
		}
		person := h.p
		eve, _ := h.person("Eve")
		guest := *eve
		guest.Actor, guest.Locations = home.ActorSession, []home.Access{access(h.loc, home.Member)}
		if out, err := h.s.UndoThrough(ctx, &guest, inventory.Through{ConnectionID: app.ConnectionID}, time.Time{}); err != nil || len(out.Undone)+len(out.Refused) != 0 {
			t.Errorf("KE-87 what the caller may not undo is left out: %v %+v", err, out)
		}
		out, err := h.s.UndoThrough(ctx, person, inventory.Through{ConnectionID: app.ConnectionID}, since)
		if err != nil || len(out.Undone) != 5 || len(out.Refused) != 1 || out.More {
			t.Fatalf("KE-87 %v %+v", err, out)
		}
		refusal := out.Refused[0]
		if refusal.Reason != inventory.ReasonChangedSince || refusal.ChangedBy.Type != "user" || refusal.ChangedBy.Name != "Ada" {
			t.Errorf("KE-87 %+v", refusal)
		}
		if d := h.get(old.ID); d.Name != "By hand" || strings.Join(d.Path, "/") != "Unplaced" {
			t.Errorf("KE-87 %+v", d)
		}
		if got := h.names(inventory.SearchInput{}); len(got) != 1 || h.count(`SELECT count(*) FROM places WHERE trashed_at IS NULL AND location_id = ?`, h.loc) != 1 {
			t.Errorf("KE-87 left over: %v", got)
		}
		_, err = h.s.UndoThrough(ctx, app, inventory.Through{ConnectionID: app.ConnectionID}, time.Time{})
		wantCode(t, err, "forbidden", "")
		if out, err := h.s.UndoThrough(ctx, person, inventory.Through{ConnectionID: newID(t)}, time.Time{}); err != nil || len(out.Undone) != 0 {
			t.Errorf("another connection: %v %+v", err, out)
		}
		h.clock.Advance(7 * 24 * time.Hour)
		if out, err := h.s.UndoThrough(ctx, person, inventory.Through{ConnectionID: app.ConnectionID}, time.Time{}); err != nil || len(out.Undone)+len(out.Refused) != 0 {
			t.Errorf("KE-87 after 7 days: %v %+v", err, out)
		}
	})
}

func TestConnectionActivity(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		ctx := context.Background()
		drill := h.thing("Drill")
		garage := h.place("Garage", "")
		if _, err := h.s.MoveThing(ctx, h.p, h.at, inventory.MoveInput{ThingID: drill.ID, ToPlaceID: garage.ID}); err != nil {
			t.Fatal(err)
		}
		if _, err := h.update(drill.ID, `{"value":{"amount":"12.5","currency":"EUR"},"is_container":true,"tags":["a","b"]}`); err != nil {
			t.Fatal(err)
		}
		if _, err := h.s.UpdateThing(ctx, h.p, h.at, inventory.UpdateInput{ThingID: drill.ID, Purchase: &inventory.PurchaseInput{Seller: ptr("Shop")}}); err != nil {
			t.Fatal(err)
		}
		read := func(p *home.Principal, after string, limit int) inventory.Page[inventory.SeenEntry] {
			t.Helper()
			page, err := h.s.Activity(ctx, p, inventory.Through{ConnectionID: h.p.ConnectionID}, inventory.Paging{After: after, Limit: limit})
			if err != nil {
				t.Fatal(err)
			}
			return page
		}
		var got []string
		after, pages := "", 0
		for more := true; more; pages++ {
			page := read(h.browser(), after, 2)
			for _, e := range page.Items {
				line := e.Summary
				for _, c := range e.Changes {
					line += fmt.Sprintf(" [%s: %s > %s]", c.Field, c.From, c.To)
				}
				got = append(got, line)
				if e.UndoUntil == nil || !e.MayUndo || e.LocationName != "Home" {
					t.Errorf("KE-138 %+v", e)
				}
			}
			after, more = page.Positions[len(page.Positions)-1], page.More
		}
		wantEqual(t, "KE-138 what a connection wrote, the newest first", got, []string{
			"Noted how “Drill” was bought. [seller:  > Shop]",
			"Changed the tags of “Drill”. [tags:  > a, b]",
			"Changed the use as a container and value of “Drill”. [use as a container: no > yes] [value:  > 12.50 EUR]",
			"Moved “Drill”. [place: Unplaced > Garage]",
			"Made the place “Garage”. [name:  > Garage] [kind:  > room]",
			"Added “Drill”. [name:  > Drill] [quantity:  > 1] [place:  > Unplaced]",
		})
		if pages != 3 {
			t.Errorf("%d pages of two", pages)
		}
		closed := h.browser()
		closed.Locations = []home.Access{access(h.loc, home.Owner)}
		closed.Locations[0].Modules = []string{"mcp"}
		for _, e := range read(closed, "", 3).Items {
			for _, c := range e.Changes {
				if money := c.Field == "value" || c.Field == "seller"; c.Hidden != money || c.Hidden && c.From+c.To != "" {
					t.Errorf("KE-63 money is off: %+v", c)
				}
			}
		}
		viewer := h.browser()
		viewer.Locations = []home.Access{access(h.loc, home.Viewer)}
		for _, e := range read(viewer, "", 50).Items {
			if e.MayUndo || e.Summary == "" || len(e.Changes) == 0 {
				t.Errorf("a viewer: %+v", e)
			}
			for _, c := range e.Changes {
				if !c.Hidden || c.From+c.To != "" {
					t.Errorf("a viewer sees no values: %+v", c)
				}
			}
		}
		eve, _ := h.person("Eve")
		eve.Actor = home.ActorSession
		if page := read(eve, "", 50); len(page.Items) != 0 {
			t.Errorf("another's location: %+v", page.Items)
		}
		newest := read(h.browser(), "", 1).Items[0]
		h.undone("purchase", newest.ID)
		if e := read(h.browser(), "", 1).Items[0]; e.UndoUntil != nil || e.UndoneAt == nil || e.UndoneBy != "Ada" || e.ID != newest.ID {
			t.Errorf("KE-138 undone: %+v", e)
		}
		_, err := h.s.Activity(ctx, h.browser(), inventory.Through{ConnectionID: h.p.ConnectionID}, inventory.Paging{After: "x"})
		wantCode(t, err, "validation", "cursor")
		h.clock.Advance(7 * 24 * time.Hour)
		for _, e := range read(h.browser(), "", 50).Items {
			if e.UndoUntil != nil {
				t.Errorf("KE-87 after 7 days: %+v", e)
			}
		}
	})
}
