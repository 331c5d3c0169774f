package inventory

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gatehouse/app/account"
	"gatehouse/app/activity"
	"gatehouse/app/home"
)

const maxItems = 20

// AddThings puts 1 to 20 new things on record, all or none (KE-29).
func (s *Service) AddThings(ctx context.Context, p *home.Principal, at At, items []AddItem) (AddResult, error) {
	if len(items) < 1 || len(items) > maxItems {
		return AddResult{}, invalidf("items", "must hold 1 to %d entries", maxItems)
	}
	var out AddResult
	receipt, err := s.change(ctx, p, at, home.ThingEdit, firstHolder(p, items), func(w *write) error {
		a := &adding{write: w, items: slices.Clone(items), result: AddResult{Places: []PlaceRef{}, NotSet: []NotSet{}}}
		if err := a.run(); err != nil {
			return err
		}
		out = a.result
		return nil
	})
	out.Receipt = receipt
	return out, err
}

// firstHolder gives the location of the first place or container that an item names; nil when none does.
func firstHolder(p *home.Principal, items []AddItem) func(Reader) (string, error) {
	for i, item := range items {
		typed, kind, field := item.PlaceID, activity.Place, "place_id"
		switch {
		case typed == "" && item.ContainerID != "":
			typed, kind, field = item.ContainerID, activity.Thing, "container_id"
		case typed == "" && item.NewPlace != nil:
			typed, field = item.NewPlace.ParentID, "new_place.parent_id"
		}
		if typed != "" {
			return func(r Reader) (string, error) {
				sub, err := find(r, p, typed, kind, itemPath(i)+"."+field)
				return sub.LocationID, err
			}
		}
	}
	return nil
}

func itemPath(i int) string { return fmt.Sprintf("items[%d]", i) }

// adding is one call of AddThings inside its transaction.
type adding struct {
	*write
	items  []AddItem
	types  []Type
	result AddResult
}

func (a *adding) run() error {
	var err error
	if a.types, err = a.Types([]string{a.access.LocationID}); err != nil {
		return err
	}
	var all problems
	drafts := make([]*draft, len(a.items))
	for i := range a.items {
		d := &draft{adding: a, item: &a.items[i], index: i, path: itemPath(i)}
		if err := d.read(); err != nil {
			return err
		}
		all.list = append(all.list, d.list...)
		drafts[i] = d
	}
	if err := all.err(); err != nil {
		return err
	}
	ids := make([]string, len(drafts))
	for i, d := range drafts {
		if err := d.save(); err != nil {
			return err
		}
		ids[i] = d.thing.ID
	}
	if err := a.index(ids...); err != nil {
		return err
	}
	a.result.Things, err = refsOf(a, ids)
	return err
}

// draft is one item on its way to become a thing.
type draft struct {
	*adding
	problems
	item  *AddItem
	index int
	path  string
	thing *Thing
	typ   *Type
}

// read checks all fields of the item that need no other row than types and brands.
func (d *draft) read() error {
	t := &Thing{LocationID: d.access.LocationID, Quantity: 1, Lifecycle: LifecycleInUse, CreatedBy: d.p.UserID,
		RowVersion: 1, PlacedAt: d.now, CreatedAt: d.now, UpdatedAt: d.now}
	d.thing = t
	t.Name = d.name(d.path+".name", d.item.Name, 200)
	t.NameKey = NameKey(t.Name)
	t.Aliases = d.names(d.path+".aliases", d.item.Aliases, maxAliases, 120)
	d.readTexts()
	if err := d.readCatalogue(); err != nil {
		return err
	}
	d.readCounts()
	d.readHolder()
	var fields []FieldDef
	if d.typ != nil {
		fields = d.typ.Fields
	}
	custom, bad := mergeCustom(fields, nil, d.item.Custom, d.path+".custom")
	t.Custom = custom
	d.list = append(d.list, bad...)
	if len(bad) == 0 {
		d.list = append(d.list, missingFields(fields, custom, d.path+".custom")...)
	}
	return nil
}

