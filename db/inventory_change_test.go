package db_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"gatehouse/app/activity"
	"gatehouse/app/home"
	"gatehouse/app/inventory"
)

func TestUpdateThing(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		h.brand("Nordkap")
		drill := h.thing("Drill", func(i *inventory.AddItem) { i.Condition, i.Model = ptr("good"), ptr("GSR") })
		r, err := h.update(drill.ShortCode, `{"condition":"fair","model":null}`)
		if err != nil {
			t.Fatal(err)
		}
		wantEqual(t, "KE-30 changed_fields", r.ChangedFields, []string{"condition", "model"})
		if r.RowVersion != 2 || len(r.AuditEventIDs) != 1 || r.UndoUntil == nil || r.Thing.ID != drill.ID {
			t.Errorf("KE-30 %+v", r)
		}
		e := h.last()
		if e.Action != "thing.update" || e.SubjectVersion != 2 || string(mustJSON(t, e.Changes)) !=
			`[{"field":"model","from":"GSR"},{"field":"condition","from":"good","to":"fair"}]` {
			t.Errorf("KE-87 %s %s", e.Action, mustJSON(t, e.Changes))
		}
		var undo struct{ Before, After map[string]any }
		if err := json.Unmarshal(e.Undo, &undo); err != nil || undo.Before["model"] != "GSR" || undo.After["model"] != "" {
			t.Errorf("KE-87 undo data %s (%v)", e.Undo, err)
		}
		n := len(h.events())
		if r, err = h.update(drill.ID, `{"condition":"fair","model":null,"aliases":[],"tags":null,"quantity":1}`); err != nil {
			t.Fatal(err)
		}
		if len(r.AuditEventIDs) != 0 || r.AuditEventIDs == nil || r.UndoUntil != nil || r.RowVersion != 2 || len(r.ChangedFields) != 0 || len(h.events()) != n {
			t.Errorf("KE-30 an empty diff leaves no entry: %+v", r)
		}
		r, err = h.update(drill.ID, `{"name":"Cordless Drill","type":"box","brand":"NORDKAP","tags":["Tools","camping"],"aliases":["Bohrer"],"acquired_on":"2025-01-31"}`)
		if err != nil {
			t.Fatal(err)
		}
		wantEqual(t, "KE-30 fields", r.ChangedFields, []string{"acquired_on", "aliases", "brand", "name", "tags", "type"})
		var actions []string
		for _, e := range h.events()[n:] {
			actions = append(actions, fmt.Sprint(e.Action, " ", e.CompanionOf != ""))
		}
		wantEqual(t, "KE-30 KE-71 entries", actions, []string{"thing.update false", "thing.retype false", "thing.tags false", "tag.create true", "tag.create true"})
		if len(r.AuditEventIDs) != 3 {
			t.Errorf("companions are not handed out: %v", r.AuditEventIDs)
		}
		if d := h.get(drill.ID); d.Name != "Cordless Drill" || d.Type.Name != "Box" || d.Brand.Name != "Nordkap" || d.RowVersion != 3 || d.AcquiredOn != "2025-01-31" || d.IsContainer {
			t.Errorf("%+v", d)
		}
	})
}

func mustJSON(t testing.TB, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestUpdateThingRefusals(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		box := h.thing("Box", isBox)
		h.thing("Cup", inBox(box.ID))
		cups := h.thing("Cups", func(i *inventory.AddItem) { i.Quantity = ptr(6) })
		for _, c := range []struct {
			name, id, fields string
			code             inventory.Code
			path             string
		}{
			{"KE-30 nothing", cups.ID, `{}`, "validation", "fields"},
			{"KE-30 unknown type", cups.ID, `{"type":"spaceship"}`, "validation", "fields.type"},
			{"KE-30 unknown brand", cups.ID, `{"brand":"Nordkap"}`, "validation", "fields.brand"},
			{"KE-30 holds things", box.ID, `{"is_container":false}`, "in_use", ""},
			{"KE-30 container of many", cups.ID, `{"is_container":true}`, "quantity_not_one", ""},
			{"KE-30 many containers", box.ID, `{"quantity":2}`, "quantity_not_one", ""},
			{"KE-63 currency", cups.ID, `{"value":{"amount":"1","currency":"USD"}}`, "currency_not_enabled", ""},
			{"KE-58 name", cups.ID, `{"name":""}`, "validation", "fields.name"},
			{"KE-30 not there", newID(t), `{"name":"x"}`, "not_found", ""},
			{"KE-17 no such code", "ZZZZZZ", `{"name":"x"}`, "not_found", ""},
			{"KE-30 minimum", cups.ID, `{"minimum":1}`, "validation", "fields.minimum"},
		} {
			t.Run(c.name, func(t *testing.T) { _, err := h.update(c.id, c.fields); wantCode(t, err, c.code, c.path) })
		}
		h.trash("things", cups.ID)
		_, err := h.update(cups.ID, `{"name":"x"}`)
		wantCode(t, err, "not_found", "")
	})
}

