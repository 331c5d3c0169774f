package oauth_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
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

const tokenURL = issuer + "/token"

func (w *world) prover() *oauthtest.Prover { return oauthtest.NewProver(w.t, w.clock.Now) }

// tokenWith sends a token request with DPoP headers.
func (w *world) tokenWith(client string, proofs []string, form url.Values) (*oauth.TokenResponse, error) {
	w.t.Helper()
	auth := authOf(client)
	auth.Proof = oauth.ProofRequest{Headers: proofs, Method: "POST", URL: tokenURL}
	return w.Token(w.t.Context(), form, auth)
}

func codeForm(code string) url.Values {
	return url.Values{"grant_type": {"authorization_code"}, "code": {code}, "code_verifier": {verifier}}
}

func refreshForm(token string) url.Values {
	return url.Values{"grant_type": {"refresh_token"}, "refresh_token": {token}}
}

// bound goes from approval to tokens that are bound to the prover's key.
func (w *world) bound(client string, p *oauthtest.Prover) *oauth.TokenResponse {
	w.t.Helper()
	tokens, err := w.tokenWith(client, []string{p.Proof("POST", tokenURL, "")}, codeForm(w.approve(client, []string{"read"})))
	must(w.t, err)
	return tokens
}

// call verifies a bound token as the resource server would.
func (w *world) call(token string, proofs ...string) (*oauth.AccessToken, error) {
	return w.VerifyBoundToken(w.t.Context(), token, mainResource, oauth.ProofRequest{Headers: proofs, Method: "POST", URL: mainResource})
}

