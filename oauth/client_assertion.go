package oauth

// Client authentication by a signed assertion (private_key_jwt): RFC 7523 §2.2, §3, RFC 7521 §4.2; RFC 7519 §4.1;
// draft-ietf-oauth-rfc7523bis (the issuer as the only audience, explicit type); RFC 8725 §3.1, §3.11. Left out:
// client_secret_jwt, since an HMAC needs the secret in the clear and only its hash is stored.

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const (
	// assertionType is the value of client_assertion_type (RFC 7523 §2.2).
	assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
	// typeClientAuthentication is the explicit typ of rfc7523bis. Most clients send none, or JWT.
	typeClientAuthentication = "client-authentication+jwt"

	maxAssertion = 8 << 10
	// maxAssertionID bounds jti, which is stored only as a hash.
	maxAssertionID = 1024
	// assertionSkew is how far the clocks of client and server may differ; maxAssertionLife is how far ahead exp may lie.
	assertionSkew    = 60 * time.Second
	maxAssertionLife = time.Hour
)

// assertionAlgorithms are the algorithms of assertions. The symmetric ones and none are not on the list.
var assertionAlgorithms = []jose.SignatureAlgorithm{jose.RS256, jose.PS256, jose.ES256, jose.EdDSA}

func assertionAlgorithmNames() []string {
	names := make([]string, len(assertionAlgorithms))
	for i, a := range assertionAlgorithms {
		names[i] = string(a)
	}
	return names
}

// clientAssertion is an assertion taken apart; nothing about it is proven yet.
type clientAssertion struct {
	jws    *jose.JSONWebSignature
	header jose.Header
	typed  bool
	claims assertionClaims
}

type assertionClaims struct {
	Issuer   string   `json:"iss"`
	Subject  string   `json:"sub"`
	Audience audience `json:"aud"`
	ID       string   `json:"jti"`
	// Times are numbers that may have a fraction (RFC 7519 §2).
	ExpiresAt *float64 `json:"exp"`
	NotBefore *float64 `json:"nbf"`
	IssuedAt  *float64 `json:"iat"`
}

func badAssertion(description string) *Error {
	return InvalidClient(description).WithCheck("client_assertion")
}

// parseAssertion takes the assertion of a request apart. clientID is the client_id parameter, which may be missing
// (RFC 7521 §4.2).
func parseAssertion(in ClientAuthentication) (*clientAssertion, *Error) {
	if in.AssertionType != assertionType {
		return nil, badAssertion("The client_assertion_type must be " + assertionType + ".")
	}
	if len(in.Assertion) > maxAssertion {
		return nil, badAssertion("The client assertion is too long.")
	}
	jws, err := jose.ParseSignedCompact(in.Assertion, assertionAlgorithms)
	if err != nil {
		return nil, badAssertion("The client assertion is not a JWT signed with one of " + strings.Join(assertionAlgorithmNames(), ", ") + ".").WithCause(err)
	}
	a := &clientAssertion{jws: jws, header: jws.Signatures[0].Protected}
	typ, _ := a.header.ExtraHeaders[jose.HeaderType].(string)
	typ = strings.TrimPrefix(strings.ToLower(typ), "application/")
	a.typed = typ == typeClientAuthentication
	if typ != "" && typ != "jwt" && !a.typed {
		// RFC 8725 §3.11: a token made for something else must not pass for an assertion.
		return nil, badAssertion("The JWT is of a type for something else than client authentication.")
	}
	if err := json.Unmarshal(jws.UnsafePayloadWithoutVerification(), &a.claims); err != nil {
		return nil, badAssertion("The claims of the client assertion are malformed, or aud has not exactly one value.").WithCause(err)
	}
	switch {
	case a.claims.Subject == "" || a.claims.Issuer != a.claims.Subject:
		return nil, badAssertion("In a client assertion iss and sub must both be the client_id.")
	case in.ClientID != "" && in.ClientID != a.claims.Subject:
		return nil, badAssertion("The client_id parameter is not the subject of the client assertion.")
	}
	return a, nil
}

// checkAssertionClaims checks audience and times. The issuer identifier is the audience; the URL of the token endpoint alone is
// still taken from assertions without the explicit type, because most clients put it there.
func (s *Server) checkAssertionClaims(a *clientAssertion) *Error {
	to := string(a.claims.Audience)
	if to != s.cfg.Issuer && (a.typed || to != s.cfg.Issuer+PathToken) {
		return badAssertion("The aud of the client assertion must be the issuer identifier of this server.")
	}
	now := float64(s.now().UnixMilli()) / 1000
	skew := assertionSkew.Seconds()
	switch c := a.claims; {
	case c.ExpiresAt == nil:
		return badAssertion("The client assertion has no exp.")
	case *c.ExpiresAt <= now-skew:
		return badAssertion("The client assertion has expired.")
	case *c.ExpiresAt > now+skew+maxAssertionLife.Seconds():
		return badAssertion("The exp of the client assertion is more than an hour ahead.")
	case c.NotBefore != nil && *c.NotBefore > now+skew:
		return badAssertion("The client assertion is not valid yet (nbf).")
	case c.IssuedAt != nil && *c.IssuedAt > now+skew:
		return badAssertion("The client assertion was issued in the future (iat).")
	case c.ID == "" || len(c.ID) > maxAssertionID:
		return badAssertion("The client assertion needs a jti that is used once.")
	}
	return nil
}

// proveAssertion checks an assertion for the client that it names, and uses it up. That comes last: an assertion of
// somebody who cannot sign must not use up the client's own.
func (s *Server) proveAssertion(ctx context.Context, c *Client, a *clientAssertion) error {
	if e := s.checkAssertionClaims(a); e != nil {
		return e
	}
	if c.AssertionAlgorithm != "" && c.AssertionAlgorithm != a.header.Algorithm {
		return badAssertion("The client assertion is not signed with the algorithm that the client registered.")
	}
	if err := s.verifyAssertion(ctx, c, a); err != nil {
		return err
	}
	expires := time.UnixMilli(int64(*a.claims.ExpiresAt * 1000)).UTC()
	err := s.stores.Clients.UseAssertion(ctx, HashSecret(c.ID+"\x00"+a.claims.ID), expires)
	switch {
	case errors.Is(err, ErrUsed):
		return badAssertion("The client assertion was used before. Make a new one for each request.")
	case err != nil:
		return storeFailure("use client assertion", err)
	}
	return nil
}

// verifyAssertion checks the signature. A key that is not in the set, or under whose id another key stands now, is a
// reason to fetch the set again, within its limits.
func (s *Server) verifyAssertion(ctx context.Context, c *Client, a *clientAssertion) error {
	for _, again := range []bool{false, true} {
		keys, err := s.clientKeys(ctx, c, again)
		if err != nil {
			return err
		}
		if key := fittingKey(keys, a.header); key != nil {
			if _, err := a.jws.Verify(key.Key); err == nil {
				return nil
			}
		}
		if c.JWKSURI == "" {
			break
		}
	}
	return badAssertion("The client assertion is not signed with a key of the client.")
}

// fittingKey finds the key of a signature: by its id, or, where the assertion names none, the only one that fits.
func fittingKey(keys []jose.JSONWebKey, header jose.Header) *jose.JSONWebKey {
	var found *jose.JSONWebKey
	for i := range keys {
		key := &keys[i]
		if !slices.Contains(keyAlgorithms(key), header.Algorithm) || header.KeyID != "" && header.KeyID != key.KeyID {
			continue
		}
		if found != nil {
			return nil
		}
		found = key
	}
	return found
}
