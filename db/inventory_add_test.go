package db_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"gatehouse/app/home"
	"gatehouse/app/inventory"
)

func TestAddThings(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		nordkap := h.brand("Nordkap")
		garage := h.place("Garage", "")
		h.clock.Advance(time.Minute)
		var item inventory.AddItem
		err := json.Unmarshal([]byte(`{"name":" Cordless   Drill ","place_id":"`+garage.ShortCode+`","quantity":2,"aliases":["Bohrer","bohrer","Akku"],
			"type":"Tool","brand":"nordkap","model":"GSR","serial":"S-1","notes":"line\r\nline","condition":"good","tags":["Camping"],
			"acquired_on":"2026-11-30","value":{"amount":"12.5","currency":"EUR"}}`), &item)
		if err != nil {
			t.Fatal(err)
		}
		r, err := h.s.AddThings(context.Background(), h.p, h.at, []inventory.AddItem{item})
		if err != nil {
			t.Fatal(err)
		}
		d := h.get(r.Things[0].ID)
		if d.Name != "Cordless Drill" || d.Quantity != 2 || d.Type.Name != "Tool" || d.Brand.ID != nordkap || d.Model != "GSR" ||
			d.Serial != "S-1" || d.Notes != "line\nline" || d.Condition != "good" || d.AcquiredOn != "2026-11-30" ||
			d.Value.Amount() != "12.50" || d.RowVersion != 1 || d.PlaceID != garage.ID || d.Lifecycle != "in_use" {
			t.Errorf("KE-29 KE-58 got %+v", d)
		}
		wantEqual(t, "KE-58 aliases", d.Aliases, []string{"Bohrer", "Akku"})
		wantEqual(t, "KE-29 path", r.Things[0].Path, []string{"Garage"})
		if len(d.Tags) != 1 || d.Tags[0].Name != "Camping" {
			t.Errorf("KE-58 tags: %+v", d.Tags)
		}
		if id, err := uuid.Parse(d.ID); err != nil || id.Version() != 7 || len(d.ShortCode) != 6 {
			t.Errorf("KE-17 id %s, code %s", d.ID, d.ShortCode)
		}
		if d.URL != "https://my.host/things/"+d.ID {
			t.Errorf("url %s", d.URL)
		}
		if len(r.AuditEventIDs) != 1 || r.UndoUntil == nil || !r.UndoUntil.Equal(h.clock.Now().Add(7*24*time.Hour)) {
			t.Errorf("KE-143 KE-87 receipt %+v", r.Receipt)
		}
	})
}

func TestAddThingsPlaces(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		ctx := context.Background()
		cellar := h.place("Cellar", "")
		r, err := h.s.AddThings(ctx, h.p, h.at, []inventory.AddItem{
			{Name: "Tent", NewPlace: &inventory.NewPlace{Name: "Attic"}, Brand: ptr("Nordkap")},
			{Name: "Stove", NewPlace: &inventory.NewPlace{Name: "attic"}},
			{Name: "Wine", NewPlace: &inventory.NewPlace{Name: "CELLAR"}},
			{Name: "Shelf", NewPlace: &inventory.NewPlace{Name: "Attic", ParentID: cellar.ID, Kind: "zone"}, Type: ptr("spaceship")},
			{Name: "Hammer"},
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Places) != 2 || r.Places[0].Name != "Attic" || r.Places[0].Kind != "room" || r.Places[1].Kind != "zone" {
			t.Fatalf("KE-29 places %+v", r.Places)
		}
		var got []string
		for _, p := range r.Placed {
			at := "-"
			if p.Place != nil {
				at = fmt.Sprint(*p.Place)
			}
			got = append(got, fmt.Sprintf("%d %s %s", p.Item, p.Status, at))
		}
		wantEqual(t, "KE-29 same new place twice is one", got, []string{"0 created 0", "1 created 0", "2 found -", "3 created 1", "4 unplaced -"})
		wantEqual(t, "KE-29 path", r.Things[3].Path, []string{"Cellar", "Attic"})
		wantEqual(t, "KE-29 unplaced", r.Things[4].Path, []string{"Unplaced"})
		wantEqual(t, "KE-29 not_set", r.NotSet, []inventory.NotSet{{Item: 0, Field: "brand", Value: "Nordkap"}, {Item: 3, Field: "type", Value: "spaceship"}})
		if len(r.AuditEventIDs) != 7 {
			t.Errorf("KE-29 entries: %d, want 5 things and 2 places", len(r.AuditEventIDs))
		}
	})
}

