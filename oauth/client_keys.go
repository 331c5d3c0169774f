package oauth

// The public keys of clients: RFC 7591 §2 (jwks, jwks_uri), RFC 7517 §4, §5; draft-ietf-oauth-client-id-metadata-document
// §6, §8.6 (fetching under guard).
//
// A fetched set is kept in the memory of the process: it can be had again, and processes that hold it for different
// times disagree no longer than keysFresh.

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"golang.org/x/sync/singleflight"
)

const (
	// keysFresh is how long a fetched set is used without asking; keysRetry is the least time between two fetches of one
	// set that unknown keys cause; keysFailed is how long a failure is not tried again; keysLastGood is how long a set
	// stands in while its host is away.
	keysFresh    = 5 * time.Minute
	keysRetry    = 30 * time.Second
	keysFailed   = 5 * time.Second
	keysLastGood = time.Hour
	// maxKeySetBytes bounds a fetched set, maxKeySets the sets kept.
	maxKeySetBytes = 64 << 10
	maxKeySets     = 500
	minRSABits     = 2048
)

// keySets fetches and keeps the sets behind jwks_uri: one flight per URL.
type keySets struct {
	flights singleflight.Group
	mu      sync.Mutex
	byURL   map[string]fetchedKeys
}

type fetchedKeys struct {
	keys      []jose.JSONWebKey
	fetchedAt time.Time
	// failure is the last one since, at failedAt.
	failure  error
	failedAt time.Time
}

func (k *keySets) get(url string) fetchedKeys {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.byURL[url]
}

// put keeps a set. When there are too many, the old ones go, and if none is old, any.
func (k *keySets) put(url string, set fetchedKeys) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.byURL) >= maxKeySets {
		for other, old := range k.byURL {
			if set.fetchedAt.Sub(old.fetchedAt) > keysFresh {
				delete(k.byURL, other)
			}
		}
		for other := range k.byURL {
			if len(k.byURL) < maxKeySets {
				break
			}
			delete(k.byURL, other)
		}
	}
	k.byURL[url] = set
}

// usesKeys reports whether clients can authenticate by their keys: keys have to be fetched, and that needs a fetcher.
func (s *Server) usesKeys() bool { return s.cfg.Fetch != nil }

// clientKeys returns the client's keys. With again, a fetched set is fetched anew unless that was done a moment ago.
func (s *Server) clientKeys(ctx context.Context, c *Client, again bool) ([]jose.JSONWebKey, error) {
	if c.JWKSURI == "" {
		keys, err := parseKeySet(c.JWKS)
		if err != nil {
			return nil, badAssertion("The client has no usable keys.").WithCause(err)
		}
		return keys, nil
	}
	kept := s.docs.keys.get(c.JWKSURI)
	has, age := len(kept.keys) > 0, s.now().Sub(kept.fetchedAt)
	if has && (age < keysRetry || !again && age < keysFresh) {
		return kept.keys, nil
	}
	var keys []jose.JSONWebKey
	err := kept.failure
	if err == nil || s.now().Sub(kept.failedAt) >= keysFailed {
		keys, err = s.fetchKeys(ctx, c)
	}
	if err != nil && has && !again && age < keysLastGood && errors.Is(err, errDocumentAway) {
		return kept.keys, nil
	}
	return keys, freshError(err)
}

// fetchKeys fetches the client's set in the one flight for its URL. Strangers have flights of their own: what turns theirs
// away must not turn others away.
func (s *Server) fetchKeys(ctx context.Context, c *Client) ([]jose.JSONWebKey, error) {
	address, stranger := c.JWKSURI, c.Kind == ClientDynamic
	result := s.docs.keys.flights.DoChan(strconv.FormatBool(stranger)+" "+address, func() (any, error) {
		flight, cancel := context.WithTimeout(context.WithoutCancel(ctx), maxFlight)
		defer cancel()
		keys, err := s.fetchKeySet(flight, address, stranger)
		if errors.Is(err, errFetchLimit) {
			return nil, err // nobody was asked: it says nothing about the set
		}
		set := fetchedKeys{keys: keys, fetchedAt: s.now()}
		if err != nil {
			set = s.docs.keys.get(address)
			set.failure, set.failedAt = err, s.now()
		}
		s.docs.keys.put(address, set)
		return keys, err
	})
	select {
	case <-ctx.Done():
		return nil, TemporarilyUnavailable(fmt.Errorf("fetch client keys: %w", ctx.Err())).WithCheck("client_keys")
	case r := <-result:
		if r.Err != nil {
			return nil, freshError(r.Err)
		}
		return r.Val.([]jose.JSONWebKey), nil
	}
}