func (d *draft) readTexts() {
	for _, f := range []struct {
		field string
		in    *string
		out   *string
		read  func(path, s string) string
	}{
		{"model", d.item.Model, &d.thing.Model, func(p, s string) string { return d.name(p, s, 120) }},
		{"serial", d.item.Serial, &d.thing.Serial, func(p, s string) string { return d.name(p, s, 100) }},
		{"notes", d.item.Notes, &d.thing.Notes, func(p, s string) string { return d.notes(p, s, 2000) }},
		{"condition", d.item.Condition, &d.thing.Condition, d.condition},
		{"acquired_on", d.item.AcquiredOn, &d.thing.AcquiredOn, func(p, s string) string { return d.pastDate(p, s, today(d.now, d.access)) }},
	} {
		if f.in != nil {
			*f.out = f.read(d.path+"."+f.field, *f.in)
		}
	}
	if d.item.Value != nil {
		d.thing.Value = d.money(d.path+".value", *d.item.Value)
	}
	d.item.Tags = d.names(d.path+".tags", d.item.Tags, maxThingTags, 80)
}

// readCatalogue looks up type and brand. One that nobody knows here is left out and reported (KE-29).
func (d *draft) readCatalogue() error {
	if d.item.Type != nil {
		typed := d.name(d.path+".type", *d.item.Type, 120)
		if d.typ = findType(d.types, typed); d.typ != nil {
			d.thing.Type = &d.typ.Named
		} else {
			d.result.NotSet = append(d.result.NotSet, NotSet{Item: d.index, Field: "type", Value: typed})
		}
	}
	if d.item.Brand == nil {
		return nil
	}
	typed := d.name(d.path+".brand", *d.item.Brand, 120)
	var err error
	if d.thing.Brand, err = d.findBrand(typed); err == nil && d.thing.Brand == nil {
		d.result.NotSet = append(d.result.NotSet, NotSet{Item: d.index, Field: "brand", Value: typed})
	}
	return err
}

func (d *draft) consumable() bool { return d.typ != nil && d.typ.IsConsumable }

// readCounts reads quantity and minimum, which depend on the type.
func (d *draft) readCounts() {
	if d.item.Quantity != nil {
		d.thing.Quantity = d.quantity(d.path+".quantity", *d.item.Quantity)
	}
	if d.thing.Quantity == 0 && !d.consumable() {
		d.add(d.path+".quantity", "must be at least 1; only a consumable can be used up")
	}
	d.thing.IsContainer = d.typ != nil && d.typ.IsContainer
	if d.item.IsContainer != nil {
		d.thing.IsContainer = *d.item.IsContainer
	}
	if d.item.Minimum != nil {
		d.thing.Minimum = d.minimum(d.path+".minimum", *d.item.Minimum)
		if !d.consumable() {
			d.add(d.path+".minimum", "is only for things of a consumable type")
		}
	}
}

func (d *draft) readHolder() {
	n := 0
	for _, given := range []bool{d.item.PlaceID != "", d.item.ContainerID != "", d.item.NewPlace != nil} {
		if given {
			n++
		}
	}
	if n > 1 {
		d.add(d.path, "must have at most one of place_id, container_id and new_place")
	}
	if d.item.NewPlace != nil {
		d.item.NewPlace = &NewPlace{
			Name: d.name(d.path+".new_place.name", d.item.NewPlace.Name, 120), ParentID: d.item.NewPlace.ParentID, Kind: d.item.NewPlace.Kind,
		}
	}
}

