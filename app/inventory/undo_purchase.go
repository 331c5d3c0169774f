package inventory

import (
	"encoding/json"
	"errors"

	"gatehouse/app/activity"
)

// purchaseKeys are the stored values of a purchase.
var purchaseKeys = []string{"purchase.purchased_on", "purchase.seller", "purchase.reference", "purchase.price"}

func (b *Purchase) storedValue(key string) any {
	switch key {
	case "purchase.purchased_on":
		return b.PurchasedOn
	case "purchase.seller":
		return b.Seller
	case "purchase.reference":
		return b.Reference
	case "purchase.price":
		return b.Price
	}
	return nil
}

func (b *Purchase) restore(key string, raw json.RawMessage) error {
	var err error
	switch key {
	case "purchase.purchased_on":
		b.PurchasedOn, err = readValue[string](raw)
	case "purchase.seller":
		b.Seller, err = readValue[string](raw)
	case "purchase.reference":
		b.Reference, err = readValue[string](raw)
	case "purchase.price":
		b.Price, err = readMoney(raw)
	}
	return err
}

// bought gives the thing of a purchase's entry, its purchase, and the values kept with the entry, or refuses when they are
// not as the entry left them.
func (u *undoing) bought(e activity.Record, whole bool) (*Thing, *Purchase, undoValues, error) {
	values, err := readUndo(e)
	if err != nil {
		return nil, nil, values, err
	}
	t, err := u.liveThing(e.SubjectID)
	if err != nil {
		return nil, nil, values, err
	}
	if t == nil {
		return nil, nil, values, u.gone(e)
	}
	b, err := u.PurchaseOf(t.ID)
	if errors.Is(err, ErrNotFound) || err == nil && b.ID != e.RelatedID {
		return nil, nil, values, u.fieldsChanged(e, fieldsOf([]activity.Record{e}))
	}
	if err != nil {
		return nil, nil, values, err
	}
	if whole {
		for _, key := range purchaseKeys {
			if values.After[key] == nil {
				values.After[key] = json.RawMessage("null")
			}
		}
	}
	fields, err := values.differing(b.storedValue)
	if err == nil && len(fields) > 0 {
		err = u.fieldsChanged(e, fields)
	}
	return t, b, values, err
}

// createdPurchase takes a purchase off its thing, as long as nothing was added to it.
func (u *undoing) createdPurchase(e activity.Record) (*restoration, error) {
	t, b, _, err := u.bought(e, true)
	if err != nil {
		return nil, err
	}
	next := u.next(t)
	return &restoration{version: next.RowVersion, changes: reversed(e.Changes), apply: func() error {
		if err := u.DropPurchase(b); err != nil {
			return err
		}
		return u.UpdateThing(next)
	}}, nil
}

// changedPurchase gives a purchase its old values back.
func (u *undoing) changedPurchase(e activity.Record) (*restoration, error) {
	t, b, values, err := u.bought(e, false)
	if err != nil {
		return nil, err
	}
	for key, raw := range values.Before {
		if err := b.restore(key, raw); err != nil {
			return nil, err
		}
	}
	b.RowVersion++
	next := u.next(t)
	return &restoration{version: next.RowVersion, changes: reversed(e.Changes), apply: func() error {
		if err := u.SavePurchase(b, u.now); err != nil {
			return err
		}
		return u.UpdateThing(next)
	}}, nil
}