func TestProofChecks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, other := w.prover(), w.prover()
	pub := func(key any) jose.JSONWebKey { return jose.JSONWebKey{Key: key} }
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	must(t, err)
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	small, err := rsa.GenerateKey(rand.Reader, 1024)
	must(t, err)
	now := w.clock.Now()
	good := func(changes ...any) []string { return []string{p.Proof("POST", tokenURL, "", changes...)} }
	symmetric, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.HS256, Key: []byte(strings.Repeat("k", 32))},
		(&jose.SignerOptions{}).WithType("dpop+jwt").WithHeader("jwk", map[string]string{"kty": "oct", "k": base64.RawURLEncoding.EncodeToString([]byte(strings.Repeat("k", 32)))}))
	must(t, err)
	jws, err := symmetric.Sign([]byte(`{}`))
	must(t, err)
	hmac, err := jws.CompactSerialize()
	must(t, err)
	tampered := good()[0]
	cut := strings.LastIndexByte(tampered, '.')
	unsigned := base64.RawURLEncoding.EncodeToString([]byte(`{"typ":"dpop+jwt","alg":"none"}`)) + tampered[strings.IndexByte(tampered, '.'):cut+1]

	for _, c := range []struct {
		name   string
		proofs []string
		check  string
	}{
		{"DP-1 two headers", append(good(), good()...), "dpop_header"},
		{"DP-1 not a JWT", []string{"nonsense"}, "dpop_proof"},
		{"DP-1 empty", []string{""}, "dpop_proof"},
		{"DP-1 two proofs in one header", []string{good()[0] + ", " + good()[0]}, "dpop_proof"},
		{"DP-1 huge", []string{strings.Repeat("a", 9<<10)}, "dpop_header"},
		{"DP-1 no typ", good("typ", nil), "dpop_typ"},
		{"DP-1 another typ", good("typ", "JWT"), "dpop_typ"},
		{"DP-1 alg none", []string{unsigned}, "dpop_proof"},
		{"DP-1 symmetric alg", []string{hmac}, "dpop_proof"},
		{"DP-1 no jwk", good("jwk", nil), "dpop_jwk"},
		{"DP-1 private jwk", good("jwk", pub(private)), "dpop_proof"},
		{"DP-1 jwk of another curve", good("jwk", pub(p384.Public())), "dpop_jwk"},
		{"DP-1 jwk of another kind", good("jwk", pub(small.Public())), "dpop_jwk"},
		{"DP-1 alg not on the list", []string{oauthtest.NewProverWith(t, p384, jose.ES384, w.clock.Now).Proof("POST", tokenURL, "")}, "dpop_proof"},
		{"DP-1 weak RSA key", []string{oauthtest.NewProverWith(t, small, jose.RS256, w.clock.Now).Proof("POST", tokenURL, "")}, "dpop_jwk"},
		{"DP-1 signed by another key", good("jwk", pub(private.Public())), "dpop_signature"},
		{"DP-1 tampered", []string{tampered[:cut-2] + "AA" + tampered[cut:]}, "dpop_signature"},
		{"DP-1 no jti", good("jti", nil), "dpop_jti"},
		{"DP-1 no htm", good("htm", nil), "dpop_htm"},
		{"DP-1 no htu", good("htu", nil), "dpop_htu"},
		{"DP-1 no iat", good("iat", nil), "dpop_iat"},
		{"DP-1 claims of wrong types", good("jti", 7), "dpop_claims"},
		{"DP-2 another method", good("htm", "GET"), "dpop_htm"},
		{"DP-2 method in lower case", good("htm", "post"), "dpop_htm"},
		{"DP-2 another endpoint", good("htu", issuer+"/par"), "dpop_htu"},
		{"DP-2 another host", good("htu", "https://evil.example/token"), "dpop_htu"},
		{"DP-3 61 s old", good("iat", now.Add(-61*time.Second).Unix()), "dpop_iat"},
		{"DP-3 61 s ahead", good("iat", now.Add(61*time.Second).Unix()), "dpop_iat"},
		{"DP-3 iat beyond all time", good("iat", 1e300), "dpop_iat"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := w.tokenWith(publicClient, c.proofs, codeForm("gtc_any"))
			e := shown(t, err, "invalid_dpop_proof")
			equal(t, "status", e.Status, 400)
			equal(t, "check", e.Check, c.check)
		})
	}
	t.Run("DP-4 a proof works once, whatever it is sent with", func(t *testing.T) {
		proof := good()
		_, err := w.tokenWith(publicClient, proof, codeForm("gtc_any"))
		shown(t, err, "invalid_grant")
		_, err = w.another().Token(t.Context(), codeForm("gtc_any"), oauth.ClientAuthentication{ClientID: publicClient,
			Proof: oauth.ProofRequest{Headers: proof, Method: "POST", URL: tokenURL}})
		equal(t, "check", shown(t, err, "invalid_dpop_proof").Check, "dpop_jti")
	})
	t.Run("DP-4 another key may use the same jti", func(t *testing.T) {
		for _, who := range []*oauthtest.Prover{p, other} {
			_, err := w.tokenWith(publicClient, []string{who.Proof("POST", tokenURL, "", "jti", "same")}, codeForm("gtc_any"))
			shown(t, err, "invalid_grant")
		}
	})
	t.Run("DP-3 59 s to either side are accepted, with fractions", func(t *testing.T) {
		for _, iat := range []any{now.Add(-59 * time.Second).Unix(), now.Add(59 * time.Second).Unix(), float64(now.Unix()) + 0.5} {
			_, err := w.tokenWith(publicClient, good("iat", iat), codeForm("gtc_any"))
			shown(t, err, "invalid_grant")
		}
	})
}

