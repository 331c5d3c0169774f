package tools

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"gatehouse/mcp"
)

// argumentError says what the first wrong path must be: a model mends one thing at a time. The sentence comes from the
// schema, so it tells the whole rule and not only the bound that broke.
func argumentError(schema *jsonschema.Schema, f mcp.FieldError) *Error {
	pointer := known(schema, f.InstancePath)
	path := mcp.FieldError{InstancePath: pointer}.Path()
	if name, ok := missingProperty(f.Message); ok {
		return invalid(join(path, name), "is required")
	}
	switch f.Message {
	case "must NOT have additional properties":
		return invalid(orWhole(path), "has a field that is not known here")
	case "must NOT be given twice":
		if pointer == f.InstancePath {
			return invalid(orWhole(path), "is given twice")
		}
		return invalid(orWhole(path), "has a field given twice")
	case "must be well-formed text":
		return invalid(orWhole(path), "must be valid Unicode text")
	}
	if rule := ruleOf(at(schema, f.InstancePath)); rule != "" {
		return invalid(orWhole(path), rule)
	}
	return invalid(orWhole(path), f.Message)
}

func orWhole(path string) string {
	if path == "" {
		return "arguments"
	}
	return path
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func missingProperty(message string) (string, bool) {
	name, ok := strings.CutPrefix(message, "must have required property '")
	return strings.TrimSuffix(name, "'"), ok
}

// at finds the piece of a schema that a JSON Pointer into the arguments leads to, or nil.
func at(s *jsonschema.Schema, pointer string) *jsonschema.Schema {
	for tok := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		switch {
		case s == nil || tok == "":
		case s.Items != nil:
			s = s.Items
		default:
			s = s.Properties[tok]
		}
	}
	return s
}

// known cuts a JSON Pointer where it leaves the schema: the names beyond were made up by the sender and are not repeated.
func known(s *jsonschema.Schema, pointer string) string {
	end := 0
	for tok := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if s = at(s, "/"+tok); s == nil {
			break
		}
		end += 1 + len(tok)
	}
	return pointer[:min(end, len(pointer))]
}

// ruleOf words what a piece of a schema asks for.
func ruleOf(s *jsonschema.Schema) string {
	if s == nil {
		return ""
	}
	kind := s.Type
	if kind == "" && len(s.Types) > 0 {
		kind = s.Types[0]
	}
	switch {
	case len(s.Enum) > 0:
		return "must be one of " + enumText(s.Enum)
	case s.Pattern == uuidPattern:
		return "must be an id of 36 characters"
	case s.Pattern == datePattern:
		return "must be a date written as YYYY-MM-DD"
	case s.Pattern != "":
		return "must be text that matches " + s.Pattern
	case kind == "string":
		return "must be " + span(s.MinLength, s.MaxLength) + " characters"
	case kind == "array":
		return "must hold " + span(s.MinItems, s.MaxItems) + " entries"
	case kind == "integer" && s.Minimum != nil && s.Maximum != nil:
		return fmt.Sprintf("must be a whole number from %.0f to %.0f", *s.Minimum, *s.Maximum)
	case kind == "boolean":
		return "must be true or false"
	case kind == "object":
		return "must be an object"
	}
	return ""
}

func span(lo, hi *int) string {
	low := 0
	if lo != nil {
		low = *lo
	}
	if hi == nil {
		return "at least " + strconv.Itoa(low)
	}
	return strconv.Itoa(low) + " to " + strconv.Itoa(*hi)
}

func enumText(values []any) string {
	var words []string
	for _, v := range values {
		if word, ok := v.(string); ok {
			words = append(words, word)
		}
	}
	return strings.Join(words, ", ")
}
