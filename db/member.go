package db

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"gatehouse/app/account"
	"gatehouse/app/home"
)

// memberRow is a person's place in a location.
type memberRow struct {
	LocationID string `gorm:"primaryKey"`
	UserID     string `gorm:"primaryKey"`
	Role       string
	JoinedAt   Timestamp
	InvitedBy  *string
	CreatedAt  Timestamp `gorm:"autoCreateTime:false"`
	UpdatedAt  Timestamp `gorm:"autoUpdateTime:false"`
}

// TableName names the table.
func (memberRow) TableName() string { return "members" }

// ChangeMembers implements home.MemberStore. The location is locked before the person, as everywhere.
func (d *DB) ChangeMembers(ctx context.Context, locationID, personID string, now time.Time, decide func(home.MemberFacts) (home.MemberChange, error)) error {
	return d.tx(ctx, func(tx *gorm.DB) error {
		if err := d.lockLocation(tx, locationID); err != nil {
			return err
		}
		facts, err := d.memberFacts(tx, locationID, personID)
		if err != nil {
			return err
		}
		change, err := decide(*facts)
		if err != nil {
			return err
		}
		return d.applyMembers(tx, locationID, change, now)
	})
}

func (d *DB) memberFacts(tx *gorm.DB, locationID, personID string) (*home.MemberFacts, error) {
	var f home.MemberFacts
	_, err := d.lockUser(tx, personID)
	if err != nil && !errors.Is(err, account.ErrNotFound) {
		return nil, err
	}
	if f.PersonKnown = err == nil; f.PersonKnown {
		if f.PersonLocations, err = countLocations(tx, personID); err != nil {
			return nil, err
		}
	}
	f.Members, err = members(tx, locationID)
	return &f, err
}

func members(q *gorm.DB, locationID string) ([]home.MemberOf, error) {
	var rows []struct {
		Of   memberRow `gorm:"embedded"`
		Name string
	}
	err := q.Table("members m").Select("m.*, u.name").Joins("JOIN users u ON u.id = m.user_id").Joins("JOIN locations l ON l.id = m.location_id").
		Where("m.location_id = ? AND l.deleted_at IS NULL", locationID).Order("m.joined_at, m.user_id").Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("read members: %w", err)
	}
	out := make([]home.MemberOf, len(rows))
	for i, r := range rows {
		out[i] = home.MemberOf{UserID: r.Of.UserID, Name: r.Name, Role: home.Role(r.Of.Role), JoinedAt: r.Of.JoinedAt.T, InvitedBy: deref(r.Of.InvitedBy)}
	}
	return out, nil
}

func (d *DB) applyMembers(tx *gorm.DB, locationID string, c home.MemberChange, now time.Time) error {
	if m := c.Add; m != nil {
		row := memberRow{LocationID: locationID, UserID: m.UserID, Role: string(m.Role), JoinedAt: at(now), CreatedAt: at(now), UpdatedAt: at(now)}
		if m.InvitedBy != "" {
			row.InvitedBy = &m.InvitedBy
		}
		if err := tx.Create(&row).Error; err != nil {
			return fmt.Errorf("insert member: %w", err)
		}
	}
	for _, m := range c.Roles {
		res := tx.Exec(`UPDATE members SET role = ?, updated_at = ? WHERE location_id = ? AND user_id = ?`, string(m.Role), d.ts(now), locationID, m.UserID)
		if err := one(res, account.ErrNotFound); err != nil {
			return err
		}
	}
	if c.Remove == "" {
		return nil
	}
	res := tx.Exec(`DELETE FROM members WHERE location_id = ? AND user_id = ?`, locationID, c.Remove)
	if err := one(res, account.ErrNotFound); err != nil {
		return err
	}
	if err := d.dropTokensFromLocation(tx, c.Remove, locationID, now); err != nil {
		return err
	}
	return d.dropConnectionsFromLocation(tx, c.Remove, locationID, now)
}

// MembersOf implements home.MemberStore.
func (d *DB) MembersOf(ctx context.Context, locationID string) ([]home.MemberOf, error) {
	if !isID(locationID) {
		return nil, nil
	}
	return members(d.r(ctx), locationID)
}
