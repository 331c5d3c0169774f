package oauth

// OpenID Connect Core 1.0, the least that lets an application know who signed in: §2 and §3.1.3 (ID tokens with the code
// flow), §5.4 (the scopes openid and email), §15.1. Left out: the claims parameter, request objects, id_token_hint,
// encrypted and unsigned tokens, the implicit and hybrid flows, ID tokens at a refresh (§12.2 leaves them to us), logout.
//
// The scopes belong to the authorization server. Each resource's list knows them, so that they are approved, stored and
// taken back like any other, but they are offered only to who asks, and no metadata or challenge of a resource has them.

import (
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"slices"
	"time"
)

// Scopes of OpenID Connect (§3.1.2.1, §5.4).
const (
	ScopeOpenID = "openid"
	ScopeEmail  = "email"
)

const (
	// typeIDToken is the typ of ID tokens: never that of access tokens (RFC 8725 §3.11).
	typeIDToken = "JWT"
	// idTokenLife is how long an ID token may be taken as news. Clients check it at once.
	idTokenLife = time.Hour
	// maxNonce bounds what is kept of a client's nonce.
	maxNonce = 1024
)

// identityScopes are the scopes that tell a client who signed in.
func identityScopes() []Scope {
	return []Scope{{Name: ScopeOpenID, Identity: true}, {Name: ScopeEmail, Implies: []string{ScopeOpenID}, Identity: true}}
}

// withIdentity adds the identity scopes to each resource's list.
func withIdentity(resources []Resource) []Resource {
	for i := range resources {
		resources[i].Scopes = append(slices.Clone(resources[i].Scopes), identityScopes()...)
	}
	return resources
}

// idTokenAlgorithms are the algorithms of ID tokens. RS256 comes first: it is what a client gets that names none.
func (s *Server) idTokenAlgorithms() []string {
	switch {
	case !s.cfg.OpenID:
		return nil
	case s.cfg.SigningAlgorithm == algRS256:
		return []string{algRS256}
	}
	return []string{algRS256, s.cfg.SigningAlgorithm}
}

// idTokenAlgorithm is the one of a client. What it registered may have gone with a change of the configuration.
func (s *Server) idTokenAlgorithm(c *Client) string {
	if slices.Contains(s.idTokenAlgorithms(), c.IDTokenAlgorithm) {
		return c.IDTokenAlgorithm
	}
	return algRS256
}

// readIDTokenAlgorithm keeps the algorithm that a client registers for its ID tokens (OpenID Connect Registration §2).
func (m clientMetadata) readIDTokenAlgorithm(c *Client) error {
	algorithm, err := m.text("id_token_signed_response_alg")
	if err != nil || algorithm == "" {
		return err
	}
	c.IDTokenAlgorithm = algRS256 // in place of what is not offered (RFC 7591 §3.2.1)
	if algorithm == algES256 || algorithm == algEdDSA {
		c.IDTokenAlgorithm = algorithm
	}
	return nil
}

// splitIdentity takes the identity scopes out of those asked for. Without openid the others mean nothing (§3.1.2.1).
func (r *Resource) splitIdentity(scopes []string) (identity, rest []string) {
	for _, name := range scopes {
		if r.IsIdentity(name) {
			identity = append(identity, name)
		} else {
			rest = append(rest, name)
		}
	}
	if !slices.Contains(identity, ScopeOpenID) {
		identity = nil
	}
	return identity, rest
}

// IsIdentity reports whether a scope tells who the person is, rather than what may be done.
func (r *Resource) IsIdentity(name string) bool {
	return slices.ContainsFunc(r.Scopes, func(s Scope) bool { return s.Identity && s.Name == name })
}

// idClaims are the claims of an ID token (§2, §3.1.3.6; RFC 8176 for amr). The address is told at the userinfo endpoint
// alone: an ID token lies about in logs and browsers.
type idClaims struct {
	Issuer    string   `json:"iss"`
	Subject   string   `json:"sub"`
	Audience  string   `json:"aud"`
	ExpiresAt int64    `json:"exp"`
	IssuedAt  int64    `json:"iat"`
	AuthTime  int64    `json:"auth_time"`
	Nonce     string   `json:"nonce,omitempty"`
	ACR       string   `json:"acr,omitempty"`
	AMR       []string `json:"amr,omitempty"`
	TokenHash string   `json:"at_hash"`
}

// supportedClaims lists what ID tokens and userinfo answers can hold.
func supportedClaims() []string {
	return []string{"iss", "sub", "aud", "exp", "iat", "auth_time", "nonce", "acr", "amr", "at_hash", "email", "email_verified"}
}

// mintIDToken makes the ID token that goes with an access token.
func (s *Server) mintIDToken(ctx context.Context, client *Client, code *AuthorizationCode, accessToken string) (string, *Error) {
	key, err := s.idTokenKey(ctx, s.idTokenAlgorithm(client))
	if err != nil {
		return "", storeFailure("find key of ID tokens", err)
	}
	issued := s.now().Truncate(time.Second)
	payload, err := json.Marshal(idClaims{
		Issuer: s.cfg.Issuer, Subject: code.Approval.UserID, Audience: client.ID, ExpiresAt: issued.Add(idTokenLife).Unix(),
		IssuedAt: issued.Unix(), AuthTime: code.AuthTime.Unix(), Nonce: code.Nonce, ACR: code.ACR, AMR: code.AMR,
		TokenHash: accessTokenHash(key.algorithm, accessToken),
	})
	if err != nil {
		return "", ServerError(err)
	}
	jws, err := key.idToken.Sign(payload)
	if err != nil {
		return "", ServerError(err)
	}
	token, err := jws.CompactSerialize()
	if err != nil {
		return "", ServerError(err)
	}
	return token, nil
}

// accessTokenHash is at_hash: the left half of the hash that the algorithm uses (§3.1.3.6); Ed25519 uses SHA-512.
func accessTokenHash(algorithm, token string) string {
	if algorithm == algEdDSA {
		sum := sha512.Sum512([]byte(token))
		return base64.RawURLEncoding.EncodeToString(sum[:sha512.Size/2])
	}
	sum := sha256.Sum256([]byte(token))
	return base64.RawURLEncoding.EncodeToString(sum[:sha256.Size/2])
}
