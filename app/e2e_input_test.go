package app_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"gatehouse/app/apptest"
)

// The OAuth endpoints against requests as no client should send them.

const (
	pathServer   = "/.well-known/oauth-authorization-server"
	pathOpenID   = "/.well-known/openid-configuration"
	pathResource = "/.well-known/oauth-protected-resource"
	pathKeys     = "/.well-known/jwks.json"
	formType     = "Content-Type: application/x-www-form-urlencoded"
)

var (
	documentPaths = []string{pathServer, pathOpenID, pathResource, pathResource + "/mcp", pathKeys}
	backChannels  = []string{"/register", "/token", "/revoke", "/oauth/register", "/oauth/token", "/oauth/revoke"}
)

func TestBackChannelNeverRedirects(t *testing.T) {
	t.Parallel()
	p := apptest.Start(t)
	var paths []string
	for _, path := range append(slices.Concat(documentPaths, backChannels), "/mcp", "/healthz", "/readyz", "/.well-known/nothing", "/par", "/introspect", "/device_authorization", "/userinfo") {
		paths = append(paths, path, path+"/", path+"//", "/"+path, strings.ToUpper(path), "/x/.."+path, "/."+path, path+"/.", path+"?x=1", path+"%2f", path+";x=1")
	}
	for _, path := range paths {
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"} {
			a := send(t, method, p.URL+path, "", formType)
			if a.status/100 == 3 || a.header.Get("Location") != "" || a.status >= 500 {
				t.Errorf("X-3 %s %s: %d to %q", method, path, a.status, a.header.Get("Location"))
			}
		}
	}
	for _, path := range []string{"/token", "/token/", "/oauth/token", "/oauth/token/"} {
		if a := sendForm(t, p.URL+path, url.Values{"grant_type": {"authorization_code"}, "client_id": {"gc_x"}}); a.status != http.StatusUnauthorized || a.code(t) != "invalid_client" {
			t.Errorf("X-3 POST %s: %d %s", path, a.status, a.body)
		}
	}
	for _, path := range []string{"/register", "/register/", "/oauth/register", "/oauth/register/"} {
		if a := registerBody(t, p.URL+strings.TrimSuffix(path, "/register"), `{"redirect_uris":["`+callback+`"]}`); strings.HasSuffix(path, "/register") && a.status != http.StatusCreated {
			t.Errorf("X-3 POST %s: %d %s", path, a.status, a.body)
		}
	}
	for _, path := range documentPaths {
		plain, slash := send(t, "GET", p.URL+path, ""), send(t, "GET", p.URL+path+"/", "")
		if plain.status != http.StatusOK || slash.status != http.StatusOK || plain.body != slash.body {
			t.Errorf("X-3 %s answers %d, with a slash %d", path, plain.status, slash.status)
		}
	}
}

