package db

import (
	"context"
	"encoding/json"
	"fmt"

	"gorm.io/gorm"

	"gatehouse/app/activity"
)

// eventRow is one line of a location's log.
type eventRow struct {
	ID             string `gorm:"primaryKey"`
	LocationID     string
	Seq            int64
	At             Timestamp
	Action         string
	SubjectType    string
	SubjectID      string
	SubjectVersion *int
	RelatedID      *string
	UserID         *string
	ActorType      string
	ConnectionID   *string
	TokenID        *string
	AddonID        *string
	Via            string
	IP             *string `gorm:"column:ip"`
	RequestID      string
	BatchID        string
	CompanionOf    *string
	Changes        jsonText
	Undo           jsonText
	UndoUntil      *Timestamp
	UndoneBy       *string
	UndoOf         *string
}

func (eventRow) TableName() string { return "events" }

// writeLogged is the one way to change what belongs to a location: it runs fn in a transaction that holds the location's
// row, so that no other write to the location runs beside it, and stores the events fn logged in the same transaction.
// Their numbers come from the location's row and have no gaps: a transaction that fails gives its numbers back.
func (d *DB) writeLogged(ctx context.Context, b activity.Batch, newLog func() *activity.Log, fn func(tx *gorm.DB, log *activity.Log) error) ([]activity.Record, error) {
	var records []activity.Record
	err := d.tx(ctx, func(tx *gorm.DB) error {
		if err := d.holdLocation(tx, b.LocationID); err != nil {
			return err
		}
		log := newLog()
		if err := fn(tx, log); err != nil {
			return err
		}
		var err error
		records, err = storeEvents(tx, b, log)
		return err
	})
	if err != nil {
		return nil, err
	}
	return records, nil
}

// holdLocation locks a live location's row until the transaction ends. SQLite has one writer, so there the row is only
// checked. The lock lets others go on to refer to the location.
func (d *DB) holdLocation(tx *gorm.DB, id string) error {
	if !isID(id) {
		return activity.ErrNoLocation
	}
	text := "SELECT id FROM locations WHERE id = ? AND deleted_at IS NULL"
	if d.dialect == Postgres {
		text += " FOR NO KEY UPDATE"
	}
	var found []string
	if err := tx.Raw(text, id).Scan(&found).Error; err != nil {
		return fmt.Errorf("hold location: %w", err)
	}
	if len(found) == 0 {
		return activity.ErrNoLocation
	}
	return nil
}

func storeEvents(tx *gorm.DB, b activity.Batch, log *activity.Log) ([]activity.Record, error) {
	if err := log.Check(); err != nil {
		return nil, err
	}
	n := int64(log.Len())
	if n == 0 {
		return nil, nil
	}
	var last int64
	err := tx.Raw("UPDATE locations SET event_seq = event_seq + ? WHERE id = ? RETURNING event_seq", n, b.LocationID).Row().Scan(&last)
	if err != nil {
		return nil, fmt.Errorf("number events: %w", err)
	}
	records := log.Records(b, last-n+1)
	rows := make([]eventRow, len(records))
	for i, r := range records {
		if rows[i], err = eventRowOf(r); err != nil {
			return nil, err
		}
	}
	if err := tx.CreateInBatches(rows, 100).Error; err != nil {
		return nil, fmt.Errorf("store events: %w", err)
	}
	return records, nil
}

func eventRowOf(r activity.Record) (eventRow, error) {
	changes := r.Changes
	if changes == nil {
		changes = []activity.Change{}
	}
	text, err := json.Marshal(changes)
	if err != nil {
		return eventRow{}, fmt.Errorf("encode changes: %w", err)
	}
	return eventRow{
		ID: r.ID, LocationID: r.LocationID, Seq: r.Seq, At: at(r.At), Action: r.Action, SubjectType: r.SubjectType,
		SubjectID: r.SubjectID, SubjectVersion: nonZero(r.SubjectVersion), RelatedID: nullable(r.RelatedID),
		UserID: nullable(r.Actor.UserID), ActorType: string(r.Actor.Type), ConnectionID: nullable(r.Actor.ConnectionID),
		TokenID: nullable(r.Actor.TokenID), AddonID: nullable(r.Actor.AddonID), Via: r.Actor.Via, IP: nullable(r.Actor.IP),
		RequestID: r.Actor.RequestID, BatchID: r.BatchID, CompanionOf: nullable(r.CompanionOf), Changes: text,
		Undo: jsonText(r.Undo), UndoUntil: atPtr(r.UndoUntil), UndoneBy: nullable(r.UndoneBy), UndoOf: nullable(r.UndoOf),
	}, nil
}

// record is the inverse of eventRowOf.
func (e *eventRow) record() (activity.Record, error) {
	r := activity.Record{
		Entry: activity.Entry{
			ID: e.ID, Action: e.Action, SubjectType: e.SubjectType, SubjectID: e.SubjectID, RelatedID: deref(e.RelatedID),
			CompanionOf: deref(e.CompanionOf), Undo: json.RawMessage(e.Undo), UndoOf: deref(e.UndoOf),
		},
		Seq: e.Seq, At: e.At.T, LocationID: e.LocationID, BatchID: e.BatchID, UndoUntil: e.UndoUntil.ptr(),
		UndoneBy: deref(e.UndoneBy),
		Actor: activity.Actor{
			Type: activity.ActorType(e.ActorType), UserID: deref(e.UserID), ConnectionID: deref(e.ConnectionID),
			TokenID: deref(e.TokenID), AddonID: deref(e.AddonID), Via: e.Via, IP: deref(e.IP), RequestID: e.RequestID,
		},
	}
	if e.SubjectVersion != nil {
		r.SubjectVersion = *e.SubjectVersion
	}
	if err := json.Unmarshal(e.Changes, &r.Changes); err != nil {
		return r, fmt.Errorf("decode changes: %w", err)
	}
	return r, nil
}

// LocationEvents gives up to limit events of a location after the number given, in order.
func (d *DB) LocationEvents(ctx context.Context, locationID string, after int64, limit int) ([]activity.Record, error) {
	if !isID(locationID) {
		return nil, nil
	}
	var rows []eventRow
	err := d.r(ctx).Where("location_id = ? AND seq > ?", locationID, after).Order("seq").Limit(limit).Find(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("read events: %w", err)
	}
	out := make([]activity.Record, len(rows))
	for i := range rows {
		if out[i], err = rows[i].record(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func nonZero(n int) *int {
	if n == 0 {
		return nil
	}
	return &n
}

// nullable makes NULL of an empty string in a row.
func nullable(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
