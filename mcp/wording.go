package mcp

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	santhosh "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// maxFieldErrors bounds what one answer reports.
const maxFieldErrors = 20

// argumentError flattens a validator's tree into fields, in the wording of
// Ajv, which models and developers know. No message holds a value of the input.
func argumentError(err error) error {
	root, ok := errors.AsType[*santhosh.ValidationError](err)
	if !ok {
		return fmt.Errorf("validate arguments: %w", err)
	}
	var fields []FieldError
	collect(root, &fields)
	slices.SortStableFunc(fields, func(a, b FieldError) int {
		if c := strings.Compare(a.InstancePath, b.InstancePath); c != 0 {
			return c
		}
		return strings.Compare(a.Message, b.Message)
	})
	fields = slices.Compact(fields)
	if len(fields) > maxFieldErrors {
		fields = fields[:maxFieldErrors]
	}
	return &ArgumentError{Fields: fields}
}

// collect adds the messages of one error. Combinators whose branches would
// confuse give their own message alone.
func collect(e *santhosh.ValidationError, out *[]FieldError) {
	switch e.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.Reference, *kind.AllOf:
		for _, cause := range e.Causes {
			collect(cause, out)
		}
		return
	}
	at := pointer(e.InstanceLocation)
	for _, msg := range wording(e.ErrorKind) {
		*out = append(*out, FieldError{InstancePath: at, Message: msg})
	}
}

func pointer(tokens []string) string {
	var b strings.Builder
	for _, tok := range tokens {
		b.WriteByte('/')
		b.WriteString(escapePointer.Replace(tok))
	}
	return b.String()
}

// wording says what is wrong; a kind that stands for several faults gives several.
func wording(k santhosh.ErrorKind) []string {
	switch k := k.(type) {
	case *kind.Required:
		return each(k.Missing, func(p string) string { return "must have required property '" + p + "'" })
	case *kind.AdditionalProperties:
		return each(k.Properties, func(string) string { return "must NOT have additional properties" })
	case *kind.DependentRequired:
		return each(k.Missing, func(p string) string {
			return "must have property " + p + " when property " + k.Prop + " is present"
		})
	case *kind.Dependency:
		return each(k.Missing, func(p string) string {
			return "must have property " + p + " when property " + k.Prop + " is present"
		})
	}
	return []string{oneWording(k)}
}

func each(names []string, say func(string) string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = say(n)
	}
	return out
}

func oneWording(k santhosh.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Type:
		return "must be " + strings.Join(nullLast(k.Want), ",")
	case *kind.Enum:
		return "must be equal to one of the allowed values"
	case *kind.Const:
		return "must be equal to constant"
	case *kind.Format:
		return fmt.Sprintf("must match format %q", k.Want)
	case *kind.Pattern:
		return `must match pattern "` + k.Want + `"`
	case *kind.PropertyNames:
		return "property name must be valid"
	case *kind.Not:
		return "must NOT be valid"
	case *kind.AnyOf:
		return "must match a schema in anyOf"
	case *kind.OneOf:
		return "must match exactly one schema in oneOf"
	case *kind.FalseSchema:
		return "boolean schema is false"
	}
	if s := boundWording(k); s != "" {
		return s
	}
	return "must match the schema"
}

// nullLast orders types as schemas write them; the validator's order is its own.
func nullLast(types []string) []string {
	i := slices.Index(types, "null")
	if i < 0 {
		return types
	}
	return append(slices.Delete(slices.Clone(types), i, i+1), "null")
}

func boundWording(k santhosh.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Minimum:
		return "must be >= " + number(k.Want)
	case *kind.Maximum:
		return "must be <= " + number(k.Want)
	case *kind.ExclusiveMinimum:
		return "must be > " + number(k.Want)
	case *kind.ExclusiveMaximum:
		return "must be < " + number(k.Want)
	case *kind.MultipleOf:
		return "must be multiple of " + number(k.Want)
	case *kind.MinLength:
		return fewer(k.Want, "characters")
	case *kind.MaxLength:
		return more(k.Want, "characters")
	case *kind.MinItems:
		return fewer(k.Want, "items")
	case *kind.MaxItems:
		return more(k.Want, "items")
	case *kind.MinProperties:
		return fewer(k.Want, "properties")
	case *kind.MaxProperties:
		return more(k.Want, "properties")
	case *kind.UniqueItems:
		return fmt.Sprintf("must NOT have duplicate items (items ## %d and %d are identical)", k.Duplicates[0], k.Duplicates[1])
	case *kind.Contains:
		return "must contain at least 1 valid item(s)"
	case *kind.MinContains:
		return fmt.Sprintf("must contain at least %d valid item(s)", k.Want)
	case *kind.MaxContains:
		return fmt.Sprintf("must contain at most %d valid item(s)", k.Want)
	}
	return ""
}

func fewer(n int, what string) string {
	return "must NOT have fewer than " + strconv.Itoa(n) + " " + what
}

func more(n int, what string) string {
	return "must NOT have more than " + strconv.Itoa(n) + " " + what
}

type rational interface {
	IsInt() bool
	RatString() string
	Float64() (float64, bool)
}

func number(r rational) string {
	if r.IsInt() {
		return r.RatString()
	}
	f, _ := r.Float64()
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// decodeError words what only the decoder found: a value that fits the schema
// and not the Go type, or a member given twice.
func decodeError(err error) error {
	f := FieldError{Message: "must have the expected form"}
	if sem, ok := errors.AsType[*json.SemanticError](err); ok {
		f.InstancePath = string(sem.JSONPointer)
		if sem.JSONKind == '0' {
			f.Message = "must be a number of the expected range"
		}
	}
	if syn, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		f.InstancePath = string(syn.JSONPointer)
		f.Message = "must be well-formed text"
		if errors.Is(err, jsontext.ErrDuplicateName) {
			f.Message = "must NOT be given twice"
		}
	}
	return &ArgumentError{Fields: []FieldError{f}}
}
