package db

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"gatehouse/app/account"
	"gatehouse/app/home"
)

// personalTokenRow is a personal token.
type personalTokenRow struct {
	ID            string `gorm:"primaryKey"`
	UserID        string
	Name          string
	Lookup        string
	Hash          []byte
	Scope         string
	ExpiresAt     *Timestamp
	LastUsedAt    *Timestamp
	LastUsedIP    *string
	RevokedAt     *Timestamp
	RevokedReason *string
	CreatedAt     Timestamp `gorm:"autoCreateTime:false"`
	UpdatedAt     Timestamp `gorm:"autoUpdateTime:false"`
}

// TableName names the table.
func (personalTokenRow) TableName() string { return "personal_tokens" }

// personalTokenLocationRow is a location that a token reaches.
type personalTokenLocationRow struct {
	TokenID    string `gorm:"primaryKey"`
	LocationID string `gorm:"primaryKey"`
}

// TableName names the table.
func (personalTokenLocationRow) TableName() string { return "personal_token_locations" }

func (r *personalTokenRow) token() account.PersonalToken {
	return account.PersonalToken{
		ID: r.ID, UserID: r.UserID, Name: r.Name, Lookup: r.Lookup, Scope: r.Scope, ExpiresAt: r.ExpiresAt.ptr(), CreatedAt: r.CreatedAt.T,
		LastUsedAt: r.LastUsedAt.ptr(), LastUsedIP: deref(r.LastUsedIP), EndedAt: r.RevokedAt.ptr(), EndedReason: deref(r.RevokedReason),
	}
}

// InsertToken implements account.TokenStore. The person's row is locked, so that tokens made at once are counted one by
// one; the memberships too, so that none ends between the check and the token.
func (d *DB) InsertToken(ctx context.Context, t account.TokenRow, allow func(account.TokenFacts) error) error {
	return d.tx(ctx, func(tx *gorm.DB) error {
		if _, err := d.lockUser(tx, t.UserID); err != nil {
			return err
		}
		if err := sessionLives(tx, t.SessionID, t.UserID); err != nil {
			return err
		}
		var repeated bool
		if err := tx.Raw(`SELECT EXISTS (SELECT 1 FROM personal_tokens WHERE user_id = ? AND lookup = ? AND hash = ?)`, t.UserID, t.Lookup, t.Hash).
			Scan(&repeated).Error; err != nil {
			return fmt.Errorf("look for the token: %w", err)
		}
		if repeated {
			return account.ErrRepeated
		}
		facts, err := d.tokenFacts(tx, t)
		if err != nil {
			return err
		}
		if err := allow(*facts); err != nil {
			return err
		}
		row := personalTokenRow{
			ID: t.ID, UserID: t.UserID, Name: t.Name, Lookup: t.Lookup, Hash: t.Hash, Scope: t.Scope, ExpiresAt: atPtr(t.ExpiresAt),
			CreatedAt: at(t.CreatedAt), UpdatedAt: at(t.CreatedAt),
		}
		if err := tx.Create(&row).Error; err != nil {
			return fmt.Errorf("insert token: %w", err)
		}
		reach := make([]personalTokenLocationRow, len(t.LocationIDs))
		for i, id := range t.LocationIDs {
			reach[i] = personalTokenLocationRow{TokenID: t.ID, LocationID: id}
		}
		if err := tx.Create(&reach).Error; err != nil {
			return fmt.Errorf("insert token's locations: %w", err)
		}
		return nil
	})
}

// sessionLives gives account.ErrNotFound for a session that has ended. The caller holds the person's lock, under which
// sessions end all at once.
func sessionLives(tx *gorm.DB, id, userID string) error {
	if id == "" {
		return nil
	}
	if !isID(id) {
		return account.ErrNotFound
	}
	var lives bool
	if err := tx.Raw(`SELECT EXISTS (SELECT 1 FROM sessions WHERE id = ? AND user_id = ?)`, id, userID).Scan(&lives).Error; err != nil {
		return fmt.Errorf("read session: %w", err)
	}
	if !lives {
		return account.ErrNotFound
	}
	return nil
}

func (d *DB) tokenFacts(tx *gorm.DB, t account.TokenRow) (*account.TokenFacts, error) {
	var f account.TokenFacts
	err := tx.Raw(`SELECT count(*) FROM personal_tokens WHERE user_id = ? AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)`,
		t.UserID, d.ts(t.CreatedAt)).Scan(&f.Live).Error
	if err != nil {
		return nil, fmt.Errorf("count tokens: %w", err)
	}
	ids := slices.DeleteFunc(slices.Clone(t.LocationIDs), func(id string) bool { return !isID(id) })
	var rows []memberRow
	q := tx.Where("location_id IN ? AND location_id IN (SELECT id FROM locations WHERE deleted_at IS NULL)", ids).Order("location_id, user_id")
	if d.dialect == Postgres {
		q = q.Clauses(clause.Locking{Strength: "SHARE"})
	}
	if err := q.Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("read memberships: %w", err)
	}
	f.Locations = tokenLocations(rows, t.UserID)
	return &f, nil
}

