package tools

import (
	"context"

	"github.com/google/jsonschema-go/jsonschema"

	"gatehouse/app/inventory"
)

type listContentsInput struct {
	PlaceID     *string `json:"place_id,omitzero"`
	ContainerID *string `json:"container_id,omitzero"`
	Depth       *int    `json:"depth,omitzero"`
	page
	located
}

func listContentsSchema() *jsonschema.Schema {
	return paged(
		optional("place_id", ref("A place: id or short code. Without it and container_id: the top of the location.")),
		optional("container_id", ref("A container instead: id or short code.")),
		optional("depth", integer(1, 3, "How many levels to look down, 1 unless given.")))
}

type listContentsOutput struct {
	Parent    any            `json:"parent"` // placeRef, thingRef or null
	Items     []contentsItem `json:"items"`
	Truncated bool           `json:"truncated,omitzero"`
}

type contentsItem struct {
	Depth int            `json:"depth"`
	Place *placeRef      `json:"place,omitzero"`
	Thing *contentsThing `json:"thing,omitzero"`
}

type contentsThing struct {
	rowID
	Quantity    int       `json:"quantity"`
	IsContainer bool      `json:"is_container"`
	Untrusted   thingText `json:"untrusted"`
}

// listContents answers KE-25.
func listContents(ctx context.Context, q *query, in listContentsInput) (*Answer, error) {
	depth := 1
	if in.Depth != nil {
		depth = *in.Depth
	}
	filters := []any{str(in.PlaceID), str(in.ContainerID), depth}
	paging, err := q.paging(in.page, filters)
	if err != nil {
		return nil, err
	}
	found, err := q.set.inventory.ListContents(ctx, q.p, q.at, inventory.ContentsInput{
		PlaceID: str(in.PlaceID), ContainerID: str(in.ContainerID), Depth: depth, Paging: paging,
	})
	if err != nil {
		return nil, err
	}
	out := listContentsOutput{Items: mapped(found.Items, contentsOf), Truncated: found.Truncated}
	switch {
	case found.ParentPlace != nil:
		out.Parent = refOfPlace(*found.ParentPlace)
	case found.ParentThing != nil:
		out.Parent = refOfThing(*found.ParentThing)
	}
	return q.listed(out, found.Positions, found.More, filters)
}

func contentsOf(i inventory.ContentsItem) contentsItem {
	out := contentsItem{Depth: i.Depth}
	if i.Place != nil {
		p := refOfPlace(*i.Place)
		out.Place = &p
	}
	if i.Thing != nil {
		out.Thing = &contentsThing{rowOfThing(*i.Thing), i.Quantity, i.IsContainer, textOfThing(*i.Thing)}
	}
	return out
}
