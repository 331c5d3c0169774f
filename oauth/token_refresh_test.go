package oauth_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"gatehouse/oauth"
)

const day = 24 * time.Hour

func TestRefreshRotation(t *testing.T) {
	t.Parallel()
	t.Run("RT-2 CN-67 each use gives a new pair with 30 fresh days", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		token := w.connect(publicClient).RefreshToken
		for range 5 {
			w.clock.Advance(30*day - time.Second)
			next, err := w.refresh(publicClient, token)
			must(t, err)
			equal(t, "rotated", next.RefreshToken != token, true)
			token = next.RefreshToken
		}
	})
	t.Run("RT-6 CN-69 idle for 30 days", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		response := w.connect(publicClient)
		w.clock.Advance(30 * day)
		_, err := w.refresh(publicClient, response.RefreshToken)
		shown(t, err, "invalid_grant")
		if w.store.Family(response.FamilyID).EndedAt != nil {
			t.Error("an expired token ended the family")
		}
	})
	t.Run("RT-6 the absolute limit", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, func(c *oauth.Config) { c.Resources[0].RefreshTokenLimit = 180 * day })
		token := w.connect(publicClient).RefreshToken
		for range 8 {
			w.clock.Advance(20 * day)
			next, err := w.refresh(publicClient, token)
			must(t, err)
			token = next.RefreshToken
		}
		w.clock.Advance(20 * day)
		_, err := w.refresh(publicClient, token)
		equal(t, "check", shown(t, err, "invalid_grant").Check, "family_limit")
	})
	t.Run("RT-2 confidential clients keep their token and renew it", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		token := w.connect(secretClient).RefreshToken
		for range 3 {
			w.clock.Advance(29 * day)
			next, err := w.refresh(secretClient, token)
			must(t, err)
			equal(t, "token", next.RefreshToken, token)
		}
		w.clock.Advance(30 * day)
		_, err := w.refresh(secretClient, token)
		shown(t, err, "invalid_grant")
	})
	t.Run("RT-1 another client gets nothing and ends nothing", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		token := w.connect(publicClient).RefreshToken
		_, err := w.refresh(secretClient, token)
		shown(t, err, "invalid_grant")
		_, err = w.refresh(publicClient, token)
		must(t, err)
		_, err = w.refresh(secretClient, token)
		shown(t, err, "invalid_grant")
		_, err = w.refresh(publicClient, token) // the predecessor still works
		must(t, err)
	})
	t.Run("unknown token", func(t *testing.T) {
		t.Parallel()
		_, err := newWorld(t).refresh(publicClient, "gtr_x")
		shown(t, err, "invalid_grant")
	})
}

