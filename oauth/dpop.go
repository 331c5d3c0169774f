package oauth

// Proofs of possession: RFC 9449 §4.2, §4.3 (the proof), §6.1 and RFC 7638 (thumbprints), §7 (the resource server),
// §11.1 (replay). Left out: nonces of the server (§8, §9), which are optional; a proof is fresh by its iat and works once.
//
// A proof is a small JWT that the client signs anew for each request with a key of its own. A token bound to that key is
// worth nothing to whoever does not hold the key.

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const (
	// typeProof is the typ of the JOSE header (RFC 9449 §4.2).
	typeProof = "dpop+jwt"
	// proofWindow is how far the iat of a proof may be from now, to either side.
	proofWindow = 60 * time.Second
	// maxProof bounds what is parsed at all: a proof with a large RSA key has below three kilobytes.
	maxProof = 8 << 10
	// Bounds of RSA keys: below they are weak (RFC 8725 §3.5), above they only cost time.
	minProofRSA, maxProofRSA = 2048, 4096
)

// ProofAlgorithms are the algorithms that proofs may be signed with, as dpop_signing_alg_values_supported lists them.
func ProofAlgorithms() []string { return []string{algES256, algEdDSA, algRS256} }

// ProofRequest is a request as a proof has to describe it.
type ProofRequest struct {
	// Headers are the values of the DPoP header fields, all of them.
	Headers []string
	// Method is the HTTP method and URL the configured URL of the endpoint, which no Host header has a say in.
	Method, URL string
}

// ProofStore remembers used proofs, for all processes together.
type ProofStore interface {
	// UseProof stores the hash until it expires. A hash that is there already gives ErrUsed.
	UseProof(ctx context.Context, hash []byte, expires time.Time) error
}

// proof is a checked proof.
type proof struct {
	thumbprint string // RFC 7638, SHA-256, base64url
	id         string // jti
	tokenHash  string // ath
	issued     time.Time
}

// proofClaims are the claims as they stand in the proof.
type proofClaims struct {
	ID        string   `json:"jti"`
	Method    string   `json:"htm"`
	URL       string   `json:"htu"`
	IssuedAt  *float64 `json:"iat"`
	TokenHash string   `json:"ath"`
}

func badProof(description, check string) *Error {
	return InvalidDPoPProof(description).WithCheck("dpop_" + check)
}

// checkProof checks everything of RFC 9449 §4.3 but the access token and the replay.
func (s *Server) checkProof(r ProofRequest) (*proof, *Error) {
	if len(r.Headers) != 1 {
		return nil, badProof("The request must have exactly one DPoP header.", "header")
	}
	if len(r.Headers[0]) > maxProof {
		return nil, badProof("The DPoP proof is malformed.", "header")
	}
	// The parser refuses other algorithms, symmetric ones and none among them, and a jwk that is not a public key.
	jws, err := jose.ParseSignedCompact(r.Headers[0], []jose.SignatureAlgorithm{algES256, algEdDSA, algRS256})
	if err != nil {
		return nil, badProof("The DPoP proof is malformed or signed with an algorithm that is not supported.", "proof").WithCause(err)
	}
	header := jws.Signatures[0].Protected
	typ, _ := header.ExtraHeaders[jose.HeaderType].(string)
	switch {
	case !strings.EqualFold(typ, typeProof):
		return nil, badProof("The typ of the DPoP proof must be dpop+jwt.", "typ")
	case header.JSONWebKey == nil || !fitsAlgorithm(header.JSONWebKey, header.Algorithm):
		return nil, badProof("The jwk of the DPoP proof is missing or does not fit its alg.", "jwk")
	}
	payload, err := jws.Verify(header.JSONWebKey.Key)
	if err != nil {
		return nil, badProof("The signature of the DPoP proof is wrong.", "signature").WithCause(err)
	}
	thumbprint, err := header.JSONWebKey.Thumbprint(crypto.SHA256)
	if err != nil {
		return nil, badProof("The jwk of the DPoP proof has no thumbprint.", "jwk").WithCause(err)
	}
	return s.checkProofClaims(r, payload, base64.RawURLEncoding.EncodeToString(thumbprint))
}

