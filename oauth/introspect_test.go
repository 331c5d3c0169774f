package oauth_test

import (
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"gatehouse/oauth"
)

// ask introspects a token as the client.
func (w *world) ask(client, token string) *oauth.Introspection {
	w.t.Helper()
	answer, err := w.Introspect(w.t.Context(), url.Values{"token": {token}, "token_type_hint": {"wrong"}}, authOf(client))
	must(w.t, err)
	return answer
}

// inactive asserts that the answer tells nothing.
func inactive(t *testing.T, what string, answer *oauth.Introspection) {
	t.Helper()
	body, err := json.Marshal(answer)
	must(t, err)
	equal(t, "IN-2 "+what, string(body), `{"active":false}`)
}

func TestIntrospect(t *testing.T) {
	t.Parallel()
	t.Run("IN-3 an access token", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		tokens := w.connect(secretClient, "write")
		got := w.ask(secretClient, tokens.AccessToken)
		verified, err := w.VerifyAccessToken(t.Context(), tokens.AccessToken, mainResource)
		must(t, err)
		body, err := json.Marshal(got)
		must(t, err)
		var members map[string]any
		must(t, json.Unmarshal(body, &members))
		for name, want := range map[string]any{
			"active": true, "scope": "read write", "client_id": secretClient, "token_type": "Bearer", "sub": "alice", "aud": mainResource, "iss": issuer,
			"jti": verified.ID, "exp": float64(verified.ExpiresAt.Unix()), "iat": float64(verified.IssuedAt.Unix()), "auth_time": float64(verified.AuthTime.Unix()),
		} {
			if members[name] != want {
				t.Errorf("%s is %v, want %v", name, members[name], want)
			}
		}
		equal(t, "members", len(members), 11)
	})
	t.Run("IN-3 a refresh token, not used up by asking", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		tokens := w.connect(secretClient, "read")
		got := w.ask(secretClient, tokens.RefreshToken)
		equal(t, "active", got.Active, true)
		equal(t, "exp", got.ExpiresAt, w.clock.Now().Add(30*24*time.Hour).Unix())
		equal(t, "token_type", got.TokenType, "")
		_, err := w.refresh(secretClient, tokens.RefreshToken)
		must(t, err)
	})
	t.Run("IN-3 the scope is what a narrowed token is good for", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		tokens := w.connect(secretClient, "write")
		narrow, err := w.refresh(secretClient, tokens.RefreshToken, "scope", "read")
		must(t, err)
		equal(t, "scope", w.ask(secretClient, narrow.AccessToken).Scope, "read")
	})
	t.Run("IN-3 the end of the connection is the end of its tokens", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		end := w.clock.Now().Add(20 * time.Minute)
		tokens, err := w.exchange(secretClient, w.approveWith(authorizeForm(secretClient), oauth.Decision{Allow: true, Scopes: []string{"read"}, ExpiresAt: &end}))
		must(t, err)
		equal(t, "exp", w.ask(secretClient, tokens.RefreshToken).ExpiresAt, end.Unix())
		w.clock.Advance(20 * time.Minute)
		inactive(t, "access token", w.ask(secretClient, tokens.AccessToken))
		inactive(t, "refresh token", w.ask(secretClient, tokens.RefreshToken))
	})
	t.Run("IN-2 what is not active tells nothing", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		public := w.connect(publicClient, "read")
		inactive(t, "another client's access token", w.ask(secretClient, public.AccessToken))
		inactive(t, "another client's refresh token", w.ask(secretClient, public.RefreshToken))
		for _, token := range []string{"x", "gtr_x", "a.b.c", strings.Repeat("x", 20000)} {
			inactive(t, "unknown", w.ask(secretClient, token))
		}
		tokens := w.connect(secretClient, "read")
		must(t, w.Revoke(t.Context(), url.Values{"token": {tokens.AccessToken}}, authOf(secretClient)))
		inactive(t, "revoked access token", w.ask(secretClient, tokens.AccessToken))
		equal(t, "the refresh token beside it", w.ask(secretClient, tokens.RefreshToken).Active, true)
		must(t, w.Revoke(t.Context(), url.Values{"token": {tokens.RefreshToken}}, authOf(secretClient)))
		inactive(t, "refresh token of an ended connection", w.ask(secretClient, tokens.RefreshToken))
		expired := w.connect(secretClient, "read")
		w.clock.Advance(time.Hour)
		inactive(t, "expired access token", w.ask(secretClient, expired.AccessToken))
		w.store.DisableUser("alice")
		inactive(t, "a disabled person's refresh token", w.ask(secretClient, expired.RefreshToken))
	})
	t.Run("IN-1 refused callers", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		token := url.Values{"token": {w.connect(publicClient, "read").AccessToken}}
		for name, auth := range map[string]oauth.ClientAuthentication{
			"nobody": {}, "unknown": authOf("nobody"), "public": authOf(publicClient), "document with none": authOf(documentURL),
			"without its secret": {ClientID: secretClient}, "wrong secret": {ClientID: secretClient, ClientSecret: "x", HasSecret: true},
		} {
			_, err := w.Introspect(t.Context(), token, auth)
			if e := shown(t, err, "invalid_client"); e.Status != 401 {
				t.Errorf("%s: status %d", name, e.Status)
			}
		}
		_, err := w.Introspect(t.Context(), url.Values{}, authOf(secretClient))
		shown(t, err, "invalid_request")
		_, err = w.Introspect(t.Context(), url.Values{"token": {"a", "b"}}, authOf(secretClient))
		shown(t, err, "invalid_request")
	})
	t.Run("X-10 the store is down", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		tokens := w.connect(secretClient, "read")
		w.store.Fail(errors.New("gone"))
		_, err := w.Introspect(t.Context(), url.Values{"token": {tokens.RefreshToken}}, authOf(secretClient))
		shown(t, err, "temporarily_unavailable")
	})
}