func TestRefreshGrace(t *testing.T) {
	t.Parallel()
	for name, wait := range map[string]time.Duration{
		"RT-9 same successor within 60 s":                      59 * time.Second,
		"RT-9 same successor later, while it was never used":   20 * day,
		"RT-9 also when the use itself came on the last day":   30*day - time.Second,
		"settled-4 same successor at once, the answer is lost": 0,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			token := w.connect(publicClient).RefreshToken
			w.clock.Advance(29 * day)
			first, err := w.refresh(publicClient, token)
			must(t, err)
			w.clock.Advance(wait)
			again, err := w.refresh(publicClient, token)
			must(t, err)
			equal(t, "successor", again.RefreshToken, first.RefreshToken)
			equal(t, "a new access token", again.AccessToken != first.AccessToken, true)
			// Its life starts anew when it is handed out after the grace.
			if wait > time.Minute {
				w.clock.Advance(29 * day)
				_, err = w.refresh(publicClient, first.RefreshToken)
				must(t, err)
			}
		})
	}
	t.Run("RT-3 settled-3 a token whose successor was used ends the family, not the connection", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		other := w.connect(publicClient)
		first := w.connect(publicClient)
		second, err := w.refresh(publicClient, first.RefreshToken)
		must(t, err)
		third, err := w.refresh(publicClient, second.RefreshToken)
		must(t, err)
		_, err = w.refresh(publicClient, first.RefreshToken)
		equal(t, "check", shown(t, err, "invalid_grant").Check, "refresh_reuse")
		equal(t, "reason", w.store.Family(first.FamilyID).EndedReason, oauth.EndedByReuse)
		for _, token := range []string{first.RefreshToken, second.RefreshToken, third.RefreshToken} {
			_, err = w.refresh(publicClient, token)
			shown(t, err, "invalid_grant")
		}
		step, told := w.lastStep(oauth.StepReuseDetected)
		equal(t, "told", told && step.UserID == "alice" && step.ConnectionID == first.ConnectionID, true)
		if w.store.Connection(first.ConnectionID).EndedAt != nil {
			t.Error("the connection has ended")
		}
		_, err = w.refresh(publicClient, other.RefreshToken)
		must(t, err)
	})
	t.Run("RT-9 the predecessor works only until its successor is used", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		first := w.connect(publicClient)
		second, err := w.refresh(publicClient, first.RefreshToken)
		must(t, err)
		_, err = w.refresh(publicClient, first.RefreshToken)
		must(t, err)
		third, err := w.refresh(publicClient, second.RefreshToken)
		must(t, err)
		again, err := w.refresh(publicClient, second.RefreshToken)
		must(t, err)
		equal(t, "successor", again.RefreshToken, third.RefreshToken)
	})
	t.Run("CN-68 grace 0: a used token is reuse at once", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, func(c *oauth.Config) { c.Resources[0].RefreshGrace = new(time.Duration) })
		first := w.connect(publicClient)
		second, err := w.refresh(publicClient, first.RefreshToken)
		must(t, err)
		_, err = w.refresh(publicClient, first.RefreshToken)
		shown(t, err, "invalid_grant")
		_, err = w.refresh(publicClient, second.RefreshToken)
		shown(t, err, "invalid_grant")
	})
	t.Run("RT-9 the database alone does not yield the successor", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		token := w.connect(publicClient).RefreshToken
		next, err := w.refresh(publicClient, token)
		must(t, err)
		l, err := w.store.Lineage(t.Context(), oauth.HashSecret(token))
		must(t, err)
		if strings.Contains(string(l.Token.SuccessorSealed), next.RefreshToken) || len(l.Token.SuccessorSealed) == 0 {
			t.Error("the successor is readable")
		}
	})
}

func TestRefreshRace(t *testing.T) {
	t.Parallel()
	// all runs n refreshes of one token over two processes.
	all := func(w *world, token string, n int) (answers []*oauth.TokenResponse, failures []error) {
		servers := []*oauth.Server{w.Server, w.another()}
		var mu sync.Mutex
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() {
				answer, err := servers[i%2].Token(t.Context(), url.Values{"grant_type": {"refresh_token"}, "refresh_token": {token}}, authOf(publicClient))
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					failures = append(failures, err)
				} else {
					answers = append(answers, answer)
				}
			})
		}
		wg.Wait()
		return answers, failures
	}
	t.Run("RT-10 ten at once: ten answers, one successor, one family", func(t *testing.T) {
		t.Parallel()
		for range 20 {
			w := newWorld(t)
			answers, failures := all(w, w.connect(publicClient).RefreshToken, 10)
			equal(t, "answers", len(answers), 10)
			for _, err := range failures {
				t.Error(err)
			}
			for _, a := range answers {
				equal(t, "successor", a.RefreshToken, answers[0].RefreshToken)
				equal(t, "family", a.FamilyID, answers[0].FamilyID)
			}
			_, err := w.refresh(publicClient, answers[0].RefreshToken)
			must(t, err)
		}
	})
	t.Run("CN-68 ten at once with grace 0: at most one answer", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, func(c *oauth.Config) { c.Resources[0].RefreshGrace = new(time.Duration) })
		answers, failures := all(w, w.connect(publicClient).RefreshToken, 10)
		equal(t, "answers", len(answers), 1)
		for _, err := range failures {
			shown(t, err, "invalid_grant")
		}
	})
}

