package inventory

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"gatehouse/app/account"
	"gatehouse/app/activity"
	"gatehouse/app/home"
)

// CreatePlace makes a place (KE-33).
func (s *Service) CreatePlace(ctx context.Context, p *home.Principal, at At, in CreatePlaceInput) (PlaceResult, error) {
	name, problem := cleanName(in.Name, 120)
	if problem != "" {
		return PlaceResult{}, invalid("name", problem)
	}
	var parent func(Reader) (string, error)
	if in.ParentID != "" {
		parent = func(r Reader) (string, error) {
			sub, err := find(r, p, in.ParentID, activity.Place, "parent_id")
			return sub.LocationID, err
		}
	}
	var out PlaceResult
	receipt, err := s.change(ctx, p, at, home.PlaceEdit, parent, func(w *write) error {
		n := draftPlace{name: name, kind: in.Kind, parent: in.ParentID, kindPath: "kind", parentPath: "parent_id"}
		parentID, err := n.parentID(w)
		if err != nil {
			return err
		}
		there, err := w.PlaceNamed(w.access.LocationID, parentID, NameKey(name))
		if err == nil {
			return nameTaken(there.ShortCode)
		}
		if !errors.Is(err, ErrNotFound) {
			return err
		}
		out.Place, err = n.create(w, parentID)
		return err
	})
	out.Receipt = receipt
	return out, err
}

// draftPlace is a place about to be made, its name tidied.
type draftPlace struct {
	name       string
	kind       string
	parent     string
	kindPath   string
	parentPath string
}

// parentID finds the parent in the write's location; no parent is the top.
func (n *draftPlace) parentID(w *write) (string, error) {
	if n.parent == "" {
		return "", nil
	}
	return w.find(n.parent, activity.Place, n.parentPath)
}

// checkKind gives the kind's key. Unplaced is the system's own kind.
func (n *draftPlace) checkKind(w *write) (string, error) {
	key := cmp.Or(strings.TrimSpace(n.kind), KindRoom)
	if !isSlug(key, 40) || key == KindUnplaced {
		return "", n.unknownKind()
	}
	kind, err := w.PlaceKind(w.access.LocationID, key)
	if errors.Is(err, ErrNotFound) {
		return "", n.unknownKind()
	}
	if err != nil {
		return "", err
	}
	if missing := missingFields(kind.Fields, nil, "fields"); len(missing) > 0 {
		return "", invalid(n.kindPath, "has required fields, so a place of this kind is made on its page")
	}
	return kind.Key, nil
}

func (n *draftPlace) unknownKind() error {
	return invalid(n.kindPath, "must be a kind of place of this location, such as floor, room, zone or closet")
}

// create stores the place, last among its siblings, and logs it.
func (n *draftPlace) create(w *write, parentID string) (PlaceRef, error) {
	kind, err := n.checkKind(w)
	if err != nil {
		return PlaceRef{}, err
	}
	known, err := w.PlacesUp([]string{parentID})
	if err != nil {
		return PlaceRef{}, err
	}
	if placeDepth(known, parentID) >= maxPlaceDepth {
		return PlaceRef{}, placesTooDeep()
	}
	position, err := w.nextPosition(parentID)
	if err != nil {
		return PlaceRef{}, err
	}
	p := &Place{
		LocationID: w.access.LocationID, ParentID: parentID, Kind: kind, Name: n.name, NameKey: NameKey(n.name),
		ChildOrder: OrderCustom, Position: position, RowVersion: 1, CreatedAt: w.now, UpdatedAt: w.now,
	}
	if err := w.insertPlace(p); err != nil {
		return PlaceRef{}, err
	}
	known[p.ID] = p
	return placeRef(known, p), nil
}

func (w *write) nextPosition(parentID string) (int, error) {
	siblings, err := w.PlacesIn(w.access.LocationID, parentID)
	next := 1
	for _, p := range siblings {
		next = max(next, p.Position+1)
	}
	return next, err
}

func (w *write) insertPlace(p *Place) error {
	var err error
	if p.ID, err = account.NewID(w.now, w.s.rand); err != nil {
		return err
	}
	if p.ShortCode, err = w.code(activity.Place, p.ID); err != nil {
		return err
	}
	if err := w.InsertPlace(p); err != nil {
		return err
	}
	var e edit
	e.set("name", nil, p.Name)
	e.set("kind", nil, p.Kind)
	e.set("parent_id", nil, p.ParentID)
	_, err = e.log(w, activity.Entry{Action: "place.create", SubjectType: activity.Place, SubjectID: p.ID, SubjectVersion: p.RowVersion})
	return err
}
