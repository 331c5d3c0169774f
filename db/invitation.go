package db

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"gatehouse/app/account"
	"gatehouse/app/home"
	"gatehouse/app/invitation"
)

// invitationRow is an invitation into a location.
type invitationRow struct {
	ID         string `gorm:"primaryKey"`
	LocationID string
	Role       string
	Email      string
	Mailed     bool
	TokenHash  []byte
	InvitedBy  string
	CreatedAt  Timestamp `gorm:"autoCreateTime:false"`
	ExpiresAt  Timestamp
}

// TableName names the table.
func (invitationRow) TableName() string { return "invitations" }

// openInvitation is the condition of one that can be accepted.
const openInvitation = `accepted_at IS NULL AND revoked_at IS NULL AND expires_at > ?`

// factsOf locks a location and reads what holds there for a person; nobody for an empty id.
func (d *DB) factsOf(tx *gorm.DB, locationID, personID string) (*home.MemberFacts, error) {
	if err := d.lockLocation(tx, locationID); err != nil {
		return nil, err
	}
	return d.memberFacts(tx, locationID, personID)
}

// InsertInvitation implements invitation.Store.
func (d *DB) InsertInvitation(ctx context.Context, r invitation.Row, limit int, decide func(home.MemberFacts) error) error {
	return d.tx(ctx, func(tx *gorm.DB) error {
		facts, err := d.factsOf(tx, r.LocationID, r.InvitedBy)
		if err != nil {
			return err
		}
		if err := decide(*facts); err != nil {
			return err
		}
		var n int
		if err := tx.Raw(`SELECT count(*) FROM invitations WHERE location_id = ? AND `+openInvitation, r.LocationID, d.ts(r.CreatedAt)).Scan(&n).Error; err != nil {
			return fmt.Errorf("count invitations: %w", err)
		}
		if n >= limit {
			return invitation.ErrTooMany
		}
		row := invitationRow{ID: r.ID, LocationID: r.LocationID, Role: string(r.Role), Email: r.Email, Mailed: r.Mailed, TokenHash: r.TokenHash,
			InvitedBy: r.InvitedBy, CreatedAt: at(r.CreatedAt), ExpiresAt: at(r.ExpiresAt)}
		if err := tx.Create(&row).Error; err != nil {
			return fmt.Errorf("insert invitation: %w", err)
		}
		return nil
	})
}

func (d *DB) invitations(q *gorm.DB) ([]invitation.Invitation, error) {
	var rows []struct {
		Of                    invitationRow `gorm:"embedded"`
		LocationName, Inviter string
	}
	err := q.Table("invitations i").Select("i.*, l.name AS location_name, u.name AS inviter").
		Joins("JOIN locations l ON l.id = i.location_id AND l.deleted_at IS NULL").
		Joins("JOIN users u ON u.id = i.invited_by AND u.disabled_at IS NULL").Order("i.created_at DESC, i.id DESC").Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("read invitations: %w", err)
	}
	out := make([]invitation.Invitation, len(rows))
	for n, r := range rows {
		out[n] = invitation.Invitation{ID: r.Of.ID, LocationID: r.Of.LocationID, LocationName: r.LocationName, Role: home.Role(r.Of.Role), Email: r.Of.Email,
			Mailed: r.Of.Mailed, InvitedBy: r.Of.InvitedBy, InviterName: r.Inviter, CreatedAt: r.Of.CreatedAt.T, ExpiresAt: r.Of.ExpiresAt.T}
	}
	return out, nil
}

// InvitationsOf implements invitation.Store.
func (d *DB) InvitationsOf(ctx context.Context, locationID string, now time.Time) ([]invitation.Invitation, error) {
	if !isID(locationID) {
		return nil, nil
	}
	return d.invitations(d.r(ctx).Where("i.location_id = ? AND "+openInvitation, locationID, d.ts(now)))
}

