package home

import "gatehouse/app/account"

// MayInvite decides whether somebody may invite into a role of a location.
func MayInvite(f MemberFacts, actorID string, role Role) error {
	if err := mayManage(f.role(actorID), role); err != nil {
		return err
	}
	if len(f.Members) >= maxMembers {
		return account.Refuse(account.CodeLimitReached, "", "A location has at most 50 members.")
	}
	return nil
}

// JoinInvited decides what becomes of a person who accepts an invitation. Whoever invited must still be allowed to.
func JoinInvited(f MemberFacts, inviterID, personID string, role Role) (MemberChange, error) {
	switch {
	case f.role(personID) != "":
		return MemberChange{}, account.Refuse(account.CodeConflict, "", "You are a member of this location already.")
	case mayManage(f.role(inviterID), role) != nil:
		return MemberChange{}, account.ErrLinkGone
	}
	return join(f, inviterID, personID, role)
}

// join makes a person a member, as far as there is room.
func join(f MemberFacts, inviterID, personID string, role Role) (MemberChange, error) {
	switch {
	case !f.PersonKnown:
		return MemberChange{}, account.Refuse(account.CodeNotFound, "user_id", "There is no such person.")
	case f.role(personID) != "":
		return MemberChange{}, account.Refuse(account.CodeConflict, "user_id", "This person is a member already.")
	case len(f.Members) >= maxMembers:
		return MemberChange{}, account.Refuse(account.CodeLimitReached, "", "A location has at most 50 members.")
	case f.PersonLocations >= maxLocations:
		return MemberChange{}, ErrTooManyLocations
	}
	return MemberChange{Add: &MemberOf{UserID: personID, Role: role, InvitedBy: inviterID}}, nil
}

// Located says which operation failed, and turns a store's missing location into the answer about one.
func Located(what string, err error) error { return located(what, err) }
