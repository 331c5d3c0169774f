package app_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"gatehouse/app/apptest"
	"gatehouse/db/dbtest"
)

// keyedDocumentHost publishes client documents and a key set over TLS on localhost.
type keyedDocumentHost struct {
	url, caFile string
	key         *ecdsa.PrivateKey
	keySet      []byte
}

func newKeyedDocumentHost(t *testing.T) *keyedDocumentHost {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	h := &keyedDocumentHost{key: key, caFile: filepath.Join(t.TempDir(), "ca.pem")}
	h.keySet, err = json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: "k1", Algorithm: "ES256", Use: "sig"}}})
	if err != nil {
		t.Fatal(err)
	}
	certificate := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, certificate, certificate, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(h.caFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(h)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	s.StartTLS()
	t.Cleanup(s.Close)
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	h.url = "https://localhost:" + port
	return h
}

// documents are the authentication members by path.
var documents = map[string]string{
	"/signing.json": `"token_endpoint_auth_method":"private_key_jwt"`,
	// As ChatGPT's documents have it.
	"/either.json":  `"token_endpoint_auth_method":"private_key_jwt","token_endpoint_auth_methods_supported":["none","private_key_jwt"]`,
	"/pushing.json": `"token_endpoint_auth_method":"private_key_jwt","require_pushed_authorization_requests":true`,
}

func (h *keyedDocumentHost) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch members, known := documents[r.URL.Path]; {
	case known:
		fmt.Fprintf(w, `{"client_id":"%s%s","client_name":"Signing client","redirect_uris":["%s"],"grant_types":["authorization_code","refresh_token"],"jwks_uri":"%s/jwks.json",%s}`,
			h.url, r.URL.Path, callback, h.url, members)
	case r.URL.Path == "/jwks.json":
		_, _ = w.Write(h.keySet)
	default:
		http.NotFound(w, r)
	}
}

// environ lets a program fetch from the host.
func (h *keyedDocumentHost) environ(more ...string) []string {
	return append([]string{"GATEHOUSE_FETCH_ALLOW=localhost", "GATEHOUSE_FETCH_CA_FILE=" + h.caFile}, more...)
}

// assertion signs a fresh assertion of a client for an audience.
func (h *keyedDocumentHost) assertion(t *testing.T, client, to string) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: h.key}, (&jose.SignerOptions{}).WithHeader("kid", "k1"))
	if err != nil {
		t.Fatal(err)
	}
	claims, err := json.Marshal(map[string]any{"iss": client, "sub": client, "aud": to, "jti": rand.Text(), "exp": time.Now().Add(time.Minute).Unix()})
	if err != nil {
		t.Fatal(err)
	}
	jws, err := signer.Sign(claims)
	if err != nil {
		t.Fatal(err)
	}
	compact, err := jws.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return compact
}

// signingClient talks to the back-channel endpoints of a program.
type signingClient struct {
	*apptest.Client
	t    *testing.T
	host *keyedDocumentHost
}

func (h *keyedDocumentHost) client(t *testing.T, p *apptest.Program, id string) *signingClient {
	return &signingClient{Client: apptest.NewClient(p.URL, id, callback), t: t, host: h}
}

// proven adds a fresh assertion to a form.
func (c *signingClient) proven(form url.Values) url.Values {
	form.Set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
	form.Set("client_assertion", c.host.assertion(c.t, c.ID, c.Base))
	return form
}

