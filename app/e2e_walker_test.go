package app_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"gatehouse/app/apptest"
	"gatehouse/oauth/oauthtest"
)

// The walker reads the metadata document and calls everything that it names: each endpoint, grant, method, algorithm,
// scope and claim. What it has no step for is a failure, so that nothing is published that nobody has tried.

type walker struct {
	p *apptest.Program
	b *apptest.Browser
	// all are the tokens of a client that was granted everything.
	all  map[string]any
	host *keyedDocumentHost
}

// steps by member of the document. A step gets each value of a list by itself.
func (w *walker) steps() map[string]func(t *testing.T, value any) {
	each := func(known map[string]func(t *testing.T)) func(*testing.T, any) {
		return func(t *testing.T, value any) {
			step := known[value.(string)]
			if step == nil {
				t.Fatalf("MD-1 the walker does not know the value %v", value)
			}
			step(t)
		}
	}
	return map[string]func(*testing.T, any){
		"issuer":                                 func(t *testing.T, v any) { w.is(t, v, w.p.URL) },
		"authorization_endpoint":                 func(t *testing.T, v any) { w.is(t, v, w.p.URL+"/authorize"); w.register(t, nil).connect(t) },
		"token_endpoint":                         func(t *testing.T, v any) { w.is(t, v, w.p.URL+"/token"); w.register(t, nil).connect(t) },
		"registration_endpoint":                  func(t *testing.T, v any) { w.is(t, v, w.p.URL+"/register"); w.register(t, nil) },
		"jwks_uri":                               func(t *testing.T, v any) { decoded(t, send(t, "GET", v.(string), "")) },
		"revocation_endpoint":                    w.revoke,
		"introspection_endpoint":                 w.introspect,
		"pushed_authorization_request_endpoint":  w.push,
		"userinfo_endpoint":                      w.userInfo,
		"device_authorization_endpoint":          func(t *testing.T, v any) { w.is(t, v, w.p.URL+"/device_authorization"); w.device(t) },
		"grant_management_endpoint":              w.grantEndpoint,
		"grant_management_actions_supported":     w.grantAction,
		"authorization_details_types_supported":  w.details,
		"authorization_grant_profiles_supported": each(map[string]func(*testing.T){"urn:ietf:params:oauth:grant-profile:id-jag": w.asserted}),
		"protected_resources":                    w.resource,
		"scopes_supported":                       w.scope,
		"claims_supported":                       w.claim,
		"acr_values_supported":                   w.acr,
		"prompt_values_supported": each(map[string]func(*testing.T){
			"none": func(t *testing.T) { w.prompt(t, "none") }, "login": func(t *testing.T) { w.prompt(t, "login") }, "consent": func(t *testing.T) { w.prompt(t, "consent") },
		}),
		"response_types_supported":         each(map[string]func(*testing.T){"code": func(t *testing.T) { w.register(t, nil).connect(t) }}),
		"response_modes_supported":         each(map[string]func(*testing.T){"query": func(t *testing.T) { w.register(t, nil).connect(t, "response_mode", "query") }}),
		"code_challenge_methods_supported": each(map[string]func(*testing.T){"S256": func(t *testing.T) { w.register(t, nil).connect(t) }}),
		"subject_types_supported":          each(map[string]func(*testing.T){"public": w.sameSubject}),
		"grant_types_supported": each(map[string]func(*testing.T){
			"authorization_code": func(t *testing.T) { w.register(t, nil).connect(t) },
			"refresh_token":      func(t *testing.T) { c := w.register(t, nil); c.refresh(t, c.connect(t)) },
			"client_credentials": w.machine,
			"urn:ietf:params:oauth:grant-type:device_code": w.device,
			"urn:ietf:params:oauth:grant-type:jwt-bearer":  w.asserted,
		}),
		"token_endpoint_auth_methods_supported":                    func(t *testing.T, v any) { c := w.authenticated(t, v, ""); c.refresh(t, c.connect(t)) },
		"revocation_endpoint_auth_methods_supported":               func(t *testing.T, v any) { w.revokeBy(t, w.authenticated(t, v, "")) },
		"introspection_endpoint_auth_methods_supported":            func(t *testing.T, v any) { w.introspectBy(t, w.authenticated(t, v, "")) },
		"token_endpoint_auth_signing_alg_values_supported":         func(t *testing.T, v any) { w.authenticated(t, "private_key_jwt", v.(string)).connect(t) },
		"revocation_endpoint_auth_signing_alg_values_supported":    func(t *testing.T, v any) { w.revokeBy(t, w.authenticated(t, "private_key_jwt", v.(string))) },
		"introspection_endpoint_auth_signing_alg_values_supported": func(t *testing.T, v any) { w.introspectBy(t, w.authenticated(t, "private_key_jwt", v.(string))) },
		"introspection_signing_alg_values_supported":               w.signedIntrospection,
		"id_token_signing_alg_values_supported":                    w.idToken,
		"dpop_signing_alg_values_supported":                        w.proof,
		"authorization_response_iss_parameter_supported":           func(t *testing.T, v any) { w.is(t, v, true); w.register(t, nil).connect(t) }, // connect checks iss
		"client_id_metadata_document_supported":                    w.document,
		"request_parameter_supported":                              func(t *testing.T, v any) { w.is(t, v, false); w.refused(t, "request", "x", "request_not_supported") },
		"request_uri_parameter_supported": func(t *testing.T, v any) {
			w.is(t, v, false)
			w.refused(t, "request_uri", "https://a.example/r", "request_uri_not_supported")
		},
	}
}

