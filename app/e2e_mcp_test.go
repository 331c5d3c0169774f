package app_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"io"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"gatehouse/app/apptest"
	"gatehouse/app/sealing"
	"gatehouse/db"
	"gatehouse/oauth"
)

// /mcp from outside: who is let in, and what happens to requests that are no JSON-RPC.

const mcpType = "Content-Type: application/json"

func TestBearerAtMCP(t *testing.T) {
	t.Parallel()
	p := apptest.Start(t)
	b := p.AddUser(t, "ada@example.com")
	tokens := connected(t, registered(t, p), b)
	at, bearer := p.URL+"/mcp", "Authorization: Bearer "+tokens.AccessToken
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	metadata := `resource_metadata="` + p.URL + `/.well-known/oauth-protected-resource/mcp"`

	challenged := func(t *testing.T, a *rawAnswer, withError string) {
		t.Helper()
		h := a.header.Values("WWW-Authenticate")
		if a.status != http.StatusUnauthorized || len(h) != 1 {
			t.Errorf("%d, challenges %q", a.status, h)
			return
		}
		if !strings.HasPrefix(h[0], "Bearer ") || !strings.Contains(h[0], metadata) || !strings.Contains(h[0], `scope="home:read home:write"`) || strings.Contains(h[0], `\`) {
			t.Errorf("BR-1 BR-7 challenge %q", h[0])
		}
		if withError == "" && strings.Contains(h[0], "error") || withError != "" && !strings.Contains(h[0], `error="`+withError+`"`) {
			t.Errorf("BR-1 BR-2 challenge %q; want error %q", h[0], withError)
		}
		if a.header.Get("Location") != "" {
			t.Errorf("BR-10 sent to %s", a.header.Get("Location"))
		}
	}
	t.Run("BR-1 BR-8 every method without a token", func(t *testing.T) {
		for _, method := range []string{"POST", "GET", "HEAD", "DELETE", "PUT", "PATCH"} {
			for _, address := range []string{at, at + "/", at + "?x=1", p.URL + "//mcp"} {
				if address == p.URL+"//mcp" && method != "POST" {
					continue
				}
				a := send(t, method, address, ping, mcpType)
				if address == p.URL+"//mcp" {
					if a.status/100 == 3 || a.status >= 500 {
						t.Errorf("X-3 //mcp: %d", a.status)
					}
					continue
				}
				challenged(t, a, "")
				if method != "HEAD" && rpcError(a.body) == nil {
					t.Errorf("%s: not a JSON-RPC error: %s", method, a.body)
				}
			}
		}
		for _, body := range []string{"", "x", `{"jsonrpc":"2.0","id":"server-discover-probe-1","method":"server/discover","params":{}}`, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}`} {
			challenged(t, send(t, "POST", at, body, mcpType, "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: server/discover"), "")
		}
		if a := send(t, "OPTIONS", at, ""); a.status != http.StatusNoContent {
			t.Errorf("BR-8 OPTIONS: %d", a.status)
		}
	})
	t.Run("BR-8 other methods with a token", func(t *testing.T) {
		for _, method := range []string{"GET", "HEAD", "DELETE", "PUT"} {
			if a := send(t, method, at, "", bearer, "Accept: text/event-stream"); a.status != http.StatusMethodNotAllowed || a.header.Get("Allow") != "POST" {
				t.Errorf("%s: %d, Allow %q", method, a.status, a.header.Get("Allow"))
			}
		}
	})
	t.Run("BR-4 two tokens", func(t *testing.T) {
		for _, fields := range [][]string{{bearer, bearer}, {bearer, "Authorization: Basic eDp5"}, {"Authorization: Basic eDp5", bearer}, {bearer, "Authorization: "}, {bearer + ", Bearer x"}, {"Authorization: Bearer "}, {"Authorization: Bearer a b"}} {
			a := send(t, "POST", at, ping, append(fields, mcpType)...)
			if h := a.header.Get("WWW-Authenticate"); a.status != http.StatusBadRequest || !strings.HasPrefix(h, "Bearer ") || !strings.Contains(h, `error="invalid_request"`) {
				t.Errorf("%d fields: %d %q %s", len(fields), a.status, h, a.body)
			}
		}
	})
	t.Run("DP-6 a bearer token is no bound one", func(t *testing.T) {
		a := send(t, "POST", at, ping, mcpType, "Authorization: DPoP "+tokens.AccessToken)
		h := a.header.Values("WWW-Authenticate")
		if a.status != http.StatusUnauthorized || len(h) != 2 || !strings.HasPrefix(h[0], "Bearer ") || !strings.HasPrefix(h[1], `DPoP error="invalid_token"`) {
			t.Errorf("%d %q", a.status, h)
		}
	})
	t.Run("BR-5 a token elsewhere does not count", func(t *testing.T) {
		challenged(t, send(t, "POST", at+"?access_token="+tokens.AccessToken, ping, mcpType), "")
		challenged(t, send(t, "POST", at, "access_token="+tokens.AccessToken, "Content-Type: application/x-www-form-urlencoded"), "")
		challenged(t, send(t, "POST", at, ping, mcpType, "Cookie: access_token="+tokens.AccessToken, "X-Access-Token: "+tokens.AccessToken), "")
		challenged(t, send(t, "POST", at, ping, mcpType, "Authorization: Basic "+base64.StdEncoding.EncodeToString([]byte("x:"+tokens.AccessToken))), "")
		if a := send(t, "POST", at+"?access_token=x", ping, mcpType, bearer); a.status != http.StatusOK {
			t.Errorf("a token in the field and rubbish in the query: %d %s", a.status, a.body)
		}
	})
	t.Run("BR-6 the scheme in any case", func(t *testing.T) {
		for _, scheme := range []string{"Bearer", "bearer", "BEARER", "bEaReR", "Bearer "} {
			if a := send(t, "POST", at, ping, mcpType, "Authorization: "+scheme+" "+tokens.AccessToken); a.status != http.StatusOK {
				t.Errorf("%s: %d", scheme, a.status)
			}
		}
	})
	t.Run("BR-2 worthless tokens", func(t *testing.T) {
		for _, token := range []string{"x", "a.b.c", "..", tokens.AccessToken[:len(tokens.AccessToken)-2], tokens.AccessToken + "x", tokens.AccessToken + ".", tokens.RefreshToken, "gth_x", "gth_AAAAAAAA_" + strings.Repeat("A", 43),
			strings.Repeat("x", 20000), "%00", "\xff\xfe", "gth_\xc3\xa9_'--", "null", "undefined", "Bearer", `"quoted"`} {
			challenged(t, send(t, "POST", at, ping, mcpType, "Authorization: Bearer "+token), "invalid_token")
		}
	})
	t.Run("BR-11 foreign origins and hosts", func(t *testing.T) {
		for _, fields := range [][]string{
			{"Origin: https://evil.example"}, {"Origin: null"}, {"Origin: " + p.URL + ".evil.example"}, {"Origin: " + strings.Replace(p.URL, "http", "https", 1)}, {"Origin: " + p.URL, "Origin: https://evil.example"}, {"Origin: https://claude.ai"},
			{"Host: evil.example"}, {"Host: localhost"}, {"Host: 127.0.0.1.nip.io:80"}, {"Host: evil.example", "X-Forwarded-Host: " + strings.TrimPrefix(p.URL, "http://")},
		} {
			for _, credentials := range [][]string{{bearer}, nil} {
				a := send(t, "POST", at, ping, slices.Concat(fields, credentials, []string{mcpType})...)
				if a.status != http.StatusForbidden || rpcError(a.body) == nil || strings.Contains(a.header.Get("Access-Control-Allow-Origin"), "evil") {
					t.Errorf("%q: %d %v %s", fields, a.status, a.header, a.body)
				}
			}
		}
		if a := send(t, "POST", at, ping, mcpType, bearer, "Origin: "+p.URL); a.status != http.StatusOK {
			t.Errorf("our own origin: %d %s", a.status, a.body)
		}
	})
}

