package connection

import (
	"context"
	"time"

	"gatehouse/app/toolgrant"
)

// Connection is one approval: one person, one app, one resource.
type Connection struct {
	ID        string
	UserID    string
	UserName  string
	UserEmail string
	Client    Client
	// Resource is the endpoint it was approved for.
	Resource    string
	Scopes      []string
	Locations   []Location
	HiddenTools []string
	// Tools is what may be called of the tools that the scopes allow; nil takes nothing away.
	Tools     *toolgrant.Grant
	CreatedAt time.Time
	UpdatedAt time.Time
	// LastUsed is the latest use of any installation; nil when there was none.
	LastUsed    *Use
	ExpiresAt   *time.Time
	EndedAt     *time.Time
	EndedReason string
	// Installations are the copies of the app that hold tokens of their own, the newest first.
	Installations []Installation
}

// Live reports whether calls through the connection are answered.
func (c *Connection) Live(now time.Time) bool {
	return c.EndedAt == nil && (c.ExpiresAt == nil || c.ExpiresAt.After(now))
}

// Over is when a connection that is not live ended or expired, whichever came first.
func (c *Connection) Over() time.Time {
	switch {
	case c.EndedAt == nil && c.ExpiresAt == nil:
		return time.Time{}
	case c.EndedAt == nil || c.ExpiresAt != nil && c.ExpiresAt.Before(*c.EndedAt):
		return *c.ExpiresAt
	}
	return *c.EndedAt
}

// Client is the app of a connection. Name is what it calls itself; Host is proven for kind document.
type Client struct {
	ID      string
	Name    string
	Kind    string // dynamic, document, registered; empty when the app's registration is gone
	Host    string
	Blocked bool
}

// Location is a location that a connection reaches now.
type Location struct {
	ID   string
	Name string
}

// Use is one use: when, from where, for what.
type Use struct {
	At time.Time
	IP string
	// Tool is empty when the call was none of a tool.
	Tool string
}

// Installation is one copy of an app under a connection.
type Installation struct {
	ID          string
	DeviceHint  string
	FirstSeenAt time.Time
	LastUsed    *Use
	EndedAt     *time.Time
	EndedReason string
}

// Filter says which connections to list. Empty fields do not narrow.
type Filter struct {
	UserID   string
	ID       string
	ClientID string
	// Client is a client's id or a part of its name; Host the verified host of its description.
	Client, Host string
	// Ended lists those that have ended or expired too.
	Ended bool
	// Limit is the greatest number listed; zero means all. Offset skips as many before.
	Limit, Offset int
}

// Edit is a change to a connection: the whole new state of what may be changed.
type Edit struct {
	Scopes []string
	Terms  Terms
	Tools  *toolgrant.Grant
	// ExpiresAt ends the connection; nil means until ended.
	ExpiresAt *time.Time
}

// Reasons for an end that this package gives.
const (
	EndedByUser  = "user"
	EndedByAdmin = "admin"
)

// Store keeps connections. Where userID is empty anybody's connection is meant. ErrNotFound for what is not there, is
// somebody else's, or has ended.
type Store interface {
	// ListConnections lists connections, the newest first.
	ListConnections(ctx context.Context, f Filter, now time.Time) ([]Connection, error)
	// EditConnection replaces scopes, terms, tools (written for the resource) and end of a live connection of the person, in one step.
	EditConnection(ctx context.Context, userID, id string, e Edit, resource string, now time.Time) error
	// CloseConnection ends a live connection.
	CloseConnection(ctx context.Context, userID, id, reason string, now time.Time) error
	// CloseInstallation ends one living installation.
	CloseInstallation(ctx context.Context, userID, id, reason string, now time.Time) error
	// MemberLocations lists the locations the person belongs to.
	MemberLocations(ctx context.Context, userID string) ([]Location, error)
}
