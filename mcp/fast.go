package mcp

import (
	"encoding/json"
	"math/big"
	"unicode/utf8"

	santhosh "github.com/santhosh-tekuri/jsonschema/v6"
)

// fastNode checks a value straight from its text. It may only say yes to what
// the full validator accepts unchanged; whatever it does not understand it
// refuses, and the full validator decides and words the errors.
type fastNode struct {
	any                  bool // everything goes
	null, boolean        bool
	integer, number, str bool
	object, array        bool
	enum                 map[string]bool // strings; nil for no enum
	minLen, maxLen       int             // -1 for none
	minimum, maximum     *int64
	scalar               *santhosh.Schema // decides about strings and numbers when set
	props                map[string]fastProp
	required             uint64
	closed               bool
	extra                *fastNode // schema of other properties, nil for anything
	items                *fastNode
	minItems, maxItems   int
}

type fastProp struct {
	node *fastNode
	bit  uint64
}

// maxFastDepth bounds the recursion over values and schemas.
const maxFastDepth = 128

// compileFast returns nil for a schema that only the full validator can judge.
func compileFast(s *santhosh.Schema, depth int) *fastNode {
	if s == nil || (s.Bool != nil && *s.Bool) {
		return &fastNode{any: true}
	}
	if depth > 16 || combined(s) {
		return nil
	}
	n := &fastNode{minLen: -1, maxLen: -1, minItems: -1, maxItems: -1}
	if !n.setTypes(s) || !n.setEnum(s) {
		return nil
	}
	n.setScalar(s)
	if n.array && !n.setArray(s, depth) || n.object && !n.setObject(s, depth) {
		return nil
	}
	return n
}

// combined reports keywords beyond the plain ones.
func combined(s *santhosh.Schema) bool {
	return s.Bool != nil || s.Ref != nil || s.RecursiveRef != nil || s.DynamicRef != nil || s.Const != nil ||
		s.Not != nil || len(s.AllOf)+len(s.AnyOf)+len(s.OneOf)+len(s.Extensions) > 0 || s.If != nil ||
		s.MinProperties != nil || s.MaxProperties != nil || s.PropertyNames != nil || len(s.PatternProperties) > 0 ||
		len(s.Dependencies)+len(s.DependentRequired)+len(s.DependentSchemas) > 0 || s.UnevaluatedProperties != nil ||
		s.UniqueItems || s.Contains != nil || s.Items != nil || s.AdditionalItems != nil || len(s.PrefixItems) > 0 ||
		s.UnevaluatedItems != nil || s.ContentEncoding != nil || s.ContentMediaType != nil || s.ContentSchema != nil
}

func (n *fastNode) setTypes(s *santhosh.Schema) bool {
	if s.Types == nil || s.Types.IsEmpty() {
		return false
	}
	for _, t := range s.Types.ToStrings() {
		switch t {
		case "null":
			n.null = true
		case "boolean":
			n.boolean = true
		case "integer":
			n.integer = true
		case "number":
			n.number = true
		case "string":
			n.str = true
		case "array":
			n.array = true
		case "object":
			n.object = true
		}
	}
	return true
}

func (n *fastNode) setEnum(s *santhosh.Schema) bool {
	if s.Enum == nil {
		return true
	}
	if n.null || n.boolean || n.integer || n.number || n.array || n.object {
		return false
	}
	n.enum = make(map[string]bool, len(s.Enum.Values))
	for _, v := range s.Enum.Values {
		if text, ok := v.(string); ok {
			n.enum[text] = true
		}
	}
	return true
}

// setScalar takes over length and integer bounds and leaves the rest of the
// string and number keywords to the full schema.
func (n *fastNode) setScalar(s *santhosh.Schema) {
	if s.MinLength != nil {
		n.minLen = *s.MinLength
	}
	if s.MaxLength != nil {
		n.maxLen = *s.MaxLength
	}
	minOK, maxOK := intBound(s.Minimum, &n.minimum), intBound(s.Maximum, &n.maximum)
	plain := minOK && maxOK && s.ExclusiveMinimum == nil && s.ExclusiveMaximum == nil && s.MultipleOf == nil &&
		s.Pattern == nil && s.Format == nil
	if !plain || (n.number && (s.Minimum != nil || s.Maximum != nil)) {
		n.scalar = s
	}
}

