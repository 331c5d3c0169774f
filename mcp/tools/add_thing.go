package tools

import (
	"context"

	"github.com/google/jsonschema-go/jsonschema"

	"gatehouse/app/inventory"
)

type addThingInput struct {
	Items []inventory.AddItem `json:"items"`
	located
}

func addThingSchema() *jsonschema.Schema {
	item := append([]property{
		required("name", text(1, 200, "")),
		optional("place_id", ref("Where it is: a place, by id or short code. Without a holder it goes to Unplaced.")),
		optional("container_id", ref("Or the container it is in.")),
		optional("new_place", object("Or a place by name: made, or the existing one of that name under that parent.",
			required("name", text(1, 120, "")),
			optional("parent_id", ref("The place it lies in; none for the top of the location.")),
			optional("kind", pattern(`^[a-z][a-z0-9_]{0,39}$`, "room unless given.")))),
	}, thingFields(false)...)
	return plainInput(required("items", list(1, 20, object("", item...), "The new things.")))
}

type addThingOutput struct {
	undo
	Things []thingRef `json:"things"`
	Places []placeRef `json:"places"`
	Placed []placed   `json:"placed"`
	NotSet []notSet   `json:"not_set"`
}

type placed struct {
	Item   int    `json:"item"`
	Status string `json:"status"`
	Place  *int   `json:"place"`
}

type notSet struct {
	Item      int       `json:"item"`
	Field     string    `json:"field"`
	Untrusted valueText `json:"untrusted"`
}

type valueText struct {
	Value Text `json:"value"`
}

// addThing answers KE-29: all things or none.
func addThing(ctx context.Context, q *query, in addThingInput) (*Answer, error) {
	r, err := q.set.inventory.AddThings(ctx, q.p, q.at, in.Items)
	if err != nil {
		return nil, err
	}
	return &Answer{Data: addThingOutput{
		undo: undoOf(r.Receipt), Things: mapped(r.Things, refOfThing), Places: mapped(r.Places, refOfPlace),
		Placed: mapped(r.Placed, func(p inventory.Placed) placed { return placed(p) }),
		NotSet: mapped(r.NotSet, func(n inventory.NotSet) notSet {
			return notSet{n.Item, n.Field, valueText{Text(n.Value)}}
		}),
	}}, nil
}