func TestBackChannelErrorsAreJSON(t *testing.T) {
	t.Parallel()
	p := apptest.Start(t)
	for _, path := range slices.Concat(backChannels, []string{"/token/", "/register/"}) {
		for _, method := range []string{"GET", "HEAD", "PUT", "PATCH", "DELETE"} {
			a := send(t, method, p.URL+path, "", "Accept: text/html")
			if a.status != http.StatusMethodNotAllowed || !strings.Contains(a.header.Get("Allow"), "POST") || strings.Contains(a.header.Get("Allow"), "GET") {
				t.Errorf("TK-1 %s %s: %d, Allow %q", method, path, a.status, a.header.Get("Allow"))
			}
			if method != "HEAD" {
				a.code(t)
			}
		}
	}
	for _, path := range documentPaths {
		for _, method := range []string{"POST", "PUT", "DELETE"} {
			if a := send(t, method, p.URL+path, ""); a.status != http.StatusMethodNotAllowed || !strings.Contains(a.header.Get("Allow"), "GET") {
				t.Errorf("MD-9 %s %s: %d, Allow %q", method, path, a.status, a.header.Get("Allow"))
			} else {
				a.code(t)
			}
		}
	}
	for _, path := range []string{
		pathServer + "/mcp", pathServer + "/t", pathOpenID + "/mcp", pathResource + "/other", pathResource + "/mcp/x", "/.well-known/", "/.well-known/security.txt", "/.well-known/%2e%2e/token",
		"/.well-known/openid-configuration%00", "/.well-known/jwks",
	} {
		if a := send(t, "GET", p.URL+path, "", "Accept: text/html"); a.status != http.StatusNotFound {
			t.Errorf("MD-4 %s: %d", path, a.status)
		} else {
			a.code(t)
		}
	}
	for _, path := range []string{"/mcp" + pathServer, "/mcp" + pathOpenID, "/mcp" + pathResource} {
		if a := send(t, "GET", p.URL+path, "", "Accept: application/json"); a.status != http.StatusNotFound {
			t.Errorf("MD-4 %s: %d", path, a.status)
		} else {
			a.code(t)
		}
	}
	form := url.Values{"grant_type": {"authorization_code"}, "client_id": {"gc_x"}}.Encode()
	for _, media := range []string{"", "Content-Type: application/json", "Content-Type: text/plain", "Content-Type: multipart/form-data; boundary=x", "Content-Type: ;;", "Content-Type: application/x-www-form-urlencoded-not"} {
		for _, path := range []string{"/token", "/revoke"} {
			var fields []string
			if media != "" {
				fields = []string{media}
			}
			if a := send(t, "POST", p.URL+path, form, fields...); a.status != http.StatusBadRequest || a.code(t) != "invalid_request" {
				t.Errorf("TK-1 %s with %q: %d %s", path, media, a.status, a.body)
			}
			if media == "Content-Type: application/json" {
				continue
			}
			if a := send(t, "POST", p.URL+"/register", `{"redirect_uris":["`+callback+`"]}`, fields...); a.status != http.StatusBadRequest || a.code(t) != "invalid_client_metadata" {
				t.Errorf("DR-2 /register with %q: %d %s", media, a.status, a.body)
			}
		}
	}
	for _, media := range []string{"application/x-www-form-urlencoded; charset=utf-8", "Application/X-WWW-Form-URLencoded"} {
		if a := send(t, "POST", p.URL+"/token", form, "Content-Type: "+media); a.status != http.StatusUnauthorized {
			t.Errorf("TK-1 %q is a form, too: %d %s", media, a.status, a.body)
		}
	}
}

// unsized hides a body's length, so that it is sent in chunks.
type unsized struct{ io.Reader }

