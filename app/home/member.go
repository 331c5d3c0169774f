package home

import (
	"context"
	"fmt"
	"slices"
	"time"

	"gatehouse/app/account"
)

// maxMembers is how many people can belong to a location.
const maxMembers = 50

// MemberOf is one person in a location.
type MemberOf struct {
	UserID   string
	Name     string
	Role     Role
	JoinedAt time.Time
	// InvitedBy is who brought the person in; empty for the founder.
	InvitedBy string
}

// MemberFacts are what holds in a location at the moment of a change.
type MemberFacts struct {
	// Members are all, in the order of joining.
	Members []MemberOf
	// PersonKnown reports whether the person the change is about can sign in, and PersonLocations how many locations
	// they belong to.
	PersonKnown     bool
	PersonLocations int
}

func (f *MemberFacts) role(userID string) Role {
	for _, m := range f.Members {
		if m.UserID == userID {
			return m.Role
		}
	}
	return ""
}

// MemberChange is what to do to the members of a location. Roles are set in order.
type MemberChange struct {
	Add    *MemberOf
	Roles  []MemberOf
	Remove string
}

// MemberStore keeps memberships.
type MemberStore interface {
	// ChangeMembers locks the location and the person, hands decide what holds, and makes the change, in one step. An error
	// of decide changes nothing and comes back as it is; a location that is not there gives account.ErrNotFound.
	//
	// With a membership goes what acted through it: the location leaves the person's personal tokens and connections, and
	// those left without a location end.
	ChangeMembers(ctx context.Context, locationID, personID string, at time.Time, decide func(MemberFacts) (MemberChange, error)) error
	// MembersOf lists the members of a location that is not deleted, in the order of joining.
	MembersOf(ctx context.Context, locationID string) ([]MemberOf, error)
}

// Members lists who belongs to a location, for one of them.
func (s *Service) Members(ctx context.Context, actorID, locationID string) ([]MemberOf, error) {
	list, err := s.store.MembersOf(ctx, locationID)
	if err != nil {
		return nil, fmt.Errorf("list members: %w", err)
	}
	if !slices.ContainsFunc(list, func(m MemberOf) bool { return m.UserID == actorID }) {
		return nil, errNoLocation()
	}
	return list, nil
}

// AddMember makes a person a member, in a role below owner.
func (s *Service) AddMember(ctx context.Context, actorID, locationID, personID string, role Role) error {
	if !role.Valid() || role == Owner {
		return account.Refuse(account.CodeValidation, "role", "must be admin, member or viewer")
	}
	return s.change(ctx, "add member", locationID, personID, func(f MemberFacts) (MemberChange, error) {
		if err := mayManage(f.role(actorID), role); err != nil {
			return MemberChange{}, err
		}
		return join(f, actorID, personID, role)
	})
}

// ChangeRole gives a member another role below owner. Roles are read on every call, so it holds from the next one.
func (s *Service) ChangeRole(ctx context.Context, actorID, locationID, personID string, role Role) error {
	if !role.Valid() || role == Owner {
		return account.Refuse(account.CodeValidation, "role", "must be admin, member or viewer")
	}
	return s.change(ctx, "change role", locationID, personID, func(f MemberFacts) (MemberChange, error) {
		if err := mayTouch(f, actorID, personID); err != nil {
			return MemberChange{}, err
		}
		if err := mayManage(f.role(actorID), role); err != nil {
			return MemberChange{}, err
		}
		return MemberChange{Roles: []MemberOf{{UserID: personID, Role: role}}}, nil
	})
}

// RemoveMember takes a person out of a location; everybody but the owner may take themselves out.
func (s *Service) RemoveMember(ctx context.Context, actorID, locationID, personID string) error {
	return s.change(ctx, "remove member", locationID, personID, func(f MemberFacts) (MemberChange, error) {
		leaving := actorID == personID && f.role(actorID) != "" && f.role(actorID) != Owner
		if !leaving {
			if err := mayTouch(f, actorID, personID); err != nil {
				return MemberChange{}, err
			}
		}
		return MemberChange{Remove: personID}, nil
	})
}

// TransferLocation makes another member the owner; the old owner becomes admin.
func (s *Service) TransferLocation(ctx context.Context, actorID, locationID, personID string) error {
	return s.change(ctx, "transfer location", locationID, personID, func(f MemberFacts) (MemberChange, error) {
		switch {
		case f.role(actorID) == "":
			return MemberChange{}, errNoLocation()
		case GrantOf(f.role(actorID), LocationTransfer) != GrantFull:
			return MemberChange{}, errForbidden("Only the owner can hand a location over.")
		case f.role(personID) == "" || !f.PersonKnown || personID == actorID:
			return MemberChange{}, account.Refuse(account.CodeNotFound, "user_id", "There is no such other member.")
		}
		// The old owner first: a location never has two.
		return MemberChange{Roles: []MemberOf{{UserID: actorID, Role: Admin}, {UserID: personID, Role: Owner}}}, nil
	})
}

func (s *Service) change(ctx context.Context, what, locationID, personID string, decide func(MemberFacts) (MemberChange, error)) error {
	return located(what, s.store.ChangeMembers(ctx, locationID, personID, s.at(), decide))
}

// mayTouch decides whether the actor may change or remove a member as they are now.
func mayTouch(f MemberFacts, actorID, personID string) error {
	role := f.role(personID)
	switch {
	case f.role(actorID) == "":
		return errNoLocation()
	case role == "" && GrantOf(f.role(actorID), MemberManage) == GrantFull:
		return account.Refuse(account.CodeNotFound, "user_id", "There is no such member.")
	case role == Owner && actorID == personID:
		return account.Refuse(account.CodeLastOwner, "", "A location always has an owner: hand it over first.")
	case role == Owner:
		return errForbidden("Nobody but the owner decides about the owner.")
	}
	return mayManage(f.role(actorID), role)
}

// mayManage decides whether an actor of one role may manage members of another.
func mayManage(actor, role Role) error {
	action := MemberManage
	if role == Admin {
		action = AdminManage
	}
	switch {
	case actor == "":
		return errNoLocation()
	case GrantOf(actor, action) != GrantFull:
		return errForbidden("Your role in this location does not allow this.")
	}
	return nil
}
