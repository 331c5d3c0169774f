package mcp

import (
	"encoding/json"
	"math/big"
	"slices"
	"strconv"
	"strings"

	santhosh "github.com/santhosh-tekuri/jsonschema/v6"
)

// normalise removes the nulls that count as absent and writes whole numbers
// such as 1.0 as integers where the schema wants one. It reports whether
// anything changed. It follows properties, items and references; inside
// anyOf and its like a value stays as it is.
func normalise(sch *santhosh.Schema, doc any) (any, bool) {
	for sch != nil && sch.Ref != nil && sch.Properties == nil {
		sch = sch.Ref
	}
	if sch == nil {
		return doc, false
	}
	switch v := doc.(type) {
	case map[string]any:
		return v, normaliseObject(sch, v)
	case []any:
		changed := false
		for i, item := range v {
			if i < len(sch.PrefixItems) {
				continue
			}
			n, c := normalise(sch.Items2020, item)
			v[i], changed = n, changed || c
		}
		return v, changed
	case json.Number:
		if n, ok := wholeNumber(sch, v); ok {
			return n, true
		}
	}
	return doc, false
}

func normaliseObject(sch *santhosh.Schema, obj map[string]any) bool {
	changed := false
	for name, value := range obj {
		prop := sch.Properties[name]
		if prop == nil {
			continue
		}
		if value == nil && !slices.Contains(sch.Required, name) && prop.Validate(nil) != nil {
			delete(obj, name)
			changed = true
			continue
		}
		n, c := normalise(prop, value)
		if c {
			obj[name], changed = n, true
		}
	}
	return changed
}

// wholeNumber rewrites 1.0 and 1e2 where an integer is wanted: JSON Schema
// counts them as integers, Go's decoders do not.
func wholeNumber(sch *santhosh.Schema, n json.Number) (json.Number, bool) {
	if sch.Types == nil || !slices.Contains(sch.Types.ToStrings(), "integer") || !strings.ContainsAny(string(n), ".eE") {
		return n, false
	}
	r, ok := new(big.Rat).SetString(string(n))
	if !ok || !r.IsInt() {
		return n, false
	}
	return json.Number(r.Num().String()), true
}

// hugeNumber finds a number too large to compute with: exact arithmetic on
// 1e999999999 would eat the machine.
func hugeNumber(doc any, at string) *FieldError {
	switch v := doc.(type) {
	case map[string]any:
		for name, value := range v {
			if f := hugeNumber(value, at+"/"+escapePointer.Replace(name)); f != nil {
				return f
			}
		}
	case []any:
		for i, value := range v {
			if f := hugeNumber(value, at+"/"+strconv.Itoa(i)); f != nil {
				return f
			}
		}
	case json.Number:
		if !smallNumber(string(v)) {
			return &FieldError{InstancePath: at, Message: "must be a number of ordinary size"}
		}
	}
	return nil
}

// smallNumber accepts what a float64 could mean.
func smallNumber(s string) bool {
	if len(s) > 400 {
		return false
	}
	i := strings.IndexAny(s, "eE")
	if i < 0 {
		return true
	}
	exp, err := strconv.Atoi(s[i+1:])
	return err == nil && exp >= -400 && exp <= 400
}
