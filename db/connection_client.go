package db

import (
	"context"
	"errors"
	"slices"
	"strings"
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
		out[i] = knownClient(c, live[c.ID])
	}
	return out, nil
}

func knownClient(c *oauth.Client, connections int) connection.KnownClient {
	k := connection.KnownClient{
		ID: c.ID, Kind: string(c.Kind), Name: c.Name, Host: c.Host, Public: c.Public(), RedirectURIs: slices.Clone(c.RedirectURIs),
		PendingAt: c.PendingAt, BlockedAt: c.BlockedAt, CreatedAt: c.CreatedAt, LastSeenAt: c.LastSeenAt, Connections: connections,
		SoftwareID: c.SoftwareID, SoftwareVersion: c.SoftwareVersion, ClientURI: c.ClientURI, TOSURI: c.TOSURI, PolicyURI: c.PolicyURI,
		Scope: c.Scope, ApplicationType: c.ApplicationType, Contacts: c.Contacts, AuthMethods: c.AuthMethods, GrantTypes: c.GrantTypes,
		JWKSURI: c.JWKSURI, HasKeys: c.JWKS != nil, RequirePushed: c.RequirePushed, DPoPBound: c.DPoPBound,
	}
	if c.Document != nil {
		k.FetchedAt = &c.Document.FetchedAt
	}
	return k
}

// FindKnownClients implements connection.ClientStore.
func (d *DB) FindKnownClients(ctx context.Context, f connection.ClientFilter, now time.Time) ([]connection.KnownClient, error) {
	if !isText(f.Text) || !isText(f.Kind) {
		return nil, nil
	}
	q := d.r(ctx).Table("clients").Select(readClient).Order("last_seen_at DESC, id").Limit(f.Limit).Offset(f.Offset)
	if f.Text != "" {
		q = q.Where(`id = ? OR host = ? OR lower(name) LIKE ? ESCAPE '\'`, f.Text, strings.ToLower(f.Text), contains(f.Text))
	}
	if f.Kind != "" {
		q = q.Where("kind = ?", f.Kind)
	}
	if f.Blocked {
		q = q.Where("blocked_at IS NOT NULL")
	}
	rows, err := q.Rows()
	if err != nil {
		return nil, wrap("list clients", err)
	}
	defer rows.Close()
	var clients []*oauth.Client
	for rows.Next() {
		c, err := scanClient(rows)
		if err != nil {
			return nil, wrap("list clients", err)
		}
		clients = append(clients, c)
	}
	if err := rows.Err(); err != nil {
		return nil, wrap("list clients", err)
	}
	return d.withConnections(ctx, clients, now)
}

// KnownClient implements connection.ClientStore.
func (d *DB) KnownClient(ctx context.Context, id string, now time.Time) (*connection.KnownClient, error) {
	c, err := d.Client(ctx, id)
	if errors.Is(err, oauth.ErrNotFound) {
		return nil, connection.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	list, err := d.withConnections(ctx, []*oauth.Client{c}, now)
	if err != nil {
		return nil, err
	}
	return &list[0], nil
}

// withConnections adds the number of live connections to each client.
func (d *DB) withConnections(ctx context.Context, clients []*oauth.Client, now time.Time) ([]connection.KnownClient, error) {
	out := make([]connection.KnownClient, len(clients))
	for i, c := range clients {
		var n int
		err := d.queryRow(ctx, `SELECT count(*) FROM connections WHERE client_id = ? AND ended_at IS NULL AND (expires_at IS NULL OR expires_at > ?)`,
			[]any{c.ID, d.ts(now)}, &n)
		if err != nil {
			return nil, wrap("count connections", err)
		}
		out[i] = knownClient(c, n)
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
