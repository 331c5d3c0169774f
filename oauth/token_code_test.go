package oauth_test

import (
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"gatehouse/oauth"
)

func TestTokenRequestShape(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, code string
		form       url.Values
		auth       oauth.ClientAuthentication
	}{
		{"X-4 grant_type twice", "invalid_request", url.Values{"grant_type": {"refresh_token", "refresh_token"}}, authOf(publicClient)},
		{"X-4 code twice", "invalid_request", url.Values{"grant_type": {"authorization_code"}, "code": {"a", "a"}}, authOf(publicClient)},
		{"TK-9 grant_type missing", "invalid_request", url.Values{}, authOf(publicClient)},
		{"X-5 TK-9 grant_type empty", "invalid_request", url.Values{"grant_type": {""}}, authOf(publicClient)},
		{"TK-9 password", "unsupported_grant_type", url.Values{"grant_type": {"password"}}, authOf(publicClient)},
		{"TK-9 client_credentials", "unauthorized_client", url.Values{"grant_type": {"client_credentials"}}, authOf(secretClient)},
		{"TK-9 not registered for the grant", "unauthorized_client", url.Values{"grant_type": {"refresh_token"}}, authOf("gc_other")},
		{"TK-4 unknown client", "invalid_client", url.Values{"grant_type": {"refresh_token"}}, authOf("gc_nobody")},
		{"TK-4 client comes before grant", "invalid_client", url.Values{"grant_type": {"password"}}, authOf("gc_nobody")},
		{"code missing", "invalid_request", url.Values{"grant_type": {"authorization_code"}}, authOf(publicClient)},
		{"refresh_token missing", "invalid_request", url.Values{"grant_type": {"refresh_token"}}, authOf(publicClient)},
		{"CG-3 unknown code", "invalid_grant", url.Values{"grant_type": {"authorization_code"}, "code": {"x"}}, authOf(publicClient)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.saveClient(&oauth.Client{ID: "gc_other", Kind: oauth.ClientDynamic, AuthMethods: []string{"none"}, GrantTypes: []string{"x"}})
			_, err := w.Token(t.Context(), c.form, c.auth)
			shown(t, err, c.code)
		})
	}
}

func TestExchangeCode(t *testing.T) {
	t.Parallel()
	t.Run("TK-3 RT-8 the answer", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		response, err := w.exchange(publicClient, w.approve(publicClient, []string{"write"}))
		must(t, err)
		body, err := json.Marshal(response)
		must(t, err)
		var fields map[string]any
		must(t, json.Unmarshal(body, &fields))
		equal(t, "token_type", fields["token_type"], any("Bearer"))
		equal(t, "expires_in", fields["expires_in"], any(3600.0))
		equal(t, "scope", fields["scope"], any("read write"))
		equal(t, "TK-12 GM-1 grant_id", fields["grant_id"], any(response.ConnectionID))
		equal(t, "fields", len(fields), 6)
		if !strings.HasPrefix(response.RefreshToken, "gtr_") {
			t.Errorf("refresh token %q", response.RefreshToken)
		}
		step, _ := w.lastStep(oauth.StepCodeRedeemed)
		equal(t, "step", step.OK && step.UserID == "alice" && step.ConnectionID == response.ConnectionID && step.RequestID != "", true)
	})
	t.Run("CN-63 CN-72 the exchange writes the connection, again updates it", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		code := w.approve(publicClient, []string{"write"})
		has, err := w.store.ClientHasConnection(t.Context(), publicClient)
		must(t, err)
		equal(t, "connection before the exchange", has, false)
		first, err := w.exchange(publicClient, code)
		must(t, err)
		second := w.connect(publicClient, "read")
		equal(t, "connection", second.ConnectionID, first.ConnectionID)
		equal(t, "same family", second.FamilyID == first.FamilyID, false)
		equal(t, "scopes", strings.Join(w.store.Connection(first.ConnectionID).Scopes, " "), "read")
		if w.store.Family(first.FamilyID).EndedAt != nil {
			t.Error("CI-19 connecting again ended the other installation")
		}
	})
	t.Run("CG-4 PK-4 redirect_uri may be left out", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		_, err := w.exchange(publicClient, w.approve(publicClient, []string{"read"}), "redirect_uri", "-")
		must(t, err)
	})
	t.Run("CS-4 no token outlives the connection", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		ends := w.clock.Now().Add(10 * time.Minute)
		response, err := w.exchange(publicClient, w.approveWith(authorizeForm(publicClient), oauth.Decision{Allow: true, Scopes: []string{"read"}, ExpiresAt: &ends}))
		must(t, err)
		equal(t, "expires_in", response.ExpiresIn, int64(600))
		w.clock.Advance(10 * time.Minute)
		_, err = w.refresh(publicClient, response.RefreshToken)
		shown(t, err, "invalid_grant")
	})
	t.Run("the device hint reaches the family", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		form := url.Values{"grant_type": {"authorization_code"}, "code": {w.approve(publicClient, []string{"read"})}, "code_verifier": {verifier}}
		response, err := w.Token(oauth.WithDeviceHint(t.Context(), "laptop"), form, authOf(publicClient))
		must(t, err)
		equal(t, "hint", w.store.Family(response.FamilyID).DeviceHint, "laptop")
	})
}

