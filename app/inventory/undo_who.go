package inventory

import (
	"slices"

	"gatehouse/app/activity"
	"gatehouse/app/home"
)

// mayCallUndo refuses who can undo nothing at all: an app acting through a connection (KE-77), and a key that may only
// read.
func mayCallUndo(p *home.Principal) error {
	switch {
	case p.Actor == home.ActorConnection:
		return undoForbidden()
	case !p.CanWrite():
		return tokenScope()
	}
	return nil
}

// mayUndo reports whether the principal may undo an entry, whatever its state: the person who made it, through whatever
// they acted, while their role still grants the action; an owner or admin anybody's; a personal token only its own.
func mayUndo(p *home.Principal, e activity.Record) bool {
	a := p.At(e.LocationID)
	if p.Actor == home.ActorToken && e.Actor.TokenID != p.TokenID {
		return false
	}
	if home.Can(a, home.AuditUndoAny) {
		return true
	}
	u, known := undoers[e.Action]
	return e.Actor.UserID == p.UserID && home.CanOwn(a, home.AuditUndoOwn) && (!known || home.CanOwn(a, u.grants))
}

// undoer undoes the entries of one action.
type undoer struct {
	// grants is the action of a role that the entry was made by.
	grants home.Action
	// prepare checks that the entry can be undone now and says how. It changes nothing.
	prepare func(*undoing, activity.Record) (*restoration, error)
}

// undoers are all actions that can be undone. An entry of another action never is.
var undoers map[string]undoer

func init() {
	undoers = map[string]undoer{
		"thing.create":    {home.ThingEdit, (*undoing).createdThing},
		"thing.update":    {home.ThingEdit, (*undoing).changedThing},
		"thing.retype":    {home.ThingEdit, (*undoing).changedThing},
		"thing.move":      {home.ThingEdit, (*undoing).changedThing},
		"thing.tags":      {home.ThingEdit, (*undoing).changedThing},
		"thing.minimum":   {home.ThingEdit, (*undoing).changedThing},
		"thing.split":     {home.ThingEdit, (*undoing).splitThing},
		"purchase.create": {home.ThingEdit, (*undoing).createdPurchase},
		"purchase.update": {home.ThingEdit, (*undoing).changedPurchase},
		"place.create":    {home.PlaceEdit, (*undoing).createdPlace},
	}
}

// undoable reports whether entries like this one can be undone at all: the action has a way back, and no secret is in it.
func undoable(e activity.Record) bool {
	_, known := undoers[e.Action]
	return known && e.UndoUntil != nil && e.CompanionOf == "" && !slices.ContainsFunc(e.Changes, func(c activity.Change) bool { return c.Secret })
}
