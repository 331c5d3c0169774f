package oauth

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const (
	keyedClient = "https://app.example/oauth/client.json"
	keysURL     = "https://app.example/oauth/jwks.json"
)

// testKeys are one key pair per algorithm, made once.
var testKeys = sync.OnceValue(func() map[string]crypto.Signer {
	large, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		panic(err)
	}
	return map[string]crypto.Signer{"RS256": large, "PS256": large, "ES256": curve, "EdDSA": edwards}
})

// publicSet is a JWK Set with these keys; the kid is the algorithm's name.
func publicSet(t testing.TB, algorithms ...string) string {
	t.Helper()
	set := jose.JSONWebKeySet{}
	for _, a := range algorithms {
		set.Keys = append(set.Keys, jose.JSONWebKey{Key: testKeys()[a].Public(), KeyID: a, Algorithm: a, Use: "sig"})
	}
	raw, err := json.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// assertionOf is a good assertion with changes to header (names with "h:") and claims; nil takes a member out.
type assertionOf struct {
	algorithm string
	key       any
	changes   map[string]any
}

func (a assertionOf) sign(t testing.TB, lab *clientLab, id string) ClientAuthentication {
	t.Helper()
	if a.algorithm == "" {
		a.algorithm = "RS256"
	}
	if a.key == nil {
		a.key = testKeys()[a.algorithm]
	}
	claims := map[string]any{"iss": keyedClient, "sub": keyedClient, "aud": lab.cfg.Issuer, "jti": id, "exp": lab.clock.Now().Add(time.Minute).Unix()}
	options := &jose.SignerOptions{ExtraHeaders: map[jose.HeaderKey]any{"kid": a.algorithm}}
	for name, value := range a.changes {
		target := claims
		if header, ok := strings.CutPrefix(name, "h:"); ok {
			if value == nil {
				delete(options.ExtraHeaders, jose.HeaderKey(header))
			} else {
				options.ExtraHeaders[jose.HeaderKey(header)] = value
			}
			continue
		}
		if value == nil {
			delete(target, name)
		} else {
			target[name] = value
		}
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.SignatureAlgorithm(a.algorithm), Key: a.key}, options)
	if err != nil {
		t.Fatal(err)
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	jws, err := signer.Sign(payload)
	if err != nil {
		t.Fatal(err)
	}
	compact, err := jws.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return ClientAuthentication{ClientID: keyedClient, AssertionType: assertionType, Assertion: compact}
}

// keyedLab has one document client that can only sign.
func keyedLab(t testing.TB) *clientLab {
	t.Helper()
	lab := newClientLab(t.(*testing.T))
	lab.clients.rows[keyedClient] = Client{
		ID: keyedClient, Kind: ClientDocument, AuthMethods: []string{AuthPrivateKeyJWT}, JWKSURI: keysURL, LastSeenAt: lab.clock.Now(),
		Document: &DocumentState{FetchedAt: lab.clock.Now(), FreshUntil: lab.clock.Now().Add(24 * time.Hour)},
	}
	lab.fetcher.serve(keysURL, publicSet(t, "RS256", "PS256", "ES256", "EdDSA"))
	return lab
}

func TestClientAssertion(t *testing.T) {
	t.Parallel()
	start := newClientLab(t).clock.Now().Unix()
	tokenURL := "https://auth.example.org/token"
	with := func(pairs ...any) map[string]any {
		m := map[string]any{}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i].(string)] = pairs[i+1]
		}
		return m
	}
	stranger, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	public, _ := json.Marshal(jose.JSONWebKey{Key: testKeys()["RS256"].Public()})
	for _, tt := range []struct {
		name   string
		in     assertionOf
		change func(*ClientAuthentication)
		says   string // part of the refusal; empty means accepted
	}{
		{"JW-3 RS256", assertionOf{}, nil, ""},
		{"JW-3 PS256", assertionOf{algorithm: "PS256"}, nil, ""},
		{"JW-3 ES256", assertionOf{algorithm: "ES256"}, nil, ""},
		{"JW-3 EdDSA", assertionOf{algorithm: "EdDSA"}, nil, ""},
		{"JW-1 without client_id parameter", assertionOf{}, func(in *ClientAuthentication) { in.ClientID = "" }, ""},
		{"JW-2 aud as an array of one", assertionOf{changes: with("aud", []string{"https://auth.example.org"})}, nil, ""},
		{"JW-2 token endpoint as aud", assertionOf{changes: with("aud", tokenURL)}, nil, ""},
		{"JW-2 token endpoint as aud, typ JWT", assertionOf{changes: with("aud", tokenURL, "h:typ", "JWT")}, nil, ""},
		{"JW-2 explicit type", assertionOf{changes: with("h:typ", "client-authentication+jwt")}, nil, ""},
		{"JW-2 explicit type written out", assertionOf{changes: with("h:typ", "application/Client-Authentication+JWT")}, nil, ""},
		{"JW-4 no kid and one fitting key", assertionOf{algorithm: "ES256", changes: with("h:kid", nil)}, nil, ""},
		{"JW-1 clocks apart", assertionOf{changes: with("exp", start-59, "iat", start+59, "nbf", start+59)}, nil, ""},
		{"JW-1 exp with a fraction", assertionOf{changes: with("exp", float64(start)+30.5)}, nil, ""},

		{"JW-1 other client_assertion_type", assertionOf{}, func(in *ClientAuthentication) { in.AssertionType += "x" }, "client_assertion_type"},
		{"JW-1 no client_assertion_type", assertionOf{}, func(in *ClientAuthentication) { in.AssertionType = "" }, "client_assertion_type"},
		{"JW-1 no assertion", assertionOf{}, func(in *ClientAuthentication) { in.Assertion = "" }, "not a JWT"},
		{"JW-1 other client_id parameter", assertionOf{}, func(in *ClientAuthentication) { in.ClientID = "someone" }, "client_id parameter"},
		{"JW-1 iss differs", assertionOf{changes: with("iss", "someone")}, nil, "iss and sub"},
		{"JW-1 sub differs", assertionOf{changes: with("sub", "someone")}, nil, "iss and sub"},
		{"JW-1 no iss and no sub", assertionOf{changes: with("iss", nil, "sub", nil)}, nil, "iss and sub"},
		{"JW-1 no exp", assertionOf{changes: with("exp", nil)}, nil, "no exp"},
		{"JW-1 expired", assertionOf{changes: with("exp", start-60)}, nil, "expired"},
		{"JW-1 exp too far ahead", assertionOf{changes: with("exp", start+3661)}, nil, "hour ahead"},
		{"JW-1 exp beyond all numbers", assertionOf{changes: with("exp", 1e300)}, nil, "hour ahead"},
		{"JW-1 exp as text", assertionOf{changes: with("exp", "soon")}, nil, "malformed"},
		{"JW-1 not valid yet", assertionOf{changes: with("nbf", start+61)}, nil, "nbf"},
		{"JW-1 issued in the future", assertionOf{changes: with("iat", start+61)}, nil, "iat"},
		{"JW-2 no aud", assertionOf{changes: with("aud", nil)}, nil, "aud"},
		{"JW-2 other aud", assertionOf{changes: with("aud", "https://other.example")}, nil, "aud"},
		{"JW-2 issuer with a slash", assertionOf{changes: with("aud", "https://auth.example.org/")}, nil, "aud"},
		{"JW-2 issuer and another", assertionOf{changes: with("aud", []string{"https://auth.example.org", "https://other.example"})}, nil, "aud"},
		{"JW-2 token endpoint with explicit type", assertionOf{changes: with("aud", tokenURL, "h:typ", "client-authentication+jwt")}, nil, "aud"},
		{"JW-2 an access token's type", assertionOf{changes: with("h:typ", "at+jwt")}, nil, "type"},
		{"JW-3 no jti", assertionOf{changes: with("jti", nil)}, nil, "jti"},
		{"JW-3 empty jti", assertionOf{changes: with("jti", "")}, nil, "jti"},
		{"JW-3 endless jti", assertionOf{changes: with("jti", strings.Repeat("j", 1025))}, nil, "jti"},
		{"JW-3 HS256 with the public key", assertionOf{algorithm: "HS256", key: public}, nil, "not a JWT"},
		{"JW-3 RS384", assertionOf{algorithm: "RS384", key: testKeys()["RS256"]}, nil, "not a JWT"},
		{"JW-3 alg none", assertionOf{}, func(in *ClientAuthentication) {
			_, rest, _ := strings.Cut(in.Assertion, ".")
			payload, _, _ := strings.Cut(rest, ".")
			in.Assertion = "eyJhbGciOiJub25lIn0." + payload + "."
		}, "not a JWT"},
		{"JW-4 foreign key under a known kid", assertionOf{key: stranger}, nil, "key of the client"},
		{"JW-4 unknown kid", assertionOf{changes: with("h:kid", "other")}, nil, "key of the client"},
		{"JW-4 key of another algorithm", assertionOf{algorithm: "PS256", changes: with("h:kid", "RS256")}, nil, "key of the client"},
		{"JW-1 changed payload", assertionOf{}, func(in *ClientAuthentication) {
			parts := strings.Split(in.Assertion, ".")
			parts[2] = "AAAA" + parts[2][4:]
			in.Assertion = strings.Join(parts, ".")
		}, "key of the client"},
		{"JW-1 endless assertion", assertionOf{changes: with("x", strings.Repeat("x", 9000))}, nil, "too long"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			lab := keyedLab(t)
			in := tt.in.sign(t, lab, "id-1")
			if tt.change != nil {
				tt.change(&in)
			}
			c, err := lab.AuthenticateClient(context.Background(), in)
			if tt.says == "" {
				if err != nil || c.ID != keyedClient {
					t.Fatalf("got %v, %v", c, err)
				}
				_, err = lab.AuthenticateClient(context.Background(), in)
				if e := wantError(t, err, "invalid_client", 401); !strings.Contains(e.Description, "used before") {
					t.Errorf("JW-3 the second use: %q", e.Description)
				}
				return
			}
			e := wantError(t, err, "invalid_client", 401)
			if !strings.Contains(e.Description, tt.says) || e.Check != "client_assertion" {
				t.Errorf("description %q, check %q", e.Description, e.Check)
			}
			if len(lab.clients.assertions) > 0 {
				t.Error("JW-3 a bad assertion used an id up")
			}
		})
	}
}