// TestExchangeRefused: every wrong attempt is refused without using the code up: the right one works afterwards.
func TestExchangeRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, client, code, check string
		changes                   []string
	}{
		{"CN-61 CG-3 another client", secretClient, "invalid_grant", "code_client", nil},
		{"CN-62 PK-4 wrong verifier", publicClient, "invalid_grant", "code_verifier", []string{"code_verifier", strings.Repeat("x", 43)}},
		{"PK-4 short verifier", publicClient, "invalid_grant", "code_verifier", []string{"code_verifier", "x"}},
		{"PK-4 verifier missing", publicClient, "invalid_request", "code_verifier", []string{"code_verifier", "-"}},
		{"CN-61 CG-4 another redirect URI", publicClient, "invalid_grant", "redirect_uri", []string{"redirect_uri", redirectURI + "&x"}},
		{"RI-2 another resource", publicClient, "invalid_target", "resource", []string{"resource", sideResource}},
		{"RI-2 unknown resource", publicClient, "invalid_target", "resource", []string{"resource", "https://x.example"}},
		{"TK-9 code and grant of another kind", publicClient, "invalid_request", "refresh_token", []string{"grant_type", "refresh_token"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			code := w.approve(publicClient, []string{"read"})
			_, err := w.exchange(c.client, code, c.changes...)
			e := shown(t, err, c.code)
			equal(t, "check", e.Check, c.check)
			response, err := w.exchange(publicClient, code)
			must(t, err)

			// CG-2: the same wrong attempt at the used code revokes nothing.
			_, err = w.exchange(c.client, code, c.changes...)
			shown(t, err, c.code)
			_, err = w.refresh(publicClient, response.RefreshToken)
			must(t, err)
		})
	}
	t.Run("CG-3 CN-58 expired", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		code := w.approve(publicClient, []string{"read"})
		w.clock.Advance(time.Minute)
		_, err := w.exchange(publicClient, code)
		shown(t, err, "invalid_grant")
	})
	t.Run("CG-5 disabled since", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		code := w.approve(publicClient, []string{"read"})
		w.store.DisableUser("alice")
		_, err := w.exchange(publicClient, code)
		shown(t, err, "invalid_grant")
	})
	t.Run("CG-5 the chosen end has passed", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		ends := w.clock.Now().Add(time.Second)
		code := w.approveWith(authorizeForm(publicClient), oauth.Decision{Allow: true, Scopes: []string{"read"}, ExpiresAt: &ends})
		w.clock.Advance(time.Second)
		_, err := w.exchange(publicClient, code)
		shown(t, err, "invalid_grant")
	})
	t.Run("RT-5 resource not served any more", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		code := w.approve(publicClient, []string{"side:read"}, "scope", "side:read")
		w.cfg.Resources = w.cfg.Resources[:1]
		_, err := w.another().Token(t.Context(), url.Values{"grant_type": {"authorization_code"}, "code": {code}, "code_verifier": {verifier}}, authOf(publicClient))
		shown(t, err, "invalid_grant")
	})
	t.Run("PK-5 a verifier for a code without challenge", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		secret, id := "gtc_old", w.begin(authorizeForm(publicClient))
		must(t, w.store.DecideRequest(t.Context(), id, oauth.OutcomeAllowed, w.clock.Now(), &oauth.AuthorizationCode{
			Hash: oauth.HashSecret(secret), RedirectURI: redirectURI, ExpiresAt: w.clock.Now().Add(time.Minute),
			Approval: oauth.Approval{UserID: "alice", ClientID: publicClient, Resource: mainResource, Scopes: []string{"read"}},
		}))
		_, err := w.exchange(publicClient, secret)
		shown(t, err, "invalid_request")
		_, err = w.exchange(publicClient, secret, "code_verifier", "-")
		shown(t, err, "invalid_request")
	})
}

