package oauth

// Verification of access tokens by the resource server: RFC 9068 §4, RFC 8725 §3.1, §3.9, §3.11.
//
// This proves what the token says, not that it still holds: whether connection, family and person live is the caller's
// one read per call.

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// verifiedTokens bounds the cache of checked signatures; an entry weighs about one kilobyte.
const verifiedTokens = 20_000

// maxAccessToken bounds what is parsed at all; our tokens are below one kilobyte.
const maxAccessToken = 8 << 10

// verifiedToken is a token whose signature and fixed claims were checked. Whatever can change with time, keys or the
// resource asked for is checked at each use.
type verifiedToken struct{ token AccessToken }

// VerifyAccessToken checks a bearer token for a resource (its configured URI); for a bound one see VerifyBoundToken. The error is an *Error: invalid_token, or
// temporarily_unavailable when the keys cannot be read. The check of a signature is remembered; everything else is
// checked every time.
func (s *Server) VerifyAccessToken(ctx context.Context, token, resource string) (*AccessToken, error) {
	verified, e := s.verifyFor(ctx, token, resource)
	if e != nil {
		return nil, e
	}
	if e := checkBearer(verified); e != nil {
		return nil, e
	}
	return verified, nil
}

// verifyFor checks a token for a resource, all but the proof that a bound one needs.
func (s *Server) verifyFor(ctx context.Context, token, resource string) (*AccessToken, *Error) {
	verified, e := s.verifySigned(ctx, token)
	if e != nil {
		return nil, e
	}
	// RFC 9068 §4: the resource server must be the audience; a token for another resource is none for this one.
	if verified.Resource != resource {
		return nil, InvalidToken("The token was issued for another resource.").WithCheck("aud")
	}
	return verified, nil
}

// verifySigned checks everything but the audience.
func (s *Server) verifySigned(ctx context.Context, token string) (*AccessToken, *Error) {
	if len(token) > maxAccessToken {
		return nil, InvalidToken("The token is malformed.").WithCheck("token")
	}
	if isOpaque(token) {
		return s.verifyStored(ctx, token)
	}
	digest := sha256.Sum256([]byte(token))
	verified, hit := s.verified.GetIfPresent(digest)
	if hit && !s.keys.knows(ctx, verified.token.KeyID) {
		// The key was dropped since: what it signed is worth nothing any more.
		s.verified.Invalidate(digest)
		hit = false
	}
	if !hit {
		fresh, e := s.verifyFresh(ctx, token)
		if e != nil {
			return nil, e
		}
		verified = &verifiedToken{token: *fresh}
	}
	if !verified.token.ExpiresAt.After(s.now()) {
		return nil, InvalidToken("The token has expired.").WithCheck("exp")
	}
	if !hit {
		s.verified.Set(digest, verified)
	}
	return &verified.token, nil
}

// verifyFresh checks header, signature and claims.
func (s *Server) verifyFresh(ctx context.Context, token string) (*AccessToken, *Error) {
	// RFC 8725 §3.1: the algorithm comes from a list; none and the symmetric ones are not on it.
	jws, err := jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{algES256, algRS256, algEdDSA})
	if err != nil {
		return nil, InvalidToken("The token is malformed.").WithCheck("token").WithCause(err)
	}
	header := jws.Signatures[0].Protected
	// RFC 8725 §3.11, RFC 9068 §4: an ID token or a client assertion must not pass for an access token.
	if !isAccessTokenType(header.ExtraHeaders[jose.HeaderType]) {
		return nil, InvalidToken("The token is not an access token.").WithCheck("typ")
	}
	key, err := s.keys.find(ctx, header.KeyID)
	if errors.Is(err, ErrNotFound) {
		return nil, InvalidToken("The token is signed with an unknown key.").WithCheck("kid")
	}
	if err != nil {
		return nil, storeFailure("find verification key", err)
	}
	if header.Algorithm != key.algorithm {
		return nil, InvalidToken("The algorithm of the token does not belong to its key.").WithCheck("alg")
	}
	payload, err := jws.Verify(key.public)
	if err != nil {
		return nil, InvalidToken("The signature of the token is wrong.").WithCheck("signature").WithCause(err)
	}
	return s.checkClaims(payload, header.KeyID)
}

// isAccessTokenType: media types are compared without case (RFC 7515 §4.1.9).
func isAccessTokenType(value any) bool {
	typ, _ := value.(string)
	return strings.EqualFold(typ, typeAccessToken) || strings.EqualFold(typ, "application/"+typeAccessToken)
}

func (s *Server) checkClaims(payload []byte, kid string) (*AccessToken, *Error) {
	var c accessClaims
	if err := json.Unmarshal(payload, &c); err != nil {
		return nil, InvalidToken("The claims of the token are malformed.").WithCheck("claims").WithCause(err)
	}
	switch {
	case c.Issuer != s.cfg.Issuer:
		return nil, InvalidToken("The token is from another issuer.").WithCheck("iss")
	case c.ExpiresAt == nil:
		return nil, InvalidToken("The token has no exp claim.").WithCheck("exp")
	case c.IssuedAt == nil || c.ID == "" || c.Subject == "" || c.ClientID == "" || c.Audience == "" ||
		c.ConnectionID == "" || c.FamilyID == "":
		return nil, InvalidToken("The token lacks a required claim.").WithCheck("claims")
	case c.NotBefore != nil && time.Unix(*c.NotBefore, 0).After(s.now()):
		return nil, InvalidToken("The token is not valid yet.").WithCheck("nbf")
	}
	thumbprint := ""
	if c.Confirmation != nil {
		if thumbprint = c.Confirmation.KeyThumbprint; thumbprint == "" {
			return nil, InvalidToken("The token is bound in a way that is not supported.").WithCheck("cnf")
		}
	}
	var authTime time.Time
	if c.AuthTime != nil {
		authTime = time.Unix(*c.AuthTime, 0).UTC()
	}
	scopes, err := parseScope(c.Scope)
	if err != nil {
		return nil, InvalidToken("The scope of the token is malformed.").WithCheck("scope").WithCause(err)
	}
	return &AccessToken{
		ID: c.ID, Subject: c.Subject, ClientID: c.ClientID, Resource: string(c.Audience),
		ConnectionID: c.ConnectionID, FamilyID: c.FamilyID, Scopes: scopes, Narrowed: c.Narrowed,
		IssuedAt: time.Unix(*c.IssuedAt, 0).UTC(), ExpiresAt: time.Unix(*c.ExpiresAt, 0).UTC(), KeyID: kid,
		KeyThumbprint: thumbprint, ACR: c.ACR, AuthTime: authTime, Details: c.Details, DetailsNarrowed: c.DetailsNarrowed,
	}, nil
}