func TestProofURLs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.prover()
	for htu, want := range map[string]bool{
		"https://auth.example/token":           true,
		"HTTPS://AUTH.Example:443/token":       true,
		"https://auth.example/token?a=b#c":     true,
		"https://auth.example/%74oken":         true,
		"https://auth.example/a/../token":      true,
		"https://auth.example/token/":          false,
		"https://auth.example/Token":           false,
		"https://auth.example:8443/token":      false,
		"http://auth.example/token":            false,
		"https://auth.example@evil.test/token": false,
		"https://u@auth.example/token":         false,
		"https://auth.example/%2Ftoken":        false,
		"https://auth.example":                 false,
		"/token":                               false,
		"":                                     false,
		"https://auth.example/to%zzken":        false,
	} {
		_, err := w.tokenWith(publicClient, []string{p.Proof("POST", htu, "")}, codeForm("gtc_any"))
		var e *oauth.Error
		if !errors.As(err, &e) || (e.Code == "invalid_grant") != want {
			t.Errorf("DP-2 htu %q: %v, want accepted = %v", htu, err, want)
		}
	}
}

func TestBoundTokens(t *testing.T) {
	t.Parallel()
	_, ed25519Key, err := ed25519.GenerateKey(rand.Reader)
	must(t, err)
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	must(t, err)
	t.Run("DP-5 every algorithm of the list binds", func(t *testing.T) {
		w := newWorld(t)
		for _, p := range []*oauthtest.Prover{
			w.prover(), oauthtest.NewProverWith(t, ed25519Key, jose.EdDSA, w.clock.Now), oauthtest.NewProverWith(t, rsaKey, jose.RS256, w.clock.Now),
		} {
			tokens := w.bound(publicClient, p)
			equal(t, "token_type", tokens.TokenType, "DPoP")
			at, err := w.call(tokens.AccessToken, p.Proof("POST", mainResource, tokens.AccessToken))
			must(t, err)
			equal(t, "cnf.jkt", at.KeyThumbprint, p.Thumbprint())
		}
	})
	w := newWorld(t)
	p, thief := w.prover(), w.prover()
	tokens := w.bound(publicClient, p)
	for _, c := range []struct {
		name, code string
		status     int
		proofs     []string
	}{
		{"DP-1 no proof", "invalid_dpop_proof", 401, nil},
		{"DP-5 proof of another key", "invalid_token", 401, []string{thief.Proof("POST", mainResource, tokens.AccessToken)}},
		{"DP-5 no ath", "invalid_dpop_proof", 401, []string{p.Proof("POST", mainResource, "")}},
		{"DP-5 ath of another token", "invalid_dpop_proof", 401, []string{p.Proof("POST", mainResource, "other")}},
		{"DP-2 proof for the token endpoint", "invalid_dpop_proof", 401, []string{p.Proof("POST", tokenURL, tokens.AccessToken)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := w.call(tokens.AccessToken, c.proofs...)
			equal(t, "status", shown(t, err, c.code).Status, c.status)
		})
	}
	t.Run("DP-4 replay at the resource", func(t *testing.T) {
		proof := p.Proof("POST", mainResource, tokens.AccessToken)
		_, err := w.call(tokens.AccessToken, proof)
		must(t, err)
		_, err = w.call(tokens.AccessToken, proof)
		equal(t, "status", shown(t, err, "invalid_dpop_proof").Status, 401)
	})
	t.Run("DP-6 a bound token as a bearer token", func(t *testing.T) {
		_, err := w.VerifyAccessToken(t.Context(), tokens.AccessToken, mainResource)
		equal(t, "check", shown(t, err, "invalid_token").Check, "cnf")
	})
	t.Run("DP-6 a bearer token with the DPoP scheme", func(t *testing.T) {
		plain := w.connect(publicClient).AccessToken
		_, err := w.call(plain, p.Proof("POST", mainResource, plain))
		shown(t, err, "invalid_token")
	})
	t.Run("RI-3 another resource", func(t *testing.T) {
		_, err := w.VerifyBoundToken(t.Context(), tokens.AccessToken, sideResource,
			oauth.ProofRequest{Headers: []string{p.Proof("POST", sideResource, tokens.AccessToken)}, Method: "POST", URL: sideResource})
		shown(t, err, "invalid_token")
	})
	t.Run("X-10 a store that fails is no fault of the proof", func(t *testing.T) {
		proof := p.Proof("POST", mainResource, tokens.AccessToken)
		_, err := w.call(tokens.AccessToken, proof)
		must(t, err)
		w.store.Fail(errors.New("down"))
		defer w.store.Fail(nil)
		_, err = w.call(tokens.AccessToken, p.Proof("POST", mainResource, tokens.AccessToken))
		shown(t, err, "temporarily_unavailable")
	})
}

