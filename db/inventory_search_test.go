package db_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"gatehouse/app/home"
	"gatehouse/app/inventory"
	"gatehouse/db"
)

func TestSearchWords(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		for _, name := range []string{"Électro-Ménager", "Straße", "İstanbul", "Ёлка", "مفتاحُ الصُّندوق", "أدوات ٣", "東京タワー", "กุญแจ", "ガラス", "GSR12V-15", "100% wool_a"} {
			h.thing(name)
		}
		for _, c := range []struct{ stored, query string }{
			{"Électro-Ménager", "menager"}, {"Électro-Ménager", "ELECTRO"}, {"", "lectro"},
			{"Straße", "STRASSE"}, {"İstanbul", "istanbul"}, {"Ёлка", "елка"}, {"", "trasse"},
			{"مفتاحُ الصُّندوق", "مفتاح"}, {"مفتاحُ الصُّندوق", "الصندوق"}, {"أدوات ٣", "ادوات 3"}, {"", "صندوق"},
			{"東京タワー", "京タ"}, {"東京タワー", "東京"}, {"กุญแจ", "กุญ"}, {"", "東タ"},
			{"ガラス", "ガラ"}, {"", "カラス"}, {"ガラス", "ｶﾞﾗｽ"},
			{"GSR12V-15", "gsr 12"}, {"GSR12V-15", "12v"}, {"GSR12V-15", "gsr12v"}, {"GSR12V-15", "gsr12v-15"}, {"", "sr12"},
			{"東京タワー", "京"}, {"", "!!!"}, {"", "strasse electro"}, {"100% wool_a", "%"}, {"", "100% wool_a wo%"}, {"100% wool_a", "wool a 100"},
		} {
			want := []string{}
			if c.stored != "" && c.query != "%" {
				want = append(want, c.stored)
			}
			if c.query == "100% wool_a wo%" {
				want = append(want, "100% wool_a") // the sign only separates: wo is the beginning of wool
			}
			if got := h.names(inventory.SearchInput{Query: c.query}); !slices.Equal(got, want) && len(got)+len(want) > 0 {
				t.Errorf("KE-22 %q finds %q, want %q", c.query, got, want)
			}
		}
	})
}

func TestSearchOrder(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		h.brand("Drillmaster")
		garage := h.place("Drill room", "")
		ended := h.thing("Drill")
		h.exec(`UPDATE things SET lifecycle = 'sold' WHERE id = ?`, ended.ID)
		h.thing("Drill press")
		h.thing("Tap", func(i *inventory.AddItem) { i.Brand = ptr("Drillmaster") })
		h.thing("Bohrer", func(i *inventory.AddItem) { i.Aliases = []string{"drill"} })
		h.thing("Hammer", in(garage.ID))
		h.thing("Oil", func(i *inventory.AddItem) { i.Notes = ptr("for the drill") })
		seen := h.thing("Manual drill")
		h.exec(`UPDATE things SET last_seen_at = ? WHERE id = ?`, db.TimeForTest(h.d, h.clock.Now()), seen.ID)
		h.thing("Hand drill")
		// Name 8 + begins 4; alias 6 + equal 10; sold name (8+10+4)/2 = 11; name 8; brand 4 × 0.6; path 2; notes 1.
		wantEqual(t, "KE-22 order", h.names(inventory.SearchInput{Query: "drill"}),
			[]string{"Bohrer", "Drill press", "Drill", "Manual drill", "Hand drill", "Tap", "Hammer", "Oil"})
		wantEqual(t, "KE-22 empty query", h.names(inventory.SearchInput{}),
			[]string{"Bohrer", "Drill", "Drill press", "Hammer", "Hand drill", "Manual drill", "Oil", "Tap"})
		hit, err := h.s.WhereIs(context.Background(), h.p, h.at, "drill")
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, w := range hit {
			names = append(names, w.Name)
		}
		wantEqual(t, "KE-23 five best", names, []string{"Bohrer", "Drill press", "Drill", "Manual drill", "Hand drill"})
		for q, n := range map[string]int{"for": 0, "room": 0, "hammer room": 1, "master": 0, "drillm": 1} {
			if hit, err := h.s.WhereIs(context.Background(), h.p, h.at, q); err != nil || len(hit) != n {
				t.Errorf("KE-23 %q: %d hits, want %d (%v)", q, len(hit), n, err)
			}
		}
	})
}

