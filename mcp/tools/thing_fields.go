package tools

import (
	"github.com/google/jsonschema-go/jsonschema"

	"gatehouse/app/inventory"
)

// thingFields are the fields of a thing that a tool takes, with the bounds they have everywhere (KE-58, KE-59). null
// clears a field when the thing is changed; when it is made, null is the same as nothing.
func thingFields(mayClear bool) []property {
	clear := func(s *jsonschema.Schema) *jsonschema.Schema {
		if mayClear {
			return clearable(s)
		}
		return s
	}
	return []property{
		optional("quantity", integer(0, 100_000, "How many; 0 only for a consumable, 1 for a container.")),
		optional("aliases", clear(list(0, 20, text(1, 120, ""), "Other names; the whole list."))),
		optional("type", clear(text(1, 120, "Name or id of an existing type, such as tool."))),
		optional("brand", clear(text(1, 120, "Name or id of an existing brand."))),
		optional("model", clear(text(1, 120, ""))),
		optional("serial", clear(text(1, 100, "Serial number."))),
		optional("notes", clear(text(1, 2000, ""))),
		optional("condition", clear(oneOf("", inventory.Conditions()...))),
		optional("tags", clear(list(0, 20, text(1, 80, ""), "Names or ids; the whole list. Unknown names become new tags."))),
		optional("custom", clear(custom("Fields the type defines, by key; null removes one."))),
		optional("is_container", boolean("Whether it can hold things.")),
		optional("acquired_on", clear(pattern(datePattern, "YYYY-MM-DD, not in the future."))),
		optional("value", clear(money("What it is worth."))),
		optional("minimum", clear(integer(0, 100_000, "Of a consumable: low_stock at or below this."))),
	}
}
