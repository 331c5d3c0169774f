package inventory

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"

	"gatehouse/app/activity"
	"gatehouse/app/home"
)

// UpdateThing corrects or completes what is written about a thing, and how it was bought (KE-30, KE-64). What is the same
// as before leaves no entry.
func (s *Service) UpdateThing(ctx context.Context, p *home.Principal, at At, in UpdateInput) (UpdateResult, error) {
	if (in.Fields == nil || *in.Fields == (UpdateFields{})) && (in.Purchase == nil || *in.Purchase == (PurchaseInput{})) {
		return UpdateResult{}, invalid("fields", "must hold at least one field, or purchase must")
	}
	var out UpdateResult
	receipt, err := s.change(ctx, p, at, home.ThingEdit, ofThing(p, in.ThingID), func(w *write) error {
		u := &updating{write: w, in: in, fields: in.Fields}
		if u.fields == nil {
			u.fields = &UpdateFields{}
		}
		if err := u.run(); err != nil {
			return err
		}
		out = u.result
		return nil
	})
	out.Receipt = receipt
	return out, err
}

// ofThing gives the location of a thing that the input names.
func ofThing(p *home.Principal, typed string) func(Reader) (string, error) {
	return func(r Reader) (string, error) {
		sub, err := find(r, p, typed, activity.Thing, "thing_id")
		return sub.LocationID, err
	}
}

// updating is one call of UpdateThing inside its transaction.
type updating struct {
	*write
	problems
	in     UpdateInput
	fields *UpdateFields
	old    *Thing
	new    *Thing
	types  []Type
	made   []Catalogued
	result UpdateResult
}

func (u *updating) run() error {
	var err error
	if u.old, err = u.write.thing(u.in.ThingID, "thing_id"); err != nil {
		return err
	}
	if err := u.checkVersion(); err != nil {
		return err
	}
	if u.types, err = u.Types([]string{u.access.LocationID}); err != nil {
		return err
	}
	u.new = u.old.clone()
	if err := u.read(); err != nil {
		return err
	}
	bought, err := u.readPurchase()
	if err != nil {
		return err
	}
	if err := u.problems.err(); err != nil {
		return err
	}
	if err := u.checkState(); err != nil {
		return err
	}
	return u.save(bought)
}

// checkVersion refuses a change to another version than the caller read (KE-70), and says which of its fields changed.
func (u *updating) checkVersion() error {
	if u.in.Version == nil || *u.in.Version == u.old.RowVersion {
		return nil
	}
	changed, by, err := u.ChangedSince(u.old.ID, *u.in.Version)
	if err != nil {
		return err
	}
	asked := u.asked()
	conflicts := slices.DeleteFunc(shortFields(changed), func(f string) bool { return !slices.Contains(asked, f) })
	return stale(u.old.RowVersion, conflicts, by)
}

// asked names the fields of the request.
func (u *updating) asked() []string {
	var out []string
	v := reflect.ValueOf(*u.fields)
	for i := range v.NumField() {
		if !v.Field(i).IsZero() {
			out = append(out, v.Type().Field(i).Tag.Get("json"))
		}
	}
	if u.in.Purchase != nil {
		out = append(out, "purchase")
	}
	return out
}

// read puts the fields of the request into the new thing.
func (u *updating) read() error {
	if u.fields.Name != nil {
		u.new.Name = u.name("fields.name", *u.fields.Name, 200)
		u.new.NameKey = NameKey(u.new.Name)
	}
	if f := u.fields.Aliases; f.Set {
		u.new.Aliases = u.names("fields.aliases", orNone(f.Value), maxAliases, 120)
	}
	u.readTexts()
	if err := u.readCatalogue(); err != nil {
		return err
	}
	u.readCustom()
	u.readCounts()
	if f := u.fields.Tags; f.Set && len(u.list) == 0 {
		names := u.names("fields.tags", orNone(f.Value), maxThingTags, 80)
		if len(u.list) > 0 {
			return nil
		}
		var err error
		u.new.Tags, u.made, err = u.tags(names)
		return err
	}
	return nil
}

func orNone[T any](v *[]T) []T {
	if v == nil {
		return nil
	}
	return *v
}

func (u *updating) readTexts() {
	for _, f := range []struct {
		field string
		in    Patch[string]
		out   *string
		read  func(path, s string) string
	}{
		{"model", u.fields.Model, &u.new.Model, func(p, s string) string { return u.name(p, s, 120) }},
		{"serial", u.fields.Serial, &u.new.Serial, func(p, s string) string { return u.name(p, s, 100) }},
		{"notes", u.fields.Notes, &u.new.Notes, func(p, s string) string { return u.notes(p, s, 2000) }},
		{"condition", u.fields.Condition, &u.new.Condition, u.condition},
		{"acquired_on", u.fields.AcquiredOn, &u.new.AcquiredOn, func(p, s string) string { return u.pastDate(p, s, today(u.now, u.access)) }},
	} {
		switch {
		case f.in.Set && f.in.Value == nil:
			*f.out = ""
		case f.in.Set:
			*f.out = f.read("fields."+f.field, *f.in.Value)
		}
	}
	if f := u.fields.Value; f.Set {
		u.new.Value = nil
		if f.Value != nil {
			u.new.Value = u.money("fields.value", *f.Value)
		}
	}
}

