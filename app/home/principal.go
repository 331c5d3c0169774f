package home

import (
	"slices"
	"time"

	"gatehouse/app/toolgrant"
)

// Actor says through what a person acts.
type Actor string

// The ways to act.
const (
	ActorSession    Actor = "session"    // the person in a browser
	ActorConnection Actor = "connection" // an AI app through an approved connection
	ActorToken      Actor = "token"      // a personal token
)

// Scopes of the home resource. Write includes read.
const (
	ScopeRead  = "home:read"
	ScopeWrite = "home:write"
)

// Principal is who acts in one request: a person and the connection, personal token or session they act through, with
// the scopes and locations that hold at this moment. It is read anew for every call and never cached.
type Principal struct {
	UserID       string
	UserName     string
	Actor        Actor
	ConnectionID string
	FamilyID     string
	TokenID      string
	ClientID     string
	Scopes       []string
	// ACR is how strongly and AuthTime when the person signed in who approved the connection; zero when that is not known.
	ACR      string
	AuthTime time.Time
	// HiddenTools are tools the person unticked for this connection.
	HiddenTools []string
	// Tools is what may be called of the tools that the scopes allow; nil takes nothing away.
	Tools *toolgrant.Grant
	// Locations are those in the principal's list that the person is a member of now.
	Locations []Access
	IP        string
	RequestID string
	// Via is the door: web, rest, mcp, console.
	Via string
}

// Access is a principal's standing in one location.
type Access struct {
	LocationID string
	Name       string
	Role       Role
	TimeZone   string
	Currency   string
	Currencies []string
	// ViewerSeesMoney opens money to viewers.
	ViewerSeesMoney bool
	// Modules are the effective modules: enabled, and everything they need enabled too.
	Modules []string
}

// CanRead reports whether the principal holds read.
func (p *Principal) CanRead() bool {
	return p.Actor == ActorSession || slices.Contains(p.Scopes, ScopeRead) || p.CanWrite()
}

// CanWrite reports whether the principal holds write.
func (p *Principal) CanWrite() bool {
	return p.Actor == ActorSession || slices.Contains(p.Scopes, ScopeWrite)
}

// At returns the principal's standing in a location, or nil when there is none.
func (p *Principal) At(locationID string) *Access {
	for i := range p.Locations {
		if p.Locations[i].LocationID == locationID {
			return &p.Locations[i]
		}
	}
	return nil
}

// HasModule reports whether a module is effective at the location. The empty module is the core, always on.
func (a *Access) HasModule(module string) bool {
	return module == "" || slices.Contains(a.Modules, module)
}
