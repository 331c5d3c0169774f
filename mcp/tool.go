package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"time"

	gojson "github.com/go-json-experiment/json"
	"github.com/google/jsonschema-go/jsonschema"
)

// Annotations are the hints a client shows or acts on. All four hints are
// always sent, because their absence means different things to different
// clients.
type Annotations struct {
	Title           string `json:"title,omitempty"`
	ReadOnlyHint    bool   `json:"readOnlyHint"`
	DestructiveHint bool   `json:"destructiveHint"`
	IdempotentHint  bool   `json:"idempotentHint"`
	OpenWorldHint   bool   `json:"openWorldHint"`
}

// ToolSpec describes a tool to [NewTool].
type ToolSpec struct {
	Name        string // letters, digits, "_", "-" and "."; length per [WithToolNameLimit]
	Title       string
	Description string // required: it is what the model chooses by
	Annotations Annotations

	// InputSchema replaces the schema generated from the input type. It is
	// JSON text ([]byte, json.RawMessage, string), a *jsonschema.Schema, or any value
	// that marshals to a schema. The root must be an object schema.
	InputSchema any
	// Refine may change the generated input schema before it is frozen.
	Refine func(*jsonschema.Schema) error
	// OutputSchema is sent with the tool; nil for none. [Infer] generates it
	// from the output type.
	OutputSchema any

	Meta     map[string]any // _meta of the tool
	Deadline time.Duration  // replaces the server's; 0 keeps it
}

// Infer as a ToolSpec.OutputSchema asks for the schema of the output type.
var Infer any = inferMark{}

type inferMark struct{}

// Tool is a tool ready to be registered: schemas generated and compiled, the
// handler bound to its types. Its fields describe it and are not to be
// changed; a server copies what it needs when it is built.
type Tool struct {
	Name         string
	Title        string
	Description  string
	Annotations  Annotations
	InputSchema  json.RawMessage
	OutputSchema json.RawMessage // nil for none
	Meta         map[string]any
	Deadline     time.Duration

	input        *Schema
	paramHeaders []paramHeader
	bind         func(args json.RawMessage) (any, error) // returns a *In
	run          func(ctx context.Context, c *Call) (any, error)
}

// NewTool makes a tool whose arguments are an In and whose outcome is an Out.
//
// The input schema comes from In (see [InputSchemaFor] for the struct tags) or
// from spec.InputSchema; it is always an object that refuses unknown
// properties unless a given schema says otherwise. In may be json.RawMessage
// or a map when spec.InputSchema is given. The arguments are checked against
// the schema before h runs, and decoded once.
//
// An Out that is a *[CallToolResult] is sent as it is; any other goes through
// the server's [ResultCodec].
func NewTool[In, Out any](spec ToolSpec, h func(ctx context.Context, c *Call, in In) (Out, error)) (*Tool, error) {
	t := &Tool{
		Name: spec.Name, Title: spec.Title, Description: spec.Description,
		Annotations: spec.Annotations, Meta: spec.Meta, Deadline: spec.Deadline,
	}
	if err := t.setSchemas(spec, reflect.TypeFor[In](), reflect.TypeFor[Out]()); err != nil {
		return nil, fmt.Errorf("tool %q: %w", spec.Name, err)
	}
	if h == nil {
		return nil, fmt.Errorf("tool %q: no handler", spec.Name)
	}
	t.bind = bindArguments[In]
	t.run = func(ctx context.Context, c *Call) (any, error) {
		return h(ctx, c, *c.decoded.(*In))
	}
	return t, nil
}

// MustTool is NewTool for tools known when the program is written: it panics
// on an error, which such a program shows at its first start.
func MustTool[In, Out any](spec ToolSpec, h func(ctx context.Context, c *Call, in In) (Out, error)) *Tool {
	t, err := NewTool(spec, h)
	if err != nil {
		panic(err)
	}
	return t
}

// bindArguments decodes checked arguments. encoding/json/v2 rules: names match
// in their exact case, so what the schema saw is what the handler gets.
func bindArguments[In any](args json.RawMessage) (any, error) {
	in := new(In)
	if raw, ok := any(in).(*json.RawMessage); ok {
		*raw = args
		return in, nil
	}
	if err := gojson.Unmarshal(args, in); err != nil {
		return nil, decodeError(err)
	}
	return in, nil
}

func (t *Tool) setSchemas(spec ToolSpec, in, out reflect.Type) error {
	var err error
	if spec.InputSchema != nil {
		t.InputSchema, err = schemaText(spec.InputSchema)
	} else {
		t.InputSchema, err = generateInput(in, spec.Refine)
	}
	if err != nil {
		return fmt.Errorf("input schema: %w", err)
	}
	if t.input, err = compileInput(t.InputSchema); err != nil {
		return fmt.Errorf("input schema: %w", err)
	}
	if t.paramHeaders, err = paramHeaders(t.InputSchema); err != nil {
		return fmt.Errorf("input schema: %w", err)
	}
	switch spec.OutputSchema {
	case nil:
		return nil
	case Infer:
		t.OutputSchema, err = generateOutput(out)
	default:
		t.OutputSchema, err = schemaText(spec.OutputSchema)
	}
	if err == nil {
		_, err = compileSchema(t.OutputSchema)
	}
	if err != nil {
		return fmt.Errorf("output schema: %w", err)
	}
	return nil
}

var toolName = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

// check reports what keeps the tool from being registered.
func (t *Tool) check(nameLimit int) error {
	switch {
	case t == nil || t.run == nil:
		return fmt.Errorf("a tool not made by NewTool")
	case !toolName.MatchString(t.Name):
		return fmt.Errorf("tool %q: name must be letters, digits, %q, %q or %q", t.Name, "_", "-", ".")
	case len(t.Name) > nameLimit:
		// Clients put prefixes such as mcp__server__ before a name that may
		// have 64 characters in all.
		return fmt.Errorf("tool %q: name has %d characters, at most %d are allowed", t.Name, len(t.Name), nameLimit)
	case t.Description == "":
		return fmt.Errorf("tool %q: description is missing", t.Name)
	}
	return nil
}

// appendDefinition writes the tool as tools/list shows it.
func (t *Tool) appendDefinition(dst []byte) ([]byte, error) {
	def := struct {
		Name         string          `json:"name"`
		Title        string          `json:"title,omitempty"`
		Description  string          `json:"description"`
		InputSchema  json.RawMessage `json:"inputSchema"`
		OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
		Annotations  Annotations     `json:"annotations"`
		Meta         map[string]any  `json:"_meta,omitempty"`
	}{t.Name, t.Title, t.Description, t.InputSchema, t.OutputSchema, t.Annotations, t.Meta}
	b, err := marshalPlain(def)
	if err != nil {
		return dst, fmt.Errorf("tool %q: encode definition: %w", t.Name, err)
	}
	return append(dst, b...), nil
}

// marshalPlain is json.Marshal without the HTML escapes.
func marshalPlain(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), nil
}
