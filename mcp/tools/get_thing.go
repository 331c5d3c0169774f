package tools

import (
	"context"

	"github.com/google/jsonschema-go/jsonschema"

	"gatehouse/app/inventory"
)

type getThingInput struct {
	ThingID string `json:"thing_id"`
	located
}

func getThingSchema() *jsonschema.Schema {
	return plainInput(required("thing_id", ref("The thing: id or short code.")))
}

type getThingOutput struct {
	Thing thingDetail `json:"thing"`
}

type thingDetail struct {
	thingFacts
	TypeID      string           `json:"type_id,omitzero"`
	BrandID     string           `json:"brand_id,omitzero"`
	Condition   string           `json:"condition,omitzero"`
	PlaceID     string           `json:"place_id,omitzero"`
	ContainerID string           `json:"container_id,omitzero"`
	IsContainer bool             `json:"is_container"`
	Minimum     *int             `json:"minimum,omitzero"`
	AcquiredOn  string           `json:"acquired_on,omitzero"`
	RowVersion  int              `json:"row_version"`
	CreatedAt   Stamp            `json:"created_at"`
	UpdatedAt   Stamp            `json:"updated_at"`
	Value       *inventory.Money `json:"value,omitzero"`
	Purchase    *purchaseDetail  `json:"purchase,omitzero"`
	Attachments int              `json:"attachments"`
	URL         string           `json:"url"`
	Untrusted   thingDetailText  `json:"untrusted"`
}

type thingDetailText struct {
	thingText
	Type   Text   `json:"type,omitzero"`
	Brand  Text   `json:"brand,omitzero"`
	Model  Text   `json:"model,omitzero"`
	Serial Text   `json:"serial,omitzero"`
	Notes  Text   `json:"notes,omitzero"`
	Tags   []Text `json:"tags,omitempty"`
	Custom Custom `json:"custom,omitempty"`
}

type purchaseDetail struct {
	ID          string           `json:"id"`
	PurchasedOn string           `json:"purchased_on,omitzero"`
	Price       *inventory.Money `json:"price,omitzero"`
	Untrusted   purchaseText     `json:"untrusted"`
}

type purchaseText struct {
	Seller    Text `json:"seller,omitzero"`
	Reference Text `json:"reference,omitzero"`
}

// getThing answers KE-24.
func getThing(ctx context.Context, q *query, in getThingInput) (*Answer, error) {
	t, err := q.set.inventory.GetThing(ctx, q.p, q.at, in.ThingID)
	if err != nil {
		return nil, err
	}
	d := thingDetail{
		thingFacts: factsOf(t.ThingSummary), Condition: t.Condition, PlaceID: t.PlaceID, ContainerID: t.ContainerID,
		IsContainer: t.IsContainer, Minimum: t.Minimum, AcquiredOn: t.AcquiredOn, RowVersion: t.RowVersion,
		CreatedAt: Stamp(t.CreatedAt), UpdatedAt: Stamp(t.UpdatedAt), Value: t.Value, Purchase: purchaseOf(t.Purchase),
		Attachments: t.Attachments, URL: t.URL, Untrusted: detailText(&t),
	}
	if t.Type != nil {
		d.TypeID, d.Untrusted.Type = t.Type.ID, Text(t.Type.Name)
	}
	if t.Brand != nil {
		d.BrandID, d.Untrusted.Brand = t.Brand.ID, Text(t.Brand.Name)
	}
	return &Answer{Data: getThingOutput{d}}, nil
}

func detailText(t *inventory.ThingDetail) thingDetailText {
	return thingDetailText{
		thingText: textOfThing(t.ThingRef), Model: Text(t.Model), Serial: Text(t.Serial), Notes: Text(t.Notes),
		Tags: mapped(t.Tags, func(n inventory.Named) Text { return Text(n.Name) }), Custom: t.Custom,
	}
}

func purchaseOf(p *inventory.PurchaseView) *purchaseDetail {
	if p == nil {
		return nil
	}
	return &purchaseDetail{
		ID: p.ID, PurchasedOn: p.PurchasedOn, Price: p.Price,
		Untrusted: purchaseText{Text(p.Seller), Text(p.Reference)},
	}
}
