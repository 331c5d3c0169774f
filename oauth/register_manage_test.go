package oauth_test

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"

	"gatehouse/oauth"
)

const registerBody = `{"client_name":"Test app","redirect_uris":["https://app.example/cb?keep=1"],"token_endpoint_auth_method":"none","contacts":["a@app.example"]}`

func (w *world) register(body string) *oauth.Registration {
	w.t.Helper()
	r, err := w.Register(w.t.Context(), []byte(body))
	must(w.t, err)
	return r
}

// replacement is a body for PUT: members in pairs of name and JSON.
func replacement(id string, members ...string) []byte {
	body := map[string]json.RawMessage{"client_id": json.RawMessage(`"` + id + `"`), "redirect_uris": json.RawMessage(`["` + redirectURI + `"]`),
		"token_endpoint_auth_method": json.RawMessage(`"none"`)}
	for i := 0; i < len(members); i += 2 {
		if members[i+1] == "-" {
			delete(body, members[i])
		} else {
			body[members[i]] = json.RawMessage(members[i+1])
		}
	}
	text, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	return text
}

func TestManageRegistration(t *testing.T) {
	t.Parallel()
	t.Run("DM-1 a registration comes with what manages it", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		r := w.register(registerBody)
		if !strings.HasPrefix(r.RegistrationAccessToken, "gtm_") || r.RegistrationClientURI != issuer+"/register/"+r.ClientID {
			t.Errorf("manage with %q at %q", r.RegistrationAccessToken, r.RegistrationClientURI)
		}
		c, err := w.store.Client(t.Context(), r.ClientID)
		must(t, err)
		if string(c.RegistrationHash) != string(oauth.HashSecret(r.RegistrationAccessToken)) {
			t.Error("the store does not hold the token's hash")
		}
		byAdmin, err := w.RegisterByAdmin(t.Context(), []byte(registerBody))
		must(t, err)
		equal(t, "token of an entered client", byAdmin.RegistrationAccessToken, "")
	})
	t.Run("DM-2 get gives what is registered", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		r := w.register(registerBody)
		got, err := w.ReadRegistration(t.Context(), r.ClientID, r.RegistrationAccessToken)
		must(t, err)
		before, _ := json.Marshal(r)
		after, _ := json.Marshal(got)
		equal(t, "registration", string(after), string(before))
	})
	t.Run("DM-2 put replaces and does not merge", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		r := w.register(registerBody)
		w.clock.Advance(time.Hour)
		got, err := w.ReplaceRegistration(t.Context(), r.ClientID, r.RegistrationAccessToken, replacement(r.ClientID, "client_name", `"Next"`))
		must(t, err)
		if got.ClientName != "Next" || got.Contacts != nil || got.ClientIDIssuedAt != r.ClientIDIssuedAt || got.RegistrationAccessToken != r.RegistrationAccessToken {
			t.Errorf("replaced by %+v", got)
		}
		c, err := w.store.Client(t.Context(), r.ClientID)
		must(t, err)
		equal(t, "changed", strings.Join(c.ChangedSince(w.clock.Now().Add(-time.Minute)), " "), "client_name")
		step, _ := w.lastStep(oauth.StepClientChanged)
		equal(t, "reported", step.ClientID+" "+step.Detail, r.ClientID+" client_name")
	})
	t.Run("DM-2 a client gets a secret once, when it begins to use one", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		r := w.register(registerBody)
		put := func(method string, more ...string) *oauth.Registration {
			t.Helper()
			got, err := w.ReplaceRegistration(t.Context(), r.ClientID, r.RegistrationAccessToken,
				replacement(r.ClientID, append([]string{"token_endpoint_auth_method", `"` + method + `"`}, more...)...))
			must(t, err)
			return got
		}
		secret := put("client_secret_post").ClientSecret
		equal(t, "prefix", strings.HasPrefix(secret, "gts_"), true)
		equal(t, "secret of the second update", put("client_secret_post", "client_secret", `"`+secret+`"`).ClientSecret, "")
		_, err := w.AuthenticateClient(t.Context(), oauth.ClientAuthentication{ClientID: r.ClientID, ClientSecret: secret, HasSecret: true})
		must(t, err)
		put("none")
		_, err = w.AuthenticateClient(t.Context(), oauth.ClientAuthentication{ClientID: r.ClientID, ClientSecret: secret, HasSecret: true})
		shown(t, err, "invalid_client")
	})
	t.Run("DM-3 delete ends connections and tokens", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		r := w.register(registerBody)
		tokens := w.connect(r.ClientID)
		must(t, w.DeleteRegistration(t.Context(), r.ClientID, r.RegistrationAccessToken))
		equal(t, "reason", w.store.Connection(tokens.ConnectionID).EndedReason, oauth.EndedByDeletion)
		_, err := w.refresh(r.ClientID, tokens.RefreshToken)
		shown(t, err, "invalid_client")
		_, err = w.ReadRegistration(t.Context(), r.ClientID, r.RegistrationAccessToken)
		equal(t, "afterwards", shown(t, err, "invalid_token").Status, 401)
		step, _ := w.lastStep(oauth.StepClientDeleted)
		equal(t, "reported", step.ClientID, r.ClientID)
	})
}