func TestLimitsOfRequests(t *testing.T) {
	t.Parallel()
	p := apptest.Start(t)
	b := mustSignIn(t, p.AddUser(t, "ada@example.com"), p.URL)
	c := registered(t, p)
	pad := func(head string, size int) string { return head + strings.Repeat("x", size-len(head)) }
	for _, path := range []string{"/token", "/revoke"} {
		head := "client_id=gc_x&grant_type=authorization_code&token=x&pad="
		if a := send(t, "POST", p.URL+path, pad(head, 64<<10), formType); a.status != http.StatusUnauthorized {
			t.Errorf("X-11 %s with 64 KiB: %d %s", path, a.status, a.body)
		}
		for name, body := range map[string]io.Reader{"a byte more": strings.NewReader(pad(head, 64<<10+1)), "in chunks": unsized{strings.NewReader(pad(head, 1<<20))}} {
			if a := sendBy(t, plainHTTP, "POST", p.URL+path, body, formType); a.status != http.StatusRequestEntityTooLarge || a.code(t) != "invalid_request" {
				t.Errorf("X-11 %s %s: %d %s", path, name, a.status, a.body)
			}
		}
	}
	body := func(size int) string {
		head := `{"redirect_uris":["` + callback + `"],"token_endpoint_auth_method":"none","pad":"`
		return pad(head, size-2) + `"}`
	}
	if a := registerBody(t, p.URL, body(64<<10)); a.status != http.StatusCreated {
		t.Errorf("X-11 registration with 64 KiB: %d %s", a.status, a.body)
	}
	for name, r := range map[string]io.Reader{"a byte more": strings.NewReader(body(64<<10 + 1)), "in chunks": unsized{strings.NewReader(body(1 << 20))}} {
		if a := sendBy(t, plainHTTP, "POST", p.URL+"/register", r, "Content-Type: application/json"); a.status != http.StatusRequestEntityTooLarge {
			t.Errorf("X-11 registration %s: %d %s", name, a.status, a.body)
		} else {
			a.code(t)
		}
	}
	base := c.AuthorizeURL() + "&pad="
	_, query, _ := strings.Cut(base, "?")
	if page := mustOpen(t, b, base+strings.Repeat("x", 8<<10-len(query))); page.Form("decision") == nil {
		t.Errorf("X-11 a query of 8 KiB: %d %s", page.Status, page.Text())
	}
	if page := mustOpen(t, b, base+strings.Repeat("x", 8<<10-len(query)+1)); !isPage(page, http.StatusBadRequest) {
		t.Errorf("X-11 a longer query: %d", page.Status)
	}
	if a := send(t, "POST", p.URL+"/token?pad="+strings.Repeat("x", 9<<10), "grant_type=x", formType); a.status != http.StatusBadRequest || a.code(t) != "invalid_request" {
		t.Errorf("X-11 a longer query at the token endpoint: %d %s", a.status, a.body)
	}
	long := strings.Repeat("x", 60<<10)
	for _, form := range []url.Values{
		{"client_id": {long}}, {"client_id": {c.ID}, "grant_type": {long}}, {"client_id": {c.ID}, "grant_type": {"authorization_code"}, "code": {long}, "code_verifier": {c.Verifier}},
		{"client_id": {c.ID}, "grant_type": {"refresh_token"}, "refresh_token": {"gtr_" + long}}, {"client_id": {c.ID}, "grant_type": {"refresh_token"}, "scope": {long}},
	} {
		if a := sendForm(t, p.URL+"/token", form); a.status != http.StatusBadRequest && a.status != http.StatusUnauthorized {
			t.Errorf("X-11 a long parameter: %d %s", a.status, a.body)
		} else {
			a.code(t)
		}
	}
	if a := sendForm(t, p.URL+"/token", url.Values{"grant_type": {"x"}}, "Authorization: Basic "+base64.StdEncoding.EncodeToString([]byte(long[:20<<10]+":"+long[:20<<10]))); a.status != http.StatusUnauthorized {
		t.Errorf("TK-7 long Basic credentials: %d", a.status)
	}
}

