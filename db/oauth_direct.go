package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"gatehouse/oauth"
)

const machineGrant = `SELECT c.id, c.user_id, c.scopes, c.details, c.expires_at, c.created_at, c.updated_at, f.id
	FROM connections c JOIN families f ON f.connection_id = c.id AND f.origin = 'client_credentials' AND f.ended_at IS NULL
	JOIN users u ON u.id = c.user_id AND u.disabled_at IS NULL
	WHERE c.client_id = ? AND c.resource = ? AND c.ended_at IS NULL AND (c.expires_at IS NULL OR c.expires_at > ?)
	ORDER BY c.created_at DESC LIMIT 1`

// MachineGrant implements oauth.GrantStore.
func (d *DB) MachineGrant(ctx context.Context, clientID, resource string, at time.Time) (*oauth.DirectGrant, error) {
	if !isText(clientID) {
		return nil, oauth.ErrNotFound
	}
	g := oauth.DirectGrant{Connection: oauth.Connection{ClientID: clientID, Resource: resource}}
	c := &g.Connection
	var scopes string
	var details *string
	var created, updated Timestamp
	var expires *Timestamp
	err := d.queryRow(ctx, machineGrant, []any{clientID, resource, d.ts(at)}, &c.ID, &c.UserID, &scopes, &details, &expires, &created, &updated, &g.FamilyID)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, oauth.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("find grant of client: %w", err)
	}
	c.Scopes, c.Details, c.ExpiresAt, c.CreatedAt, c.UpdatedAt = splitWords(scopes), rawJSON(details), expires.ptr(), created.T, updated.T
	return &g, nil
}

// Statements of WriteGrant. Those from stApprove to stAddLocation stand where RedeemCode has them.
const (
	liveGrant = `SELECT id, scopes, details, expires_at, created_at, updated_at FROM connections
		WHERE user_id = ? AND client_id = ? AND resource = ? AND ended_at IS NULL AND (expires_at IS NULL OR expires_at > ?)`
	lastBarred = `SELECT barred FROM connections WHERE user_id = ? AND client_id = ? AND resource = ? ORDER BY created_at DESC, id DESC LIMIT 1`
	// grantFamilies puts the live family first.
	grantFamilies = `SELECT id, ended_at IS NULL, coalesce(ended_reason, '') IN ('user', 'admin') FROM families
		WHERE connection_id = ? AND origin = ? ORDER BY ended_at IS NULL DESC, coalesce(ended_reason, '') IN ('user', 'admin') DESC LIMIT 1`
	insertGrantFamily = `INSERT INTO families (id, connection_id, device_hint, scopes, origin, created_at) VALUES (?, ?, ?, ?, ?, ?)`
	// forgiveFamilies takes the mark off that families were ended by hand.
	forgiveFamilies = `UPDATE families SET ended_reason = 'replaced' WHERE connection_id = ? AND origin <> '' AND ended_at IS NOT NULL`
	endMachines     = `UPDATE connections SET ended_at = ?, ended_reason = 'admin' WHERE client_id = ? AND resource = ? AND user_id <> ?
		AND ended_at IS NULL AND EXISTS (SELECT 1 FROM families f WHERE f.connection_id = connections.id AND f.origin = 'client_credentials')`
)

const (
	grLockUser = iota
	grLive
	_ // stApprove
	_ // stEndExpired
	_ // stClearLocations
	_ // stAddLocation
	grLastBarred
	grFamilies
	grInsertFamily
	grEndMachines
	grForgive
)

// lockPerson locks a person's row, so that ending their access and writing a grant do not overtake each other.
func (d *DB) lockPerson() string {
	text := `SELECT disabled_at IS NOT NULL FROM users WHERE id = ?`
	if d.dialect == Postgres {
		text += ` FOR NO KEY UPDATE`
	}
	return text
}

