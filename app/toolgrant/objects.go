package toolgrant

import (
	"encoding/json"
	"fmt"
)

// The functions below are what an authorization server asks of a type of authorization details, over the objects of the
// type as they are stored.

// CheckObjects refuses what is not valid for a resource and gives the objects in normal form.
func CheckObjects(resource string, catalog Catalog, objects []json.RawMessage) ([]json.RawMessage, error) {
	g, err := Parse(resource, catalog, objects)
	if err != nil {
		return nil, err
	}
	object, err := g.Encode(resource)
	return []json.RawMessage{object}, err
}

// ObjectsWithin reports whether asked allows no call that granted does not. Objects that cannot be read are not within.
func ObjectsWithin(catalog Catalog, asked, granted []json.RawMessage) bool {
	a, err := FromObjects(asked)
	if err != nil {
		return false
	}
	g, err := FromObjects(granted)
	return err == nil && Within(a, g, catalog)
}

// MeetObjects gives what both allow; none when that is no call at all.
func MeetObjects(catalog Catalog, asked, granted []json.RawMessage) []json.RawMessage {
	out, err := meetObjects(catalog, asked, granted)
	if err != nil {
		return nil // what cannot be read allows nothing
	}
	return out
}

func meetObjects(catalog Catalog, asked, granted []json.RawMessage) ([]json.RawMessage, error) {
	a, err := FromObjects(asked)
	if err != nil {
		return nil, err
	}
	g, err := FromObjects(granted)
	if err != nil {
		return nil, err
	}
	met := Meet(a, g)
	if !met.AllowsAny(catalog) {
		return nil, nil
	}
	w, err := decode(asked[0])
	if err != nil || len(w.Locations) != 1 {
		return nil, fmt.Errorf("read tools: %w", err)
	}
	object, err := met.Encode(w.Locations[0])
	return []json.RawMessage{object}, err
}

// AllowsAny reports whether any tool of the catalog may be called.
func (g *Grant) AllowsAny(catalog Catalog) bool {
	for _, t := range catalog {
		if g.Allows(t.Name, t.Write) {
			return true
		}
	}
	return false
}
