package toolgrant

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	jsonv2 "github.com/go-json-experiment/json"
)

// Bounds of a grant.
const (
	// MaxDetails is the greatest length of a grant as authorization details: access tokens carry it.
	MaxDetails = 3 << 10

	maxTools  = 100
	maxValues = 20
	maxText   = 200
	maxWhole  = 1 << 53 // beyond it numbers of JSON are not exact
)

// wire is a grant as it is written.
type wire struct {
	Type      string                     `json:"type"`
	Locations []string                   `json:"locations,omitempty"`
	Tools     *[]string                  `json:"tools,omitempty"`
	ReadOnly  bool                       `json:"read_only,omitempty"`
	Limits    map[string]map[string]Rule `json:"limits,omitempty"`
}

// refusal says to a client what is wrong with its authorization details. It repeats nothing that was sent.
type refusal string

// Error implements error.
func (r refusal) Error() string { return string(r) }

// Parse reads the objects of a request for a resource, strictly: there is one, every member is known, and every tool and
// argument is in the catalog. Its errors are for the client and repeat nothing that was sent.
func Parse(resource string, catalog Catalog, objects []json.RawMessage) (*Grant, error) {
	if len(objects) != 1 {
		return nil, refusal("There must be one object of the type mcp_tools.")
	}
	w, err := decode(objects[0])
	switch {
	case err != nil:
		return nil, refusal("An object of the type mcp_tools has the members locations, tools, read_only and limits, and no other.")
	case len(w.Locations) != 1 || w.Locations[0] != resource:
		return nil, refusal("The locations of mcp_tools must be the one resource of the request.")
	case w.Tools == nil && !w.ReadOnly && len(w.Limits) == 0:
		return nil, refusal("An object of the type mcp_tools must have tools, read_only or limits.")
	case w.Tools != nil && len(*w.Tools) == 0:
		return nil, refusal("The tools of mcp_tools are empty.")
	}
	g := w.grant()
	return g, g.Check(catalog)
}

func decode(object json.RawMessage) (*wire, error) {
	var w wire
	err := jsonv2.Unmarshal(object, &w, jsonv2.RejectUnknownMembers(true))
	if err == nil && w.Type != Type {
		err = errors.New("toolgrant: another type")
	}
	return &w, err
}

func (w *wire) grant() *Grant {
	g := &Grant{ReadOnly: w.ReadOnly}
	if w.Tools != nil {
		g.Listed, g.Tools = true, sorted(*w.Tools)
	}
	for tool, rules := range w.Limits {
		g.setLimits(tool, normal(rules))
	}
	return g
}

// Check refuses what the catalog does not have.
func (g *Grant) Check(catalog Catalog) error {
	if g == nil {
		return nil
	}
	if len(g.Tools) > maxTools {
		return refusal("The tools of mcp_tools are too many.")
	}
	for _, name := range g.Tools {
		t, known := catalog.Tool(name)
		if !known {
			return refusal("A tool of mcp_tools is unknown.")
		}
		if g.ReadOnly && t.Write {
			return refusal("With read_only no tool of mcp_tools may change anything.")
		}
	}
	for name, rules := range g.Limits {
		t, known := catalog.Tool(name)
		if !known || !g.Allows(name, t.Write) {
			return refusal("The limits of mcp_tools name a tool that is not granted.")
		}
		for argument, rule := range rules {
			a, known := t.argument(argument)
			if !known {
				return refusal("The limits of mcp_tools name an argument that a tool does not have on its top level.")
			}
			if err := rule.Check(a); err != nil {
				return err
			}
		}
	}
	return nil
}

// Check refuses a rule that does not fit the argument.
func (r Rule) Check(a Argument) error {
	if (r.Maximum == nil) == (len(r.Values) == 0) {
		return refusal("A limit of mcp_tools has either values or a maximum.")
	}
	if r.Maximum != nil {
		if a.Kind != Number || !exact(*r.Maximum) {
			return refusal("A maximum of mcp_tools is for an argument that is a number.")
		}
		return nil
	}
	if len(r.Values) > maxValues {
		return refusal("The values of a limit of mcp_tools are too many.")
	}
	for _, v := range r.Values {
		if kindOf(v) != a.Kind {
			return refusal("A value of a limit of mcp_tools is not of the kind of its argument.")
		}
	}
	return nil
}

// kindOf is empty for values that no limit may have.
func kindOf(v any) string {
	switch v := v.(type) {
	case string:
		if len(v) <= maxText {
			return String
		}
	case float64:
		if exact(v) {
			return Number
		}
	case bool:
		return Boolean
	}
	return ""
}

func exact(n float64) bool { return !math.IsNaN(n) && math.Abs(n) < maxWhole }

// normal puts the values of rules into order, each once.
func normal(rules map[string]Rule) map[string]Rule {
	out := make(map[string]Rule, len(rules))
	for argument, rule := range rules {
		values := slices.Clone(rule.Values)
		slices.SortFunc(values, compareValues)
		rule.Values = slices.CompactFunc(values, func(a, b any) bool { return compareValues(a, b) == 0 })
		out[argument] = rule
	}
	return out
}

func compareValues(a, b any) int {
	x, isNumber := a.(float64)
	y, areNumbers := b.(float64)
	if isNumber && areNumbers {
		return cmp.Compare(x, y)
	}
	return cmp.Compare(fmt.Sprintf("%T %v", a, a), fmt.Sprintf("%T %v", b, b))
}

// Encode writes the grant as one object for a resource, equal grants as equal bytes.
func (g *Grant) Encode(resource string) (json.RawMessage, error) {
	w := wire{Type: Type, Locations: []string{resource}, ReadOnly: g.ReadOnly, Limits: g.Limits}
	if g.Listed {
		tools := sorted(g.Tools)
		w.Tools = &tools
	}
	raw, err := json.Marshal(w)
	if err != nil {
		return nil, fmt.Errorf("encode tools: %w", err)
	}
	return raw, nil
}

// Details writes the grant as authorization details: an array that is empty for a grant that takes nothing away.
func (g *Grant) Details(resource string) (json.RawMessage, error) {
	if g.Open() {
		return json.RawMessage("[]"), nil
	}
	object, err := g.Encode(resource)
	if err != nil {
		return nil, err
	}
	return json.Marshal([]json.RawMessage{object})
}

// FromDetails reads stored authorization details, in which each object is one of this package. None at all, and an empty
// array, are no grant. Tools that are gone meanwhile stay named and harm nothing.
func FromDetails(raw json.RawMessage) (*Grant, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, nil
	}
	var objects []json.RawMessage
	if err := json.Unmarshal(raw, &objects); err != nil {
		return nil, fmt.Errorf("read tools: %w", err)
	}
	return FromObjects(objects)
}

// FromObjects reads stored objects. Several of them hold together.
func FromObjects(objects []json.RawMessage) (*Grant, error) {
	var g *Grant
	for _, object := range objects {
		w, err := decode(object)
		if err != nil {
			return nil, fmt.Errorf("read tools: %w", err)
		}
		g = Meet(g, w.grant())
	}
	return g, nil
}