// TestSearchWays holds all ways to find the words to the same answer: from the rarest word, and by name for broad ones, in
// one location and in two.
func TestSearchWays(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		for _, name := range []string{"Saw", "Sand", "Sand paper", "Paper sack", "Saw blade sand", "Box"} {
			h.thing(name)
		}
		h.trash("things", h.thing("Sand trashed").ID)
		_, second := h.person("Eve")
		both := *h.p
		both.Locations = append(slices.Clone(h.p.Locations), access(second, home.Member))
		for _, broad := range []int64{0, 2, 4, 10_000} {
			db.SetBroadWordForTest(h.d, broad)
			for query, want := range map[string][]string{
				"sa":          {"Sand", "Sand paper", "Saw", "Saw blade sand", "Paper sack"},
				"sand":        {"Sand", "Sand paper", "Saw blade sand"},
				"sa pa":       {"Paper sack", "Sand paper"},
				"sand saw bl": {"Saw blade sand"},
				"sand nail":   {},
			} {
				for _, p := range []*home.Principal{h.p, &both} {
					r, err := h.s.SearchThings(context.Background(), p, inventory.At{}, inventory.SearchInput{Query: query})
					got := []string{}
					for _, hit := range r.Items {
						got = append(got, hit.Name)
					}
					slices.Sort(got)
					slices.Sort(want)
					if err != nil || !slices.Equal(got, want) {
						t.Errorf("KE-22 %q, broad from %d, %d locations: %q, want %q (%v)", query, broad, len(p.Locations), got, want, err)
					}
				}
			}
		}
	})
}

func TestSearchByCode(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		drill := h.thing("Drill")
		note := h.thing("Note", func(i *inventory.AddItem) { i.Name = "Note " + drill.ShortCode })
		typed := " " + drill.ShortCode[:3] + "-" + drill.ShortCode[3:]
		r, err := h.s.SearchThings(context.Background(), h.p, h.at, inventory.SearchInput{Query: drill.ShortCode})
		if err != nil || len(r.Items) != 2 || r.Items[0].ID != drill.ID || r.Items[0].MatchedBy != "code" || r.Items[1].ID != note.ID || r.Items[1].MatchedBy != "keyword" {
			t.Errorf("KE-22 %v %+v", err, r.Items)
		}
		w, err := h.s.WhereIs(context.Background(), h.p, h.at, typed)
		if err != nil || len(w) != 1 || w[0].ID != drill.ID {
			t.Errorf("KE-23 a code gives that thing alone: %v %+v", err, w)
		}
		other, _ := h.person("Eve")
		if w, err := h.s.WhereIs(context.Background(), other, inventory.At{}, typed); err != nil || len(w) != 0 {
			t.Errorf("KE-23 a code of somebody else's thing: %v %+v", err, w)
		}
		h.trash("things", drill.ID)
		if w, err = h.s.WhereIs(context.Background(), h.p, h.at, drill.ShortCode); err != nil || len(w) != 1 || w[0].ID != note.ID {
			t.Errorf("KE-23 a code of a trashed thing: %v %+v", err, w)
		}
	})
}

