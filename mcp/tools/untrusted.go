package tools

import (
	stdjson "encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Text is text a person wrote. It is used under the key untrusted and nowhere else, and loses its invisible characters
// on the way out: a reader must be able to see all that a model is given.
type Text string

// MarshalJSONTo writes the visible part of the text.
func (t Text) MarshalJSONTo(enc *jsontext.Encoder) error {
	return enc.WriteToken(jsontext.String(visible(string(t))))
}

// texts makes a list of Text; an empty list gives nil.
func texts(in []string) []Text {
	if len(in) == 0 {
		return nil
	}
	out := make([]Text, len(in))
	for i, s := range in {
		out[i] = Text(s)
	}
	return out
}

// Custom are custom fields, whose strings a person wrote. The keys are slugs chosen from field definitions.
type Custom map[string]any

// MarshalJSONTo writes the fields by key, every string in them as Text.
func (c Custom) MarshalJSONTo(enc *jsontext.Encoder) error {
	return json.MarshalEncode(enc, wrapText(map[string]any(c)), json.Deterministic(true))
}

// wrapText turns every string inside a decoded JSON value into Text.
func wrapText(v any) any {
	switch v := v.(type) {
	case string:
		return Text(v)
	case stdjson.Number: // a kind of string to the encoder
		return jsontext.Value(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = wrapText(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[visible(k)] = wrapText(e)
		}
		return out
	}
	return v
}

// visible drops invisible characters and what is not UTF-8.
func visible(s string) string {
	if plain(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if invisible(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// plain reports whether s is printable ASCII, the common case that needs no work.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] >= 0x7F {
			return false
		}
	}
	return true
}

// invisible names the characters a reader does not see but a model does: tags, zero width signs, the byte order mark,
// bidi controls, and control characters other than tab and line feed. U+200C and U+200D stay: scripts and emoji need them.
func invisible(r rune) bool {
	switch {
	case r == '\t' || r == '\n':
		return false
	case r < 0x20 || r >= 0x7F && r <= 0x9F:
		return true
	case r < 0x200B:
		return false
	case r == 0x200B, r == 0xFEFF,
		r >= 0x2060 && r <= 0x2064,
		r >= 0x202A && r <= 0x202E,
		r >= 0x2066 && r <= 0x2069,
		r >= 0xE0000 && r <= 0xE007F:
		return true
	}
	return !utf8.ValidRune(r)
}
