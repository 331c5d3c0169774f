package connection

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Limits of terms.
const (
	MaxLocations   = 100
	maxHiddenTools = 200
	maxToolName    = 64
)

// Terms are the parts of an approval that the authorization server stores without looking inside: where the app may
// act, and which tools the person unticked.
type Terms struct {
	Locations   []string `json:"locations"`
	HiddenTools []string `json:"hidden_tools"`
}

// ParseTerms reads stored terms. No terms at all are those of a connection that has no locations.
func ParseTerms(raw json.RawMessage) (Terms, error) {
	var t Terms
	if len(raw) == 0 {
		return t, nil
	}
	if err := json.Unmarshal(raw, &t); err != nil {
		return Terms{}, fmt.Errorf("parse terms: %w", err)
	}
	if err := t.Check(); err != nil {
		return Terms{}, err
	}
	return t, nil
}

// Encode writes the terms with each value once and in a fixed order, so that equal terms are equal bytes.
func (t Terms) Encode() (json.RawMessage, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	raw, err := json.Marshal(Terms{Locations: sorted(t.Locations), HiddenTools: sorted(t.HiddenTools)})
	if err != nil {
		return nil, fmt.Errorf("encode terms: %w", err)
	}
	return raw, nil
}

// Check reports terms that cannot be: too many or misshapen values.
func (t Terms) Check() error {
	if len(t.Locations) > MaxLocations {
		return invalid("locations", "A connection reaches at most {n} locations.", "n", MaxLocations)
	}
	if slices.ContainsFunc(t.Locations, func(id string) bool { return len(id) != 36 || strings.ContainsFunc(id, notIDCharacter) }) {
		return invalid("locations", "A location's id is misshapen.")
	}
	if len(t.HiddenTools) > maxHiddenTools || slices.ContainsFunc(t.HiddenTools, func(name string) bool { return !isToolName(name) }) {
		return invalid("hidden_tools", "A tool's name is misshapen.")
	}
	return nil
}

func notIDCharacter(r rune) bool {
	return r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'f')
}

func isToolName(name string) bool {
	return name != "" && len(name) <= maxToolName && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && r != '-' && r != '.' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}

func sorted(values []string) []string {
	out := append([]string{}, values...)
	slices.Sort(out)
	return slices.Compact(out)
}

// Invalid is a refusal of what a person entered.
type Invalid struct {
	// Field is the form's field.
	Field string
	// Message is for the person.
	Message string
	// Text is the message before the Values went in for its placeholders, so that it can be said in another language.
	// Values are names and values by turns.
	Text   string
	Values []any
}

// Error implements error.
func (e *Invalid) Error() string { return e.Field + ": " + e.Message }

func invalid(field, text string, values ...any) error {
	message := text
	for i := 0; i+1 < len(values); i += 2 {
		message = strings.ReplaceAll(message, fmt.Sprintf("{%v}", values[i]), fmt.Sprint(values[i+1]))
	}
	return &Invalid{Field: field, Message: message, Text: text, Values: values}
}

// ErrNotFound says that there is no such connection, installation or client, or that it is somebody else's.
var ErrNotFound = errors.New("connection: not found")
