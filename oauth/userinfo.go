package oauth

// The userinfo endpoint without HTTP: OpenID Connect Core §5.3; RFC 6750 §2.1, §3; RFC 9449 §7.1.
//
// Departure: the access token's audience is the resource it was approved for, and the userinfo endpoint takes it all the
// same when it carries openid, as OpenID Connect has it (§5.3.1); no token is made for this endpoint alone. Tokens are
// read from the Authorization header only.

import (
	"context"
	"net/http"
	"slices"
	"strings"
)

// UserInfo says what a client may be told of a person.
type UserInfo struct {
	// Subject is the person: sub, the same as in ID tokens.
	Subject string
	// Email says that the address may be told.
	Email bool
}

// UserInfo answers for the access token in the values of the Authorization header. proof is the request as a DPoP proof
// has to describe it. The error is an *Error with a challenge.
func (s *Server) UserInfo(ctx context.Context, authorization []string, proof ProofRequest) (*UserInfo, error) {
	scheme, token, e := readAuthorization(authorization)
	var info *UserInfo
	if e == nil {
		info, e = s.userInfo(ctx, scheme, token, proof)
	}
	if e != nil {
		if e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden || e.Code == "invalid_request" {
			e.Challenge = userInfoChallenge(scheme, e)
		}
		return nil, e
	}
	return info, nil
}

// readAuthorization reads one bearer or bound token. Without any the error has no check.
func readAuthorization(values []string) (scheme, token string, e *Error) {
	if len(values) > 1 {
		return "", "", InvalidRequest("Send the Authorization field once.").WithCheck("authorization")
	}
	if len(values) == 1 {
		scheme, token, _ = strings.Cut(values[0], " ")
		token = strings.TrimSpace(token)
	}
	switch {
	case !strings.EqualFold(scheme, "Bearer") && !strings.EqualFold(scheme, "DPoP"):
		return "", "", InvalidToken("Send an access token.")
	case token == "" || strings.ContainsAny(token, " ,"):
		return scheme, "", InvalidRequest("The Authorization field must hold one token.").WithCheck("authorization")
	}
	return scheme, token, nil
}

func (s *Server) userInfo(ctx context.Context, scheme, token string, proof ProofRequest) (*UserInfo, *Error) {
	verified, e := s.verifySigned(ctx, token)
	if e != nil {
		return nil, e
	}
	if strings.EqualFold(scheme, "DPoP") {
		e = unauthorizedProof(s.checkPossession(ctx, verified, token, proof))
	} else {
		e = checkBearer(verified)
	}
	if e != nil {
		return nil, e
	}
	standing, scopes, e := s.standing(ctx, verified)
	switch {
	case e != nil:
		return nil, e
	case standing == nil:
		return nil, InvalidToken("The connection behind this token has ended.").WithCheck("ended")
	case !slices.Contains(scopes, ScopeOpenID):
		return nil, InsufficientScope("This needs the scope openid.").WithCheck("scope")
	}
	return &UserInfo{Subject: verified.Subject, Email: slices.Contains(scopes, ScopeEmail)}, nil
}

// userInfoChallenge is the WWW-Authenticate value. Where nothing was sent there is nothing to complain of (RFC 6750 §3.1).
func userInfoChallenge(scheme string, e *Error) string {
	bound := strings.EqualFold(scheme, "DPoP")
	challenge := "Bearer"
	if bound {
		challenge = `DPoP algs="` + strings.Join(ProofAlgorithms(), " ") + `"`
	}
	if e.Check == "" {
		return challenge
	}
	if bound {
		challenge += ","
	}
	challenge += ` error="` + e.Code + `", error_description="` + e.Description + `"`
	if e.Code == "insufficient_scope" {
		challenge += `, scope="` + ScopeOpenID + `"`
	}
	return challenge
}
