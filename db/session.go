package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"gatehouse/app/account"
)

// sessionRow is one signed-in browser.
type sessionRow struct {
	ID         string `gorm:"primaryKey"`
	UserID     string
	SecretHash []byte
	AuthTime   Timestamp
	AMR        string
	LastSeenAt Timestamp
	ExpiresAt  Timestamp
	IP         string
	UserAgent  string
	CreatedAt  Timestamp `gorm:"autoCreateTime:false"`
	UpdatedAt  Timestamp `gorm:"autoUpdateTime:false"`
}

// TableName names the table.
func (sessionRow) TableName() string { return "sessions" }

func newSessionRow(n account.NewSession) *sessionRow {
	return &sessionRow{
		ID: n.ID, UserID: n.UserID, SecretHash: n.SecretHash, AuthTime: at(n.AuthTime), AMR: joinWords(n.AMR), LastSeenAt: at(n.LastSeenAt),
		ExpiresAt: at(n.ExpiresAt), IP: cleanText(n.IP), UserAgent: cleanText(n.UserAgent), CreatedAt: at(n.CreatedAt), UpdatedAt: at(n.CreatedAt),
	}
}

// InsertSession implements account.SessionStore. The person's row is locked: a change of password or an end of the
// account that happens at this moment comes before or after, not between the check and the session.
func (d *DB) InsertSession(ctx context.Context, n account.NewSession, passwordHash string) error {
	return d.tx(ctx, func(tx *gorm.DB) error {
		u, err := d.lockUser(tx, n.UserID)
		if err != nil {
			return err
		}
		if u.PasswordHash != passwordHash {
			return account.ErrNotFound
		}
		if err := passwordSuffices(tx, n.UserID); err != nil {
			return err
		}
		return insertSession(tx, n)
	})
}

const sessionColumns = `s.id, s.user_id, s.auth_time, s.amr, s.created_at, s.last_seen_at, s.expires_at, s.ip, s.user_agent,
	u.email, u.name, u.locale, u.is_admin, u.password_changed_at, u.created_at, u.deletion_due_at
	FROM sessions s JOIN users u ON u.id = s.user_id
	WHERE u.disabled_at IS NULL AND s.expires_at > ? AND s.last_seen_at > ?`

func scanSession(scan func(...any) error) (*account.Session, error) {
	var s account.Session
	var amr string
	var authTime, created, seen, expires, changed, joined Timestamp
	var deletion *Timestamp
	err := scan(&s.ID, &s.UserID, &authTime, &amr, &created, &seen, &expires, &s.IP, &s.UserAgent,
		&s.Person.Email, &s.Person.Name, &s.Person.Locale, &s.Person.Admin, &changed, &joined, &deletion)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, account.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read session: %w", err)
	}
	s.AuthTime, s.CreatedAt, s.LastSeenAt, s.ExpiresAt = authTime.T, created.T, seen.T, expires.T
	s.AMR = splitWords(amr)
	s.Person.ID, s.Person.PasswordChangedAt, s.Person.CreatedAt = s.UserID, changed.T, joined.T
	s.Person.DeletionDueAt = deletion.ptr()
	return &s, nil
}

// SessionByHash implements account.SessionStore. Every page runs it, hence the prepared statement.
func (d *DB) SessionByHash(ctx context.Context, hash []byte, now, idleSince time.Time) (*account.Session, error) {
	st, err := d.prepared(ctx, false, `SELECT `+sessionColumns+` AND s.secret_hash = ?`)
	if err != nil {
		return nil, err
	}
	return scanSession(st.QueryRowContext(ctx, d.ts(now), d.ts(idleSince), hash).Scan)
}

// SessionsOf implements account.SessionStore.
func (d *DB) SessionsOf(ctx context.Context, userID string, now, idleSince time.Time) ([]account.Session, error) {
	if !isID(userID) {
		return nil, nil
	}
	rows, err := d.query(ctx, `SELECT `+sessionColumns+` AND s.user_id = ? ORDER BY s.last_seen_at DESC, s.id DESC`, d.ts(now), d.ts(idleSince), userID)
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	defer rows.Close()
	var out []account.Session
	for rows.Next() {
		s, err := scanSession(rows.Scan)
		if err != nil {
			return nil, err
		}
		out = append(out, *s)
	}
	return out, rows.Err()
}