func TestManageRegistrationRefuses(t *testing.T) {
	t.Parallel()
	t.Run("DM-2 what an update must not have", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		r := w.register(registerBody)
		for name, body := range map[string][]byte{
			"no client_id":       replacement(r.ClientID, "client_id", "-"),
			"another client_id":  replacement(publicClient),
			"registration token": replacement(r.ClientID, "registration_access_token", `"`+r.RegistrationAccessToken+`"`),
			"its address":        replacement(r.ClientID, "registration_client_uri", `"`+r.RegistrationClientURI+`"`),
			"time of issue":      replacement(r.ClientID, "client_id_issued_at", "1"),
			"end of the secret":  replacement(r.ClientID, "client_secret_expires_at", "0"),
			"a wrong secret":     replacement(r.ClientID, "client_secret", `"x"`),
			"no JSON":            []byte("{"),
			"a bad method":       replacement(r.ClientID, "token_endpoint_auth_method", `"tls_client_auth"`),
		} {
			_, err := w.ReplaceRegistration(t.Context(), r.ClientID, r.RegistrationAccessToken, body)
			if e := shown(t, err, "invalid_client_metadata"); e.Status != 400 {
				t.Errorf("%s: status %d", name, e.Status)
			}
		}
		_, err := w.ReplaceRegistration(t.Context(), r.ClientID, r.RegistrationAccessToken, replacement(r.ClientID, "redirect_uris", `["http://app.example/"]`))
		shown(t, err, "invalid_redirect_uri")
		got, err := w.ReadRegistration(t.Context(), r.ClientID, r.RegistrationAccessToken)
		must(t, err)
		equal(t, "name", got.ClientName, "Test app")
	})
	t.Run("DM-3 wrong tokens, entered and blocked clients", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		r, other := w.register(registerBody), w.register(registerBody)
		for name, token := range map[string]string{"none": "", "nonsense": "gtm_x", "another client's": other.RegistrationAccessToken} {
			_, err := w.ReadRegistration(t.Context(), r.ClientID, token)
			if e := shown(t, err, "invalid_token"); e.Status != 401 || e.Challenge != `Bearer error="invalid_token"` {
				t.Errorf("%s: %d %q", name, e.Status, e.Challenge)
			}
		}
		equal(t, "entered", shown(t, w.DeleteRegistration(t.Context(), secretClient, "gtm_x"), "access_denied").Status, 403)
		at := w.clock.Now()
		w.store.ChangeClient(r.ClientID, func(c *oauth.Client) { c.BlockedAt = &at })
		equal(t, "blocked", shown(t, w.DeleteRegistration(t.Context(), r.ClientID, r.RegistrationAccessToken), "access_denied").Status, 403)
	})
	t.Run("DM-3 a token that is used on an unknown client is revoked", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		r := w.register(registerBody)
		_, err := w.ReadRegistration(t.Context(), "gc_gone", r.RegistrationAccessToken)
		shown(t, err, "invalid_token")
		_, err = w.ReadRegistration(t.Context(), r.ClientID, r.RegistrationAccessToken)
		shown(t, err, "invalid_token")
	})
	t.Run("X-10 a failing store is no verdict about the token", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		r := w.register(registerBody)
		w.store.Fail(context.DeadlineExceeded)
		_, err := w.ReadRegistration(t.Context(), r.ClientID, r.RegistrationAccessToken)
		shown(t, err, "temporarily_unavailable")
		shown(t, w.DeleteRegistration(t.Context(), r.ClientID, r.RegistrationAccessToken), "temporarily_unavailable")
	})
}

func FuzzReplaceRegistration(f *testing.F) {
	f.Add(`{"client_id":"gc_fuzz","redirect_uris":["https://app.example/"],"token_endpoint_auth_method":"none"}`)
	f.Add(`{"client_id":"gc_fuzz","client_secret":null,"redirect_uris":["http://127.0.0.1/"],"jwks":{"keys":[]}}`)
	f.Add(`[]`)
	w := newWorld(f)
	w.saveClient(&oauth.Client{ID: "gc_fuzz", Kind: oauth.ClientDynamic, AuthMethods: []string{oauth.AuthNone}, RedirectURIs: []string{redirectURI},
		GrantTypes: []string{oauth.GrantAuthorizationCode}, ResponseTypes: []string{"code"}, RegistrationHash: oauth.HashSecret("gtm_fuzz")})
	f.Fuzz(func(t *testing.T, body string) {
		r, err := w.ReplaceRegistration(t.Context(), "gc_fuzz", "gtm_fuzz", []byte(body))
		if err != nil {
			return
		}
		if len(r.RedirectURIs) == 0 || r.ClientID != "gc_fuzz" || r.TokenEndpointAuthMethod == "" {
			t.Errorf("accepted %q as %+v", body, r)
		}
		for _, uri := range r.RedirectURIs {
			if u, err := url.Parse(uri); err != nil || u.Scheme == "" {
				t.Errorf("accepted the redirect URI %q", uri)
			}
		}
	})
}