// save puts the thing where it belongs, stores it and logs it.
func (d *draft) save() error {
	t := d.thing
	if t.Minimum != nil && !d.access.HasModule(home.ModuleConsumables) {
		return moduleOff(home.ModuleConsumables)
	}
	if t.Value != nil {
		if err := checkMoney(d.access, t.Value); err != nil {
			return err
		}
	}
	if t.IsContainer && t.Quantity != 1 {
		return quantityNotOne()
	}
	if err := d.put(); err != nil {
		return err
	}
	tags, made, err := d.tags(d.item.Tags)
	if err != nil {
		return err
	}
	t.Tags = tags
	if err := d.newThing(t); err != nil {
		return err
	}
	return d.logCreated(t, made, "")
}

// put finds or makes the place, or finds the container.
func (d *draft) put() error {
	placed := Placed{Item: d.index, Status: PlacedFound}
	var err error
	switch {
	case d.item.PlaceID != "":
		d.thing.PlaceID, err = d.find(d.item.PlaceID, activity.Place, d.path+".place_id")
	case d.item.ContainerID != "":
		d.thing.ContainerID, err = d.container(d.item.ContainerID, d.path+".container_id")
	case d.item.NewPlace != nil:
		err = d.putNew(&placed)
	default:
		placed.Status = PlacedUnplaced
		var unplaced *Place
		if unplaced, err = d.UnplacedPlace(d.access.LocationID); err == nil {
			d.thing.PlaceID = unplaced.ID
		}
	}
	d.result.Placed = append(d.result.Placed, placed)
	return err
}

// container finds a container that a new thing may go into.
func (d *draft) container(typed, path string) (string, error) {
	c, err := d.write.thing(typed, path)
	if err != nil {
		return "", err
	}
	return c.ID, d.checkInto(c, nil)
}

// putNew takes a live place of that name under that parent, or makes it. The same place asked for twice is made once.
func (d *draft) putNew(placed *Placed) error {
	n := draftPlace{name: d.item.NewPlace.Name, kind: d.item.NewPlace.Kind, parent: d.item.NewPlace.ParentID,
		kindPath: d.path + ".new_place.kind", parentPath: d.path + ".new_place.parent_id"}
	parentID, err := n.parentID(d.write)
	if err != nil {
		return err
	}
	there, err := d.PlaceNamed(d.access.LocationID, parentID, NameKey(n.name))
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	if there == nil {
		ref, err := n.create(d.write, parentID)
		if err != nil {
			return err
		}
		d.result.Places = append(d.result.Places, ref)
		there = &Place{ID: ref.ID}
	}
	d.thing.PlaceID = there.ID
	if i := slices.IndexFunc(d.result.Places, func(p PlaceRef) bool { return p.ID == there.ID }); i >= 0 {
		placed.Status, placed.Place = PlacedCreated, &i
	}
	return nil
}

// newThing gives a new thing its id and code and stores it.
func (w *write) newThing(t *Thing) error {
	var err error
	if t.ID, err = account.NewID(w.now, w.s.rand); err != nil {
		return err
	}
	if t.ShortCode, err = w.code(activity.Thing, t.ID); err != nil {
		return err
	}
	return w.InsertThing(t)
}

// logCreated logs a new thing, as a companion where main names an entry. made are tags that were made for it.
func (w *write) logCreated(t *Thing, made []Catalogued, main string) error {
	var e edit
	none := &Thing{}
	e.fields(none, t)
	e.set("place_id", nil, t.PlaceID)
	e.set("container_id", nil, t.ContainerID)
	e.setAs("type", nil, nameOf(t.Type), "type_id", nil, t.typeID())
	e.setAs("tags", nil, namesOf(t.Tags), "tag_ids", nil, t.tagIDs())
	e.custom(nil, t.Custom)
	e.set("minimum", nil, t.Minimum)
	id, err := e.log(w, activity.Entry{
		Action: "thing.create", SubjectType: activity.Thing, SubjectID: t.ID, SubjectVersion: t.RowVersion, CompanionOf: main,
	})
	if err != nil {
		return err
	}
	return w.logTags(made, id)
}
