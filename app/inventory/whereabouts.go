package inventory

import (
	"slices"
	"time"

	"gatehouse/app/home"
)

// surroundings are the containers and places around some things.
type surroundings struct {
	containers map[string]*Thing
	places     map[string]*Place
}

// whereabouts reads what is around the things, up to the top of their locations.
func whereabouts(r Reader, things []*Thing) (*surroundings, error) {
	w := &surroundings{containers: map[string]*Thing{}}
	for next := things; len(next) > 0; {
		var missing []string
		for _, t := range next {
			if t.ContainerID != "" && w.containers[t.ContainerID] == nil {
				missing = append(missing, t.ContainerID)
			}
		}
		if len(missing) == 0 {
			break
		}
		found, err := r.Things(missing)
		if err != nil {
			return nil, err
		}
		next = nil
		for id, t := range found {
			w.containers[id] = t
			next = append(next, t)
		}
	}
	var placeIDs []string
	for _, t := range slices.Concat(things, values(w.containers)) {
		if t.PlaceID != "" && !slices.Contains(placeIDs, t.PlaceID) {
			placeIDs = append(placeIDs, t.PlaceID)
		}
	}
	var err error
	w.places, err = r.PlacesUp(placeIDs)
	return w, err
}

func values(m map[string]*Thing) []*Thing {
	out := make([]*Thing, 0, len(m))
	for _, t := range m {
		out = append(out, t)
	}
	return out
}

// chain gives the containers around a thing, nearest first, and the place they stand in.
func (w *surroundings) chain(t *Thing) (containers []*Thing, place *Place) {
	for range maxContainerDepth + 1 {
		if t.ContainerID == "" {
			return containers, w.places[t.PlaceID]
		}
		if t = w.containers[t.ContainerID]; t == nil {
			break
		}
		containers = append(containers, t)
	}
	return containers, nil
}

// path gives the names from the top place down to what holds the thing.
func (w *surroundings) path(t *Thing) []string {
	containers, place := w.chain(t)
	var path []string
	if place != nil {
		path = placePath(w.places, place.ID)
	}
	for _, c := range slices.Backward(containers) {
		path = append(path, c.Name)
	}
	return path
}

// unplaced reports whether a thing is, itself or with its containers, in Unplaced.
func (w *surroundings) unplaced(t *Thing) bool {
	_, place := w.chain(t)
	for range maxPlaceDepth + 1 {
		if place == nil {
			return false
		}
		if place.IsUnplaced {
			return true
		}
		place = w.places[place.ParentID]
	}
	return false
}

func (w *surroundings) ref(t *Thing) ThingRef {
	return ThingRef{ID: t.ID, ShortCode: t.ShortCode, LocationID: t.LocationID, Name: t.Name, Aliases: t.Aliases, Path: w.path(t)}
}

// uncertain reports whether one would look for the thing in vain where it is on record.
func (w *surroundings) uncertain(t *Thing, now time.Time) bool {
	return w.unplaced(t) || t.doubtful(now)
}

func (w *surroundings) summary(t *Thing, a *home.Access, now time.Time) ThingSummary {
	s := ThingSummary{ThingRef: w.ref(t), Quantity: t.Quantity, Lifecycle: t.Lifecycle, States: []string{}, LastSeenAt: t.LastSeenAt}
	if w.uncertain(t, now) {
		s.States = append(s.States, StateUncertain)
	}
	if t.Lifecycle != LifecycleInUse {
		s.States = append(s.States, StateEnded)
	}
	if t.Minimum != nil && t.Quantity <= *t.Minimum && a != nil && a.HasModule(home.ModuleConsumables) {
		s.States = append(s.States, StateLowStock)
	}
	return s
}

// refsOf gives the references of stored things in the order of the ids.
func refsOf(r Reader, ids []string) ([]ThingRef, error) {
	things, err := r.Things(ids)
	if err != nil {
		return nil, err
	}
	where, err := whereabouts(r, values(things))
	if err != nil {
		return nil, err
	}
	out := make([]ThingRef, 0, len(ids))
	for _, id := range ids {
		if t := things[id]; t != nil {
			out = append(out, where.ref(t))
		}
	}
	return out, nil
}
