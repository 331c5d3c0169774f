package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

const redirectsPart = `"redirect_uris":["https://a.example/cb"]`

// registerJSON registers and returns the answer as a client sees it.
func registerJSON(t *testing.T, lab *clientLab, body string) map[string]any {
	t.Helper()
	r, err := lab.Register(context.Background(), []byte(body))
	if err != nil {
		t.Fatalf("Register(%s) = %v", body, err)
	}
	encoded, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var answer map[string]any
	if err := json.Unmarshal(encoded, &answer); err != nil {
		t.Fatal(err)
	}
	for name, value := range answer {
		if value == nil {
			t.Errorf("member %s is null", name)
		}
	}
	return answer
}

func wantList(t *testing.T, got any, want ...string) {
	t.Helper()
	values, ok := got.([]any)
	var list []string
	for _, v := range values {
		list = append(list, v.(string))
	}
	if !ok || !slices.Equal(list, want) {
		t.Errorf("got %v, want %q", got, want)
	}
}

func TestRegister(t *testing.T) {
	t.Parallel()
	t.Run("DR-1 everything stored is echoed", func(t *testing.T) {
		t.Parallel()
		lab := newClientLab(t)
		got := registerJSON(t, lab, `{`+redirectsPart+`,"client_name":"Name","client_uri":"https://a.example/","logo_uri":"https://a.example/l.png",
			"tos_uri":"https://a.example/tos","policy_uri":"https://a.example/policy","scope":"data:read  data:write","contacts":["x@a.example"],
			"software_id":"s-1","software_version":"1.2","application_type":"web","token_endpoint_auth_method":"none",
			"grant_types":["authorization_code","refresh_token"],"response_types":["code"]}`)
		id := got["client_id"].(string)
		for name, want := range map[string]any{
			"client_id_issued_at": float64(lab.clock.Now().Unix()), "client_name": "Name", "client_uri": "https://a.example/",
			"logo_uri": "https://a.example/l.png", "tos_uri": "https://a.example/tos", "policy_uri": "https://a.example/policy",
			"scope": "data:read data:write", "software_id": "s-1", "software_version": "1.2", "application_type": "web",
			"token_endpoint_auth_method": "none",
		} {
			if got[name] != want {
				t.Errorf("%s is %v, want %v", name, got[name], want)
			}
		}
		wantList(t, got["contacts"], "x@a.example")
		wantList(t, got["grant_types"], "authorization_code", "refresh_token")
		stored := lab.clients.rows[id]
		if stored.Kind != ClientDynamic || stored.Name != "Name" || !stored.CreatedAt.Equal(lab.clock.Now()) || !stored.LastSeenAt.Equal(stored.CreatedAt) {
			t.Errorf("stored %+v", stored)
		}
		step := lab.steps.last(t)
		if !step.OK || step.Name != StepRegister || step.ClientID != id || step.Detail != "none, 1 redirect URIs, first to a.example" {
			t.Errorf("step %+v", step)
		}
	})
	t.Run("DR-1 public client has no secret", func(t *testing.T) {
		t.Parallel()
		got := registerJSON(t, newClientLab(t), `{`+redirectsPart+`,"token_endpoint_auth_method":"none"}`)
		for _, name := range []string{"client_secret", "client_secret_expires_at"} {
			if _, found := got[name]; found {
				t.Errorf("answer has %s", name)
			}
		}
	})
	t.Run("DR-3 defaults when omitted", func(t *testing.T) {
		t.Parallel()
		lab := newClientLab(t)
		for _, body := range []string{
			`{` + redirectsPart + `}`,
			`{` + redirectsPart + `,"token_endpoint_auth_method":null,"grant_types":null,"response_types":null,"scope":null,"logo_uri":null}`,
			`{` + redirectsPart + `,"grant_types":[],"response_types":[]}`,
		} {
			got := registerJSON(t, lab, body)
			if got["token_endpoint_auth_method"] != "client_secret_basic" || got["client_secret_expires_at"] != float64(0) {
				t.Errorf("answer %v", got)
			}
			wantList(t, got["grant_types"], "authorization_code")
			wantList(t, got["response_types"], "code")
			secret := got["client_secret"].(string)
			stored := lab.clients.rows[got["client_id"].(string)]
			if !slices.Equal(stored.SecretHash, HashSecret(secret)) || !slices.Equal(stored.AuthMethods, []string{AuthBasic, AuthPost}) {
				t.Errorf("TK-8 stored %+v", stored)
			}
		}
	})
	t.Run("DR-5 missing application_type is judged by the redirect URIs", func(t *testing.T) {
		t.Parallel()
		lab := newClientLab(t)
		for body, want := range map[string]string{
			`{"redirect_uris":["http://127.0.0.1:1/cb"]}`:                                            "native",
			`{"redirect_uris":["https://a.example/cb"]}`:                                             "web",
			`{"redirect_uris":["https://a.example/cb","com.example.app:/cb"]}`:                       "native",
			`{"redirect_uris":["http://localhost/cb"],"application_type":"web"}`:                     "web",
			`{"redirect_uris":["https://a.example/cb"],"application_type":"something of their own"}`: "web",
		} {
			if got := registerJSON(t, lab, body); got["application_type"] != want {
				t.Errorf("%s became %v, want %s", body, got["application_type"], want)
			}
		}
	})
	t.Run("DR-6 ids and secrets need no encoding", func(t *testing.T) {
		t.Parallel()
		lab := newClientLab(t)
		seen := map[string]bool{}
		for range 20 {
			got := registerJSON(t, lab, `{`+redirectsPart+`}`)
			id, secret := got["client_id"].(string), got["client_secret"].(string)
			if !regexp.MustCompile(`^gc_[A-Za-z0-9_-]+$`).MatchString(id) || !regexp.MustCompile(`^gts_[A-Za-z0-9_-]{43}$`).MatchString(secret) {
				t.Errorf("TK-7 id %q, secret of %d characters", id, len(secret))
			}
			if seen[id] || seen[secret] {
				t.Error("repeated id or secret")
			}
			seen[id], seen[secret] = true, true
		}
	})
	t.Run("DR-4 unknown metadata and software statements are ignored", func(t *testing.T) {
		t.Parallel()
		got := registerJSON(t, newClientLab(t), `{`+redirectsPart+`,"x":{"y":[1]},"client_name#de":"Deutsch","software_statement":"a.b.c","jwks_uri":"https://a.example/jwks"}`)
		for _, name := range []string{"x", "software_statement", "client_name#de", "jwks_uri"} {
			if _, found := got[name]; found {
				t.Errorf("answer has %s", name)
			}
		}
	})
	t.Run("DR-4 unsupported grants and response types are dropped", func(t *testing.T) {
		t.Parallel()
		got := registerJSON(t, newClientLab(t), `{`+redirectsPart+`,"response_types":["token","code"],
			"grant_types":["urn:ietf:params:oauth:grant-type:device_code","authorization_code","urn:ietf:params:oauth:grant-type:jwt-bearer","refresh_token"]}`)
		wantList(t, got["grant_types"], "authorization_code", "refresh_token")
		wantList(t, got["response_types"], "code")
	})
	t.Run("RU-8 acceptable URIs are kept and the reduced list returned", func(t *testing.T) {
		t.Parallel()
		lab := newClientLab(t)
		got := registerJSON(t, lab, `{"redirect_uris":["myapp://cb","https://a.example/cb","http://evil.example/","https://a.example/cb","http://localhost:8787/callback"]}`)
		wantList(t, got["redirect_uris"], "https://a.example/cb", "http://localhost:8787/callback")
		if stored := lab.clients.rows[got["client_id"].(string)].RedirectURIs; len(stored) != 2 {
			t.Errorf("stored %q", stored)
		}
	})
	t.Run("DR-9 information URIs are https or forgotten", func(t *testing.T) {
		t.Parallel()
		got := registerJSON(t, newClientLab(t), `{`+redirectsPart+`,"client_uri":"http://a.example/","logo_uri":"data:image/png;base64,AA","tos_uri":"javascript:alert(1)","policy_uri":"https://u@a.example/"}`)
		for _, name := range []string{"client_uri", "logo_uri", "tos_uri", "policy_uri"} {
			if got[name] != nil {
				t.Errorf("%s is %v", name, got[name])
			}
		}
	})
	t.Run("CI-9 a list of methods in a registration", func(t *testing.T) {
		t.Parallel()
		lab := newClientLab(t)
		for body, want := range map[string]string{
			`"token_endpoint_auth_method":"private_key_jwt","token_endpoint_auth_methods_supported":["private_key_jwt","none"]`: "none",
			`"token_endpoint_auth_methods_supported":["client_secret_post","private_key_jwt"]`:                                  "client_secret_post",
			`"token_endpoint_auth_method":"client_secret_post","token_endpoint_auth_methods_supported":["none"]`:                "client_secret_post",
		} {
			got := registerJSON(t, lab, `{`+redirectsPart+`,`+body+`}`)
			if got["token_endpoint_auth_method"] != want {
				t.Errorf("%s became %v", body, got["token_endpoint_auth_method"])
			}
			if _, secret := got["client_secret"]; secret == (want == "none") {
				t.Errorf("%s: secret issued: %v", body, secret)
			}
		}
	})
}

func TestRegisterRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, body, code string }{
		{"DR-2 not JSON", `redirect_uris=x`, "invalid_client_metadata"},
		{"DR-2 empty", ``, "invalid_client_metadata"},
		{"DR-2 array", `[]`, "invalid_client_metadata"},
		{"DR-2 null", `null`, "invalid_client_metadata"},
		{"DR-2 cut short", `{` + redirectsPart, "invalid_client_metadata"},
		{"DR-2 more behind it", `{` + redirectsPart + `}{}`, "invalid_client_metadata"},
		{"DR-2 repeated name", `{` + redirectsPart + `,` + redirectsPart + `}`, "invalid_client_metadata"},
		{"DR-2 not UTF-8", "{" + redirectsPart + ",\"client_name\":\"\xff\"}", "invalid_client_metadata"},
		{"DR-2 name of wrong type", `{` + redirectsPart + `,"client_name":1}`, "invalid_client_metadata"},
		{"DR-2 scope as array", `{` + redirectsPart + `,"scope":["a"]}`, "invalid_client_metadata"},
		{"DR-2 malformed scope", `{` + redirectsPart + `,"scope":"ä"}`, "invalid_client_metadata"},
		{"DR-2 endless scope", `{` + redirectsPart + `,"scope":"` + strings.Repeat("a", 5000) + `"}`, "invalid_client_metadata"},
		{"DR-2 grants as string", `{` + redirectsPart + `,"grant_types":"authorization_code"}`, "invalid_client_metadata"},
		{"DR-2 grants with null", `{` + redirectsPart + `,"grant_types":[null]}`, "invalid_client_metadata"},
		{"DR-2 contacts as string", `{` + redirectsPart + `,"contacts":"x"}`, "invalid_client_metadata"},
		{"DR-2 logo of wrong type", `{` + redirectsPart + `,"logo_uri":{}}`, "invalid_client_metadata"},
		{"DR-2 method of wrong type", `{` + redirectsPart + `,"token_endpoint_auth_method":["none"]}`, "invalid_client_metadata"},
		{"DR-2 methods of wrong type", `{` + redirectsPart + `,"token_endpoint_auth_methods_supported":"none"}`, "invalid_client_metadata"},
		{"DR-2 unsupported method", `{` + redirectsPart + `,"token_endpoint_auth_method":"private_key_jwt"}`, "invalid_client_metadata"},
		{"DR-4 jwks and jwks_uri", `{` + redirectsPart + `,"jwks":{"keys":[]},"jwks_uri":"https://a.example/jwks"}`, "invalid_client_metadata"},
		{"DR-4 jwks with a private key", `{` + redirectsPart + `,"jwks":{"keys":[{"kty":"EC","d":"x"}]}}`, "invalid_client_metadata"},
		{"DR-4 jwks that is none", `{` + redirectsPart + `,"jwks":{}}`, "invalid_client_metadata"},
		{"DR-4 only unsupported grants", `{` + redirectsPart + `,"grant_types":["client_credentials"]}`, "invalid_client_metadata"},
		{"DR-4 grant and response type disagree", `{` + redirectsPart + `,"grant_types":["refresh_token"],"response_types":["code"]}`, "invalid_client_metadata"},
		{"DR-4 response type without a grant", `{` + redirectsPart + `,"response_types":["token"]}`, "invalid_client_metadata"},
		{"RU-8 none left", `{"redirect_uris":["myapp://cb","http://evil.example/"]}`, "invalid_redirect_uri"},
		{"DR-2 no redirect URIs", `{}`, "invalid_redirect_uri"},
		{"DR-2 empty list", `{"redirect_uris":[]}`, "invalid_redirect_uri"},
		{"DR-2 redirect URIs as string", `{"redirect_uris":"https://a.example/cb"}`, "invalid_redirect_uri"},
		{"DR-2 redirect URIs of wrong type", `{"redirect_uris":[1]}`, "invalid_redirect_uri"},
		{"DR-2 too many redirect URIs", `{"redirect_uris":[` + manyURIs(51) + `]}`, "invalid_redirect_uri"},
		{"RU-5 fragment", `{"redirect_uris":["https://a.example/#x"]}`, "invalid_redirect_uri"},
		{"RU-6 javascript", `{"redirect_uris":["javascript:alert(1)"]}`, "invalid_redirect_uri"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			lab := newClientLab(t)
			_, err := lab.Register(context.Background(), []byte(tt.body))
			e := wantError(t, err, tt.code, 400)
			if len(lab.clients.rows) != 0 {
				t.Error("a client was stored")
			}
			step := lab.steps.last(t)
			if step.OK || step.Name != StepRegister || step.Check == "" || step.Reason != e.Description {
				t.Errorf("step %+v", step)
			}
		})
	}
	t.Run("X-11 a list without end", func(t *testing.T) {
		t.Parallel()
		lab := newClientLab(t)
		_, err := lab.Register(context.Background(), []byte(`{`+redirectsPart+`,"contacts":[`+manyURIs(maxListValues+1)+`]}`))
		wantError(t, err, "invalid_client_metadata", 400)
	})
	t.Run("DR-7 ceiling", func(t *testing.T) {
		t.Parallel()
		lab := newClientLab(t, func(c *Config) { c.MaxDynamicClients = 2 })
		body := []byte(`{` + redirectsPart + `,"token_endpoint_auth_method":"none"}`)
		for range 2 {
			if _, err := lab.Register(context.Background(), body); err != nil {
				t.Fatal(err)
			}
		}
		_, err := lab.Register(context.Background(), body)
		if e := wantError(t, err, "temporarily_unavailable", 503); e.RetryAfter < time.Minute || e.Check != "ceiling" {
			t.Errorf("RetryAfter %v, check %q", e.RetryAfter, e.Check)
		}
	})
	t.Run("DR-7 at the ceiling old clients that nobody connected make room", func(t *testing.T) {
		t.Parallel()
		lab := newClientLab(t, func(c *Config) { c.MaxDynamicClients = 2 })
		body := []byte(`{` + redirectsPart + `,"token_endpoint_auth_method":"none"}`)
		kept, err := lab.Register(context.Background(), body)
		if err != nil {
			t.Fatal(err)
		}
		lab.clients.connected[kept.ClientID] = true
		if _, err := lab.Register(context.Background(), body); err != nil {
			t.Fatal(err)
		}
		lab.clock.advance(2 * time.Hour)
		if _, err := lab.Register(context.Background(), body); err != nil {
			t.Errorf("a flood of two hours ago still shuts everybody out: %v", err)
		}
		if _, err := lab.clients.Client(context.Background(), kept.ClientID); err != nil {
			t.Errorf("the connected client is gone: %v", err)
		}
	})
	t.Run("DR-8 switched off", func(t *testing.T) {
		t.Parallel()
		lab := newClientLab(t, func(c *Config) { c.DynamicRegistration = false })
		_, err := lab.Register(context.Background(), []byte(`{`+redirectsPart+`}`))
		wantError(t, err, "access_denied", 403)
	})
	t.Run("X-10 store down", func(t *testing.T) {
		t.Parallel()
		lab := newClientLab(t)
		lab.clients.err = errors.New("database is gone")
		_, err := lab.Register(context.Background(), []byte(`{`+redirectsPart+`}`))
		if e := wantError(t, err, "temporarily_unavailable", 503); strings.Contains(e.Description, "database") {
			t.Error("the description tells the cause")
		}
	})
	t.Run("X-13 no randomness", func(t *testing.T) {
		t.Parallel()
		lab := newClientLab(t, func(c *Config) { c.Rand = strings.NewReader("short") })
		_, err := lab.Register(context.Background(), []byte(`{`+redirectsPart+`}`))
		wantError(t, err, "server_error", 500)
	})
}