func TestSearchFilters(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		house := h.place("House", "")
		garage := h.place("Garage", house.ID)
		box := h.thing("Box", isBox, in(garage.ID))
		drill := h.thing("Drill", inBox(box.ID), func(i *inventory.AddItem) { i.Tags, i.Type = []string{"Lent Out"}, ptr("tool") })
		h.thing("Sofa", in(house.ID), func(i *inventory.AddItem) { i.Tags = []string{"soft"} })
		h.thing("Lost", func(i *inventory.AddItem) { i.Type = ptr("tool") })
		h.thing("Soap", in(house.ID), func(i *inventory.AddItem) { i.Type, i.Quantity, i.Minimum = ptr("consumable"), ptr(1), ptr(1) })
		h.exec(`UPDATE things SET lifecycle = 'sold' WHERE id = ?`, drill.ID)
		for _, c := range []struct {
			in   inventory.SearchInput
			want []string
		}{
			{inventory.SearchInput{PlaceID: house.ID}, []string{"Box", "Drill", "Soap", "Sofa"}},
			{inventory.SearchInput{PlaceID: garage.ShortCode}, []string{"Box", "Drill"}},
			{inventory.SearchInput{Type: "Tool"}, []string{"Drill", "Lost"}},
			{inventory.SearchInput{Type: "tool", PlaceID: house.ID}, []string{"Drill"}},
			{inventory.SearchInput{Type: "spaceship"}, nil},
			{inventory.SearchInput{Tag: "lent out"}, []string{"Drill"}},
			{inventory.SearchInput{Tag: "none"}, nil},
			{inventory.SearchInput{Status: "sold"}, []string{"Drill"}},
			{inventory.SearchInput{Status: "ended"}, []string{"Drill"}},
			{inventory.SearchInput{Status: "in_use", PlaceID: garage.ID}, []string{"Box"}},
			{inventory.SearchInput{Status: "uncertain"}, []string{"Lost"}},
			{inventory.SearchInput{Status: "low_stock"}, []string{"Soap"}},
			{inventory.SearchInput{Status: "lent"}, nil},
			{inventory.SearchInput{Query: "dri", PlaceID: garage.ID, Tag: "lent out", Status: "sold", Type: "tool"}, []string{"Drill"}},
			{inventory.SearchInput{Query: "dri", Tag: "soft"}, nil},
		} {
			wantEqual(t, fmt.Sprintf("KE-22 %+v", c.in), h.names(c.in), c.want)
		}
		h.clock.Advance(366 * 24 * time.Hour)
		if got := h.names(inventory.SearchInput{Status: "uncertain"}); len(got) != 5 {
			t.Errorf("after a year all is uncertain: %v", got)
		}
		for path, in := range map[string]inventory.SearchInput{
			"filters.status": {Status: "shiny"}, "filters.place_id": {PlaceID: "nowhere!"}, "limit": {Paging: inventory.Paging{Limit: 201}},
			"cursor": {Paging: inventory.Paging{After: "x"}}, "query": {Query: "a\x01"},
		} {
			_, err := h.s.SearchThings(context.Background(), h.p, h.at, in)
			wantCode(t, err, "validation", path)
		}
		_, err := h.s.SearchThings(context.Background(), h.p, h.at, inventory.SearchInput{PlaceID: newID(t)})
		wantCode(t, err, "not_found", "")
	})
}

func TestSearchPages(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		for i := range 3 {
			var items []inventory.AddItem
			for j := range 15 {
				items = append(items, inventory.AddItem{Name: fmt.Sprintf("Cup %02d", i*15+j)})
			}
			h.add(items...)
		}
		for _, query := range []string{"", "cup"} {
			var got []string
			in := inventory.SearchInput{Query: query, Paging: inventory.Paging{Limit: 20}}
			for {
				r, err := h.s.SearchThings(context.Background(), h.p, h.at, in)
				if err != nil {
					t.Fatal(err)
				}
				for _, hit := range r.Items {
					got = append(got, hit.Name)
				}
				if !r.More {
					break
				}
				// A page may be cut short; the position of any entry goes on after it.
				got = got[:len(got)-5]
				in.After = r.Positions[len(r.Positions)-6]
			}
			if len(got) != 45 || !slices.IsSorted(got) || len(slices.Compact(got)) != 45 {
				t.Errorf("KE-19 %q: %d things in pages, sorted %v", query, len(got), slices.IsSorted(got))
			}
		}
		r, err := h.s.SearchThings(context.Background(), h.p, h.at, inventory.SearchInput{})
		if err != nil || len(r.Items) != 20 {
			t.Errorf("KE-19 the default page holds %d (%v)", len(r.Items), err)
		}
	})
}

