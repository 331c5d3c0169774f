package inventory

import "gatehouse/app/activity"

// createdPlace puts a new place into the trash while it is empty.
func (u *undoing) createdPlace(e activity.Record) (*restoration, error) {
	known, err := u.PlacesUp([]string{e.SubjectID})
	if err != nil {
		return nil, err
	}
	p := known[e.SubjectID]
	if p == nil {
		return nil, u.gone(e)
	}
	if err := u.holdsNothing(e, Holder{PlaceID: p.ID}); err != nil {
		return nil, err
	}
	below, err := u.PlacesIn(p.LocationID, p.ID)
	if err != nil {
		return nil, err
	}
	if len(below) > 0 {
		return nil, refuse(e, ReasonInUse)
	}
	next := *p
	next.RowVersion, next.UpdatedAt = p.RowVersion+1, u.now
	return &restoration{version: next.RowVersion, apply: func() error { return u.TrashPlace(&next, u.p.UserID) }}, nil
}
