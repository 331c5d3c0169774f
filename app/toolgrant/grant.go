package toolgrant

import (
	"slices"
)

// Type is the type of the authorization details.
const Type = "mcp_tools"

// Tool is a tool as far as a grant can name it.
type Tool struct {
	Name  string
	Title string
	// Write says that the tool changes something.
	Write     bool
	Arguments []Argument
}

// Argument is an argument that a limit can bind: one on the top level that takes a single value.
type Argument struct {
	Name string
	// Kind is string, number or boolean.
	Kind string
}

// Kinds of arguments.
const (
	String  = "string"
	Number  = "number"
	Boolean = "boolean"
)

// Catalog is all tools of a resource.
type Catalog []Tool

// Tool finds a tool by its name.
func (c Catalog) Tool(name string) (*Tool, bool) {
	for i := range c {
		if c[i].Name == name {
			return &c[i], true
		}
	}
	return nil, false
}

func (t *Tool) argument(name string) (Argument, bool) {
	for _, a := range t.Arguments {
		if a.Name == name {
			return a, true
		}
	}
	return Argument{}, false
}

// Rule bounds one argument: exactly one of the two is set.
type Rule struct {
	// Values are the values allowed: strings, numbers or booleans, each once.
	Values []any `json:"values,omitempty"`
	// Maximum is the greatest number allowed.
	Maximum *float64 `json:"maximum,omitempty"`
}

// Grant is what may be called. A nil Grant takes nothing away.
type Grant struct {
	// Listed says that Tools, sorted, are all that may be called, also when it is empty.
	Listed   bool
	Tools    []string
	ReadOnly bool
	// Limits are the rules by tool and argument.
	Limits map[string]map[string]Rule
}

// Allows reports whether a tool may be called at all.
func (g *Grant) Allows(tool string, write bool) bool {
	if g == nil {
		return true
	}
	return !(g.ReadOnly && write) && (!g.Listed || slices.Contains(g.Tools, tool))
}

// Limited reports whether calls of the tool are bound in their arguments.
func (g *Grant) Limited(tool string) bool { return g != nil && len(g.Limits[tool]) > 0 }

// limitsOf gives the limits of a tool.
func (g *Grant) limitsOf(tool string) map[string]Rule {
	if g == nil {
		return nil
	}
	return g.Limits[tool]
}

// Open reports whether the grant takes nothing away.
func (g *Grant) Open() bool { return g == nil || !g.Listed && !g.ReadOnly && len(g.Limits) == 0 }

// Choose gives the grant with the ticked tools of the catalog and these limits in place of its own: what a person decides
// on a page that shows every tool of the catalog that the grant allows, or every tool. A grant that lists tools goes on
// listing them; one that does not is left without a list, and unticked tools are for the caller to hide.
func (g *Grant) Choose(ticked []string, limits map[string]map[string]Rule) *Grant {
	out := &Grant{}
	if g != nil {
		out.ReadOnly, out.Listed = g.ReadOnly, g.Listed
	}
	if out.Listed {
		out.Tools = sorted(ticked)
	}
	for tool, rules := range limits {
		if len(rules) > 0 && (!out.Listed || slices.Contains(out.Tools, tool)) {
			out.setLimits(tool, rules)
		}
	}
	if out.Open() {
		return nil
	}
	return out
}

// Explicit lists the tools of a grant that only names their kind, so that a page can tick and untick them.
func (g *Grant) Explicit(catalog Catalog) *Grant {
	if g == nil || !g.ReadOnly {
		return g
	}
	out := &Grant{Listed: true, Limits: g.Limits}
	for _, t := range catalog {
		if g.Allows(t.Name, t.Write) {
			out.Tools = append(out.Tools, t.Name)
		}
	}
	slices.Sort(out.Tools)
	return out
}

func (g *Grant) setLimits(tool string, rules map[string]Rule) {
	if len(rules) == 0 {
		return
	}
	if g.Limits == nil {
		g.Limits = map[string]map[string]Rule{}
	}
	g.Limits[tool] = rules
}

func sorted(values []string) []string {
	out := append([]string{}, values...)
	slices.Sort(out)
	return slices.Compact(out)
}