// post sends a form and checks the status; the answer is JSON or empty.
func (c *signingClient) post(what, path string, form url.Values, status int) map[string]any {
	c.t.Helper()
	res, err := c.HTTP.PostForm(c.Base+path, form)
	if err != nil {
		c.t.Fatal(err)
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(res.Body)
	answer := map[string]any{}
	if len(text) > 0 && json.Unmarshal(text, &answer) != nil || res.StatusCode != status {
		c.t.Fatalf("%s: %d %s; want %d", what, res.StatusCode, text, status)
	}
	if status == http.StatusUnauthorized && answer["error"] != "invalid_client" {
		c.t.Errorf("%s: error %v", what, answer["error"])
	}
	return answer
}

// request is the authorization request as a form.
func (c *signingClient) request() url.Values {
	u, err := url.Parse(c.AuthorizeURL())
	if err != nil {
		c.t.Fatal(err)
	}
	return u.Query()
}

func (c *signingClient) redemption(code string) url.Values {
	return url.Values{"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {c.Redirect}, "code_verifier": {c.Verifier}}
}

func TestSigningClientFromPushToRevocation(t *testing.T) {
	t.Parallel()
	host := newKeyedDocumentHost(t)
	run := func(t *testing.T, p *apptest.Program) {
		b := p.AddUser(t, "ada@example.com")
		c := host.client(t, p, host.url+"/pushing.json")
		only := func(form url.Values) url.Values { form.Set("client_id", c.ID); return form }

		c.post("CI-10 push without proof", "/par", c.request(), 401)
		bad := c.proven(c.request())
		bad.Set("client_assertion", host.assertion(t, c.ID, "https://elsewhere.example"))
		c.post("CI-10 push with an assertion for somebody else", "/par", bad, 401)
		pushed := c.post("PA-1 push", "/par", c.proven(c.request()), 201)
		reference := c.Base + "/authorize?" + url.Values{"client_id": {c.ID}, "request_uri": {pushed["request_uri"].(string)}}.Encode()
		if page, err := b.Get(reference); err != nil || page.Form("password") == nil {
			t.Fatalf("PA-3 the reference does not lead to the sign-in page: %v", err)
		}
		to, err := b.Authorize(reference) // the same reference again
		if err != nil || to.Query().Get("code") == "" || to.Query().Get("state") != "st-1" || to.Query().Get("iss") != p.URL {
			t.Fatalf("PA-3 authorize: %v %v", to, err)
		}
		if page, err := b.Get(reference); err != nil || page.Status != http.StatusBadRequest {
			t.Errorf("PA-3 the reference after the decision: %v %v", page, err)
		}
		if plain, err := b.Authorize(c.AuthorizeURL()); err != nil || plain.Query().Get("error") != "invalid_request" {
			t.Errorf("PA-4 authorize without a push: %v %v", plain, err)
		}

		code := to.Query().Get("code")
		c.post("CI-10 redeem without proof", "/token", only(c.redemption(code)), 401)
		form := c.proven(c.redemption(code))
		tokens := c.post("JW-1 redeem", "/token", form, 200)
		c.post("JW-3 the same assertion again", "/token", form, 401)
		access, refresh := tokens["access_token"].(string), tokens["refresh_token"].(string)
		if r, err := apptest.Call(p.URL, access, "ping", ""); err != nil || r.Status != http.StatusOK {
			t.Fatalf("/mcp: %v %+v", err, r)
		}
		renewal := func() url.Values {
			return url.Values{"grant_type": {"refresh_token"}, "refresh_token": {refresh}}
		}
		c.post("CI-10 refresh without proof", "/token", only(renewal()), 401)
		if again := c.post("RT-1 refresh", "/token", c.proven(renewal()), 200); again["refresh_token"] != refresh {
			t.Error("RT-2 a client that proves itself keeps its refresh token")
		}
		about := func(token string) url.Values { return url.Values{"token": {token}} }
		c.post("IN-1 introspect without proof", "/introspect", only(about(access)), 401)
		if a := c.post("IN-3 introspect", "/introspect", c.proven(about(access)), 200); a["active"] != true || a["client_id"] != c.ID || a["aud"] != p.URL+"/mcp" || a["scope"] != "home:read home:write" {
			t.Errorf("IN-3 %v", a)
		}
		c.post("CI-10 revoke without proof", "/revoke", only(about(refresh)), 401)
		c.post("RV-1 revoke", "/revoke", c.proven(about(refresh)), 200)
		if a := c.post("IN-2 introspect", "/introspect", c.proven(about(access)), 200); a["active"] != false || len(a) != 1 {
			t.Errorf("IN-2 %v", a)
		}
		if strings.Contains(p.Logs(), form.Get("client_assertion")) || strings.Contains(p.Logs(), pushed["request_uri"].(string)) {
			t.Error("KY-6 the log holds an assertion or a reference")
		}
	}
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		run(t, apptest.Start(t, host.environ()...))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		run(t, apptest.Start(t, host.environ("GATEHOUSE_DATABASE_URL="+dbtest.PostgresURL(t))...))
	})
}

func TestDocumentWithBothMethods(t *testing.T) {
	t.Parallel()
	host := newKeyedDocumentHost(t)
	p := apptest.Start(t, host.environ()...)
	c := host.client(t, p, host.url+"/either.json")
	code, err := c.Code(p.AddUser(t, "ada@example.com"))
	if err != nil {
		t.Fatal(err)
	}
	bad := c.proven(c.redemption(code))
	bad.Set("client_assertion", bad.Get("client_assertion")+"x")
	c.post("CI-10 a bad assertion does not fall back to none", "/token", bad, 401)
	tokens := c.post("CI-9 redeem with an assertion", "/token", c.proven(c.redemption(code)), 200)
	status, next, err := c.Refresh(tokens["refresh_token"].(string))
	if err != nil || status != http.StatusOK || next.RefreshToken == tokens["refresh_token"] {
		t.Errorf("CI-9 refresh with none: %d %v %+v", status, err, next)
	}
}

