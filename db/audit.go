package db

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"gatehouse/app/audit"
)

const insertAudit = `INSERT INTO audit_entries (id, at, actor, actor_id, action, person_id, client_id, connection_id, address, detail)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

// InsertAudit implements audit.Store.
func (d *DB) InsertAudit(ctx context.Context, e audit.Entry) error {
	detail, err := json.Marshal(e.Detail)
	if err != nil {
		return wrap("record audit entry", err)
	}
	_, err = d.exec(ctx, insertAudit, e.ID, d.ts(e.At), e.Actor, cleanText(e.ActorID), e.Action, cleanText(e.PersonID), cleanText(e.ClientID),
		cleanText(e.ConnectionID), cleanText(e.Address), string(detail))
	return wrap("record audit entry", err)
}

// ListAudit implements audit.Store.
func (d *DB) ListAudit(ctx context.Context, f audit.Filter) ([]audit.Entry, error) {
	where, args, possible := d.auditFilter(f)
	if !possible {
		return nil, nil
	}
	rows, err := d.r(ctx).Raw(`SELECT a.id, a.at, a.actor, a.actor_id, a.action, a.person_id, a.client_id, a.connection_id, a.address, a.detail,
		coalesce(w.email, ''), coalesce(p.email, ''), coalesce(k.name, '')
		FROM audit_entries a LEFT JOIN users w ON CAST(w.id AS text) = a.actor_id LEFT JOIN users p ON CAST(p.id AS text) = a.person_id
		LEFT JOIN clients k ON k.id = CASE WHEN a.client_id <> '' THEN a.client_id ELSE a.actor_id END
		WHERE `+where+` ORDER BY a.id DESC LIMIT ?`, append(args, f.Limit)...).Rows()
	if err != nil {
		return nil, wrap("list audit entries", err)
	}
	defer rows.Close()
	var out []audit.Entry
	for rows.Next() {
		var e audit.Entry
		var at Timestamp
		var detail string
		err := rows.Scan(&e.ID, &at, &e.Actor, &e.ActorID, &e.Action, &e.PersonID, &e.ClientID, &e.ConnectionID, &e.Address, &detail,
			&e.ActorName, &e.PersonName, &e.ClientName)
		if err == nil {
			err = json.Unmarshal([]byte(detail), &e.Detail)
		}
		if err != nil {
			return nil, wrap("list audit entries", err)
		}
		e.At = at.T
		if e.Actor == audit.ActorClient {
			e.ActorName = e.ClientName
		}
		out = append(out, e)
	}
	return out, wrap("list audit entries", rows.Err())
}

// auditFilter gives the condition of a filter, or false when nothing can match.
func (d *DB) auditFilter(f audit.Filter) (string, []any, bool) {
	conditions := []string{"1 = 1"}
	var args []any
	add := func(condition string, values ...any) {
		conditions, args = append(conditions, condition), append(args, values...)
	}
	if f.PersonID != "" {
		add("(a.person_id = ? OR a.actor_id = ?)", f.PersonID, f.PersonID)
	}
	if f.Action != "" {
		add("(a.action = ? OR a.action LIKE ?)", f.Action, f.Action+".%")
	}
	if f.ClientID != "" {
		add("a.client_id = ?", f.ClientID)
	}
	if f.ConnectionID != "" {
		add("a.connection_id = ?", f.ConnectionID)
	}
	if !f.From.IsZero() {
		add("a.at >= ?", at(f.From))
	}
	if !f.Until.IsZero() {
		add("a.at < ?", at(f.Until))
	}
	if f.Before != "" {
		add("a.id < ?", f.Before)
	}
	text := isText(f.PersonID) && isText(f.ClientID) && isText(f.ConnectionID)
	action := isText(f.Action) && !strings.ContainsAny(f.Action, `%\`)
	return strings.Join(conditions, " AND "), args, text && action && (f.Before == "" || isID(f.Before))
}

// SweepAudit implements audit.Store.
func (d *DB) SweepAudit(ctx context.Context, before time.Time) (int, error) {
	n, err := d.deleteSome(ctx, `DELETE FROM audit_entries WHERE id IN (SELECT id FROM audit_entries WHERE at < ? LIMIT 1000)`, before)
	return n, wrap("sweep audit entries", err)
}
