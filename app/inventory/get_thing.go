package inventory

import (
	"context"
	"errors"

	"gatehouse/app/activity"
	"gatehouse/app/home"
)

// GetThing gives all that is known about one thing (KE-24). What belongs to a module that is off is left out, and money
// the person may not see (KE-63).
func (s *Service) GetThing(ctx context.Context, p *home.Principal, at At, thingID string) (ThingDetail, error) {
	var out ThingDetail
	err := s.read(ctx, p, func(r Reader) error {
		if len(at.open(p, home.ContentView)) == 0 {
			return at.refusal()
		}
		sub, err := find(r, p, thingID, activity.Thing, "thing_id")
		if err != nil {
			return err
		}
		access, err := at.locate(p, home.ContentView, sub.LocationID)
		if err != nil {
			return err
		}
		t, err := oneThing(r, sub.ID)
		if err != nil {
			return err
		}
		out, err = s.detail(r, t, access)
		return err
	})
	return out, err
}

func (s *Service) detail(r Reader, t *Thing, access *home.Access) (ThingDetail, error) {
	where, err := whereabouts(r, []*Thing{t})
	if err != nil {
		return ThingDetail{}, err
	}
	d := ThingDetail{
		ThingSummary: where.summary(t, access, s.Now()), Type: t.Type, Brand: t.Brand, Condition: t.Condition,
		PlaceID: t.PlaceID, ContainerID: t.ContainerID, IsContainer: t.IsContainer, AcquiredOn: t.AcquiredOn,
		RowVersion: t.RowVersion, CreatedAt: t.CreatedAt, UpdatedAt: t.UpdatedAt, Model: t.Model, Serial: t.Serial,
		Notes: t.Notes, Tags: t.Tags, Custom: t.Custom, URL: s.publicURL + "/things/" + t.ID,
	}
	if access.HasModule(home.ModuleConsumables) {
		d.Minimum = t.Minimum
	}
	if !seesMoney(access) {
		return d, nil
	}
	d.Value = t.Value
	bought, err := r.PurchaseOf(t.ID)
	if errors.Is(err, ErrNotFound) {
		return d, nil
	}
	if err != nil {
		return ThingDetail{}, err
	}
	d.Purchase = &PurchaseView{ID: bought.ID, PurchasedOn: bought.PurchasedOn, Seller: bought.Seller, Reference: bought.Reference, Price: bought.Price}
	return d, nil
}
