package oauth

// Grant management: FAPI "Grant Management for OAuth 2.0" draft-03, §5 (authorization request), §6 (the API), §7
// (metadata).
//
// A grant is a connection, and its grant_id the connection's id, which opens nothing: whoever asks for a grant brings an
// access token with the scope for it, and sees only what the same client was granted by the same person. The scopes are
// reserved (Scope.Reserved): people are asked for them like for any other, and only clients that an administrator entered
// can ask.

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Scopes of the grant management API.
const (
	ScopeGrantQuery  = "grant_management_query"
	ScopeGrantRevoke = "grant_management_revoke"
)

// PathGrants is where the grants are; a grant's id follows after a slash.
const PathGrants = "/grants"

// Actions of grant_management_action.
const (
	// GrantCreate makes a new connection; the living one of the same person, client and resource ends with it.
	GrantCreate = "create"
	// GrantMerge adds to a connection what the person allows.
	GrantMerge = "merge"
	// GrantReplace puts what the person allows into the place of what a connection holds.
	GrantReplace = "replace"
)

// managesGrants reports whether any resource has the scope.
func (s *Server) managesGrants(scope string) bool {
	return slices.ContainsFunc(s.cfg.Resources, func(r Resource) bool { return r.Known(scope) })
}

// grantActions are grant_management_actions_supported.
func (s *Server) grantActions() []string {
	var actions []string
	if s.managesGrants(ScopeGrantQuery) {
		actions = append(actions, "query")
	}
	if s.managesGrants(ScopeGrantRevoke) {
		actions = append(actions, "revoke")
	}
	return append(actions, GrantCreate, GrantMerge, GrantReplace)
}

// checkGrantAction reads grant_management_action and grant_id. Whether the person is the grant's own is checked once
// somebody is signed in.
func (s *Server) checkGrantAction(ctx context.Context, r *checkedRequest, params url.Values) *Error {
	action, id := params.Get("grant_management_action"), params.Get("grant_id")
	switch action {
	case "":
		if id != "" {
			return InvalidRequest("A grant_id needs a grant_management_action.").WithCheck("grant_id")
		}
		return nil
	case GrantCreate:
		if id != "" {
			return InvalidRequest("With grant_management_action=create there is no grant_id.").WithCheck("grant_id")
		}
		r.grantAction = action
		return nil
	case GrantMerge, GrantReplace:
	default:
		return InvalidRequest("The grant_management_action must be create, merge or replace.").WithCheck("grant_management_action")
	}
	if id == "" {
		return InvalidRequest("The grant_id is missing.").WithCheck("grant_id")
	}
	connection, err := s.stores.Tokens.Grant(ctx, id)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return storeFailure("read grant", err)
	}
	if err != nil || !s.lives(connection) || connection.ClientID != r.client.ID || connection.Resource != r.resource.URI {
		return unknownGrant()
	}
	r.grantAction, r.grant = action, connection
	return nil
}

func (s *Server) lives(c *Connection) bool {
	return c.EndedAt == nil && (c.ExpiresAt == nil || c.ExpiresAt.After(s.now()))
}

// unknownGrant is one answer for every grant that is not there for the one who asks.
func unknownGrant() *Error {
	return InvalidGrantID("The grant_id is not that of a living grant of this client and person.").WithCheck("grant_id")
}

// checkGrantOwner refuses a grant of somebody else.
func (r *checkedRequest) checkGrantOwner(who ResourceOwner) error {
	if r.grant != nil && who.SignedIn() && r.grant.UserID != who.UserID {
		return r.redirectError(unknownGrant())
	}
	return nil
}

// GrantView is the answer to a query of a grant (draft-03 §6.3).
type GrantView struct {
	Scopes               []GrantedScope  `json:"scopes"`
	AuthorizationDetails json.RawMessage `json:"authorization_details,omitempty"`
}

// GrantedScope is a scope value with the resources it holds at.
type GrantedScope struct {
	Scope    string   `json:"scope"`
	Resource []string `json:"resource"`
}

// GrantAccess is the access token of a request to the grant management API as it came: the scheme of the Authorization
// field, the token, and the proof that goes with the scheme DPoP.
type GrantAccess struct {
	Scheme string
	Token  string
	Proof  ProofRequest
}

