package db

import (
	"encoding/json"
	"fmt"

	"gorm.io/gorm"

	"gatehouse/app/inventory"
)

// The tree of places and containers is small beside the things in it, so it is walked here. As a recursive query it makes
// Postgres expect millions of rows, and plan for them.

// holders are places and containers.
type holders struct{ places, containers []string }

// holderRow is a place with its parent, or a container with what it is in.
type holderRow struct {
	ID          string
	ParentID    *string
	PlaceID     *string
	ContainerID *string
	IsUnplaced  bool
}

// below gives the live places of the locations that pick picks and all places and containers somewhere below them.
func (t *inventoryTx) below(locations []string, pick func(holderRow) bool) (holders, error) {
	var places, containers []holderRow
	locations = onlyIDs(locations)
	if err := t.g.Table("places").Where("location_id IN ?", locations).Where(livePlace).Select("id, parent_id, is_unplaced").Find(&places).Error; err != nil {
		return holders{}, fmt.Errorf("read places below: %w", err)
	}
	if err := t.g.Table("things").Where("location_id IN ? AND is_container", locations).Where(liveThing).
		Select("id, place_id, container_id").Find(&containers).Error; err != nil {
		return holders{}, fmt.Errorf("read containers below: %w", err)
	}
	inside := map[string][]holderRow{}
	h := holders{places: []string{}, containers: []string{}}
	for _, p := range places {
		if pick(p) {
			h.places = append(h.places, p.ID)
		} else if p.ParentID != nil {
			inside[*p.ParentID] = append(inside[*p.ParentID], p)
		}
	}
	h.places = descend(h.places, inside)
	h.addContainers(containers)
	return h, nil
}

// addContainers adds those of the containers that are in one of the holders.
func (h *holders) addContainers(containers []holderRow) {
	inside := map[string][]holderRow{}
	found := set(h.places)
	for _, c := range containers {
		switch {
		case c.PlaceID != nil && found[*c.PlaceID]:
			h.containers = append(h.containers, c.ID)
		case c.ContainerID != nil:
			inside[*c.ContainerID] = append(inside[*c.ContainerID], c)
		}
	}
	h.containers = descend(h.containers, inside)
}

// descend adds to the ids all that is inside them.
func descend(ids []string, inside map[string][]holderRow) []string {
	for i := 0; i < len(ids); i++ {
		for _, r := range inside[ids[i]] {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

func set(ids []string) map[string]bool {
	out := make(map[string]bool, len(ids))
	for _, id := range ids {
		out[id] = true
	}
	return out
}

// unplaced gives what is Unplaced in the locations, with all below it.
func (t *inventoryTx) unplaced(locations []string) (holders, error) {
	return t.below(locations, func(r holderRow) bool { return r.IsUnplaced })
}

// within is the condition on things that are in one of the holders. The ids go as one parameter, however many they are.
func (t *inventoryTx) within(h holders) *gorm.DB {
	list := "(SELECT value FROM json_each(?))"
	if t.dialect == Postgres {
		list = "(SELECT value::uuid FROM jsonb_array_elements_text(?::jsonb))"
	}
	return t.g.Where("place_id IN "+list, jsonList(h.places)).Or("container_id IN "+list, jsonList(h.containers))
}

// jsonList writes ids as a JSON array.
func jsonList(ids []string) string {
	text, err := json.Marshal(ids)
	if err != nil { // strings always encode
		return "[]"
	}
	return string(text)
}

// markUncertain notes which candidates one would look for in vain where they are on record.
func (t *inventoryTx) markUncertain(f inventory.Filter, rows []matchRow, byID map[string]*inventory.Candidate) error {
	h, err := t.unplaced(f.Locations)
	if err != nil {
		return err
	}
	places, containers := set(h.places), set(h.containers)
	for _, r := range rows {
		byID[r.ID].Uncertain = places[deref(r.PlaceID)] || containers[deref(r.ContainerID)] ||
			r.PlacedAt.T.Before(f.ConfirmedSince) && r.CreatedAt.T.Before(f.ConfirmedSince) &&
				(r.LastSeenAt == nil || r.LastSeenAt.T.Before(f.ConfirmedSince))
	}
	return nil
}
