package toolgrant

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
)

// Refused names the first argument, in the order of their names, by which the grant refuses a call, and its rule. The
// arguments are those that the tool gets; ones that cannot be read are refused.
func (g *Grant) Refused(tool string, arguments json.RawMessage) (argument string, rule Rule, refused bool) {
	rules := g.limitsOf(tool)
	if len(rules) == 0 {
		return "", Rule{}, false
	}
	var given map[string]any
	readable := jsonv2.Unmarshal(arguments, &given) == nil // refuses names that appear twice
	for _, argument := range names(rules) {
		value, present := given[argument]
		if !readable || !present || !rules[argument].permits(value) {
			return argument, rules[argument], true
		}
	}
	return "", Rule{}, false
}

func names(rules map[string]Rule) []string {
	var out []string
	for argument := range rules {
		out = append(out, argument)
	}
	slices.Sort(out)
	return out
}

// permits reports whether a value fits the rule.
func (r Rule) permits(value any) bool {
	if r.Maximum != nil {
		n, isNumber := value.(float64)
		return isNumber && n <= *r.Maximum
	}
	switch value.(type) {
	case string, float64, bool:
		return slices.Contains(r.Values, value)
	}
	return false
}

// Text lists the values of a rule for people, or gives its maximum.
func (r Rule) Text() string {
	if r.Maximum != nil {
		return number(*r.Maximum)
	}
	var out []string
	for _, v := range r.Values {
		switch v := v.(type) {
		case float64:
			out = append(out, number(v))
		case bool:
			out = append(out, strconv.FormatBool(v))
		case string:
			out = append(out, v)
		}
	}
	return strings.Join(out, ", ")
}

func number(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// ReadRule makes a rule from what a person wrote: a maximum, or values separated by commas.
func ReadRule(a Argument, maximum bool, text string) (Rule, error) {
	var r Rule
	if maximum {
		n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil {
			return Rule{}, errKind
		}
		r.Maximum = &n
		return r, r.Check(a)
	}
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		v, err := readValue(a.Kind, part)
		if err != nil {
			return Rule{}, err
		}
		r.Values = append(r.Values, v)
	}
	r = normal(map[string]Rule{"": r})[""]
	return r, r.Check(a)
}

func readValue(kind, text string) (any, error) {
	switch kind {
	case Number:
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, errKind
		}
		return n, nil
	case Boolean:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return nil, errKind
		}
		return b, nil
	}
	return text, nil
}

// errKind says that a value is not of the argument's kind.
const errKind = refusal("A value is not of the kind of its argument.")
