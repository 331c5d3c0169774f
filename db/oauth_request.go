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

// SaveRequest implements oauth.RequestStore. The id is a capability: the row holds its SHA-256 alone.
func (d *DB) SaveRequest(ctx context.Context, r *oauth.AuthorizationRequest) error {
	parameters, err := json.Marshal(r.Parameters)
	if err != nil {
		return fmt.Errorf("save request: %w", err)
	}
	_, err = d.exec(ctx, insertRequest, d.requestRow(r, string(parameters))...)
	if err != nil {
		return fmt.Errorf("save request: %w", err)
	}
	return nil
}

const insertRequest = `INSERT INTO authorization_requests
	(id_hash, parameters, client_id, pushed, created_at, expires_at, decided_at, outcome, browser_hash)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`

func (d *DB) requestRow(r *oauth.AuthorizationRequest, parameters string) []any {
	return []any{
		oauth.HashSecret(r.ID), parameters, cleanText(r.ClientID), r.Pushed, d.ts(r.CreatedAt), d.ts(r.ExpiresAt),
		d.tsPtr(r.DecidedAt), emptyNull(r.Outcome), nullBytes(r.BrowserHash),
	}
}

// Request implements oauth.RequestStore.
func (d *DB) Request(ctx context.Context, id string) (*oauth.AuthorizationRequest, error) {
	r := oauth.AuthorizationRequest{ID: id}
	var parameters string
	var decidedBy *string
	var created, expires Timestamp
	var decided *Timestamp
	var outcome *string
	err := d.queryRow(ctx, `SELECT parameters, client_id, pushed, created_at, expires_at, decided_at, outcome, decided_by, answer_sealed, browser_hash
		FROM authorization_requests WHERE id_hash = ?`, []any{oauth.HashSecret(id)},
		&parameters, &r.ClientID, &r.Pushed, &created, &expires, &decided, &outcome, &decidedBy, &r.AnswerSealed, &r.BrowserHash)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, oauth.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read request: %w", err)
	}
	if err := json.Unmarshal([]byte(parameters), &r.Parameters); err != nil {
		return nil, fmt.Errorf("read request: parameters: %w", err)
	}
	r.CreatedAt, r.ExpiresAt, r.DecidedAt, r.Outcome = created.T, expires.T, decided.ptr(), deref(outcome)
	r.DecidedBy = deref(decidedBy)
	return &r, nil
}

const (
	decideRequest = `UPDATE authorization_requests SET decided_at = ?, outcome = ?, decided_by = ?, answer_sealed = ? WHERE id_hash = ? AND decided_at IS NULL`
	hasRequest    = `SELECT EXISTS (SELECT 1 FROM authorization_requests WHERE id_hash = ?)`
	insertCode    = `INSERT INTO authorization_codes (hash, request_id, user_id, client_id, resource, scopes, terms,
		connection_expires_at, redirect_uri, code_challenge, auth_time, issued_at, expires_at, key_thumbprint, nonce, acr, amr,
		details, grant_action, grant_id)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
)

// holdSession finds a session and keeps it from ending until the transaction does: whoever ends it meanwhile waits, and
// then finds what was written under it.
func (d *DB) holdSession() string {
	text := `SELECT 1 FROM sessions WHERE id = ? AND user_id = ?`
	if d.dialect == Postgres {
		text += ` FOR KEY SHARE`
	}
	return text
}

// held runs holdSession; oauth.ErrEnded when the session is gone.
func held(ctx context.Context, st *sql.Stmt, sessionID, userID string) error {
	var one int
	if !isID(sessionID) || !isID(userID) {
		return oauth.ErrEnded
	}
	err := st.QueryRowContext(ctx, sessionID, userID).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return oauth.ErrEnded
	}
	return err
}

// DecideRequest implements oauth.RequestStore.
func (d *DB) DecideRequest(ctx context.Context, id, outcome string, at time.Time, code *oauth.AuthorizationCode) error {
	hash := oauth.HashSecret(id)
	var by, answer any
	if code != nil {
		by, answer = emptyNull(code.SignIn), nullBytes(code.AnswerSealed)
	}
	err := d.rawTx(ctx, []string{decideRequest, hasRequest, insertCode, d.holdSession()}, func(ctx context.Context, st []*sql.Stmt) error {
		if code != nil && code.SignIn != "" {
			if err := held(ctx, st[3], code.SignIn, code.Approval.UserID); err != nil {
				return err
			}
		}
		n, err := changed(ctx, st[0], d.ts(at), outcome, by, answer, hash)
		if err != nil {
			return err
		}
		if n != 1 {
			return missingOr(ctx, st[1], oauth.ErrUsed, hash)
		}
		if code == nil {
			return nil
		}
		a := code.Approval
		_, err = st[2].ExecContext(ctx, code.Hash, code.RequestID, a.UserID, a.ClientID, a.Resource, joinWords(a.Scopes),
			rawText(a.Terms), d.tsPtr(a.ExpiresAt), code.RedirectURI, code.CodeChallenge,
			d.ts(code.AuthTime), d.ts(code.IssuedAt), d.ts(code.ExpiresAt), code.KeyThumbprint, code.Nonce, code.ACR, joinWords(code.AMR),
			rawText(a.Details), a.GrantAction, emptyNull(a.GrantID))
		return err
	})
	if err != nil {
		return fmt.Errorf("decide request: %w", err)
	}
	return nil
}

// missingOr tells why a conditional UPDATE changed nothing: oauth.ErrNotFound when the row is not there, else otherwise.
func missingOr(ctx context.Context, exists *sql.Stmt, otherwise error, key ...any) error {
	var has bool
	if err := exists.QueryRowContext(ctx, key...).Scan(&has); err != nil {
		return err
	}
	if !has {
		return oauth.ErrNotFound
	}
	return otherwise
}