// TestRefreshOvertaken: another process rotates the token between this one's reading and writing.
func TestRefreshOvertaken(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		grace *time.Duration
	}{{"RT-10 the loser answers with the winner's successor", nil}, {"CN-68 with grace 0 the loser is reuse", new(time.Duration)}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(cfg *oauth.Config) { cfg.Resources[0].RefreshGrace = c.grace })
			first := w.connect(publicClient)
			var won *oauth.TokenResponse
			stores := w.store.Stores()
			stores.Tokens = overtaking{stores.Tokens, func() {
				var err error
				won, err = w.refresh(publicClient, first.RefreshToken)
				must(t, err)
			}}
			slow, err := oauth.New(w.cfg, stores)
			must(t, err)
			lost, err := slow.Token(t.Context(), url.Values{"grant_type": {"refresh_token"}, "refresh_token": {first.RefreshToken}}, authOf(publicClient))
			if c.grace != nil {
				shown(t, err, "invalid_grant")
				equal(t, "reason", w.store.Family(first.FamilyID).EndedReason, oauth.EndedByReuse)
				return
			}
			must(t, err)
			equal(t, "successor", lost.RefreshToken, won.RefreshToken)
		})
	}
}

// overtaking calls first before each rotation.
type overtaking struct {
	oauth.TokenStore
	first func()
}

func (o overtaking) RotateRefreshToken(ctx context.Context, presented []byte, successor *oauth.RefreshToken, sealed []byte, at time.Time) error {
	o.first()
	return o.TokenStore.RotateRefreshToken(ctx, presented, successor, sealed, at)
}

func TestRefreshScope(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, scope, code, granted string }{
		{"RT-4 none asked", "", "", "read write"},
		{"RT-4 all asked", "write read", "", "read write"},
		{"RT-4 narrower", "read", "", "read"},
		{"RT-8 offline_access is accepted", "read write offline_access", "", "read write"},
		{"RT-8 offline_access alone narrows nothing", "offline_access", "", "read write"},
		{"RT-4 wider", "read write extra", "invalid_scope", ""},
		{"RT-4 of another resource", "side:read", "invalid_scope", ""},
		{"AZ-6 malformed", "re\"ad", "invalid_scope", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			first, err := w.exchange(publicClient, w.approve(publicClient, []string{"write"}))
			must(t, err)
			response, err := w.refresh(publicClient, first.RefreshToken, "scope", c.scope)
			if c.code != "" {
				shown(t, err, c.code)
				l, err := w.store.Lineage(t.Context(), oauth.HashSecret(first.RefreshToken))
				must(t, err)
				equal(t, "token used up", l.Token.SuccessorHash != nil, false)
				return
			}
			must(t, err)
			equal(t, "scope", response.Scope, c.granted)
			token, err := w.VerifyAccessToken(t.Context(), response.AccessToken, mainResource)
			must(t, err)
			equal(t, "CN-74 nar", token.Narrowed, c.granted == "read")
			equal(t, "connection", strings.Join(w.store.Connection(first.ConnectionID).Scopes, " "), "read write")
			wide, err := w.refresh(publicClient, response.RefreshToken)
			must(t, err)
			equal(t, "scope afterwards", wide.Scope, "read write")
		})
	}
}

