package tools

import (
	"context"

	"github.com/google/jsonschema-go/jsonschema"

	"gatehouse/app/inventory"
)

type moveThingInput struct {
	ThingID       string  `json:"thing_id"`
	ToPlaceID     *string `json:"to_place_id,omitzero"`
	ToContainerID *string `json:"to_container_id,omitzero"`
	Quantity      *int    `json:"quantity,omitzero"`
	located
}

func moveThingSchema() *jsonschema.Schema {
	return plainInput(
		required("thing_id", ref("The thing: id or short code.")),
		optional("to_place_id", ref("The place it goes to: id or short code.")),
		optional("to_container_id", ref("Or the container it goes into.")),
		optional("quantity", integer(1, 100_000, "How many of them, all unless given; the rest stays.")))
}

type moveThingOutput struct {
	undo
	Thing     thingRef `json:"thing"`
	SplitFrom string   `json:"split_from,omitzero"`
}

// moveThing answers KE-31.
func moveThing(ctx context.Context, q *query, in moveThingInput) (*Answer, error) {
	r, err := q.set.inventory.MoveThing(ctx, q.p, q.at, inventory.MoveInput{
		ThingID: in.ThingID, ToPlaceID: str(in.ToPlaceID), ToContainerID: str(in.ToContainerID), Quantity: in.Quantity,
	})
	if err != nil {
		return nil, err
	}
	return &Answer{Data: moveThingOutput{undoOf(r.Receipt), refOfThing(r.Thing), r.SplitFrom}}, nil
}
