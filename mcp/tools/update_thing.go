package tools

import (
	"context"
	"math"

	"github.com/google/jsonschema-go/jsonschema"

	"gatehouse/app/inventory"
)

type updateThingInput struct {
	ThingID  string                   `json:"thing_id"`
	Fields   *inventory.UpdateFields  `json:"fields,omitzero"`
	Purchase *inventory.PurchaseInput `json:"purchase,omitzero"`
	Version  *int                     `json:"version,omitzero"`
	located
}

func updateThingSchema() *jsonschema.Schema {
	fields := append([]property{optional("name", text(1, 200, ""))}, thingFields(true)...)
	return plainInput(
		required("thing_id", ref("The thing: id or short code.")),
		optional("fields", object("What changes; null clears a field.", fields...)),
		optional("purchase", object("How it was bought; what is left out stays.",
			optional("purchased_on", pattern(datePattern, "YYYY-MM-DD.")),
			optional("seller", text(0, 120, "")),
			optional("reference", text(0, 120, "Such as an order number.")),
			optional("price", money("")))),
		optional("version", integer(1, math.MaxInt32, "The row_version you read: refuse if it changed since.")))
}

type updateThingOutput struct {
	undo
	Thing         thingRef `json:"thing"`
	ChangedFields []string `json:"changed_fields"`
	RowVersion    int      `json:"row_version"`
	PurchaseID    string   `json:"purchase_id,omitzero"`
}

// updateThing answers KE-30.
func updateThing(ctx context.Context, q *query, in updateThingInput) (*Answer, error) {
	r, err := q.set.inventory.UpdateThing(ctx, q.p, q.at, inventory.UpdateInput{
		ThingID: in.ThingID, Fields: in.Fields, Purchase: in.Purchase, Version: in.Version,
	})
	if err != nil {
		return nil, err
	}
	return &Answer{Data: updateThingOutput{
		undoOf(r.Receipt), refOfThing(r.Thing), r.ChangedFields, r.RowVersion, r.PurchaseID,
	}}, nil
}
