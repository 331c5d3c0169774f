package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"gatehouse/oauth"
)

const (
	insertDevice = `INSERT INTO device_requests (hash, user_code_hash, client_id, resource, requested, address, device_hint, poll_interval,
		next_poll_at, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`
	selectDevice = `SELECT hash, user_code_hash, client_id, resource, requested, address, device_hint, poll_interval, next_poll_at, created_at,
		expires_at, decided_at, outcome, user_id, scopes, terms, connection_expires_at, used_at,
		details, acr, amr, auth_time FROM device_requests WHERE `
)

// SaveDeviceRequest implements oauth.DeviceStore.
func (d *DB) SaveDeviceRequest(ctx context.Context, r *oauth.DeviceRequest) error {
	n, err := d.exec(ctx, insertDevice, r.Hash, r.UserCodeHash, cleanText(r.ClientID), r.Resource, joinWords(r.Requested), cleanText(r.Address),
		cleanText(r.DeviceHint), r.Interval.Milliseconds(), d.ts(r.NextPollAt), d.ts(r.CreatedAt), d.ts(r.ExpiresAt))
	if err == nil && n != 1 {
		err = oauth.ErrConflict
	}
	return wrap("save device request", err)
}

// DeviceRequest implements oauth.DeviceStore.
func (d *DB) DeviceRequest(ctx context.Context, hash []byte) (*oauth.DeviceRequest, error) {
	return d.device(ctx, `hash = ?`, hash)
}

// DeviceRequestByUserCode implements oauth.DeviceStore.
func (d *DB) DeviceRequestByUserCode(ctx context.Context, userCodeHash []byte) (*oauth.DeviceRequest, error) {
	return d.device(ctx, `user_code_hash = ?`, userCodeHash)
}

func (d *DB) device(ctx context.Context, where string, key []byte) (*oauth.DeviceRequest, error) {
	var r oauth.DeviceRequest
	a := &r.Approval
	var requested, scopes, amr string
	var interval int64
	var outcome, user, terms, details *string
	var next, created, expires Timestamp
	var decided, until, used, auth *Timestamp
	err := d.queryRow(ctx, selectDevice+where, []any{key}, &r.Hash, &r.UserCodeHash, &r.ClientID, &r.Resource, &requested, &r.Address, &r.DeviceHint,
		&interval, &next, &created, &expires, &decided, &outcome, &user, &scopes, &terms, &until, &used, &details, &r.ACR, &amr, &auth)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, oauth.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read device request: %w", err)
	}
	r.Requested, r.Interval, r.NextPollAt = splitWords(requested), time.Duration(interval)*time.Millisecond, next.T
	r.CreatedAt, r.ExpiresAt, r.DecidedAt, r.Outcome, r.UsedAt = created.T, expires.T, decided.ptr(), deref(outcome), used.ptr()
	if r.Outcome == oauth.OutcomeAllowed {
		*a = oauth.Approval{UserID: deref(user), ClientID: r.ClientID, Resource: r.Resource, Scopes: splitWords(scopes), Terms: rawJSON(terms),
			Details: rawJSON(details), ExpiresAt: until.ptr()}
		r.AMR, r.AuthTime = splitWords(amr), timeOf(auth)
	}
	return &r, nil
}

const (
	// pollInTime and pollEarly move the next poll on. Both compare the interval that was read, so that of two polls at one
	// moment one starts over.
	pollInTime = `UPDATE device_requests SET next_poll_at = ? WHERE hash = ? AND poll_interval = ? AND next_poll_at <= ?`
	pollEarly  = `UPDATE device_requests SET next_poll_at = ?, poll_interval = ? WHERE hash = ? AND poll_interval = ? AND next_poll_at > ?`
)

