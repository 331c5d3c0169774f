package oauth_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"gatehouse/oauth"
	"gatehouse/oauth/oauthtest"
)

func openID(c *oauth.Config) {
	c.OpenID = true
	c.ACRValues = []string{"one", "two"}
}

// newIdentityWorld is a world with OpenID Connect whose person signed in with a password.
func newIdentityWorld(t testing.TB, change ...func(*oauth.Config)) *world {
	w := newWorld(t, append([]func(*oauth.Config){openID}, change...)...)
	w.person.ACR, w.person.AMR, w.person.StrongestACR = "one", []string{"pwd"}, "two"
	return w
}

// identify approves and redeems a request for openid.
func (w *world) identify(client string, scopes []string, changes ...string) *oauth.TokenResponse {
	w.t.Helper()
	changes = append([]string{"scope", strings.Join(scopes, " ")}, changes...)
	response, err := w.exchange(client, w.approve(client, scopes, changes...))
	must(w.t, err)
	return response
}

// opened checks the signature of an ID token by the published keys and returns its claims.
func (w *world) opened(token, algorithm string) map[string]any {
	w.t.Helper()
	document, err := w.JWKS(w.t.Context())
	must(w.t, err)
	var set jose.JSONWebKeySet
	must(w.t, json.Unmarshal(document, &set))
	jws, err := jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{jose.SignatureAlgorithm(algorithm)})
	must(w.t, err)
	keys := set.Key(jws.Signatures[0].Protected.KeyID)
	if len(keys) != 1 || keys[0].Algorithm != algorithm {
		w.t.Fatalf("KY-2 key of the ID token: %v", keys)
	}
	payload, err := jws.Verify(keys[0].Key)
	must(w.t, err)
	var claims map[string]any
	must(w.t, json.Unmarshal(payload, &claims))
	return claims
}

func TestIDToken(t *testing.T) {
	t.Parallel()
	t.Run("OI-1 AZ-11 what it says", func(t *testing.T) {
		t.Parallel()
		w := newIdentityWorld(t)
		response := w.identify(secretClient, []string{"openid", "read"}, "nonce", "n-0S6_WzA2Mj")
		claims := w.opened(response.IDToken, "RS256")
		hash := sha256.Sum256([]byte(response.AccessToken))
		want := map[string]any{
			"iss": issuer, "sub": "alice", "aud": secretClient, "nonce": "n-0S6_WzA2Mj", "acr": "one",
			"iat": float64(oauthtest.Start.Unix()), "exp": float64(oauthtest.Start.Add(time.Hour).Unix()),
			"auth_time": float64(oauthtest.Start.Add(-time.Hour).Unix()), "at_hash": base64.RawURLEncoding.EncodeToString(hash[:16]),
		}
		for name, value := range want {
			equal(t, name, claims[name], value)
		}
		equal(t, "amr", jsonOf(t, claims["amr"]), `["pwd"]`)
		equal(t, "claims and no more", len(claims), len(want)+1)
		equal(t, "scope", response.Scope, "read openid")
	})
	t.Run("OI-1 none without openid", func(t *testing.T) {
		t.Parallel()
		w := newIdentityWorld(t)
		equal(t, "id_token", w.connect(secretClient, "read").IDToken, "")
		equal(t, "no RSA key was made", w.states(), "active next")
		response := w.identify(secretClient, []string{"openid", "read"})
		refreshed, err := w.refresh(secretClient, response.RefreshToken)
		must(t, err)
		equal(t, "id_token of a refresh", refreshed.IDToken, "")
	})
	t.Run("OI-1 the person can leave it out", func(t *testing.T) {
		t.Parallel()
		w := newIdentityWorld(t)
		response, err := w.exchange(secretClient, w.approve(secretClient, []string{"read"}, "scope", "openid read"))
		must(t, err)
		equal(t, "id_token", response.IDToken, "")
		equal(t, "scope", response.Scope, "read")
	})
	t.Run("OI-1 AT-2 an ID token is no access token", func(t *testing.T) {
		t.Parallel()
		w := newIdentityWorld(t)
		token := w.identify(secretClient, []string{"openid", "read"}).IDToken
		_, err := w.VerifyAccessToken(t.Context(), token, mainResource)
		equal(t, "check", shown(t, err, "invalid_token").Check, "typ")
		_, err = w.UserInfo(t.Context(), []string{"Bearer " + token}, oauth.ProofRequest{})
		shown(t, err, "invalid_token")
	})
	t.Run("OI-1 KY-2 the algorithm is the client's, one key for each", func(t *testing.T) {
		t.Parallel()
		w := newIdentityWorld(t)
		for _, c := range []struct{ asked, want string }{{"ES256", "ES256"}, {"RS256", "RS256"}, {"", "RS256"}, {"none", "RS256"}, {"EdDSA", "RS256"}} {
			body := map[string]any{"redirect_uris": []string{redirectURI}, "token_endpoint_auth_method": "none"}
			if c.asked != "" {
				body["id_token_signed_response_alg"] = c.asked
			}
			r, err := w.Register(t.Context(), []byte(jsonOf(t, body)))
			must(t, err)
			if c.asked != "" {
				equal(t, "registered for "+c.asked, r.IDTokenSignedResponseAlg, c.want)
			}
			response, err := w.Token(t.Context(), codeForm(w.approve(r.ClientID, []string{"openid"}, "scope", "openid")), oauth.ClientAuthentication{ClientID: r.ClientID})
			must(t, err)
			w.opened(response.IDToken, c.want)
		}
		keys, err := w.SigningKeys(t.Context())
		must(t, err)
		equal(t, "KY-3 keys", len(keys), 3)
	})
	t.Run("OI-1 another configuration does not strand a client", func(t *testing.T) {
		t.Parallel()
		w := newIdentityWorld(t)
		client, err := w.store.Client(t.Context(), secretClient)
		must(t, err)
		client.IDTokenAlgorithm = "EdDSA"
		w.saveClient(client)
		w.opened(w.identify(secretClient, []string{"openid"}).IDToken, "RS256")
	})
	t.Run("AZ-11 a nonce that is no text", func(t *testing.T) {
		t.Parallel()
		w := newIdentityWorld(t)
		for _, nonce := range []string{"\x00", "\xff", strings.Repeat("n", 1025)} {
			_, err := w.BeginAuthorization(t.Context(), authorizeForm(documentURL, "nonce", nonce), true)
			equal(t, "check", sent(t, err, "invalid_request").Err.Check, "nonce")
		}
	})
}

