package oauth

// The life of signing keys: next, active, retired. RFC 7517 §4.2, §4.4, §4.5; RFC 7638 (thumbprint as kid); RFC 8725.
//
// A key is published before it signs, so that whoever cached the key set knows it already, and stays published until
// the last token it signed has expired. Every change happens in one locked step of the store: two processes agree.

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// Signing algorithms (RFC 7518 §3.1, RFC 8037 §3.1).
const (
	algES256 = "ES256"
	algRS256 = "RS256"
	algEdDSA = "EdDSA"
)

const (
	rsaBits = 3072
	// keyLife is how long a key signs.
	keyLife = 90 * 24 * time.Hour
	// publishAhead is how long a key is published before it signs.
	publishAhead = 24 * time.Hour
	// retiredSpare is added to the longest token life before a retired key goes.
	retiredSpare = time.Hour
)

// EnsureKeys makes sure at start that there is a key to sign with and a next one, and that the sealing key opens them.
func (s *Server) EnsureKeys(ctx context.Context) error {
	return s.changeKeys(ctx, "ensure signing keys", func(keys []SigningKey) ([]SigningKey, error) {
		for i := range keys {
			if keys[i].State == KeyRetired {
				continue
			}
			if _, err := openPrivate(s.cfg.Sealer, &keys[i]); err != nil {
				return nil, err
			}
		}
		return s.ensured(keys)
	})
}

// RotateKeys makes the next key sign now, retires the active one and makes a new next one. It is the administrator's
// command: it does not wait for the next key to have been published long enough.
func (s *Server) RotateKeys(ctx context.Context) error {
	return s.changeKeys(ctx, "rotate signing keys", func(keys []SigningKey) ([]SigningKey, error) {
		keys, err := s.ensured(keys)
		if err != nil {
			return nil, err
		}
		return s.rotated(keys)
	})
}

// DropKey removes a key at once; every token it signed stops to verify, in other processes within seconds. When it was
// the active one, the next takes its place. ErrNotFound when there is no such key.
func (s *Server) DropKey(ctx context.Context, kid string) error {
	return s.changeKeys(ctx, "drop signing key", func(keys []SigningKey) ([]SigningKey, error) {
		i := slices.IndexFunc(keys, func(k SigningKey) bool { return k.KID == kid })
		if i < 0 {
			return nil, ErrNotFound
		}
		active := keys[i].State == KeyActive
		keys = slices.Delete(keys, i, i+1)
		if active {
			promote(keys, s.now())
		}
		return s.ensured(keys)
	})
}

// MaintainKeys is the job: it rotates when the active key has signed for 90 days (or is of another algorithm than the
// configured one) and the next was published for a day, and deletes retired keys whose tokens have expired.
func (s *Server) MaintainKeys(ctx context.Context) error {
	return s.changeKeys(ctx, "maintain signing keys", func(keys []SigningKey) ([]SigningKey, error) {
		now := s.now()
		keep := s.longestTokenLife() + retiredSpare
		keys = slices.DeleteFunc(keys, func(k SigningKey) bool {
			return k.State == KeyRetired && k.RetiredAt != nil && k.RetiredAt.Add(keep).Before(now)
		})
		keys, err := s.ensured(keys)
		if err != nil {
			return nil, err
		}
		if s.rotationDue(keys, now) {
			return s.rotated(keys)
		}
		return keys, nil
	})
}

// SigningKeys lists the keys without their private parts, oldest first.
func (s *Server) SigningKeys(ctx context.Context) ([]SigningKey, error) {
	keys, err := s.stores.Keys.Keys(ctx)
	if err != nil {
		return nil, fmt.Errorf("list signing keys: %w", err)
	}
	for i := range keys {
		keys[i].Sealed = nil
	}
	return keys, nil
}

func (s *Server) changeKeys(ctx context.Context, operation string, fn func([]SigningKey) ([]SigningKey, error)) error {
	if err := s.stores.Keys.ChangeKeys(ctx, fn); err != nil {
		return fmt.Errorf("%s: %w", operation, err)
	}
	if _, err := s.keys.reload(ctx, true); err != nil {
		return fmt.Errorf("%s: %w", operation, err)
	}
	return nil
}

