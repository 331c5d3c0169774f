package connection

import (
	"context"
	"slices"

	"gatehouse/oauth"
)

// NewGrant is access that an administrator gives a client for a person, without a consent page.
type NewGrant struct {
	ClientID, UserID, Resource string
	Scopes                     []string
	Locations                  []string
}

// Grants writes connections by an administrator's word. The person sees and ends them like any other.
type Grants struct {
	Store Store
	// Write is oauth.Server.GrantByAdmin.
	Write   func(ctx context.Context, a oauth.Approval) (*oauth.Connection, error)
	Located func(resource string) bool
}

// Give writes the connection and gives its id.
func (g *Grants) Give(ctx context.Context, n NewGrant) (string, error) {
	if len(n.Scopes) == 0 {
		return "", invalid("scopes", "Say what the client may do.")
	}
	t := Terms{}
	if g.Located(n.Resource) {
		if len(n.Locations) == 0 {
			return "", invalid("locations", "Say at which locations the client may act.")
		}
		theirs, err := g.Store.MemberLocations(ctx, n.UserID)
		if err != nil {
			return "", err
		}
		for _, id := range n.Locations {
			if !slices.ContainsFunc(theirs, func(l Location) bool { return l.ID == id }) {
				return "", invalid("locations", "The person does not belong to one of the locations.")
			}
		}
		t.Locations = n.Locations
	}
	terms, err := t.Encode()
	if err != nil {
		return "", err
	}
	c, err := g.Write(ctx, oauth.Approval{UserID: n.UserID, ClientID: n.ClientID, Resource: n.Resource, Scopes: n.Scopes, Terms: terms})
	if err != nil {
		return "", err
	}
	return c.ID, nil
}