// QueryGrant says what a grant holds now. The error is an *Error; a grant that is not the caller's is not found.
func (s *Server) QueryGrant(ctx context.Context, id string, access GrantAccess) (*GrantView, error) {
	connection, _, e := s.managedGrant(ctx, id, access, ScopeGrantQuery)
	if e != nil {
		return nil, e
	}
	return &GrantView{
		Scopes:               []GrantedScope{{Scope: formatScope(connection.Scopes), Resource: []string{connection.Resource}}},
		AuthorizationDetails: connection.Details,
	}, nil
}

// RevokeGrant ends a grant with everything it issued and gives what it was. The error is an *Error.
func (s *Server) RevokeGrant(ctx context.Context, id string, access GrantAccess) (*Connection, error) {
	connection, token, e := s.managedGrant(ctx, id, access, ScopeGrantRevoke)
	if e != nil {
		return nil, e
	}
	ctx, cancel := finish(ctx)
	defer cancel()
	ended, err := s.stores.Tokens.EndConnection(ctx, connection.ID, EndedByClient, s.now())
	if err != nil {
		return nil, storeFailure("end connection", err)
	}
	if ended {
		s.observe(ctx, Step{
			Name: StepTokenRevoked, OK: true, ClientID: token.ClientID, UserID: connection.UserID,
			ConnectionID: connection.ID, Detail: "grant management: the connection has ended",
		})
	}
	return connection, nil
}

// managedGrant finds the living grant that a token with the scope may manage.
func (s *Server) managedGrant(ctx context.Context, id string, access GrantAccess, scope string) (*Connection, *AccessToken, *Error) {
	token, e := s.grantToken(ctx, access, scope)
	if e != nil {
		return nil, nil, e
	}
	connection, err := s.stores.Tokens.Grant(ctx, id)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return nil, nil, storeFailure("read grant", err)
	}
	if err != nil || !s.lives(connection) || connection.ClientID != token.ClientID || connection.UserID != token.Subject {
		missing := unknownGrant()
		missing.Status = http.StatusNotFound
		return nil, nil, missing
	}
	return connection, token, nil
}

// grantToken checks a token of any of the resources: signature, possession, and that what it stands on still has the
// scope.
func (s *Server) grantToken(ctx context.Context, access GrantAccess, scope string) (*AccessToken, *Error) {
	bound := strings.EqualFold(access.Scheme, "DPoP")
	if access.Token == "" || !bound && !strings.EqualFold(access.Scheme, "Bearer") {
		e := InvalidToken("Send an access token in the Authorization field.").WithCheck("token")
		e.Challenge = "Bearer"
		return nil, e
	}
	token, e := s.verifySigned(ctx, access.Token)
	switch {
	case e != nil:
	case bound:
		e = s.checkPossession(ctx, token, access.Token, access.Proof)
	case token.KeyThumbprint != "":
		e = InvalidToken("The token is bound to a key. Send it with the DPoP scheme and a proof.").WithCheck("cnf")
	}
	if e == nil {
		e = s.checkGrantScope(ctx, token, scope)
	}
	if e == nil {
		return token, nil
	}
	if e.Code == "invalid_dpop_proof" {
		e.Status = http.StatusUnauthorized
	}
	if e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden { // RFC 6750 §3, RFC 9449 §7.1
		name := "Bearer"
		if bound {
			name = "DPoP"
		}
		e.Challenge = name + ` error="` + e.Code + `", error_description="` + e.Description + `"`
		if e.Status == http.StatusForbidden {
			e.Challenge += `, scope="` + scope + `"`
		}
	}
	return nil, e
}

func (s *Server) checkGrantScope(ctx context.Context, token *AccessToken, scope string) *Error {
	standing, err := s.stores.Tokens.Standing(ctx, token.ConnectionID, token.FamilyID, token.ID)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return storeFailure("read what a token stands on", err)
	}
	if err != nil || standing.Ended || standing.ExpiresAt != nil && !standing.ExpiresAt.After(s.now()) {
		return InvalidToken("The connection behind this token has ended.").WithCheck("ended")
	}
	if !slices.Contains(standing.Scopes, scope) || token.Narrowed && !slices.Contains(token.Scopes, scope) {
		return InsufficientScope("The token has not the scope that this needs.").WithCheck("scope")
	}
	return nil
}