func (s *Server) checkProofClaims(r ProofRequest, payload []byte, thumbprint string) (*proof, *Error) {
	var c proofClaims
	if err := json.Unmarshal(payload, &c); err != nil {
		return nil, badProof("The claims of the DPoP proof are malformed.", "claims").WithCause(err)
	}
	switch {
	case c.ID == "":
		return nil, badProof("The DPoP proof has no jti.", "jti")
	case c.Method != r.Method:
		return nil, badProof("The htm of the DPoP proof is not the method of the request.", "htm")
	case !sameProofURL(c.URL, r.URL):
		return nil, badProof("The htu of the DPoP proof is not the URL of the request.", "htu")
	case c.IssuedAt == nil || math.Abs(*c.IssuedAt) > math.MaxInt32*2:
		return nil, badProof("The DPoP proof has no proper iat.", "iat")
	}
	issued := time.UnixMilli(int64(*c.IssuedAt * 1000)).UTC()
	if age := s.now().Sub(issued); age > proofWindow || age < -proofWindow {
		return nil, badProof("The iat of the DPoP proof is too far from the time of this server.", "iat")
	}
	return &proof{thumbprint: thumbprint, id: c.ID, tokenHash: c.TokenHash, issued: issued}, nil
}

// fitsAlgorithm ties the key to the algorithm of the header.
func fitsAlgorithm(key *jose.JSONWebKey, algorithm string) bool {
	switch public := key.Key.(type) {
	case *ecdsa.PublicKey:
		return algorithm == algES256 && public.Curve == elliptic.P256()
	case *rsa.PublicKey:
		bits := public.N.BitLen()
		return algorithm == algRS256 && bits >= minProofRSA && bits <= maxProofRSA
	case ed25519.PublicKey:
		return algorithm == algEdDSA
	}
	return false
}

// useProof makes sure that a proof works once (§11.1). It comes last, so that nobody fills the store with proofs that
// would be refused anyway.
func (s *Server) useProof(ctx context.Context, p *proof) *Error {
	err := s.stores.Proofs.UseProof(ctx, HashSecret(p.thumbprint+" "+p.id), p.issued.Add(proofWindow))
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrUsed):
		return badProof("The DPoP proof was used before.", "jti")
	}
	return storeFailure("remember proof", err)
}

// requestKey is the thumbprint of the key that a token request proves, or "" when it sends no proof.
func (s *Server) requestKey(ctx context.Context, client *Client, r ProofRequest) (string, *Error) {
	if len(r.Headers) == 0 {
		if client.DPoPBound { // RFC 9449 §5.2
			return "", InvalidRequest("The client is registered for DPoP and must send a proof.").WithCheck("dpop_header")
		}
		return "", nil
	}
	p, e := s.checkProof(r)
	if e != nil {
		return "", e
	}
	if e := s.useProof(ctx, p); e != nil {
		return "", e
	}
	return p.thumbprint, nil
}

// checkKey compares the key of a request with the one that a code or a refresh token is bound to.
func checkKey(bound, proven string) *Error {
	switch {
	case bound == "" || subtle.ConstantTimeCompare([]byte(bound), []byte(proven)) == 1:
		return nil
	case proven == "":
		return InvalidGrant("This grant is bound to a key: send a DPoP proof of it.").WithCheck("dpop_key")
	}
	return InvalidGrant("This grant is bound to another key than that of the DPoP proof.").WithCheck("dpop_key")
}

// isThumbprint reports whether the value can be a dpop_jkt (RFC 9449 §10).
func isThumbprint(value string) bool {
	return len(value) == base64.RawURLEncoding.EncodedLen(sha256.Size) && !strings.ContainsFunc(value, notBase64URL)
}

// VerifyBoundToken checks a token that was sent with the DPoP scheme, with its proof, for a resource (its configured
// URI): RFC 9449 §7.1. The error is an *Error: invalid_token, invalid_dpop_proof with status 401, or
// temporarily_unavailable.
func (s *Server) VerifyBoundToken(ctx context.Context, token, resource string, r ProofRequest) (*AccessToken, error) {
	verified, e := s.verifyFor(ctx, token, resource)
	if e == nil {
		e = s.checkPossession(ctx, verified, token, r)
	}
	if e != nil {
		return nil, unauthorizedProof(e)
	}
	return verified, nil
}

func (s *Server) checkPossession(ctx context.Context, verified *AccessToken, token string, r ProofRequest) *Error {
	if verified.KeyThumbprint == "" {
		return InvalidToken("The token is not bound to a key. Send it as a bearer token.").WithCheck("cnf")
	}
	p, e := s.checkProof(r)
	if e != nil {
		return e
	}
	if subtle.ConstantTimeCompare([]byte(p.thumbprint), []byte(verified.KeyThumbprint)) != 1 {
		return InvalidToken("The token is bound to another key than that of the DPoP proof.").WithCheck("cnf")
	}
	digest := sha256.Sum256([]byte(token))
	if p.tokenHash != base64.RawURLEncoding.EncodeToString(digest[:]) {
		return badProof("The ath of the DPoP proof is not the hash of the token.", "ath")
	}
	return s.useProof(ctx, p)
}
