package oauth

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestDocumentURL(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, id string
		ok       bool
	}{
		{"CI-1 ordinary", "https://app.example/oauth/client.json", true},
		{"CI-1 port", "https://app.example:8443/client", true},
		{"CI-1 default port spelled out", "https://app.example:443/client", true},
		{"CI-1 query", "https://app.example/client?v=1", true},
		{"CI-1 slash at the end", "https://app.example/client/", true},
		{"CI-1 dots within a segment", "https://app.example/a..b/.well-known/c", true},
		{"CI-1 localhost", "https://localhost:4443/client.json", true},
		{"CI-1 http", "http://app.example/client", false},
		{"CI-1 no path", "https://app.example", false},
		{"CI-1 no path but query", "https://app.example?x=/client", false},
		{"CI-1 dot segment", "https://app.example/./client", false},
		{"CI-1 two dots", "https://app.example/a/../client", false},
		{"CI-1 two dots at the end", "https://app.example/a/..", false},
		{"CI-1 %2e", "https://app.example/%2e%2E/client", false},
		{"CI-1 mixed dots", "https://app.example/.%2e/client", false},
		{"CI-1 encoded slash around dots", "https://app.example/a%2f..%2fb", false},
		{"CI-1 encoded backslash around dots", "https://app.example/a%5c..%5cb", false},
		{"CI-1 fragment", "https://app.example/client#x", false},
		{"CI-1 empty fragment", "https://app.example/client#", false},
		{"CI-1 user information", "https://user@app.example/client", false},
		{"CI-1 empty user information", "https://@app.example/client", false},
		{"CI-1 no host", "https:///client", false},
		{"CI-1 opaque", "https:client", false},
		{"CI-2 bare slash", "https://app.example/", false},
		{"CI-2 not ASCII", "https://äpp.example/client", false},
		{"CI-2 whitespace", "https://app.example/cli ent", false},
		{"CI-2 tab", "https://app.example/cli\tent", false},
		{"CI-2 backslash", "https://app.example\\client", false},
		{"CI-2 scheme in capitals", "HTTPS://app.example/client", false},
		{"CI-2 too long", "https://app.example/" + strings.Repeat("a", 2048), false},
		{"CI-2 IPv4 literal", "https://93.184.216.34/client", false},
		{"CI-2 IPv6 literal", "https://[2606:2800:220:1::1]/client", false},
		{"CI-2 short IPv4", "https://127.1/client", false},
		{"CI-2 IPv4 as a number", "https://2130706433/client", false},
		{"CI-2 IPv4 in hex", "https://0x7f000001/client", false},
		{"CI-2 IPv4 with a dot behind", "https://127.0.0.1./client", false},
		{"CI-2 last label a number", "https://app.example.0/client", false},
		{"CI-2 bad escape", "https://app.example/%zz", false},
		{"CI-2 bad port", "https://app.example:99999/client", false},
		{"CI-2 empty port", "https://app.example:/client", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if fault := documentURLFault(tt.id); (fault == "") != tt.ok {
				t.Errorf("documentURLFault(%q) = %q", tt.id, fault)
			}
		})
	}
}

const docURL = "https://app.example/oauth/client.json"

// document builds a document from members in JSON; later ones replace earlier ones of the same name, "-" removes.
func document(members ...string) string {
	m := map[string]json.RawMessage{
		"client_id":     json.RawMessage(`"` + docURL + `"`),
		"client_name":   json.RawMessage(`"App"`),
		"redirect_uris": json.RawMessage(`["https://app.example/cb"]`),
	}
	for i := 0; i < len(members); i += 2 {
		if members[i+1] == "-" {
			delete(m, members[i])
		} else {
			m[members[i]] = json.RawMessage(members[i+1])
		}
	}
	body, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return string(body)
}