func TestUpdateThingVersion(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		drill := h.thing("Drill")
		for _, f := range []string{`{"name":"Drill 2"}`, `{"notes":"x"}`, `{"name":"Drill 3"}`} {
			if _, err := h.update(drill.ID, f); err != nil {
				t.Fatal(err)
			}
		}
		in := inventory.UpdateInput{ThingID: drill.ID, Version: ptr(2), Fields: &inventory.UpdateFields{Name: ptr("Mine"), Quantity: ptr(3)}}
		_, err := h.s.UpdateThing(context.Background(), h.p, h.at, in)
		e := wantCode(t, err, "precondition_failed", "")
		if e.RowVersion != 4 || e.ChangedBy == nil || e.ChangedBy.Type != "connection" || e.ChangedBy.ID != h.p.ConnectionID || e.ChangedBy.Name != "Ada" {
			t.Errorf("KE-70 %+v %+v", e, e.ChangedBy)
		}
		wantEqual(t, "KE-70 conflicts", e.Conflicts, []string{"name"})
		in.Version = ptr(4)
		if _, err := h.s.UpdateThing(context.Background(), h.p, h.at, in); err != nil {
			t.Fatal(err)
		}
		if d := h.get(drill.ID); d.Name != "Mine" || d.Quantity != 3 {
			t.Errorf("%+v", d)
		}
	})
}

func TestUpdatePurchase(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		drill := h.thing("Drill")
		buy := func(in inventory.PurchaseInput) inventory.UpdateResult {
			t.Helper()
			r, err := h.s.UpdateThing(context.Background(), h.p, h.at, inventory.UpdateInput{ThingID: drill.ID, Purchase: &in})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		first := buy(inventory.PurchaseInput{Seller: ptr("Shop"), PurchasedOn: ptr("2026-01-02"), Price: &inventory.MoneyInput{Amount: "99.90", Currency: "EUR"}})
		wantEqual(t, "KE-64", first.ChangedFields, []string{"purchase"})
		if e := h.last(); e.Action != "purchase.create" || e.SubjectID != drill.ID || e.RelatedID != first.PurchaseID || first.PurchaseID == "" || first.RowVersion != 2 {
			t.Errorf("KE-64 %+v", e)
		}
		second := buy(inventory.PurchaseInput{Reference: ptr("A-1")})
		if e := h.last(); e.Action != "purchase.update" || second.PurchaseID != first.PurchaseID {
			t.Errorf("KE-64 %+v", e)
		}
		if third := buy(inventory.PurchaseInput{Reference: ptr("A-1")}); len(third.AuditEventIDs) != 0 || third.PurchaseID != first.PurchaseID {
			t.Errorf("KE-64 the same again: %+v", third)
		}
		b := h.get(drill.ID).Purchase
		if b == nil || b.Seller != "Shop" || b.PurchasedOn != "2026-01-02" || b.Reference != "A-1" || b.Price.Amount() != "99.90" {
			t.Errorf("KE-64 %+v", b)
		}
		h.p.Locations[0].Modules = []string{"mcp"}
		if h.get(drill.ID).Purchase != nil {
			t.Error("KE-63 the purchase shows though money is off")
		}
		_, err := h.s.UpdateThing(context.Background(), h.p, h.at, inventory.UpdateInput{ThingID: drill.ID, Purchase: &inventory.PurchaseInput{Seller: ptr("x")}})
		wantCode(t, err, "module_off", "")
	})
}