func TestAddThingsRefusals(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		other, otherLoc := h.person("Eve")
		foreign, err := h.s.CreatePlace(context.Background(), other, inventory.At{}, inventory.CreatePlaceInput{Name: "Den"})
		if err != nil {
			t.Fatal(err)
		}
		gone := h.place("Gone", "")
		h.trash("places", gone.ID)
		drill, box := h.thing("Drill"), h.thing("Box", isBox)
		required := h.ownType("Lamp", `[{"key":"watts","label":"Watts","kind":"integer","required":true,"min":1}]`)
		h.p.Locations[0].Currencies = []string{"EUR", "CHF"}
		many := make([]inventory.AddItem, 21)
		for _, c := range []struct {
			name  string
			items string
			code  inventory.Code
			path  string
		}{
			{"KE-29 no items", `[]`, "validation", "items"},
			{"KE-29 no name", `[{"name":"x"},{"name":"  "}]`, "validation", "items[1].name"},
			{"KE-29 long name", `[{"name":"` + strings.Repeat("é", 201) + `"}]`, "validation", "items[0].name"},
			{"KE-29 line break", `[{"name":"a\nb"}]`, "validation", "items[0].name"},
			{"KE-29 control", `[{"name":"a","notes":"b\u0000"}]`, "validation", "items[0].notes"},
			{"KE-58 two holders", `[{"name":"a","place_id":"` + box.ID + `","new_place":{"name":"b"}}]`, "not_found", ""},
			{"KE-58 two holders here", `[{"name":"a","container_id":"` + box.ID + `","new_place":{"name":"b"}}]`, "validation", "items[0]"},
			{"KE-58 quantity", `[{"name":"a","quantity":100001}]`, "validation", "items[0].quantity"},
			{"KE-58 quantity 0", `[{"name":"a","quantity":0}]`, "validation", "items[0].quantity"},
			{"KE-58 minimum of no consumable", `[{"name":"a","minimum":2}]`, "validation", "items[0].minimum"},
			{"KE-58 future", `[{"name":"a","acquired_on":"2026-12-02"}]`, "validation", "items[0].acquired_on"},
			{"KE-58 no date", `[{"name":"a","acquired_on":"2026-13-02"}]`, "validation", "items[0].acquired_on"},
			{"KE-58 condition", `[{"name":"a","condition":"shiny"}]`, "validation", "items[0].condition"},
			{"KE-58 money", `[{"name":"a","value":{"amount":"1,5","currency":"EUR"}}]`, "validation", "items[0].value"},
			{"KE-63 currency", `[{"name":"a","value":{"amount":"1.5","currency":"USD"}}]`, "currency_not_enabled", ""},
			{"KE-63 unknown custom", `[{"name":"a","custom":{"width_cm":1}}]`, "validation", "items[0].custom.width_cm"},
			{"KE-63 required custom", `[{"name":"a","type":"` + required + `"}]`, "validation", "items[0].custom.watts"},
			{"KE-63 custom bound", `[{"name":"a","type":"lamp","custom":{"watts":0}}]`, "validation", "items[0].custom.watts"},
			{"KE-29 container of many", `[{"name":"a","quantity":2,"is_container":true}]`, "quantity_not_one", ""},
			{"KE-29 into no container", `[{"name":"a","container_id":"` + drill.ShortCode + `"}]`, "not_a_container", ""},
			{"KE-29 other location", `[{"name":"a","place_id":"` + foreign.Place.ID + `"}]`, "not_found", ""},
			{"KE-29 trashed", `[{"name":"a","place_id":"` + gone.ID + `"}]`, "not_found", ""},
			{"KE-29 unknown", `[{"name":"a","place_id":"` + newID(t) + `"}]`, "not_found", ""},
			{"KE-17 no ref", `[{"name":"a","place_id":"garage door"}]`, "validation", "items[0].place_id"},
			{"KE-29 unknown tag id", `[{"name":"a","tags":["` + newID(t) + `"]}]`, "not_found", ""},
			{"KE-29 kind", `[{"name":"a","new_place":{"name":"b","kind":"unplaced"}}]`, "validation", "items[0].new_place.kind"},
		} {
			t.Run(c.name, func(t *testing.T) {
				var items []inventory.AddItem
				if err := json.Unmarshal([]byte(c.items), &items); err != nil {
					t.Fatal(err)
				}
				_, err := h.s.AddThings(context.Background(), h.p, h.at, items)
				wantCode(t, err, c.code, c.path)
			})
		}
		_, err = h.s.AddThings(context.Background(), h.p, h.at, many)
		wantCode(t, err, "validation", "items")
		both := *h.p
		both.Locations = []home.Access{access(h.loc, home.Owner), access(otherLoc, home.Owner)}
		_, err = h.s.AddThings(context.Background(), &both, inventory.At{LocationID: h.loc},
			[]inventory.AddItem{{Name: "a"}, {Name: "b", PlaceID: foreign.Place.ID}})
		wantCode(t, err, "not_found", "")
		e := wantCode(t, firstErr(h.s.AddThings(context.Background(), h.p, h.at, []inventory.AddItem{{Name: "a\x00"}, {Name: ""}})), "validation", "items[1].name")
		if len(e.Details) != 2 || strings.Contains(e.Hint, "a\x00") {
			t.Errorf("every wrong field is listed and no value repeated: %+v", e)
		}
	})
}