// rpcError is the error of a JSON-RPC answer; nil if it has none.
func rpcError(body string) *int {
	var m struct {
		JSONRPC string `json:"jsonrpc"`
		Error   *struct {
			Code    *int    `json:"code"`
			Message *string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal([]byte(body), &m) != nil || m.JSONRPC != "2.0" || m.Error == nil || m.Error.Message == nil {
		return nil
	}
	return m.Error.Code
}

// signingKey opens the program's own active signing key, as nobody outside can, to sign what must be refused although
// the signature is right.
func signingKey(t *testing.T, p *apptest.Program) jose.JSONWebKey {
	t.Helper()
	d, err := db.Open(t.Context(), db.Options{URL: "sqlite://" + filepath.Join(p.Dir, "gatehouse.db"), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	secret, err := sealing.Source{DataFile: filepath.Join(p.Dir, "secret.key")}.Load(t.Context(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key, err := sealing.OpenDataKey(t.Context(), secret, rand.Reader, d)
	if err != nil {
		t.Fatal(err)
	}
	sealer, err := sealing.New(key, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := d.Keys(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		if row.State != oauth.KeyActive {
			continue
		}
		plain, err := sealer.Open("signing-key", row.KID, row.Sealed)
		if err != nil {
			t.Fatal(err)
		}
		var jwk jose.JSONWebKey
		if err := jwk.UnmarshalJSON(plain); err != nil {
			t.Fatal(err)
		}
		jwk.KeyID = row.KID
		return jwk
	}
	t.Fatal("no active signing key")
	return jose.JSONWebKey{}
}

// signed makes a JWT.
func signed(t *testing.T, algorithm jose.SignatureAlgorithm, key any, kid, typ string, claims map[string]any) string {
	t.Helper()
	options := (&jose.SignerOptions{}).WithHeader("kid", kid)
	if typ != "" {
		options = options.WithType(jose.ContentType(typ))
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: algorithm, Key: key}, options)
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
	token, err := jws.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestForgedAccessTokens(t *testing.T) {
	t.Parallel()
	p := apptest.Start(t)
	b, eve := p.AddUser(t, "ada@example.com"), p.AddUser(t, "eve@example.com")
	tokens := connected(t, registered(t, p), b)
	other := connected(t, registered(t, p), eve)
	header, claims := segments(t, tokens.AccessToken)
	_, others := segments(t, other.AccessToken)
	kid := header["kid"].(string)
	own := signingKey(t, p)
	public := own.Public()
	foreign, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	with := func(pairs ...any) map[string]any {
		m := maps.Clone(claims)
		for i := 0; i < len(pairs); i += 2 {
			if m[pairs[i].(string)] = pairs[i+1]; pairs[i+1] == nil {
				delete(m, pairs[i].(string))
			}
		}
		return m
	}
	unsigned := func(head string, m map[string]any) string {
		enc := base64.RawURLEncoding.EncodeToString
		return enc([]byte(head)) + "." + enc([]byte(jsonOf(t, m))) + "."
	}
	der, err := x509.MarshalPKIXPublicKey(public.Key)
	if err != nil {
		t.Fatal(err)
	}
	jwk, err := public.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(tokens.AccessToken, ".")
	at := func(m map[string]any) string { return signed(t, jose.ES256, own.Key, kid, "at+jwt", m) }
	now := time.Now().Unix()
	if r := mustCall(t, p.URL, at(claims), "ping", ""); r.Status != http.StatusOK {
		t.Fatalf("the forger's own copy is refused, so that nothing below proves anything: %d %s", r.Status, r.Body)
	}
	if r := mustCall(t, p.URL, signed(t, jose.ES256, own.Key, kid, "application/at+jwt", with("jti", "other")), "ping", ""); r.Status != http.StatusOK {
		t.Errorf("AT-2 typ application/at+jwt: %d", r.Status)
	}
	for name, token := range map[string]string{
		"alg none":                              unsigned(`{"alg":"none","typ":"at+jwt","kid":"`+kid+`"}`, claims),
		"alg nOnE":                              unsigned(`{"alg":"nOnE","typ":"at+jwt","kid":"`+kid+`"}`, claims),
		"alg none over a real signature":        base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","typ":"at+jwt","kid":"`+kid+`"}`)) + "." + parts[1] + "." + parts[2],
		"no signature":                          parts[0] + "." + parts[1] + ".",
		"HS256 with the public key as PEM":      signed(t, jose.HS256, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), kid, "at+jwt", claims),
		"HS256 with the public key as DER":      signed(t, jose.HS256, der, kid, "at+jwt", claims),
		"HS256 with the public key as JWK":      signed(t, jose.HS256, jwk, kid, "at+jwt", claims),
		"RS256 under an ES256 key's id":         signed(t, jose.RS256, rsaKey, kid, "at+jwt", claims),
		"another key under the same id":         signed(t, jose.ES256, foreign, kid, "at+jwt", claims),
		"unknown kid":                           signed(t, jose.ES256, foreign, "unknown", "at+jwt", claims),
		"no kid":                                signed(t, jose.ES256, own.Key, "", "at+jwt", claims),
		"kid that is a path":                    signed(t, jose.ES256, own.Key, "../../"+kid, "at+jwt", claims),
		"an embedded key":                       embedded(t, foreign, claims),
		"typ JWT":                               signed(t, jose.ES256, own.Key, kid, "JWT", claims),
		"no typ":                                signed(t, jose.ES256, own.Key, kid, "", claims),
		"typ of a client assertion":             signed(t, jose.ES256, own.Key, kid, "client-authentication+jwt", claims),
		"wrong aud":                             at(with("aud", "https://elsewhere.example/mcp")),
		"aud is the issuer":                     at(with("aud", p.URL)),
		"aud with a slash":                      at(with("aud", p.URL+"/mcp/")),
		"two audiences":                         at(with("aud", []string{p.URL + "/mcp", "https://elsewhere.example/mcp"})),
		"no aud":                                at(with("aud", nil)),
		"wrong iss":                             at(with("iss", "https://elsewhere.example")),
		"iss with a slash":                      at(with("iss", p.URL+"/")),
		"no iss":                                at(with("iss", nil)),
		"expired":                               at(with("exp", now-61)),
		"expired long ago":                      at(with("exp", 0)),
		"no exp":                                at(with("exp", nil)),
		"exp is text":                           at(with("exp", "9999999999")),
		"not yet valid":                         at(with("nbf", now+3600)),
		"no sub":                                at(with("sub", nil)),
		"no jti":                                at(with("jti", nil)),
		"no client_id":                          at(with("client_id", nil)),
		"no cid":                                at(with("cid", nil)),
		"no fam":                                at(with("fam", nil)),
		"unknown cid":                           at(with("cid", "01a22f18-d8a0-7279-a110-bb8a4d6aeb4a")),
		"cid that is no id":                     at(with("cid", "' OR 1=1 --")),
		"cid of another person":                 at(with("cid", others["cid"])),
		"fam of another person":                 at(with("fam", others["fam"])),
		"cid and fam of another person":         at(with("cid", others["cid"], "fam", others["fam"])),
		"sub of another person":                 at(with("sub", others["sub"])),
		"client_id of another connection":       at(with("client_id", others["client_id"])),
		"payload is a list":                     signedRaw(t, own, kid, `[]`),
		"payload is text":                       signedRaw(t, own, kid, `hello`),
		"payload cut off":                       signedRaw(t, own, kid, `{"iss":`),
		"claims changed under a real signature": parts[0] + "." + base64.RawURLEncoding.EncodeToString([]byte(jsonOf(t, with("scope", "home:write admin")))) + "." + parts[2],
		"encrypted":                             "eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0..aaaa.bbbb.cccc",
		"critical header":                       critical(t, own, kid, claims),
	} {
		a := send(t, "POST", p.URL+"/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, mcpType, "Authorization: Bearer "+token)
		if h := a.header.Get("WWW-Authenticate"); a.status != http.StatusUnauthorized || !strings.HasPrefix(h, "Bearer ") || !strings.Contains(h, `error="invalid_token"`) {
			t.Errorf("AT-2 %s: %d %q %.100s", name, a.status, h, a.body)
		}
	}
	if r := mustCall(t, p.URL, tokens.AccessToken, "ping", ""); r.Status != http.StatusOK {
		t.Errorf("the real token afterwards: %d", r.Status)
	}
}

func signedRaw(t *testing.T, key jose.JSONWebKey, kid, payload string) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key.Key}, (&jose.SignerOptions{}).WithType("at+jwt").WithHeader("kid", kid))
	if err != nil {
		t.Fatal(err)
	}
	jws, err := signer.Sign([]byte(payload))
	if err != nil {
		t.Fatal(err)
	}
	token, err := jws.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func embedded(t *testing.T, key *ecdsa.PrivateKey, claims map[string]any) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key}, (&jose.SignerOptions{EmbedJWK: true}).WithType("at+jwt"))
	if err != nil {
		t.Fatal(err)
	}
	jws, err := signer.Sign([]byte(jsonOf(t, claims)))
	if err != nil {
		t.Fatal(err)
	}
	token, err := jws.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func critical(t *testing.T, key jose.JSONWebKey, kid string, claims map[string]any) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key.Key},
		(&jose.SignerOptions{}).WithType("at+jwt").WithHeader("kid", kid).WithHeader("crit", []string{"x-must"}).WithHeader("x-must", true))
	if err != nil {
		t.Fatal(err)
	}
	jws, err := signer.Sign([]byte(jsonOf(t, claims)))
	if err != nil {
		t.Fatal(err)
	}
	token, err := jws.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestShortAccessTokens(t *testing.T) {
	t.Parallel()
	p := apptest.Start(t, "GATEHOUSE_ACCESS_TOKEN_LIFE=1s")
	c := registered(t, p)
	tokens := connected(t, c, p.AddUser(t, "ada@example.com"))
	if tokens.ExpiresIn != 1 {
		t.Errorf("TK-3 expires_in %d", tokens.ExpiresIn)
	}
	deadline := time.Now().Add(10 * time.Second)
	for mustCall(t, p.URL, tokens.AccessToken, "ping", "").Status == http.StatusOK {
		if time.Now().After(deadline) {
			t.Fatal("AT-2 a token of one second lives on")
		}
		time.Sleep(100 * time.Millisecond)
	}
	if r := mustCall(t, p.URL, tokens.AccessToken, "ping", ""); r.Status != http.StatusUnauthorized || !strings.Contains(r.Header.Get("WWW-Authenticate"), `error="invalid_token"`) {
		t.Errorf("BR-2 expired: %d %q", r.Status, r.Header.Get("WWW-Authenticate"))
	}
	if status, next, err := c.Refresh(tokens.RefreshToken); err != nil || status != http.StatusOK || mustCall(t, p.URL, next.AccessToken, "ping", "").Status != http.StatusOK {
		t.Errorf("refresh after the end: %d %v", status, err)
	}
}

func TestGarbageAtMCP(t *testing.T) {
	t.Parallel()
	onBothWith(t, func(testing.TB) []string {
		return []string{"GATEHOUSE_READS_PER_MINUTE=100000", "GATEHOUSE_WRITES_PER_MINUTE=100000"}
	}, func(t *testing.T, p *apptest.Program) {
		tokens := connected(t, registered(t, p), p.AddUser(t, "ada@example.com"))
		post := func(body io.Reader, fields ...string) *rawAnswer {
			return sendBy(t, plainHTTP, "POST", p.URL+"/mcp", body, append(fields, "Authorization: Bearer "+tokens.AccessToken)...)
		}
		call := func(args string) string {
			return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_things","arguments":` + args + `}}`
		}
		deep := func(n int) string { return strings.Repeat(`[`, n) + strings.Repeat(`]`, n) }
		for _, version := range []string{"", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28", "2099-01-01", "x", "\xff"} {
			for i, body := range []string{
				"", " ", "null", "true", "1", `"x"`, "x", "{", "{}", "[", "[]", "[[]]", "[1]", "[{}]", `{"jsonrpc"`, `{"jsonrpc":"2.0"`, `{"jsonrpc":"2.0","id":1,"method":"pi`, "\x00", "\xef\xbb\xbf{}", "\xff\xfe",
				`{"jsonrpc":"1.0","id":1,"method":"ping"}`, `{"id":1,"method":"ping"}`, `{"jsonrpc":2,"id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":{},"method":"ping"}`, `{"jsonrpc":"2.0","id":[1],"method":"ping"}`,
				`{"jsonrpc":"2.0","id":true,"method":"ping"}`, `{"jsonrpc":"2.0","id":null,"method":"ping"}`, `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, `{"jsonrpc":"2.0","id":1e999,"method":"ping"}`,
				`{"jsonrpc":"2.0","id":1,"method":1}`, `{"jsonrpc":"2.0","id":1,"method":null}`, `{"jsonrpc":"2.0","id":1,"method":""}`, `{"jsonrpc":"2.0","id":1,"method":"no/such"}`, `{"jsonrpc":"2.0","id":1,"method":"\u0000"}`,
				`{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("x", 5000) + `"}`, `{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 50000) + `","method":"ping"}`, `{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}`,
				`{"jsonrpc":"2.0","id":1,"method":"ping","params":1}`, `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":1}}`, `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":7}}}`,
				`{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}`, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_thing","name":"add_thing","arguments":{}}}`,
				`{"jsonrpc":"2.0","id":1,"method":"ping"} x`, `{"jsonrpc":"2.0","id":1,"method":"ping"}{"jsonrpc":"2.0","id":2,"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"method":"ping",}`, `{'jsonrpc':'2.0'}`,
				`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}`, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}`,
				`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"no_such_tool","arguments":{}}}`, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_things","arguments":[]}}`,
				call(`{"query":1}`), call(`{"query":null}`), call(`{"query":"\ud800"}`), call(`{"query":"\u0000"}`), call("{\"query\":\"\xff\"}"), call(`{"query":"x","query":"y"}`), call(`{"query":"x","limit":1e400}`), call(`{"query":"x","limit":-1}`),
				call(`{"query":"x","limit":9007199254740993}`), call(`{"query":"' OR 1=1 --"}`), call(`{"query":"%_\\"}`), call(`{"query":"\" NEAR( * AND"}`), call(`{"query":"x","cursor":"x"}`), call(`{"query":"x","cursor":"\u0000"}`),
				call(`{"query":"` + strings.Repeat("é", 100000) + `"}`), call(`{"unknown":` + deep(50) + `}`), call(deep(10000)), deep(200000), strings.Repeat(`{"a":`, 100000), `{"jsonrpc":"2.0","result":{},"id":1}`, `{"jsonrpc":"2.0","error":{"code":1},"id":1}`,
				`{"jsonrpc":"2.0","method":"notifications/initialized"}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}`, `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"add_thing"}}`,
				`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":1,"method":"ping"},1,null,{}]`, "[" + strings.Repeat(`{"jsonrpc":"2.0","id":1,"method":"ping"},`, 5000) + `{}]`,
				`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":7}}`, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + strings.Repeat("9", 1000) + `"}}`,
				`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"file:///etc/passwd"}}`, `{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{}}}`, `{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"\u0000"}}`,
			} {
				fields := []string{mcpType}
				if version != "" {
					fields = append(fields, "MCP-Protocol-Version: "+version, "Mcp-Method: tools/call", "Mcp-Name: =?base64?%%%?=")
				}
				a := post(strings.NewReader(body), fields...)
				if a.status >= 500 || a.status/100 == 3 || a.status == http.StatusUnauthorized || strings.Contains(a.body, "goroutine") || strings.Contains(a.body, `"internal"`) {
					t.Errorf("H-1 %s %d %.80q: %d %.300s", version, i, body, a.status, a.body)
				}
				if a.status != http.StatusAccepted && (!json.Valid([]byte(a.body)) || a.header.Get("Content-Type") != "application/json") {
					t.Errorf("H-1 %s %d %.80q: %d, not JSON: %s %.100s", version, i, body, a.status, a.header.Get("Content-Type"), a.body)
				}
				if a.status == http.StatusAccepted && a.body != "" {
					t.Errorf("H-1 %.80q: 202 with a body", body)
				}
			}
		}
		t.Run("sizes", func(t *testing.T) {
			fill := func(n int) string {
				head, tail := `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"`, `"}}`
				return head + strings.Repeat("x", n-len(head)-len(tail)) + tail
			}
			if a := post(strings.NewReader(fill(1<<20)), mcpType); a.status != http.StatusOK {
				t.Errorf("exactly 1 MiB: %d %.200s", a.status, a.body)
			}
			for name, body := range map[string]io.Reader{"a byte more": strings.NewReader(fill(1<<20 + 1)), "in chunks": unsized{strings.NewReader(fill(3 << 20))}} {
				if a := post(body, mcpType); a.status != http.StatusRequestEntityTooLarge || rpcError(a.body) == nil {
					t.Errorf("%s: %d %.200s", name, a.status, a.body)
				}
			}
		})
		t.Run("content types", func(t *testing.T) {
			for media, want := range map[string]int{"application/json": 200, "application/json; charset=utf-8": 200, "Application/JSON": 200, "text/plain": 415, "": 415, "application/x-www-form-urlencoded": 415, "multipart/form-data; boundary=x": 415, ";": 415} {
				var fields []string
				if media != "" {
					fields = []string{"Content-Type: " + media}
				}
				a := post(strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`), fields...)
				if a.status != want || want != 200 && rpcError(a.body) == nil {
					t.Errorf("%q: %d %s; want %d", media, a.status, a.body, want)
				}
			}
			for _, accept := range []string{"", "application/json", "text/event-stream, application/json", "*/*", "application/*", "application/json;q=0.5, */*;q=0.1", "text/event-stream"} {
				if a := post(strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`), mcpType, "Accept: "+accept); a.status != http.StatusOK {
					t.Errorf("Accept %q: %d %s", accept, a.status, a.body)
				}
			}
		})
		if r := mustCall(t, p.URL, tokens.AccessToken, "ping", ""); r.Status != http.StatusOK {
			t.Errorf("afterwards: %d %s", r.Status, r.Body)
		}
		if strings.Contains(p.Logs(), `"level":"ERROR"`) {
			t.Errorf("the log tells of faults of ours: %s", errorLines(p))
		}
	})
}

// errorLines are the lines of the log at level ERROR.
func errorLines(p *apptest.Program) string {
	var out []string
	for line := range strings.Lines(p.Logs()) {
		if strings.Contains(line, `"level":"ERROR"`) {
			out = append(out, line)
		}
	}
	return strings.Join(out[:min(len(out), 20)], "")
}
