package tools

import (
	"context"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"gatehouse/app/inventory"
)

type searchThingsInput struct {
	Query   string        `json:"query"`
	Filters searchFilters `json:"filters,omitzero"`
	page
	located
}

type searchFilters struct {
	Type    *string `json:"type,omitzero"`
	PlaceID *string `json:"place_id,omitzero"`
	Tag     *string `json:"tag,omitzero"`
	Status  *string `json:"status,omitzero"`
}

func searchThingsSchema() *jsonschema.Schema {
	return paged(
		required("query", text(0, 200, "Words, each the beginning of a word that must occur; a short code; empty to list by name.")),
		optional("filters", object("All given must hold.",
			optional("type", text(1, 120, "Name or id of a type, such as tool.")),
			optional("place_id", ref("A place, and all below it: id or short code.")),
			optional("tag", text(1, 80, "Name or id of a tag.")),
			optional("status", oneOf("A lifecycle or a state.", slices.Concat(inventory.Lifecycles(), inventory.States())...)))))
}

type searchThingsOutput struct {
	Items []searchItem `json:"items"`
}

type searchItem struct {
	thingFacts
	MatchedBy string    `json:"matched_by"`
	Untrusted thingText `json:"untrusted"`
}

// searchThings answers KE-22.
func searchThings(ctx context.Context, q *query, in searchThingsInput) (*Answer, error) {
	filters := []any{in.Query, in.Filters}
	paging, err := q.paging(in.page, filters)
	if err != nil {
		return nil, err
	}
	found, err := q.set.inventory.SearchThings(ctx, q.p, q.at, inventory.SearchInput{
		Query: in.Query, Type: str(in.Filters.Type), PlaceID: str(in.Filters.PlaceID), Tag: str(in.Filters.Tag),
		Status: str(in.Filters.Status), Paging: paging,
	})
	if err != nil {
		return nil, err
	}
	items := mapped(found.Items, func(h inventory.SearchHit) searchItem {
		return searchItem{factsOf(h.ThingSummary), h.MatchedBy, textOfThing(h.ThingRef)}
	})
	a, err := q.listed(searchThingsOutput{items}, found.Positions, found.More, filters)
	if err == nil && found.Incomplete {
		a.Trimmed = []string{"items"} // more matched than are ordered: the list is not all there is
	}
	return a, err
}
