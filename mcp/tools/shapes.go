package tools

import (
	"gatehouse/app/activity"
	"gatehouse/app/inventory"
)

// undo is on every write answer, first in the data (KE-143).
type undo struct {
	AuditEventIDs []string `json:"audit_event_ids"`
	UndoUntil     *Stamp   `json:"undo_until"`
}

func undoOf(r activity.Receipt) undo {
	return undo{AuditEventIDs: r.AuditEventIDs, UndoUntil: stamp(r.UndoUntil)}
}

// rowID names a place or a thing.
type rowID struct {
	ID         string `json:"id"`
	ShortCode  string `json:"short_code"`
	LocationID string `json:"location_id"`
}

// nameText is an untrusted name alone.
type nameText struct {
	Name Text `json:"name"`
}

// thingText is what people wrote to name a thing; the path leads from the top place down to the holder.
type thingText struct {
	Name    Text   `json:"name"`
	Aliases []Text `json:"aliases,omitempty"`
	Path    []Text `json:"path"`
}

type thingRef struct {
	rowID
	Untrusted thingText `json:"untrusted"`
}

type placeText struct {
	Name Text   `json:"name"`
	Path []Text `json:"path"`
}

type placeRef struct {
	rowID
	Kind      string    `json:"kind"`
	Untrusted placeText `json:"untrusted"`
}

// thingFacts are the parts of a summary that stand beside the untrusted text.
type thingFacts struct {
	rowID
	Quantity   int      `json:"quantity"`
	Lifecycle  string   `json:"lifecycle"`
	States     []string `json:"states"`
	LastSeenAt *Stamp   `json:"last_seen_at"`
}

func rowOfThing(t inventory.ThingRef) rowID { return rowID{t.ID, t.ShortCode, t.LocationID} }

func textOfThing(t inventory.ThingRef) thingText {
	return thingText{Name: Text(t.Name), Aliases: texts(t.Aliases), Path: texts(t.Path)}
}

func refOfThing(t inventory.ThingRef) thingRef { return thingRef{rowOfThing(t), textOfThing(t)} }

func refOfPlace(p inventory.PlaceRef) placeRef {
	return placeRef{rowID{p.ID, p.ShortCode, p.LocationID}, p.Kind, placeText{Text(p.Name), texts(p.Path)}}
}

func factsOf(t inventory.ThingSummary) thingFacts {
	return thingFacts{
		rowID: rowOfThing(t.ThingRef), Quantity: t.Quantity, Lifecycle: t.Lifecycle, States: t.States,
		LastSeenAt: stamp(t.LastSeenAt),
	}
}

// mapped applies f to every element; the result is never nil.
func mapped[A, B any](in []A, f func(A) B) []B {
	out := make([]B, len(in))
	for i := range in {
		out[i] = f(in[i])
	}
	return out
}
