package oauth_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"gatehouse/oauth"
)

// keys lists algorithm and state of all keys, oldest first.
func (w *world) keyStates() string {
	w.t.Helper()
	keys, err := w.SigningKeys(w.t.Context())
	must(w.t, err)
	var all []string
	for _, k := range keys {
		all = append(all, k.Algorithm+" "+string(k.State))
	}
	return strings.Join(all, ", ")
}

func (w *world) keyOf(algorithm string, state oauth.KeyState) oauth.SigningKey {
	w.t.Helper()
	keys, err := w.SigningKeys(w.t.Context())
	must(w.t, err)
	for _, k := range keys {
		if k.State == state && k.Algorithm == algorithm {
			return k
		}
	}
	w.t.Fatalf("no %s %s key among %s", algorithm, state, w.keyStates())
	return oauth.SigningKey{}
}

// withRSA is a world in which an ID token was made.
func withRSA(t *testing.T) *world {
	w := newIdentityWorld(t)
	w.identify(secretClient, []string{"openid"})
	equal(t, "keys", w.keyStates(), "ES256 active, ES256 next, RS256 active")
	must(t, w.MaintainKeys(t.Context()))
	equal(t, "keys", w.keyStates(), "ES256 active, ES256 next, RS256 active, RS256 next")
	return w
}

func TestKeysByAlgorithm(t *testing.T) {
	t.Parallel()
	t.Run("KY-3 many ID tokens at once make one key", func(t *testing.T) {
		t.Parallel()
		w := newIdentityWorld(t)
		codes := make([]string, 3)
		for i := range codes {
			codes[i] = w.approve(secretClient, []string{"openid"}, "scope", "openid")
		}
		other := w.another()
		var wg sync.WaitGroup
		for i, s := range []*oauth.Server{w.Server, w.Server, other} {
			wg.Go(func() {
				if _, err := s.Token(t.Context(), codeForm(codes[i]), authOf(secretClient)); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		equal(t, "keys", w.keyStates(), "ES256 active, ES256 next, RS256 active")
	})
	t.Run("KY-3 each algorithm rotates by its own age", func(t *testing.T) {
		t.Parallel()
		w := newIdentityWorld(t)
		w.clock.Advance(10 * day)
		w.identify(secretClient, []string{"openid"})
		must(t, w.MaintainKeys(t.Context()))
		w.clock.Advance(80 * day)
		must(t, w.MaintainKeys(t.Context()))
		equal(t, "keys", w.keyStates(), "ES256 retired, ES256 active, RS256 active, RS256 next, ES256 next")
		w.clock.Advance(10 * day)
		must(t, w.MaintainKeys(t.Context()))
		equal(t, "keys", w.keyStates(), "ES256 active, RS256 retired, RS256 active, ES256 next, RS256 next")
	})
	t.Run("KY-3 the command rotates all, or one", func(t *testing.T) {
		t.Parallel()
		w := withRSA(t)
		next := w.keyOf("RS256", oauth.KeyNext).KID
		must(t, w.RotateKeys(t.Context(), "RS256"))
		equal(t, "RS256", w.keyOf("RS256", oauth.KeyActive).KID, next)
		equal(t, "keys", w.keyStates(), "ES256 active, ES256 next, RS256 retired, RS256 active, RS256 next")
		must(t, w.RotateKeys(t.Context()))
		equal(t, "keys", w.keyStates(), "ES256 retired, ES256 active, RS256 retired, RS256 retired, RS256 active, ES256 next, RS256 next")
		if err := w.RotateKeys(t.Context(), "EdDSA"); !errors.Is(err, oauth.ErrNotFound) {
			t.Errorf("an algorithm without keys: %v", err)
		}
	})
	t.Run("KY-1 the command goes by the database, not by its own configuration", func(t *testing.T) {
		t.Parallel()
		w := withRSA(t)
		cfg := w.cfg
		cfg.SigningAlgorithm = "EdDSA" // as a command without the server's settings would have it
		command, err := oauth.New(cfg, w.store.Stores())
		must(t, err)
		must(t, command.RotateKeys(t.Context(), "ES256"))
		must(t, command.DropKey(t.Context(), w.keyOf("ES256", oauth.KeyActive).KID))
		must(t, command.DropKey(t.Context(), w.keyOf("RS256", oauth.KeyNext).KID))
		if strings.Contains(w.keyStates(), "EdDSA") {
			t.Errorf("keys: %s", w.keyStates())
		}
		for _, algorithm := range []string{"ES256", "RS256"} {
			w.keyOf(algorithm, oauth.KeyActive)
			w.keyOf(algorithm, oauth.KeyNext)
		}
	})
	t.Run("KY-1 the command while another algorithm is about to take over", func(t *testing.T) {
		t.Parallel()
		for _, run := range []func(w *world) error{
			func(w *world) error { return w.RotateKeys(w.t.Context()) },
			func(w *world) error { return w.DropKey(w.t.Context(), w.keyOf("ES256", oauth.KeyActive).KID) },
		} {
			w := newWorld(t)
			w.cfg.SigningAlgorithm = "EdDSA"
			w.Server = w.another()
			equal(t, "before", w.keyStates(), "ES256 active, EdDSA next")
			must(t, run(w))
			w.keyOf("EdDSA", oauth.KeyActive)
			w.keyOf("EdDSA", oauth.KeyNext)
			equal(t, "ES256 signs on", strings.Contains(w.keyStates(), "ES256 active"), false)
			equal(t, "alg", part(t, w.connect(publicClient).AccessToken, 0)["alg"], any("EdDSA"))
		}
	})
	t.Run("KY-1 a change of the algorithm leaves the keys of ID tokens alone", func(t *testing.T) {
		t.Parallel()
		w := withRSA(t)
		w.cfg.SigningAlgorithm = "EdDSA"
		w.Server = w.another()
		equal(t, "alg for a day yet", part(t, w.connect(publicClient).AccessToken, 0)["alg"], any("ES256"))
		w.clock.Advance(day)
		must(t, w.MaintainKeys(t.Context()))
		equal(t, "alg", part(t, w.connect(publicClient).AccessToken, 0)["alg"], any("EdDSA"))
		equal(t, "keys", w.keyStates(), "ES256 retired, RS256 active, RS256 next, EdDSA active, EdDSA next")
		w.opened(w.identify(secretClient, []string{"openid"}).IDToken, "RS256")
	})
	t.Run("AT-1 an access token signed with RS256 verifies", func(t *testing.T) {
		t.Parallel()
		w := newIdentityWorld(t, func(c *oauth.Config) { c.SigningAlgorithm = "RS256" })
		response := w.identify(secretClient, []string{"openid", "read"})
		_, err := w.VerifyAccessToken(t.Context(), response.AccessToken, mainResource)
		must(t, err)
		equal(t, "alg", part(t, response.AccessToken, 0)["alg"], any("RS256"))
		w.opened(response.IDToken, "RS256")
		equal(t, "one pair for both", w.keyStates(), "RS256 active, RS256 next")
	})
	t.Run("KY-3 a retired key outlives the ID tokens it signed", func(t *testing.T) {
		t.Parallel()
		w := newIdentityWorld(t, func(c *oauth.Config) {
			c.Resources[0].AccessTokenLife, c.Resources[1].AccessTokenLife = time.Minute, time.Minute
		})
		token := w.identify(secretClient, []string{"openid"}).IDToken
		must(t, w.RotateKeys(t.Context()))
		w.clock.Advance(time.Hour)
		must(t, w.MaintainKeys(t.Context()))
		w.opened(token, "RS256")
	})
}
