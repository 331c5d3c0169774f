package inventory

import (
	"maps"
	"slices"
)

// actionEdit is what one kind of entry will say.
type actionEdit struct {
	*edit
	action string
}

// edits sorts the differences into the entries that log them; those without any are left out. Custom values go with the
// type when that changes.
func (u *updating) edits() []actionEdit {
	update, retype, tags, minimum := &edit{}, &edit{}, &edit{}, &edit{}
	update.fields(u.old, u.new)
	retype.setAs("type", nameOf(u.old.Type), nameOf(u.new.Type), "type_id", u.old.typeID(), u.new.typeID())
	if u.retyped() {
		retype.custom(u.old.Custom, u.new.Custom)
	} else {
		update.custom(u.old.Custom, u.new.Custom)
	}
	if !sameTags(u.old.Tags, u.new.Tags) {
		tags.setAs("tags", namesOf(u.old.Tags), namesOf(u.new.Tags), "tag_ids", u.old.tagIDs(), u.new.tagIDs())
	}
	minimum.set("minimum", u.old.Minimum, u.new.Minimum)
	all := []actionEdit{{update, "thing.update"}, {retype, "thing.retype"}, {tags, "thing.tags"}, {minimum, "thing.minimum"}}
	return slices.DeleteFunc(all, func(a actionEdit) bool { return a.empty() })
}

// sameTags compares two sets: tags have no order.
func sameTags(a, b []Named) bool {
	x, y := idsOf(a), idsOf(b)
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

// fields notes the plain fields of a thing that differ.
func (e *edit) fields(from, to *Thing) {
	e.set("name", from.Name, to.Name)
	if from.ID == "" {
		e.set("quantity", nil, to.Quantity)
	} else {
		e.set("quantity", from.Quantity, to.Quantity)
	}
	e.set("aliases", from.Aliases, to.Aliases)
	e.setAs("brand", nameOf(from.Brand), nameOf(to.Brand), "brand_id", from.brandID(), to.brandID())
	e.set("model", from.Model, to.Model)
	e.set("serial", from.Serial, to.Serial)
	e.set("notes", from.Notes, to.Notes)
	e.set("condition", from.Condition, to.Condition)
	e.set("is_container", from.IsContainer, to.IsContainer)
	e.set("acquired_on", from.AcquiredOn, to.AcquiredOn)
	e.set("value", from.Value, to.Value)
}

// custom notes the custom fields that differ, each by its key.
func (e *edit) custom(from, to map[string]any) {
	keys := map[string]bool{}
	for _, m := range []map[string]any{from, to} {
		for k := range m {
			keys[k] = true
		}
	}
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		e.set("custom."+k, from[k], to[k])
	}
}