func TestMetadataWalker(t *testing.T) {
	t.Parallel()
	host := newKeyedDocumentHost(t)
	p := apptest.Start(t, host.environ()...)
	w := &walker{p: p, b: p.AddUser(t, "ada@example.com"), host: host}
	server, openID := decoded(t, send(t, "GET", p.URL+pathServer, "")), decoded(t, send(t, "GET", p.URL+pathOpenID, ""))
	var scopes []string
	for _, scope := range openID["scopes_supported"].([]any) {
		scopes = append(scopes, scope.(string))
	}
	everything := w.register(t, nil)
	everything.Scope = strings.Join(scopes, " ")
	w.all = everything.connect(t, "nonce", "n-1")
	document := maps.Clone(server)
	maps.Copy(document, openID)
	steps := w.steps()
	for _, name := range slices.Sorted(maps.Keys(document)) {
		step := steps[name]
		if step == nil {
			t.Errorf("MD-1 the document names %s, which the walker has no step for", name)
			continue
		}
		values, many := document[name].([]any)
		if !many {
			values = []any{document[name]}
		}
		for _, value := range values {
			t.Run("MD-1 "+name+" "+strings.TrimPrefix(jsonOf(t, value), p.URL), func(t *testing.T) { step(t, value) })
		}
	}
}

func (w *walker) is(t *testing.T, got, want any) {
	t.Helper()
	if got != want {
		t.Errorf("%v; want %v", got, want)
	}
}

// walking is a client on its way.
type walking struct {
	*apptest.Client
	w *walker
	// method is how it proves itself, sign makes its assertions.
	method string
	sign   func(t *testing.T) string
}

// register registers a public client with further members.
func (w *walker) register(t *testing.T, members map[string]any) *walking {
	t.Helper()
	all := map[string]any{"client_name": "Walker", "redirect_uris": []string{callback}, "token_endpoint_auth_method": "none"}
	maps.Copy(all, members)
	a := registerBody(t, w.p.URL, jsonOf(t, all))
	var made struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
	}
	if err := json.Unmarshal([]byte(a.body), &made); err != nil || a.status != http.StatusCreated {
		t.Fatalf("register: %d %s", a.status, a.body)
	}
	c := &walking{Client: apptest.NewClient(w.p.URL, made.ID, callback), w: w, method: all["token_endpoint_auth_method"].(string)}
	if c.Secret = made.Secret; (c.Secret != "") != strings.HasPrefix(c.method, "client_secret") {
		t.Errorf("a secret for %s: %v", c.method, c.Secret != "")
	}
	return c
}

