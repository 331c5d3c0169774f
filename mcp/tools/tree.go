package tools

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// node is a JSON value whose members keep their order. It is what the fitting of an answer works on.
type node struct {
	kind    jsontext.Kind // '{', '[', or anything else for a scalar
	raw     []byte        // of a scalar
	members []member      // of an object
	elems   []*node       // of a list
}

type member struct {
	key string // as it stands between the quotes: keys of answers need no escape
	val *node
}

// parseTree reads compact JSON.
func parseTree(text []byte) (*node, error) {
	dec := jsontext.NewDecoder(bytes.NewReader(text))
	n, err := readNode(dec)
	if err != nil {
		return nil, fmt.Errorf("read answer: %w", err)
	}
	return n, nil
}

func readNode(dec *jsontext.Decoder) (*node, error) {
	n := &node{kind: dec.PeekKind()}
	switch n.kind {
	case '{':
		return n, readMembers(dec, n)
	case '[':
		return n, readElems(dec, n)
	}
	raw, err := dec.ReadValue()
	n.raw = append([]byte(nil), raw...)
	return n, err
}

func readMembers(dec *jsontext.Decoder, n *node) error {
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for dec.PeekKind() != '}' {
		key, err := dec.ReadValue()
		if err != nil {
			return err
		}
		m := member{key: string(key[1 : len(key)-1])}
		if m.val, err = readNode(dec); err != nil {
			return err
		}
		n.members = append(n.members, m)
	}
	_, err := dec.ReadToken()
	return err
}

func readElems(dec *jsontext.Decoder, n *node) error {
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for dec.PeekKind() != ']' {
		e, err := readNode(dec)
		if err != nil {
			return err
		}
		n.elems = append(n.elems, e)
	}
	_, err := dec.ReadToken()
	return err
}

// size is the number of bytes append writes.
func (n *node) size() int {
	switch n.kind {
	case '{':
		total := 2 + commas(len(n.members))
		for _, m := range n.members {
			total += m.size()
		}
		return total
	case '[':
		total := 2 + commas(len(n.elems))
		for _, e := range n.elems {
			total += e.size()
		}
		return total
	}
	return len(n.raw)
}

// size counts key, colon and value.
func (m member) size() int { return len(m.key) + 3 + m.val.size() }

func commas(n int) int { return max(0, n-1) }

// append writes the value compactly.
func (n *node) append(dst []byte) []byte {
	switch n.kind {
	case '{':
		dst = append(dst, '{')
		for i, m := range n.members {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(append(append(dst, '"'), m.key...), '"', ':')
			dst = m.val.append(dst)
		}
		return append(dst, '}')
	case '[':
		dst = append(dst, '[')
		for i, e := range n.elems {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = e.append(dst)
		}
		return append(dst, ']')
	}
	return append(dst, n.raw...)
}

// list returns the list under a key of an object, or nil.
func (n *node) list(key string) *node {
	if key == "" {
		return nil
	}
	for _, m := range n.members {
		if m.key == key && m.val.kind == '[' {
			return m.val
		}
	}
	return nil
}

// protected reports whether a key is one that an answer never loses (KE-142, KE-143).
func protected(key string) bool {
	switch key {
	case "id", "short_code", "kind", "role", "name", "title", "items", "placed", "audit_event_ids", "undo_until":
		return true
	}
	return isID(key)
}

func isID(key string) bool { return strings.HasSuffix(key, "_id") || strings.HasSuffix(key, "_ids") }

// holdsProtected reports whether a protected key stands anywhere inside the value.
func (n *node) holdsProtected() bool {
	for _, m := range n.members {
		if protected(m.key) || m.val.holdsProtected() {
			return true
		}
	}
	for _, e := range n.elems {
		if e.holdsProtected() {
			return true
		}
	}
	return false
}
