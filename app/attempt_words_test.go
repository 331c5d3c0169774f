package app

import (
	"testing"

	"gatehouse/app/handshake"
)

func TestStepTitles(t *testing.T) {
	t.Parallel()
	for step, words := range stepWords {
		if stepTitle(t.Context(), step, true) != words.done || stepTitle(t.Context(), step, false) != words.failed || words.done == "" || words.failed == "" {
			t.Errorf("oauth.md §6 %s: %+v", step, words)
		}
		if words.done == words.failed && step != handshake.StepReuseDetected {
			t.Errorf("oauth.md §6 %s reads the same whether it worked or not", step)
		}
	}
	if got := stepTitle(t.Context(), "another", false); got != "another" {
		t.Errorf("a step without words: %q", got)
	}
}

func TestDetailWords(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		step   string
		ok     bool
		detail string
		want   string
	}{
		{handshake.StepChallenge, true, "POST", ""},
		{handshake.StepChallenge, false, "other.example", "other.example"},
		{handshake.StepRegister, true, "none, 1 redirect URIs, first to localhost", "1 redirect URI, to localhost; it has no secret of its own"},
		{handshake.StepRegister, true, "client_secret_post, 3 redirect URIs, first to a.example", "3 redirect URIs, the first to a.example; it proves itself with a secret"},
		{handshake.StepRegister, true, "something else", "something else"},
		{handshake.StepDocument, true, "status 200, 12 ms, changed: name, redirect_uris", "status 200 after 12 ms; changed: name, redirect_uris"},
		{handshake.StepDocument, false, "no answer, 5000 ms", "no answer after 5000 ms"},
		{handshake.StepDocument, false, "something else", "something else"},
		{handshake.StepAuthorize, true, "localhost", "The answer goes to localhost."},
		{handshake.StepAuthorize, true, "client document not fetched yet", "Its own description comes next."},
		{handshake.StepConsentShown, true, "claude.ai", "The answer goes to claude.ai."},
		{handshake.StepDecision, true, "allowed, answer to claude.ai", "allowed; the answer goes to claude.ai"},
		{handshake.StepDecision, true, "denied", "denied"},
		{handshake.StepCodeRedeemed, true, "authorization_code", ""},
		{handshake.StepTokenRefreshed, false, "refresh_token", ""},
		{handshake.StepTokenRefreshed, false, "password", "Unknown kind of request: password"},
		{handshake.StepTokenRevoked, true, "refresh token: the connection has ended", "the connection has ended"},
		{handshake.StepReuseDetected, false, "family 0195", ""},
		{handshake.StepRedirected, true, "claude.ai", "claude.ai"},
		{handshake.StepFirstToolCall, true, "where_is", "where_is"},
		{handshake.StepFirstRequest, true, "", ""},
	} {
		if got := detailWords(t.Context(), tc.step, tc.ok, tc.detail); got != tc.want {
			t.Errorf("oauth.md §6 %s %q: %q, want %q", tc.step, tc.detail, got, tc.want)
		}
	}
}

func TestAttemptStates(t *testing.T) {
	t.Parallel()
	redeemed := handshake.AttemptStep{Step: handshake.StepCodeRedeemed, OK: true}
	refused := func(check string) handshake.AttemptStep {
		return handshake.AttemptStep{Step: handshake.StepTokenRefreshed, Check: check}
	}
	for name, tc := range map[string]struct {
		steps                []handshake.AttemptStep
		live                 bool
		failed, done, isOver bool
	}{
		"connected":                           {[]handshake.AttemptStep{redeemed}, true, false, true, false},
		"disconnected, and not back since":    {[]handshake.AttemptStep{redeemed}, false, false, false, true},
		"disconnected, renewal refused":       {[]handshake.AttemptStep{redeemed, refused("connection_ended")}, false, false, false, true},
		"installation ended alone":            {[]handshake.AttemptStep{redeemed, refused("family_ended")}, true, false, false, true},
		"renewal long after the first record": {[]handshake.AttemptStep{refused("refresh_expired")}, true, false, false, true},
		"renewal with a wrong secret":         {[]handshake.AttemptStep{redeemed, refused("client_secret")}, true, true, false, false},
		"tokens never fetched":                {[]handshake.AttemptStep{{Step: handshake.StepCodeRedeemed, Check: "code_verifier"}}, false, true, false, false},
	} {
		a := &handshake.Attempt{ConnectionID: "c", Steps: tc.steps, Failed: !tc.steps[len(tc.steps)-1].OK}
		if got := attemptOf(t.Context(), a, tc.live); got.Failed != tc.failed || got.Done != tc.done || got.Ended != tc.isOver {
			t.Errorf("oauth.md §6 %s: %+v", name, got)
		}
	}
	if a := attemptOf(t.Context(), &handshake.Attempt{}, false); a.Failed || a.Done || a.Ended {
		t.Errorf("an attempt without steps: %+v", a)
	}
}
