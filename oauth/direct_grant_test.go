package oauth_test

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"testing"
	"time"

	"gatehouse/oauth"
	"gatehouse/oauth/oauthtest"
)

// machineClient acts by its own credentials; assertingClient brings assertions.
const (
	machineClient   = "gc_machine"
	assertingClient = "gc_asserting"
)

// subjects knows alice as sub of any issuer.
type subjects struct{}

func (subjects) ResolveSubject(_ context.Context, s oauth.AssertedSubject) (*oauth.ResolvedSubject, error) {
	if s.Subject != "alice@idp" || s.Tenant == "elsewhere" {
		return nil, oauth.ErrNotFound
	}
	return &oauth.ResolvedSubject{UserID: "alice", Scopes: []string{"write"}, Terms: json.RawMessage(`{"where":"home"}`)}, nil
}

// newGrantWorld is a world in which every grant is on, with a machine and a client that brings assertions.
func newGrantWorld(t testing.TB, change ...func(*oauth.Config)) *world {
	t.Helper()
	w := newWorld(t, append(change, func(c *oauth.Config) { c.DeviceKey, c.Subjects = []byte("device key"), subjects{} })...)
	for id, grant := range map[string]string{machineClient: oauth.GrantClientCredentials, assertingClient: oauth.GrantJWTBearer} {
		w.saveClient(&oauth.Client{ID: id, Kind: oauth.ClientRegistered, AuthMethods: []string{oauth.AuthBasic, oauth.AuthPost},
			SecretHash: oauth.HashSecret(clientSecret), GrantTypes: []string{grant}, CreatedAt: w.clock.Now(), LastSeenAt: w.clock.Now()})
	}
	must(t, w.store.AllowDevices(t.Context(), publicClient, true))
	return w
}

func (w *world) withSecret(client string, form url.Values, proofs ...string) (*oauth.TokenResponse, error) {
	w.t.Helper()
	auth := oauth.ClientAuthentication{ClientID: client, ClientSecret: clientSecret, HasSecret: true}
	auth.Proof = oauth.ProofRequest{Headers: proofs, Method: "POST", URL: tokenURL}
	return w.Token(w.t.Context(), form, auth)
}

func machineForm(changes ...string) url.Values {
	return changed(url.Values{"grant_type": {oauth.GrantClientCredentials}}, changes)
}

func (w *world) grantMachine(scopes ...string) *oauth.Connection {
	w.t.Helper()
	c, err := w.GrantByAdmin(w.t.Context(), oauth.Approval{UserID: "alice", ClientID: machineClient, Resource: mainResource, Scopes: scopes})
	must(w.t, err)
	return c
}