func TestCustomFields(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		h.ownType("Lamp", `[{"key":"watts","label":"Watts","kind":"number","required":true},{"key":"colour","label":"Colour","kind":"text"},{"key":"pin","label":"PIN","kind":"secret"}]`)
		h.ownType("Bulb", `[{"key":"watts","label":"Watts","kind":"number"}]`)
		lamp := h.thing("Lamp", func(i *inventory.AddItem) {
			i.Type, i.Custom = ptr("lamp"), map[string]json.RawMessage{"watts": json.RawMessage("7.50"), "colour": json.RawMessage(`"warm red"`)}
		})
		if got := string(mustJSON(t, h.get(lamp.ID).Custom)); got != `{"colour":"warm red","watts":7.5}` {
			t.Errorf("KE-63 custom %s", got)
		}
		_, err := h.update(lamp.ID, `{"custom":{"pin":"1234"}}`)
		wantCode(t, err, "validation", "fields.custom.pin")
		if r, err := h.update(lamp.ID, `{"custom":{"watts":7.5}}`); err != nil || len(r.ChangedFields) != 0 {
			t.Errorf("the same number is no change: %v %v", r.ChangedFields, err)
		}
		r, err := h.update(lamp.ID, `{"type":"bulb"}`)
		if err != nil {
			t.Fatal(err)
		}
		wantEqual(t, "retype", r.ChangedFields, []string{"custom", "type"})
		e := h.last()
		if e.Action != "thing.retype" || string(mustJSON(t, e.Changes)) != `[{"field":"type","from":"Lamp","to":"Bulb"},{"field":"custom.colour","from":"warm red"}]` {
			t.Errorf("a new type drops values, the diff keeps them: %s", mustJSON(t, e.Changes))
		}
		if r, err = h.update(lamp.ID, `{"custom":null}`); err != nil || len(h.get(lamp.ID).Custom) != 0 {
			t.Errorf("%v %+v", err, r)
		}
		_, err = h.update(lamp.ID, `{"type":"lamp"}`)
		wantCode(t, err, "validation", "fields.custom.watts")
	})
}

func TestMoveThing(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		garage := h.place("Garage", "")
		box := h.thing("Red toolbox", isBox, in(garage.ID))
		drill := h.thing("Drill")
		move := func(in inventory.MoveInput) (inventory.MoveResult, error) {
			return h.s.MoveThing(context.Background(), h.p, h.at, in)
		}
		r, err := move(inventory.MoveInput{ThingID: drill.ID, ToContainerID: box.ShortCode})
		if err != nil {
			t.Fatal(err)
		}
		wantEqual(t, "KE-31 path", r.Thing.Path, []string{"Garage", "Red toolbox"})
		e := h.last()
		if e.Action != "thing.move" || e.UndoUntil == nil || r.SplitFrom != "" {
			t.Errorf("KE-31 %+v", e)
		}
		n := len(h.events())
		if r, err = move(inventory.MoveInput{ThingID: drill.ID, ToContainerID: box.ID, Quantity: ptr(1)}); err != nil || len(r.AuditEventIDs) != 0 || len(h.events()) != n {
			t.Errorf("KE-31 already there: %v %+v", err, r)
		}
		screws := h.thing("Screws", func(i *inventory.AddItem) {
			i.Quantity, i.Serial, i.Tags, i.Notes = ptr(10), ptr("S"), []string{"small"}, ptr("M4")
		})
		r, err = move(inventory.MoveInput{ThingID: screws.ID, ToPlaceID: garage.ID, Quantity: ptr(4)})
		if err != nil {
			t.Fatal(err)
		}
		part, rest := h.get(r.Thing.ID), h.get(screws.ID)
		if r.SplitFrom != screws.ID || part.Quantity != 4 || rest.Quantity != 6 || part.Serial != "" || part.Notes != "M4" || len(part.Tags) != 1 || part.ShortCode == rest.ShortCode {
			t.Errorf("KE-31 split %+v\n%+v", part, rest)
		}
		list := h.events()
		split, created := list[len(list)-2], list[len(list)-1]
		if split.Action != "thing.split" || split.SubjectID != screws.ID || split.RelatedID != part.ID || created.Action != "thing.create" || created.CompanionOf != split.ID {
			t.Errorf("KE-31 entries %+v %+v", split, created)
		}
		wantEqual(t, "KE-31 receipt", r.AuditEventIDs, []string{split.ID})
		if _, err := move(inventory.MoveInput{ThingID: screws.ID, ToPlaceID: garage.ID, Quantity: ptr(6)}); err != nil || h.last().Action != "thing.move" {
			t.Errorf("n = q moves all: %v", err)
		}
		for _, c := range []struct {
			name string
			in   inventory.MoveInput
			code inventory.Code
		}{
			{"KE-31 no target", inventory.MoveInput{ThingID: drill.ID}, "validation"},
			{"KE-31 two targets", inventory.MoveInput{ThingID: drill.ID, ToPlaceID: garage.ID, ToContainerID: box.ID}, "validation"},
			{"KE-31 too many", inventory.MoveInput{ThingID: screws.ID, ToContainerID: box.ID, Quantity: ptr(7)}, "validation"},
			{"KE-31 none", inventory.MoveInput{ThingID: screws.ID, ToContainerID: box.ID, Quantity: ptr(0)}, "validation"},
			{"KE-31 no container", inventory.MoveInput{ThingID: screws.ID, ToContainerID: drill.ID}, "not_a_container"},
			{"KE-31 itself", inventory.MoveInput{ThingID: box.ID, ToContainerID: box.ID}, "would_cycle"},
			{"KE-31 a place is no container", inventory.MoveInput{ThingID: box.ID, ToContainerID: garage.ID}, "not_found"},
		} {
			t.Run(c.name, func(t *testing.T) { _, err := move(c.in); wantCode(t, err, c.code, "") })
		}
	})
}

