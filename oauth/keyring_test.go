package oauth_test

import (
	"context"
	"crypto"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"gatehouse/oauth"
	"gatehouse/oauth/oauthtest"
)

// states lists algorithm and state of all keys, oldest first.
func (w *world) states() string {
	w.t.Helper()
	keys, err := w.store.Keys(w.t.Context())
	must(w.t, err)
	var all []string
	for _, k := range keys {
		all = append(all, string(k.State))
	}
	return strings.Join(all, " ")
}

func (w *world) keyIn(state oauth.KeyState) oauth.SigningKey {
	w.t.Helper()
	keys, err := w.SigningKeys(w.t.Context())
	must(w.t, err)
	for _, k := range keys {
		if k.State == state {
			return k
		}
	}
	w.t.Fatalf("no %s key", state)
	return oauth.SigningKey{}
}

func TestJWKS(t *testing.T) {
	t.Parallel()
	for _, algorithm := range []string{"ES256", "RS256", "EdDSA"} {
		t.Run("KY-2 "+algorithm, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(c *oauth.Config) { c.SigningAlgorithm = algorithm })
			document, err := w.JWKS(t.Context())
			must(t, err)
			var raw struct{ Keys []map[string]any }
			must(t, json.Unmarshal(document, &raw))
			equal(t, "KY-3 keys: active and next", len(raw.Keys), 2)
			for _, k := range raw.Keys {
				for _, private := range []string{"d", "p", "q", "dp", "dq", "qi", "k"} {
					if _, there := k[private]; there {
						t.Errorf("private part %s is published", private)
					}
				}
				equal(t, "use", k["use"], any("sig"))
				equal(t, "alg", k["alg"], any(algorithm))
			}
			var set jose.JSONWebKeySet
			must(t, json.Unmarshal(document, &set))
			for _, k := range set.Keys {
				thumbprint, err := k.Thumbprint(crypto.SHA256)
				must(t, err)
				equal(t, "kid", k.KeyID, base64.RawURLEncoding.EncodeToString(thumbprint))
			}
		})
	}
}

func TestKeyRotation(t *testing.T) {
	t.Parallel()
	t.Run("KY-3 first start, and again", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		equal(t, "states", w.states(), "active next")
		must(t, w.EnsureKeys(t.Context()))
		equal(t, "states", w.states(), "active next")
	})
	t.Run("KY-3 the command rotates at once and old tokens live on", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		next := w.keyIn(oauth.KeyNext)
		old := w.connect(publicClient).AccessToken
		must(t, w.RotateKeys(t.Context()))
		equal(t, "states", w.states(), "retired active next")
		equal(t, "active", w.keyIn(oauth.KeyActive).KID, next.KID)
		fresh := w.connect(publicClient).AccessToken
		equal(t, "kid", part(t, fresh, 0)["kid"], any(next.KID))
		for _, token := range []string{old, fresh} {
			_, err := w.VerifyAccessToken(t.Context(), token, mainResource)
			must(t, err)
		}
	})
	t.Run("KY-3 the job rotates after 90 days", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		first := w.keyIn(oauth.KeyActive).KID
		w.clock.Advance(90*day - time.Millisecond)
		must(t, w.MaintainKeys(t.Context()))
		equal(t, "active", w.keyIn(oauth.KeyActive).KID, first)
		w.clock.Advance(time.Millisecond)
		must(t, w.MaintainKeys(t.Context()))
		equal(t, "states", w.states(), "retired active next")
		equal(t, "retired", w.keyIn(oauth.KeyRetired).KID, first)
	})
	t.Run("KY-3 a next key is published for a day before it signs", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.clock.Advance(90 * day)
		must(t, w.DropKey(t.Context(), w.keyIn(oauth.KeyNext).KID))
		active := w.keyIn(oauth.KeyActive).KID
		w.clock.Advance(24*time.Hour - time.Millisecond)
		must(t, w.MaintainKeys(t.Context()))
		equal(t, "active", w.keyIn(oauth.KeyActive).KID, active)
		w.clock.Advance(time.Millisecond)
		must(t, w.MaintainKeys(t.Context()))
		equal(t, "rotated", w.keyIn(oauth.KeyActive).KID != active, true)
	})
	t.Run("KY-3 a retired key stays for the longest token life and an hour", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, func(c *oauth.Config) { c.Resources[1].AccessTokenLife = 3 * time.Hour })
		must(t, w.RotateKeys(t.Context()))
		w.clock.Advance(4 * time.Hour)
		must(t, w.MaintainKeys(t.Context()))
		equal(t, "states", w.states(), "retired active next")
		w.clock.Advance(time.Millisecond)
		must(t, w.MaintainKeys(t.Context()))
		equal(t, "states", w.states(), "active next")
	})
	t.Run("KY-1 another algorithm takes over by rotation", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		old := w.connect(publicClient).AccessToken
		w.cfg.SigningAlgorithm = "EdDSA"
		w.Server = w.another()
		equal(t, "active", w.keyIn(oauth.KeyActive).Algorithm, "ES256")
		equal(t, "next", w.keyIn(oauth.KeyNext).Algorithm, "EdDSA")
		w.clock.Advance(day)
		must(t, w.MaintainKeys(t.Context()))
		equal(t, "active", w.keyIn(oauth.KeyActive).Algorithm, "EdDSA")
		w.clock.Advance(-day) // the old token's hour
		_, err := w.VerifyAccessToken(t.Context(), old, mainResource)
		must(t, err)
	})
	t.Run("KY-3 dropping the active key", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		next := w.keyIn(oauth.KeyNext).KID
		must(t, w.DropKey(t.Context(), w.keyIn(oauth.KeyActive).KID))
		equal(t, "states", w.states(), "active next")
		equal(t, "active", w.keyIn(oauth.KeyActive).KID, next)
		if err := w.DropKey(t.Context(), "nothing"); !errors.Is(err, oauth.ErrNotFound) {
			t.Errorf("error is %v", err)
		}
	})
	t.Run("KY-3 two processes that start at once agree", func(t *testing.T) {
		t.Parallel()
		m := oauthtest.NewMemory()
		w := newWorld(t)
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				s, err := oauth.New(w.cfg, m.Stores())
				if err == nil {
					err = s.EnsureKeys(t.Context())
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		keys, err := m.Keys(t.Context())
		must(t, err)
		equal(t, "keys", len(keys), 2)
	})
}