func TestBoundRefresh(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, thief := w.prover(), w.prover()
	proof := func(who *oauthtest.Prover) []string { return []string{who.Proof("POST", tokenURL, "")} }
	t.Run("RT-2 a bound token is not rotated, and DP-7 only its key refreshes it", func(t *testing.T) {
		tokens := w.bound(publicClient, p)
		for range 3 {
			again, err := w.tokenWith(publicClient, proof(p), refreshForm(tokens.RefreshToken))
			must(t, err)
			equal(t, "refresh token", again.RefreshToken, tokens.RefreshToken)
			equal(t, "token_type", again.TokenType, "DPoP")
		}
		for _, proofs := range [][]string{proof(thief), nil} {
			_, err := w.tokenWith(publicClient, proofs, refreshForm(tokens.RefreshToken))
			equal(t, "check", shown(t, err, "invalid_grant").Check, "dpop_key")
		}
		w.clock.Advance(20 * 24 * time.Hour)
		_, err := w.tokenWith(publicClient, proof(p), refreshForm(tokens.RefreshToken))
		must(t, err)
		w.clock.Advance(20 * 24 * time.Hour) // 40 days: only the renewal of the use before keeps it alive
		_, err = w.tokenWith(publicClient, proof(p), refreshForm(tokens.RefreshToken))
		must(t, err)
	})
	t.Run("DP-7 a confidential client's refresh token is not bound", func(t *testing.T) {
		tokens := w.bound(secretClient, p)
		next, err := w.tokenWith(secretClient, proof(thief), refreshForm(tokens.RefreshToken))
		must(t, err)
		at, err := w.call(next.AccessToken, thief.Proof("POST", mainResource, next.AccessToken))
		must(t, err)
		equal(t, "cnf.jkt", at.KeyThumbprint, thief.Thumbprint())
		plain, err := w.tokenWith(secretClient, nil, refreshForm(tokens.RefreshToken))
		must(t, err)
		equal(t, "token_type", plain.TokenType, "Bearer")
	})
	t.Run("DP-7 the first proof binds a family that began without", func(t *testing.T) {
		tokens := w.connect(publicClient)
		rotated, err := w.refresh(publicClient, tokens.RefreshToken)
		must(t, err)
		bound, err := w.tokenWith(publicClient, proof(p), refreshForm(rotated.RefreshToken))
		must(t, err)
		_, err = w.refresh(publicClient, bound.RefreshToken)
		equal(t, "check", shown(t, err, "invalid_grant").Check, "dpop_key")
		for _, presented := range []string{rotated.RefreshToken, bound.RefreshToken} { // RT-9: the answer got lost
			again, err := w.tokenWith(publicClient, proof(p), refreshForm(presented))
			must(t, err)
			equal(t, "refresh token", again.RefreshToken, bound.RefreshToken)
		}
		_, err = w.refresh(publicClient, rotated.RefreshToken) // who holds the free one without the key is another holder
		equal(t, "check", shown(t, err, "invalid_grant").Check, "refresh_reuse")
		_, err = w.tokenWith(publicClient, proof(p), refreshForm(bound.RefreshToken))
		equal(t, "check", shown(t, err, "invalid_grant").Check, "family_ended")
	})
}