// ensured adds what is missing: an active key, and a next one of the configured algorithm.
func (s *Server) ensured(keys []SigningKey) ([]SigningKey, error) {
	keys = slices.DeleteFunc(keys, func(k SigningKey) bool {
		return k.State == KeyNext && k.Algorithm != s.cfg.SigningAlgorithm
	})
	for _, state := range []KeyState{KeyActive, KeyNext} {
		if inState(keys, state) != nil {
			continue
		}
		key, err := s.newKey(state)
		if err != nil {
			return nil, err
		}
		keys = append(keys, *key)
	}
	return keys, nil
}

// rotated promotes the next key and adds a new next one.
func (s *Server) rotated(keys []SigningKey) ([]SigningKey, error) {
	promote(keys, s.now())
	return s.ensured(keys)
}

// promote retires the active key, if any, and makes the next one active, if any.
func promote(keys []SigningKey, now time.Time) {
	next := inState(keys, KeyNext)
	if next == nil {
		return
	}
	if active := inState(keys, KeyActive); active != nil {
		active.State, active.RetiredAt = KeyRetired, &now
	}
	next.State, next.ActivatedAt = KeyActive, &now
}

func (s *Server) rotationDue(keys []SigningKey, now time.Time) bool {
	active, next := inState(keys, KeyActive), inState(keys, KeyNext)
	if active == nil || next == nil || next.CreatedAt.Add(publishAhead).After(now) {
		return false
	}
	old := active.ActivatedAt == nil || !active.ActivatedAt.Add(keyLife).After(now)
	return old || active.Algorithm != s.cfg.SigningAlgorithm
}

func inState(keys []SigningKey, state KeyState) *SigningKey {
	i := slices.IndexFunc(keys, func(k SigningKey) bool { return k.State == state })
	if i < 0 {
		return nil
	}
	return &keys[i]
}

func (s *Server) longestTokenLife() time.Duration {
	var longest time.Duration
	for i := range s.cfg.Resources {
		longest = max(longest, s.cfg.Resources[i].accessTokenLife())
	}
	return longest
}

// newKey makes a key pair of the configured algorithm and seals the private part.
func (s *Server) newKey(state KeyState) (*SigningKey, error) {
	private, err := generateKey(s.cfg.Rand, s.cfg.SigningAlgorithm)
	if err != nil {
		return nil, fmt.Errorf("generate %s key: %w", s.cfg.SigningAlgorithm, err)
	}
	jwk := jose.JSONWebKey{Key: private, Algorithm: s.cfg.SigningAlgorithm, Use: "sig"}
	thumbprint, err := jwk.Thumbprint(crypto.SHA256)
	if err != nil {
		return nil, fmt.Errorf("thumbprint of key: %w", err)
	}
	jwk.KeyID = base64.RawURLEncoding.EncodeToString(thumbprint)
	public, err := jwk.Public().MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("write public key: %w", err)
	}
	plain, err := jwk.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("write private key: %w", err)
	}
	sealed, err := s.cfg.Sealer.Seal(sealPurpose, jwk.KeyID, plain)
	if err != nil {
		return nil, fmt.Errorf("seal private key: %w", err)
	}
	now := s.now()
	key := &SigningKey{
		KID: jwk.KeyID, Algorithm: s.cfg.SigningAlgorithm, PublicJWK: public, Sealed: sealed, State: state, CreatedAt: now,
	}
	if state == KeyActive {
		key.ActivatedAt = &now
	}
	return key, nil
}

func generateKey(rand io.Reader, algorithm string) (crypto.PrivateKey, error) {
	switch algorithm {
	case algRS256:
		return rsa.GenerateKey(rand, rsaBits)
	case algEdDSA:
		_, private, err := ed25519.GenerateKey(rand)
		return private, err
	}
	return ecdsa.GenerateKey(elliptic.P256(), rand)
}