func TestKeysAcrossProcesses(t *testing.T) {
	t.Parallel()
	t.Run("KY-3 an unknown kid is looked up at once, but not by everybody", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		counted := &countedKeys{KeyStore: w.store}
		stores := w.store.Stores()
		stores.Keys = counted
		other, err := oauth.New(w.cfg, stores)
		must(t, err)
		must(t, other.EnsureKeys(t.Context()))
		must(t, w.RotateKeys(t.Context()))
		must(t, w.RotateKeys(t.Context())) // now a key signs that the other process never saw
		token := w.connect(publicClient).AccessToken
		_, err = other.VerifyAccessToken(t.Context(), token, mainResource)
		equal(t, "check within a second of the last reading", shown(t, err, "invalid_token").Check, "kid")
		w.clock.Advance(time.Second)
		_, err = other.VerifyAccessToken(t.Context(), token, mainResource)
		must(t, err)

		w.clock.Advance(time.Second)
		before := counted.reads.Load()
		f := newForge(t, w)
		f.key.KeyID = "made up"
		forged := f.sign("at+jwt", f.claims())
		for range 100 {
			_, err = other.VerifyAccessToken(t.Context(), forged, mainResource)
			shown(t, err, "invalid_token")
		}
		equal(t, "readings", counted.reads.Load()-before, int64(1))
	})
	t.Run("KY-3 the others sign with the new key within seconds", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		other := w.another()
		must(t, w.RotateKeys(t.Context()))
		w.clock.Advance(10 * time.Second)
		w.Server = other
		equal(t, "kid", part(t, w.connect(publicClient).AccessToken, 0)["kid"], any(w.keyIn(oauth.KeyActive).KID))
	})
	t.Run("KY-4 a wrong sealing key is refused at start, in words", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.cfg.Sealer = oauthtest.NewSealer("another key")
		s, err := oauth.New(w.cfg, w.store.Stores())
		must(t, err)
		if err := s.EnsureKeys(t.Context()); err == nil || !strings.Contains(err.Error(), "sealing key") {
			t.Errorf("error is %v", err)
		}
		equal(t, "states", w.states(), "active next")
	})
	t.Run("KY-4 a sealed key cannot be moved to another row", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		must(t, w.store.ChangeKeys(t.Context(), func(keys []oauth.SigningKey) ([]oauth.SigningKey, error) {
			keys[0].Sealed, keys[1].Sealed = keys[1].Sealed, keys[0].Sealed
			return keys, nil
		}))
		s, err := oauth.New(w.cfg, w.store.Stores())
		must(t, err)
		if s.EnsureKeys(t.Context()) == nil {
			t.Error("accepted")
		}
	})
}

type countedKeys struct {
	oauth.KeyStore
	reads atomic.Int64
}

func (c *countedKeys) Keys(ctx context.Context) ([]oauth.SigningKey, error) {
	c.reads.Add(1)
	return c.KeyStore.Keys(ctx)
}
