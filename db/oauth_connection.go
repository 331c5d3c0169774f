package db

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"
)

// EndFamily implements oauth.TokenStore.
func (d *DB) EndFamily(ctx context.Context, id, reason string, at time.Time) (bool, error) {
	return d.end(ctx, "families", id, reason, at)
}

// EndConnection implements oauth.TokenStore. Its families need no end of their own: every read goes through both.
func (d *DB) EndConnection(ctx context.Context, id, reason string, at time.Time) (bool, error) {
	return d.end(ctx, "connections", id, reason, at)
}

// end gives false for what has ended before and for what does not exist: nothing was ended.
func (d *DB) end(ctx context.Context, table, id, reason string, at time.Time) (bool, error) {
	if !isID(id) {
		return false, nil
	}
	n, err := d.exec(ctx, `UPDATE `+table+` SET ended_at = ?, ended_reason = ? WHERE id = ? AND ended_at IS NULL`, d.ts(at), reason, id)
	if err != nil {
		return false, fmt.Errorf("end in %s: %w", table, err)
	}
	return n == 1, nil
}

// EndConnectionsOfUser ends all live connections of a person: after a change of password and whatever else signs out
// the person's other devices. It gives the number ended.
func (d *DB) EndConnectionsOfUser(ctx context.Context, userID, reason string, at time.Time) (int, error) {
	if !isID(userID) {
		return 0, nil
	}
	n, err := d.exec(ctx, `UPDATE connections SET ended_at = ?, ended_reason = ? WHERE user_id = ? AND ended_at IS NULL`, d.ts(at), reason, userID)
	if err != nil {
		return 0, fmt.Errorf("end connections of a person: %w", err)
	}
	return int(n), nil
}

// EndConnectionsOfClient ends all live connections of a client, before it is deleted. It gives the number ended.
func (d *DB) EndConnectionsOfClient(ctx context.Context, clientID, reason string, at time.Time) (int, error) {
	if !isText(clientID) {
		return 0, nil
	}
	n, err := d.exec(ctx, `UPDATE connections SET ended_at = ?, ended_reason = ? WHERE client_id = ? AND ended_at IS NULL`, d.ts(at), reason, clientID)
	if err != nil {
		return 0, fmt.Errorf("end connections of a client: %w", err)
	}
	return int(n), nil
}

// EndedByMembership is the reason when a connection's last location was lost with the person's membership.
const EndedByMembership = "membership_ended"

// dropConnectionsFromLocation takes a location from all connections of a person who leaves it, in the transaction of
// the leaving: coming back must not bring old connections back. A connection left without a location ends.
func (d *DB) dropConnectionsFromLocation(tx *gorm.DB, userID, locationID string, at time.Time) error {
	lost := `SELECT c.id FROM connections c JOIN connection_locations cl ON cl.connection_id = c.id
		WHERE c.user_id = ? AND cl.location_id = ?`
	ended := tx.Exec(`UPDATE connections SET ended_at = ?, ended_reason = ? WHERE ended_at IS NULL AND id IN (`+lost+`)
		AND NOT EXISTS (SELECT 1 FROM connection_locations o WHERE o.connection_id = connections.id AND o.location_id <> ?)`,
		d.ts(at), EndedByMembership, userID, locationID, locationID)
	if ended.Error != nil {
		return fmt.Errorf("end connections without a location: %w", ended.Error)
	}
	dropped := tx.Exec(`DELETE FROM connection_locations WHERE location_id = ? AND connection_id IN
		(SELECT id FROM connections WHERE user_id = ?)`, locationID, userID)
	if dropped.Error != nil {
		return fmt.Errorf("drop location from connections: %w", dropped.Error)
	}
	return nil
}
