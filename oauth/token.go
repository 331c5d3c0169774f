package oauth

// The token endpoint without HTTP: OAuth 2.1 §3.2.
//
// The endpoint owns its phases in a fixed order: client, grant, scope, resource, mint. A grant fills in its own phase and
// cannot forget a shared check. Nothing is used up before everything that can be refused has been checked.

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"time"
)

// Token answers a token request. The error is always an *Error.
func (s *Server) Token(ctx context.Context, form url.Values, auth ClientAuthentication) (*TokenResponse, error) {
	if e := checkSingle(form); e != nil {
		return nil, e
	}
	client, err := s.AuthenticateClient(ctx, auth)
	if err != nil {
		return nil, storeFailure("authenticate client", err)
	}
	if client.BlockedAt != nil {
		return nil, InvalidClient("The client is blocked.").WithCheck("client")
	}
	request := parseTokenRequest(form)
	if e := s.checkGrantType(client, request.grantType); e != nil {
		s.observeToken(ctx, request.grantType, client, nil, e)
		return nil, e
	}
	var e *Error
	if request.keyThumbprint, e = s.requestKey(ctx, client, auth.Proof); e != nil {
		s.observeToken(ctx, request.grantType, client, nil, e)
		return nil, e
	}
	var response *TokenResponse
	var grant *tokenGrant
	switch request.grantType {
	case GrantAuthorizationCode:
		response, grant, err = s.exchangeCode(ctx, client, request)
	case GrantRefreshToken:
		response, grant, err = s.refresh(ctx, client, request)
	case GrantClientCredentials:
		response, grant, err = s.clientCredentials(ctx, client, request)
	case GrantDeviceCode:
		response, grant, err = s.pollDevice(ctx, client, request)
	case GrantJWTBearer:
		response, grant, err = s.exchangeAssertion(ctx, client, request)
	}
	s.observeToken(ctx, request.grantType, client, grant, err)
	if err != nil {
		return nil, err
	}
	return response, nil
}

func (s *Server) checkGrantType(client *Client, grant string) *Error {
	if grant == "" {
		return InvalidRequest("The grant_type is missing.").WithCheck("grant_type")
	}
	if slices.Contains(s.grantTypes(), grant) {
		return mayUse(client, grant)
	}
	return UnsupportedGrantType("The grant_type is not supported.").WithCheck("grant_type")
}

// tokenGrant is what a grant proved: the basis of an access token.
type tokenGrant struct {
	requestID string // correlation of the authorization request, if known
	userID    string
	clientID  string
	// subject, when set, is the sub of the token instead of the person.
	subject  string
	resource *Resource
	scopes   []string
	narrowed bool
	// details are the authorization details of the token; detailsNarrowed that they are fewer than the connection's.
	details         json.RawMessage
	detailsNarrowed bool
	connectionID    string
	familyID        string
	// keyThumbprint is the key that the access token is bound to, if any (RFC 9449 §6).
	keyThumbprint string
	// acr and authTime say how and when the person signed in who approved.
	acr      string
	authTime time.Time
	// ends is when the connection ends, if it does: no token outlives it.
	ends *time.Time
}

// respond makes the access token and the answer.
func (s *Server) respond(ctx context.Context, grant *tokenGrant, refreshToken string) (*TokenResponse, *Error) {
	token, expires, err := s.mint(ctx, grant)
	if err != nil {
		return nil, err
	}
	kind := "Bearer"
	if grant.keyThumbprint != "" {
		kind = "DPoP" // RFC 9449 §5
	}
	return &TokenResponse{
		AccessToken:          token,
		TokenType:            kind,
		ExpiresIn:            int64(expires.Sub(s.now().Truncate(time.Second)) / time.Second),
		RefreshToken:         refreshToken,
		Scope:                formatScope(grant.scopes),
		AuthorizationDetails: grant.details,
		GrantID:              grant.connectionID,
		ConnectionID:         grant.connectionID,
		FamilyID:             grant.familyID,
	}, nil
}

func (s *Server) observeToken(ctx context.Context, grantType string, client *Client, grant *tokenGrant, err error) {
	step := Step{Name: StepTokenRefresh, OK: err == nil, ClientID: client.ID, Detail: grantType}
	switch grantType {
	case GrantAuthorizationCode, GrantDeviceCode:
		step.Name = StepCodeRedeemed
	case GrantClientCredentials, GrantJWTBearer:
		step.Name = StepTokenGranted
	}
	if grant != nil {
		step.RequestID, step.UserID, step.ConnectionID = grant.requestID, grant.userID, grant.connectionID
	}
	var e *Error
	if errors.As(err, &e) {
		step.Check, step.Reason = e.Check, e.Description
	}
	if step.Check == checkPending {
		return
	}
	if len(step.Detail) > 64 {
		step.Detail = step.Detail[:64] // a grant type nobody knows may be long
	}
	s.observe(ctx, step)
}
