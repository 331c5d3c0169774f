package inventory

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gatehouse/app/activity"
	"gatehouse/app/home"
)

// sentences are what a person reads about an entry, by its action; the empty one stands for every other. They tell no
// values. They are keys of the catalogues of other languages.
var sentences = map[string]string{
	"":                "Changed {name}.",
	"thing.create":    "Added {name}.",
	"thing.update":    "Changed {fields} of {name}.",
	"thing.retype":    "Changed the type of {name}.",
	"thing.move":      "Moved {name}.",
	"thing.split":     "Moved a part of {name}.",
	"thing.tags":      "Changed the tags of {name}.",
	"thing.minimum":   "Changed the minimum stock of {name}.",
	"purchase.create": "Noted how {name} was bought.",
	"purchase.update": "Changed how {name} was bought.",
	actionUndo:        "Undid a change of {name}.",
	"place.create":    "Made the place {name}.",
}

// Sentence is one sentence about an entry, in parts, so that it can be said in another language: the English text, and
// what its placeholders {name} and {fields} stand for.
type Sentence struct {
	Text string
	// Name is what it was about, Type of which kind that is. What is gone has no name.
	Name, Type string
	// Fields are the changed fields.
	Fields []string
}

func (w *entryWords) sentence(e activity.Record) Sentence {
	s := Sentence{Text: sentences[e.Action], Name: w.subjects[e.SubjectID], Type: e.SubjectType}
	if s.Text == "" {
		s.Text = sentences[""]
	}
	for _, c := range e.Changes {
		s.Fields = append(s.Fields, fieldWord(c.Field))
	}
	return s
}

// String is the sentence in English.
func (s Sentence) String() string {
	name := "“" + s.Name + "”"
	if s.Name == "" {
		name = "a " + s.Type + " that is gone"
	}
	return strings.NewReplacer("{name}", name, "{fields}", fieldList(s.Fields)).Replace(s.Text)
}

// fieldList names the changed fields as in "the name and notes".
func fieldList(names []string) string {
	switch n := len(names); {
	case n == 0:
		return "something"
	case n > 3:
		return strconv.Itoa(n) + " fields"
	case n == 1:
		return "the " + names[0]
	default:
		return "the " + strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
}

// fieldWord is a field's name for people.
func fieldWord(field string) string {
	switch field {
	case "place_id", "container_id":
		return "place"
	case "parent_id":
		return "place above"
	case "is_container":
		return "use as a container"
	case "acquired_on":
		return "date of getting it"
	case "minimum":
		return "minimum stock"
	case "purchase.purchased_on":
		return "date of purchase"
	}
	for _, prefix := range []string{"custom.", "purchase."} {
		field = strings.TrimPrefix(field, prefix)
	}
	return strings.ReplaceAll(field, "_", " ")
}

// changes are an entry's changes as a reader may see them. A move out of a place into a container is one change to them.
func (w *entryWords) changes(e activity.Record, a *home.Access) []SeenChange {
	var out []SeenChange
	var held *SeenChange
	for _, c := range e.Changes {
		seen := SeenChange{Field: fieldWord(c.Field), Hidden: c.Secret || hidden(c.Field, a)}
		if !seen.Hidden {
			seen.From, seen.To = w.text(c.Field, c.From), w.text(c.Field, c.To)
		}
		if c.Field != "place_id" && c.Field != "container_id" {
			out = append(out, seen)
			continue
		}
		if held == nil {
			out = append(out, seen)
			held = &out[len(out)-1]
			continue
		}
		held.From, held.To = held.From+seen.From, held.To+seen.To
	}
	return out
}

// text puts a value into words; no value is the empty text.
func (w *entryWords) text(field string, v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		if isHolder(field) {
			return w.holder(v)
		}
		return v
	case bool:
		if v {
			return "yes"
		}
		return "no"
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case json.Number:
		return v.String()
	case []any:
		var parts []string
		for _, p := range v {
			parts = append(parts, w.text("", p))
		}
		return strings.Join(parts, ", ")
	case map[string]any:
		return strings.TrimSpace(fmt.Sprint(w.text("", v["amount"]), " ", w.text("", v["currency"])))
	}
	return fmt.Sprint(v)
}

func (w *entryWords) holder(id string) string {
	if name := w.subjects[id]; name != "" {
		return name
	}
	return "a place that is gone"
}

// FieldNames gives field names as people say them, each once.
func FieldNames(fields []string) []string {
	var out []string
	for _, f := range fields {
		if word := fieldWord(f); !slices.Contains(out, word) {
			out = append(out, word)
		}
	}
	return out
}
