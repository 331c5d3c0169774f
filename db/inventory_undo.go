package db

import (
	"fmt"

	"gatehouse/app/activity"
	"gatehouse/app/inventory"
)

// ClaimUndo marks an entry as undone by another: one conditional UPDATE that changes one row, or the entry was undone
// before.
func (t *inventoryTx) ClaimUndo(entryID, undoneBy string) (bool, error) {
	if !isID(entryID) || !isID(undoneBy) {
		return false, nil
	}
	res := t.g.Exec("UPDATE events SET undone_by = ? WHERE id = ? AND undone_by IS NULL", undoneBy, entryID)
	if res.Error != nil {
		return false, fmt.Errorf("claim undo: %w", res.Error)
	}
	return res.RowsAffected == 1, nil
}

// ClaimCompanions marks the companions that are undone with their main entry: those that know how. A new tag stays.
func (t *inventoryTx) ClaimCompanions(main activity.Record, undoneBy string) error {
	err := t.g.Exec("UPDATE events SET undone_by = ? WHERE batch_id = ? AND companion_of = ? AND undone_by IS NULL AND undo IS NOT NULL",
		undoneBy, main.BatchID, main.ID).Error
	if err != nil {
		return fmt.Errorf("claim companions: %w", err)
	}
	return nil
}

// TrashThing puts a thing into the trash, out of sight and out of the search.
func (t *inventoryTx) TrashThing(thing *inventory.Thing, by string) error {
	if err := t.trash("things", liveThing, thing.ID, thing.RowVersion, at(thing.UpdatedAt), by); err != nil {
		return fmt.Errorf("trash thing: %w", err)
	}
	if err := t.g.Where("thing_id = ?", thing.ID).Delete(&searchTokenRow{}).Error; err != nil {
		return fmt.Errorf("trash thing: %w", err)
	}
	return nil
}

// TrashPlace puts a place into the trash. Its name is free again.
func (t *inventoryTx) TrashPlace(p *inventory.Place, by string) error {
	if err := t.trash("places", livePlace, p.ID, p.RowVersion, at(p.UpdatedAt), by); err != nil {
		return fmt.Errorf("trash place: %w", err)
	}
	return nil
}

func (t *inventoryTx) trash(table, live, id string, version int, when Timestamp, by string) error {
	res := t.g.Exec("UPDATE "+table+" SET trashed_at = ?, trashed_by = ?, updated_at = ?, row_version = ? WHERE id = ? AND row_version = ? AND "+live,
		when, nullable(by), when, version, id, version-1)
	return one(res, inventory.ErrNotFound)
}

// DropPurchase takes a thing's line off its purchase, and the purchase too when no line is left.
func (t *inventoryTx) DropPurchase(p *inventory.Purchase) error {
	if err := one(t.g.Where("id = ?", p.LineID).Delete(&purchaseLineRow{}), inventory.ErrNotFound); err != nil {
		return fmt.Errorf("drop purchase line: %w", err)
	}
	err := t.g.Where("id = ? AND NOT EXISTS (SELECT 1 FROM purchase_lines WHERE purchase_id = ?)", p.ID, p.ID).Delete(&purchaseRow{}).Error
	if err != nil {
		return fmt.Errorf("drop purchase: %w", err)
	}
	return nil
}