func TestCodeReplay(t *testing.T) {
	t.Parallel()
	t.Run("CG-2 a correct replay ends the family of that code", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		other := w.connect(publicClient)
		code := w.approve(publicClient, []string{"read"})
		response, err := w.exchange(publicClient, code)
		must(t, err)
		_, err = w.exchange(publicClient, code)
		shown(t, err, "invalid_grant")
		equal(t, "reason", w.store.Family(response.FamilyID).EndedReason, oauth.EndedByReplay)
		_, err = w.refresh(publicClient, response.RefreshToken)
		shown(t, err, "invalid_grant")
		_, err = w.refresh(publicClient, other.RefreshToken)
		must(t, err)
		_, told := w.lastStep(oauth.StepReuseDetected)
		equal(t, "told", told, true)
	})
	t.Run("CG-2 also when the code has expired since", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		code := w.approve(publicClient, []string{"read"})
		response, err := w.exchange(publicClient, code)
		must(t, err)
		w.clock.Advance(time.Hour)
		_, err = w.exchange(publicClient, code)
		shown(t, err, "invalid_grant")
		equal(t, "reason", w.store.Family(response.FamilyID).EndedReason, oauth.EndedByReplay)
	})
	t.Run("CG-1 twenty at once, one succeeds", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		servers := []*oauth.Server{w.Server, w.another()}
		form := url.Values{"grant_type": {"authorization_code"}, "code": {w.approve(publicClient, []string{"read"})}, "code_verifier": {verifier}}
		var mu sync.Mutex
		var wg sync.WaitGroup
		won := 0
		for i := range 20 {
			wg.Go(func() {
				_, err := servers[i%2].Token(t.Context(), form, authOf(publicClient))
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					won++
					return
				}
				if e := (*oauth.Error)(nil); !errors.As(err, &e) || e.Code != "invalid_grant" {
					t.Errorf("a loser got %v", err)
				}
			})
		}
		wg.Wait()
		equal(t, "winners", won, 1)
	})
}

func TestTokenStoreDown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	code := w.approve(publicClient, []string{"read"})
	token := w.connect(publicClient).RefreshToken
	w.store.Fail(errors.New("down"))
	_, err := w.exchange(publicClient, code)
	e := shown(t, err, "temporarily_unavailable")
	equal(t, "X-10 status", e.Status, 503)
	equal(t, "X-10 Retry-After", e.RetryAfter > 0, true)
	_, err = w.refresh(publicClient, token)
	shown(t, err, "temporarily_unavailable")
	shown(t, w.Revoke(t.Context(), url.Values{"token": {token}}, authOf(publicClient)), "temporarily_unavailable")
	w.store.Fail(nil)
	_, err = w.exchange(publicClient, code)
	must(t, err)
	_, err = w.refresh(publicClient, token)
	must(t, err)
}
