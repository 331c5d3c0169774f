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

// summary is one sentence about an entry, from its action and names; it tells no values.
func (w *entryWords) summary(e activity.Record) string {
	name := "“" + w.subjects[e.SubjectID] + "”"
	if w.subjects[e.SubjectID] == "" {
		name = "a " + e.SubjectType + " that is gone"
	}
	switch e.Action {
	case "thing.create":
		return "Added " + name + "."
	case "thing.update":
		return "Changed " + fieldList(e) + " of " + name + "."
	case "thing.retype":
		return "Changed the type of " + name + "."
	case "thing.move":
		return "Moved " + name + "."
	case "thing.split":
		return "Moved a part of " + name + "."
	case "thing.tags":
		return "Changed the tags of " + name + "."
	case "thing.minimum":
		return "Changed the minimum stock of " + name + "."
	case "purchase.create":
		return "Noted how " + name + " was bought."
	case "purchase.update":
		return "Changed how " + name + " was bought."
	case actionUndo:
		return "Undid a change of " + name + "."
	case "place.create":
		return "Made the place " + name + "."
	}
	return "Changed " + name + " (" + e.Action + ")."
}

// fieldList names the changed fields as in "the name and notes".
func fieldList(e activity.Record) string {
	var names []string
	for _, c := range e.Changes {
		names = append(names, fieldWord(c.Field))
	}
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