func TestClientCredentials(t *testing.T) {
	t.Parallel()
	t.Run("CC-1 an authenticated client gets a token for what was granted, without a refresh token", func(t *testing.T) {
		t.Parallel()
		w := newGrantWorld(t)
		granted := w.grantMachine("write")
		tokens, err := w.withSecret(machineClient, machineForm())
		must(t, err)
		equal(t, "refresh token", tokens.RefreshToken, "")
		equal(t, "scope", tokens.Scope, "read write")
		equal(t, "type", tokens.TokenType, "Bearer")
		at, err := w.VerifyAccessToken(t.Context(), tokens.AccessToken, mainResource)
		must(t, err)
		equal(t, "CC-3 subject", at.Subject, "client:"+machineClient)
		equal(t, "connection", at.ConnectionID, granted.ID)
		equal(t, "narrowed", at.Narrowed, false)
		again, err := w.withSecret(machineClient, machineForm())
		must(t, err)
		equal(t, "family", again.FamilyID, tokens.FamilyID) // one installation, however often it comes
	})
	t.Run("CC-1 the scope asked for narrows, and the answer states it", func(t *testing.T) {
		t.Parallel()
		w := newGrantWorld(t)
		w.grantMachine("write")
		tokens, err := w.withSecret(machineClient, machineForm("scope", "read extra"))
		must(t, err)
		equal(t, "scope", tokens.Scope, "read")
		at, err := w.VerifyAccessToken(t.Context(), tokens.AccessToken, mainResource)
		must(t, err)
		equal(t, "narrowed", at.Narrowed, true)
		_, err = w.withSecret(machineClient, machineForm("scope", "extra"))
		shown(t, err, "invalid_scope")
	})
	t.Run("RI-5 resource is accepted, and holds", func(t *testing.T) {
		t.Parallel()
		w := newGrantWorld(t)
		w.grantMachine("read")
		tokens, err := w.withSecret(machineClient, machineForm("resource", mainResource))
		must(t, err)
		_, err = w.VerifyAccessToken(t.Context(), tokens.AccessToken, sideResource)
		shown(t, err, "invalid_token")
		_, err = w.withSecret(machineClient, machineForm("resource", sideResource))
		shown(t, err, "invalid_grant") // nothing was granted there
		_, err = w.withSecret(machineClient, machineForm("resource", "https://other.example/"))
		shown(t, err, "invalid_target")
	})
	t.Run("CC-1 a public client and one that is not registered for it are unauthorized_client", func(t *testing.T) {
		t.Parallel()
		w := newGrantWorld(t)
		for _, client := range []string{publicClient, secretClient} {
			_, err := w.Token(t.Context(), machineForm(), authOf(client))
			shown(t, err, "unauthorized_client")
		}
		w.saveClient(&oauth.Client{ID: "gc_mixed", Kind: oauth.ClientRegistered, AuthMethods: []string{oauth.AuthNone}, GrantTypes: []string{oauth.GrantClientCredentials}})
		_, err := w.Token(t.Context(), machineForm(), authOf("gc_mixed"))
		shown(t, err, "unauthorized_client")
	})
	t.Run("RT-7 what the person ends, and a disabled person, give no more tokens", func(t *testing.T) {
		t.Parallel()
		w := newGrantWorld(t)
		_, err := w.withSecret(machineClient, machineForm())
		shown(t, err, "invalid_grant") // nothing is granted yet
		c := w.grantMachine("read")
		w.store.Bar(c.ID, w.clock.Now())
		_, err = w.withSecret(machineClient, machineForm())
		shown(t, err, "invalid_grant")
		w.grantMachine("read")
		_, err = w.withSecret(machineClient, machineForm())
		must(t, err)
		w.store.DisableUser("alice")
		_, err = w.withSecret(machineClient, machineForm())
		shown(t, err, "invalid_grant")
	})
	t.Run("DP-6 a token that comes with a proof is bound", func(t *testing.T) {
		t.Parallel()
		w := newGrantWorld(t)
		w.grantMachine("read")
		tokens, err := w.withSecret(machineClient, machineForm(), w.prover().Proof("POST", tokenURL, ""))
		must(t, err)
		equal(t, "type", tokens.TokenType, "DPoP")
	})
	t.Run("CC-2 metadata lists the grant, and only what works", func(t *testing.T) {
		t.Parallel()
		m := newGrantWorld(t).Metadata()
		for _, grant := range []string{oauth.GrantClientCredentials, oauth.GrantDeviceCode, oauth.GrantJWTBearer} {
			if !slices.Contains(m.GrantTypesSupported, grant) {
				t.Errorf("%s is not listed", grant)
			}
		}
		if len(m.TokenEndpointAuthSigningAlgValuesSupported) == 0 || !slices.Contains(m.TokenEndpointAuthMethodsSupported, oauth.AuthPrivateKeyJWT) {
			t.Error("private_key_jwt and its algorithms are not listed")
		}
		equal(t, "IJ-5 profile", slices.Contains(m.AuthorizationGrantProfilesSupported, "urn:ietf:params:oauth:grant-profile:id-jag"), true)
		equal(t, "device endpoint", m.DeviceAuthorizationEndpoint, issuer+"/device_authorization")
		bare := newWorld(t).Metadata() // without a key for user codes and without subjects
		if slices.Contains(bare.GrantTypesSupported, oauth.GrantDeviceCode) || slices.Contains(bare.GrantTypesSupported, oauth.GrantJWTBearer) ||
			bare.DeviceAuthorizationEndpoint != "" || bare.AuthorizationGrantProfilesSupported != nil {
			t.Error("a grant that is off is listed")
		}
	})
	t.Run("CC-2 an administrator enters machines; registration gives nobody the grant", func(t *testing.T) {
		t.Parallel()
		w := newGrantWorld(t)
		r, err := w.RegisterByAdmin(t.Context(), []byte(`{"client_name":"Robot","grant_types":["client_credentials"]}`))
		must(t, err)
		equal(t, "secret", r.ClientSecret != "", true)
		equal(t, "redirect URIs", len(r.RedirectURIs), 0)
		_, err = w.RegisterByAdmin(t.Context(), []byte(`{"client_name":"Robot","grant_types":["client_credentials"],"token_endpoint_auth_method":"none"}`))
		shown(t, err, "invalid_client_metadata")
		own, err := w.Register(t.Context(), []byte(`{"redirect_uris":["https://a.example/cb"],"grant_types":["authorization_code","client_credentials",
			"urn:ietf:params:oauth:grant-type:jwt-bearer","urn:ietf:params:oauth:grant-type:device_code"]}`))
		must(t, err)
		equal(t, "grants", len(own.GrantTypes), 1)
		_, err = w.Register(t.Context(), []byte(`{"grant_types":["client_credentials"]}`))
		shown(t, err, "invalid_redirect_uri")
	})
	t.Run("a client without such a grant is given nothing by an administrator", func(t *testing.T) {
		t.Parallel()
		w := newGrantWorld(t)
		_, err := w.GrantByAdmin(t.Context(), oauth.Approval{UserID: "alice", ClientID: secretClient, Resource: mainResource, Scopes: []string{"read"}})
		shown(t, err, "unauthorized_client")
		_, err = w.GrantByAdmin(t.Context(), oauth.Approval{UserID: "alice", ClientID: machineClient, Resource: mainResource, Scopes: []string{"nothing"}})
		shown(t, err, "invalid_scope")
	})
	t.Run("CC-3 a token that is looked up has the same subject, and a machine is never told who somebody is", func(t *testing.T) {
		t.Parallel()
		w := newGrantWorld(t, func(c *oauth.Config) { c.OpenID, c.Resources[0].OpaqueTokens = true, true })
		c := w.grantMachine("read", "openid", "email")
		equal(t, "scopes", len(c.Scopes), 1)
		tokens, err := w.withSecret(machineClient, machineForm("scope", "openid read"))
		must(t, err)
		equal(t, "opaque", tokens.AccessToken[:4], oauth.PrefixAccessToken)
		at, err := w.VerifyAccessToken(t.Context(), tokens.AccessToken, mainResource)
		must(t, err)
		equal(t, "subject", at.Subject, oauth.ClientSubject(machineClient))
	})
	t.Run("CC-2 a machine proves itself by its keys", func(t *testing.T) {
		t.Parallel()
		w := newGrantWorld(t)
		signer := oauthtest.NewIdentityProvider(t, "gc_signing", w.clock.Now)
		w.saveClient(&oauth.Client{ID: "gc_signing", Kind: oauth.ClientRegistered, AuthMethods: []string{oauth.AuthPrivateKeyJWT}, JWKS: signer.KeySet(),
			GrantTypes: []string{oauth.GrantClientCredentials}, CreatedAt: w.clock.Now(), LastSeenAt: w.clock.Now()})
		_, err := w.GrantByAdmin(t.Context(), oauth.Approval{UserID: "alice", ClientID: "gc_signing", Resource: mainResource, Scopes: []string{"read"}})
		must(t, err)
		prove := func(key *oauthtest.IdentityProvider) oauth.ClientAuthentication {
			return oauth.ClientAuthentication{AssertionType: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
				Assertion: key.Assert(issuer, "", "gc_signing", "typ", "JWT", "client_id", nil)}
		}
		tokens, err := w.Token(t.Context(), machineForm(), prove(signer))
		must(t, err)
		equal(t, "scope", tokens.Scope, "read")
		_, err = w.Token(t.Context(), machineForm(), prove(oauthtest.NewIdentityProvider(t, "gc_signing", w.clock.Now)))
		shown(t, err, "invalid_client")
	})
	t.Run("X-10 a store that is down is no fault of the client", func(t *testing.T) {
		t.Parallel()
		w := newGrantWorld(t)
		w.grantMachine("read")
		w.store.Fail(context.DeadlineExceeded)
		_, err := w.withSecret(machineClient, machineForm())
		shown(t, err, "temporarily_unavailable")
	})
	t.Run("IN-1 introspection and revocation know such a token", func(t *testing.T) {
		t.Parallel()
		w := newGrantWorld(t)
		c := w.grantMachine("read")
		tokens, err := w.withSecret(machineClient, machineForm())
		must(t, err)
		auth := oauth.ClientAuthentication{ClientID: machineClient, ClientSecret: clientSecret, HasSecret: true}
		answer, err := w.Introspect(t.Context(), url.Values{"token": {tokens.AccessToken}}, auth)
		must(t, err)
		equal(t, "active", answer.Active, true)
		equal(t, "sub", answer.Subject, oauth.ClientSubject(machineClient))
		w.store.Bar(c.ID, w.clock.Now().Add(time.Second))
		answer, err = w.Introspect(t.Context(), url.Values{"token": {tokens.AccessToken}}, auth)
		must(t, err)
		equal(t, "active", answer.Active, false)
	})
}