// newSigningKey makes a key for an algorithm of assertions or proofs.
func newSigningKey(t *testing.T, algorithm string) (crypto.Signer, jose.SignatureAlgorithm) {
	t.Helper()
	var key crypto.Signer
	var err error
	switch algorithm {
	case "ES256":
		key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case "EdDSA":
		_, key, err = ed25519.GenerateKey(rand.Reader)
	case "RS256", "PS256":
		key, err = rsa.GenerateKey(rand.Reader, 2048)
	default:
		t.Fatalf("MD-1 the walker does not know the algorithm %s", algorithm)
	}
	if err != nil {
		t.Fatal(err)
	}
	return key, jose.SignatureAlgorithm(algorithm)
}

// authenticated registers a client that proves itself by a method, with an algorithm where it signs.
func (w *walker) authenticated(t *testing.T, method any, algorithm string) *walking {
	t.Helper()
	switch method {
	case "none", "client_secret_basic", "client_secret_post":
		return w.register(t, map[string]any{"token_endpoint_auth_method": method})
	case "private_key_jwt":
	default:
		t.Fatalf("MD-1 the walker does not know the method %v", method)
	}
	if algorithm == "" {
		algorithm = "ES256"
	}
	key, alg := newSigningKey(t, algorithm)
	c := w.register(t, map[string]any{"token_endpoint_auth_method": method, "jwks": jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: "k", Algorithm: algorithm, Use: "sig"}}}})
	c.sign = func(t *testing.T) string {
		signer, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: key}, (&jose.SignerOptions{}).WithHeader("kid", "k"))
		if err != nil {
			t.Fatal(err)
		}
		jws, err := signer.Sign([]byte(jsonOf(t, map[string]any{"iss": c.ID, "sub": c.ID, "aud": w.p.URL, "jti": rand.Text(), "exp": time.Now().Add(time.Minute).Unix()})))
		if err != nil {
			t.Fatal(err)
		}
		text, err := jws.CompactSerialize()
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	return c
}

// post sends a form to an endpoint as the client and gives the answer.
func (c *walking) post(t *testing.T, path string, form url.Values, fields ...string) *rawAnswer {
	t.Helper()
	form = maps.Clone(form)
	form.Set("client_id", c.ID)
	switch c.method {
	case "client_secret_basic":
		form.Del("client_id")
		r, _ := http.NewRequest("POST", c.Base, nil)
		r.SetBasicAuth(c.ID, c.Secret)
		fields = append(fields, "Authorization: "+r.Header.Get("Authorization"))
	case "client_secret_post":
		form.Set("client_secret", c.Secret)
	case "private_key_jwt":
		form.Set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
		form.Set("client_assertion", c.sign(t))
	}
	return sendForm(t, c.Base+path, form, fields...)
}

// connect goes from the authorization request to the tokens; changes are parameters of the request.
func (c *walking) connect(t *testing.T, changes ...string) map[string]any {
	t.Helper()
	return decoded(t, c.post(t, "/token", c.redemption(c.code(t, changes...))))
}

func (c *walking) code(t *testing.T, changes ...string) string {
	t.Helper()
	to, err := c.w.b.Authorize(withQuery(t, c.AuthorizeURL(), changes...))
	if err != nil {
		t.Fatal(err)
	}
	q := to.Query()
	if q.Get("code") == "" || q.Get("state") != "st-1" || q.Get("iss") != c.Base {
		t.Fatalf("the answer: %s", to)
	}
	return q.Get("code")
}

