package db

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"gatehouse/app/connection"
	"gatehouse/app/toolgrant"
)

// ListConnections implements connection.Store.
func (d *DB) ListConnections(ctx context.Context, f connection.Filter, now time.Time) ([]connection.Connection, error) {
	where, args, possible := d.connectionFilter(f, now)
	if !possible {
		return nil, nil
	}
	list, err := d.readConnections(ctx, where, args)
	if err != nil || len(list) == 0 {
		return list, wrap("list connections", err)
	}
	at := make(map[string]*connection.Connection, len(list))
	ids := make([]string, len(list))
	for i := range list {
		ids[i], at[list[i].ID] = list[i].ID, &list[i]
	}
	for len(ids) > 0 { // in portions: databases limit the parameters of a statement
		n := min(len(ids), 500)
		if err := d.readInstallations(ctx, ids[:n], at); err != nil {
			return nil, wrap("list installations", err)
		}
		if err := d.readReach(ctx, ids[:n], at); err != nil {
			return nil, wrap("list locations of connections", err)
		}
		ids = ids[n:]
	}
	return list, nil
}

// wrap adds the operation to an error, if there is one.
func wrap(operation string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", operation, err)
}

// connectionFilter gives the condition of a filter, or false when nothing can match.
func (d *DB) connectionFilter(f connection.Filter, now time.Time) (string, []any, bool) {
	conditions := []string{"1 = 1"}
	var args []any
	if f.UserID != "" {
		conditions, args = append(conditions, "c.user_id = ?"), append(args, f.UserID)
	}
	if f.ID != "" {
		conditions, args = append(conditions, "c.id = ?"), append(args, f.ID)
	}
	if f.ClientID != "" {
		conditions, args = append(conditions, "c.client_id = ?"), append(args, f.ClientID)
	}
	if f.Client != "" {
		conditions, args = append(conditions, `(c.client_id = ? OR lower(k.name) LIKE ? ESCAPE '\')`), append(args, f.Client, contains(f.Client))
	}
	if f.Host != "" {
		conditions, args = append(conditions, "k.host = ?"), append(args, strings.ToLower(f.Host))
	}
	if !f.Ended {
		conditions = append(conditions, "c.ended_at IS NULL", "(c.expires_at IS NULL OR c.expires_at > ?)")
		args = append(args, d.ts(now))
	}
	order := " ORDER BY c.created_at DESC, c.id DESC"
	if f.Limit > 0 {
		order += fmt.Sprintf(" LIMIT %d OFFSET %d", f.Limit, f.Offset)
	}
	possible := (f.UserID == "" || isID(f.UserID)) && (f.ID == "" || isID(f.ID)) && isText(f.ClientID) && isText(f.Client) && isText(f.Host)
	return strings.Join(conditions, " AND ") + order, args, possible
}

func (d *DB) readConnections(ctx context.Context, where string, args []any) ([]connection.Connection, error) {
	rows, err := d.r(ctx).Raw(`SELECT c.id, c.user_id, u.name, u.email, c.client_id, coalesce(k.name, ''), coalesce(k.kind, ''),
		coalesce(k.host, ''), k.blocked_at IS NOT NULL, c.resource, c.scopes, c.hidden_tools, c.details, c.created_at, c.updated_at,
		c.expires_at, c.ended_at, coalesce(c.ended_reason, '')
		FROM connections c JOIN users u ON u.id = c.user_id LEFT JOIN clients k ON k.id = c.client_id WHERE `+where, args...).Rows()
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []connection.Connection
	for rows.Next() {
		var c connection.Connection
		var scopes, hidden string
		var details *string
		var created, updated Timestamp
		var expires, ended *Timestamp
		if err := rows.Scan(&c.ID, &c.UserID, &c.UserName, &c.UserEmail, &c.Client.ID, &c.Client.Name, &c.Client.Kind, &c.Client.Host,
			&c.Client.Blocked, &c.Resource, &scopes, &hidden, &details, &created, &updated, &expires, &ended, &c.EndedReason); err != nil {
			return nil, err
		}
		c.Scopes, c.HiddenTools = splitWords(scopes), splitWords(hidden)
		c.CreatedAt, c.UpdatedAt, c.ExpiresAt, c.EndedAt = created.T, updated.T, expires.ptr(), ended.ptr()
		if c.Tools, err = toolgrant.FromDetails(rawJSON(details)); err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, rows.Err()
}

// readInstallations adds the families, and with them the last use.
func (d *DB) readInstallations(ctx context.Context, ids []string, at map[string]*connection.Connection) error {
	rows, err := d.r(ctx).Raw(`SELECT connection_id, id, device_hint, created_at, last_used_at, last_used_ip, last_used_tool, ended_at,
		coalesce(ended_reason, '') FROM families WHERE connection_id IN ? ORDER BY created_at DESC, id DESC`, ids).Rows()
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var owner string
		var i connection.Installation
		var u connection.Use
		var created Timestamp
		var used, ended *Timestamp
		if err := rows.Scan(&owner, &i.ID, &i.DeviceHint, &created, &used, &u.IP, &u.Tool, &ended, &i.EndedReason); err != nil {
			return err
		}
		i.FirstSeenAt, i.EndedAt = created.T, ended.ptr()
		c := at[owner]
		if used != nil {
			u.At = used.T
			i.LastUsed = &u
			if c.LastUsed == nil || u.At.After(c.LastUsed.At) {
				c.LastUsed = &u
			}
		}
		c.Installations = append(c.Installations, i)
	}
	return rows.Err()
}