func TestEnteredClientWithKeyFile(t *testing.T) {
	t.Parallel()
	host := newKeyedDocumentHost(t) // for its key alone: nothing is fetched
	onBoth(t, func(t *testing.T, p *apptest.Program) {
		file := filepath.Join(t.TempDir(), "jwks.json")
		if err := os.WriteFile(file, host.keySet, 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := p.Run("", "client", "add", "--json", "--name", "Batch", "--redirect-uri", callback, "--jwks-file", file)
		if err != nil {
			t.Fatal(err)
		}
		var added map[string]string
		if err := json.Unmarshal([]byte(out), &added); err != nil || added["client_secret"] != "" {
			t.Fatalf("client add: %v %s", err, out)
		}
		c := host.client(t, p, added["client_id"])
		code, err := c.Code(p.AddUser(t, "ada@example.com"))
		if err != nil {
			t.Fatal(err)
		}
		c.post("JW-1 redeem", "/token", c.proven(c.redemption(code)), 200)
		if _, err := p.Run("", "client", "add", "--name", "Two", "--redirect-uri", callback, "--jwks-file", file, "--confidential"); err == nil {
			t.Error("a client got keys and a secret")
		}
		if _, err := p.Run("", "client", "add", "--name", "Web", "--redirect-uri", callback, "--jwks-uri", "https://app.example/jwks.json", "--require-par"); err != nil {
			t.Error(err)
		}
	})
}

func TestAssertionUsedOnceOverTwoProcesses(t *testing.T) {
	t.Parallel()
	host := newKeyedDocumentHost(t)
	address := dbtest.PostgresURL(t)
	first := apptest.Start(t, host.environ("GATEHOUSE_DATABASE_URL="+address)...)
	second := apptest.Start(t, host.environ("GATEHOUSE_DATABASE_URL="+address, "GATEHOUSE_PUBLIC_URL="+first.URL,
		"GATEHOUSE_SECRET_KEY_FILE="+first.Dir+"/secret.key")...)
	c := host.client(t, first, host.url+"/signing.json")
	bases := []string{first.URL, "http://" + second.Bound(t)}
	for range 5 {
		form := c.proven(c.request())
		statuses := make([]int, 8)
		inParallel(len(statuses), func(i int) {
			res, err := http.PostForm(bases[i%2]+"/par", form)
			if err != nil {
				t.Error(err)
				return
			}
			_ = res.Body.Close()
			statuses[i] = res.StatusCode
		})
		slices.Sort(statuses)
		if statuses[0] != http.StatusCreated || statuses[1] != http.StatusUnauthorized {
			t.Errorf("JW-3 one assertion at two processes: %v; want one 201", statuses)
		}
	}
}

func TestMetadataListsClientAuthentication(t *testing.T) {
	t.Parallel()
	p := apptest.Start(t)
	res, err := http.Get(p.URL + "/.well-known/oauth-authorization-server")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var m map[string]any
	if err := json.NewDecoder(res.Body).Decode(&m); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"pushed_authorization_request_endpoint": p.URL + "/par", "introspection_endpoint": p.URL + "/introspect",
		"token_endpoint_auth_methods_supported":                    "[none client_secret_basic client_secret_post private_key_jwt]",
		"introspection_endpoint_auth_methods_supported":            "[client_secret_basic client_secret_post private_key_jwt]",
		"token_endpoint_auth_signing_alg_values_supported":         "[RS256 PS256 ES256 EdDSA]",
		"revocation_endpoint_auth_signing_alg_values_supported":    "[RS256 PS256 ES256 EdDSA]",
		"introspection_endpoint_auth_signing_alg_values_supported": "[RS256 PS256 ES256 EdDSA]",
		"grant_types_supported":                                    "[authorization_code refresh_token client_credentials urn:ietf:params:oauth:grant-type:device_code urn:ietf:params:oauth:grant-type:jwt-bearer]",
		"authorization_grant_profiles_supported":                   "[urn:ietf:params:oauth:grant-profile:id-jag]", // IJ-5
		"device_authorization_endpoint":                            p.URL + "/device_authorization",
		"introspection_signing_alg_values_supported":               "[ES256]",
		"require_pushed_authorization_requests":                    "<nil>",
	} {
		if got := fmt.Sprint(m[name]); got != want {
			t.Errorf("MD-1 %s is %s, want %s", name, got, want)
		}
	}
}