func TestParseDocument(t *testing.T) {
	t.Parallel()
	t.Run("CI-11 the least there must be", func(t *testing.T) {
		t.Parallel()
		c, err := parseDocument(docURL, []byte(document()), nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.ID != docURL || c.Kind != ClientDocument || c.Host != "app.example" || c.Name != "App" || c.SecretHash != nil {
			t.Errorf("client %+v", c)
		}
		if !slices.Equal(c.AuthMethods, []string{AuthNone}) {
			t.Errorf("CI-8 absent method became %q", c.AuthMethods)
		}
		if !slices.Equal(c.GrantTypes, []string{GrantAuthorizationCode}) || !slices.Equal(c.ResponseTypes, []string{"code"}) {
			t.Errorf("grants %q, responses %q", c.GrantTypes, c.ResponseTypes)
		}
	})
	for _, tt := range []struct {
		name, body string
		says       string // part of the refusal; empty means accepted
	}{
		{"CI-3 another client_id", document("client_id", `"https://app.example/oauth/other.json"`), "differs"},
		{"CI-3 default port added", document("client_id", `"https://app.example:443/oauth/client.json"`), "differs"},
		{"CI-3 no client_id", document("client_id", "-"), "differs"},
		{"CI-3 client_id of wrong type", document("client_id", "1"), "differs"},
		{"CI-5 not JSON", "<html>", "JSON object"},
		{"CI-5 array", "[]", "JSON object"},
		{"CI-5 not UTF-8", strings.Replace(document(), "App", "A\xff", 1), "UTF-8"},
		{"CI-5 two client_ids", strings.Replace(document(), "{", `{"client_id":"`+docURL+`",`, 1), "repeated"},
		{"CI-5 two client_ids, one escaped", strings.Replace(document(), "{", `{"client\u005fid":"`+docURL+`",`, 1), "repeated"},
		{"CI-8 client_secret", document("client_secret", `"x"`), "secret"},
		{"CI-8 client_secret null", document("client_secret", `null`), "secret"},
		{"CI-8 client_secret_expires_at", document("client_secret_expires_at", `0`), "secret"},
		{"CI-8 client_secret_basic", document("token_endpoint_auth_method", `"client_secret_basic"`), "shared secret"},
		{"CI-8 client_secret_post", document("token_endpoint_auth_method", `"client_secret_post"`), "shared secret"},
		{"CI-8 client_secret_jwt", document("token_endpoint_auth_method", `"client_secret_jwt"`), "shared secret"},
		{"CI-8 shared secret beside a list", document("token_endpoint_auth_method", `"client_secret_basic"`, "token_endpoint_auth_methods_supported", `["none"]`), "shared secret"},
		{"CI-9 none", document("token_endpoint_auth_method", `"none"`), ""},
		{"CI-9 the list outranks the single method", document("token_endpoint_auth_method", `"private_key_jwt"`, "token_endpoint_auth_methods_supported", `["none","private_key_jwt"]`, "jwks_uri", `"https://app.example/jwks"`), ""},
		{"CI-9 the list without none", document("token_endpoint_auth_method", `"none"`, "token_endpoint_auth_methods_supported", `["tls_client_auth"]`), "no authentication method"},
		{"CI-9 unknown single method", document("token_endpoint_auth_method", `"tls_client_auth"`), "no authentication method"},
		{"CI-9 list of wrong type", document("token_endpoint_auth_methods_supported", `"none"`), "array of strings"},
		{"CI-10 private_key_jwt alone", document("token_endpoint_auth_method", `"private_key_jwt"`, "jwks_uri", `"https://app.example/jwks"`), ""},
		{"CI-10 the list without none", document("token_endpoint_auth_methods_supported", `["private_key_jwt","tls_client_auth"]`, "jwks_uri", `"https://app.example/jwks"`), ""},
		{"CI-9 none stays without keys", document("token_endpoint_auth_methods_supported", `["none","private_key_jwt"]`), ""},
		{"CI-10 keys over http", document("token_endpoint_auth_method", `"private_key_jwt"`, "jwks_uri", `"http://app.example/jwks"`), "https"},
		{"CI-10 no usable key", document("token_endpoint_auth_method", `"private_key_jwt"`, "jwks", `{"keys":[{"kty":"EC","crv":"P-999","x":"AA","y":"AA"}]}`), "no key"},
		{"JW-3 symmetric algorithm", document("token_endpoint_auth_method", `"private_key_jwt"`, "token_endpoint_auth_signing_alg", `"HS256"`, "jwks_uri", `"https://app.example/jwks"`), "signing_alg"},
		{"CI-10 private_key_jwt without keys", document("token_endpoint_auth_method", `"private_key_jwt"`), "either jwks or jwks_uri"},
		{"CI-10 both kinds of keys", document("jwks", `{"keys":[]}`, "jwks_uri", `"https://app.example/jwks"`), "must not both"},
		{"CI-10 private key", document("jwks", `{"keys":[{"kty":"RSA","n":"AQAB","d":"x"}]}`), "private"},
		{"CI-10 symmetric key", document("jwks", `{"keys":[{"kty":"oct","k":"x"}]}`), "symmetric"},
		{"CI-11 no name", document("client_name", "-"), "client_name"},
		{"CI-11 name of nothing visible", document("client_name", `"\u202e "`), "client_name"},
		{"CI-11 no redirect URIs", document("redirect_uris", "-"), "redirect_uris"},
		{"CI-11 redirect URI refused", document("redirect_uris", `["http://evil.example/"]`), "http"},
		{"CI-11 javascript", document("redirect_uris", `["javascript:alert(1)"]`), "scheme"},
		{"CI-11 one acceptable redirect URI is enough", document("redirect_uris", `["myapp://x","https://app.example/cb"]`), ""},
		{"CI-11 unsupported grants are ignored", document("grant_types", `["authorization_code","refresh_token","urn:ietf:params:oauth:grant-type:jwt-bearer"]`), ""},
		{"CI-11 no usable grant", document("grant_types", `["client_credentials"]`), "authorization_code"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, err := parseDocument(docURL, []byte(tt.body), defaultRedirectExceptions)
			if tt.says == "" {
				if err != nil {
					t.Fatal(err)
				}
				want := []string{AuthNone}
				switch {
				case strings.HasPrefix(tt.name, "CI-10"):
					want = []string{AuthPrivateKeyJWT}
				case c.JWKSURI != "":
					want = append(want, AuthPrivateKeyJWT)
				}
				if !slices.Equal(c.AuthMethods, want) {
					t.Errorf("methods %q, want %q", c.AuthMethods, want)
				}
				return
			}
			e := wantError(t, err, "invalid_client", 401)
			if !strings.Contains(e.Description, tt.says) || e.Check != "client_document" {
				t.Errorf("description %q, check %q", e.Description, e.Check)
			}
		})
	}
}

