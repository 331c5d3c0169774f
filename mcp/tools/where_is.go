package tools

import (
	"context"

	"github.com/google/jsonschema-go/jsonschema"

	"gatehouse/app/inventory"
)

type whereIsInput struct {
	Query string `json:"query"`
	located
}

func whereIsSchema() *jsonschema.Schema {
	return plainInput(required("query", text(1, 200, "What the thing is called, or its short code.")))
}

type whereIsOutput struct {
	Items []whereItem `json:"items"`
}

type whereItem struct {
	thingFacts
	Untrusted thingText `json:"untrusted"`
	Uncertain bool      `json:"uncertain"`
}

// whereIs answers KE-23.
func whereIs(ctx context.Context, q *query, in whereIsInput) (*Answer, error) {
	found, err := q.set.inventory.WhereIs(ctx, q.p, q.at, in.Query)
	if err != nil {
		return nil, err
	}
	return &Answer{Data: whereIsOutput{mapped(found, func(h inventory.WhereHit) whereItem {
		return whereItem{factsOf(h.ThingSummary), textOfThing(h.ThingRef), h.Uncertain}
	})}}, nil
}
