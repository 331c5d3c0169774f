package oauth

// Access tokens that are looked up instead of verified: RFC 6749 §1.4 leaves their form to us. A resource chooses
// (Resource.OpaqueTokens). Such a token is 32 random bytes behind a prefix; the store holds its hash with all that a JWT
// would say, so that revocation, introspection and binding to a key are the same for both.

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"
)

// PrefixAccessToken begins every access token that is looked up.
const PrefixAccessToken = "gta_"

// StoredToken is the row of an access token that is looked up.
type StoredToken struct {
	Hash          []byte // SHA-256 of the token
	ID            string // as jti
	FamilyID      string
	Scopes        []string
	Narrowed      bool
	KeyThumbprint string
	// Details are the authorization details, when they are fewer than the connection's; nil otherwise.
	Details   json.RawMessage
	IssuedAt  time.Time
	ExpiresAt time.Time
}

func isOpaque(token string) bool { return strings.HasPrefix(token, PrefixAccessToken) }

// mintOpaque makes a token and its row.
func (s *Server) mintOpaque(ctx context.Context, grant *tokenGrant, id string, issued, expires time.Time) (string, *Error) {
	secret, hash, err := newSecret(s.cfg.Rand, PrefixAccessToken)
	if err != nil {
		return "", ServerError(err)
	}
	var narrowed json.RawMessage
	if grant.detailsNarrowed {
		narrowed = grant.details
	}
	err = s.stores.Tokens.SaveAccessToken(ctx, &StoredToken{
		Hash: hash, ID: id, FamilyID: grant.familyID, Scopes: grant.scopes, Narrowed: grant.narrowed,
		KeyThumbprint: grant.keyThumbprint, Details: narrowed, IssuedAt: issued, ExpiresAt: expires,
	})
	if err != nil {
		return "", storeFailure("save access token", err)
	}
	return secret, nil
}

// verifyStored finds a token that is looked up.
func (s *Server) verifyStored(ctx context.Context, token string) (*AccessToken, *Error) {
	found, err := s.stores.Tokens.AccessToken(ctx, HashSecret(token))
	if errors.Is(err, ErrNotFound) {
		return nil, InvalidToken("The token is unknown or has expired.").WithCheck("token")
	}
	if err != nil {
		return nil, storeFailure("read access token", err)
	}
	if !found.ExpiresAt.After(s.now()) {
		return nil, InvalidToken("The token has expired.").WithCheck("exp")
	}
	return found, nil
}

// CheckStored checks a token that the caller has read itself, together with its connection (one read for both), for a
// resource. proof is nil for one that was sent as a bearer token. The error is an *Error as VerifyAccessToken and
// VerifyBoundToken give it.
func (s *Server) CheckStored(ctx context.Context, found *AccessToken, token, resource string, proof *ProofRequest) error {
	var e *Error
	switch {
	case !found.ExpiresAt.After(s.now()):
		e = InvalidToken("The token has expired.").WithCheck("exp")
	case found.Resource != resource:
		e = InvalidToken("The token was issued for another resource.").WithCheck("aud")
	case proof == nil:
		e = checkBearer(found)
	default:
		e = unauthorizedProof(s.checkPossession(ctx, found, token, *proof))
	}
	if e != nil {
		return e
	}
	return nil
}

// checkBearer: without its proof a bound token is worth nothing (RFC 9449 §7.2).
func checkBearer(verified *AccessToken) *Error {
	if verified.KeyThumbprint != "" {
		return InvalidToken("The token is bound to a key. Send it with the DPoP scheme and a proof.").WithCheck("cnf")
	}
	return nil
}

// unauthorizedProof gives the error of a bad proof the status that a resource server sends (RFC 9449 §7.1).
func unauthorizedProof(e *Error) *Error {
	if e != nil && e.Code == "invalid_dpop_proof" {
		e.Status = 401
	}
	return e
}
