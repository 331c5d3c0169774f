package inventory

import (
	"context"
	"slices"

	"gatehouse/app/activity"
	"gatehouse/app/home"
)

// MoveThing records that a thing, or some of it, now lives elsewhere (KE-31). Some of it becomes a thing of its own.
func (s *Service) MoveThing(ctx context.Context, p *home.Principal, at At, in MoveInput) (MoveResult, error) {
	if (in.ToPlaceID == "") == (in.ToContainerID == "") {
		return MoveResult{}, invalid("to_place_id", "must be given, or to_container_id, but not both")
	}
	if in.Quantity != nil && *in.Quantity < 1 {
		return MoveResult{}, invalid("quantity", "must be at least 1")
	}
	var out MoveResult
	receipt, err := s.change(ctx, p, at, home.ThingEdit, ofThing(p, in.ThingID), func(w *write) error {
		out = MoveResult{}
		t, err := w.thing(in.ThingID, "thing_id")
		if err != nil {
			return err
		}
		to, err := w.target(t, in)
		if err != nil {
			return err
		}
		moved := t.ID
		switch {
		case in.Quantity != nil && *in.Quantity > t.Quantity:
			return invalidf("quantity", "must be at most %d", t.Quantity)
		case to == t.Holder():
		case in.Quantity != nil && *in.Quantity < t.Quantity:
			if moved, err = w.split(t, *in.Quantity, to); err != nil {
				return err
			}
			out.SplitFrom = t.ID
		default:
			err = w.move(t, to)
		}
		if err != nil {
			return err
		}
		refs, err := refsOf(w, []string{moved})
		if err == nil {
			out.Thing = refs[0]
		}
		return err
	})
	out.Receipt = receipt
	return out, err
}

// target finds where the thing goes.
func (w *write) target(t *Thing, in MoveInput) (Holder, error) {
	if in.ToPlaceID != "" {
		id, err := w.find(in.ToPlaceID, activity.Place, "to_place_id")
		return Holder{PlaceID: id}, err
	}
	c, err := w.thing(in.ToContainerID, "to_container_id")
	if err != nil {
		return Holder{}, err
	}
	return Holder{ContainerID: c.ID}, w.checkInto(c, t)
}

// checkInto refuses to put a thing into c when c is no container, is inside the thing, or the nesting would get too deep.
// t is nil for a new thing.
func (w *write) checkInto(c, t *Thing) error {
	if t != nil && t.ID == c.ID {
		return wouldCycle()
	}
	if !c.IsContainer {
		return notAContainer()
	}
	where, err := whereabouts(w, []*Thing{c})
	if err != nil {
		return err
	}
	around, _ := where.chain(c)
	height := 0
	if t != nil {
		if slices.ContainsFunc(around, func(o *Thing) bool { return o.ID == t.ID }) {
			return wouldCycle()
		}
		below, err := w.ThingsBelow(t.ID)
		if err != nil {
			return err
		}
		for _, b := range below {
			height = max(height, b.Depth)
		}
	}
	if len(around)+1+height > maxContainerDepth {
		return containersTooDeep()
	}
	return nil
}

// move puts the whole thing elsewhere.
func (w *write) move(t *Thing, to Holder) error {
	moved := t.clone()
	moved.PlaceID, moved.ContainerID, moved.PlacedAt = to.PlaceID, to.ContainerID, w.now
	moved.RowVersion, moved.UpdatedAt = t.RowVersion+1, w.now
	if err := w.UpdateThing(moved); err != nil {
		return err
	}
	var e edit
	e.set("place_id", t.PlaceID, moved.PlaceID)
	e.set("container_id", t.ContainerID, moved.ContainerID)
	e.keep("placed_at", t.PlacedAt, moved.PlacedAt)
	_, err := e.log(w, activity.Entry{Action: "thing.move", SubjectType: activity.Thing, SubjectID: t.ID, SubjectVersion: moved.RowVersion})
	if err != nil {
		return err
	}
	return w.indexWithContents(moved)
}

// split takes n of a thing away as a thing of its own. What belongs to the single piece stays with the old one: serial,
// value, minimum, purchase.
func (w *write) split(t *Thing, n int, to Holder) (string, error) {
	rest := t.clone()
	rest.Quantity, rest.RowVersion, rest.UpdatedAt = t.Quantity-n, t.RowVersion+1, w.now
	if err := w.UpdateThing(rest); err != nil {
		return "", err
	}
	part := &Thing{
		LocationID: t.LocationID, Name: t.Name, NameKey: t.NameKey, PlaceID: to.PlaceID, ContainerID: to.ContainerID, Quantity: n,
		Aliases: t.Aliases, Type: t.Type, Brand: t.Brand, Model: t.Model, Notes: t.Notes, Condition: t.Condition, Tags: t.Tags,
		Custom: t.Custom, Lifecycle: t.Lifecycle, PlacedAt: w.now, SplitFromID: t.ID, CreatedBy: w.p.UserID, RowVersion: 1,
		CreatedAt: w.now, UpdatedAt: w.now,
	}
	return w.logSplit(t, rest, part)
}

// logSplit logs the split with the new thing as its companion, which is stored in between because the main entry names it.
func (w *write) logSplit(t, rest, part *Thing) (string, error) {
	if err := w.newThing(part); err != nil {
		return "", err
	}
	var e edit
	e.set("quantity", t.Quantity, rest.Quantity)
	main, err := e.log(w, activity.Entry{
		Action: "thing.split", SubjectType: activity.Thing, SubjectID: t.ID, SubjectVersion: rest.RowVersion, RelatedID: part.ID,
	})
	if err != nil {
		return "", err
	}
	if err := w.logCreated(part, nil, main); err != nil {
		return "", err
	}
	return part.ID, w.index(part.ID)
}
