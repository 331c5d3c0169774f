package oauth

// Signing keys: RFC 7517, RFC 7638 (thumbprints as kid).

import (
	"context"
	"time"
)

// KeyState is the place of a signing key in its life.
type KeyState string

// The states of a signing key. Next and retired keys are published but do not sign.
const (
	KeyNext    KeyState = "next"
	KeyActive  KeyState = "active"
	KeyRetired KeyState = "retired"
)

// SigningKey is one key pair; the private part is sealed.
type SigningKey struct {
	// KID is the RFC 7638 SHA-256 thumbprint of the public key.
	KID       string
	Algorithm string // ES256, RS256 or EdDSA
	// PublicJWK is the public key as a JWK with use, alg and kid.
	PublicJWK []byte
	// Sealed is the private JWK under the sealing key.
	Sealed      []byte
	State       KeyState
	CreatedAt   time.Time
	ActivatedAt *time.Time
	RetiredAt   *time.Time
}

// KeyStore keeps signing keys.
type KeyStore interface {
	// Keys returns all keys, oldest first.
	Keys(ctx context.Context) ([]SigningKey, error)
	// ChangeKeys runs fn with all keys under a lock that holds across processes, then stores the set fn returns: rows
	// missing from it are deleted, new ones inserted, others updated.
	ChangeKeys(ctx context.Context, fn func(keys []SigningKey) ([]SigningKey, error)) error
}

// Sealer encrypts small secrets under a key from outside the database. The purpose and the row's id are bound in as
// associated data, so that a sealed value cannot be moved to another row.
type Sealer interface {
	Seal(purpose, id string, plain []byte) ([]byte, error)
	Open(purpose, id string, sealed []byte) ([]byte, error)
}
