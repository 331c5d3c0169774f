package db

import (
	"context"
	"errors"
	"slices"
	"time"

	"gorm.io/gorm"

	"gatehouse/app/connection"
	"gatehouse/oauth"
)

// ListKnownClients implements connection.ClientStore.
func (d *DB) ListKnownClients(ctx context.Context, now time.Time) ([]connection.KnownClient, error) {
	clients, err := d.Clients(ctx)
	if err != nil {
		return nil, err
	}
	live, err := d.countLive(ctx, now)
	if err != nil {
		return nil, wrap("count connections", err)
	}
	out := make([]connection.KnownClient, len(clients))
	for i, c := range clients {
		out[i] = connection.KnownClient{
			ID: c.ID, Kind: string(c.Kind), Name: c.Name, Host: c.Host, Public: c.Public(), RedirectURIs: slices.Clone(c.RedirectURIs),
			BlockedAt: c.BlockedAt, CreatedAt: c.CreatedAt, LastSeenAt: c.LastSeenAt, Connections: live[c.ID],
		}
	}
	return out, nil
}

// countLive counts live connections by client.
func (d *DB) countLive(ctx context.Context, now time.Time) (map[string]int, error) {
	rows, err := d.query(ctx, `SELECT client_id, count(*) FROM connections
		WHERE ended_at IS NULL AND (expires_at IS NULL OR expires_at > ?) GROUP BY client_id`, d.ts(now))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	live := map[string]int{}
	for rows.Next() {
		var id string
		var n int
		if err := rows.Scan(&id, &n); err != nil {
			return nil, err
		}
		live[id] = n
	}
	return live, rows.Err()
}

// BlockKnownClient implements connection.ClientStore.
func (d *DB) BlockKnownClient(ctx context.Context, id string, at *time.Time) error {
	err := d.SetClientBlocked(ctx, id, at)
	if errors.Is(err, oauth.ErrNotFound) {
		return connection.ErrNotFound
	}
	return err
}

// KeepKnownClient implements connection.ClientStore.
func (d *DB) KeepKnownClient(ctx context.Context, id string) error {
	if !isText(id) {
		return connection.ErrNotFound
	}
	n, err := d.exec(ctx, `UPDATE clients SET kind = 'registered' WHERE id = ?`, id)
	if err == nil && n != 1 {
		err = connection.ErrNotFound
	}
	return wrap("keep client", err)
}

// AllowKnownClientDevices implements connection.ClientStore.
func (d *DB) AllowKnownClientDevices(ctx context.Context, id string, allow bool) error {
	err := d.AllowDevices(ctx, id, allow)
	if errors.Is(err, oauth.ErrNotFound) {
		return connection.ErrNotFound
	}
	return err
}

// DeleteKnownClient implements connection.ClientStore.
func (d *DB) DeleteKnownClient(ctx context.Context, id string, now time.Time) error {
	if !isText(id) {
		return connection.ErrNotFound
	}
	err := d.tx(ctx, func(tx *gorm.DB) error {
		if err := tx.Exec(`DELETE FROM authorization_codes WHERE client_id = ? AND used_at IS NULL`, id).Error; err != nil {
			return err
		}
		if err := tx.Exec(`DELETE FROM device_requests WHERE client_id = ? AND used_at IS NULL`, id).Error; err != nil {
			return err
		}
		ended := tx.Exec(`UPDATE connections SET ended_at = ?, ended_reason = 'client_deleted' WHERE client_id = ? AND ended_at IS NULL`, d.ts(now), id)
		if ended.Error != nil {
			return ended.Error
		}
		return one(tx.Exec(`DELETE FROM clients WHERE id = ?`, id), connection.ErrNotFound)
	})
	return wrap("delete client", err)
}
