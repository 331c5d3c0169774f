package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	gojson "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
	santhosh "github.com/santhosh-tekuri/jsonschema/v6"
)

// Schema is a compiled JSON Schema (2020-12) that tells what is wrong with a
// value as a list of [FieldError].
type Schema struct {
	full *santhosh.Schema
	fast *fastNode // accepts most valid values without building a tree; nil if it cannot
}

// CompileSchema compiles a schema given as JSON text. References out of the
// document are an error: nothing is fetched. Formats are asserted.
func CompileSchema(text json.RawMessage) (*Schema, error) {
	full, err := compileSchema(text)
	if err != nil {
		return nil, err
	}
	return &Schema{full: full, fast: compileFast(full, 0)}, nil
}

func compileSchema(text json.RawMessage) (*santhosh.Schema, error) {
	doc, err := santhosh.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	c := santhosh.NewCompiler()
	c.DefaultDraft(santhosh.Draft2020)
	c.AssertFormat()
	c.UseLoader(noLoader{})
	const name = "urn:mcp:schema"
	if err := c.AddResource(name, doc); err != nil {
		return nil, err
	}
	return c.Compile(name)
}

// noLoader refuses every reference out of the document: a schema must not make
// the server read files or call other hosts.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("reference %q leads out of the schema", url)
}

// compileInput compiles a tool's input schema, whose root clients require to
// be an object.
func compileInput(text json.RawMessage) (*Schema, error) {
	var root struct {
		Type any `json:"type"`
	}
	if err := json.Unmarshal(text, &root); err != nil {
		return nil, fmt.Errorf("not an object schema: %w", err)
	}
	if root.Type != "object" {
		return nil, errors.New(`root must have "type": "object"`)
	}
	return CompileSchema(text)
}

// schemaText gives a schema in any accepted form as compact JSON.
func schemaText(v any) (json.RawMessage, error) {
	var text []byte
	switch v := v.(type) {
	case json.RawMessage:
		text = v
	case []byte:
		text = v
	case string:
		text = []byte(v)
	default:
		b, err := marshalPlain(v)
		if err != nil {
			return nil, err
		}
		text = b
	}
	var b bytes.Buffer
	if err := json.Compact(&b, text); err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	return b.Bytes(), nil
}

// Check validates text, which must be one JSON value. It returns the value
// without the nulls of optional properties that the schema does not let be
// null, which count as absent; the error is an *[ArgumentError].
func (s *Schema) Check(text json.RawMessage) (json.RawMessage, error) {
	sc := scanner{data: text, depth: maxFastDepth}
	if s.fast != nil && s.fast.accepts(&sc) && sc.peek() == 0 {
		return text, nil
	}
	doc, err := santhosh.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, &ArgumentError{Fields: []FieldError{{Message: "must be valid JSON"}}}
	}
	if f := hugeNumber(doc, ""); f != nil {
		return nil, &ArgumentError{Fields: []FieldError{*f}}
	}
	doc, changed := normalise(s.full, doc)
	if err := s.full.Validate(doc); err != nil {
		return nil, argumentError(err)
	}
	if !changed {
		return text, nil
	}
	// Rewriting hides what a decoder refuses in the text as it was sent: members given twice, broken characters.
	if err := gojson.Unmarshal(text, new(jsontext.Value)); err != nil {
		return nil, decodeError(err)
	}
	clean, err := marshalPlain(doc)
	if err != nil {
		return nil, fmt.Errorf("encode arguments: %w", err)
	}
	return clean, nil
}

// schemaOf is a type's own say in the schema generated for it.
type schemaOf interface{ JSONSchema() *jsonschema.Schema }