func TestSignIntrospection(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tokens := w.connect(secretClient, "read")
	signed, err := w.SignIntrospection(t.Context(), w.ask(secretClient, tokens.AccessToken))
	must(t, err)
	jws, err := jose.ParseSignedCompact(signed, []jose.SignatureAlgorithm{jose.ES256})
	must(t, err)
	header := jws.Signatures[0].Protected
	equal(t, "IN-4 typ", header.ExtraHeaders[jose.HeaderType], any("token-introspection+jwt"))
	set, err := w.JWKS(t.Context())
	must(t, err)
	var keys jose.JSONWebKeySet
	must(t, json.Unmarshal(set, &keys))
	payload, err := jws.Verify(keys.Key(header.KeyID)[0].Key)
	must(t, err)
	var claims map[string]any
	must(t, json.Unmarshal(payload, &claims))
	inner, _ := claims["token_introspection"].(map[string]any)
	if claims["iss"] != issuer || claims["aud"] != secretClient || claims["iat"] != float64(w.clock.Now().Unix()) || inner["active"] != true || inner["sub"] != "alice" {
		t.Errorf("IN-4 claims %v", claims)
	}
	for _, name := range []string{"sub", "exp", "jti"} {
		if _, found := claims[name]; found {
			t.Errorf("IN-4 the answer has %s", name)
		}
	}
	if _, err := w.VerifyAccessToken(t.Context(), signed, mainResource); err == nil {
		t.Error("AT-2 an introspection answer passes for an access token")
	}
	unknown, err := w.SignIntrospection(t.Context(), w.ask(secretClient, "x"))
	must(t, err)
	if unknown == signed || unknown == "" {
		t.Error("IN-4 an inactive token has no signed answer of its own")
	}
}

func TestIntrospectBoundToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tokens := w.bound(secretClient, w.prover())
	body, err := json.Marshal(w.ask(secretClient, tokens.AccessToken))
	must(t, err)
	var got struct {
		Type string `json:"token_type"`
		Cnf  struct {
			JKT string `json:"jkt"`
		} `json:"cnf"`
	}
	must(t, json.Unmarshal(body, &got))
	if got.Type != "DPoP" || len(got.Cnf.JKT) != 43 {
		t.Errorf("IN-3 a bound token is told as %s", body)
	}
}