func intBound(r *big.Rat, to **int64) bool {
	if r == nil {
		return true
	}
	if !r.IsInt() || !r.Num().IsInt64() {
		return false
	}
	v := r.Num().Int64()
	*to = &v
	return true
}

func (n *fastNode) setArray(s *santhosh.Schema, depth int) bool {
	if s.MinItems != nil {
		n.minItems = *s.MinItems
	}
	if s.MaxItems != nil {
		n.maxItems = *s.MaxItems
	}
	n.items = compileFast(s.Items2020, depth+1)
	return n.items != nil
}

func (n *fastNode) setObject(s *santhosh.Schema, depth int) bool {
	if len(s.Properties) > 63 {
		return false
	}
	n.props = make(map[string]fastProp, len(s.Properties))
	for name, sub := range s.Properties {
		node := compileFast(sub, depth+1)
		if node == nil {
			return false
		}
		n.props[name] = fastProp{node: node, bit: 1 << len(n.props)}
	}
	for _, name := range s.Required {
		p, ok := n.props[name]
		if !ok {
			return false
		}
		n.required |= p.bit
	}
	switch extra := s.AdditionalProperties.(type) {
	case bool:
		n.closed = !extra
	case *santhosh.Schema:
		n.extra = compileFast(extra, depth+1)
		return n.extra != nil
	}
	return true
}

// accepts consumes one value and reports whether it surely fits.
func (n *fastNode) accepts(sc *scanner) bool {
	if n.any {
		_, err := sc.value()
		return err == nil
	}
	switch sc.peek() {
	case '{':
		return n.object && n.acceptsObject(sc)
	case '[':
		return n.array && n.acceptsArray(sc)
	case '"':
		return n.str && n.acceptsString(sc)
	case 't', 'f':
		_, err := sc.value()
		return n.boolean && err == nil
	case 'n':
		_, err := sc.value()
		return n.null && err == nil
	}
	return (n.integer || n.number) && n.acceptsNumber(sc)
}

func (n *fastNode) acceptsObject(sc *scanner) bool {
	var seen uint64
	err := sc.object(func(key []byte) error {
		p, known := n.props[string(unquote(key))]
		switch {
		case !known && n.closed, known && seen&p.bit != 0:
			return errSyntax
		case !known && n.extra == nil:
			_, err := sc.value()
			return err
		case !known:
			p.node = n.extra
		}
		seen |= p.bit
		if !p.node.accepts(sc) {
			return errSyntax
		}
		return nil
	})
	return err == nil && seen&n.required == n.required
}

func (n *fastNode) acceptsArray(sc *scanner) bool {
	count := 0
	err := sc.array(func() error {
		count++
		if !n.items.accepts(sc) {
			return errSyntax
		}
		return nil
	})
	return err == nil && count >= n.minItems && (n.maxItems < 0 || count <= n.maxItems)
}

func (n *fastNode) acceptsString(sc *scanner) bool {
	text, err := sc.str()
	if err != nil {
		return false
	}
	value := unquote(text)
	if n.enum != nil && !n.enum[string(value)] {
		return false
	}
	if n.minLen >= 0 || n.maxLen >= 0 {
		count := utf8.RuneCount(value)
		if count < n.minLen || (n.maxLen >= 0 && count > n.maxLen) {
			return false
		}
	}
	return n.scalar == nil || n.scalar.Validate(string(value)) == nil
}

// acceptsNumber takes plain numbers; 1.0 for an integer needs the rewriting
// that goes with the full check.
func (n *fastNode) acceptsNumber(sc *scanner) bool {
	text, err := sc.value()
	if err != nil || len(text) > 18 {
		return false
	}
	value, whole := smallInt(text)
	if !whole && !n.number {
		return false
	}
	if n.scalar != nil {
		return smallNumber(string(text)) && n.scalar.Validate(json.Number(text)) == nil
	}
	if !whole {
		return n.minimum == nil && n.maximum == nil
	}
	return (n.minimum == nil || value >= *n.minimum) && (n.maximum == nil || value <= *n.maximum)
}

// smallInt reads an integer of at most 18 characters.
func smallInt(text []byte) (int64, bool) {
	negative := text[0] == '-'
	if negative {
		text = text[1:]
	}
	if digits(text) != len(text) {
		return 0, false
	}
	var v int64
	for _, c := range text {
		v = v*10 + int64(c-'0')
	}
	if negative {
		v = -v
	}
	return v, true
}
