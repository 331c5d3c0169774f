package db

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// Timestamp is a time column: UTC, milliseconds; INTEGER milliseconds since 1970 on SQLite, timestamptz(3) on Postgres.
// Use it in row structs (pointer for nullable columns) and as a parameter of GORM conditions; for prepared raw
// statements use DB.ts.
type Timestamp struct{ T time.Time }

// at makes a column value from t.
func at(t time.Time) Timestamp { return Timestamp{t.UTC().Truncate(time.Millisecond)} }

// atPtr is at for nullable columns.
func atPtr(t *time.Time) *Timestamp {
	if t == nil {
		return nil
	}
	v := at(*t)
	return &v
}

// ptr gives the time of a nullable column.
func (t *Timestamp) ptr() *time.Time {
	if t == nil {
		return nil
	}
	v := t.T
	return &v
}

// GormDataType tells GORM that a Timestamp is a column and no relation.
func (Timestamp) GormDataType() string { return "timestamp" }

// GormValue gives the column value in the dialect's form.
func (t Timestamp) GormValue(_ context.Context, g *gorm.DB) clause.Expr {
	return clause.Expr{SQL: "?", Vars: []any{columnTime(g.Name(), t.T)}}
}

func columnTime(dialect string, t time.Time) any {
	if dialect == SQLite {
		return t.UnixMilli()
	}
	return t.UTC().Truncate(time.Millisecond)
}

// ts is a time as a parameter of a prepared raw statement.
func (d *DB) ts(t time.Time) any { return columnTime(d.dialect, t) }

// Scan reads either form.
func (t *Timestamp) Scan(v any) error {
	switch v := v.(type) {
	case int64:
		t.T = time.UnixMilli(v).UTC()
	case time.Time:
		t.T = v.UTC()
	default:
		return fmt.Errorf("scan timestamp: unexpected %T", v)
	}
	return nil
}
