package connection

import (
	"context"
	"encoding/json"
	"slices"
	"time"

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
	Now     func() time.Time
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
	// What the person took away from a connection that lives stays so.
	details, err := g.kept(ctx, n, &t)
	if err != nil {
		return "", err
	}
	terms, err := t.Encode()
	if err != nil {
		return "", err
	}
	c, err := g.Write(ctx, oauth.Approval{UserID: n.UserID, ClientID: n.ClientID, Resource: n.Resource, Scopes: n.Scopes, Terms: terms, Details: details})
	if err != nil {
		return "", err
	}
	return c.ID, nil
}

// kept reads the tools that are hidden and limited in the live connection, if there is one.
func (g *Grants) kept(ctx context.Context, n NewGrant, t *Terms) (json.RawMessage, error) {
	list, err := g.Store.ListConnections(ctx, Filter{UserID: n.UserID, ClientID: n.ClientID}, g.Now())
	if err != nil {
		return nil, err
	}
	for i := range list {
		if list[i].Resource == n.Resource {
			t.HiddenTools = list[i].HiddenTools
			return list[i].Tools.Details(n.Resource)
		}
	}
	return nil, nil
}
