package toolgrant

import (
	"maps"
	"reflect"
	"slices"
)

// Within reports whether asked allows no call that granted does not.
func Within(asked, granted *Grant, catalog Catalog) bool {
	for _, t := range catalog {
		if !asked.Allows(t.Name, t.Write) {
			continue
		}
		if !granted.Allows(t.Name, t.Write) || !limitsWithin(asked.limitsOf(t.Name), granted.limitsOf(t.Name)) {
			return false
		}
	}
	return true
}

func limitsWithin(asked, granted map[string]Rule) bool {
	for argument, outer := range granted {
		inner, bound := asked[argument]
		if !bound || !reflect.DeepEqual(meetRules(inner, outer), inner) {
			return false
		}
	}
	return true
}

// Meet gives what both allow.
func Meet(a, b *Grant) *Grant {
	if a == nil {
		return b
	}
	if b == nil {
		return a
	}
	out := &Grant{ReadOnly: a.ReadOnly || b.ReadOnly, Listed: a.Listed || b.Listed}
	switch {
	case a.Listed && b.Listed:
		out.Tools = slices.DeleteFunc(slices.Clone(a.Tools), func(t string) bool { return !slices.Contains(b.Tools, t) })
	case a.Listed:
		out.Tools = slices.Clone(a.Tools)
	case b.Listed:
		out.Tools = slices.Clone(b.Tools)
	}
	for _, tool := range limitedTools(a, b) {
		if out.Listed && !slices.Contains(out.Tools, tool) {
			continue
		}
		rules := maps.Clone(a.limitsOf(tool))
		if rules == nil {
			rules = map[string]Rule{}
		}
		for argument, rule := range b.limitsOf(tool) {
			if first, both := rules[argument]; both {
				rule = meetRules(first, rule)
			}
			rules[argument] = rule
		}
		out.setLimits(tool, rules)
	}
	return out
}

func limitedTools(a, b *Grant) []string {
	return sorted(slices.AppendSeq(slices.Collect(maps.Keys(a.Limits)), maps.Keys(b.Limits)))
}

// meetRules gives the rule that holds where both do. One without any value left allows no call.
func meetRules(a, b Rule) Rule {
	if a.Maximum != nil && b.Maximum != nil {
		least := min(*a.Maximum, *b.Maximum)
		return Rule{Maximum: &least}
	}
	if a.Maximum != nil {
		a, b = b, a
	}
	out := Rule{}
	for _, v := range a.Values {
		if b.permits(v) {
			out.Values = append(out.Values, v)
		}
	}
	return out
}

// Join gives what either allows, for a client that adds to what it has: one list, one set of limits. What a grant cannot
// say of two that differ in the limits of a tool is settled by the added one, so that nothing comes out that neither
// allowed.
func Join(had, added *Grant, catalog Catalog) *Grant {
	if had.Open() || added.Open() {
		return nil
	}
	out := &Grant{
		ReadOnly: had.ReadOnly && added.ReadOnly,
		Listed:   !(wide(had) || wide(added)) && (had.Listed || added.Listed || had.ReadOnly != added.ReadOnly),
	}
	for _, t := range catalog {
		inHad, inAdded := had.Allows(t.Name, t.Write), added.Allows(t.Name, t.Write)
		switch {
		case inHad && inAdded:
			out.setLimits(t.Name, joinLimits(had.limitsOf(t.Name), added.limitsOf(t.Name)))
		case inAdded:
			out.setLimits(t.Name, added.limitsOf(t.Name))
		case inHad:
			out.setLimits(t.Name, had.limitsOf(t.Name))
		default:
			continue
		}
		if out.Listed {
			out.Tools = append(out.Tools, t.Name)
		}
	}
	slices.Sort(out.Tools)
	if out.Open() {
		return nil
	}
	return out
}

// wide reports whether the grant allows every tool there is and will be.
func wide(g *Grant) bool { return !g.Listed && !g.ReadOnly }

func joinLimits(had, added map[string]Rule) map[string]Rule {
	if len(had) == 0 || len(added) == 0 {
		return nil
	}
	if len(had) > 1 || len(added) > 1 {
		return added
	}
	for argument, rule := range added {
		old, same := had[argument]
		switch {
		case !same:
		case rule.Maximum != nil && old.Maximum != nil:
			greatest := max(*rule.Maximum, *old.Maximum)
			return map[string]Rule{argument: {Maximum: &greatest}}
		case rule.Maximum == nil && old.Maximum == nil:
			return normal(map[string]Rule{argument: {Values: slices.Concat(old.Values, rule.Values)}})
		}
	}
	return added
}
