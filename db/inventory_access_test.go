package db_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"gatehouse/app/activity"
	"gatehouse/app/home"
	"gatehouse/app/inventory"
)

// operations are all operations on one thing and its place, as any principal may try them.
func operations(h *house, thing, place, box string) map[string]func(*home.Principal, inventory.At) error {
	ctx := context.Background()
	return map[string]func(*home.Principal, inventory.At) error{
		"get_thing": func(p *home.Principal, at inventory.At) error { return firstErr(h.s.GetThing(ctx, p, at, thing)) },
		"list_contents": func(p *home.Principal, at inventory.At) error {
			return firstErr(h.s.ListContents(ctx, p, at, inventory.ContentsInput{PlaceID: place}))
		},
		"list_contents of a box": func(p *home.Principal, at inventory.At) error {
			return firstErr(h.s.ListContents(ctx, p, at, inventory.ContentsInput{ContainerID: box}))
		},
		"search_things": func(p *home.Principal, at inventory.At) error {
			return firstErr(h.s.SearchThings(ctx, p, at, inventory.SearchInput{PlaceID: place}))
		},
		"add_thing": func(p *home.Principal, at inventory.At) error {
			return firstErr(h.s.AddThings(ctx, p, at, []inventory.AddItem{{Name: "x", PlaceID: place}}))
		},
		"add_thing new place": func(p *home.Principal, at inventory.At) error {
			return firstErr(h.s.AddThings(ctx, p, at, []inventory.AddItem{{Name: "x", NewPlace: &inventory.NewPlace{Name: "y", ParentID: place}}}))
		},
		"update_thing": func(p *home.Principal, at inventory.At) error {
			return firstErr(h.s.UpdateThing(ctx, p, at, inventory.UpdateInput{ThingID: thing, Fields: &inventory.UpdateFields{Notes: inventory.To("x")}}))
		},
		"move_thing": func(p *home.Principal, at inventory.At) error {
			return firstErr(h.s.MoveThing(ctx, p, at, inventory.MoveInput{ThingID: thing, ToPlaceID: place}))
		},
		"create_place": func(p *home.Principal, at inventory.At) error {
			return firstErr(h.s.CreatePlace(ctx, p, at, inventory.CreatePlaceInput{Name: "New", ParentID: place}))
		},
	}
}

var reading = map[string]bool{"get_thing": true, "list_contents": true, "list_contents of a box": true, "search_things": true}

func TestRolesAndScopes(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		place, thing, box := h.place("Hall", ""), h.thing("Drill"), h.thing("Box", isBox)
		offered := inventory.At{Available: func(*home.Access) bool { return true }}
		for name, run := range operations(h, thing.ID, place.ShortCode, box.ID) {
			viewer := *h.p
			viewer.Locations = []home.Access{access(h.loc, home.Viewer)}
			reader := *h.p
			reader.Scopes = []string{home.ScopeRead}
			stranger, _ := h.person("Eve")
			nobody := *h.p
			nobody.Locations = nil
			for _, c := range []struct {
				who  string
				p    *home.Principal
				at   inventory.At
				code inventory.Code
				read inventory.Code
			}{
				{"KE-83 viewer through a door", &viewer, offered, "tool_unavailable", ""},
				{"KE-83 viewer", &viewer, inventory.At{}, "forbidden", ""},
				{"KE-104 reader", &reader, offered, "token_scope", ""},
				{"stranger", stranger, offered, "not_found", "not_found"},
				{"KE-85 not offered", h.p, inventory.At{Available: func(*home.Access) bool { return false }}, "tool_unavailable", "tool_unavailable"},
				{"KE-83 member no more", &nobody, offered, "tool_unavailable", "tool_unavailable"},
				{"KE-14 unknown location", h.p, inventory.At{LocationID: newID(t), Available: offered.Available}, "tool_unavailable", "tool_unavailable"},
			} {
				want := c.code
				if reading[name] {
					want = c.read
				}
				err := run(c.p, c.at)
				if want == "" && err != nil || want != "" && !errors.Is(err, &inventory.Error{Code: want}) {
					t.Errorf("%s, %s: got %v, want %q", c.who, name, err, want)
				}
			}
		}
	})
}

func TestLocationOfACall(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		ctx := context.Background()
		place, thing, box := h.place("Hall", ""), h.thing("Drill"), h.thing("Box", isBox)
		_, second := h.person("Eve")
		p := *h.p
		p.Locations = []home.Access{access(h.loc, home.Owner), access(second, home.Member)}
		only := func(loc string) inventory.At {
			return inventory.At{Available: func(a *home.Access) bool { return a.LocationID == loc }}
		}
		every := inventory.At{Available: func(*home.Access) bool { return true }}
		for name, run := range operations(h, thing.ID, place.ID, box.ID) {
			if err := run(&p, every); err != nil && !errors.Is(err, &inventory.Error{Code: "conflict"}) {
				t.Errorf("KE-14 %s: the row names the location: %v", name, err)
			}
			wrong := every
			wrong.LocationID = second
			wantCode(t, run(&p, wrong), "not_found", "")
			wantCode(t, run(&p, only(second)), "tool_unavailable", "")
			p.Locations[0].Role = home.Viewer
			if err := run(&p, every); !reading[name] {
				wantCode(t, err, "tool_unavailable", "")
			}
			p.Locations[0].Role = home.Owner
		}
		e := wantCode(t, firstErr(h.s.AddThings(ctx, &p, every, []inventory.AddItem{{Name: "x"}})), "validation", "location_id")
		if !strings.Contains(e.Hint, h.loc) || !strings.Contains(e.Hint, second) {
			t.Errorf("KE-14 the hint lists the ids: %s", e.Hint)
		}
		wantCode(t, firstErr(h.s.ListContents(ctx, &p, every, inventory.ContentsInput{})), "validation", "location_id")
		r, err := h.s.AddThings(ctx, &p, only(second), []inventory.AddItem{{Name: "Cup"}})
		if err != nil || r.Things[0].LocationID != second {
			t.Errorf("KE-14 the only one where it is available: %v", err)
		}
		for loc, want := range map[string]int{"": 5, h.loc: 4, second: 1} {
			at := every
			at.LocationID = loc
			got, err := h.s.SearchThings(ctx, &p, at, inventory.SearchInput{})
			if err != nil || len(got.Items) != want {
				t.Errorf("KE-14 a global reading of %q: %d things, want %d (%v)", loc, len(got.Items), want, err)
			}
		}
		list, err := h.s.Locations(ctx, &p, every, inventory.Paging{Limit: 1})
		if err != nil || len(list.Items) != 1 || !list.More {
			t.Errorf("KE-21 %v %+v", err, list)
		}
		rest, err := h.s.Locations(ctx, &p, every, inventory.Paging{After: list.Positions[0]})
		if err != nil || len(rest.Items) != 1 || rest.More || rest.Items[0].LocationID == list.Items[0].LocationID {
			t.Errorf("KE-21 %v %+v", err, rest)
		}
	})
}