func TestSearchScoresAThousand(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		for i := range 51 {
			var items []inventory.AddItem
			for j := range 20 {
				items = append(items, inventory.AddItem{Name: fmt.Sprintf("Nail %04d", i*20+j)})
			}
			h.add(items...)
		}
		r, err := h.s.SearchThings(context.Background(), h.p, h.at, inventory.SearchInput{Query: "nail", Paging: inventory.Paging{Limit: 200, After: "900."}})
		if err != nil || !r.Incomplete || len(r.Items) != 100 || r.More || r.Items[99].Name != "Nail 0999" {
			t.Errorf("KE-22 %v incomplete %v, %d items, more %v", err, r.Incomplete, len(r.Items), r.More)
		}
		unplaced := h.get(h.someIDs(t)[0]).PlaceID
		c, err := h.s.ListContents(context.Background(), h.p, h.at, inventory.ContentsInput{PlaceID: unplaced, Paging: inventory.Paging{Limit: 200, After: "990."}})
		if err != nil || !c.Truncated || len(c.Items) != 10 || c.More {
			t.Errorf("KE-25 the walk stops at 1,000 entries: %v %v %d", err, c.Truncated, len(c.Items))
		}
	})
}

// someIDs are ids of some things.
func (h *house) someIDs(t *testing.T) []string {
	r, err := h.s.SearchThings(context.Background(), h.p, h.at, inventory.SearchInput{})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, hit := range r.Items {
		out = append(out, hit.ID)
	}
	return out
}

func TestWhereIsUncertain(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		hall := h.place("Hall", "")
		crate := h.thing("Crate", isBox)
		h.thing("Lamp a")                     // in Unplaced
		h.thing("Lamp b", inBox(crate.ID))    // in a box in Unplaced
		old := h.thing("Lamp c", in(hall.ID)) // on record for long
		h.clock.Advance(366 * 24 * time.Hour)
		h.thing("Lamp d", in(hall.ID))
		w, err := h.s.WhereIs(context.Background(), h.p, h.at, "lamp")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, x := range w {
			got = append(got, fmt.Sprint(x.Name, x.Uncertain))
		}
		wantEqual(t, "KE-23 certain first", got, []string{"Lamp dfalse", "Lamp atrue", "Lamp btrue", "Lamp ctrue"})
		if _, err := h.s.MoveThing(context.Background(), h.p, h.at, inventory.MoveInput{ThingID: old.ID, ToPlaceID: h.place("Loft", "").ID}); err != nil {
			t.Fatal(err)
		}
		if w, _ := h.s.WhereIs(context.Background(), h.p, h.at, "lamp c"); len(w) == 0 || w[0].Name != "Lamp c" || w[0].Uncertain {
			t.Errorf("KE-23 a move makes it certain: %+v", w)
		}
		_, err = h.s.WhereIs(context.Background(), h.p, h.at, "  ")
		wantCode(t, err, "validation", "query")
	})
}

