package db

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"time"

	"gatehouse/app/handshake"
)

// handshakeLock is the key of Postgres' advisory lock under which events are tied: without it two processes would open
// two attempts for the first two requests of one app.
const handshakeLock = 0x68616e64

// The statements of a recording, by position. Steps come with every sign-in and exchange, so they are prepared.
const (
	stLockHandshakes = iota
	stAttemptOfRequest
	stAttemptOfConnection
	stAttemptOfClient
	stAttemptOfSource
	stHasStep
	stOpenAttempt
	stAdvanceAttempt
	stAddStep
)

// compatible keeps an event away from an attempt that is another client's, another request's or another person's.
const compatible = ` AND (client_id = '' OR ? = '' OR client_id = ?) AND (request_id = '' OR ? = '' OR request_id = ?)
	AND (user_id = '' OR ? = '' OR user_id = ?)`

const latestAttempt = ` ORDER BY last_at DESC, id DESC LIMIT 1`

var handshakeTexts = []string{
	`SELECT id FROM handshake_attempts WHERE request_id = ?` + latestAttempt,
	`SELECT id FROM handshake_attempts WHERE connection_id = ?` + latestAttempt,
	`SELECT id FROM handshake_attempts WHERE client_id = ? AND last_at >= ?` + compatible + latestAttempt,
	`SELECT id FROM handshake_attempts WHERE source = ? AND last_at >= ? AND connection_id = ''` + compatible + latestAttempt,
	`SELECT EXISTS (SELECT 1 FROM handshake_steps WHERE attempt_id = ? AND step = ?)`,
	`INSERT INTO handshake_attempts (id, started_at, last_at, source, ip, user_agent, client_id, client_name,
		request_id, connection_id, user_id, resource, reached, failed, reason, steps)
		VALUES (?, ?, ?, ?, ?, ?, '', '', '', '', '', '', '', ?, '', 0)`,
	`UPDATE handshake_attempts SET steps = steps + 1, last_at = ?, failed = ?, reason = ?,
		reached = CASE WHEN CAST(? AS text) = '' THEN reached ELSE CAST(? AS text) END,
		client_id = coalesce(nullif(client_id, ''), ?),
		client_name = coalesce(nullif(client_name, ''), nullif(CAST(? AS text), ''), (SELECT name FROM clients WHERE id = ?), ''),
		request_id = coalesce(nullif(request_id, ''), ?), connection_id = coalesce(nullif(connection_id, ''), ?),
		user_id = coalesce(nullif(user_id, ''), ?), resource = coalesce(nullif(resource, ''), ?)
		WHERE id = ? AND steps < ? RETURNING steps`,
	`INSERT INTO handshake_steps (attempt_id, position, at, step, ok, check_name, reason, detail, milliseconds, http_request)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
}

// SaveHandshakes implements handshake.Store. Steps of one attempt may come from several processes, so they are tied
// here and not in memory.
func (d *DB) SaveHandshakes(ctx context.Context, events []handshake.Event, newID func(at time.Time) (string, error)) error {
	lock := `SELECT 1`
	if d.dialect == Postgres {
		lock = `SELECT pg_advisory_xact_lock(` + strconv.Itoa(handshakeLock) + `)`
	}
	err := d.rawTx(ctx, append([]string{lock}, handshakeTexts...), func(ctx context.Context, st []*sql.Stmt) error {
		if d.dialect == Postgres {
			if _, err := st[stLockHandshakes].ExecContext(ctx); err != nil {
				return err
			}
		}
		for i := range events {
			if err := d.saveHandshake(ctx, st, &events[i], newID); err != nil {
				return err
			}
		}
		return nil
	})
	return wrap("record connection attempt", err)
}

func (d *DB) saveHandshake(ctx context.Context, st []*sql.Stmt, e *handshake.Event, newID func(at time.Time) (string, error)) error {
	id, err := d.attemptOf(ctx, st, e)
	switch {
	case err != nil:
		return err
	case id == "" && !e.Opens():
		return nil
	case id == "":
		id, err = d.openAttempt(ctx, st, e, newID)
	case e.Once():
		var known bool
		if err = st[stHasStep].QueryRowContext(ctx, id, e.Step).Scan(&known); known {
			return nil
		}
	}
	if err != nil {
		return err
	}
	return d.addStep(ctx, st, id, e)
}

// attemptOf finds the attempt that an event belongs to; empty when there is none. The firmest tie goes first.
func (d *DB) attemptOf(ctx context.Context, st []*sql.Stmt, e *handshake.Event) (string, error) {
	fits := []any{e.ClientID, e.ClientID, e.RequestID, e.RequestID, e.UserID, e.UserID}
	since := d.ts(e.At.Add(-handshake.Window))
	ties := []struct {
		known bool
		st    int
		args  []any
	}{
		{e.RequestID != "", stAttemptOfRequest, []any{e.RequestID}},
		{e.ConnectionID != "", stAttemptOfConnection, []any{e.ConnectionID}},
		{e.ClientID != "" && !e.SharedClient(), stAttemptOfClient, append([]any{e.ClientID, since}, fits...)},
		{e.IP != "", stAttemptOfSource, append([]any{e.Source(), since}, fits...)},
	}
	for _, tie := range ties {
		if !tie.known {
			continue
		}
		var id string
		err := st[tie.st].QueryRowContext(ctx, tie.args...).Scan(&id)
		if !errors.Is(err, sql.ErrNoRows) {
			return id, err
		}
	}
	return "", nil
}

func (d *DB) openAttempt(ctx context.Context, st []*sql.Stmt, e *handshake.Event, newID func(at time.Time) (string, error)) (string, error) {
	id, err := newID(e.At)
	if err != nil {
		return "", err
	}
	_, err = st[stOpenAttempt].ExecContext(ctx, id, d.ts(e.At), d.ts(e.At), e.Source(), e.IP, e.UserAgent, false)
	return id, err
}

// addStep writes the step and what the attempt learns from it: ids not known before, and how it stands now.
func (d *DB) addStep(ctx context.Context, st []*sql.Stmt, attempt string, e *handshake.Event) error {
	reached := ""
	if e.OK {
		reached = e.Step
	}
	var position int
	err := st[stAdvanceAttempt].QueryRowContext(ctx, d.ts(e.At), !e.OK, e.Reason, reached, reached, e.ClientID, e.ClientName, e.ClientID,
		e.RequestID, e.ConnectionID, e.UserID, e.Resource, attempt, handshake.MaxSteps).Scan(&position)
	if errors.Is(err, sql.ErrNoRows) { // full: the attempt stays as it is
		return nil
	}
	if err != nil {
		return err
	}
	_, err = st[stAddStep].ExecContext(ctx, attempt, position, d.ts(e.At), e.Step, e.OK, e.Check, e.Reason, e.Detail, e.Duration.Milliseconds(), e.HTTPRequest)
	return err
}

const attemptColumns = `id, started_at, last_at, ip, user_agent, client_id, client_name, request_id, connection_id, user_id,
	resource, reached, failed, reason`

func scanAttempt(row scanner) (handshake.Attempt, error) {
	var a handshake.Attempt
	var started, last Timestamp
	err := row.Scan(&a.ID, &started, &last, &a.IP, &a.UserAgent, &a.ClientID, &a.ClientName, &a.RequestID, &a.ConnectionID, &a.UserID,
		&a.Resource, &a.Reached, &a.Failed, &a.Reason)
	a.StartedAt, a.LastAt = started.T, last.T
	return a, err
}

func (d *DB) handshakeSteps(ctx context.Context, attempt string) ([]handshake.AttemptStep, error) {
	rows, err := d.query(ctx, `SELECT at, step, ok, check_name, reason, detail, milliseconds FROM handshake_steps
		WHERE attempt_id = ? ORDER BY position`, attempt)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []handshake.AttemptStep
	for rows.Next() {
		var s handshake.AttemptStep
		var at Timestamp
		var ms int64
		if err := rows.Scan(&at, &s.Step, &s.OK, &s.Check, &s.Reason, &s.Detail, &ms); err != nil {
			return nil, err
		}
		s.At, s.Duration = at.T, time.Duration(ms)*time.Millisecond
		out = append(out, s)
	}
	return out, rows.Err()
}

// SweepHandshakes implements handshake.Store.
func (d *DB) SweepHandshakes(ctx context.Context, before time.Time) (int, error) {
	_, err := d.deleteSome(ctx, `DELETE FROM handshake_steps WHERE (attempt_id, position) IN (SELECT s.attempt_id, s.position
		FROM handshake_steps s JOIN handshake_attempts a ON a.id = s.attempt_id WHERE a.last_at < ? LIMIT 1000)`, before)
	if err != nil {
		return 0, wrap("sweep connection attempts", err)
	}
	n, err := d.deleteSome(ctx, `DELETE FROM handshake_attempts WHERE id IN
		(SELECT id FROM handshake_attempts WHERE last_at < ? LIMIT 1000)`, before)
	if err == nil {
		err = d.sweepStrangers(ctx, handshake.MaxStrangers)
	}
	return n, wrap("sweep connection attempts", err)
}

// sweepStrangers keeps the latest attempts without a person and deletes the others.
func (d *DB) sweepStrangers(ctx context.Context, keep int) error {
	var last Timestamp
	err := d.queryRow(ctx, `SELECT last_at FROM handshake_attempts WHERE user_id = '' ORDER BY last_at DESC, id DESC LIMIT 1 OFFSET ?`, []any{keep}, &last)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	before := last.T.Add(time.Millisecond)
	_, err = d.deleteSome(ctx, `DELETE FROM handshake_steps WHERE (attempt_id, position) IN (SELECT s.attempt_id, s.position
		FROM handshake_steps s JOIN handshake_attempts a ON a.id = s.attempt_id WHERE a.user_id = '' AND a.last_at < ? LIMIT 1000)`, before)
	if err != nil {
		return err
	}
	_, err = d.deleteSome(ctx, `DELETE FROM handshake_attempts WHERE id IN
		(SELECT id FROM handshake_attempts WHERE user_id = '' AND last_at < ? LIMIT 1000)`, before)
	return err
}
