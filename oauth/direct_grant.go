package oauth

// Grants without a code: OAuth 2.1 §4.2 (client credentials) and what RFC 7523 §2.1 has in common with it. Both stand on a
// connection like every other token: a person, a client, a resource. An administrator writes it, or an issuer that is
// trusted vouches for the person; the person sees it and ends it like any other.

import (
	"context"
	"errors"
	"slices"
	"time"
)

// Grant types beside the code and the refresh token (OAuth 2.1 §4.2, RFC 8628 §3.4, RFC 7523 §2.1).
const (
	GrantClientCredentials = "client_credentials"
	GrantDeviceCode        = "urn:ietf:params:oauth:grant-type:device_code"
	GrantJWTBearer         = "urn:ietf:params:oauth:grant-type:jwt-bearer"
)

// DirectGrant is a live connection and the family that direct grants of one kind share under it.
type DirectGrant struct {
	Connection Connection
	FamilyID   string
}

// NewGrant is a connection to write without a code.
type NewGrant struct {
	Approval Approval
	// Origin names what the family stands on: GrantClientCredentials or AssertionOrigin. Without it none is made.
	Origin string
	At     time.Time
	// NewConnectionID and NewFamilyID are used where there is none yet.
	NewConnectionID, NewFamilyID string
	DeviceHint                   string
	// Replace is the word of an administrator: a live connection takes the approval on, and what was ended by hand before is
	// no hindrance from now on. Without it a live connection stays as it is.
	Replace bool
}

// GrantStore keeps connections that no code led to.
type GrantStore interface {
	// MachineGrant returns the live grant of a client that acts by its own credentials at a resource: connection and family
	// have not ended and the person may sign in. Otherwise ErrNotFound.
	MachineGrant(ctx context.Context, clientID, resource string, at time.Time) (*DirectGrant, error)
	// WriteGrant finds or makes connection and family, in one transaction. Without Replace it gives ErrEnded when the person
	// or an administrator ended the latest connection of person, client and resource by hand, or its family of this origin.
	// A disabled person gives ErrEnded too. A machine acts for one person at a resource: with Replace and the origin
	// client_credentials, the client's connections of that origin for others end.
	WriteGrant(ctx context.Context, g NewGrant) (*DirectGrant, error)
}

// ClientSubject is the subject of tokens that a client got by its own credentials. It cannot be mistaken for a person
// (RFC 9068 §5): ids of persons have no colon.
func ClientSubject(clientID string) string { return "client:" + clientID }

// grantTypes lists the grants that work with these stores.
func (s *Server) grantTypes() []string {
	types := []string{GrantAuthorizationCode, GrantRefreshToken}
	if s.stores.Grants != nil {
		types = append(types, GrantClientCredentials)
	}
	if s.devicesOn() {
		types = append(types, GrantDeviceCode)
	}
	if s.assertionsOn() {
		types = append(types, GrantJWTBearer)
	}
	return types
}

// mayUse reports whether the client may use a grant that is offered. The device grant has a switch of its own, since
// clients do not decide about it.
func mayUse(client *Client, grant string) *Error {
	allowed := client.HasGrantType(grant)
	switch grant {
	case GrantDeviceCode:
		allowed = client.DeviceGrant
	case GrantRefreshToken:
		allowed = allowed || client.DeviceGrant
	case GrantClientCredentials, GrantJWTBearer:
		if client.Public() {
			return UnauthorizedClient("Only a client that proves itself may use this grant.").WithCheck("grant_type")
		}
	}
	if !allowed {
		return UnauthorizedClient("The client is not registered for this grant.").WithCheck("grant_type")
	}
	return nil
}

// clientCredentials answers a client that acts by its own credentials (OAuth 2.1 §4.2). There is no refresh token: the
// client can come again.
func (s *Server) clientCredentials(ctx context.Context, client *Client, request tokenRequest) (*TokenResponse, *tokenGrant, error) {
	asked, err := parseScope(request.scope)
	if err != nil {
		return nil, nil, storeFailure("parse scope", err)
	}
	resource, e := s.resolveResource(request.resources, asked)
	if e != nil {
		return nil, nil, e
	}
	grant := &tokenGrant{clientID: client.ID, resource: resource, keyThumbprint: request.keyThumbprint}
	found, err := s.stores.Grants.MachineGrant(ctx, client.ID, resource.URI, s.now())
	if errors.Is(err, ErrNotFound) {
		return nil, grant, InvalidGrant("Nobody lets this client act for them at this resource, or no longer.").WithCheck("connection_ended")
	}
	if err != nil {
		return nil, grant, storeFailure("find grant of client", err)
	}
	grant.take(found)
	if e := grant.limit(asked); e != nil {
		return nil, grant, e
	}
	if e := s.narrowDetails(grant, request.details, nil); e != nil {
		return nil, grant, e
	}
	grant.subject = ClientSubject(client.ID)
	response, e := s.respond(ctx, grant, "")
	if e != nil {
		return nil, grant, e
	}
	return response, grant, nil
}

