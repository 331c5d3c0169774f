package oauth

// Signing keys by algorithm: RFC 8725 §3.1 (one algorithm per key); OpenID Connect Core §15.1 (RS256 is offered).
//
// Access tokens are signed with the configured algorithm. ID tokens are signed with what the client registered, RS256
// unless it said otherwise; a key for that is made when the first ID token needs it, so that whoever uses no OpenID
// Connect has no such keys.

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"errors"
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

// wantedAlgorithms are those that keys are kept of: the configured one, and those of ID tokens that were needed before.
func (s *Server) wantedAlgorithms(keys []SigningKey) []string {
	wanted := []string{s.cfg.SigningAlgorithm}
	for _, algorithm := range s.idTokenAlgorithms() {
		if !slices.Contains(wanted, algorithm) && keyOf(keys, KeyActive, algorithm) != nil {
			wanted = append(wanted, algorithm)
		}
	}
	return wanted
}

// ensured adds what is missing: a key that signs, and a next one for each algorithm in use.
func (s *Server) ensured(keys []SigningKey) ([]SigningKey, error) {
	wanted := s.wantedAlgorithms(keys)
	keys = slices.DeleteFunc(keys, func(k SigningKey) bool {
		return k.State == KeyNext && !slices.Contains(wanted, k.Algorithm)
	})
	// Where another algorithm signs, the configured one waits until its next key was published long enough.
	if !slices.ContainsFunc(keys, func(k SigningKey) bool { return k.State == KeyActive }) {
		active, err := s.newKey(s.cfg.SigningAlgorithm, KeyActive)
		if err != nil {
			return nil, err
		}
		keys = append(keys, *active)
	}
	for _, algorithm := range wanted {
		if keyOf(keys, KeyNext, algorithm) != nil {
			continue
		}
		next, err := s.newKey(algorithm, KeyNext)
		if err != nil {
			return nil, err
		}
		keys = append(keys, *next)
	}
	return keys, nil
}

// completed adds an active and a next key of one algorithm where they are missing.
func (s *Server) completed(keys []SigningKey, algorithm string) ([]SigningKey, error) {
	for _, state := range []KeyState{KeyActive, KeyNext} {
		if keyOf(keys, state, algorithm) != nil {
			continue
		}
		key, err := s.newKey(algorithm, state)
		if err != nil {
			return nil, err
		}
		keys = append(keys, *key)
	}
	return keys, nil
}

// addAlgorithm makes the first key of an algorithm; the job adds the next one. It is made outside the lock of the store,
// since an RSA key takes a while; whoever comes second throws its own away.
func (s *Server) addAlgorithm(ctx context.Context, algorithm string) error {
	made, err := s.newKey(algorithm, KeyActive)
	if err != nil {
		return err
	}
	return s.changeKeys(ctx, "add signing key", func(keys []SigningKey) ([]SigningKey, error) {
		if keyOf(keys, KeyActive, algorithm) != nil {
			return keys, nil
		}
		return append(keys, *made), nil
	})
}

// idTokenKey is the key that signs ID tokens of an algorithm.
func (s *Server) idTokenKey(ctx context.Context, algorithm string) (*activeKey, error) {
	key, err := s.keys.signerOf(ctx, algorithm)
	if !errors.Is(err, ErrNotFound) {
		return key, err
	}
	s.keys.adding.Lock()
	defer s.keys.adding.Unlock()
	if key, err = s.keys.signerOf(ctx, algorithm); !errors.Is(err, ErrNotFound) {
		return key, err
	}
	if err := s.addAlgorithm(ctx, algorithm); err != nil {
		return nil, err
	}
	return s.keys.signerOf(ctx, algorithm)
}

// keyOf finds the key of an algorithm in a state, or nil.
func keyOf(keys []SigningKey, state KeyState, algorithm string) *SigningKey {
	i := slices.IndexFunc(keys, func(k SigningKey) bool { return k.State == state && k.Algorithm == algorithm })
	if i < 0 {
		return nil
	}
	return &keys[i]
}

// livingAlgorithms lists the algorithms of keys that sign or will, oldest first.
func livingAlgorithms(keys []SigningKey) []string {
	var all []string
	for _, k := range keys {
		if k.State != KeyRetired && !slices.Contains(all, k.Algorithm) {
			all = append(all, k.Algorithm)
		}
	}
	return all
}

// isTakeover reports whether an algorithm is about to be signed with for the first time.
func isTakeover(keys []SigningKey, algorithm string) bool {
	return keyOf(keys, KeyNext, algorithm) != nil && keyOf(keys, KeyActive, algorithm) == nil
}

func (s *Server) longestTokenLife() time.Duration {
	longest := idTokenLife
	for i := range s.cfg.Resources {
		longest = max(longest, s.cfg.Resources[i].accessTokenLife())
	}
	return longest
}

// newKey makes a key pair and seals the private part.
func (s *Server) newKey(algorithm string, state KeyState) (*SigningKey, error) {
	private, err := generateKey(s.cfg.Rand, algorithm)
	if err != nil {
		return nil, fmt.Errorf("generate %s key: %w", algorithm, err)
	}
	jwk := jose.JSONWebKey{Key: private, Algorithm: algorithm, Use: "sig"}
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
		KID: jwk.KeyID, Algorithm: algorithm, PublicJWK: public, Sealed: sealed, State: state, CreatedAt: now,
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