// WriteGrant implements oauth.GrantStore.
func (d *DB) WriteGrant(ctx context.Context, g oauth.NewGrant) (*oauth.DirectGrant, error) {
	if !isID(g.Approval.UserID) || !isText(g.Approval.ClientID) {
		return nil, oauth.ErrEnded
	}
	var out *oauth.DirectGrant
	texts := []string{d.lockPerson(), liveGrant, approve, endExpired, clearLocations, addLocation, lastBarred, grantFamilies, insertGrantFamily, endMachines, forgiveFamilies}
	err := d.rawTx(ctx, texts, func(ctx context.Context, st []*sql.Stmt) (err error) {
		out, err = d.writeGrant(ctx, st, &g)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("write grant: %w", err)
	}
	return out, nil
}

func (d *DB) writeGrant(ctx context.Context, st []*sql.Stmt, g *oauth.NewGrant) (*oauth.DirectGrant, error) {
	var disabled bool
	err := st[grLockUser].QueryRowContext(ctx, g.Approval.UserID).Scan(&disabled)
	if errors.Is(err, sql.ErrNoRows) || err == nil && disabled {
		return nil, oauth.ErrEnded
	}
	if err != nil {
		return nil, err
	}
	c, err := d.liveGrant(ctx, st, g)
	if err != nil {
		return nil, err
	}
	if c == nil || g.Replace {
		if c, err = d.approveGrant(ctx, st, g); err != nil {
			return nil, err
		}
	}
	family, err := d.grantFamily(ctx, st, g, c)
	if err != nil {
		return nil, err
	}
	return &oauth.DirectGrant{Connection: *c, FamilyID: family}, nil
}

// liveGrant reads the live connection; nil when there is none and one may be made.
func (d *DB) liveGrant(ctx context.Context, st []*sql.Stmt, g *oauth.NewGrant) (*oauth.Connection, error) {
	a := &g.Approval
	c := &oauth.Connection{UserID: a.UserID, ClientID: a.ClientID, Resource: a.Resource}
	var scopes string
	var details *string
	var expires *Timestamp
	var created, updated Timestamp
	err := st[grLive].QueryRowContext(ctx, a.UserID, a.ClientID, a.Resource, d.ts(g.At)).Scan(&c.ID, &scopes, &details, &expires, &created, &updated)
	if err == nil {
		c.Scopes, c.Details, c.ExpiresAt, c.CreatedAt, c.UpdatedAt = splitWords(scopes), rawJSON(details), expires.ptr(), created.T, updated.T
		return c, nil
	}
	if !errors.Is(err, sql.ErrNoRows) || g.Replace {
		return nil, orNoRows(err)
	}
	var barred bool
	err = st[grLastBarred].QueryRowContext(ctx, a.UserID, a.ClientID, a.Resource).Scan(&barred)
	if barred {
		return nil, oauth.ErrEnded
	}
	return nil, orNoRows(err)
}

// orNoRows lets the absence of a row pass.
func orNoRows(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	return err
}

// approveGrant makes the connection or brings it to the approval, as a redemption does.
func (d *DB) approveGrant(ctx context.Context, st []*sql.Stmt, g *oauth.NewGrant) (*oauth.Connection, error) {
	a := &g.Approval
	if g.Replace && g.Origin == oauth.GrantClientCredentials {
		if _, err := st[grEndMachines].ExecContext(ctx, d.ts(g.At), a.ClientID, a.Resource, a.UserID); err != nil {
			return nil, fmt.Errorf("end what the machine had: %w", err)
		}
	}
	row := &approval{userID: a.UserID, clientID: a.ClientID, resource: a.Resource, scopes: joinWords(a.Scopes)}
	if len(a.Terms) > 0 {
		terms := string(a.Terms)
		row.terms = &terms
	}
	if len(a.Details) > 0 {
		details := string(a.Details)
		row.details = &details
	}
	if a.ExpiresAt != nil {
		row.until = &Timestamp{T: *a.ExpiresAt}
	}
	return d.approve(ctx, st, row, &oauth.Redemption{At: g.At, NewConnectionID: g.NewConnectionID})
}

// grantFamily finds the family of the grant's origin or makes it.
func (d *DB) grantFamily(ctx context.Context, st []*sql.Stmt, g *oauth.NewGrant, c *oauth.Connection) (string, error) {
	if g.Replace {
		if _, err := st[grForgive].ExecContext(ctx, c.ID); err != nil {
			return "", fmt.Errorf("forgive families: %w", err)
		}
	}
	if g.Origin == "" {
		return "", nil
	}
	var id string
	var live, byHand bool
	err := st[grFamilies].QueryRowContext(ctx, c.ID, g.Origin).Scan(&id, &live, &byHand)
	if err := orNoRows(err); err != nil {
		return "", err
	}
	if live {
		return id, nil
	}
	if byHand && !g.Replace {
		return "", oauth.ErrEnded
	}
	_, err = st[grInsertFamily].ExecContext(ctx, g.NewFamilyID, c.ID, cleanText(g.DeviceHint), joinWords(c.Scopes), g.Origin, d.ts(g.At))
	return g.NewFamilyID, wrap("family", err)
}

// AllowDevices implements oauth.ClientStore.
func (d *DB) AllowDevices(ctx context.Context, id string, allow bool) error {
	if !isText(id) {
		return oauth.ErrNotFound
	}
	n, err := d.exec(ctx, `UPDATE clients SET device_grant = ? WHERE id = ?`, allow, id)
	if err == nil && n != 1 {
		err = oauth.ErrNotFound
	}
	return wrap("switch device grant", err)
}