func TestListContents(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		list := func(in inventory.ContentsInput) inventory.ContentsResult {
			t.Helper()
			r, err := h.s.ListContents(context.Background(), h.p, h.at, in)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		show := func(r inventory.ContentsResult) []string {
			var out []string
			for _, i := range r.Items {
				name := ""
				if i.Place != nil {
					name = i.Place.Name
				} else {
					name = i.Thing.Name
				}
				out = append(out, fmt.Sprint(i.Depth, " ", name))
			}
			return out
		}
		wantEqual(t, "KE-25 a new location", show(list(inventory.ContentsInput{})), []string{"1 Unplaced"})
		house := h.place("House", "")
		h.place("Annex", "")
		garage := h.place("Garage", house.ID)
		h.place("Attic", house.ID)
		box := h.thing("box", isBox, in(garage.ID))
		h.thing("Axe", in(garage.ID))
		h.thing("Drill", inBox(box.ID))
		h.thing("Key", in(house.ID))
		wantEqual(t, "KE-25 top, custom order, Unplaced last", show(list(inventory.ContentsInput{})), []string{"1 House", "1 Annex", "1 Unplaced"})
		wantEqual(t, "KE-25 depth 2", show(list(inventory.ContentsInput{PlaceID: house.ShortCode, Depth: 2})),
			[]string{"1 Garage", "2 Axe", "2 box", "1 Attic", "1 Key"})
		three := list(inventory.ContentsInput{PlaceID: house.ID, Depth: 3})
		wantEqual(t, "KE-25 depth 3", show(three), []string{"1 Garage", "2 Axe", "2 box", "3 Drill", "1 Attic", "1 Key"})
		if three.ParentPlace == nil || three.ParentPlace.ID != house.ID || three.ParentThing != nil {
			t.Errorf("KE-25 parent %+v", three)
		}
		wantEqual(t, "KE-25 path", three.Items[3].Thing.Path, []string{"House", "Garage", "box"})
		inside := list(inventory.ContentsInput{ContainerID: box.ID})
		wantEqual(t, "KE-25 container", show(inside), []string{"1 Drill"})
		if inside.ParentThing == nil || inside.ParentThing.ID != box.ID {
			t.Errorf("KE-25 parent %+v", inside.ParentThing)
		}
		h.exec(`UPDATE places SET child_order = 'name' WHERE id = ?`, house.ID)
		h.exec(`UPDATE locations SET child_order = 'name' WHERE id = ?`, h.loc)
		wantEqual(t, "KE-68 order", show(list(inventory.ContentsInput{PlaceID: house.ID})), []string{"1 Attic", "1 Garage", "1 Key"})
		wantEqual(t, "KE-68 top", show(list(inventory.ContentsInput{})), []string{"1 Annex", "1 House", "1 Unplaced"})
		page := list(inventory.ContentsInput{PlaceID: house.ID, Paging: inventory.Paging{Limit: 2}})
		if !page.More || len(page.Items) != 2 {
			t.Errorf("KE-19 %+v", page)
		}
		rest := list(inventory.ContentsInput{PlaceID: house.ID, Paging: inventory.Paging{Limit: 2, After: page.Positions[1]}})
		wantEqual(t, "KE-19 next page", show(rest), []string{"1 Key"})
		axe := h.get(h.someIDs(t)[0])
		_, err := h.s.ListContents(context.Background(), h.p, h.at, inventory.ContentsInput{ContainerID: axe.ID})
		wantCode(t, err, "not_a_container", "")
		_, err = h.s.ListContents(context.Background(), h.p, h.at, inventory.ContentsInput{ContainerID: box.ID, PlaceID: house.ID})
		wantCode(t, err, "validation", "container_id")
		_, err = h.s.ListContents(context.Background(), h.p, h.at, inventory.ContentsInput{Depth: 4})
		wantCode(t, err, "validation", "depth")
	})
}

func TestHoleControlsInFiltersAndBrandReachedTheDatabase(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		ctx := context.Background()
		drill := h.thing("Drill")
		for path, in := range map[string]inventory.SearchInput{
			"filters.tag": {Tag: "a\x00b"}, "filters.type": {Type: "a\x00b"},
		} {
			wantCode(t, firstErr(h.s.SearchThings(ctx, h.p, h.at, in)), "validation", path)
		}
		_, err := h.update(drill.ID, `{"brand":"a\u0000b"}`)
		wantCode(t, err, "validation", "fields.brand")
		wantCode(t, firstErr(h.s.CreatePlace(ctx, h.p, h.at, inventory.CreatePlaceInput{Name: "x", Kind: "a\x00b"})), "validation", "kind")
	})
}

func TestHolePlaceFilterWalksPlacesAndContainers(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		house := h.place("House", "")
		garage := h.place("Garage", house.ID)
		crate := h.thing("Crate", isBox, in(garage.ID))
		h.thing("Drill", inBox(h.thing("Case", isBox, inBox(crate.ID)).ID))
		lost := h.thing("Lost box", isBox)
		h.thing("Coin", inBox(h.thing("Purse", isBox, inBox(lost.ID)).ID))
		if got := h.names(inventory.SearchInput{PlaceID: house.ID}); !slices.Equal(got, []string{"Case", "Crate", "Drill"}) {
			t.Errorf("KE-22 below a place: %v", got)
		}
		if got := h.names(inventory.SearchInput{Query: "coin", Status: "uncertain"}); !slices.Equal(got, []string{"Coin"}) {
			t.Errorf("KE-22 in boxes in Unplaced: %v", got)
		}
		h.trash("things", crate.ID)
		if got := h.names(inventory.SearchInput{PlaceID: house.ID}); len(got) != 0 {
			t.Errorf("KE-22 below a trashed container: %v", got)
		}
	})
}
