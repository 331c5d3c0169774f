package oauth

// The opened signing keys of a process: RFC 7515 §4.1.4 (kid), RFC 7517.
//
// The keys live in the store; a process keeps a snapshot. It reads again when the snapshot has aged, so that every
// process signs with the same key and honours a dropped one within snapshotLife, and at once when it meets an unknown
// kid, but not more often than once in missWait: anybody can write a kid into a token.

import (
	"context"
	"crypto"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const (
	snapshotLife = 10 * time.Second
	missWait     = time.Second
	// sealPurpose is bound into sealed private keys.
	sealPurpose = "signing-key"
)

// publicKey is a key that signatures are checked with. One key has one algorithm.
type publicKey struct {
	algorithm string
	public    crypto.PublicKey
}

// activeKey is the key that signs.
type activeKey struct {
	kid       string
	algorithm string
	signer    jose.Signer
	// introspection and idToken sign other types with the same key.
	introspection jose.Signer
	idToken       jose.Signer
}

// sign makes a compact JWS.
func (k *activeKey) sign(payload []byte) (string, error) {
	jws, err := k.signer.Sign(payload)
	if err != nil {
		return "", fmt.Errorf("sign: %w", err)
	}
	return jws.CompactSerialize()
}

// keySnapshot is what a process knows of the keys. It is not changed once published.
type keySnapshot struct {
	loadedAt time.Time
	public   map[string]publicKey
	document []byte
	// active are the keys that sign, by algorithm; faults say why one is missing.
	active map[string]*activeKey
	faults map[string]error
}

type keyring struct {
	store     KeyStore
	sealer    Sealer
	algorithm string
	now       func() time.Time

	snapshot atomic.Pointer[keySnapshot]
	loading  sync.Mutex
	adding   sync.Mutex // one process makes the keys of an algorithm once
}

func newKeyring(store KeyStore, sealer Sealer, algorithm string, now func() time.Time) *keyring {
	return &keyring{store: store, sealer: sealer, algorithm: algorithm, now: now}
}

// current returns a snapshot that is not too old. While somebody reads, the others go on with the old one; when reading
// fails, everybody does.
func (k *keyring) current(ctx context.Context) (*keySnapshot, error) {
	old := k.snapshot.Load()
	if old != nil && k.now().Sub(old.loadedAt) < snapshotLife {
		return old, nil
	}
	if old == nil {
		k.loading.Lock()
	} else if !k.loading.TryLock() {
		return old, nil
	}
	defer k.loading.Unlock()
	if newer := k.snapshot.Load(); newer != old {
		return newer, nil
	}
	fresh, err := k.load(ctx)
	if err != nil && old != nil {
		return old, nil
	}
	return fresh, err
}

// reload reads the keys unless somebody did within missWait.
func (k *keyring) reload(ctx context.Context, force bool) (*keySnapshot, error) {
	k.loading.Lock()
	defer k.loading.Unlock()
	if old := k.snapshot.Load(); old != nil && !force && k.now().Sub(old.loadedAt) < missWait {
		return old, nil
	}
	return k.load(ctx)
}

// load reads and publishes; the caller holds loading.
func (k *keyring) load(ctx context.Context) (*keySnapshot, error) {
	rows, err := k.store.Keys(ctx)
	if err != nil {
		return nil, fmt.Errorf("read signing keys: %w", err)
	}
	fresh, err := k.open(rows)
	if err != nil {
		return nil, err
	}
	k.snapshot.Store(fresh)
	return fresh, nil
}

func (k *keyring) open(rows []SigningKey) (*keySnapshot, error) {
	snapshot := &keySnapshot{
		loadedAt: k.now(), public: make(map[string]publicKey, len(rows)), active: map[string]*activeKey{}, faults: map[string]error{},
	}
	document := struct {
		Keys []json.RawMessage `json:"keys"`
	}{Keys: []json.RawMessage{}}
	for i := range rows {
		row := &rows[i]
		var jwk jose.JSONWebKey
		if err := jwk.UnmarshalJSON(row.PublicJWK); err != nil {
			return nil, fmt.Errorf("signing key %s: the public part is damaged: %w", row.KID, err)
		}
		if !jwk.IsPublic() {
			return nil, fmt.Errorf("signing key %s: the public part holds a private key", row.KID)
		}
		snapshot.public[row.KID] = publicKey{algorithm: row.Algorithm, public: jwk.Key}
		document.Keys = append(document.Keys, row.PublicJWK)
		if row.State == KeyActive {
			if active, err := k.openActive(row); err != nil {
				snapshot.faults[row.Algorithm] = err
			} else {
				snapshot.active[row.Algorithm] = active
			}
		}
	}
	var err error
	if snapshot.document, err = json.Marshal(document); err != nil {
		return nil, fmt.Errorf("write key set: %w", err)
	}
	return snapshot, nil
}

// openActive opens the private part of the key that signs, or takes it over from the last snapshot.
func (k *keyring) openActive(row *SigningKey) (*activeKey, error) {
	if old := k.snapshot.Load(); old != nil && old.active[row.Algorithm] != nil && old.active[row.Algorithm].kid == row.KID {
		return old.active[row.Algorithm], nil
	}
	jwk, err := openPrivate(k.sealer, row)
	if err != nil {
		return nil, err
	}
	active, key := &activeKey{kid: row.KID, algorithm: row.Algorithm}, jose.SigningKey{Algorithm: jose.SignatureAlgorithm(row.Algorithm), Key: *jwk}
	if active.signer, err = jose.NewSigner(key, (&jose.SignerOptions{}).WithType(typeAccessToken)); err != nil {
		return nil, fmt.Errorf("signing key %s: %w", row.KID, err)
	}
	if active.introspection, err = jose.NewSigner(key, (&jose.SignerOptions{}).WithType(typeIntrospection)); err != nil {
		return nil, fmt.Errorf("signing key %s: %w", row.KID, err)
	}
	if active.idToken, err = jose.NewSigner(key, (&jose.SignerOptions{}).WithType(typeIDToken)); err != nil {
		return nil, fmt.Errorf("signing key %s: %w", row.KID, err)
	}
	return active, nil
}

// openPrivate decrypts a private key.
func openPrivate(sealer Sealer, row *SigningKey) (*jose.JSONWebKey, error) {
	plain, err := sealer.Open(sealPurpose, row.KID, row.Sealed)
	if err != nil {
		return nil, fmt.Errorf("signing key %s cannot be opened: the sealing key is not the one it was sealed with, or the row is damaged: %w", row.KID, err)
	}
	jwk := new(jose.JSONWebKey)
	if err := jwk.UnmarshalJSON(plain); err != nil {
		return nil, fmt.Errorf("signing key %s: the private part is damaged: %w", row.KID, err)
	}
	return jwk, nil
}

// signer returns the key that signs access tokens: of the configured algorithm, or of another one while that is still
// waiting for its turn.
func (k *keyring) signer(ctx context.Context) (*activeKey, error) {
	snapshot, err := k.current(ctx)
	if err != nil {
		return nil, err
	}
	for _, algorithm := range []string{k.algorithm, algES256, algEdDSA, algRS256} {
		if key := snapshot.active[algorithm]; key != nil {
			return key, nil
		}
		if fault := snapshot.faults[algorithm]; fault != nil {
			return nil, fault
		}
	}
	return nil, errors.New("there is no active signing key")
}

// signerOf returns the key that signs with an algorithm, or ErrNotFound when there is none.
func (k *keyring) signerOf(ctx context.Context, algorithm string) (*activeKey, error) {
	snapshot, err := k.current(ctx)
	switch {
	case err != nil:
		return nil, err
	case snapshot.active[algorithm] != nil:
		return snapshot.active[algorithm], nil
	case snapshot.faults[algorithm] != nil:
		return nil, snapshot.faults[algorithm]
	}
	return nil, ErrNotFound
}

// knows reports whether a key is still published.
func (k *keyring) knows(ctx context.Context, kid string) bool {
	snapshot, err := k.current(ctx)
	if err != nil {
		return false
	}
	_, ok := snapshot.public[kid]
	return ok
}

// find returns the key with this id, or ErrNotFound.
func (k *keyring) find(ctx context.Context, kid string) (publicKey, error) {
	snapshot, err := k.current(ctx)
	if err != nil {
		return publicKey{}, err
	}
	if key, ok := snapshot.public[kid]; ok {
		return key, nil
	}
	if snapshot, err = k.reload(ctx, false); err != nil {
		return publicKey{}, err
	}
	if key, ok := snapshot.public[kid]; ok {
		return key, nil
	}
	return publicKey{}, ErrNotFound
}