// InvitationByHash implements invitation.Store.
func (d *DB) InvitationByHash(ctx context.Context, hash []byte, now time.Time) (*invitation.Invitation, error) {
	return oneInvitation(d.invitations(d.r(ctx).Where("i.token_hash = ? AND "+openInvitation, hash, d.ts(now))))
}

// InvitationByID implements invitation.Store.
func (d *DB) InvitationByID(ctx context.Context, id string, now time.Time) (*invitation.Invitation, error) {
	if !isID(id) {
		return nil, account.ErrLinkGone
	}
	return oneInvitation(d.invitations(d.r(ctx).Where("i.id = ? AND "+openInvitation, id, d.ts(now))))
}

func oneInvitation(list []invitation.Invitation, err error) (*invitation.Invitation, error) {
	if err != nil {
		return nil, err
	}
	if len(list) != 1 {
		return nil, account.ErrLinkGone
	}
	return &list[0], nil
}

// RenewInvitation implements invitation.Store.
func (d *DB) RenewInvitation(ctx context.Context, id string, hash []byte, now time.Time) error {
	return one(d.w(ctx).Exec(`UPDATE invitations SET token_hash = ? WHERE id = ? AND `+openInvitation, hash, id, d.ts(now)), account.ErrLinkGone)
}

// RevokeInvitation implements invitation.Store.
func (d *DB) RevokeInvitation(ctx context.Context, locationID, id string, now time.Time, decide func(home.MemberFacts) error) error {
	if !isID(id) {
		return account.ErrNotFound
	}
	return d.tx(ctx, func(tx *gorm.DB) error {
		facts, err := d.factsOf(tx, locationID, "")
		if err != nil {
			return err
		}
		if err := decide(*facts); err != nil {
			return err
		}
		res := tx.Exec(`UPDATE invitations SET revoked_at = ? WHERE id = ? AND location_id = ? AND `+openInvitation, d.ts(now), id, locationID, d.ts(now))
		return one(res, account.ErrNotFound)
	})
}

// AcceptInvitation implements invitation.Store. The location is locked first, so that two who accept come one after the
// other, and the second finds nothing to take.
func (d *DB) AcceptInvitation(ctx context.Context, i invitation.Invitation, personID string, guest *invitation.Guest, now time.Time, decide invitation.Decide) error {
	return d.tx(ctx, func(tx *gorm.DB) error {
		if guest != nil {
			if err := d.lockSetup(tx); err != nil {
				return err
			}
		}
		if err := d.lockLocation(tx, i.LocationID); errors.Is(err, account.ErrNotFound) {
			return account.ErrLinkGone
		} else if err != nil {
			return err
		}
		if guest != nil {
			if err := d.insertGuest(tx, guest); err != nil {
				return err
			}
		}
		res := tx.Exec(`UPDATE invitations SET accepted_at = ?, accepted_by = ? WHERE id = ? AND `+openInvitation, d.ts(now), personID, i.ID, d.ts(now))
		if err := one(res, account.ErrLinkGone); err != nil {
			return err
		}
		facts, err := d.memberFacts(tx, i.LocationID, personID)
		if err != nil {
			return err
		}
		change, err := decide(*facts)
		if err != nil {
			return err
		}
		return d.applyMembers(tx, i.LocationID, change, now)
	})
}

func (d *DB) insertGuest(tx *gorm.DB, g *invitation.Guest) error {
	if err := d.insertPerson(tx, g.Credentials, account.FirstLocation{}); err != nil {
		return err
	}
	if g.Identity == nil {
		return nil
	}
	fresh, err := d.insertIdentity(tx, *g.Identity)
	if err == nil && !fresh {
		err = account.ErrIdentityTaken
	}
	return err
}

// SweepInvitations removes invitations that are over for a month.
func (d *DB) SweepInvitations(ctx context.Context, now time.Time) error {
	return wrap("sweep invitations", d.w(ctx).Exec(`DELETE FROM invitations WHERE expires_at <= ?`, d.ts(now.Add(-30*24*time.Hour))).Error)
}
