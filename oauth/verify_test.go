package oauth_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"gatehouse/oauth"
	"gatehouse/oauth/oauthtest"
)

// part decodes one segment of a compact JWS.
func part(t *testing.T, token string, i int) map[string]any {
	t.Helper()
	raw, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[i])
	must(t, err)
	var fields map[string]any
	must(t, json.Unmarshal(raw, &fields))
	return fields
}

func TestAccessTokenForm(t *testing.T) {
	t.Parallel()
	for _, algorithm := range []string{"ES256", "RS256", "EdDSA"} {
		t.Run("AT-1 KY-1 "+algorithm, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(c *oauth.Config) {
				if algorithm != "ES256" { // which is the default
					c.SigningAlgorithm = algorithm
				}
			})
			response := w.connect(publicClient, "read")
			header, claims := part(t, response.AccessToken, 0), part(t, response.AccessToken, 1)
			equal(t, "typ", header["typ"], any("at+jwt"))
			equal(t, "alg", header["alg"], any(algorithm))
			equal(t, "kid", header["kid"] != "", true)
			for name, want := range map[string]any{
				"iss": issuer, "sub": "alice", "aud": mainResource, "client_id": publicClient, "scope": "read",
				"cid": response.ConnectionID, "fam": response.FamilyID,
				"iat": float64(oauthtest.Start.Unix()), "exp": float64(oauthtest.Start.Add(time.Hour).Unix()), "auth_time": float64(oauthtest.Start.Add(-time.Hour).Unix()),
			} {
				equal(t, name, claims[name], want)
			}
			equal(t, "AT-4 number of claims", len(claims), 11)

			token, err := w.VerifyAccessToken(t.Context(), response.AccessToken, mainResource)
			must(t, err)
			equal(t, "jti", any(token.ID), claims["jti"])
			equal(t, "subject", token.Subject, "alice")
			equal(t, "client", token.ClientID, publicClient)
			equal(t, "scopes", strings.Join(token.Scopes, " "), "read")
			equal(t, "end", token.ExpiresAt, oauthtest.Start.Add(time.Hour))
			equal(t, "narrowed", token.Narrowed, false)
		})
	}
}

// forge signs claims with the server's own active key, as no outsider could: what is refused then is refused by the
// check under test and not by the signature.
type forge struct {
	key *jose.JSONWebKey
	w   *world
}

func newForge(t *testing.T, w *world) forge {
	t.Helper()
	keys, err := w.store.Keys(t.Context())
	must(t, err)
	for _, k := range keys {
		if k.State == oauth.KeyActive {
			plain, err := w.cfg.Sealer.Open("signing-key", k.KID, k.Sealed)
			must(t, err)
			key := new(jose.JSONWebKey)
			must(t, key.UnmarshalJSON(plain))
			return forge{key, w}
		}
	}
	t.Fatal("no active key")
	return forge{}
}

func (f forge) sign(typ string, claims map[string]any) string {
	f.w.t.Helper()
	options := (&jose.SignerOptions{}).WithType(jose.ContentType(typ))
	if typ == "" {
		options = nil
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.SignatureAlgorithm(f.key.Algorithm), Key: *f.key}, options)
	must(f.w.t, err)
	payload, err := json.Marshal(claims)
	must(f.w.t, err)
	jws, err := signer.Sign(payload)
	must(f.w.t, err)
	token, err := jws.CompactSerialize()
	must(f.w.t, err)
	return token
}

// claims are good claims; changes are pairs of name and value, nil takes one out.
func (f forge) claims(changes ...any) map[string]any {
	now := f.w.clock.Now().Unix()
	c := map[string]any{
		"iss": issuer, "sub": "alice", "aud": mainResource, "client_id": publicClient, "scope": "read", "jti": "1",
		"iat": now, "exp": now + 60, "cid": "c", "fam": "f",
	}
	for i := 0; i < len(changes); i += 2 {
		name := changes[i].(string)
		if changes[i+1] == nil {
			delete(c, name)
		} else {
			c[name] = changes[i+1]
		}
	}
	return c
}

func TestVerifyRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f := newForge(t, w)
	good := f.sign("at+jwt", f.claims())
	now := w.clock.Now().Unix()
	compact := func(header, payload string) string {
		enc := base64.RawURLEncoding
		return enc.EncodeToString([]byte(header)) + "." + enc.EncodeToString([]byte(payload)) + "."
	}
	payload := func(token string) string {
		raw, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[1])
		must(t, err)
		return string(raw)
	}
	publicBytes, err := f.key.Public().MarshalJSON()
	must(t, err)
	hmac, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.HS256, Key: append(publicBytes, make([]byte, 32)...)},
		(&jose.SignerOptions{}).WithType("at+jwt").WithHeader("kid", f.key.KeyID))
	must(t, err)
	hmacJWS, err := hmac.Sign([]byte(payload(good)))
	must(t, err)
	hmacToken, err := hmacJWS.CompactSerialize()
	must(t, err)
	stranger, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	strange := forge{&jose.JSONWebKey{Key: stranger, KeyID: f.key.KeyID, Algorithm: "ES256"}, w}
	unknown := forge{&jose.JSONWebKey{Key: stranger, KeyID: "unknown", Algorithm: "ES256"}, w}
	noKid := forge{&jose.JSONWebKey{Key: f.key.Key, Algorithm: "ES256"}, w}
	parts := strings.Split(good, ".")

	for _, c := range []struct{ name, token, check string }{
		{"AT-2 alg none", compact(`{"typ":"at+jwt","alg":"none","kid":"`+f.key.KeyID+`"}`, payload(good)), "token"},
		{"AT-2 HS256 with the public key", hmacToken, "token"},
		{"AT-2 ID token as access token", f.sign("JWT", f.claims()), "typ"},
		{"AT-2 no typ", f.sign("", f.claims()), "typ"},
		{"AT-2 client assertion as token", f.sign("client-authentication+jwt", f.claims()), "typ"},
		{"AT-2 another key under our kid", strange.sign("at+jwt", f.claims()), "signature"},
		{"BR-2 unknown kid", unknown.sign("at+jwt", f.claims()), "kid"},
		{"AT-1 no kid", noKid.sign("at+jwt", f.claims()), "kid"},
		{"AT-2 payload changed", parts[0] + "." + base64.RawURLEncoding.EncodeToString([]byte(strings.Replace(payload(good), "alice", "bobby", 1))) + "." + parts[2], "signature"},
		{"AT-2 signature cut", parts[0] + "." + parts[1] + ".", "signature"},
		{"AT-2 another issuer", f.sign("at+jwt", f.claims("iss", issuer+"/")), "iss"},
		{"RI-3 another audience", f.sign("at+jwt", f.claims("aud", sideResource)), "aud"},
		{"AT-2 several audiences", f.sign("at+jwt", f.claims("aud", []string{mainResource, sideResource})), "claims"},
		{"AT-2 no audience", f.sign("at+jwt", f.claims("aud", nil)), "claims"},
		{"AT-2 an empty list of audiences", f.sign("at+jwt", f.claims("aud", []string{})), "claims"},
		{"AT-2 no exp", f.sign("at+jwt", f.claims("exp", nil)), "exp"},
		{"AT-2 exp as text", f.sign("at+jwt", f.claims("exp", "9999999999")), "claims"},
		{"AT-2 expired", f.sign("at+jwt", f.claims("exp", now)), "exp"},
		{"AT-2 not yet valid", f.sign("at+jwt", f.claims("nbf", now+61)), "nbf"},
		{"AT-1 no sub", f.sign("at+jwt", f.claims("sub", nil)), "claims"},
		{"AT-1 no jti", f.sign("at+jwt", f.claims("jti", nil)), "claims"},
		{"AT-1 no iat", f.sign("at+jwt", f.claims("iat", nil)), "claims"},
		{"AT-1 no client_id", f.sign("at+jwt", f.claims("client_id", nil)), "claims"},
		{"AT-3 no cid", f.sign("at+jwt", f.claims("cid", nil)), "claims"},
		{"settled-3 no fam", f.sign("at+jwt", f.claims("fam", nil)), "claims"},
		{"empty", "", "token"},
		{"not a token", "gtr_abc", "token"},
		{"JSON serialization", `{"payload":"` + parts[1] + `","protected":"` + parts[0] + `","signature":"` + parts[2] + `"}`, "token"},
		{"too long", good + strings.Repeat("A", 8<<10), "token"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for range 2 { // a refusal is not remembered as a success
				_, err := w.VerifyAccessToken(t.Context(), c.token, mainResource)
				e := shown(t, err, "invalid_token")
				equal(t, "check", e.Check, c.check)
				equal(t, "status", e.Status, 401)
			}
		})
	}
	for name, token := range map[string]string{
		"AT-2 the good one":                 good,
		"AT-2 application/at+jwt":           f.sign("application/at+jwt", f.claims()),
		"AT-2 one audience in a list":       f.sign("at+jwt", f.claims("aud", []string{mainResource})),
		"AT-1 no scope":                     f.sign("at+jwt", f.claims("scope", nil)),
		"X-6 a claim that nobody asked for": f.sign("at+jwt", f.claims("other", "x")),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := w.VerifyAccessToken(t.Context(), token, mainResource)
			must(t, err)
		})
	}
}

