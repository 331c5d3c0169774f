package inventory

import (
	"io"
	"time"

	"gatehouse/app/activity"
	"gatehouse/app/home"
)

// Options are what a Service needs.
type Options struct {
	Store Store
	Now   func() time.Time
	Rand  io.Reader
	// PublicURL begins the addresses of our own pages.
	PublicURL string
}

// Service runs the operations of the inventory.
type Service struct {
	store     Store
	now       func() time.Time
	rand      io.Reader
	publicURL string
}

// New makes a Service.
func New(o Options) *Service {
	return &Service{store: o.Store, now: o.Now, rand: o.Rand, publicURL: o.PublicURL}
}

// At says where an operation may run.
type At struct {
	// LocationID is the location the caller named, empty when they named none.
	LocationID string
	// Available reports whether the caller's door offers the operation at a location. nil means the role decides alone.
	// The principal's own locations are those that exist at that door at all.
	Available func(*home.Access) bool
}

// Now is the service's time, to the millisecond.
func (s *Service) Now() time.Time { return s.now().UTC().Truncate(time.Millisecond) }

// actorOf names who acts for the log (KE-138).
func actorOf(p *home.Principal) activity.Actor {
	a := activity.Actor{Type: activity.ActorUser, UserID: p.UserID, Via: p.Via, IP: p.IP, RequestID: p.RequestID}
	switch p.Actor {
	case home.ActorConnection:
		a.Type, a.ConnectionID = activity.ActorConnection, p.ConnectionID
	case home.ActorToken:
		a.Type, a.TokenID = activity.ActorToken, p.TokenID
	}
	return a
}
