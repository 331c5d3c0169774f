package oauthtest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/uuid"
)

// Prover is a client's side of DPoP: it signs proofs of possession (RFC 9449 §4.2) with a key of its own.
type Prover struct {
	t   testing.TB
	key crypto.Signer
	alg jose.SignatureAlgorithm
	// Now is the clock of the client.
	Now func() time.Time
}

// NewProver makes a prover with a new ES256 key.
func NewProver(t testing.TB, now func() time.Time) *Prover {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), reader)
	if err != nil {
		t.Fatal(err)
	}
	return NewProverWith(t, key, jose.ES256, now)
}

// NewProverWith makes a prover with a given key and algorithm.
func NewProverWith(t testing.TB, key crypto.Signer, alg jose.SignatureAlgorithm, now func() time.Time) *Prover {
	return &Prover{t: t, key: key, alg: alg, Now: now}
}

// Thumbprint is the key's thumbprint (RFC 7638).
func (p *Prover) Thumbprint() string {
	p.t.Helper()
	sum, err := (&jose.JSONWebKey{Key: p.key.Public()}).Thumbprint(crypto.SHA256)
	if err != nil {
		p.t.Fatal(err)
	}
	return base64.RawURLEncoding.EncodeToString(sum)
}

// Proof signs a proof for a request; token is the access token that goes along, or "". Changes are pairs of a name and
// a value: "typ" and "jwk" change the header, others the claims, and nil takes a member out.
func (p *Prover) Proof(method, url, token string, changes ...any) string {
	p.t.Helper()
	header := map[string]any{"typ": "dpop+jwt", "jwk": jose.JSONWebKey{Key: p.key.Public()}}
	claims := map[string]any{"jti": uuid.NewString(), "htm": method, "htu": url, "iat": p.Now().Unix()}
	if token != "" {
		sum := sha256.Sum256([]byte(token))
		claims["ath"] = base64.RawURLEncoding.EncodeToString(sum[:])
	}
	for i := 0; i+1 < len(changes); i += 2 {
		name, member := changes[i].(string), claims
		if name == "typ" || name == "jwk" {
			member = header
		}
		if member[name] = changes[i+1]; changes[i+1] == nil {
			delete(member, name)
		}
	}
	return p.sign(header, claims)
}

func (p *Prover) sign(header, claims map[string]any) string {
	p.t.Helper()
	options := &jose.SignerOptions{}
	for name, value := range header {
		options.WithHeader(jose.HeaderKey(name), value)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: p.alg, Key: p.key}, options)
	if err != nil {
		p.t.Fatal(err)
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		p.t.Fatal(err)
	}
	jws, err := signer.Sign(payload)
	if err != nil {
		p.t.Fatal(err)
	}
	text, err := jws.CompactSerialize()
	if err != nil {
		p.t.Fatal(err)
	}
	return text
}