func TestContainerNesting(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		boxes := []inventory.ThingRef{h.thing("Box 0", isBox)}
		for i := 1; i <= 8; i++ {
			boxes = append(boxes, h.thing(fmt.Sprint("Box ", i), isBox, inBox(boxes[i-1].ID)))
		}
		_, err := h.s.AddThings(context.Background(), h.p, h.at, []inventory.AddItem{{Name: "Cup", ContainerID: boxes[8].ID}})
		wantCode(t, err, "too_deep", "")
		_, err = h.s.MoveThing(context.Background(), h.p, h.at, inventory.MoveInput{ThingID: boxes[0].ID, ToContainerID: boxes[5].ID})
		wantCode(t, err, "would_cycle", "")
		crate := h.thing("Crate", isBox)
		_, err = h.s.MoveThing(context.Background(), h.p, h.at, inventory.MoveInput{ThingID: boxes[0].ID, ToContainerID: crate.ID})
		wantCode(t, err, "too_deep", "")
		r, err := h.s.MoveThing(context.Background(), h.p, h.at, inventory.MoveInput{ThingID: boxes[1].ID, ToContainerID: crate.ID})
		if err != nil {
			t.Fatal(err)
		}
		wantEqual(t, "path", r.Thing.Path, []string{"Unplaced", "Crate"})
		if got := h.names(inventory.SearchInput{Query: "crate box 8"}); len(got) != 1 {
			t.Errorf("what moves along is found under its new path: %v", got)
		}
		if got := h.names(inventory.SearchInput{Query: "0 8"}); len(got) != 0 {
			t.Errorf("what moves along is not found under its old path: %v", got)
		}
		if _, err := h.update(crate.ID, `{"name":"Trunk"}`); err != nil {
			t.Fatal(err)
		}
		if got := h.names(inventory.SearchInput{Query: "trunk box 8"}); len(got) != 1 {
			t.Errorf("a container's new name leads to what is inside: %v", got)
		}
	})
}

