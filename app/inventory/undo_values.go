package inventory

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"gatehouse/app/activity"
)

// undoValues are the stored values before and after an entry, by the keys under which edit keeps them.
type undoValues struct {
	Before map[string]json.RawMessage `json:"before"`
	After  map[string]json.RawMessage `json:"after"`
}

func readUndo(e activity.Record) (undoValues, error) {
	var v undoValues
	if err := json.Unmarshal(e.Undo, &v); err != nil {
		return v, fmt.Errorf("decode undo of %s: %w", e.ID, err)
	}
	return v, nil
}

// publicField is the name people know a stored key by.
func publicField(key string) string {
	switch key {
	case "brand_id", "type_id":
		return strings.TrimSuffix(key, "_id")
	case "tag_ids":
		return "tags"
	}
	return key
}

// differing names the fields whose present value is not the one an entry left. The time of a move is no field people
// know: it goes back along with the place.
func (v undoValues) differing(present func(key string) any) ([]string, error) {
	var fields []string
	for key, left := range v.After {
		if key == "placed_at" {
			continue
		}
		now, err := json.Marshal(present(key))
		if err != nil {
			return nil, fmt.Errorf("encode %s: %w", key, err)
		}
		same, err := sameValue(key, now, left)
		if err != nil {
			return nil, err
		}
		if !same {
			fields = append(fields, publicField(key))
		}
	}
	slices.Sort(fields)
	return fields, nil
}

// sameValue compares two stored values. No value, an empty text and an empty list are the same, and tags have no order.
func sameValue(key string, a, b json.RawMessage) (bool, error) {
	x, err := plainValue(key, a)
	if err != nil {
		return false, err
	}
	y, err := plainValue(key, b)
	return reflect.DeepEqual(x, y), err
}

func plainValue(key string, raw json.RawMessage) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("decode %s: %w", key, err)
	}
	switch t := v.(type) {
	case string:
		if t == "" {
			return nil, nil
		}
	case []any:
		if len(t) == 0 {
			return nil, nil
		}
		if key == "tag_ids" {
			slices.SortFunc(t, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		}
	}
	return v, nil
}

// storedValue is a thing's present value under a key of undo.
func (t *Thing) storedValue(key string) any {
	switch key {
	case "name":
		return t.Name
	case "quantity":
		return t.Quantity
	case "aliases":
		return t.Aliases
	case "brand_id":
		return t.brandID()
	case "type_id":
		return t.typeID()
	case "model":
		return t.Model
	case "serial":
		return t.Serial
	case "notes":
		return t.Notes
	case "condition":
		return t.Condition
	case "is_container":
		return t.IsContainer
	case "acquired_on":
		return t.AcquiredOn
	case "value":
		return t.Value
	case "minimum":
		return t.Minimum
	case "tag_ids":
		return t.tagIDs()
	case "place_id":
		return t.PlaceID
	case "container_id":
		return t.ContainerID
	}
	if field, ok := strings.CutPrefix(key, "custom."); ok {
		return t.Custom[field]
	}
	return nil
}

// restore gives a thing the value that a key had. Names of types, brands and tags are read anew with the row.
func (t *Thing) restore(key string, raw json.RawMessage) error {
	var err error
	switch key {
	case "name":
		t.Name, err = readValue[string](raw)
		t.NameKey = NameKey(t.Name)
	case "quantity":
		err = json.Unmarshal(raw, &t.Quantity)
	case "aliases":
		t.Aliases, err = readValue[[]string](raw)
	case "brand_id":
		t.Brand, err = readNamed(raw)
	case "type_id":
		t.Type, err = readNamed(raw)
	case "model":
		t.Model, err = readValue[string](raw)
	case "serial":
		t.Serial, err = readValue[string](raw)
	case "notes":
		t.Notes, err = readValue[string](raw)
	case "condition":
		t.Condition, err = readValue[string](raw)
	case "is_container":
		err = json.Unmarshal(raw, &t.IsContainer)
	case "acquired_on":
		t.AcquiredOn, err = readValue[string](raw)
	case "value":
		t.Value, err = readMoney(raw)
	case "minimum":
		t.Minimum, err = readValue[*int](raw)
	case "tag_ids":
		t.Tags, err = readTags(raw)
	case "place_id":
		t.PlaceID, err = readValue[string](raw)
	case "container_id":
		t.ContainerID, err = readValue[string](raw)
	case "placed_at":
		err = json.Unmarshal(raw, &t.PlacedAt)
	default:
		err = t.restoreCustom(key, raw)
	}
	if err != nil {
		return fmt.Errorf("restore %s: %w", key, err)
	}
	return nil
}

func (t *Thing) restoreCustom(key string, raw json.RawMessage) error {
	field, ok := strings.CutPrefix(key, "custom.")
	if !ok {
		return fmt.Errorf("unknown key %q", key)
	}
	v, err := plainValue(key, raw)
	if v == nil {
		delete(t.Custom, field)
		return err
	}
	t.Custom[field] = v
	return nil
}

// readValue decodes a value; null is the zero value.
func readValue[T any](raw json.RawMessage) (T, error) {
	var v T
	err := json.Unmarshal(raw, &v)
	return v, err
}

func readNamed(raw json.RawMessage) (*Named, error) {
	id, err := readValue[string](raw)
	if id == "" || err != nil {
		return nil, err
	}
	return &Named{ID: id}, nil
}

func readTags(raw json.RawMessage) ([]Named, error) {
	ids, err := readValue[[]string](raw)
	var out []Named
	for _, id := range ids {
		out = append(out, Named{ID: id})
	}
	return out, err
}

func readMoney(raw json.RawMessage) (*Money, error) {
	in, err := readValue[*MoneyInput](raw)
	if in == nil || err != nil {
		return nil, err
	}
	m, ok := ParseMoney(in.Amount, in.Currency)
	if !ok {
		return nil, fmt.Errorf("no amount")
	}
	return &m, nil
}
