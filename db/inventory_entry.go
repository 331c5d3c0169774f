package db

import (
	"fmt"

	"gorm.io/gorm"

	"gatehouse/app/activity"
	"gatehouse/app/inventory"
)

func recordsOf(rows []eventRow) ([]activity.Record, error) {
	out := make([]activity.Record, len(rows))
	var err error
	for i := range rows {
		if out[i], err = rows[i].record(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// entries runs a query of the event log.
func (t *inventoryTx) entries(g *gorm.DB) ([]activity.Record, error) {
	var rows []eventRow
	if err := g.Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("read entries: %w", err)
	}
	return recordsOf(rows)
}

// Entries gives the entries of the ids that exist.
func (t *inventoryTx) Entries(ids []string) ([]activity.Record, error) {
	if ids = onlyIDs(ids); len(ids) == 0 {
		return nil, nil
	}
	return t.entries(t.g.Where("id IN ?", ids))
}

// BatchEntries gives the entries of one batch by number.
func (t *inventoryTx) BatchEntries(batchID string) ([]activity.Record, error) {
	if !isID(batchID) {
		return nil, nil
	}
	return t.entries(t.g.Where("batch_id = ?", batchID).Order("seq"))
}

// LaterEntries gives the entries about a subject with a number above seq, by number.
func (t *inventoryTx) LaterEntries(subjectID string, seq int64) ([]activity.Record, error) {
	if !isID(subjectID) {
		return nil, nil
	}
	return t.entries(t.g.Where("subject_id = ? AND seq > ?", subjectID, seq).Order("seq"))
}

// mainEntries are the entries made through a connection or token that no other entry carries along, the newest first;
// nil when there can be none.
func (t *inventoryTx) mainEntries(through inventory.Through, limit int) *gorm.DB {
	column, id := "connection_id", through.ConnectionID
	if id == "" {
		column, id = "token_id", through.TokenID
	}
	if !isID(id) {
		return nil
	}
	return t.g.Where(column+" = ? AND companion_of IS NULL", id).Order("at DESC, seq DESC, id DESC").Limit(limit)
}

// ActivityOf gives a page of what a connection or token wrote in the locations.
func (t *inventoryTx) ActivityOf(through inventory.Through, locations []string, after string, limit int) ([]activity.Record, error) {
	locations = onlyIDs(locations)
	g := t.mainEntries(through, limit)
	if g == nil || len(locations) == 0 || after != "" && !isID(after) {
		return nil, nil
	}
	if after != "" {
		g = g.Where("(at, seq, id) < (SELECT at, seq, id FROM events WHERE id = ? AND location_id IN ?)", after, locations)
	}
	return t.entries(g.Where("location_id IN ?", locations))
}

// Undoable gives the main entries that can still be undone by their age and state, the newest first.
func (t *inventoryTx) Undoable(q inventory.UndoableQuery) ([]activity.Record, error) {
	anyIn, ownIn := onlyIDs(q.AnyIn), onlyIDs(q.OwnIn)
	g := t.mainEntries(q.Through, q.Limit)
	if g == nil || !isID(q.UserID) || len(anyIn)+len(ownIn) == 0 {
		return nil, nil
	}
	g = g.Where("undone_by IS NULL AND undo_until > ?", at(q.Now)).
		Where("(location_id IN ? OR location_id IN ? AND user_id = ?)", anyIn, ownIn, q.UserID)
	if !q.Since.IsZero() {
		g = g.Where("at >= ?", at(q.Since))
	}
	return t.entries(g)
}

// ActorOf names who made an entry.
func (t *inventoryTx) ActorOf(r activity.Record) (*inventory.ActorRef, error) {
	row, err := eventRowOf(r)
	if err != nil {
		return nil, err
	}
	return t.actor(&row)
}

// SubjectNames gives the names of things and places, also of those in the trash.
func (t *inventoryTx) SubjectNames(ids []string) (map[string]string, error) {
	if ids = onlyIDs(ids); len(ids) == 0 {
		return map[string]string{}, nil
	}
	return namesByID(t.g.Raw("SELECT id, name FROM things WHERE id IN ? UNION ALL SELECT id, name FROM places WHERE id IN ?", ids, ids))
}

// PersonNames gives the names of persons.
func (t *inventoryTx) PersonNames(ids []string) (map[string]string, error) {
	if ids = onlyIDs(ids); len(ids) == 0 {
		return map[string]string{}, nil
	}
	return namesByID(t.g.Raw("SELECT id, name FROM users WHERE id IN ?", ids))
}

func namesByID(g *gorm.DB) (map[string]string, error) {
	var rows []inventory.Named
	if err := g.Scan(&rows).Error; err != nil {
		return nil, fmt.Errorf("read names: %w", err)
	}
	out := make(map[string]string, len(rows))
	for _, r := range rows {
		out[r.ID] = r.Name
	}
	return out, nil
}