// take puts what a direct grant stands on into the basis of its token.
func (g *tokenGrant) take(found *DirectGrant) {
	g.userID, g.connectionID, g.familyID = found.Connection.UserID, found.Connection.ID, found.FamilyID
	g.scopes, g.ends, g.details = found.Connection.Scopes, found.Connection.ExpiresAt, found.Connection.Details
}

// limit narrows the token to the scopes asked for. Those that the connection does not have fall away as long as one is
// left (RFC 6749 §3.3); the answer states what was given.
func (g *tokenGrant) limit(asked []string) *Error {
	asked = slices.DeleteFunc(slices.Clone(asked), func(s string) bool { return s == ScopeOfflineAccess })
	if len(asked) == 0 {
		return nil
	}
	asked = g.resource.expand(asked)
	kept := keep(g.scopes, asked...)
	if len(kept) == 0 {
		return InvalidScope("None of the requested scopes is granted to this client.").WithCheck("scope")
	}
	g.narrowed = len(kept) < len(g.scopes)
	g.scopes = kept
	return nil
}

// GrantByAdmin writes a connection for a client that needs no consent page: a machine that acts by its own credentials, or
// a client of a trusted issuer whose connection somebody had ended. Errors are *Error.
func (s *Server) GrantByAdmin(ctx context.Context, a Approval) (*Connection, error) {
	client, err := s.lookupClient(ctx, a.ClientID, false)
	if err != nil {
		return nil, storeFailure("look up client", err)
	}
	origin := ""
	if client.HasGrantType(GrantClientCredentials) {
		origin = GrantClientCredentials
	} else if e := mayUse(client, GrantJWTBearer); e != nil {
		return nil, e
	}
	resource := s.matchResource(a.Resource)
	if resource == nil {
		return nil, InvalidTarget("The resource is unknown or malformed.").WithCheck("resource")
	}
	a.Resource, a.Scopes = resource.URI, resource.own(a.Scopes)
	if len(a.Scopes) == 0 {
		return nil, InvalidScope("None of the scopes is known for this resource.").WithCheck("scope")
	}
	grant, e := s.writeGrant(ctx, NewGrant{Approval: a, Origin: origin, Replace: true, DeviceHint: "entered by an administrator"})
	if e != nil {
		return nil, e
	}
	return &grant.Connection, nil
}

// own gives the scopes that are the resource's own, with all that they include: who somebody is, and what is reserved, takes
// their consent.
func (r *Resource) own(scopes []string) []string {
	return slices.DeleteFunc(r.expand(scopes), func(name string) bool { return r.IsIdentity(name) || r.reserved(name) })
}

// writeGrant gives the grant its ids and stores it.
func (s *Server) writeGrant(ctx context.Context, g NewGrant) (*DirectGrant, *Error) {
	g.At = s.now()
	var err error
	if g.NewConnectionID, err = newUUID(s.cfg.Rand, g.At); err != nil {
		return nil, ServerError(err)
	}
	if g.NewFamilyID, err = newUUID(s.cfg.Rand, g.At); err != nil {
		return nil, ServerError(err)
	}
	ctx, cancel := finish(ctx)
	defer cancel()
	grant, err := s.stores.Grants.WriteGrant(ctx, g)
	if errors.Is(err, ErrEnded) {
		return nil, InvalidGrant("This access was ended by the person or an administrator.").WithCheck("connection_ended")
	}
	if err != nil {
		return nil, storeFailure("write grant", err)
	}
	return grant, nil
}

// readClient reads the metadata of a registration. An administrator may also enter clients for grants that clients cannot
// give themselves; without the code grant they need no redirect URI.
func (s *Server) readClient(m clientMetadata, admin bool) (*Client, error) {
	if !admin {
		return m.client(s.redirectExceptions())
	}
	grants, err := m.list("grant_types")
	if err != nil {
		return nil, err
	}
	direct := keep(grants, GrantClientCredentials, GrantDeviceCode, GrantJWTBearer)
	if len(direct) == 0 || slices.Contains(grants, GrantAuthorizationCode) {
		c, err := m.client(s.redirectExceptions())
		if err != nil {
			return nil, err
		}
		c.GrantTypes = append(c.GrantTypes, direct...)
		return c, nil
	}
	c := &Client{GrantTypes: direct}
	if slices.Contains(direct, GrantDeviceCode) {
		c.GrantTypes = append(c.GrantTypes, GrantRefreshToken)
	}
	for _, read := range []func(*Client) error{m.readTexts, m.readURIs, m.readKeys, m.readPushed, m.readBinding} {
		if err := read(c); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// checkDirect refuses grants that the client could never use.
func checkDirect(c *Client) error {
	if c.Public() && (c.HasGrantType(GrantClientCredentials) || c.HasGrantType(GrantJWTBearer)) {
		return InvalidClientMetadata("A client with this grant needs a secret or keys.").WithCheck("grant_types")
	}
	return nil
}
