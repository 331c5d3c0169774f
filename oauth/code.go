package oauth

// Authorization codes: OAuth 2.1 §4.1.2 (short life, single use, bindings), §7.5.

import "time"

// codeLife is how long a code can be redeemed. The specification allows ten minutes; clients redeem at once.
const codeLife = 60 * time.Second

// newCode makes a code bound to everything the request and the person stand for.
func (s *Server) newCode(request *AuthorizationRequest, r *checkedRequest, who ResourceOwner) (string, *AuthorizationCode, error) {
	secret, hash, err := newSecret(s.cfg.Rand, prefixCode)
	if err != nil {
		return "", nil, ServerError(err)
	}
	now := s.now()
	return secret, &AuthorizationCode{
		Hash:          hash,
		RequestID:     request.Correlation(),
		Approval:      Approval{UserID: who.UserID, ClientID: r.client.ID, Resource: r.resource.URI},
		RedirectURI:   r.redirectURI,
		CodeChallenge: r.challenge,
		KeyThumbprint: r.keyThumbprint,
		Nonce:         r.nonce,
		AuthTime:      who.AuthTime,
		ACR:           who.ACR,
		AMR:           who.AMR,
		SignIn:        who.SignIn,
		IssuedAt:      now,
		ExpiresAt:     now.Add(codeLife),
	}, nil
}