func TestClientAssertionMethods(t *testing.T) {
	t.Parallel()
	bad := map[string]any{"aud": "https://other.example"}
	t.Run("CI-10 none for a client that only signs", func(t *testing.T) {
		t.Parallel()
		_, err := keyedLab(t).AuthenticateClient(context.Background(), onlyID(keyedClient))
		if e := wantError(t, err, "invalid_client", 401); e.Check != "client_auth_method" {
			t.Errorf("check %q", e.Check)
		}
	})
	t.Run("CI-9 a client with both methods may use either, a bad assertion never falls back", func(t *testing.T) {
		t.Parallel()
		lab := keyedLab(t)
		lab.clients.change(keyedClient, func(c *Client) { c.AuthMethods = []string{AuthNone, AuthPrivateKeyJWT} })
		for _, in := range []ClientAuthentication{onlyID(keyedClient), assertionOf{}.sign(t, lab, "a")} {
			if _, err := lab.AuthenticateClient(context.Background(), in); err != nil {
				t.Error(err)
			}
		}
		_, err := lab.AuthenticateClient(context.Background(), assertionOf{changes: bad}.sign(t, lab, "b"))
		wantError(t, err, "invalid_client", 401)
	})
	t.Run("TK-8 an assertion for a client with another method", func(t *testing.T) {
		t.Parallel()
		lab := keyedLab(t)
		lab.clients.change(keyedClient, func(c *Client) { c.AuthMethods = []string{AuthNone} })
		_, err := lab.AuthenticateClient(context.Background(), assertionOf{}.sign(t, lab, "a"))
		if e := wantError(t, err, "invalid_client", 401); e.Check != "client_auth_method" {
			t.Errorf("check %q", e.Check)
		}
	})
	t.Run("JW-3 the registered algorithm holds", func(t *testing.T) {
		t.Parallel()
		lab := keyedLab(t)
		lab.clients.change(keyedClient, func(c *Client) { c.AssertionAlgorithm = "ES256" })
		_, err := lab.AuthenticateClient(context.Background(), assertionOf{}.sign(t, lab, "a"))
		wantError(t, err, "invalid_client", 401)
		if _, err := lab.AuthenticateClient(context.Background(), assertionOf{algorithm: "ES256"}.sign(t, lab, "b")); err != nil {
			t.Error(err)
		}
	})
	t.Run("JW-3 twenty at once, one gets in", func(t *testing.T) {
		t.Parallel()
		lab := keyedLab(t)
		in := assertionOf{}.sign(t, lab, "a")
		var wg sync.WaitGroup
		won := make(chan bool, 20)
		for range 20 {
			wg.Go(func() {
				_, err := lab.AuthenticateClient(context.Background(), in)
				won <- err == nil
			})
		}
		wg.Wait()
		close(won)
		n := 0
		for ok := range won {
			if ok {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%d got in", n)
		}
		if lab.fetcher.count() != 1 {
			t.Errorf("CI-15 %d fetches", lab.fetcher.count())
		}
	})
	t.Run("X-10 a store that is down is not the client's fault", func(t *testing.T) {
		t.Parallel()
		lab := keyedLab(t)
		in := assertionOf{}.sign(t, lab, "a")
		lab.clients.err = errors.New("gone")
		_, err := lab.AuthenticateClient(context.Background(), in)
		wantError(t, err, "temporarily_unavailable", 503)
	})
	t.Run("JW-1 an unknown client", func(t *testing.T) {
		t.Parallel()
		lab := keyedLab(t)
		in := assertionOf{changes: map[string]any{"iss": "nobody", "sub": "nobody"}}.sign(t, lab, "a")
		in.ClientID = ""
		_, err := lab.AuthenticateClient(context.Background(), in)
		wantError(t, err, "invalid_client", 401)
		if lab.fetcher.count() != 0 {
			t.Error("CI-15 a stranger's assertion caused a fetch")
		}
	})
}

func TestClientKeys(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	attempt := 0
	try := func(t *testing.T, lab *clientLab, changes map[string]any) error {
		t.Helper()
		attempt++
		all := map[string]any{"jti": strings.Repeat("i", attempt)}
		maps.Copy(all, changes)
		_, err := lab.AuthenticateClient(ctx, assertionOf{changes: all}.sign(t, lab, ""))
		return err
	}
	lab := keyedLab(t)
	wantFetches := func(what string, n int) {
		t.Helper()
		if got := lab.fetcher.count(); got != n {
			t.Errorf("JW-4 %s: %d fetches, want %d", what, got, n)
		}
	}
	ok := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	unknown := map[string]any{"h:kid": "other"}
	ok("first", try(t, lab, nil))
	ok("second", try(t, lab, nil))
	wantFetches("within five minutes", 1)
	wantError(t, try(t, lab, unknown), "invalid_client", 401)
	wantFetches("unknown kid within 30 seconds", 1)
	lab.clock.advance(31 * time.Second)
	wantError(t, try(t, lab, unknown), "invalid_client", 401)
	wantError(t, try(t, lab, unknown), "invalid_client", 401)
	wantFetches("unknown kid after 30 seconds", 2)
	lab.clock.advance(31 * time.Second)
	lab.fetcher.serve(keysURL, strings.ReplaceAll(publicSet(t, "RS256"), `"kid":"RS256"`, `"kid":"other"`))
	ok("JW-4 a key under a new id", try(t, lab, unknown))
	wantError(t, try(t, lab, nil), "invalid_client", 401)
	lab.clock.advance(6 * time.Minute)
	lab.fetcher.fail(keysURL, errors.New("connection refused"))
	ok("X-10 the last good copy while the host is away", try(t, lab, unknown))
	lab.clock.advance(time.Hour)
	if e := wantError(t, try(t, lab, unknown), "temporarily_unavailable", 503); e.RetryAfter <= 0 {
		t.Error("X-10 no Retry-After")
	}
	for what, answer := range map[string]func(){
		"JW-4 guard": func() { lab.fetcher.fail(keysURL, ErrFetchRefused) },
		"JW-4 a private key in the set": func() {
			lab.fetcher.serve(keysURL, strings.Replace(publicSet(t, "RS256"), `{"use"`, `{"d":"AA","use"`, 1))
		},
		"JW-4 no key": func() { lab.fetcher.serve(keysURL, `{"keys":[]}`) },
		"JW-4 HTML":   func() { lab.fetcher.serve(keysURL, `<html>`) },
		"JW-4 too large": func() {
			lab.fetcher.serve(keysURL, strings.Replace(publicSet(t, "RS256"), `{"keys"`, `{"x":"`+strings.Repeat("x", 65<<10)+`","keys"`, 1))
		},
		"JW-4 status": func() {
			lab.fetcher.serve(keysURL, publicSet(t, "RS256"), func(d *FetchedDocument) { d.Status = http.StatusFound })
		},
	} {
		answer()
		lab.clock.advance(2 * time.Minute)
		before := lab.fetcher.count()
		for range 3 {
			if e := wantError(t, try(t, lab, nil), "invalid_client", 401); e.Check != "client_keys" {
				t.Errorf("%s: check %q", what, e.Check)
			}
		}
		if n := lab.fetcher.count() - before; n != 1 {
			t.Errorf("%s: tried %d times within five seconds", what, n)
		}
	}
}

func TestRegisterWithKeys(t *testing.T) {
	t.Parallel()
	lab := newClientLab(t)
	method := `,"token_endpoint_auth_method":"private_key_jwt"`
	t.Run("DR-1 inline keys", func(t *testing.T) {
		t.Parallel()
		got := registerJSON(t, lab, `{`+redirectsPart+method+`,"token_endpoint_auth_signing_alg":"ES256","jwks": `+publicSet(t, "ES256")+`}`)
		if got["token_endpoint_auth_method"] != "private_key_jwt" || got["jwks"] == nil || got["token_endpoint_auth_signing_alg"] != "ES256" || got["client_secret"] != nil || got["client_secret_expires_at"] != nil {
			t.Errorf("answer %v", got)
		}
		id := got["client_id"].(string)
		in := assertionOf{algorithm: "ES256", changes: map[string]any{"iss": id, "sub": id}}.sign(t, lab, "a")
		in.ClientID = id
		if c, err := lab.AuthenticateClient(context.Background(), in); err != nil || c.Public() {
			t.Errorf("JW-1 %v, %v", c, err)
		}
	})
	t.Run("DR-1 jwks_uri", func(t *testing.T) {
		t.Parallel()
		got := registerJSON(t, lab, `{`+redirectsPart+method+`,"jwks_uri":"`+keysURL+`"}`)
		if got["jwks_uri"] != keysURL || got["client_secret"] != nil {
			t.Errorf("answer %v", got)
		}
	})
	t.Run("CI-9 keys make private_key_jwt a choice", func(t *testing.T) {
		t.Parallel()
		got := registerJSON(t, lab, `{`+redirectsPart+`,"token_endpoint_auth_methods_supported":["client_secret_post","private_key_jwt"],"jwks_uri":"`+keysURL+`"}`)
		if got["token_endpoint_auth_method"] != "private_key_jwt" {
			t.Errorf("answer %v", got)
		}
	})
	for name, members := range map[string]string{
		"DR-4 both":                   method + `,"jwks_uri":"` + keysURL + `","jwks":` + publicSet(t, "ES256"),
		"CI-10 neither":               method,
		"CI-10 http":                  method + `,"jwks_uri":"http://app.example/jwks"`,
		"CI-10 fragment":              method + `,"jwks_uri":"https://app.example/jwks#x"`,
		"CI-10 not text":              method + `,"jwks_uri":1`,
		"JW-3 algorithm not offered":  method + `,"token_endpoint_auth_signing_alg":"HS256","jwks_uri":"` + keysURL + `"`,
		"JW-4 keys that cannot serve": method + `,"jwks":{"keys":[{"kty":"EC","crv":"P-999"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := lab.Register(context.Background(), []byte(`{`+redirectsPart+members+`}`))
			wantError(t, err, "invalid_client_metadata", 400)
		})
	}
	t.Run("MD-1 not offered without a fetcher", func(t *testing.T) {
		t.Parallel()
		lab := newClientLab(t, func(c *Config) { c.ClientDocuments, c.Fetch = false, nil })
		_, err := lab.Register(context.Background(), []byte(`{`+redirectsPart+method+`,"jwks_uri":"`+keysURL+`"}`))
		wantError(t, err, "invalid_client_metadata", 400)
	})
}

func FuzzClientAssertion(f *testing.F) {
	f.Add("eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJhIiwic3ViIjoiYSJ9.AAAA", "")
	f.Add("a.b.c", "a")
	f.Fuzz(func(t *testing.T, assertion, id string) {
		a, e := parseAssertion(ClientAuthentication{ClientID: id, AssertionType: assertionType, Assertion: assertion})
		if e != nil {
			wantError(t, e, "invalid_client", 401)
			return
		}
		if a.claims.Subject == "" || a.claims.Subject != a.claims.Issuer || id != "" && id != a.claims.Subject {
			t.Errorf("claims %+v", a.claims)
		}
	})
}

func FuzzKeySet(f *testing.F) {
	f.Add([]byte(`{"keys":[{"kty":"EC","crv":"P-256","x":"AA","y":"AA"},{"kty":"oct"}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		keys, err := parseKeySet(raw)
		if (err == nil) != (len(keys) > 0) {
			t.Fatalf("%d keys, %v", len(keys), err)
		}
		for i := range keys {
			if !keys[i].IsPublic() {
				t.Error("a key is not public")
			}
		}
	})
}
