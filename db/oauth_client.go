package db

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"gatehouse/oauth"
)

// clientMetadata is what is kept of a client's metadata beside its identity, as JSON in one column: it is read and
// written whole.
type clientMetadata struct {
	AuthMethods     []string `json:"auth,omitempty"`
	RedirectURIs    []string `json:"redirect,omitempty"`
	GrantTypes      []string `json:"grant,omitempty"`
	ResponseTypes   []string `json:"response,omitempty"`
	Scope           string   `json:"scope,omitempty"`
	ApplicationType string   `json:"application_type,omitempty"`
	ClientURI       string   `json:"client_uri,omitempty"`
	LogoURI         string   `json:"logo_uri,omitempty"`
	TOSURI          string   `json:"tos_uri,omitempty"`
	PolicyURI       string   `json:"policy_uri,omitempty"`
	SoftwareID      string   `json:"software_id,omitempty"`
	SoftwareVersion string   `json:"software_version,omitempty"`
	Contacts        []string `json:"contacts,omitempty"`

	JWKS               json.RawMessage `json:"jwks,omitempty"`
	JWKSURI            string          `json:"jwks_uri,omitempty"`
	AssertionAlgorithm string          `json:"assertion_alg,omitempty"`
	RequirePushed      bool            `json:"require_pushed,omitempty"`
	DPoPBound          bool            `json:"dpop_bound,omitempty"`
	IDTokenAlgorithm   string          `json:"id_token_alg,omitempty"`
}

const clientColumns = `id, kind, name, host, secret_hash, metadata, document_etag, document_digest, document_fetched_at,
	document_fresh_until, blocked_at, created_at, last_seen_at, registration_hash, pending_at, settings, changes`

// readClient are the columns of a client that saving does not touch, too.
const readClient = clientColumns + `, device_grant`

const selectClient = `SELECT ` + readClient + ` FROM clients WHERE id = ?`

// Client implements oauth.ClientStore.
func (d *DB) Client(ctx context.Context, id string) (*oauth.Client, error) {
	if !isText(id) {
		return nil, oauth.ErrNotFound
	}
	st, err := d.prepared(ctx, false, selectClient)
	if err != nil {
		return nil, err
	}
	c, err := scanClient(st.QueryRowContext(d.brief(ctx), id))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, oauth.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read client: %w", err)
	}
	return c, nil
}

// scanner is a row to scan from.
type scanner interface{ Scan(dest ...any) error }

func scanClient(row scanner) (*oauth.Client, error) {
	var c oauth.Client
	var metadata string
	var etag *string
	var digest []byte
	var fetched, fresh, blocked, pending *Timestamp
	var created, seen Timestamp
	var settings, changes string
	err := row.Scan(&c.ID, &c.Kind, &c.Name, &c.Host, &c.SecretHash, &metadata, &etag, &digest, &fetched, &fresh, &blocked, &created, &seen,
		&c.RegistrationHash, &pending, &settings, &changes, &c.DeviceGrant)
	if err != nil {
		return nil, err
	}
	c.BlockedAt, c.PendingAt, c.CreatedAt, c.LastSeenAt = blocked.ptr(), pending.ptr(), created.T, seen.T
	if err := errors.Join(json.Unmarshal([]byte(settings), &c.Settings), json.Unmarshal([]byte(changes), &c.Changes)); err != nil {
		return nil, fmt.Errorf("settings: %w", err)
	}
	if etag != nil && fetched != nil && fresh != nil {
		c.Document = &oauth.DocumentState{ETag: *etag, Digest: digest, FetchedAt: fetched.T, FreshUntil: fresh.T}
	}
	var m clientMetadata
	if err := json.Unmarshal([]byte(metadata), &m); err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
	}
	m.fill(&c)
	return &c, nil
}

func (m *clientMetadata) fill(c *oauth.Client) {
	c.AuthMethods, c.RedirectURIs, c.GrantTypes, c.ResponseTypes = m.AuthMethods, m.RedirectURIs, m.GrantTypes, m.ResponseTypes
	c.Scope, c.ApplicationType, c.ClientURI, c.LogoURI = m.Scope, m.ApplicationType, m.ClientURI, m.LogoURI
	c.TOSURI, c.PolicyURI, c.SoftwareID, c.SoftwareVersion = m.TOSURI, m.PolicyURI, m.SoftwareID, m.SoftwareVersion
	c.Contacts, c.DPoPBound = m.Contacts, m.DPoPBound
	c.JWKS, c.JWKSURI, c.AssertionAlgorithm = m.JWKS, m.JWKSURI, m.AssertionAlgorithm
	c.RequirePushed, c.IDTokenAlgorithm = m.RequirePushed, m.IDTokenAlgorithm
}

func metadataOf(c *oauth.Client) clientMetadata {
	return clientMetadata{
		AuthMethods: c.AuthMethods, RedirectURIs: c.RedirectURIs, GrantTypes: c.GrantTypes, ResponseTypes: c.ResponseTypes,
		Scope: c.Scope, ApplicationType: c.ApplicationType, ClientURI: c.ClientURI, LogoURI: c.LogoURI,
		TOSURI: c.TOSURI, PolicyURI: c.PolicyURI, SoftwareID: c.SoftwareID, SoftwareVersion: c.SoftwareVersion,
		Contacts: c.Contacts, DPoPBound: c.DPoPBound, JWKS: c.JWKS, JWKSURI: c.JWKSURI, AssertionAlgorithm: c.AssertionAlgorithm,
		RequirePushed: c.RequirePushed, IDTokenAlgorithm: c.IDTokenAlgorithm,
	}
}

