package oauth_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"gatehouse/oauth"
)

// A pushed request is kept like any other, and a stranger can push.
func TestPushedRequestSize(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.PushAuthorization(t.Context(), authorizeForm(publicClient, "state", strings.Repeat("s", 8<<10)), authOf(publicClient))
	if err != nil {
		t.Errorf("PA-1 a state of 8 KiB: %v", err)
	}
	_, err = w.PushAuthorization(t.Context(), authorizeForm(publicClient, "state", strings.Repeat("s", 60<<10)), authOf(publicClient))
	var refused *oauth.Error
	if !errors.As(err, &refused) || refused.Code != "invalid_request" || refused.Check != "length" {
		t.Errorf("X-11 a pushed state of 60 KiB: %v", err)
	}
}

// Whoever steals an unbound refresh token must not get around the detection of theft by binding it to a key of their own.
func TestStolenTokenBound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		uses int
	}{{"used once more", 2}, {"used often", 3}} {
		t.Run("RT-10 DP-7 "+c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			thief := w.prover()
			tokens, err := w.exchange(publicClient, w.approve(publicClient, []string{"read"}))
			must(t, err)
			stolen := tokens.RefreshToken
			for range c.uses {
				got, err := w.tokenWith(publicClient, []string{thief.Proof("POST", tokenURL, "")}, refreshForm(stolen))
				must(t, err)
				stolen = got.RefreshToken
				w.clock.Advance(2 * time.Minute)
			}
			if _, err := w.refresh(publicClient, tokens.RefreshToken); err == nil {
				t.Fatal("the first token works beside a successor that was used")
			}
			if _, err := w.tokenWith(publicClient, []string{thief.Proof("POST", tokenURL, "")}, refreshForm(stolen)); err == nil {
				t.Error("the thief goes on: the use of the token by its first holder was not taken for reuse")
			}
		})
	}
}

// A thief who comes after an answer got lost finds a successor that its holder knows without a key.
func TestStolenPredecessorBound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	thief := w.prover()
	tokens, err := w.exchange(publicClient, w.approve(publicClient, []string{"read"}))
	must(t, err)
	mine, err := w.refresh(publicClient, tokens.RefreshToken)
	must(t, err)
	stolen, err := w.tokenWith(publicClient, []string{thief.Proof("POST", tokenURL, "")}, refreshForm(tokens.RefreshToken))
	must(t, err)
	equal(t, "RT-9 successor", stolen.RefreshToken, mine.RefreshToken)
	if _, err := w.refresh(publicClient, mine.RefreshToken); err != nil {
		t.Errorf("RT-10 the thief took the sign-in over without a trace: %v", err)
	}
}
