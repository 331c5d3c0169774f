package oauth_test

import (
	"testing"
	"time"

	"gatehouse/oauth"
)

func TestStrengthOfSignIn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, asked, has, can string
		next                  oauth.NextStep
		refused               bool
	}{
		{"BR-12 nothing asked", "", "one", "two", oauth.NextConsent, false},
		{"BR-12 as strong as asked", "two", "two", "two", oauth.NextConsent, false},
		{"BR-12 stronger than asked", "one", "two", "two", oauth.NextConsent, false},
		{"BR-12 weaker: sign in again", "two", "one", "two", oauth.NextSignIn, false},
		{"BR-12 weaker, and the person's means are not known", "two", "one", "", oauth.NextSignIn, false},
		{"BR-12 the weakest of several is enough", "two one", "one", "one", oauth.NextConsent, false},
		{"BR-12 values that nobody knows demand nothing", "gold silver", "one", "one", oauth.NextConsent, false},
		{"BR-12 beside known ones they do not count", "gold two", "one", "two", oauth.NextSignIn, false},
		{"BR-12 more than the person can", "two", "one", "one", "", true},
		{"BR-12 a sign-in of which nothing is known", "one", "", "two", oauth.NextSignIn, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newIdentityWorld(t)
			w.person.ACR, w.person.StrongestACR = c.has, c.can
			id := w.begin(authorizeForm(documentURL, "acr_values", c.asked))
			prompt, err := w.ResumeAuthorization(t.Context(), id, w.person)
			if c.refused {
				equal(t, "check", sent(t, err, "unmet_authentication_requirements").Err.Check, "acr_values")
			} else {
				must(t, err)
				equal(t, "next", prompt.Next, c.next)
				equal(t, "stronger", prompt.StrongerDemanded, c.next == oauth.NextSignIn)
			}
			_, err = w.Decide(t.Context(), id, w.person, oauth.Decision{Allow: true, Scopes: []string{"read"}})
			if c.next == oauth.NextConsent {
				must(t, err)
			} else {
				equal(t, "a decision around the page", shown(t, err, "login_required").Check, "sign_in")
			}
		})
	}
	t.Run("BR-12 prompt=none does not ask for more", func(t *testing.T) {
		t.Parallel()
		w := newIdentityWorld(t)
		id := w.begin(authorizeForm(documentURL, "acr_values", "two", "prompt", "none"))
		_, err := w.ResumeAuthorization(t.Context(), id, w.person)
		sent(t, err, "login_required")
	})
	t.Run("BR-12 AT-1 tokens say how and when, also after a refresh", func(t *testing.T) {
		t.Parallel()
		w := newIdentityWorld(t)
		w.person.ACR, w.person.AMR = "two", []string{"pwd", "otp", "mfa"}
		response := w.connect(publicClient)
		refreshed, err := w.refresh(publicClient, response.RefreshToken)
		must(t, err)
		for _, token := range []string{response.AccessToken, refreshed.AccessToken} {
			verified, err := w.VerifyAccessToken(t.Context(), token, mainResource)
			must(t, err)
			equal(t, "acr", verified.ACR, "two")
			equal(t, "auth_time", verified.AuthTime, w.person.AuthTime)
			claims := part(t, token, 1)
			equal(t, "acr", claims["acr"], any("two"))
		}
	})
}

func TestMeets(t *testing.T) {
	t.Parallel()
	w := newIdentityWorld(t)
	now := w.clock.Now()
	for _, c := range []struct {
		name   string
		demand oauth.StepUp
		acr    string
		at     time.Time
		want   bool
	}{
		{"BR-12 no demand", oauth.StepUp{}, "", time.Time{}, true},
		{"BR-12 strength", oauth.StepUp{ACR: "two"}, "two", time.Time{}, true},
		{"BR-12 too weak", oauth.StepUp{ACR: "two"}, "one", now, false},
		{"BR-12 unknown strength", oauth.StepUp{ACR: "one"}, "", now, false},
		{"BR-12 age on the second", oauth.StepUp{MaxAge: time.Minute}, "", now.Add(-time.Minute), true},
		{"BR-12 too old", oauth.StepUp{MaxAge: time.Minute}, "two", now.Add(-time.Minute - time.Millisecond), false},
		{"BR-12 age not known", oauth.StepUp{MaxAge: time.Minute}, "two", time.Time{}, false},
	} {
		equal(t, c.name, w.Meets(c.demand, c.acr, c.at), c.want)
	}
}