func TestDuplicateParameters(t *testing.T) {
	t.Parallel()
	p := apptest.Start(t)
	c := registered(t, p)
	token := url.Values{"grant_type": {"authorization_code"}, "code": {"gtc_x"}, "redirect_uri": {callback}, "code_verifier": {c.Verifier}, "client_id": {c.ID}, "client_secret": {""},
		"refresh_token": {"gtr_x"}, "scope": {"home:read"}, "client_assertion": {""}, "client_assertion_type": {""}}
	for name := range token {
		for _, second := range []string{token.Get(name), "", "other"} {
			a := send(t, "POST", p.URL+"/token", token.Encode()+"&"+name+"="+url.QueryEscape(second), formType)
			if a.status != http.StatusBadRequest || a.code(t) != "invalid_request" {
				t.Errorf("X-4 token with two of %s (%q): %d %s", name, second, a.status, a.body)
			}
		}
	}
	revoke := url.Values{"token": {"gtr_x"}, "token_type_hint": {"refresh_token"}, "client_id": {c.ID}, "client_secret": {""}}
	for name := range revoke {
		if a := send(t, "POST", p.URL+"/revoke", revoke.Encode()+"&"+name+"=", formType); a.status != http.StatusBadRequest || a.code(t) != "invalid_request" {
			t.Errorf("X-4 revoke with two of %s: %d %s", name, a.status, a.body)
		}
	}
	for name, value := range map[string]string{"redirect_uris": `["` + callback + `"]`, "client_name": `"b"`, "token_endpoint_auth_method": `"none"`, "anything": `1`} {
		body := `{"redirect_uris":["` + callback + `"],"client_name":"a","token_endpoint_auth_method":"none","anything":1,"` + name + `":` + value + `}`
		if a := registerBody(t, p.URL, body); a.status != http.StatusBadRequest || a.code(t) != "invalid_client_metadata" {
			t.Errorf("X-4 registration with two of %s: %d %s", name, a.status, a.body)
		}
	}
	if a := registerBody(t, p.URL, `{"redirect_uris":["`+callback+`"],"client_name":"a","client_\u006eame":"b"}`); a.status != http.StatusBadRequest || a.code(t) != "invalid_client_metadata" {
		t.Errorf("X-4 registration with two spellings of client_name: %d %s", a.status, a.body)
	}
	two := []string{"Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(c.ID+":")), "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("gc_other:"))}
	if a := sendForm(t, p.URL+"/token", url.Values{"grant_type": {"authorization_code"}}, two...); a.status != http.StatusBadRequest || a.code(t) != "invalid_request" {
		t.Errorf("X-4 two Authorization fields: %d %s", a.status, a.body)
	}
}

func TestRegistrationGarbage(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *apptest.Program) {
		for i, body := range []string{
			"", " ", "null", "[]", "1", `"x"`, "{", "{}", `{"redirect_uris"`, `{"redirect_uris":null}`, `{"redirect_uris":{}}`, `{"redirect_uris":[]}`, `{"redirect_uris":[1]}`, `{"redirect_uris":[null]}`,
			`{"redirect_uris":[["` + callback + `"]]}`, `{"redirect_uris":"` + callback + `"}`, `{"redirect_uris":["` + callback + `"]} x`, `{"redirect_uris":["` + callback + `"]}{}`,
			`{"redirect_uris":["` + callback + `"],"grant_types":["password"]}`, `{"redirect_uris":["` + callback + `"],"grant_types":"authorization_code"}`, `{"redirect_uris":["` + callback + `"],"grant_types":["refresh_token"]}`,
			`{"redirect_uris":["` + callback + `"],"response_types":["token"]}`, `{"redirect_uris":["` + callback + `"],"token_endpoint_auth_method":"private_key_jwt"}`,
			`{"redirect_uris":["` + callback + `"],"token_endpoint_auth_method":"tls_client_auth"}`, `{"redirect_uris":["` + callback + `"],"token_endpoint_auth_method":7}`, `{"redirect_uris":["` + callback + `"],"client_name":{}}`,
			`{"redirect_uris":["` + callback + `"],"jwks":{"keys":[]},"jwks_uri":"https://a.example/jwks"}`, `{"redirect_uris":["` + callback + `"],"scope":"\u00e9"}`, `{"redirect_uris":["` + callback + `"],"scope":["a"]}`,
			`{"redirect_uris":["` + callback + "\"],\"client_name\":\"\xff\"}", "\xef\xbb\xbf{}", strings.Repeat("[", 30000), `{"redirect_uris":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + "}",
			`{"redirect_uris":[` + strings.Repeat(`"`+callback+`",`, 50) + `"https://a.example/1"` + manyURIs(60) + `]}`,
		} {
			a := registerBody(t, p.URL, body)
			if code := a.code(t); a.status != http.StatusBadRequest || code != "invalid_client_metadata" && code != "invalid_redirect_uri" {
				t.Errorf("DR-2 %d %.80q: %d %s", i, body, a.status, a.body)
			}
		}
		for i, body := range []string{
			`{"redirect_uris":["` + callback + `"],"client_name":null,"grant_types":null,"scope":null,"contacts":null,"token_endpoint_auth_method":null}`,
			`{"redirect_uris":["` + callback + `"],"client_name":"a\u0000b\u0001\u202e\ud800c","software_id":"\u0000","contacts":["\u0000"],"scope":"home:read unknown","client_id":"gc_mine","client_secret":"mine"}`,
			`{"redirect_uris":["` + callback + `"],"software_statement":"x.y.z","unknown":{"deep":[1,2,{"a":null}]},"default_max_age":1e400}`,
			`{"redirect_uris":["` + callback + `"],"logo_uri":"javascript:alert(1)","client_uri":"http://a.example","tos_uri":"data:x","policy_uri":"\u0000"}`,
		} {
			a := registerBody(t, p.URL, body)
			if a.status == http.StatusCreated && contains(a.body, `\u0000`, "gc_mine", `"mine"`, "javascript:", "null") != "" {
				t.Errorf("DR-9 %d is echoed: %s", i, a.body)
			}
			if a.status != http.StatusCreated && a.status != http.StatusBadRequest {
				t.Errorf("DR-4 %d: %d %s", i, a.status, a.body)
			}
		}
	})
}

func manyURIs(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"https://a.example/%d"`, i+2)
	}
	return b.String()
}

