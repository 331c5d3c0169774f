package inventory

import (
	"cmp"
	"errors"
	"slices"

	"gatehouse/app/home"
)

// may reports whether the operation can run at a location for the caller.
func (at At) may(a *home.Access, action home.Action) bool {
	return a != nil && (at.Available == nil || at.Available(a)) && home.Can(a, action)
}

// refusal is the answer where it cannot. A door hides the reason, so that nothing leaks; without a door the location is
// known to be visible, and only the role can be too low.
func (at At) refusal() *Error {
	if at.Available == nil {
		return &Error{Code: CodeForbidden, Hint: "Your role in this location does not allow this."}
	}
	return unavailable()
}

// open lists the locations where the operation can run.
func (at At) open(p *home.Principal, action home.Action) []*home.Access {
	var out []*home.Access
	for i := range p.Locations {
		if at.may(&p.Locations[i], action) {
			out = append(out, &p.Locations[i])
		}
	}
	return out
}

// locate finds the one location of an operation (KE-14): the argument, the location of the row the input addresses, the
// only one where the operation can run. row is empty when no row is addressed. An argument that contradicts the row is
// the same as a row that is not there.
func (at At) locate(p *home.Principal, action home.Action, row string) (*home.Access, error) {
	id := cmp.Or(at.LocationID, row)
	switch {
	case at.LocationID != "" && p.At(at.LocationID) == nil && at.Available == nil:
		return nil, notFound()
	case id != "" && !at.may(p.At(id), action):
		return nil, at.refusal()
	case row != "" && row != id:
		return nil, notFound()
	case id != "":
		return p.At(id), nil
	}
	open := at.open(p, action)
	switch len(open) {
	case 0:
		return nil, at.refusal()
	case 1:
		return open[0], nil
	default:
		return nil, manyLocations(accessIDs(open))
	}
}

// locateAll is locate for a global reading: without argument and row it gives every location where it can run.
func (at At) locateAll(p *home.Principal, action home.Action, row string) ([]*home.Access, error) {
	if at.LocationID == "" && row == "" {
		open := at.open(p, action)
		if len(open) == 0 {
			return nil, at.refusal()
		}
		return open, nil
	}
	a, err := at.locate(p, action, row)
	return []*home.Access{a}, err
}

func accessIDs(list []*home.Access) []string {
	out := make([]string, len(list))
	for i, a := range list {
		out[i] = a.LocationID
	}
	slices.Sort(out)
	return out
}

func principalLocations(p *home.Principal) []string {
	out := make([]string, len(p.Locations))
	for i := range p.Locations {
		out[i] = p.Locations[i].LocationID
	}
	return out
}

// find gives the live row that a caller's id or code names. kind is activity.Thing or activity.Place; a row of the other
// kind is not found. path is the input's field, for the error.
func find(r Reader, p *home.Principal, typed, kind, path string) (Subject, error) {
	ref, ok := ParseRef(typed)
	if !ok {
		return Subject{}, invalid(path, "must be an id or a short code of 6 signs")
	}
	s, err := r.FindSubject(ref, principalLocations(p))
	if errors.Is(err, ErrNotFound) || err == nil && s.Type != kind {
		return Subject{}, notFound()
	}
	return s, err
}

// seesMoney is the money gate (KE-63).
func seesMoney(a *home.Access) bool {
	return a.HasModule(home.ModuleMoney) && home.Can(a, home.MoneyView)
}