func TestRefreshResource(t *testing.T) {
	t.Parallel()
	t.Run("RT-5 must match, and costs nothing when it does not", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		token := w.connect(publicClient).RefreshToken
		for _, wrong := range []string{sideResource, "https://other.example/", "nonsense"} {
			_, err := w.refresh(publicClient, token, "resource", wrong)
			shown(t, err, "invalid_target")
		}
		l, err := w.store.Lineage(t.Context(), oauth.HashSecret(token))
		must(t, err)
		equal(t, "token used up", l.Token.SuccessorHash != nil, false)
		_, err = w.refresh(publicClient, token, "resource", "HTTPS://auth.EXAMPLE/mcp")
		must(t, err)
	})
	t.Run("RT-5 not served any more", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		token := w.connect(publicClient, "side:read").RefreshToken
		w.cfg.Resources = w.cfg.Resources[:1]
		_, err := w.another().Token(t.Context(), url.Values{"grant_type": {"refresh_token"}, "refresh_token": {token}, "resource": {sideResource}}, authOf(publicClient))
		shown(t, err, "invalid_grant")
	})
}

func TestRefreshEnded(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(w *world, r *oauth.TokenResponse) error{
		"RT-7 account disabled": func(w *world, _ *oauth.TokenResponse) error { w.store.DisableUser("alice"); return nil },
		"RT-7 CN-77 disconnected": func(w *world, r *oauth.TokenResponse) error {
			_, err := w.store.EndConnection(w.t.Context(), r.ConnectionID, oauth.EndedByUser, w.clock.Now())
			return err
		},
		"settled-3 installation ended": func(w *world, r *oauth.TokenResponse) error {
			_, err := w.store.EndFamily(w.t.Context(), r.FamilyID, oauth.EndedByUser, w.clock.Now())
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			response := w.connect(publicClient)
			must(t, end(w, response))
			_, err := w.refresh(publicClient, response.RefreshToken, "resource", sideResource, "scope", "nonsense")
			shown(t, err, "invalid_grant") // and nothing that makes a client keep trying
		})
	}
}

// TestRefreshSurvivesMintFailure: a failure after all checks must not cost the client its token.
func TestRefreshSurvivesMintFailure(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *oauth.Config) { c.Resources[0].RefreshGrace = new(time.Duration) })
	token := w.connect(publicClient).RefreshToken
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {token}}

	stores := w.store.Stores()
	stores.Keys = brokenKeys{stores.Keys}
	broken, err := oauth.New(w.cfg, stores)
	must(t, err)
	_, err = broken.Token(t.Context(), form, authOf(publicClient))
	shown(t, err, "temporarily_unavailable")

	code := w.approve(publicClient, []string{"read"})
	_, err = broken.Token(t.Context(), url.Values{"grant_type": {"authorization_code"}, "code": {code}, "code_verifier": {verifier}}, authOf(publicClient))
	shown(t, err, "temporarily_unavailable")

	_, err = w.refresh(publicClient, token)
	must(t, err)
	_, err = w.exchange(publicClient, code)
	must(t, err)
}

type brokenKeys struct{ oauth.KeyStore }

func (brokenKeys) Keys(context.Context) ([]oauth.SigningKey, error) {
	return nil, errors.New("down")
}

func TestRefreshScopeAfterTheConnectionChanged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	wide, err := w.exchange(publicClient, w.approve(publicClient, []string{"write"}))
	must(t, err)
	slim, err := w.exchange(publicClient, w.approve(publicClient, []string{"read"}))
	must(t, err)
	// The connection now has read alone. The first installation still believes in write and repeats what it was granted.
	response, err := w.refresh(publicClient, wide.RefreshToken, "scope", "read write")
	must(t, err)
	equal(t, "RT-4 what was taken away is no longer given, and no error", response.Scope, "read")
	_, err = w.refresh(publicClient, slim.RefreshToken, "scope", "write")
	shown(t, err, "invalid_scope")
	_, err = w.exchange(publicClient, w.approve(publicClient, []string{"write"}))
	must(t, err)
	// Now it has write again. The second installation repeats the little it was granted: that is all it knows of.
	response, err = w.refresh(publicClient, slim.RefreshToken, "scope", "read")
	must(t, err)
	equal(t, "CN-74 what was added holds", response.Scope, "read write")
	token, err := w.VerifyAccessToken(t.Context(), response.AccessToken, mainResource)
	must(t, err)
	equal(t, "CN-74 nar", token.Narrowed, false)
}
