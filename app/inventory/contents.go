package inventory

import (
	"cmp"
	"context"
	"slices"

	"gatehouse/app/activity"
	"gatehouse/app/home"
)

const (
	maxContentsDepth = 3
	maxContents      = 1000
)

// ListContents walks what is inside a place, a container or the location: places first in their order, then things by
// name, each followed by what is inside it (KE-25). The walk stops at 1,000 entries.
func (s *Service) ListContents(ctx context.Context, p *home.Principal, at At, in ContentsInput) (ContentsResult, error) {
	in.Depth = cmp.Or(in.Depth, 1)
	switch {
	case in.PlaceID != "" && in.ContainerID != "":
		return ContentsResult{}, invalid("container_id", "must not be given together with place_id")
	case in.Depth < 1 || in.Depth > maxContentsDepth:
		return ContentsResult{}, invalidf("depth", "must be 1 to %d", maxContentsDepth)
	}
	var out ContentsResult
	err := s.read(ctx, p, func(r Reader) error {
		w, err := startWalk(r, p, at, in)
		if err != nil {
			return err
		}
		if err := w.inside(w.start, 1, in.Depth); err != nil {
			return err
		}
		out = w.result
		out.Page, err = pageOf(w.items, contentsID, in.Paging)
		return err
	})
	return out, err
}

func contentsID(c ContentsItem) string {
	if c.Place != nil {
		return c.Place.ID
	}
	return c.Thing.ID
}

// node is something whose inside is walked; neither place nor container is the top.
type node struct {
	Holder
	order string
	path  []string
}

type walk struct {
	r          Reader
	locationID string
	start      node
	items      []ContentsItem
	result     ContentsResult
}

// startWalk finds the location and the parent.
func startWalk(r Reader, p *home.Principal, at At, in ContentsInput) (*walk, error) {
	if len(at.open(p, home.ContentView)) == 0 {
		return nil, at.refusal()
	}
	var sub Subject
	var err error
	switch {
	case in.PlaceID != "":
		sub, err = find(r, p, in.PlaceID, activity.Place, "place_id")
	case in.ContainerID != "":
		sub, err = find(r, p, in.ContainerID, activity.Thing, "container_id")
	}
	if err != nil {
		return nil, err
	}
	access, err := at.locate(p, home.ContentView, sub.LocationID)
	if err != nil {
		return nil, err
	}
	w := &walk{r: r, locationID: access.LocationID}
	switch sub.Type {
	case activity.Place:
		return w, w.fromPlace(sub.ID)
	case activity.Thing:
		return w, w.fromContainer(sub.ID)
	default:
		w.start.order, err = r.TopOrder(access.LocationID)
		return w, err
	}
}

func (w *walk) fromPlace(id string) error {
	known, err := w.r.PlacesUp([]string{id})
	if err != nil {
		return err
	}
	if known[id] == nil {
		return notFound()
	}
	ref := placeRef(known, known[id])
	w.result.ParentPlace = &ref
	w.start = node{Holder: Holder{PlaceID: id}, order: known[id].ChildOrder, path: ref.Path}
	return nil
}

func (w *walk) fromContainer(id string) error {
	t, err := oneThing(w.r, id)
	if err != nil {
		return err
	}
	if !t.IsContainer {
		return notAContainer()
	}
	where, err := whereabouts(w.r, []*Thing{t})
	if err != nil {
		return err
	}
	ref := where.ref(t)
	w.result.ParentThing = &ref
	w.start = node{Holder: Holder{ContainerID: id}, path: append(slices.Clone(ref.Path), t.Name)}
	return nil
}

// inside walks what is directly in a node, and below that while depth lasts.
func (w *walk) inside(n node, depth, last int) error {
	if n.ContainerID == "" {
		places, err := w.r.PlacesIn(w.locationID, n.PlaceID)
		if err != nil {
			return err
		}
		sortPlaces(places, n.order)
		for _, p := range places {
			if err := w.place(p, n, depth, last); err != nil || w.result.Truncated {
				return err
			}
		}
	}
	if n.Holder == (Holder{}) {
		return nil
	}
	things, err := w.r.ThingsIn(n.Holder, maxContents-len(w.items)+1)
	if err != nil {
		return err
	}
	for _, t := range things {
		if err := w.thing(t, n, depth, last); err != nil || w.result.Truncated {
			return err
		}
	}
	return nil
}

func (w *walk) place(p *Place, in node, depth, last int) error {
	path := append(slices.Clone(in.path), p.Name)
	ref := PlaceRef{ID: p.ID, ShortCode: p.ShortCode, LocationID: p.LocationID, Kind: p.Kind, Name: p.Name, Path: path}
	if !w.add(ContentsItem{Depth: depth, Place: &ref}) || depth == last {
		return nil
	}
	return w.inside(node{Holder: Holder{PlaceID: p.ID}, order: p.ChildOrder, path: path}, depth+1, last)
}

func (w *walk) thing(t *Thing, in node, depth, last int) error {
	ref := ThingRef{ID: t.ID, ShortCode: t.ShortCode, LocationID: t.LocationID, Name: t.Name, Aliases: t.Aliases, Path: in.path}
	if !w.add(ContentsItem{Depth: depth, Thing: &ref, Quantity: t.Quantity, IsContainer: t.IsContainer}) || depth == last || !t.IsContainer {
		return nil
	}
	return w.inside(node{Holder: Holder{ContainerID: t.ID}, path: append(slices.Clone(in.path), t.Name)}, depth+1, last)
}

// add appends an entry, or reports that the walk is over.
func (w *walk) add(item ContentsItem) bool {
	if len(w.items) == maxContents {
		w.result.Truncated = true
		return false
	}
	w.items = append(w.items, item)
	return true
}
