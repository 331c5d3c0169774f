package tools

import (
	"context"

	"github.com/google/jsonschema-go/jsonschema"

	"gatehouse/app/inventory"
)

type createPlaceInput struct {
	Name     string  `json:"name"`
	Kind     *string `json:"kind,omitzero"`
	ParentID *string `json:"parent_id,omitzero"`
	located
}

func createPlaceSchema() *jsonschema.Schema {
	return plainInput(
		required("name", text(1, 120, "")),
		optional("kind", pattern(`^[a-z][a-z0-9_]{0,39}$`, "floor, room, zone, closet or one of the location's own; room unless given.")),
		optional("parent_id", ref("The place it lies in: id or short code; none for the top of the location.")))
}

type createPlaceOutput struct {
	undo
	Place placeRef `json:"place"`
}

// createPlace answers KE-33.
func createPlace(ctx context.Context, q *query, in createPlaceInput) (*Answer, error) {
	r, err := q.set.inventory.CreatePlace(ctx, q.p, q.at, inventory.CreatePlaceInput{
		Name: in.Name, Kind: str(in.Kind), ParentID: str(in.ParentID),
	})
	if err != nil {
		return nil, err
	}
	return &Answer{Data: createPlaceOutput{undoOf(r.Receipt), refOfPlace(r.Place)}}, nil
}