func jsonOf(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	must(t, err)
	return string(b)
}

func TestIdentityScopes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, client, scope, resource, want string
	}{
		{"OI-1 not offered unless asked", documentURL, "read", "", "read+ write extra"},
		{"OI-1 offered beside the others", documentURL, "openid read", "", "read+ write extra openid+"},
		{"OI-1 the address too", documentURL, "email openid write", "", "read+ write+ extra openid+ email+"},
		{"OI-1 the address of a client nobody knows is not ticked", publicClient, "openid email", "", "openid+ email"},
		{"OI-1 alone, nothing else is offered", documentURL, "openid profile", "", "openid+"},
		{"OI-1 with a resource, out of habit", documentURL, "openid profile", mainResource, "read+ write extra openid+"},
		{"OI-1 an address without openid means nothing", documentURL, "email read", "", "read+ write extra"},
		{"RI-3 it does not choose the resource", documentURL, "openid side:read", "", "side:read+ openid+"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newIdentityWorld(t)
			resource := c.resource
			if resource == "" {
				resource = "-"
			}
			id := w.begin(authorizeForm(c.client, "scope", c.scope, "resource", resource))
			prompt, err := w.ResumeAuthorization(t.Context(), id, w.person)
			must(t, err)
			var got []string
			for _, o := range prompt.Offered {
				name := o.Name
				if o.Ticked {
					name += "+"
				}
				got = append(got, name)
			}
			equal(t, "offered", strings.Join(got, " "), c.want)
		})
	}
	t.Run("OI-1 only the authorization server lists them", func(t *testing.T) {
		t.Parallel()
		w := newIdentityWorld(t)
		m := w.OpenIDConfiguration()
		for _, scope := range []string{"openid", "email"} {
			equal(t, scope, slices.Contains(m.ScopesSupported, scope), true)
		}
		equal(t, "algorithms", strings.Join(m.IDTokenSigningAlgValuesSupported, " "), "RS256 ES256")
		equal(t, "userinfo", m.UserInfoEndpoint, issuer+"/userinfo")
		resource, _ := w.ResourceMetadata(mainResource)
		equal(t, "RT-8 resource", strings.Join(resource.ScopesSupported, " "), "read")
	})
	t.Run("MD-1 nothing of it while it is off", func(t *testing.T) {
		t.Parallel()
		m := newWorld(t).OpenIDConfiguration()
		equal(t, "openid", slices.Contains(m.ScopesSupported, "openid"), false)
		equal(t, "userinfo", m.UserInfoEndpoint, "")
	})
}