// readReach adds the locations that the connections reach now.
func (d *DB) readReach(ctx context.Context, ids []string, at map[string]*connection.Connection) error {
	rows, err := d.r(ctx).Raw(`SELECT c.id, l.id, l.name FROM connections c JOIN connection_locations cl ON cl.connection_id = c.id
		JOIN members m ON m.location_id = cl.location_id AND m.user_id = c.user_id
		JOIN locations l ON l.id = m.location_id AND l.deleted_at IS NULL WHERE c.id IN ? ORDER BY l.name, l.id`, ids).Rows()
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var owner string
		var l connection.Location
		if err := rows.Scan(&owner, &l.ID, &l.Name); err != nil {
			return err
		}
		at[owner].Locations = append(at[owner].Locations, l)
	}
	return rows.Err()
}

// MemberLocations implements connection.Store.
func (d *DB) MemberLocations(ctx context.Context, userID string) ([]connection.Location, error) {
	if !isID(userID) {
		return nil, nil
	}
	rows, err := d.query(ctx, `SELECT l.id, l.name FROM members m JOIN locations l ON l.id = m.location_id
		WHERE m.user_id = ? AND l.deleted_at IS NULL ORDER BY l.name, l.id`, userID)
	if err != nil {
		return nil, wrap("list locations", err)
	}
	defer rows.Close()
	var out []connection.Location
	for rows.Next() {
		var l connection.Location
		if err := rows.Scan(&l.ID, &l.Name); err != nil {
			return nil, wrap("list locations", err)
		}
		out = append(out, l)
	}
	return out, wrap("list locations", rows.Err())
}

const editConnection = `UPDATE connections SET scopes = ?, hidden_tools = ?, terms = ?, details = ?, expires_at = ?, updated_at = ?
	WHERE id = ? AND user_id = ? AND ended_at IS NULL AND (expires_at IS NULL OR expires_at > ?)`

// EditConnection implements connection.Store.
func (d *DB) EditConnection(ctx context.Context, userID, id string, e connection.Edit, resource string, now time.Time) error {
	if !isID(id) || !isID(userID) {
		return connection.ErrNotFound
	}
	terms, err := e.Terms.Encode()
	if err != nil {
		return wrap("edit connection", err)
	}
	var details json.RawMessage
	if !e.Tools.Open() {
		if details, err = e.Tools.Details(resource); err != nil {
			return wrap("edit connection", err)
		}
	}
	err = d.rawTx(ctx, []string{editConnection, clearLocations, addLocation}, func(ctx context.Context, st []*sql.Stmt) error {
		n, err := changed(ctx, st[0], joinWords(e.Scopes), joinWords(e.Terms.HiddenTools), string(terms), rawText(details), d.tsPtr(e.ExpiresAt),
			d.ts(now), id, userID, d.ts(now))
		if err != nil {
			return err
		}
		if n != 1 {
			return connection.ErrNotFound
		}
		if _, err := st[1].ExecContext(ctx, id); err != nil {
			return err
		}
		for _, location := range e.Terms.Locations {
			if _, err := st[2].ExecContext(ctx, id, location); err != nil {
				return err
			}
		}
		return nil
	})
	return wrap("edit connection", err)
}

const (
	// closeConnection ends a person's own connection, or anybody's when the person is empty. It bars the app from coming
	// back without somebody's consent.
	closeConnection = `UPDATE connections SET ended_at = ?, ended_reason = ?, barred = TRUE
		WHERE id = ? AND ended_at IS NULL AND (CAST(? AS text) = '' OR CAST(user_id AS text) = ?)`
	// dropCodes takes approvals away that were on their way into a connection when it was ended.
	dropCodes = `DELETE FROM authorization_codes WHERE used_at IS NULL AND EXISTS (SELECT 1 FROM connections c WHERE c.id = ?
		AND c.user_id = authorization_codes.user_id AND c.client_id = authorization_codes.client_id AND c.resource = authorization_codes.resource)`
	dropDevices = `DELETE FROM device_requests WHERE used_at IS NULL AND EXISTS (SELECT 1 FROM connections c WHERE c.id = ?
		AND c.user_id = device_requests.user_id AND c.client_id = device_requests.client_id AND c.resource = device_requests.resource)`
)

// CloseConnection implements connection.Store. What was approved before and not yet exchanged ends as well: it would
// bring the app back right after the person was told that it is gone.
func (d *DB) CloseConnection(ctx context.Context, userID, id, reason string, now time.Time) error {
	if !isID(id) || userID != "" && !isID(userID) {
		return connection.ErrNotFound
	}
	err := d.rawTx(ctx, []string{dropCodes, closeConnection, dropDevices}, func(ctx context.Context, st []*sql.Stmt) error {
		// Codes first: one that is being exchanged is waited for, and its connection ended.
		for _, drop := range []*sql.Stmt{st[0], st[2]} {
			if _, err := drop.ExecContext(ctx, id); err != nil {
				return err
			}
		}
		n, err := changed(ctx, st[1], d.ts(now), reason, id, userID, userID)
		if err != nil {
			return err
		}
		if n != 1 {
			return connection.ErrNotFound
		}
		return nil
	})
	return wrap("end connection", err)
}

// CloseInstallation implements connection.Store.
func (d *DB) CloseInstallation(ctx context.Context, userID, id, reason string, now time.Time) error {
	if !isID(id) || userID != "" && !isID(userID) {
		return connection.ErrNotFound
	}
	text := `UPDATE families SET ended_at = ?, ended_reason = ? WHERE id = ? AND ended_at IS NULL`
	args := []any{d.ts(now), reason, id}
	if userID != "" {
		text, args = text+` AND connection_id IN (SELECT id FROM connections WHERE user_id = ?)`, append(args, userID)
	}
	n, err := d.exec(ctx, text, args...)
	if err != nil {
		return wrap("end installation", err)
	}
	if n != 1 {
		return connection.ErrNotFound
	}
	return nil
}
