package db

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"gatehouse/app/home"
	"gatehouse/app/toolgrant"
	"gatehouse/oauth"
)

// selectPrincipal is the one statement that every call with an access token runs: connection, family and person, with a
// row for each location that the connection names and the person belongs to at this moment. Rows instead of an
// aggregate: most connections have one to three locations, and rows need no decoding.
//
// The joins to the left run along primary keys alone, so that the cost does not grow with the tables.
const selectPrincipal = `SELECT ` + principalColumns + `
		OR EXISTS (SELECT 1 FROM revoked_access_tokens r WHERE r.jti = ?)
		OR EXISTS (SELECT 1 FROM clients k WHERE k.id = c.client_id AND k.blocked_at IS NOT NULL),
	` + locationColumns + `
	FROM connections c
	JOIN families f ON f.id = ? AND f.connection_id = c.id` + principalJoins + `
	WHERE c.id = ?`

// The parts that it shares with selectStored.
const (
	principalColumns = `c.user_id, u.name, c.client_id, c.scopes, c.hidden_tools, c.details, c.expires_at,
	c.ended_at IS NOT NULL OR f.ended_at IS NOT NULL OR u.disabled_at IS NOT NULL`
	principalJoins = `
	JOIN users u ON u.id = c.user_id
	LEFT JOIN connection_locations cl ON cl.connection_id = c.id
	LEFT JOIN members m ON m.location_id = cl.location_id AND m.user_id = c.user_id
	LEFT JOIN locations l ON l.id = m.location_id AND l.deleted_at IS NULL`
)

// connectionFacts are the columns that all rows of selectPrincipal share.
type connectionFacts struct {
	userID, userName, clientID, scopes, hidden string
	details                                    *string
	expires                                    *Timestamp
	ended                                      bool
}

// locationFacts are the columns of one location; all NULL when the person left it or there is none.
type locationFacts struct {
	id, name, role, zone, currency, currencies, modules sql.NullString
	money                                               sql.NullBool
}

// PrincipalByConnection reads who acts with an access token of this connection and family, and jti, its id. It gives
// oauth.ErrNotFound when there is no such connection or family, and oauth.ErrEnded when either has ended or expired,
// the person is disabled, the client is blocked, or this one token was revoked.
func (d *DB) PrincipalByConnection(ctx context.Context, connectionID, familyID, jti string, now time.Time) (*home.Principal, error) {
	if !isID(connectionID) || !isID(familyID) || !isText(jti) {
		return nil, oauth.ErrNotFound
	}
	var p *home.Principal
	err := d.readHot(ctx, selectPrincipal, []any{jti, familyID, connectionID}, func(rows rowSet) (err error) {
		p, err = readPrincipal(rows, now, nil, func(*connectionFacts) (string, string) { return connectionID, familyID })
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read principal: %w", err)
	}
	return p, nil
}

// readPrincipal reads the rows of selectPrincipal or selectStored. more are the columns between the facts of the
// connection and those of the location; ids names connection and family once the first row was read.
func readPrincipal(rows rowSet, now time.Time, more []any, ids func(c *connectionFacts) (connectionID, familyID string)) (*home.Principal, error) {
	var c connectionFacts
	var l locationFacts
	var p *home.Principal
	dest := append(append([]any{&c.userID, &c.userName, &c.clientID, &c.scopes, &c.hidden, &c.details, &c.expires, &c.ended}, more...), l.columns()...)
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return nil, err
		}
		if p == nil {
			if c.ended || c.expires != nil && !c.expires.T.After(now) {
				return nil, oauth.ErrEnded
			}
			var err error
			if p, err = c.principal(ids(&c)); err != nil {
				return nil, err
			}
		}
		if l.id.Valid {
			p.Locations = append(p.Locations, l.access())
		}
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	if p == nil {
		return nil, oauth.ErrNotFound
	}
	sortAccess(p.Locations)
	return p, nil
}

// sortAccess puts locations into the order of their making, which UUIDs of version 7 carry.
func sortAccess(list []home.Access) {
	if len(list) > 1 {
		slices.SortFunc(list, func(a, b home.Access) int { return strings.Compare(a.LocationID, b.LocationID) })
	}
}

func (c *connectionFacts) principal(connectionID, familyID string) (*home.Principal, error) {
	p := &home.Principal{
		UserID: c.userID, UserName: c.userName, Actor: home.ActorConnection, ConnectionID: connectionID, FamilyID: familyID,
		ClientID: c.clientID, Scopes: splitWords(c.scopes), HiddenTools: splitWords(c.hidden),
	}
	var err error
	p.Tools, err = toolgrant.FromDetails(rawJSON(c.details))
	return p, err
}

func (l *locationFacts) access() home.Access {
	return home.Access{
		LocationID: l.id.String, Name: l.name.String, Role: home.Role(l.role.String), TimeZone: l.zone.String,
		Currency: l.currency.String, Currencies: codes(l.currencies.String), ViewerSeesMoney: l.money.Bool,
		Modules: home.EffectiveModules(splitWords(l.modules.String)),
	}
}

// codes reads a JSON list of currency codes, which hold no character that JSON escapes.
func codes(list string) []string {
	var out []string
	for i, part := range strings.Split(list, `"`) {
		if i%2 == 1 {
			out = append(out, part)
		}
	}
	return out
}