func FuzzParseDocument(f *testing.F) {
	f.Add(docURL, []byte(document()))
	f.Add("https://app.example/%2e%2e/x", []byte(`{}`))
	f.Add("https://127.1/x", []byte(`{"client_id":"https://127.1/x","client_name":"x","redirect_uris":["http://localhost/"]}`))
	f.Fuzz(func(t *testing.T, id string, body []byte) {
		if documentURLFault(id) != "" {
			return
		}
		c, err := parseDocument(id, body, nil)
		if err != nil {
			wantError(t, err, "invalid_client", 401)
			return
		}
		if c.ID != id || c.Host == "" || c.Name == "" || len(c.RedirectURIs) == 0 || c.SecretHash != nil || len(c.AuthMethods) == 0 ||
			slices.Contains(c.AuthMethods, AuthPrivateKeyJWT) == (c.JWKSURI == "" && len(c.JWKS) == 0) {
			t.Errorf("client %+v", c)
		}
	})
}

func TestDocumentFreshness(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		cacheControl, expires string
		want                  time.Duration
	}{
		{"", "", 5 * time.Minute},
		{"max-age=3600", "", time.Hour},
		{"public, Max-Age=\"3600\"", "", time.Hour},
		{"max-age=1", "", 5 * time.Minute},
		{"max-age=31536000", "", 24 * time.Hour},
		{"max-age=99999999999999", "", 5 * time.Minute},
		{"max-age=-5", "", 5 * time.Minute},
		{"no-store", "", 5 * time.Minute},
		{"max-age=3600, no-cache", "", 5 * time.Minute},
		{"", "Tue, 01 Dec 2026 11:00:00 GMT", 2 * time.Hour},
		{"max-age=600", "Tue, 01 Dec 2026 11:00:00 GMT", 10 * time.Minute},
		{"", "0", 5 * time.Minute},
		{"", "Tue, 01 Dec 2020 11:00:00 GMT", 5 * time.Minute},
	} {
		t.Run(fmt.Sprintf("CI-13 %q %q", tt.cacheControl, tt.expires), func(t *testing.T) {
			t.Parallel()
			if got := documentFreshness(tt.cacheControl, tt.expires, now); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestJSONType(t *testing.T) {
	t.Parallel()
	for contentType, want := range map[string]bool{
		"application/json": true, "Application/JSON; charset=utf-8": true, "application/cimd+json": true,
		"text/json": false, "text/html": false, "": false, "application/jsonp": false, "text/x+json": false, "application/json;;": false,
	} {
		if got := isJSONType(contentType); got != want {
			t.Errorf("CI-5 isJSONType(%q) = %v", contentType, got)
		}
	}
}