// PollDevice implements oauth.DeviceStore.
func (d *DB) PollDevice(ctx context.Context, hash []byte, at time.Time, step, slack time.Duration) (bool, error) {
	var early bool
	texts := []string{`SELECT poll_interval FROM device_requests WHERE hash = ?`, pollInTime, pollEarly}
	err := d.rawTx(ctx, texts, func(ctx context.Context, st []*sql.Stmt) error {
		for { // ends: each turn without a change means that somebody else's poll was noted
			var ms int64
			err := st[0].QueryRowContext(ctx, hash).Scan(&ms)
			if errors.Is(err, sql.ErrNoRows) {
				return oauth.ErrNotFound
			}
			if err != nil {
				return err
			}
			interval := time.Duration(ms) * time.Millisecond
			n, err := changed(ctx, st[1], d.ts(at.Add(interval-slack)), hash, ms, d.ts(at))
			if early = false; err != nil || n == 1 {
				return err
			}
			longer := interval + step
			n, err = changed(ctx, st[2], d.ts(at.Add(longer-slack)), longer.Milliseconds(), hash, ms, d.ts(at))
			if early = true; err != nil || n == 1 {
				return err
			}
		}
	})
	return early && err == nil, wrap("note poll of device", err)
}

const (
	decideDevice = `UPDATE device_requests SET decided_at = ?, outcome = ?, user_id = ?, scopes = ?, terms = ?, connection_expires_at = ?,
		details = ?, acr = ?, amr = ?, auth_time = ? WHERE user_code_hash = ? AND decided_at IS NULL AND expires_at > ?`
	hasUserCode = `SELECT EXISTS (SELECT 1 FROM device_requests WHERE user_code_hash = ?)`
	// useDevice gives the columns of useCode.
	useDevice = `UPDATE device_requests SET used_at = ?, family_id = ? WHERE hash = ? AND used_at IS NULL AND outcome = 'allowed'
		RETURNING user_id, client_id, resource, scopes, terms, connection_expires_at, details, '', NULL,
		(SELECT disabled_at IS NOT NULL FROM users WHERE users.id = device_requests.user_id)`
	hasDevice = `SELECT EXISTS (SELECT 1 FROM device_requests WHERE hash = ?)`
)

// DecideDevice implements oauth.DeviceStore.
func (d *DB) DecideDevice(ctx context.Context, userCodeHash []byte, at time.Time, approval *oauth.Approval, who oauth.ResourceOwner) error {
	a, outcome, user := oauth.Approval{}, oauth.OutcomeDenied, any(nil)
	if approval != nil {
		a, outcome, user = *approval, oauth.OutcomeAllowed, approval.UserID
	}
	err := d.rawTx(ctx, []string{decideDevice, hasUserCode, d.holdSession()}, func(ctx context.Context, st []*sql.Stmt) error {
		if approval != nil && who.SignIn != "" {
			if err := held(ctx, st[2], who.SignIn, a.UserID); err != nil {
				return err
			}
		}
		n, err := changed(ctx, st[0], d.ts(at), outcome, user, joinWords(a.Scopes), rawText(a.Terms), d.tsPtr(a.ExpiresAt),
			rawText(a.Details), who.ACR, joinWords(who.AMR), d.tsOrNull(who.AuthTime), userCodeHash, d.ts(at))
		if err == nil && n != 1 {
			err = missingOr(ctx, st[1], oauth.ErrUsed, userCodeHash)
		}
		return err
	})
	return wrap("decide device request", err)
}

// RedeemDevice implements oauth.DeviceStore: the redemption of a code, but for the row that is used up.
func (d *DB) RedeemDevice(ctx context.Context, r oauth.Redemption) (*oauth.Connection, error) {
	var out *oauth.Connection
	texts := []string{useDevice, hasDevice, approve, endExpired, clearLocations, addLocation, insertFamily, insertRefresh, endReplaced}
	err := d.rawTx(ctx, texts, func(ctx context.Context, st []*sql.Stmt) (err error) {
		out, err = d.redeem(ctx, st, &r)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("redeem device code: %w", err)
	}
	return out, nil
}