func TestVerifyRemembers(t *testing.T) {
	t.Parallel()
	t.Run("AT-2 never past exp, and every resource anew", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		token := w.connect(publicClient).AccessToken
		for range 3 {
			_, err := w.VerifyAccessToken(t.Context(), token, mainResource)
			must(t, err)
			_, err = w.VerifyAccessToken(t.Context(), token, sideResource)
			equal(t, "check", shown(t, err, "invalid_token").Check, "aud")
		}
		w.clock.Advance(time.Hour - time.Millisecond)
		_, err := w.VerifyAccessToken(t.Context(), token, mainResource)
		must(t, err)
		w.clock.Advance(time.Millisecond)
		_, err = w.VerifyAccessToken(t.Context(), token, mainResource)
		equal(t, "check", shown(t, err, "invalid_token").Check, "exp")
	})
	t.Run("KY-3 not past the drop of its key, in every process", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		other := w.another()
		token := w.connect(publicClient).AccessToken
		verified, err := other.VerifyAccessToken(t.Context(), token, mainResource)
		must(t, err)
		_, err = w.VerifyAccessToken(t.Context(), token, mainResource)
		must(t, err)
		must(t, w.DropKey(t.Context(), verified.KeyID))
		_, err = w.VerifyAccessToken(t.Context(), token, mainResource)
		equal(t, "check", shown(t, err, "invalid_token").Check, "kid")
		w.clock.Advance(10 * time.Second)
		_, err = other.VerifyAccessToken(t.Context(), token, mainResource)
		equal(t, "check", shown(t, err, "invalid_token").Check, "kid")
	})
	t.Run("X-10 a store that is down neither admits nor condemns", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		token := w.connect(publicClient).AccessToken
		fresh, err := oauth.New(w.cfg, w.store.Stores())
		must(t, err)
		w.store.Fail(errors.New("down"))
		_, err = fresh.VerifyAccessToken(t.Context(), token, mainResource)
		shown(t, err, "temporarily_unavailable")
		w.clock.Advance(time.Minute)
		_, err = w.VerifyAccessToken(t.Context(), token, mainResource) // this one knows the keys
		must(t, err)
	})
}

func TestRevoke(t *testing.T) {
	t.Parallel()
	t.Run("RV-1 RV-3 CN-77 a refresh token ends the connection", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		other := w.connect(publicClient)
		response := w.connect(publicClient)
		for range 2 {
			must(t, w.Revoke(t.Context(), url.Values{"token": {response.RefreshToken}, "token_type_hint": {"access_token"}}, authOf(publicClient)))
		}
		equal(t, "reason", w.store.Connection(response.ConnectionID).EndedReason, oauth.EndedByClient)
		_, err := w.refresh(publicClient, other.RefreshToken)
		shown(t, err, "invalid_grant")
	})
	t.Run("RV-3 an access token ends alone", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		response := w.connect(publicClient)
		must(t, w.Revoke(t.Context(), url.Values{"token": {response.AccessToken}, "token_type_hint": {"refresh_token"}}, authOf(publicClient)))
		token, err := w.VerifyAccessToken(t.Context(), response.AccessToken, mainResource)
		must(t, err)
		equal(t, "revoked", w.store.Revoked(token.ID), true)
		_, err = w.refresh(publicClient, response.RefreshToken)
		must(t, err)
	})
	t.Run("RV-2 another client's tokens stay", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		response := w.connect(publicClient)
		for _, token := range []string{response.RefreshToken, response.AccessToken} {
			must(t, w.Revoke(t.Context(), url.Values{"token": {token}}, authOf(secretClient)))
		}
		token, err := w.VerifyAccessToken(t.Context(), response.AccessToken, mainResource)
		must(t, err)
		equal(t, "revoked", w.store.Revoked(token.ID), false)
		_, err = w.refresh(publicClient, response.RefreshToken)
		must(t, err)
	})
	t.Run("RV-1 unknown, expired and strange tokens are fine", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		response := w.connect(publicClient)
		w.clock.Advance(2 * time.Hour)
		for _, token := range []string{"gtr_unknown", "x", response.AccessToken, strings.Repeat("y", 20000)} {
			must(t, w.Revoke(t.Context(), url.Values{"token": {token}}, authOf(publicClient)))
		}
	})
	t.Run("RV-1 the client authenticates", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		token := w.connect(secretClient).RefreshToken
		shown(t, w.Revoke(t.Context(), url.Values{"token": {token}}, oauth.ClientAuthentication{ClientID: secretClient}), "invalid_client")
		shown(t, w.Revoke(t.Context(), url.Values{"token": {token}}, authOf("gc_nobody")), "invalid_client")
		_, err := w.refresh(secretClient, token)
		must(t, err)
	})
	t.Run("X-4 X-5 token missing, empty or twice", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		for _, form := range []url.Values{{}, {"token": {""}}, {"token": {"a", "b"}}} {
			shown(t, w.Revoke(t.Context(), form, authOf(publicClient)), "invalid_request")
		}
	})
}

// BenchmarkVerifyRemembered measures what each call of a tool pays.
func BenchmarkVerifyRemembered(b *testing.B) {
	w := newWorld(b)
	token := w.connect(publicClient).AccessToken
	for b.Loop() {
		if _, err := w.VerifyAccessToken(b.Context(), token, mainResource); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRefresh measures a rotation without a database.
func BenchmarkRefresh(b *testing.B) {
	w := newWorld(b)
	token := w.connect(publicClient).RefreshToken
	for b.Loop() {
		response, err := w.refresh(publicClient, token)
		if err != nil {
			b.Fatal(err)
		}
		token = response.RefreshToken
	}
}
