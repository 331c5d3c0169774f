package tools

import (
	"context"

	"gatehouse/app/home"
)

type listLocationsOutput struct {
	Items []locationItem `json:"items"`
}

type locationItem struct {
	ID        string    `json:"id"`
	Role      home.Role `json:"role"`
	TimeZone  string    `json:"time_zone"`
	Untrusted nameText  `json:"untrusted"`
}

// listLocations answers KE-21.
func listLocations(ctx context.Context, q *query, in listInput) (*Answer, error) {
	paging, err := q.paging(in.page, nil)
	if err != nil {
		return nil, err
	}
	found, err := q.set.inventory.Locations(ctx, q.p, q.at, paging)
	if err != nil {
		return nil, err
	}
	items := mapped(found.Items, func(a home.Access) locationItem {
		return locationItem{ID: a.LocationID, Role: a.Role, TimeZone: a.TimeZone, Untrusted: nameText{Text(a.Name)}}
	})
	return q.listed(listLocationsOutput{items}, found.Positions, found.More, nil)
}
