package inventory

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// FieldDef describes one custom field of a type or a kind of place.
type FieldDef struct {
	Key       string       `json:"key"`
	Label     string       `json:"label"`
	Kind      string       `json:"kind"`
	Required  bool         `json:"required,omitempty"`
	MaxLength int          `json:"max_length,omitempty"`
	Min       *json.Number `json:"min,omitempty"`
	Max       *json.Number `json:"max,omitempty"`
	Choices   []string     `json:"choices,omitempty"`
	Unit      string       `json:"unit,omitempty"`
}

// Kinds of custom field.
const (
	FieldText    = "text"
	FieldNumber  = "number"
	FieldInteger = "integer"
	FieldBoolean = "boolean"
	FieldDate    = "date"
	FieldChoice  = "choice"
	FieldURL     = "url"
	FieldSecret  = "secret"
)

const (
	maxCustomText = 2000
	maxCustomURL  = 500
)

// mergeCustom puts the sent values over the stored ones, key by key; null takes a value away. It returns the values to
// store and what is wrong, each at path.key (KE-63, KE-67).
func mergeCustom(defs []FieldDef, stored map[string]any, sent map[string]json.RawMessage, path string) (map[string]any, []FieldError) {
	out := maps.Clone(stored)
	if out == nil {
		out = map[string]any{}
	}
	var bad []FieldError
	for _, key := range slices.Sorted(maps.Keys(sent)) {
		at := customPath(path, key)
		def := findField(defs, key)
		if def == nil {
			bad = append(bad, FieldError{at, "is not a field of this type"})
			continue
		}
		if string(sent[key]) == "null" {
			delete(out, key)
			continue
		}
		v, problem := def.read(sent[key])
		if problem != "" {
			bad = append(bad, FieldError{at, problem})
			continue
		}
		out[key] = v
	}
	return out, bad
}

// customPath names a field. A key that could not be one is a text somebody sent, so it is not repeated.
func customPath(path, key string) string {
	if !isSlug(key, 40) {
		return path
	}
	return path + "." + key
}

// isSlug reports whether s is [a-z][a-z0-9_]* of at most max signs.
func isSlug(s string, max int) bool {
	if s == "" || len(s) > max || s[0] < 'a' || s[0] > 'z' {
		return false
	}
	return strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

func findField(defs []FieldDef, key string) *FieldDef {
	i := slices.IndexFunc(defs, func(d FieldDef) bool { return d.Key == key })
	if i < 0 {
		return nil
	}
	return &defs[i]
}

// missingFields lists required fields without a value; they are asked for only when an object gets its type.
func missingFields(defs []FieldDef, values map[string]any, path string) []FieldError {
	var bad []FieldError
	for _, d := range defs {
		if _, ok := values[d.Key]; d.Required && d.Kind != FieldSecret && !ok {
			bad = append(bad, FieldError{path + "." + d.Key, "is required for this type"})
		}
	}
	return bad
}

// keepKnown drops the values whose keys the fields lack.
func keepKnown(defs []FieldDef, values map[string]any) map[string]any {
	out := map[string]any{}
	for k, v := range values {
		if d := findField(defs, k); d != nil && d.Kind != FieldSecret {
			out[k] = v
		}
	}
	return out
}

// read checks one value and gives the form in which it is stored.
func (d *FieldDef) read(raw json.RawMessage) (any, string) {
	switch d.Kind {
	case FieldSecret:
		return nil, "is secret and can only be set on its page"
	case FieldBoolean:
		var v bool
		if json.Unmarshal(raw, &v) != nil {
			return nil, "must be true or false"
		}
		return v, ""
	case FieldNumber, FieldInteger:
		return d.readNumber(raw)
	default:
		return d.readString(raw)
	}
}

func (d *FieldDef) readNumber(raw json.RawMessage) (any, string) {
	n, ok := ParseDec4(string(raw))
	if !ok {
		return nil, "must be a number with at most 4 decimals"
	}
	if d.Kind == FieldInteger && n%unit != 0 {
		return nil, "must be a whole number"
	}
	if low, ok := bound(d.Min); ok && n < low {
		return nil, "must be at least " + low.String()
	}
	if high, ok := bound(d.Max); ok && n > high {
		return nil, "must be at most " + high.String()
	}
	return json.Number(n.String()), ""
}

func bound(n *json.Number) (Dec4, bool) {
	if n == nil {
		return 0, false
	}
	return ParseDec4(n.String())
}

func (d *FieldDef) readString(raw json.RawMessage) (any, string) {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return nil, "must be a text"
	}
	switch d.Kind {
	case FieldDate:
		if _, ok := parseDate(s); !ok {
			return nil, "must be a date such as 2026-11-30"
		}
		return s, ""
	case FieldChoice:
		if !slices.Contains(d.Choices, s) {
			return nil, "must be one of the field's choices"
		}
		return s, ""
	case FieldURL:
		if !isWebURL(s) {
			return nil, fmt.Sprintf("must be an http or https address of at most %d characters", maxCustomURL)
		}
		return s, ""
	default:
		limit := maxCustomText
		if d.MaxLength > 0 {
			limit = min(limit, d.MaxLength)
		}
		return second(cleanNotes(s, limit))
	}
}

func second(s, problem string) (any, string) { return s, problem }

func isWebURL(s string) bool {
	if utf8.RuneCountInString(s) > maxCustomURL || strings.ContainsFunc(s, refused) {
		return false
	}
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// parseDate reads YYYY-MM-DD.
func parseDate(s string) (time.Time, bool) {
	t, err := time.Parse(time.DateOnly, s)
	return t, err == nil && len(s) == len(time.DateOnly) && t.Year() > 0
}