func manyURIs(n int) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf(`"https://a.example/%d"`, i))
	}
	return strings.Join(list, ",")
}

func TestCleanName(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, in, want string }{
		{"DR-9 plain", "Claude Code (home)", "Claude Code (home)"},
		{"DR-9 other scripts and emoji", "Köln 日本 🚀", "Köln 日本 🚀"},
		{"DR-9 spaces", "  a \t\n b  ", "a b"},
		{"DR-9 control characters", "a\x00\x1bb\x7f", "ab"},
		{"DR-9 bidi override", "a\u202eb\u2066c\u200fd\u061ce", "abcde"},
		{"DR-9 zero width", "a\u200bb\ufeffc\u00add", "abcd"},
		{"DR-9 no-break and ideographic spaces", "a\u00a0\u3000b", "a b"},
		{"DR-9 line separator", "a\u2028b", "a b"},
		{"DR-9 broken UTF-8", "a\xffb", "ab"},
		{"DR-9 private use", "a\ue000b", "ab"},
		{"DR-9 100 characters", strings.Repeat("ä", 150), strings.Repeat("ä", 100)},
		{"DR-9 cut before a space", strings.Repeat("a", 99) + " b", strings.Repeat("a", 99)},
		{"DR-9 nothing left", "\u202e \x00", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := cleanName(tt.in); got != tt.want {
				t.Errorf("cleanName(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

func FuzzCleanName(f *testing.F) {
	for _, seed := range []string{"Claude", "a\u202eb", "\xff", " a  b "} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		got := cleanName(name)
		if utf8.RuneCountInString(got) > maxClientName || !utf8.ValidString(got) || got != strings.TrimSpace(got) || strings.ContainsAny(got, "\u202e\u2066\x00\n") {
			t.Errorf("cleanName(%q) = %q", name, got)
		}
		if again := cleanName(got); again != got {
			t.Errorf("cleanName(%q) = %q, then %q", name, got, again)
		}
	})
}

func FuzzRegister(f *testing.F) {
	f.Add([]byte(`{` + redirectsPart + `,"token_endpoint_auth_method":"none","grant_types":["authorization_code","x"]}`))
	f.Add([]byte(`{"redirect_uris":["http://localhost/cb"],"scope":"a b","jwks":{"keys":[{}]}}`))
	f.Add([]byte(`[]`))
	f.Add([]byte(`{"a":1,"a":2}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		lab := newClientLab(t)
		r, err := lab.Register(context.Background(), body)
		if err != nil {
			if e := (*Error)(nil); !errors.As(err, &e) || e.Status != 400 {
				t.Fatalf("error is %v", err)
			}
			return
		}
		for _, uri := range r.RedirectURIs {
			if err := checkRedirectURI(uri, defaultRedirectExceptions); err != nil {
				t.Errorf("registered %q: %v", uri, err)
			}
		}
		if (r.ClientSecret == "") != (r.TokenEndpointAuthMethod == AuthNone) || len(r.GrantTypes) == 0 || len(r.ResponseTypes) == 0 {
			t.Errorf("registered %+v", r)
		}
		// What was registered registers again as it is.
		encoded, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		again, err := lab.Register(context.Background(), encoded)
		if err != nil {
			t.Fatalf("the answer does not register again: %v", err)
		}
		if again.ClientName != r.ClientName || again.Scope != r.Scope || !slices.Equal(again.RedirectURIs, r.RedirectURIs) {
			t.Errorf("%+v became %+v", r, again)
		}
	})
}
