package oauth_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"gatehouse/oauth"
)

func opaque(c *oauth.Config) {
	openID(c)
	c.Resources[0].OpaqueTokens = true
}

func TestOpaqueTokens(t *testing.T) {
	t.Parallel()
	t.Run("KY-5 form, hash, and the check of it", func(t *testing.T) {
		t.Parallel()
		w := newIdentityWorld(t, opaque)
		response := w.connect(publicClient, "read")
		if !strings.HasPrefix(response.AccessToken, oauth.PrefixAccessToken) || len(response.AccessToken) != 47 {
			t.Errorf("token %q", response.AccessToken)
		}
		verified, err := w.VerifyAccessToken(t.Context(), response.AccessToken, mainResource)
		must(t, err)
		equal(t, "person", verified.Subject, "alice")
		equal(t, "connection", verified.ConnectionID, response.ConnectionID)
		equal(t, "acr", verified.ACR, "one")
		_, err = w.VerifyAccessToken(t.Context(), response.AccessToken, sideResource)
		equal(t, "check", shown(t, err, "invalid_token").Check, "aud")
		_, err = w.VerifyAccessToken(t.Context(), oauth.PrefixAccessToken+"made-up", mainResource)
		shown(t, err, "invalid_token")
		w.clock.Advance(time.Hour)
		_, err = w.VerifyAccessToken(t.Context(), response.AccessToken, mainResource)
		equal(t, "check", shown(t, err, "invalid_token").Check, "exp")
	})
	t.Run("tokens of the other form stay good, and the other resource keeps its own", func(t *testing.T) {
		t.Parallel()
		w := newIdentityWorld(t)
		old := w.connect(publicClient).AccessToken
		w.cfg.Resources[0].OpaqueTokens = true
		w.Server = w.another()
		_, err := w.VerifyAccessToken(t.Context(), old, mainResource)
		must(t, err)
		side, err := w.exchange(secretClient, w.approve(secretClient, []string{"side:read"}, "resource", sideResource))
		must(t, err)
		equal(t, "side resource has JWTs", strings.Count(side.AccessToken, "."), 2)
	})
	t.Run("RV-3 IN-3 revocation and introspection", func(t *testing.T) {
		t.Parallel()
		w := newIdentityWorld(t, opaque)
		response := w.connect(secretClient, "read")
		form := url.Values{"token": {response.AccessToken}}
		answer, err := w.Introspect(t.Context(), form, authOf(secretClient))
		must(t, err)
		equal(t, "active", answer.Active && answer.Scope == "read" && answer.ACR == "one", true)
		must(t, w.Revoke(t.Context(), form, authOf(documentURL)))
		answer, err = w.Introspect(t.Context(), form, authOf(secretClient))
		must(t, err)
		equal(t, "another client cannot revoke it", answer.Active, true)
		must(t, w.Revoke(t.Context(), form, authOf(secretClient)))
		answer, err = w.Introspect(t.Context(), form, authOf(secretClient))
		must(t, err)
		equal(t, "active after revocation", answer.Active, false)
	})
	t.Run("RT-4 narrowed by a refresh", func(t *testing.T) {
		t.Parallel()
		w := newIdentityWorld(t, opaque)
		response := w.connect(publicClient, "read", "extra")
		narrow, err := w.refresh(publicClient, response.RefreshToken, "scope", "extra")
		must(t, err)
		verified, err := w.VerifyAccessToken(t.Context(), narrow.AccessToken, mainResource)
		must(t, err)
		equal(t, "narrowed", verified.Narrowed && strings.Join(verified.Scopes, " ") == "extra", true)
	})
	t.Run("OI-1 OI-2 ID token and userinfo", func(t *testing.T) {
		t.Parallel()
		w := newIdentityWorld(t, opaque)
		response := w.identify(secretClient, []string{"openid", "email"})
		w.opened(response.IDToken, "RS256")
		info, err := w.UserInfo(t.Context(), []string{"Bearer " + response.AccessToken}, oauth.ProofRequest{})
		must(t, err)
		equal(t, "sub", info.Subject, "alice")
	})
	t.Run("DP-5 bound to a key, read by the caller", func(t *testing.T) {
		t.Parallel()
		w := newIdentityWorld(t, opaque)
		p := w.prover()
		token := w.bound(publicClient, p).AccessToken
		found, err := w.store.AccessToken(t.Context(), oauth.HashSecret(token))
		must(t, err)
		proof := func(proofs ...string) *oauth.ProofRequest {
			return &oauth.ProofRequest{Headers: proofs, Method: "POST", URL: mainResource}
		}
		must(t, w.CheckStored(t.Context(), found, token, mainResource, proof(p.Proof("POST", mainResource, token))))
		equal(t, "as bearer", shown(t, w.CheckStored(t.Context(), found, token, mainResource, nil), "invalid_token").Check, "cnf")
		equal(t, "no proof", shown(t, w.CheckStored(t.Context(), found, token, mainResource, proof()), "invalid_dpop_proof").Status, 401)
		equal(t, "resource", shown(t, w.CheckStored(t.Context(), found, token, sideResource, nil), "invalid_token").Check, "aud")
		w.clock.Advance(time.Hour)
		equal(t, "expired", shown(t, w.CheckStored(t.Context(), found, token, mainResource, nil), "invalid_token").Check, "exp")
	})
}
