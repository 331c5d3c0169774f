package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"gatehouse/app/trust"
	"gatehouse/oauth"
)

const issuerColumns = `issuer, tenant, jwks_uri, jwks, algorithms, domains, creates_people, single_use, scopes, locations, ignored_claims, created_at`

// InsertIssuer implements trust.Store.
func (d *DB) InsertIssuer(ctx context.Context, i trust.Issuer) (bool, error) {
	n, err := d.exec(ctx, `INSERT INTO trusted_issuers (`+issuerColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
		i.Issuer, cleanText(i.Tenant), i.JWKSURI, string(i.JWKS), joinWords(i.Algorithms), joinWords(i.Domains), i.CreatesPeople, i.SingleUse,
		joinWords(i.Scopes), joinWords(i.Locations), joinWords(i.IgnoredClaims), d.ts(i.CreatedAt))
	return n == 1, wrap("insert issuer", err)
}

func scanIssuer(row scanner) (*trust.Issuer, error) {
	var i trust.Issuer
	var jwks, algorithms, domains, scopes, locations, ignored string
	var created Timestamp
	err := row.Scan(&i.Issuer, &i.Tenant, &i.JWKSURI, &jwks, &algorithms, &domains, &i.CreatesPeople, &i.SingleUse, &scopes, &locations, &ignored, &created)
	if err != nil {
		return nil, err
	}
	if jwks != "" {
		i.JWKS = []byte(jwks)
	}
	i.Algorithms, i.Domains, i.Scopes = splitWords(algorithms), splitWords(domains), splitWords(scopes)
	i.Locations, i.IgnoredClaims, i.CreatedAt = splitWords(locations), splitWords(ignored), created.T
	return &i, nil
}

// Issuers implements trust.Store.
func (d *DB) Issuers(ctx context.Context) ([]trust.Issuer, error) {
	rows, err := d.query(ctx, `SELECT `+issuerColumns+` FROM trusted_issuers ORDER BY issuer`)
	if err != nil {
		return nil, fmt.Errorf("list issuers: %w", err)
	}
	defer rows.Close()
	var out []trust.Issuer
	for rows.Next() {
		i, err := scanIssuer(rows)
		if err != nil {
			return nil, fmt.Errorf("list issuers: %w", err)
		}
		out = append(out, *i)
	}
	return out, wrap("list issuers", rows.Err())
}

// IssuerBy implements trust.Store.
func (d *DB) IssuerBy(ctx context.Context, issuer string) (*trust.Issuer, error) {
	if !isText(issuer) {
		return nil, trust.ErrNotFound
	}
	st, err := d.prepared(ctx, false, `SELECT `+issuerColumns+` FROM trusted_issuers WHERE issuer = ?`)
	if err != nil {
		return nil, err
	}
	i, err := scanIssuer(st.QueryRowContext(ctx, issuer))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, trust.ErrNotFound
	}
	return i, wrap("read issuer", err)
}

// TrustedIssuer implements oauth.IssuerStore.
func (d *DB) TrustedIssuer(ctx context.Context, issuer string) (*oauth.TrustedIssuer, error) {
	i, err := d.IssuerBy(ctx, issuer)
	if errors.Is(err, trust.ErrNotFound) {
		return nil, oauth.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	return &oauth.TrustedIssuer{Issuer: i.Issuer, Tenant: i.Tenant, JWKS: i.JWKS, JWKSURI: i.JWKSURI, Algorithms: i.Algorithms,
		SingleUse: i.SingleUse, IgnoredClaims: i.IgnoredClaims}, nil
}

// DeleteIssuer implements trust.Store.
func (d *DB) DeleteIssuer(ctx context.Context, issuer string, at time.Time) (bool, error) {
	if !isText(issuer) {
		return false, nil
	}
	removed := false
	texts := []string{`DELETE FROM trusted_issuers WHERE issuer = ?`,
		`UPDATE families SET ended_at = ?, ended_reason = 'issuer_removed' WHERE origin = ? AND ended_at IS NULL`}
	err := d.rawTx(ctx, texts, func(ctx context.Context, st []*sql.Stmt) error {
		n, err := changed(ctx, st[0], issuer)
		if err != nil {
			return err
		}
		removed = n == 1
		_, err = st[1].ExecContext(ctx, d.ts(at), oauth.AssertionOrigin(issuer))
		return err
	})
	return removed && err == nil, wrap("remove issuer", err)
}