// fetchKeySet makes the one request. A host that is away is no fault of the client's: on invalid_client it would throw
// its registration away.
func (s *Server) fetchKeySet(ctx context.Context, address string, stranger bool) ([]jose.JSONWebKey, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, badKeys("The jwks_uri of the client is not a URL.").WithCause(err)
	}
	done, wait := s.docs.limiter(stranger).begin(fetchOrigin(u), s.now())
	if done == nil {
		return nil, SlowDown(wait).WithCheck("client_keys").WithCause(errFetchLimit)
	}
	defer done()
	answer, err := s.cfg.Fetch.FetchKeySet(ctx, address)
	switch {
	case errors.Is(err, ErrFetchRefused):
		return nil, badKeys("The keys of the client may not be fetched from where they are, or are too large.").WithCause(err)
	case err != nil:
		return nil, keysAway(fmt.Errorf("%w: %w", errDocumentAway, err))
	case answer.Status >= 500 || answer.Status == http.StatusTooManyRequests:
		return nil, keysAway(fmt.Errorf("%w: status %d", errDocumentAway, answer.Status))
	case answer.Status != http.StatusOK:
		return nil, badKeys(fmt.Sprintf("The jwks_uri of the client answered with status %d instead of 200.", answer.Status))
	case len(answer.Body) > maxKeySetBytes:
		return nil, badKeys("The key set of the client is larger than 64 KB.")
	}
	keys, err := parseKeySet(answer.Body)
	if err != nil {
		return nil, badKeys("The jwks_uri of the client does not hold a usable key set.").WithCause(err)
	}
	return keys, nil
}

func badKeys(description string) *Error { return InvalidClient(description).WithCheck("client_keys") }

func keysAway(cause error) *Error {
	e := newError(http.StatusServiceUnavailable, "temporarily_unavailable", "The keys of the client could not be fetched. Try again shortly.")
	e.RetryAfter = 5 * time.Second
	return e.WithCheck("client_keys").WithCause(cause)
}

// parseKeySet reads the keys that can verify an assertion. Keys of unknown kinds are passed over (RFC 7517 §5); a
// private or symmetric key spoils the set, since whoever reads it could sign.
func parseKeySet(raw []byte) ([]jose.JSONWebKey, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(raw, &set); err != nil {
		return nil, fmt.Errorf("read key set: %w", err)
	}
	var keys []jose.JSONWebKey
	for _, one := range set.Keys {
		if holdsSecret(one) {
			return nil, errors.New("read key set: it holds a private or symmetric key")
		}
		var key jose.JSONWebKey
		if key.UnmarshalJSON(one) == nil && len(keyAlgorithms(&key)) > 0 {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return nil, errors.New("read key set: no key in it can verify an assertion")
	}
	return keys, nil
}

// holdsSecret reports whether a JWK has a member that only private and symmetric keys have.
func holdsSecret(jwk []byte) bool {
	var members map[string]json.RawMessage
	if json.Unmarshal(jwk, &members) != nil {
		return false
	}
	return slices.ContainsFunc([]string{"d", "k", "p", "q", "dp", "dq", "qi", "oth"}, func(name string) bool {
		_, found := members[name]
		return found
	})
}

// keyAlgorithms lists the algorithms that a key may be used with here: those of its kind, and only the one it names.
func keyAlgorithms(key *jose.JSONWebKey) []string {
	var all []string
	switch public := key.Key.(type) {
	case *rsa.PublicKey:
		if public.N.BitLen() >= minRSABits {
			all = []string{string(jose.RS256), string(jose.PS256)}
		}
	case *ecdsa.PublicKey:
		if public.Curve == elliptic.P256() {
			all = []string{string(jose.ES256)}
		}
	case ed25519.PublicKey:
		all = []string{string(jose.EdDSA)}
	}
	if key.Use != "" && key.Use != "sig" {
		return nil
	}
	if key.Algorithm != "" {
		return keep(all, key.Algorithm)
	}
	return all
}

// takeKeys puts the keys of the metadata into a client that authenticates by them, or says what is wrong with them.
func (m clientMetadata) takeKeys(c *Client) error {
	algorithm, err := m.text("token_endpoint_auth_signing_alg")
	if err != nil {
		return err
	}
	if algorithm != "" && !slices.Contains(assertionAlgorithmNames(), algorithm) {
		return InvalidClientMetadata("The token_endpoint_auth_signing_alg is not supported. Use one of " + strings.Join(assertionAlgorithmNames(), ", ") + ".").
			WithCheck("token_endpoint_auth_signing_alg")
	}
	address, err := m.text("jwks_uri")
	if err != nil {
		return err
	}
	switch {
	case (address != "") == m.has("jwks"):
		return InvalidClientMetadata("A client with private_key_jwt needs either jwks or jwks_uri.").WithCheck("jwks")
	case address != "" && !isKeysURI(address):
		return InvalidClientMetadata("The jwks_uri must be an https URL without user information and fragment.").WithCheck("jwks_uri")
	}
	var compact bytes.Buffer
	if address == "" {
		if _, err := parseKeySet(m["jwks"]); err != nil {
			return InvalidClientMetadata("jwks holds no key that is usable for private_key_jwt.").WithCheck("jwks").WithCause(err)
		}
		if err := json.Compact(&compact, m["jwks"]); err != nil {
			return wrongType("jwks", "a JWK Set")
		}
		c.JWKS = compact.Bytes()
	}
	c.JWKSURI, c.AssertionAlgorithm = address, algorithm
	return nil
}

func isKeysURI(value string) bool {
	return isInformationURI(value) && !strings.Contains(value, "#")
}