func TestTokenEndpointInput(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *apptest.Program) {
		b := mustSignIn(t, p.AddUser(t, "ada@example.com"), p.URL)
		c := registered(t, p)
		code, err := c.Code(b)
		if err != nil {
			t.Fatal(err)
		}
		good := url.Values{"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {callback}, "code_verifier": {c.Verifier}, "client_id": {c.ID}}
		for _, name := range []string{"client_secret", "client_id", "code", "code_verifier", "refresh_token", "grant_type", "client_assertion"} {
			a := sendForm(t, p.URL+"/token?"+name+"="+url.QueryEscape(good.Get(name)+"x"), good)
			if a.status != http.StatusBadRequest || a.code(t) != "invalid_request" {
				t.Errorf("TK-2 %s in the URL: %d %s", name, a.status, a.body)
			}
		}
		for i, tc := range []struct {
			field, value, want string
			status             int
		}{
			{"code_verifier", strings.Repeat("a", 42), "invalid_grant", 400}, {"code_verifier", strings.Repeat("a", 129), "invalid_grant", 400}, {"code_verifier", strings.Repeat("é", 30), "invalid_grant", 400},
			{"code_verifier", c.Verifier + " ", "invalid_grant", 400}, {"code_verifier", strings.ToUpper(c.Verifier), "invalid_grant", 400}, {"code", "", "invalid_request", 400},
			{"code", strings.ToUpper(code), "invalid_grant", 400}, {"code", code + "x", "invalid_grant", 400}, {"code", "' OR 1=1 --", "invalid_grant", 400}, {"code", "é\u202e", "invalid_grant", 400},
			{"redirect_uri", callback + "/", "invalid_grant", 400}, {"grant_type", "", "invalid_request", 400}, {"grant_type", "AUTHORIZATION_CODE", "unsupported_grant_type", 400},
			{"grant_type", "urn:ietf:params:oauth:grant-type:saml2-bearer", "unsupported_grant_type", 400},
			{"grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer", "unauthorized_client", 400}, {"grant_type", "implicit\u202e<b>", "unsupported_grant_type", 400},
			{"client_id", "", "invalid_client", 401}, {"client_id", "gc_é", "invalid_client", 401}, {"client_id", "' OR 1=1 --", "invalid_client", 401}, {"client_secret", "guess", "invalid_client", 401},
			{"client_assertion", "a.b.c", "invalid_client", 401}, {"resource", "x", "invalid_target", 400},
		} {
			form := url.Values{}
			for k, v := range good {
				form[k] = v
			}
			form.Set(tc.field, tc.value)
			a := sendForm(t, p.URL+"/token", form)
			if got := a.code(t); a.status != tc.status || got != tc.want && !(tc.value == "" && got == "invalid_request" && tc.status == 400) {
				t.Errorf("PK-4 CG-3 TK-4 %d %s=%.40q: %d %s; want %d %s", i, tc.field, tc.value, a.status, a.body, tc.status, tc.want)
			}
		}
		for name, body := range map[string]string{
			"bad percent": "grant_type=%zz", "semicolons": "grant_type=a;b=c", "NUL": "grant_type=authorization_code&client_id=" + c.ID + "&code=a%00b&code_verifier=" + c.Verifier,
			"not UTF-8": "grant_type=authorization_code&client_id=" + c.ID + "&code=%ff%fe&code_verifier=" + c.Verifier, "nothing": "", "names only": "&&&=&==", "NUL in the id": "client_id=%00",
			"NUL in the token": "grant_type=refresh_token&client_id=" + c.ID + "&refresh_token=gtr_%00", "many": strings.Repeat("a=b&", 10000),
		} {
			if a := send(t, "POST", p.URL+"/token", body, formType); a.status != http.StatusBadRequest && a.status != http.StatusUnauthorized {
				t.Errorf("X-9 a form with %s: %d %s", name, a.status, a.body)
			} else {
				a.code(t)
			}
		}
		for _, field := range []string{"Basic", "Basic ", "Basic !!!", "Basic " + base64.StdEncoding.EncodeToString([]byte("no colon")), "Basic " + base64.StdEncoding.EncodeToString([]byte(":x")), "Bearer x", "Digest x",
			"Basic " + base64.StdEncoding.EncodeToString([]byte("%zz:x")), "Basic " + base64.StdEncoding.EncodeToString([]byte("\x00:\xff")), "Basic " + base64.StdEncoding.EncodeToString([]byte(c.ID+":guess"))} {
			a := sendForm(t, p.URL+"/token", url.Values{"grant_type": {"authorization_code"}}, "Authorization: "+field)
			if a.status != http.StatusUnauthorized || a.code(t) != "invalid_client" || !strings.HasPrefix(a.header.Get("WWW-Authenticate"), "Basic ") {
				t.Errorf("TK-7 %q: %d %s, challenge %q", field, a.status, a.body, a.header.Get("WWW-Authenticate"))
			}
		}
		both := sendForm(t, p.URL+"/token", url.Values{"grant_type": {"authorization_code"}, "client_id": {c.ID}, "client_secret": {"x"}}, "Authorization: Basic "+base64.StdEncoding.EncodeToString([]byte(c.ID+":x")))
		if both.status != http.StatusBadRequest || both.code(t) != "invalid_request" {
			t.Errorf("TK-5 two ways of authentication: %d %s", both.status, both.body)
		}
		// X-5 X-6: empty parameters count as absent, unknown ones are nothing to speak of, and nothing above used the code up.
		good["scope"], good["resource"], good["client_secret"], good["client_assertion"], good["audience"], good["x"] = []string{""}, []string{""}, []string{""}, []string{""}, []string{"y"}, []string{"1", "2"}
		good.Del("redirect_uri")
		good.Set("redirect_uri", "")
		a := sendForm(t, p.URL+"/token", good, "authorization: bAsIc "+base64.StdEncoding.EncodeToString([]byte(c.ID+":")))
		var tokens map[string]any
		if err := json.Unmarshal([]byte(a.body), &tokens); err != nil || a.status != http.StatusOK {
			t.Fatalf("X-5 CG-4: %d %s", a.status, a.body)
		}
		if _, number := tokens["expires_in"].(float64); !number || tokens["token_type"] != "Bearer" || tokens["scope"] == nil || a.header.Get("Cache-Control") != "no-store" || a.header.Get("Pragma") != "no-cache" {
			t.Errorf("TK-3 X-8 %v %v", tokens, a.header)
		}
		for _, name := range []string{"refresh_token", "access_token"} {
			if token, _ := tokens[name].(string); token == "" || strings.ContainsAny(token, "\" \n") {
				t.Errorf("TK-3 %s is %q", name, token)
			}
		}
		refresh := tokens["refresh_token"].(string)
		for name, form := range map[string]url.Values{
			"invalid_scope":  {"scope": {"home:read admin"}},
			"invalid_target": {"resource": {"https://elsewhere.example/mcp"}},
		} {
			form.Set("grant_type", "refresh_token")
			form.Set("refresh_token", refresh)
			if status, answer, err := c.Token(form); err != nil || status != http.StatusBadRequest || answer.Error != name {
				t.Errorf("RT-4 RT-5: %d %v %+v; want %s", status, err, answer, name)
			}
		}
		if status, answer, err := c.Token(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {refresh}, "scope": {"home:read offline_access"}, "resource": {p.URL + "/mcp"}}); err != nil || status != http.StatusOK || answer.Scope != "home:read" {
			t.Errorf("RT-4 a narrower refresh after refused ones: %d %v %+v", status, err, answer)
		} else if names := toolNames(t, p.URL, answer.AccessToken); slices.Contains(names, "add_thing") {
			t.Error("RT-4 a narrowed token is shown add_thing")
		}
	})
}