// saveClient keeps the time of the first registration, what only an administrator sets, and a block: a snapshot that was read before an administrator
// blocked the client must not undo that when it is saved. Only SetClientBlocked lifts a block.
const saveClient = `INSERT INTO clients (` + clientColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
	ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, name = excluded.name, host = excluded.host,
	secret_hash = excluded.secret_hash, metadata = excluded.metadata, document_etag = excluded.document_etag,
	document_digest = excluded.document_digest, document_fetched_at = excluded.document_fetched_at,
	document_fresh_until = excluded.document_fresh_until, blocked_at = coalesce(excluded.blocked_at, clients.blocked_at),
	last_seen_at = excluded.last_seen_at, changes = excluded.changes`

// SaveClient implements oauth.ClientStore. A block stays; see SetClientBlocked.
func (d *DB) SaveClient(ctx context.Context, c *oauth.Client) error {
	row, err := d.clientRow(c)
	if err == nil {
		_, err = d.exec(ctx, saveClient, row...)
	}
	return wrap("save client", err)
}

// clientRow are the values of clientColumns.
func (d *DB) clientRow(c *oauth.Client) ([]any, error) {
	metadata, err := json.Marshal(metadataOf(c))
	if err != nil {
		return nil, err
	}
	settings, err := json.Marshal(c.Settings)
	if err != nil {
		return nil, err
	}
	changes, err := changesText(c.Changes)
	if err != nil {
		return nil, err
	}
	var etag, digest, fetched, fresh any
	if s := c.Document; s != nil {
		etag, digest, fetched, fresh = cleanText(s.ETag), nullBytes(s.Digest), d.ts(s.FetchedAt), d.ts(s.FreshUntil)
	}
	return []any{c.ID, string(c.Kind), cleanText(c.Name), cleanText(c.Host), nullBytes(c.SecretHash), string(metadata),
		etag, digest, fetched, fresh, d.tsPtr(c.BlockedAt), d.ts(c.CreatedAt), d.ts(c.LastSeenAt),
		nullBytes(c.RegistrationHash), d.tsPtr(c.PendingAt), string(settings), changes}, nil
}

// TouchClient implements oauth.ClientStore.
func (d *DB) TouchClient(ctx context.Context, id string, at time.Time) error {
	if !isText(id) {
		return nil
	}
	if _, err := d.exec(ctx, `UPDATE clients SET last_seen_at = ? WHERE id = ?`, d.ts(at), id); err != nil {
		return fmt.Errorf("touch client: %w", err)
	}
	return nil
}

// CountClients implements oauth.ClientStore.
func (d *DB) CountClients(ctx context.Context, kind oauth.ClientKind) (int, error) {
	var n int
	err := d.queryRow(ctx, `SELECT count(*) FROM clients WHERE kind = ?`, []any{string(kind)}, &n)
	if err != nil {
		return 0, fmt.Errorf("count clients: %w", err)
	}
	return n, nil
}

// ClientHasConnection implements oauth.ClientStore.
func (d *DB) ClientHasConnection(ctx context.Context, id string) (bool, error) {
	if !isText(id) {
		return false, nil
	}
	var has bool
	err := d.queryRow(ctx, `SELECT EXISTS (SELECT 1 FROM connections WHERE client_id = ? AND ended_at IS NULL)`, []any{id}, &has)
	if err != nil {
		return false, fmt.Errorf("look for connections: %w", err)
	}
	return has, nil
}

// deleteUnused spares clients that are being connected right now, and those that an administrator blocked or allowed
// something: that would go with them.
const deleteUnused = `DELETE FROM clients WHERE kind <> 'registered' AND created_at < ? AND blocked_at IS NULL
	AND NOT EXISTS (SELECT 1 FROM connections WHERE connections.client_id = clients.id)
	AND id NOT IN (SELECT client_id FROM authorization_requests)
	AND id NOT IN (SELECT client_id FROM pushed_requests)
	AND id NOT IN (SELECT client_id FROM authorization_codes)
	AND NOT device_grant`

// DeleteUnusedClients implements oauth.ClientStore.
func (d *DB) DeleteUnusedClients(ctx context.Context, before time.Time) (int, error) {
	n, err := d.exec(ctx, deleteUnused, d.ts(before))
	if err != nil {
		return 0, fmt.Errorf("delete unused clients: %w", err)
	}
	return int(n), nil
}

// SetClientBlocked blocks a client (at is set) or lifts the block (nil). oauth.ErrNotFound when there is no such client.
func (d *DB) SetClientBlocked(ctx context.Context, id string, at *time.Time) error {
	if !isText(id) {
		return oauth.ErrNotFound
	}
	n, err := d.exec(ctx, `UPDATE clients SET blocked_at = ? WHERE id = ?`, d.tsPtr(at), id)
	if err != nil {
		return fmt.Errorf("block client: %w", err)
	}
	if n == 0 {
		return oauth.ErrNotFound
	}
	return nil
}

// Clients lists all clients, the one seen last first.
func (d *DB) Clients(ctx context.Context) ([]*oauth.Client, error) {
	return d.clientsWhere(ctx, `true ORDER BY last_seen_at DESC, id`)
}

func (d *DB) clientsWhere(ctx context.Context, where string, args ...any) ([]*oauth.Client, error) {
	rows, err := d.query(ctx, `SELECT `+readClient+` FROM clients WHERE `+where, args...)
	if err != nil {
		return nil, fmt.Errorf("list clients: %w", err)
	}
	defer rows.Close()
	var out []*oauth.Client
	for rows.Next() {
		c, err := scanClient(rows)
		if err != nil {
			return nil, fmt.Errorf("list clients: %w", err)
		}
		out = append(out, c)
	}
	return out, rows.Err()
}
