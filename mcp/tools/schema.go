package tools

import (
	"github.com/google/jsonschema-go/jsonschema"
)

// The pieces below make input schemas. A schema states every bound that can be told without the database, so that a
// model learns of it before the call and a broken one is refused before anything is counted.

// property is one named field of an object schema.
type property struct {
	name     string
	schema   *jsonschema.Schema
	required bool
}

func required(name string, s *jsonschema.Schema) property { return property{name, s, true} }
func optional(name string, s *jsonschema.Schema) property { return property{name, s, false} }

// object is an object that takes these fields and no other.
func object(description string, props ...property) *jsonschema.Schema {
	s := &jsonschema.Schema{
		Type: "object", Description: description,
		Properties:           map[string]*jsonschema.Schema{},
		AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}},
	}
	for _, p := range props {
		s.Properties[p.name] = p.schema
		s.PropertyOrder = append(s.PropertyOrder, p.name)
		if p.required {
			s.Required = append(s.Required, p.name)
		}
	}
	return s
}

// text is a string of min to max characters.
func text(minimum, maximum int, description string) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string", MaxLength: &maximum, Description: description}
	if minimum > 0 {
		s.MinLength = &minimum
	}
	return s
}

// ref is the id or short code of a row.
func ref(description string) *jsonschema.Schema { return text(1, 64, description) }

// pattern is a string of one form.
func pattern(re, description string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Pattern: re, Description: description}
}

const (
	uuidPattern = `^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$`
	datePattern = `^[0-9]{4}-[0-9]{2}-[0-9]{2}$`
)

// integer is a whole number between two bounds.
func integer(minimum, maximum int, description string) *jsonschema.Schema {
	lo, hi := float64(minimum), float64(maximum)
	return &jsonschema.Schema{Type: "integer", Minimum: &lo, Maximum: &hi, Description: description}
}

func boolean(description string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "boolean", Description: description}
}

// oneOf is a string out of a list.
func oneOf(description string, values ...string) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string", Description: description}
	for _, v := range values {
		s.Enum = append(s.Enum, v)
	}
	return s
}

// list holds minimum to maximum entries.
func list(minimum, maximum int, items *jsonschema.Schema, description string) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "array", Items: items, MaxItems: &maximum, Description: description}
	if minimum > 0 {
		s.MinItems = &minimum
	}
	return s
}

// clearable lets null through: it clears the field.
func clearable(s *jsonschema.Schema) *jsonschema.Schema {
	s.Types, s.Type = []string{s.Type, "null"}, ""
	if s.Enum != nil {
		s.Enum = append(s.Enum, nil)
	}
	return s
}

func money(description string) *jsonschema.Schema {
	return object(description,
		required("amount", pattern(`^-?[0-9]{1,12}(\.[0-9]{1,4})?$`, "A decimal number as text, such as 12.50.")),
		required("currency", pattern(`^[A-Z]{3}$`, "A currency of the location, such as EUR.")))
}

// custom takes any fields: their kinds are the location's to define.
func custom(description string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "object", Description: description}
}

// locationID is what every tool takes (KE-13).
func locationID() property {
	return optional("location_id", pattern(uuidPattern, "The location meant, where several are possible."))
}

// paging are the two fields of a tool that lists.
func paging() []property {
	return []property{
		optional("cursor", text(1, maxCursor, "next_cursor of the page before.")),
		optional("limit", integer(1, 200, "Entries per page, 20 unless given.")),
	}
}