// readCatalogue looks up type and brand; one that nobody knows here is refused (KE-30).
func (u *updating) readCatalogue() error {
	if f := u.fields.Type; f.Set {
		u.new.Type = nil
		if f.Value != nil {
			t := findType(u.types, *f.Value)
			if t == nil {
				u.add("fields.type", "is not a type of this location")
				return nil
			}
			u.new.Type = &t.Named
		}
	}
	f := u.fields.Brand
	if !f.Set {
		return nil
	}
	u.new.Brand = nil
	if f.Value == nil {
		return nil
	}
	typed, problem := cleanName(*f.Value, 120)
	if problem != "" {
		u.add("fields.brand", problem)
		return nil
	}
	var err error
	if u.new.Brand, err = u.findBrand(typed); err == nil && u.new.Brand == nil {
		u.add("fields.brand", "is not a brand of this location")
	}
	return err
}

func (u *updating) typeOf(t *Thing) Type {
	if found := typeByID(u.types, t.typeID()); found != nil {
		return *found
	}
	return Type{}
}

func (u *updating) retyped() bool { return u.old.typeID() != u.new.typeID() }

// readCustom merges custom values. A new type drops those it has no field for, and asks for those it requires.
func (u *updating) readCustom() {
	defs := u.typeOf(u.new).Fields
	if u.retyped() {
		u.new.Custom = keepKnown(defs, u.new.Custom)
	}
	if f := u.fields.Custom; f.Set {
		sent := map[string]json.RawMessage{}
		if f.Value == nil {
			u.new.Custom = map[string]any{}
		} else {
			sent = *f.Value
		}
		custom, bad := mergeCustom(defs, u.new.Custom, sent, "fields.custom")
		u.new.Custom = custom
		u.list = append(u.list, bad...)
	}
	if u.retyped() && len(u.list) == 0 {
		u.list = append(u.list, missingFields(defs, u.new.Custom, "fields.custom")...)
	}
}

// readCounts reads quantity and minimum. A thing that is no consumable any more has no minimum.
func (u *updating) readCounts() {
	consumable := u.typeOf(u.new).IsConsumable
	if u.fields.Quantity != nil {
		u.new.Quantity = u.quantity("fields.quantity", *u.fields.Quantity)
	}
	if u.new.Quantity == 0 && !consumable && (u.fields.Quantity != nil || u.retyped()) {
		u.add("fields.quantity", "must be at least 1; only a consumable can be used up")
	}
	if u.fields.IsContainer != nil {
		u.new.IsContainer = *u.fields.IsContainer
	}
	f := u.fields.Minimum
	switch {
	case f.Set && f.Value != nil:
		u.new.Minimum = u.minimum("fields.minimum", *f.Value)
		if !consumable {
			u.add("fields.minimum", "is only for things of a consumable type")
		}
	case f.Set || u.retyped() && !consumable:
		u.new.Minimum = nil
	}
}

// checkState keeps the rules that go beyond single fields.
func (u *updating) checkState() error {
	if u.fields.Value.Set {
		if err := checkMoney(u.access, u.new.Value); err != nil {
			return err
		}
	}
	if u.fields.Minimum.Set && !u.access.HasModule(home.ModuleConsumables) {
		return moduleOff(home.ModuleConsumables)
	}
	if u.new.IsContainer && u.new.Quantity != 1 {
		return quantityNotOne()
	}
	if u.old.IsContainer && !u.new.IsContainer {
		inside, err := u.ThingsIn(Holder{ContainerID: u.old.ID}, 1)
		if err != nil {
			return err
		}
		if len(inside) > 0 {
			return inUse()
		}
	}
	return nil
}

// save stores what differs and logs one entry for each kind of change.
func (u *updating) save(bought *purchaseChange) error {
	u.new.RowVersion, u.new.UpdatedAt = u.old.RowVersion+1, u.now
	edits := u.edits()
	purchase := u.purchaseEdit(bought)
	u.result.RowVersion = u.old.RowVersion
	u.result.ChangedFields = []string{}
	if bought != nil {
		u.result.PurchaseID = bought.new.ID
	}
	if len(edits) > 0 || purchase != nil {
		if err := u.store(edits, purchase, bought); err != nil {
			return err
		}
	}
	refs, err := refsOf(u, []string{u.old.ID})
	if err == nil {
		u.result.Thing = refs[0]
	}
	return err
}

func (u *updating) store(edits []actionEdit, purchase *edit, bought *purchaseChange) error {
	if err := u.UpdateThing(u.new); err != nil {
		return err
	}
	var fields []string
	for _, a := range edits {
		id, err := a.log(u.write, u.entry(a.action))
		if err != nil {
			return err
		}
		if a.action == "thing.tags" {
			if err := u.logTags(u.made, id); err != nil {
				return err
			}
		}
		fields = append(fields, a.diff.Fields()...)
	}
	if purchase != nil {
		if err := u.storePurchase(purchase, bought); err != nil {
			return err
		}
		fields = append(fields, purchase.diff.Fields()...)
	}
	u.result.ChangedFields, u.result.RowVersion = shortFields(fields), u.new.RowVersion
	if u.old.Name != u.new.Name {
		return u.indexWithContents(u.new)
	}
	return u.index(u.new.ID)
}

func (u *updating) entry(action string) activity.Entry {
	return activity.Entry{Action: action, SubjectType: activity.Thing, SubjectID: u.new.ID, SubjectVersion: u.new.RowVersion}
}