func TestBoundCodes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, thief := w.prover(), w.prover()
	t.Run("DP-8 dpop_jkt binds the code", func(t *testing.T) {
		code := w.approve(publicClient, []string{"read"}, "dpop_jkt", p.Thumbprint())
		for _, proofs := range [][]string{{thief.Proof("POST", tokenURL, "")}, nil} {
			_, err := w.tokenWith(publicClient, proofs, codeForm(code))
			equal(t, "check", shown(t, err, "invalid_grant").Check, "dpop_key")
		}
		tokens, err := w.tokenWith(publicClient, []string{p.Proof("POST", tokenURL, "")}, codeForm(code))
		must(t, err) // CG-3: the wrong attempts did not burn it
		equal(t, "token_type", tokens.TokenType, "DPoP")
	})
	for _, value := range []string{"short", strings.Repeat("a", 44), strings.Repeat("a", 42) + "="} {
		t.Run("DP-8 malformed dpop_jkt "+value, func(t *testing.T) {
			_, err := w.BeginAuthorization(t.Context(), authorizeForm(documentURL, "dpop_jkt", value), true)
			equal(t, "check", sent(t, err, "invalid_request").Err.Check, "dpop_jkt")
		})
	}
	t.Run("X-4 dpop_jkt twice", func(t *testing.T) {
		form := authorizeForm(documentURL)
		form["dpop_jkt"] = []string{p.Thumbprint(), p.Thumbprint()}
		_, err := w.BeginAuthorization(t.Context(), form, true)
		sent(t, err, "invalid_request")
	})
}

func TestDPoPClientsAndMetadata(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	body := func(value string) []byte {
		return []byte(`{"redirect_uris":["` + redirectURI + `"],"token_endpoint_auth_method":"none","dpop_bound_access_tokens":` + value + `}`)
	}
	r, err := w.Register(t.Context(), body("true"))
	must(t, err)
	equal(t, "DR-1 dpop_bound_access_tokens", r.DPoPBoundAccessTokens, true)
	_, err = w.Register(t.Context(), body(`"yes"`))
	shown(t, err, "invalid_client_metadata")

	p := w.prover()
	code := w.approve(r.ClientID, []string{"read"})
	_, err = w.exchange(r.ClientID, code)
	if e := shown(t, err, "invalid_request"); e.Status != 400 || e.Check != "dpop_header" {
		t.Errorf("DP-9 no proof from a client registered for DPoP: %+v", e)
	}
	tokens, err := w.tokenWith(r.ClientID, []string{p.Proof("POST", tokenURL, "")}, codeForm(code))
	must(t, err)
	_, err = w.refresh(r.ClientID, tokens.RefreshToken)
	shown(t, err, "invalid_request")

	resource, _ := w.ResourceMetadata(mainResource)
	for _, document := range []any{w.Metadata(), w.OpenIDConfiguration(), resource} {
		text, err := json.Marshal(document)
		must(t, err)
		if !strings.Contains(string(text), `"dpop_signing_alg_values_supported":["ES256","EdDSA","RS256"]`) {
			t.Errorf("DP-10 metadata lacks the algorithms: %s", text)
		}
	}
	equal(t, "DP-10 a client that sends no proof gets", w.connect(publicClient).TokenType, "Bearer")
}

// FuzzProof: no header makes a panic, a server error or a bound token.
func FuzzProof(f *testing.F) {
	w := newWorld(f)
	p := w.prover()
	f.Add(p.Proof("POST", tokenURL, "", "htm", "GET"), tokenURL)
	f.Add(p.Proof("POST", "https://auth.example:443/%74oken?x", "", "iat", 1), "https://auth.example/%")
	f.Add("..", "http://[::1]:80")
	f.Fuzz(func(t *testing.T, header, address string) {
		_, err := w.Token(t.Context(), codeForm("gtc_none"), oauth.ClientAuthentication{
			ClientID: publicClient, Proof: oauth.ProofRequest{Headers: []string{header}, Method: "POST", URL: address},
		})
		var e *oauth.Error
		if !errors.As(err, &e) || e.Status != 400 || e.Code != "invalid_dpop_proof" && e.Code != "invalid_grant" {
			t.Fatalf("answer is %v", err)
		}
	})
}