func TestUserInfo(t *testing.T) {
	t.Parallel()
	t.Run("OI-2 sub is that of the ID token, the address only where allowed", func(t *testing.T) {
		t.Parallel()
		w := newIdentityWorld(t)
		for _, c := range []struct {
			scopes []string
			email  bool
		}{{[]string{"openid"}, false}, {[]string{"openid", "email"}, true}} {
			response := w.identify(secretClient, c.scopes)
			info, err := w.UserInfo(t.Context(), []string{"bearer " + response.AccessToken}, oauth.ProofRequest{})
			must(t, err)
			equal(t, "sub", any(info.Subject), w.opened(response.IDToken, "RS256")["sub"])
			equal(t, "email", info.Email, c.email)
		}
	})
	t.Run("OI-2 refusals and their challenges", func(t *testing.T) {
		t.Parallel()
		w := newIdentityWorld(t)
		without := w.connect(secretClient, "read").AccessToken
		narrowed := w.identify(documentURL, []string{"openid", "read"})
		narrow, err := w.refresh(documentURL, narrowed.RefreshToken, "scope", "read")
		must(t, err)
		ended := w.identify(publicClient, []string{"openid"})
		_, err = w.store.EndConnection(t.Context(), ended.ConnectionID, oauth.EndedByUser, w.clock.Now())
		must(t, err)
		for _, c := range []struct {
			name          string
			authorization []string
			status        int
			challenge     string
		}{
			{"BR-1 nothing", nil, 401, "Bearer"},
			{"BR-1 another scheme", []string{"Basic eDp5"}, 401, "Bearer"},
			{"BR-4 twice", []string{"Bearer a", "Bearer b"}, 400, `Bearer error="invalid_request"`},
			{"BR-2 garbage", []string{"Bearer a.b.c"}, 401, `Bearer error="invalid_token"`},
			{"BR-2 ended", []string{"Bearer " + ended.AccessToken}, 401, `Bearer error="invalid_token"`},
			{"BR-3 without openid", []string{"Bearer " + without}, 403, `Bearer error="insufficient_scope"`},
			{"BR-3 narrowed", []string{"Bearer " + narrow.AccessToken}, 403, `Bearer error="insufficient_scope"`},
		} {
			_, err := w.UserInfo(t.Context(), c.authorization, oauth.ProofRequest{})
			e := asError(t, err)
			equal(t, c.name+" status", e.Status, c.status)
			if !strings.HasPrefix(e.Challenge, c.challenge) || strings.Contains(e.Challenge, "scope=") != (c.status == 403) {
				t.Errorf("%s: challenge %q", c.name, e.Challenge)
			}
		}
	})
	t.Run("OI-2 DP-5 a bound token needs its proof", func(t *testing.T) {
		t.Parallel()
		w := newIdentityWorld(t)
		p := w.prover()
		form := codeForm(w.approve(publicClient, []string{"openid"}, "scope", "openid"))
		response, err := w.tokenWith(publicClient, []string{p.Proof("POST", issuer+"/token", "")}, form)
		must(t, err)
		url := issuer + "/userinfo"
		ask := func(scheme string, proofs ...string) error {
			_, err := w.UserInfo(t.Context(), []string{scheme + " " + response.AccessToken}, oauth.ProofRequest{Headers: proofs, Method: "GET", URL: url})
			return err
		}
		must(t, ask("DPoP", p.Proof("GET", url, response.AccessToken)))
		equal(t, "bearer", shown(t, ask("Bearer"), "invalid_token").Check, "cnf")
		e := shown(t, ask("DPoP"), "invalid_dpop_proof")
		equal(t, "status", e.Status, 401)
		if !strings.HasPrefix(e.Challenge, `DPoP algs="`) || !strings.Contains(e.Challenge, `error="invalid_dpop_proof"`) {
			t.Errorf("challenge %q", e.Challenge)
		}
		equal(t, "proof of another key", shown(t, ask("DPoP", w.prover().Proof("GET", url, response.AccessToken)), "invalid_token").Check, "cnf")
	})
}

func FuzzUserInfo(f *testing.F) {
	for _, seed := range []string{"", "Bearer", "Bearer x", "DPoP x", "Bearer gta_x", "bearer  a b", "Bearer \x00"} {
		f.Add(seed)
	}
	w := newIdentityWorld(f)
	f.Fuzz(func(t *testing.T, field string) {
		info, err := w.UserInfo(t.Context(), []string{field}, oauth.ProofRequest{})
		if err == nil {
			t.Fatalf("%q is good for %v", field, info)
		}
		if e := asError(t, err); e.Status < 400 || e.Status == 401 && e.Challenge == "" || strings.ContainsAny(e.Challenge, "\r\n") {
			t.Errorf("%q: %d %q", field, e.Status, e.Challenge)
		}
	})
}

// asError asserts an error of the protocol, whatever its code.
func asError(t *testing.T, err error) *oauth.Error {
	t.Helper()
	var e *oauth.Error
	if !errors.As(err, &e) {
		t.Fatalf("error is %v, want one of the protocol", err)
	}
	return e
}