func TestDeletedLocationTakesNoWrite(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		h.exec(`UPDATE locations SET deleted_at = updated_at WHERE id = ?`, h.loc)
		_, err := h.s.AddThings(context.Background(), h.p, h.at, []inventory.AddItem{{Name: "x"}})
		wantCode(t, err, "not_found", "")
	})
}

func TestParallelWritersNumberWithoutGap(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		box, full := h.thing("Box", isBox), h.thing("Drill")
		var wg sync.WaitGroup
		for i := range 12 {
			wg.Go(func() {
				ctx := context.Background()
				_, err := h.s.AddThings(ctx, h.p, h.at, []inventory.AddItem{
					{Name: fmt.Sprint("a", i), NewPlace: &inventory.NewPlace{Name: "Shared"}, Tags: []string{"shared"}}, {Name: fmt.Sprint("b", i), ContainerID: box.ID},
				})
				if err != nil {
					t.Errorf("add: %v", err)
				}
				if _, err := h.s.AddThings(ctx, h.p, h.at, []inventory.AddItem{{Name: "c"}, {Name: "d", ContainerID: full.ID}}); err == nil {
					t.Error("a thing went into a drill")
				}
			})
		}
		wg.Wait()
		list := h.events()
		for i, e := range list {
			if e.Seq != int64(i+1) {
				t.Fatalf("event %d has number %d", i+1, e.Seq)
			}
		}
		if want := 2 + 12*2 + 1 + 1; len(list) != want {
			t.Errorf("%d events, want %d: the shared place and the shared tag are made once", len(list), want)
		}
		if n := h.count(`SELECT count(*) FROM places WHERE name_key = 'shared'`); n != 1 {
			t.Errorf("%d shared places", n)
		}
	})
}

func TestParallelUpdatesLoseNothing(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		drill := h.thing("Drill")
		var wg sync.WaitGroup
		var mu sync.Mutex
		won := 0
		for i := range 8 {
			wg.Go(func() {
				in := inventory.UpdateInput{ThingID: drill.ID, Version: ptr(1), Fields: &inventory.UpdateFields{Notes: inventory.To(fmt.Sprint(i))}}
				_, err := h.s.UpdateThing(context.Background(), h.p, h.at, in)
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					won++
				} else if !errors.Is(err, &inventory.Error{Code: "precondition_failed"}) {
					t.Errorf("update: %v", err)
				}
			})
		}
		wg.Wait()
		if won != 1 || h.get(drill.ID).RowVersion != 2 {
			t.Errorf("KE-70 %d writers won with one version", won)
		}
	})
}

func TestEventsAreStoredWhole(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		b := activity.Batch{ID: newID(t), LocationID: h.loc, At: h.clock.Now(), Actor: activity.Actor{Type: activity.ActorSystem, Via: "system"}}
		log := func() *activity.Log { return activity.NewLog(func() (string, error) { return newID(t), nil }) }
		_, err := h.d.WriteInventory(context.Background(), b, log, func(_ inventory.Writer, l *activity.Log) error {
			_, err := l.Add(activity.Entry{Action: "x", SubjectType: activity.Thing, SubjectID: newID(t), CompanionOf: newID(t)})
			return err
		})
		if err == nil || len(h.events()) != 0 {
			t.Errorf("a companion without its main entry was stored: %v", err)
		}
		records, err := h.d.WriteInventory(context.Background(), b, log, func(_ inventory.Writer, l *activity.Log) error {
			_, err := l.Add(activity.Entry{Action: "reminder.due", SubjectType: activity.Thing, SubjectID: h.p.UserID})
			return err
		})
		if err != nil || len(records) != 1 || records[0].Seq != 1 || records[0].UndoUntil != nil {
			t.Fatalf("%v %+v", err, records)
		}
		if r := activity.ReceiptOf(records); len(r.AuditEventIDs) != 1 || r.UndoUntil != nil {
			t.Errorf("KE-143 an entry that cannot be undone: %+v", r)
		}
		got := h.last()
		if got.Action != "reminder.due" || got.Actor.Type != activity.ActorSystem || got.BatchID != b.ID || got.Undo != nil || !got.At.Equal(b.At) {
			t.Errorf("%+v", got)
		}
	})
}