func (c *walking) redemption(code string) url.Values {
	return url.Values{"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {c.Redirect}, "code_verifier": {c.Verifier}}
}

func (c *walking) refresh(t *testing.T, tokens map[string]any) {
	t.Helper()
	decoded(t, c.post(t, "/token", url.Values{"grant_type": {"refresh_token"}, "refresh_token": {tokens["refresh_token"].(string)}}))
}

func (w *walker) revoke(t *testing.T, v any) {
	w.is(t, v, w.p.URL+"/revoke")
	w.revokeBy(t, w.register(t, nil))
}

func (w *walker) revokeBy(t *testing.T, c *walking) {
	t.Helper()
	token := c.connect(t)["access_token"].(string)
	if a := c.post(t, "/revoke", url.Values{"token": {token}}); a.status != http.StatusOK || alive(t, w.p, token) {
		t.Errorf("revoke: %d %s, or the token lives on", a.status, a.body)
	}
}

func (w *walker) introspect(t *testing.T, v any) {
	w.is(t, v, w.p.URL+"/introspect")
	w.introspectBy(t, w.authenticated(t, "client_secret_post", ""))
}

func (w *walker) introspectBy(t *testing.T, c *walking) {
	t.Helper()
	if m := decoded(t, c.post(t, "/introspect", url.Values{"token": {c.connect(t)["access_token"].(string)}})); m["active"] != true {
		t.Errorf("%v", m)
	}
}

func (w *walker) signedIntrospection(t *testing.T, v any) {
	c := w.authenticated(t, "client_secret_post", "")
	a := c.post(t, "/introspect", url.Values{"token": {c.connect(t)["access_token"].(string)}}, "Accept: application/token-introspection+jwt")
	if header, _ := segments(t, a.body); header["alg"] != v {
		t.Errorf("header %v; want %v", header, v)
	}
}

func (w *walker) push(t *testing.T, v any) {
	w.is(t, v, w.p.URL+"/par")
	c := w.register(t, nil)
	u, err := url.Parse(c.AuthorizeURL())
	if err != nil {
		t.Fatal(err)
	}
	a := c.post(t, "/par", u.Query())
	var pushed struct {
		URI string `json:"request_uri"`
	}
	if err := json.Unmarshal([]byte(a.body), &pushed); err != nil || a.status != http.StatusCreated {
		t.Fatalf("%d %s", a.status, a.body)
	}
	to, err := w.b.Authorize(w.p.URL + "/authorize?" + url.Values{"client_id": {c.ID}, "request_uri": {pushed.URI}}.Encode())
	if err != nil || to.Query().Get("code") == "" {
		t.Errorf("%v %v", to, err)
	}
}

func (w *walker) userInfo(t *testing.T, v any) {
	for _, method := range []string{"GET", "POST"} {
		if m := decoded(t, send(t, method, v.(string), "", "Authorization: Bearer "+w.all["access_token"].(string))); m["sub"] == nil {
			t.Errorf("%s %v", method, m)
		}
	}
}

// resource reads the metadata of a protected resource and calls it with a token for it.
func (w *walker) resource(t *testing.T, v any) {
	u, err := url.Parse(v.(string))
	if err != nil {
		t.Fatal(err)
	}
	if m := decoded(t, send(t, "GET", w.p.URL+pathResource+u.Path, "")); m["resource"] != v {
		t.Errorf("%v", m)
	}
	token := w.register(t, nil).connect(t, "resource", v.(string))["access_token"].(string)
	if a := send(t, "POST", v.(string), `{"jsonrpc":"2.0","id":1,"method":"ping"}`, "Authorization: Bearer "+token, "Content-Type: application/json", "Accept: application/json, text/event-stream"); a.status != http.StatusOK {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// scope asks for one scope and looks for it in the answer; offline_access shows as a refresh token.
func (w *walker) scope(t *testing.T, v any) {
	asked := v.(string)
	if slices.Contains(reservedScopes, asked) {
		w.reservedScope(t, asked)
		return
	}
	if asked == "email" {
		asked = "openid email"
	}
	tokens := w.register(t, nil).connect(t, "scope", asked)
	if v == "offline_access" {
		if tokens["refresh_token"] == nil {
			t.Error("no refresh token")
		}
		return
	}
	if !slices.Contains(strings.Fields(tokens["scope"].(string)), v.(string)) {
		t.Errorf("granted %v", tokens["scope"])
	}
}

// claim looks for a claim in the ID token or the userinfo answer of who was granted everything.
func (w *walker) claim(t *testing.T, v any) {
	_, claims := segments(t, w.all["id_token"].(string))
	info := decoded(t, send(t, "GET", w.p.URL+"/userinfo", "", "Authorization: Bearer "+w.all["access_token"].(string)))
	if claims[v.(string)] == nil && info[v.(string)] == nil {
		t.Errorf("neither %v nor %v has it", claims, info)
	}
}

// acr asks for a strength. Who cannot sign in so strongly is told so, and nothing weaker is passed off for it.
func (w *walker) acr(t *testing.T, v any) {
	c := w.register(t, nil)
	page, err := w.b.Get(withQuery(t, c.AuthorizeURL(), "acr_values", v.(string)))
	if err != nil {
		t.Fatal(err)
	}
	if page.Form("decision") == nil {
		if !strings.Contains(page.Body, "stronger sign-in") {
			t.Errorf("%d %s", page.Status, page.Text())
		}
		return
	}
	if _, claims := segments(t, c.connect(t, "acr_values", v.(string), "scope", "openid")["id_token"].(string)); claims["acr"] != v {
		t.Errorf("acr %v", claims["acr"])
	}
}

func (w *walker) prompt(t *testing.T, value string) {
	c := enteredClient(t, w.p, callback)
	page, err := w.b.Get(withQuery(t, c.AuthorizeURL(), "prompt", value))
	if err != nil {
		t.Fatal(err)
	}
	if want := map[string]string{"login": "password", "consent": "decision"}[value]; want != "" && page.Form(want) == nil || want == "" && !strings.Contains(page.Header.Get("Location"), "error=consent_required") {
		t.Errorf("%d %v", page.Status, page.Header)
	}
}

func (w *walker) sameSubject(t *testing.T) {
	_, first := segments(t, w.all["id_token"].(string))
	_, second := segments(t, w.register(t, nil).connect(t, "scope", "openid")["id_token"].(string))
	if first["sub"] == nil || first["sub"] != second["sub"] {
		t.Errorf("two clients are told %v and %v", first["sub"], second["sub"])
	}
}

func (w *walker) idToken(t *testing.T, v any) {
	site := newRelyingParty(t, w.p.URL, v.(string), "openid")
	token, _, err := site.signIn(t, w.b) // checks the signature
	if err != nil {
		t.Fatal(err)
	}
	if header, _ := segments(t, token.Extra("id_token").(string)); header["alg"] != v {
		t.Errorf("header %v", header)
	}
}

func (w *walker) proof(t *testing.T, v any) {
	key, alg := newSigningKey(t, v.(string))
	prover := oauthtest.NewProverWith(t, key, alg, time.Now)
	tokens := connected(t, boundClient(t, w.p, prover), w.b)
	address := w.p.URL + "/mcp"
	if status, _ := callBound(t, http.DefaultClient, address, "DPoP", tokens.AccessToken, prover.Proof("POST", address, tokens.AccessToken)); tokens.TokenType != "DPoP" || status != http.StatusOK {
		t.Errorf("%s token: %d", tokens.TokenType, status)
	}
}

func (w *walker) refused(t *testing.T, name, value, want string) {
	t.Helper()
	c := enteredClient(t, w.p, callback)
	page, err := w.b.Get(withQuery(t, c.AuthorizeURL(), name, value))
	if err != nil || !strings.Contains(page.Header.Get("Location"), "error="+want) {
		t.Errorf("%v %+v", err, page)
	}
}

// document connects a client that is known by its document alone.
func (w *walker) document(t *testing.T, v any) {
	w.is(t, v, true)
	c := w.host.client(t, w.p, w.host.url+"/either.json")
	connected(t, c.Client, w.b)
}
