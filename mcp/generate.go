package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// InputSchemaFor generates the schema of a struct type, as [NewTool] does.
//
// Property names come from the json tag; a field with omitempty or omitzero is
// optional, the others are required. The jsonschema tag is the description.
// The mcp tag holds bounds, separated by commas:
//
//	min=1 max=200      length of a string, value of a number, items of an array
//	enum=a|b|c         allowed strings
//	format=date        a format, which is checked
//	default=20         told to the model, not filled in
//	unique             no item twice
//	header=Region      2026-07-28 clients repeat it as Mcp-Param-Region
//	null               null has a meaning here and is not taken for absence
//	pattern=^a,b$      last, since it may hold commas
//	each.min=1 …       the same for the items of an array or values of a map
//
// A type may state its own schema with a method JSONSchema() *jsonschema.Schema
// on its value. Optional pointers and slices do not become type lists: null
// counts as absent anyway.
func InputSchemaFor[T any]() (json.RawMessage, error) {
	return generateInput(reflect.TypeFor[T](), nil)
}

func generateInput(t reflect.Type, refine func(*jsonschema.Schema) error) (json.RawMessage, error) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("type %s is no struct: give ToolSpec.InputSchema", t)
	}
	s, err := generate(t)
	if err != nil {
		return nil, err
	}
	if refine != nil {
		if err := refine(s); err != nil {
			return nil, fmt.Errorf("refine: %w", err)
		}
	}
	return schemaText(s)
}

func generateOutput(t reflect.Type) (json.RawMessage, error) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct && t.Kind() != reflect.Map {
		// Clients before 2026-07-28 refuse a whole list over any other root.
		return nil, fmt.Errorf("type %s is neither struct nor map", t)
	}
	s, err := generate(t)
	if err != nil {
		return nil, err
	}
	return schemaText(s)
}

func generate(t reflect.Type) (*jsonschema.Schema, error) {
	own := map[reflect.Type]*jsonschema.Schema{}
	ownSchemas(t, own, map[reflect.Type]bool{})
	s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: own})
	if err != nil {
		return nil, err
	}
	if err := tune(t, s, own); err != nil {
		return nil, err
	}
	return s, nil
}

var schemaOfType = reflect.TypeFor[schemaOf]()

// ownSchemas finds the types below t that state their own schema.
func ownSchemas(t reflect.Type, own map[reflect.Type]*jsonschema.Schema, seen map[reflect.Type]bool) {
	if seen[t] {
		return
	}
	seen[t] = true
	if t.Kind() != reflect.Pointer && t.Kind() != reflect.Interface && t.Implements(schemaOfType) {
		own[t] = reflect.Zero(t).Interface().(schemaOf).JSONSchema()
		return
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		ownSchemas(t.Elem(), own, seen)
	case reflect.Struct:
		for _, f := range reflect.VisibleFields(t) {
			ownSchemas(f.Type, own, seen)
		}
	}
}

// tune flattens type lists and applies the mcp tags below t.
func tune(t reflect.Type, s *jsonschema.Schema, own map[reflect.Type]*jsonschema.Schema) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if s == nil || own[t] != nil {
		return nil
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		return tune(t.Elem(), s.Items, own)
	case reflect.Map:
		return tune(t.Elem(), s.AdditionalProperties, own)
	case reflect.Struct:
		return tuneFields(t, s, own)
	}
	return nil
}

func tuneFields(t reflect.Type, s *jsonschema.Schema, own map[reflect.Type]*jsonschema.Schema) error {
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			name = f.Name
		}
		prop := s.Properties[name]
		if f.Anonymous || !f.IsExported() || name == "-" || prop == nil {
			continue
		}
		tag := f.Tag.Get("mcp")
		bounds, err := parseBounds(tag)
		if err != nil {
			return fmt.Errorf("field %s.%s: mcp tag: %w", t, f.Name, err)
		}
		flatten(prop, bounds.null)
		if err := tune(f.Type, prop, own); err != nil {
			return err
		}
		if err := bounds.apply(prop); err != nil {
			return fmt.Errorf("field %s.%s: mcp tag: %w", t, f.Name, err)
		}
	}
	return nil
}

// flatten turns ["null", T] into T, or the other way round where null means
// something. Items and map values are flattened with their property.
func flatten(s *jsonschema.Schema, null bool) {
	if s == nil {
		return
	}
	if len(s.Types) == 2 && s.Types[0] == "null" {
		s.Type, s.Types = s.Types[1], nil
	}
	if null && s.Type != "" {
		s.Type, s.Types = "", []string{s.Type, "null"}
	}
	flatten(s.Items, false)
	flatten(s.AdditionalProperties, false)
}

// bounds is a parsed mcp tag.
type bounds struct {
	null  bool
	rules []boundRule
}

type boundRule struct {
	each       bool
	key, value string
}

func parseBounds(tag string) (bounds, error) {
	var b bounds
	for tag != "" {
		item, rest, _ := strings.Cut(tag, ",")
		if strings.HasPrefix(tag, "pattern=") || strings.HasPrefix(tag, "each.pattern=") {
			item, rest = tag, ""
		}
		tag = rest
		r := boundRule{}
		r.key, r.value, _ = strings.Cut(item, "=")
		r.key, r.each = strings.CutPrefix(r.key, "each.")
		switch r.key {
		case "null":
			b.null = true
		case "min", "max", "enum", "format", "default", "unique", "pattern", "header":
			b.rules = append(b.rules, r)
		default:
			return b, fmt.Errorf("unknown key %q", item)
		}
	}
	return b, nil
}

func (b bounds) apply(s *jsonschema.Schema) error {
	for _, r := range b.rules {
		target := s
		if r.each {
			if target = s.Items; target == nil {
				target = s.AdditionalProperties
			}
			if target == nil {
				return errors.New("each. on a field without items")
			}
		}
		if err := r.apply(target); err != nil {
			return fmt.Errorf("%s: %w", r.key, err)
		}
	}
	return nil
}

func (r boundRule) apply(s *jsonschema.Schema) error {
	switch r.key {
	case "min":
		return setBound(s, r.value, &s.MinLength, &s.MinItems, &s.Minimum)
	case "max":
		return setBound(s, r.value, &s.MaxLength, &s.MaxItems, &s.Maximum)
	case "enum":
		for v := range strings.SplitSeq(r.value, "|") {
			s.Enum = append(s.Enum, v)
		}
		if len(s.Types) == 2 {
			s.Enum = append(s.Enum, nil)
		}
	case "format":
		s.Format = r.value
	case "pattern":
		s.Pattern = r.value
	case "unique":
		s.UniqueItems = true
	case "header":
		s.Extra = map[string]any{"x-mcp-header": r.value}
	case "default":
		s.Default = json.RawMessage(r.value)
		if !json.Valid(s.Default) {
			s.Default, _ = json.Marshal(r.value)
		}
	}
	return nil
}

// setBound puts a number where the schema's type has it.
func setBound(s *jsonschema.Schema, value string, length, items **int, number **float64) error {
	kind := s.Type
	if kind == "" && len(s.Types) > 0 {
		kind = s.Types[0]
	}
	if kind == "integer" || kind == "number" {
		f, err := strconv.ParseFloat(value, 64)
		*number = &f
		return err
	}
	n, err := strconv.Atoi(value)
	switch kind {
	case "string":
		*length = &n
	case "array":
		*items = &n
	default:
		return fmt.Errorf("a bound means nothing for type %q", kind)
	}
	return err
}
