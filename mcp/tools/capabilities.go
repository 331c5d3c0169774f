package tools

import (
	"context"
	"slices"

	"gatehouse/app/home"
)

// listInput is the input of a tool that lists and has no filter.
type listInput struct {
	page
	located
}

type capabilitiesOutput struct {
	Scope     string               `json:"scope"`
	Door      string               `json:"door"`
	Locations []locationCapability `json:"locations"`
}

type locationCapability struct {
	ID        string    `json:"id"`
	Role      home.Role `json:"role"`
	TimeZone  string    `json:"time_zone"`
	Currency  string    `json:"currency"`
	SeesMoney bool      `json:"sees_money"`
	Modules   []string  `json:"modules"`
	Tools     []string  `json:"tools"`
	Untrusted nameText  `json:"untrusted"`
}

// capabilities answers KE-20 and KE-82: scope, and for each location role, modules and tools.
func capabilities(ctx context.Context, q *query, in listInput) (*Answer, error) {
	paging, err := q.paging(in.page, nil)
	if err != nil {
		return nil, err
	}
	found, err := q.set.inventory.Locations(ctx, q.p, q.at, paging)
	if err != nil {
		return nil, err
	}
	out := capabilitiesOutput{Scope: Read, Door: q.set.door, Locations: mapped(found.Items, q.capability)}
	if q.p.CanWrite() {
		out.Scope = Write
	}
	return q.listed(out, found.Positions, found.More, nil)
}

func (q *query) capability(a home.Access) locationCapability {
	return locationCapability{
		ID: a.LocationID, Role: a.Role, TimeZone: a.TimeZone, Currency: a.Currency,
		SeesMoney: a.HasModule(home.ModuleMoney) && home.Can(&a, home.MoneyView),
		Modules:   slices.Sorted(slices.Values(a.Modules)), Tools: q.set.toolsAt(q.p, q.set.door, &a),
		Untrusted: nameText{Text(a.Name)},
	}
}
