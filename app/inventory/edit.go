package inventory

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"gatehouse/app/activity"
)

// edit collects what one audit entry says: the differences for people, and the stored values before and after, from which
// an undo works and sees whether something changed since.
type edit struct {
	diff   activity.Diff
	before map[string]any
	after  map[string]any
}

// set notes a field whose stored value is what people see.
func (e *edit) set(field string, from, to any) { e.setAs(field, from, to, field, from, to) }

// setAs notes a field that people see by name and that is stored otherwise, under the key given.
func (e *edit) setAs(field string, from, to any, key string, storedFrom, storedTo any) {
	n := len(e.diff.Changes())
	if e.diff.Set(field, from, to); len(e.diff.Changes()) == n {
		return
	}
	e.keep(key, storedFrom, storedTo)
}

// keep notes a stored value that goes along with a change without being one people look for.
func (e *edit) keep(key string, from, to any) {
	if e.before == nil {
		e.before, e.after = map[string]any{}, map[string]any{}
	}
	e.before[key], e.after[key] = from, to
}

func (e *edit) empty() bool { return e.diff.Empty() }

// log adds the entry, which can be undone, and gives its id.
func (e *edit) log(w *write, entry activity.Entry) (string, error) {
	undo, err := json.Marshal(struct {
		Before map[string]any `json:"before,omitempty"`
		After  map[string]any `json:"after,omitempty"`
	}{e.before, e.after})
	if err != nil {
		return "", fmt.Errorf("encode undo of %s: %w", entry.Action, err)
	}
	entry.Changes, entry.Undo = e.diff.Changes(), undo
	return w.log.Add(entry)
}

// shortFields gives field names as callers know them, sorted: parts of custom and purchase go under one name.
func shortFields(fields []string) []string {
	out := make([]string, len(fields))
	for i, f := range fields {
		out[i], _, _ = strings.Cut(f, ".")
	}
	slices.Sort(out)
	return slices.Compact(out)
}
