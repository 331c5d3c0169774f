package db

import (
	"encoding/json"
	"strings"
)

// joinWords keeps a list of words that hold no spaces (scopes, tool names) in one column.
func joinWords(words []string) string { return strings.Join(words, " ") }

// splitWords is the inverse of joinWords.
func splitWords(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, " ")
}

// rawText is a JSON value as the parameter of a text column, byte for byte; nil is NULL.
func rawText(raw json.RawMessage) any {
	if raw == nil {
		return nil
	}
	return string(raw)
}

// rawJSON is the inverse of rawText.
func rawJSON(s *string) json.RawMessage {
	if s == nil {
		return nil
	}
	return json.RawMessage(*s)
}

// emptyNull makes NULL of an empty string.
func emptyNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// deref gives the string of a nullable column.
func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// nullBytes makes NULL of no bytes. Drivers disagree on what a nil slice is.
func nullBytes(b []byte) any {
	if b == nil {
		return nil
	}
	return b
}
