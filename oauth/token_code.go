package oauth

// The authorization code grant at the token endpoint: OAuth 2.1 §4.1.3, §7.5.2 (replay), §10.2 (redirect_uri); RFC 7636
// §4.6.

import (
	"context"
	"errors"
	"slices"
)

// exchangeCode redeems a code. Client, redirect URI, verifier and resource are checked before the code is used up, so
// that a wrong attempt, whosever it is, does not cost the right one its code.
func (s *Server) exchangeCode(ctx context.Context, client *Client, request tokenRequest) (*TokenResponse, *tokenGrant, error) {
	if request.code == "" {
		return nil, nil, InvalidRequest("The code is missing.").WithCheck("code")
	}
	hash := HashSecret(request.code)
	code, err := s.stores.Codes.Code(ctx, hash)
	if errors.Is(err, ErrNotFound) {
		return nil, nil, InvalidGrant("The code is unknown or has expired.").WithCheck("code")
	}
	if err != nil {
		return nil, nil, storeFailure("read code", err)
	}
	if code.Approval.ClientID != client.ID {
		return nil, nil, InvalidGrant("The code was issued to another client.").WithCheck("code_client")
	}
	grant := &tokenGrant{requestID: code.RequestID, userID: code.Approval.UserID, clientID: client.ID, keyThumbprint: request.keyThumbprint}
	if e := s.checkCode(code, request); e != nil {
		return nil, grant, e
	}
	if code.UsedAt != nil {
		return nil, grant, s.replayed(ctx, code)
	}
	if !code.ExpiresAt.After(s.now()) {
		return nil, grant, InvalidGrant("The code is unknown or has expired.").WithCheck("code_expired")
	}
	if ends := code.Approval.ExpiresAt; ends != nil && !ends.After(s.now()) {
		return nil, grant, InvalidGrant("The approval behind this code has ended.").WithCheck("ended")
	}
	if grant.resource = s.resource(code.Approval.Resource); grant.resource == nil {
		return nil, grant, InvalidGrant("The resource of this code is not served any more.").WithCheck("resource_gone")
	}
	grant.details = code.Approval.Details // what the connection holds once the code is redeemed
	if e := s.narrowDetails(grant, request.details, nil); e != nil {
		return nil, grant, e
	}
	response, e := s.redeem(ctx, client, grant, code)
	if e != nil {
		return nil, grant, e
	}
	return response, grant, nil
}

// checkCode checks what the code is bound to.
func (s *Server) checkCode(code *AuthorizationCode, request tokenRequest) *Error {
	// §10.2: redirect_uri may be sent, and must then be the one of the authorization request.
	if request.redirectURI != "" && request.redirectURI != code.RedirectURI {
		return InvalidGrant("The redirect_uri is not the one of the authorization request.").WithCheck("redirect_uri")
	}
	if e := verifyChallenge(code.CodeChallenge, request.codeVerifier); e != nil {
		return e
	}
	if e := checkKey(code.KeyThumbprint, request.keyThumbprint); e != nil { // RFC 9449 §10
		return e
	}
	if !s.matches(request.resources, code.Approval.Resource) {
		return InvalidTarget("The resource is not the one that was authorized.").WithCheck("resource")
	}
	return nil
}

// replayed answers an otherwise valid second redemption: one of the two holders of code and verifier is a thief, so all
// tokens of the code end (§4.1.3).
func (s *Server) replayed(ctx context.Context, code *AuthorizationCode) *Error {
	ctx, cancel := finish(ctx)
	defer cancel()
	if _, err := s.stores.Tokens.EndFamily(ctx, code.FamilyID, EndedByReplay, s.now()); err != nil {
		return storeFailure("end family of a replayed code", err)
	}
	s.observe(ctx, Step{
		Name: StepReuseDetected, ClientID: code.Approval.ClientID, RequestID: code.RequestID, UserID: code.Approval.UserID,
		Check: "code_used", Reason: "The code was redeemed twice.", Detail: "family " + code.FamilyID,
	})
	return InvalidGrant("The code was used before.").WithCheck("code_used")
}

