package inventory

import (
	"errors"
	"strings"

	"gatehouse/app/account"
)

// readPurchase merges what is sent about the purchase over what is known. nil means it stays as it is.
func (u *updating) readPurchase() (*purchaseChange, error) {
	in := u.in.Purchase
	if in == nil || *in == (PurchaseInput{}) {
		return nil, nil
	}
	if err := checkMoney(u.access); err != nil {
		return nil, err
	}
	old, err := u.PurchaseOf(u.old.ID)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return nil, err
	}
	c := &purchaseChange{old: old, new: Purchase{LocationID: u.access.LocationID, ThingID: u.old.ID}}
	if old != nil {
		c.new = *old
	}
	if in.PurchasedOn != nil {
		c.new.PurchasedOn = u.date("purchase.purchased_on", *in.PurchasedOn)
	}
	u.optional("purchase.seller", in.Seller, &c.new.Seller)
	u.optional("purchase.reference", in.Reference, &c.new.Reference)
	if in.Price != nil {
		c.new.Price = u.money("purchase.price", *in.Price)
		if len(u.list) == 0 {
			err = checkMoney(u.access, c.new.Price)
			return c, err
		}
	}
	return c, nil
}

// optional reads a text of at most 120 characters that may be empty.
func (u *updating) optional(path string, in, out *string) {
	switch {
	case in == nil:
	case strings.TrimSpace(*in) == "":
		*out = ""
	default:
		*out = u.name(path, *in, 120)
	}
}

// purchaseChange is a purchase before, nil when it is new, and after.
type purchaseChange struct {
	old *Purchase
	new Purchase
}

func (u *updating) purchaseEdit(c *purchaseChange) *edit {
	if c == nil {
		return nil
	}
	old := c.old
	if old == nil {
		old = &Purchase{}
	}
	e := &edit{}
	e.set("purchase.purchased_on", old.PurchasedOn, c.new.PurchasedOn)
	e.set("purchase.seller", old.Seller, c.new.Seller)
	e.set("purchase.reference", old.Reference, c.new.Reference)
	e.set("purchase.price", old.Price, c.new.Price)
	if e.empty() {
		return nil
	}
	return e
}

func (u *updating) storePurchase(e *edit, c *purchaseChange) error {
	entry := u.entry("purchase.update")
	if c.old == nil {
		entry.Action = "purchase.create"
		var err error
		if c.new.ID, err = account.NewID(u.now, u.s.rand); err != nil {
			return err
		}
		if c.new.LineID, err = account.NewID(u.now, u.s.rand); err != nil {
			return err
		}
	}
	c.new.RowVersion++
	if err := u.SavePurchase(&c.new, u.now); err != nil {
		return err
	}
	u.result.PurchaseID, entry.RelatedID = c.new.ID, c.new.ID
	_, err := e.log(u.write, entry)
	return err
}
