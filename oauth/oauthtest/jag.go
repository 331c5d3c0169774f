package oauthtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"encoding/json"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/uuid"
)

// IdentityProvider signs identity assertion grants (ID-JAG) with a key of its own.
type IdentityProvider struct {
	t   testing.TB
	key *ecdsa.PrivateKey
	// Issuer is its identifier, Now its clock.
	Issuer string
	Now    func() time.Time
}

// NewIdentityProvider makes one with a new ES256 key.
func NewIdentityProvider(t testing.TB, issuer string, now func() time.Time) *IdentityProvider {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), reader)
	if err != nil {
		t.Fatal(err)
	}
	return &IdentityProvider{t: t, key: key, Issuer: issuer, Now: now}
}

// KeySet is its public key as a JWK Set.
func (p *IdentityProvider) KeySet() json.RawMessage {
	p.t.Helper()
	set, err := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: p.key.Public(), KeyID: "idp", Algorithm: "ES256", Use: "sig"}}})
	if err != nil {
		p.t.Fatal(err)
	}
	return set
}

// Assert signs an assertion for a client, to a server. Changes are pairs of a name and a value: "typ" changes the header,
// others the claims, and nil takes a claim out.
func (p *IdentityProvider) Assert(server, client, subject string, changes ...any) string {
	p.t.Helper()
	now := p.Now().Unix()
	typ := "oauth-id-jag+jwt"
	claims := map[string]any{"iss": p.Issuer, "sub": subject, "aud": server, "client_id": client, "jti": uuid.NewString(), "iat": now, "exp": now + 300}
	for i := 0; i < len(changes); i += 2 {
		name := changes[i].(string)
		switch value := changes[i+1]; {
		case name == "typ":
			typ = value.(string)
		case value == nil:
			delete(claims, name)
		default:
			claims[name] = value
		}
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: p.key, KeyID: "idp"}},
		(&jose.SignerOptions{}).WithType(jose.ContentType(typ)))
	if err != nil {
		p.t.Fatal(err)
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		p.t.Fatal(err)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		p.t.Fatal(err)
	}
	text, err := signed.CompactSerialize()
	if err != nil {
		p.t.Fatal(err)
	}
	return text
}