// tokenLocations groups members by location and keeps the locations of one of them.
func tokenLocations(rows []memberRow, userID string) []account.TokenLocation {
	var out []account.TokenLocation
	for len(rows) > 0 {
		l := account.TokenLocation{ID: rows[0].LocationID}
		mine := false
		for len(rows) > 0 && rows[0].LocationID == l.ID {
			if l.Members = append(l.Members, rows[0].UserID); rows[0].UserID == userID {
				mine, l.Write = true, home.Role(rows[0].Role).MayWrite()
			}
			rows = rows[1:]
		}
		if mine {
			out = append(out, l)
		}
	}
	return out
}

// TokensOf implements account.TokenStore.
func (d *DB) TokensOf(ctx context.Context, userID string) ([]account.PersonalToken, error) {
	if !isID(userID) {
		return nil, nil
	}
	var rows []struct {
		Of        personalTokenRow `gorm:"embedded"`
		Locations *string
	}
	err := d.r(ctx).Raw(`SELECT t.*, (SELECT string_agg(CAST(tl.location_id AS text), ' ') FROM personal_token_locations tl WHERE tl.token_id = t.id) AS locations
		FROM personal_tokens t WHERE t.user_id = ? ORDER BY t.created_at DESC, t.id DESC`, userID).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("list tokens: %w", err)
	}
	out := make([]account.PersonalToken, len(rows))
	for i := range rows {
		out[i] = rows[i].Of.token()
		out[i].LocationIDs = splitWords(deref(rows[i].Locations))
		slices.SortFunc(out[i].LocationIDs, strings.Compare)
	}
	return out, nil
}

// RenameToken implements account.TokenStore.
func (d *DB) RenameToken(ctx context.Context, userID, id, name string, now time.Time) error {
	if !isID(userID) || !isID(id) {
		return account.ErrNotFound
	}
	return one(d.w(ctx).Exec(`UPDATE personal_tokens SET name = ?, updated_at = ? WHERE id = ? AND user_id = ?`, name, d.ts(now), id, userID), account.ErrNotFound)
}

// RevokeToken implements account.TokenStore.
func (d *DB) RevokeToken(ctx context.Context, userID, id, reason string, now time.Time) error {
	if !isID(id) || userID != "" && !isID(userID) {
		return account.ErrNotFound
	}
	return d.tx(ctx, func(tx *gorm.DB) error {
		q := d.locked(tx).Where("id = ?", id)
		if userID != "" {
			q = q.Where("user_id = ?", userID)
		}
		if _, err := first[personalTokenRow](q); err != nil {
			return err
		}
		err := tx.Exec(`UPDATE personal_tokens SET revoked_at = ?, revoked_reason = ?, updated_at = ?
			WHERE id = ? AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)`, d.ts(now), reason, d.ts(now), id, d.ts(now)).Error
		if err != nil {
			return fmt.Errorf("revoke token: %w", err)
		}
		return nil
	})
}

// dropTokensFromLocation takes a location from all tokens of a person who leaves it, in the transaction of the leaving:
// coming back must not bring old tokens back. A token left without a location is revoked.
func (d *DB) dropTokensFromLocation(tx *gorm.DB, userID, locationID string, now time.Time) error {
	err := tx.Exec(`UPDATE personal_tokens SET revoked_at = ?, revoked_reason = ?, updated_at = ?
		WHERE user_id = ? AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)
		AND EXISTS (SELECT 1 FROM personal_token_locations l WHERE l.token_id = personal_tokens.id AND l.location_id = ?)
		AND NOT EXISTS (SELECT 1 FROM personal_token_locations o WHERE o.token_id = personal_tokens.id AND o.location_id <> ?)`,
		d.ts(now), account.TokenEndedByMembership, d.ts(now), userID, d.ts(now), locationID, locationID).Error
	if err != nil {
		return fmt.Errorf("revoke tokens without a location: %w", err)
	}
	err = tx.Exec(`DELETE FROM personal_token_locations WHERE location_id = ? AND token_id IN (SELECT id FROM personal_tokens WHERE user_id = ?)`, locationID, userID).Error
	if err != nil {
		return fmt.Errorf("drop location from tokens: %w", err)
	}
	return nil
}
