package oauth

// Token introspection: RFC 7662 §2.1 (request), §2.2 (answer), §4 (what a caller may see); RFC 9701 §4, §5 (the answer as
// a JWT).
//
// A client that proves itself may ask about the tokens that were issued to it; about any other it hears what it would
// hear of a random string. Resource servers need no introspection here: they verify and read the connection themselves.

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"
)

// IntrospectionJWT is the media type of the signed answer; typeIntrospection is its typ (RFC 9701 §5).
const (
	IntrospectionJWT  = "application/" + typeIntrospection
	typeIntrospection = "token-introspection+jwt"
)

// Introspection is the answer of the introspection endpoint. When Active is false, nothing else is set.
type Introspection struct {
	Active bool `json:"active"`
	// Scope is what the token is good for at this moment, which may differ from what it was issued with.
	Scope     string `json:"scope,omitempty"`
	ClientID  string `json:"client_id,omitempty"`
	TokenType string `json:"token_type,omitempty"`
	ExpiresAt int64  `json:"exp,omitempty"`
	IssuedAt  int64  `json:"iat,omitempty"`
	Subject   string `json:"sub,omitempty"`
	Audience  string `json:"aud,omitempty"`
	Issuer    string `json:"iss,omitempty"`
	ID        string `json:"jti,omitempty"`
	// AuthorizationDetails are what the token is good for at this moment (RFC 9396 §9.2).
	AuthorizationDetails json.RawMessage `json:"authorization_details,omitempty"`
	// Confirmation is the key that the token is bound to (RFC 9449 §6.2).
	Confirmation *confirmation `json:"cnf,omitempty"`

	// ACR and AuthTime say how strongly and when the person signed in (RFC 9470 §6.2).
	ACR      string `json:"acr,omitempty"`
	AuthTime int64  `json:"auth_time,omitempty"`

	caller string
}

// Standing is what an access token stands on, as it is now.
type Standing struct {
	// Ended says that connection, family or person are no more, the client is blocked, or this one token was revoked.
	Ended     bool
	Scopes    []string
	Details   json.RawMessage
	ExpiresAt *time.Time
}

// Introspect answers an introspection request. The error is an *Error.
func (s *Server) Introspect(ctx context.Context, form url.Values, auth ClientAuthentication) (*Introspection, error) {
	if e := checkSingle(form); e != nil {
		return nil, e
	}
	client, method, err := s.proveClient(ctx, auth, s.backChannelClient)
	if err != nil {
		return nil, storeFailure("authenticate client", err)
	}
	if method == AuthNone { // §4: an open endpoint would let anybody try tokens
		return nil, InvalidClient("Only a client that proves itself may introspect tokens.").WithCheck("client_auth_method")
	}
	token := form.Get("token")
	if token == "" {
		return nil, InvalidRequest("The token is missing.").WithCheck("token")
	}
	answer, e := s.introspect(ctx, client, token)
	if e != nil {
		return nil, e
	}
	if answer == nil {
		answer = &Introspection{}
	}
	answer.caller = client.ID
	return answer, nil
}

// introspect gives nil for every token that is not active for the client.
func (s *Server) introspect(ctx context.Context, client *Client, token string) (*Introspection, *Error) {
	if strings.HasPrefix(token, prefixRefreshToken) {
		return s.introspectRefreshToken(ctx, client, token)
	}
	return s.introspectAccessToken(ctx, client, token)
}