// TouchSession implements account.SessionStore.
func (d *DB) TouchSession(ctx context.Context, id string, now, before time.Time) error {
	_, err := d.exec(ctx, `UPDATE sessions SET last_seen_at = ?, updated_at = ? WHERE id = ? AND last_seen_at <= ?`, d.ts(now), d.ts(now), id, d.ts(before))
	return err
}

// RenewSession implements account.SessionStore.
func (d *DB) RenewSession(ctx context.Context, r account.Renewal, passwordHash string, code *account.UsedCode) error {
	return d.tx(ctx, func(tx *gorm.DB) error {
		u, err := d.lockUser(tx, r.UserID)
		if err != nil {
			return err
		}
		if u.PasswordHash != passwordHash {
			return account.ErrNotFound
		}
		if code != nil {
			err = d.useCodeOf(tx, r.UserID, *code, r.AuthTime)
		} else {
			err = passwordSuffices(tx, r.UserID)
		}
		if err != nil {
			return err
		}
		return d.renewSession(tx, r)
	})
}

// passwordSuffices gives ErrNotFound for a person with a second factor.
func passwordSuffices(tx *gorm.DB, userID string) error {
	on, err := hasCodes(tx, userID)
	if err == nil && on {
		err = account.ErrNotFound
	}
	return err
}

func (d *DB) renewSession(tx *gorm.DB, r account.Renewal) error {
	if !isID(r.SessionID) {
		return account.ErrNotFound
	}
	t := d.ts(r.AuthTime)
	res := tx.Exec(`UPDATE sessions SET secret_hash = ?, auth_time = ?, amr = ?, last_seen_at = ?, updated_at = ?
		WHERE id = ? AND secret_hash = ? AND user_id = ?`, r.NewHash, t, joinWords(r.AMR), t, t, r.SessionID, r.OldHash, r.UserID)
	return one(res, account.ErrNotFound)
}

// EndSessionByHash implements account.SessionStore.
func (d *DB) EndSessionByHash(ctx context.Context, hash []byte) error {
	return d.w(ctx).Exec(`DELETE FROM sessions WHERE secret_hash = ?`, hash).Error
}

// EndSession implements account.SessionStore.
func (d *DB) EndSession(ctx context.Context, userID, id string) error {
	if !isID(userID) || !isID(id) {
		return account.ErrNotFound
	}
	return one(d.w(ctx).Exec(`DELETE FROM sessions WHERE id = ? AND user_id = ?`, id, userID), account.ErrNotFound)
}

// EndOtherSessions implements account.SessionStore.
func (d *DB) EndOtherSessions(ctx context.Context, userID, keepID string, now time.Time) error {
	return d.tx(ctx, func(tx *gorm.DB) error {
		if _, err := d.lockUser(tx, userID); err != nil {
			return err
		}
		return d.endAccess(tx, userID, keepID, account.TokenEndedByUser, now)
	})
}

// SweepAccounts implements account.SessionStore.
func (d *DB) SweepAccounts(ctx context.Context, now, idleSince time.Time) error {
	if err := d.w(ctx).Exec(`DELETE FROM sessions WHERE expires_at <= ? OR last_seen_at <= ?`, d.ts(now), d.ts(idleSince)).Error; err != nil {
		return fmt.Errorf("sweep sessions: %w", err)
	}
	if err := d.w(ctx).Exec(`DELETE FROM one_time_links WHERE expires_at <= ?`, d.ts(now)).Error; err != nil {
		return fmt.Errorf("sweep links: %w", err)
	}
	if err := d.w(ctx).Exec(`DELETE FROM address_links WHERE expires_at <= ?`, d.ts(now)).Error; err != nil {
		return fmt.Errorf("sweep address links: %w", err)
	}
	return nil
}