func firstErr[T any](_ T, err error) error { return err }

func TestAddThingsAllOrNothing(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		drill := h.thing("Drill")
		tables := []string{"things", "places", "tags", "short_codes", "search_tokens", "events", "thing_aliases", "thing_tags"}
		before := map[string]int{}
		for _, table := range tables {
			before[table] = h.count(`SELECT count(*) FROM ` + table)
		}
		items := make([]inventory.AddItem, 20)
		for i := range items {
			items[i] = inventory.AddItem{Name: fmt.Sprint("Thing ", i), Aliases: []string{"x"}, Tags: []string{"new"}, NewPlace: &inventory.NewPlace{Name: fmt.Sprint("Room ", i)}}
		}
		items[19] = inventory.AddItem{Name: "Last", ContainerID: drill.ID}
		_, err := h.s.AddThings(context.Background(), h.p, h.at, items)
		wantCode(t, err, "not_a_container", "")
		for _, table := range tables {
			if n := h.count(`SELECT count(*) FROM ` + table); n != before[table] {
				t.Errorf("KE-29 one transaction: %s has %d rows, had %d", table, n, before[table])
			}
		}
		h.thing("Next")
		if seq := h.last().Seq; seq != 2 {
			t.Errorf("a failed write uses no number: %d", seq)
		}
	})
}

func TestAddThingsModules(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		h.p.Locations[0].Modules = []string{"mcp"}
		money := inventory.AddItem{Name: "a", Value: &inventory.MoneyInput{Amount: "1", Currency: "EUR"}}
		_, err := h.s.AddThings(context.Background(), h.p, h.at, []inventory.AddItem{money})
		wantCode(t, err, "module_off", "")
		_, err = h.s.AddThings(context.Background(), h.p, h.at, []inventory.AddItem{{Name: "a", Type: ptr("consumable"), Minimum: ptr(1)}})
		wantCode(t, err, "module_off", "")
		h.p.Locations[0].Modules = allModules
		soap := h.thing("Soap", func(i *inventory.AddItem) { i.Type, i.Quantity, i.Minimum = ptr("consumable"), ptr(0), ptr(2) })
		money.Name = "Vase"
		vase := h.add(money)[0]
		if d := h.get(soap.ID); d.Minimum == nil || *d.Minimum != 2 || d.Quantity != 0 {
			t.Errorf("KE-60 %+v", d)
		}
		wantEqual(t, "low stock", h.get(soap.ID).States, []string{"uncertain", "low_stock"})
		h.p.Locations[0].Modules = []string{"mcp"}
		if d := h.get(soap.ID); d.Minimum != nil || len(d.States) != 1 {
			t.Errorf("KE-24 a part of a module that is off is left out: %+v", d)
		}
		if h.get(vase.ID).Value != nil {
			t.Error("KE-63 money shows though the module is off")
		}
		h.p.Locations[0].Modules = allModules
		h.p.Locations[0].Role = home.Viewer
		if h.get(vase.ID).Value != nil {
			t.Error("KE-63 a viewer sees money")
		}
		h.p.Locations[0].ViewerSeesMoney = true
		if h.get(vase.ID).Value == nil {
			t.Error("KE-63 a viewer does not see money that is open to viewers")
		}
	})
}