// redeem uses the code up and answers. That a token can be signed is made sure of before.
func (s *Server) redeem(ctx context.Context, client *Client, grant *tokenGrant, code *AuthorizationCode) (*TokenResponse, *Error) {
	if e := s.canSign(ctx, client, grant, code); e != nil {
		return nil, e
	}
	redemption, refreshToken, err := s.newRedemption(ctx, grant.resource, code)
	if err != nil {
		return nil, ServerError(err)
	}
	if client.Public() { // RFC 9449 §5: a confidential client proves itself at each refresh anyway
		redemption.KeyThumbprint = grant.keyThumbprint
	}
	ctx, cancel := finish(ctx)
	defer cancel()
	connection, err := s.stores.Codes.RedeemCode(ctx, redemption)
	switch {
	case errors.Is(err, ErrUsed):
		return nil, s.lostRace(ctx, code.Hash)
	case errors.Is(err, ErrEnded):
		return nil, InvalidGrant("The approval behind this code has ended.").WithCheck("ended")
	case errors.Is(err, ErrNotFound):
		return nil, InvalidGrant("The code is unknown or has expired.").WithCheck("code")
	case err != nil:
		return nil, storeFailure("redeem code", err)
	}
	grant.connectionID, grant.familyID = connection.ID, redemption.FamilyID
	grant.scopes, grant.ends = connection.Scopes, connection.ExpiresAt
	grant.acr, grant.authTime = code.ACR, code.AuthTime
	response, e := s.respond(ctx, grant, refreshToken)
	if e == nil && s.cfg.OpenID && slices.Contains(connection.Scopes, ScopeOpenID) {
		response.IDToken, e = s.mintIDToken(ctx, client, code, response.AccessToken)
	}
	if e != nil {
		return nil, e
	}
	return response, nil
}

// canSign makes sure of the keys that the answer needs.
func (s *Server) canSign(ctx context.Context, client *Client, grant *tokenGrant, code *AuthorizationCode) *Error {
	if !grant.resource.OpaqueTokens {
		if _, err := s.keys.signer(ctx); err != nil {
			return storeFailure("find signing key", err)
		}
	}
	if s.cfg.OpenID && slices.Contains(code.Approval.Scopes, ScopeOpenID) {
		if _, err := s.idTokenKey(ctx, s.idTokenAlgorithm(client)); err != nil {
			return storeFailure("find key of ID tokens", err)
		}
	}
	return nil
}

func (s *Server) newRedemption(ctx context.Context, resource *Resource, code *AuthorizationCode) (Redemption, string, error) {
	now := s.now()
	connectionID, err := newUUID(s.cfg.Rand, now)
	if err != nil {
		return Redemption{}, "", err
	}
	familyID, err := newUUID(s.cfg.Rand, now)
	if err != nil {
		return Redemption{}, "", err
	}
	secret, hash, err := newSecret(s.cfg.Rand, prefixRefreshToken)
	if err != nil {
		return Redemption{}, "", err
	}
	return Redemption{
		CodeHash: code.Hash, At: now, NewConnectionID: connectionID, FamilyID: familyID, DeviceHint: deviceHint(ctx),
		ACR: code.ACR, AuthTime: code.AuthTime,
		Refresh: &RefreshToken{Hash: hash, FamilyID: familyID, CreatedAt: now, ExpiresAt: now.Add(resource.refreshTokenLife())},
	}, secret, nil
}

// lostRace answers a redemption that another one overtook: it was otherwise valid, so it is a replay too.
func (s *Server) lostRace(ctx context.Context, hash []byte) *Error {
	code, err := s.stores.Codes.Code(ctx, hash)
	if err != nil {
		return storeFailure("read used code", err)
	}
	return s.replayed(ctx, code)
}