func (s *Server) introspectAccessToken(ctx context.Context, client *Client, token string) (*Introspection, *Error) {
	verified, e := s.verifySigned(ctx, token)
	if e != nil && e.Code == "invalid_token" || e == nil && verified.ClientID != client.ID {
		return nil, nil
	}
	if e != nil {
		return nil, e
	}
	standing, scopes, e := s.standing(ctx, verified)
	if e != nil || standing == nil {
		return nil, e
	}
	answer := &Introspection{
		Active: true, Scope: formatScope(scopes), ClientID: client.ID, TokenType: "Bearer", ExpiresAt: verified.ExpiresAt.Unix(),
		IssuedAt: verified.IssuedAt.Unix(), Subject: verified.Subject, Audience: verified.Resource, Issuer: s.cfg.Issuer, ID: verified.ID,
	}
	if answer.AuthorizationDetails = standing.Details; verified.DetailsNarrowed {
		if answer.AuthorizationDetails, e = s.meetDetails(verified.Details, standing.Details); e != nil {
			return nil, e
		}
	}
	if verified.KeyThumbprint != "" {
		answer.TokenType, answer.Confirmation = "DPoP", &confirmation{verified.KeyThumbprint}
	}
	if answer.ACR = verified.ACR; !verified.AuthTime.IsZero() {
		answer.AuthTime = verified.AuthTime.Unix()
	}
	return answer, nil
}

// standing is what a token stands on, and the scopes that it is good for now; nil when that has ended.
func (s *Server) standing(ctx context.Context, verified *AccessToken) (*Standing, []string, *Error) {
	standing, err := s.stores.Tokens.Standing(ctx, verified.ConnectionID, verified.FamilyID, verified.ID)
	if errors.Is(err, ErrNotFound) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, storeFailure("read what a token stands on", err)
	}
	if standing.Ended || standing.ExpiresAt != nil && !standing.ExpiresAt.After(s.now()) {
		return nil, nil, nil
	}
	scopes := append([]string{}, standing.Scopes...)
	if verified.Narrowed {
		scopes = slices.DeleteFunc(append([]string{}, verified.Scopes...), func(scope string) bool { return !slices.Contains(standing.Scopes, scope) })
	}
	return standing, scopes, nil
}

// introspectRefreshToken calls a refresh token active when the token endpoint would take it. Asking changes nothing.
func (s *Server) introspectRefreshToken(ctx context.Context, client *Client, token string) (*Introspection, *Error) {
	l, err := s.stores.Tokens.Lineage(ctx, HashSecret(token))
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, storeFailure("read refresh token", err)
	}
	resource := s.resource(l.Connection.Resource)
	if l.Connection.ClientID != client.ID || resource == nil || s.checkAlive(l, resource) != nil || isReuse(l, resource) {
		return nil, nil
	}
	return &Introspection{
		Active: true, Scope: formatScope(l.Connection.Scopes), ClientID: client.ID, ExpiresAt: refreshEnd(l, resource).Unix(),
		IssuedAt: l.Token.CreatedAt.Unix(), Subject: l.Connection.UserID, Audience: resource.URI, Issuer: s.cfg.Issuer,
		AuthorizationDetails: l.Connection.Details,
	}, nil
}

// refreshEnd is the earliest of the ends that checkAlive knows.
func refreshEnd(l *Lineage, resource *Resource) time.Time {
	end := refreshExpiry(&l.Token, resource)
	if at := l.Connection.ExpiresAt; at != nil && at.Before(end) {
		end = *at
	}
	if limit := l.Family.CreatedAt.Add(resource.RefreshTokenLimit); resource.RefreshTokenLimit > 0 && limit.Before(end) {
		end = limit
	}
	return end
}

// SignIntrospection makes the answer a JWT for its caller (RFC 9701 §5). It has neither sub nor exp, and a type of its
// own, so that it can never pass for a token. The error is an *Error.
func (s *Server) SignIntrospection(ctx context.Context, answer *Introspection) (string, error) {
	key, err := s.keys.signer(ctx)
	if err != nil {
		return "", storeFailure("find signing key", err)
	}
	payload, err := json.Marshal(struct {
		Issuer   string         `json:"iss"`
		Audience string         `json:"aud"`
		IssuedAt int64          `json:"iat"`
		Answer   *Introspection `json:"token_introspection"`
	}{s.cfg.Issuer, answer.caller, s.now().Unix(), answer})
	if err != nil {
		return "", ServerError(err)
	}
	jws, err := key.introspection.Sign(payload)
	if err != nil {
		return "", ServerError(err)
	}
	signed, err := jws.CompactSerialize()
	if err != nil {
		return "", ServerError(err)
	}
	return signed, nil
}