func TestRevocationInput(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *apptest.Program) {
		b := p.AddUser(t, "ada@example.com")
		c := registered(t, p)
		tokens := connected(t, c, b)
		for _, token := range []string{"x", "gtr_x", "a.b.c", strings.Repeat("x", 50000), "é\u202e", "gth_x_y", "' OR 1=1 --", tokens.AccessToken + "x", "gtr_" + strings.Repeat("A", 43)} {
			for _, hint := range []string{"", "refresh_token", "access_token", "nonsense"} {
				a := sendForm(t, p.URL+"/revoke", url.Values{"client_id": {c.ID}, "token": {token}, "token_type_hint": {hint}})
				if a.status != http.StatusOK || a.body != "" {
					t.Errorf("RV-1 %.20q hint %q: %d %s", token, hint, a.status, a.body)
				}
			}
		}
		for _, form := range []url.Values{{"token": {"x"}}, {"client_id": {"gc_unknown"}, "token": {tokens.RefreshToken}}, {"client_id": {c.ID}, "client_secret": {"guess"}, "token": {tokens.RefreshToken}}} {
			if a := sendForm(t, p.URL+"/revoke", form); a.status != http.StatusUnauthorized || a.code(t) != "invalid_client" {
				t.Errorf("RV-1 %v: %d %s", form["client_id"], a.status, a.body)
			}
		}
		if a := sendForm(t, p.URL+"/revoke", url.Values{"client_id": {c.ID}}); a.status != http.StatusBadRequest || a.code(t) != "invalid_request" {
			t.Errorf("RV-1 no token: %d %s", a.status, a.body)
		}
		if r := mustCall(t, p.URL, tokens.AccessToken, "ping", ""); r.Status != http.StatusOK {
			t.Fatalf("RV-2 something of that revoked the connection: %d", r.Status)
		}
		// RV-3: an access token ends alone.
		if a := sendForm(t, p.URL+"/revoke", url.Values{"client_id": {c.ID}, "token": {tokens.AccessToken}, "token_type_hint": {"refresh_token"}}); a.status != http.StatusOK {
			t.Errorf("RV-1 revoke the access token: %d %s", a.status, a.body)
		}
		if r := mustCall(t, p.URL, tokens.AccessToken, "ping", ""); r.Status != http.StatusUnauthorized {
			t.Errorf("RV-3 the revoked access token: %d", r.Status)
		}
		status, next, err := c.Refresh(tokens.RefreshToken)
		if err != nil || status != http.StatusOK {
			t.Fatalf("RV-3 refresh after the access token was revoked: %d %v %+v", status, err, next)
		}
		if r := mustCall(t, p.URL, next.AccessToken, "ping", ""); r.Status != http.StatusOK {
			t.Errorf("RV-3 the next access token: %d", r.Status)
		}
	})
}
