package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"sort"
	"strings"
)

// paramHeader is an argument that a 2026-07-28 client repeats in a header
// Mcp-Param-X, because its schema says "x-mcp-header": "X" (SEP-2243).
type paramHeader struct {
	header string   // canonical form
	path   []string // property names from the root
	kind   string   // string, integer or boolean
}

// paramHeaders finds the annotated properties of an input schema. A wrong
// annotation would make clients drop the tool, so it is an error here.
func paramHeaders(schema json.RawMessage) ([]paramHeader, error) {
	if !bytes.Contains(schema, []byte(`"x-mcp-header"`)) {
		return nil, nil
	}
	var root map[string]any
	if err := json.Unmarshal(schema, &root); err != nil {
		return nil, err
	}
	var out []paramHeader
	if err := findParamHeaders(root, nil, &out); err != nil {
		return nil, err
	}
	sort.Slice(out, func(i, j int) bool { return out[i].header < out[j].header })
	for i := 1; i < len(out); i++ {
		if out[i].header == out[i-1].header {
			return nil, fmt.Errorf("x-mcp-header %s is given twice", out[i].header)
		}
	}
	return out, nil
}

func findParamHeaders(schema map[string]any, path []string, out *[]paramHeader) error {
	props, _ := schema["properties"].(map[string]any)
	for name, sub := range props {
		prop, ok := sub.(map[string]any)
		if !ok {
			continue
		}
		at := append(append([]string(nil), path...), name)
		if mark, marked := prop["x-mcp-header"]; marked {
			p, err := newParamHeader(mark, prop["type"], at)
			if err != nil {
				return fmt.Errorf("property %s: x-mcp-header: %w", strings.Join(at, "."), err)
			}
			*out = append(*out, p)
		}
		if err := findParamHeaders(prop, at, out); err != nil {
			return err
		}
	}
	return nil
}

func newParamHeader(mark, kind any, path []string) (paramHeader, error) {
	name, ok := mark.(string)
	if !ok || !isToken(name) {
		return paramHeader{}, errors.New("must be a header token")
	}
	if kind != "string" && kind != "integer" && kind != "boolean" {
		return paramHeader{}, errors.New("needs type string, integer or boolean")
	}
	return paramHeader{header: http.CanonicalHeaderKey("Mcp-Param-" + name), path: path, kind: kind.(string)}, nil
}

// isToken checks RFC 9110 §5.6.2.
func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) {
			return false
		}
	}
	return s != ""
}

// checkParamHeaders compares the headers with the arguments they repeat.
func (t *Tool) checkParamHeaders(h http.Header, args json.RawMessage) error {
	dec := json.NewDecoder(bytes.NewReader(args))
	dec.UseNumber()
	var root any
	if err := dec.Decode(&root); err != nil {
		return InvalidParams("params.arguments must be an object")
	}
	for _, p := range t.paramHeaders {
		sent, rerr := single(h, p.header)
		if rerr != nil {
			return rerr
		}
		_, present := h[p.header]
		value := p.find(root)
		switch {
		case value == nil && !present:
			continue
		case value == nil:
			return headerMismatch("Header mismatch: " + p.header + " has no argument")
		case !present:
			return headerMismatch("Header mismatch: " + p.header + " is missing")
		}
		text, ok := decodeHeader(sent)
		if !ok {
			return headerMismatch("Header mismatch: " + p.header + " is malformed")
		}
		if !p.equal(value, text) {
			return headerMismatch("Header mismatch: " + p.header + " differs from the argument")
		}
	}
	return nil
}

// find follows the path; nil when the argument is absent or null.
func (p paramHeader) find(v any) any {
	for _, name := range p.path {
		obj, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = obj[name]
	}
	return v
}

// equal compares by the declared type. A value of another type is left to the
// argument check, which says what is wrong with it.
func (p paramHeader) equal(value any, text string) bool {
	switch v := value.(type) {
	case string:
		return p.kind != "string" || v == text
	case bool:
		return p.kind != "boolean" || text == map[bool]string{true: "true", false: "false"}[v]
	case json.Number:
		if p.kind != "integer" || !smallNumber(string(v)) || !smallNumber(text) {
			return p.kind != "integer"
		}
		a, okA := new(big.Rat).SetString(string(v))
		b, okB := new(big.Rat).SetString(text)
		return okA && okB && a.Cmp(b) == 0
	}
	return true
}
