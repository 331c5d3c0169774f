package inventory

import (
	"errors"
	"slices"

	"gatehouse/app/activity"
)

// liveThing gives the thing an entry is about; nil when it is in the trash.
func (u *undoing) liveThing(id string) (*Thing, error) {
	things, err := u.Things([]string{id})
	return things[id], err
}

// next is the thing one version on, to be changed.
func (u *undoing) next(t *Thing) *Thing {
	n := t.clone()
	n.RowVersion, n.UpdatedAt = t.RowVersion+1, u.now
	return n
}

// createdThing puts a new thing into the trash, unless something happened to it since.
func (u *undoing) createdThing(e activity.Record) (*restoration, error) {
	if err := u.untouched(e, e.SubjectID); err != nil {
		return nil, err
	}
	t, err := u.liveThing(e.SubjectID)
	if err != nil {
		return nil, err
	}
	if t == nil {
		return nil, refuse(e, ReasonInUse)
	}
	if err := u.holdsNothing(e, Holder{ContainerID: t.ID}); err != nil {
		return nil, err
	}
	next := u.next(t)
	return &restoration{version: next.RowVersion, apply: func() error { return u.TrashThing(next, u.p.UserID) }}, nil
}

func (u *undoing) holdsNothing(e activity.Record, h Holder) error {
	inside, err := u.ThingsIn(h, 1)
	if err == nil && len(inside) > 0 {
		err = refuse(e, ReasonInUse)
	}
	return err
}

// changedThing gives a thing's fields, type, tags, minimum or place their old values back.
func (u *undoing) changedThing(e activity.Record) (*restoration, error) {
	t, err := u.liveThing(e.SubjectID)
	if err != nil {
		return nil, err
	}
	if t == nil {
		return nil, u.gone(e)
	}
	values, err := readUndo(e)
	if err != nil {
		return nil, err
	}
	fields, err := values.differing(t.storedValue)
	if err != nil {
		return nil, err
	}
	if len(fields) > 0 {
		return nil, u.fieldsChanged(e, fields)
	}
	next := u.next(t)
	for key, raw := range values.Before {
		if err := next.restore(key, raw); err != nil {
			return nil, err
		}
	}
	if err := u.fits(e, t, next); err != nil {
		return nil, err
	}
	return &restoration{version: next.RowVersion, changes: reversed(e.Changes), apply: func() error { return u.saveThing(t, next) }}, nil
}

// saveThing stores a thing and makes it findable under its words. What is inside is found by its name and place too.
func (u *undoing) saveThing(old, next *Thing) error {
	if err := u.UpdateThing(next); err != nil {
		return err
	}
	if old.Name != next.Name || old.Holder() != next.Holder() {
		return u.indexWithContents(next)
	}
	return u.index(next.ID)
}

// fits refuses old values that would break a rule which holds today, because something else has changed since.
func (u *undoing) fits(e activity.Record, old, next *Thing) error {
	types, err := u.Types([]string{u.access.LocationID})
	if err != nil {
		return err
	}
	ok := breaks(next, types) == "" || breaks(next, types) == breaks(old, types)
	if ok {
		ok, err = u.catalogueHas(old, next)
	}
	if err != nil {
		return err
	}
	if !ok {
		return refuse(e, ReasonInUse)
	}
	if old.IsContainer && !next.IsContainer {
		if err := u.holdsNothing(e, Holder{ContainerID: old.ID}); err != nil {
			return err
		}
	}
	if old.Holder() != next.Holder() {
		return u.fitsInto(e, next)
	}
	return nil
}

// breaks names the rule that a thing's values break; empty when they fit together.
func breaks(t *Thing, types []Type) string {
	typ := Type{}
	if t.Type != nil {
		found := typeByID(types, t.Type.ID)
		if found == nil {
			return "type"
		}
		typ = *found
	}
	switch {
	case t.IsContainer && t.Quantity != 1:
		return "container"
	case t.Quantity == 0 && !typ.IsConsumable:
		return "quantity"
	case t.Minimum != nil && !typ.IsConsumable:
		return "minimum"
	}
	for key := range t.Custom {
		if d := findField(typ.Fields, key); d == nil || d.Kind == FieldSecret {
			return "custom"
		}
	}
	return ""
}

// catalogueHas reports whether brand and tags that come back are still there.
func (u *undoing) catalogueHas(old, next *Thing) (bool, error) {
	if id := next.brandID(); id != "" && id != old.brandID() {
		found, err := u.Brands(u.access.LocationID, []string{id}, nil)
		if err != nil || len(found) == 0 {
			return false, err
		}
	}
	back := slices.DeleteFunc(next.tagIDs(), func(id string) bool { return slices.Contains(old.tagIDs(), id) })
	if len(back) == 0 {
		return true, nil
	}
	found, err := u.Tags([]string{u.access.LocationID}, back, nil)
	return len(found) == len(back), err
}

// fitsInto refuses a move back into a place or container that is gone or takes the thing no more.
func (u *undoing) fitsInto(e activity.Record, next *Thing) error {
	if next.PlaceID != "" {
		known, err := u.PlacesUp([]string{next.PlaceID})
		if err == nil && known[next.PlaceID] == nil {
			err = refuse(e, ReasonInUse)
		}
		return err
	}
	c, err := u.liveThing(next.ContainerID)
	if err != nil {
		return err
	}
	if c == nil {
		return refuse(e, ReasonInUse)
	}
	var broken *Error
	if err = u.checkInto(c, next); errors.As(err, &broken) {
		err = refuse(e, ReasonInUse)
	}
	return err
}

// splitThing joins what was taken away with what stayed, and puts the row of the part into the trash.
func (u *undoing) splitThing(e activity.Record) (*restoration, error) {
	whole, err := u.changedThing(e)
	if err != nil {
		return nil, err
	}
	if err := u.untouched(e, e.RelatedID); err != nil {
		return nil, err
	}
	part, err := u.liveThing(e.RelatedID)
	if err != nil {
		return nil, err
	}
	if part == nil {
		return nil, refuse(e, ReasonInUse)
	}
	if err := u.holdsNothing(e, Holder{ContainerID: part.ID}); err != nil {
		return nil, err
	}
	join := whole.apply
	whole.apply = func() error {
		if err := join(); err != nil {
			return err
		}
		return u.TrashThing(u.next(part), u.p.UserID)
	}
	return whole, nil
}
