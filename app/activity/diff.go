package activity

import "reflect"

// Diff collects the changes of one entry.
type Diff struct{ changes []Change }

// Set notes a field whose value goes from one to the other; equal values leave no trace. A nil means no value.
func (d *Diff) Set(field string, from, to any) {
	from, to = plain(from), plain(to)
	if !reflect.DeepEqual(from, to) {
		d.changes = append(d.changes, Change{Field: field, From: from, To: to})
	}
}

// plain makes a nil pointer, an empty string and an empty list the same as no value, and follows pointers.
func plain(v any) any {
	r := reflect.ValueOf(v)
	switch {
	case !r.IsValid():
		return nil
	case r.Kind() == reflect.Pointer && r.IsNil():
		return nil
	case r.Kind() == reflect.Pointer:
		return r.Elem().Interface()
	case (r.Kind() == reflect.String || r.Kind() == reflect.Slice || r.Kind() == reflect.Map) && r.Len() == 0:
		return nil
	default:
		return v
	}
}

// Empty reports whether nothing differs.
func (d *Diff) Empty() bool { return len(d.changes) == 0 }

// Changes are the differences in the order they were noted.
func (d *Diff) Changes() []Change { return d.changes }

// Fields are the names of the fields that differ, in the order they were noted.
func (d *Diff) Fields() []string {
	out := make([]string, 0, len(d.changes))
	for _, c := range d.changes {
		out = append(out, c.Field)
	}
	return out
}