func TestCreatePlace(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		create := func(in inventory.CreatePlaceInput) (inventory.PlaceResult, error) {
			return h.s.CreatePlace(context.Background(), h.p, h.at, in)
		}
		r, err := create(inventory.CreatePlaceInput{Name: "  Living \t room"})
		if err != nil {
			t.Fatal(err)
		}
		p := r.Place
		if p.Name != "Living room" || p.Kind != "room" || len(p.ShortCode) != 6 || len(r.AuditEventIDs) != 1 || r.UndoUntil == nil {
			t.Errorf("KE-33 %+v", r)
		}
		wantEqual(t, "KE-33 path", p.Path, []string{"Living room"})
		if e := h.last(); e.Action != "place.create" || e.SubjectType != activity.Place || e.SubjectID != p.ID {
			t.Errorf("KE-71 %+v", e)
		}
		shelf, err := create(inventory.CreatePlaceInput{Name: "Shelf", Kind: "zone", ParentID: p.ShortCode})
		if err != nil {
			t.Fatal(err)
		}
		wantEqual(t, "KE-66 path", shelf.Place.Path, []string{"Living room", "Shelf"})
		_, err = create(inventory.CreatePlaceInput{Name: "LIVING ROOM"})
		if e := wantCode(t, err, "conflict", ""); e.Hint != "A place of this name is already there: "+p.ShortCode+"." {
			t.Errorf("KE-33 %s", e.Hint)
		}
		if _, err := create(inventory.CreatePlaceInput{Name: "Living room", ParentID: p.ID}); err != nil {
			t.Errorf("KE-33 the same name elsewhere: %v", err)
		}
		_, err = create(inventory.CreatePlaceInput{Name: "unplaced"})
		wantCode(t, err, "conflict", "")
		_, err = create(inventory.CreatePlaceInput{Name: "X", Kind: "unplaced"})
		wantCode(t, err, "validation", "kind")
		_, err = create(inventory.CreatePlaceInput{Name: "X", Kind: "castle"})
		wantCode(t, err, "validation", "kind")
		_, err = create(inventory.CreatePlaceInput{Name: ""})
		wantCode(t, err, "validation", "name")
		_, err = create(inventory.CreatePlaceInput{Name: "X", ParentID: h.thing("Drill").ID})
		wantCode(t, err, "not_found", "")
		parent := p.ID
		for i := 2; i <= 10; i++ {
			parent = h.place(fmt.Sprint("Level ", i), parent).ID
		}
		_, err = create(inventory.CreatePlaceInput{Name: "Level 11", ParentID: parent})
		wantCode(t, err, "too_deep", "")
	})
}

func TestShortCodesAreNeverReissued(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		codes := map[string]bool{}
		for i := range 30 {
			codes[h.thing(fmt.Sprint(i)).ShortCode] = true
		}
		if len(codes) != 30 || h.count(`SELECT count(*) FROM short_codes`) != 31 {
			t.Errorf("KE-17 %d codes", len(codes))
		}
		// A source that repeats itself draws codes that are taken; the next draw is used.
		h.s = inventory.New(inventory.Options{Store: h.d, Now: h.clock.Now, Rand: &cycle{}, PublicURL: "https://my.host"})
		first := h.thing("first")
		h.exec(`DELETE FROM search_tokens WHERE thing_id = ?`, first.ID)
		h.exec(`DELETE FROM things WHERE id = ?`, first.ID)
		if second := h.thing("second"); second.ShortCode == first.ShortCode {
			t.Error("KE-17 a purged thing's code was given again")
		}
	})
}

// cycle is a source whose values repeat after a while.
type cycle struct{ n byte }

func (c *cycle) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = c.n / 7
		c.n++
	}
	return len(b), nil
}

func TestEveryWriteNamesItsActor(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		h.thing("a")
		e := h.last()
		if e.Actor.Type != activity.ActorConnection || e.Actor.ConnectionID != h.p.ConnectionID || e.Actor.UserID != h.p.UserID || e.Actor.Via != "mcp" || e.Actor.IP != "192.0.2.1" || e.Actor.RequestID != "r1" {
			t.Errorf("KE-138 %+v", e.Actor)
		}
		h.p.Actor, h.p.TokenID, h.p.Via = home.ActorToken, newID(t), "rest"
		h.thing("b")
		if e := h.last(); e.Actor.Type != activity.ActorToken || e.Actor.TokenID != h.p.TokenID || e.Actor.ConnectionID != "" || e.Actor.Via != "rest" {
			t.Errorf("KE-138 %+v", e.Actor)
		}
		h.p.Actor, h.p.Via = home.ActorSession, "web"
		h.clock.Advance(time.Hour)
		h.thing("c")
		if e := h.last(); e.Actor.Type != activity.ActorUser || e.Actor.UserID != h.p.UserID || e.Actor.TokenID != "" || !e.At.Equal(h.clock.Now()) {
			t.Errorf("KE-138 %+v", e.Actor)
		}
	})
}
