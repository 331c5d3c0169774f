package oauth

import (
	"context"
	"encoding/base64"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"
)

func basic(id, secret string) ClientAuthentication {
	return ClientAuthentication{HasAuthorization: true, Authorization: "Basic " + base64.StdEncoding.EncodeToString([]byte(id+":"+secret))}
}

func post(id, secret string) ClientAuthentication {
	return ClientAuthentication{ClientID: id, ClientSecret: secret, HasSecret: true}
}

func onlyID(id string) ClientAuthentication { return ClientAuthentication{ClientID: id} }

// authLab has one client per kind of authentication; their secret is "s3cret".
func authLab(t *testing.T) *clientLab {
	t.Helper()
	lab := newClientLab(t)
	for id, methods := range map[string][]string{
		"public": {AuthNone}, "basic": {AuthBasic}, "post": {AuthPost}, "either": {AuthBasic, AuthPost},
	} {
		c := Client{ID: id, Kind: ClientDynamic, AuthMethods: methods, LastSeenAt: lab.clock.Now()}
		if methods[0] != AuthNone {
			c.SecretHash = HashSecret("s3cret")
		}
		lab.clients.rows[id] = c
	}
	lab.clients.rows["odd id"] = Client{ID: "odd id", Kind: ClientRegistered, AuthMethods: []string{AuthBasic}, SecretHash: HashSecret("a+b c:%"), LastSeenAt: lab.clock.Now()}
	blocked := lab.clock.Now()
	lab.clients.rows["blocked"] = Client{ID: "blocked", Kind: ClientDynamic, AuthMethods: []string{AuthNone}, BlockedAt: &blocked}
	return lab
}

func TestAuthenticateClient(t *testing.T) {
	t.Parallel()
	withID := func(in ClientAuthentication, id string) ClientAuthentication { in.ClientID = id; return in }
	withScheme := func(in ClientAuthentication, scheme string) ClientAuthentication {
		in.Authorization = scheme + strings.TrimPrefix(in.Authorization, "Basic")
		return in
	}
	assertion := ClientAuthentication{ClientID: "public", AssertionType: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer", Assertion: "a.b.c"}
	for _, tt := range []struct {
		name   string
		in     ClientAuthentication
		client string // authenticated as
		code   string // or refused with
		check  string
	}{
		{"TK-8 none", onlyID("public"), "public", "", ""},
		{"TK-6 post", post("post", "s3cret"), "post", "", ""},
		{"TK-6 Basic", basic("basic", "s3cret"), "basic", "", ""},
		{"TK-8 omitted method accepts Basic", basic("either", "s3cret"), "either", "", ""},
		{"TK-8 omitted method accepts post", post("either", "s3cret"), "either", "", ""},
		{"TK-7 scheme in another case", withScheme(basic("basic", "s3cret"), "bAsIc"), "basic", "", ""},
		{"TK-7 form-encoded", basic(url.QueryEscape("odd id"), url.QueryEscape("a+b c:%")), "odd id", "", ""},
		{"X-5 empty secret in the body counts as absent", post("public", ""), "public", "", ""},
		{"X-5 empty secret in Basic counts as absent", basic("public", ""), "public", "", ""},
		{"TK-5 same client_id in Basic and body", withID(basic("basic", "s3cret"), "basic"), "basic", "", ""},

		{"TK-4 unknown client", onlyID("nobody"), "", "invalid_client", "client"},
		{"TK-4 unknown client with Basic", basic("nobody", "x"), "", "invalid_client", "client"},
		{"TK-4 no client at all", ClientAuthentication{}, "", "invalid_client", "client_id"},
		{"TK-4 wrong secret in the body", post("post", "wrong"), "", "invalid_client", "client_secret"},
		{"TK-4 wrong secret in Basic", basic("basic", "wrong"), "", "invalid_client", "client_secret"},
		{"TK-4 the hash as secret", post("post", string(HashSecret("s3cret"))), "", "invalid_client", "client_secret"},
		{"TK-4 wrong method: post for Basic", post("basic", "s3cret"), "", "invalid_client", "client_auth_method"},
		{"TK-4 wrong method: Basic for post", basic("post", "s3cret"), "", "invalid_client", "client_auth_method"},
		{"TK-8 none for a confidential client", onlyID("basic"), "", "invalid_client", "client_auth_method"},
		{"TK-8 none for a client with either", onlyID("either"), "", "invalid_client", "client_auth_method"},
		{"TK-8 empty secret for a confidential client", post("post", ""), "", "invalid_client", "client_auth_method"},
		{"TK-8 empty Basic secret for a confidential client", basic("basic", ""), "", "invalid_client", "client_auth_method"},
		{"TK-8 secret for a public client", post("public", "x"), "", "invalid_client", "client_auth_method"},
		{"TK-8 Basic secret for a public client", basic("public", "x"), "", "invalid_client", "client_auth_method"},
		{"TK-4 blocked client", onlyID("blocked"), "", "invalid_client", "client_blocked"},
		{"TK-5 Basic and post", func() ClientAuthentication {
			in := basic("either", "s3cret")
			in.ClientSecret, in.HasSecret = "s3cret", true
			return in
		}(), "", "invalid_request", "client_auth_method"},
		{"TK-5 post and assertion", func() ClientAuthentication { in := assertion; in.ClientSecret, in.HasSecret = "x", true; return in }(), "", "invalid_request", "client_auth_method"},
		{"TK-5 Basic and assertion", func() ClientAuthentication { in := basic("basic", "x"); in.Assertion = "a.b.c"; return in }(), "", "invalid_request", "client_auth_method"},
		{"TK-5 another client_id in the body", withID(basic("basic", "s3cret"), "public"), "", "invalid_request", "client_id"},
		{"JW-1 assertion that is no JWT", assertion, "", "invalid_client", "client_assertion"},
		{"TK-7 malformed: Bearer", ClientAuthentication{HasAuthorization: true, Authorization: "Bearer x"}, "", "invalid_client", "client_auth_method"},
		{"TK-7 malformed: empty header", ClientAuthentication{HasAuthorization: true}, "", "invalid_client", "client_auth_method"},
		{"TK-7 malformed: not base64", ClientAuthentication{HasAuthorization: true, Authorization: "Basic %%%"}, "", "invalid_client", "client_auth_method"},
		{"TK-7 malformed: no colon", ClientAuthentication{HasAuthorization: true, Authorization: "Basic " + base64.StdEncoding.EncodeToString([]byte("basic"))}, "", "invalid_client", "client_auth_method"},
		{"TK-7 malformed: no id", basic("", "s3cret"), "", "invalid_client", "client_auth_method"},
		{"TK-7 malformed: bad percent in the id", basic("ba%sic", "s3cret"), "", "invalid_client", "client_auth_method"},
		{"TK-7 malformed: bad percent in the secret", basic("basic", "%zz"), "", "invalid_client", "client_auth_method"},
		{"TK-4 endless client_id", onlyID(strings.Repeat("x", 3000)), "", "invalid_client", "client"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, err := authLab(t).AuthenticateClient(context.Background(), tt.in)
			if tt.client != "" {
				if err != nil || c.ID != tt.client {
					t.Fatalf("got %v, %v", c, err)
				}
				return
			}
			status := 401
			if tt.code == "invalid_request" {
				status = 400
			}
			e := wantError(t, err, tt.code, status)
			if e.Check != tt.check {
				t.Errorf("check is %q, want %q", e.Check, tt.check)
			}
			if wantsChallenge := tt.in.HasAuthorization && status == 401; strings.HasPrefix(e.Challenge, "Basic realm=\"") != wantsChallenge {
				t.Errorf("TK-4 challenge is %q", e.Challenge)
			}
			if strings.Contains(err.Error(), "s3cret") {
				t.Error("the error tells a secret")
			}
		})
	}
}

func TestAuthenticateClientStore(t *testing.T) {
	t.Parallel()
	t.Run("X-10 store down is not the client's fault", func(t *testing.T) {
		t.Parallel()
		lab := authLab(t)
		lab.clients.err = errors.New("database is gone")
		_, err := lab.AuthenticateClient(context.Background(), basic("basic", "s3cret"))
		if e := wantError(t, err, "temporarily_unavailable", 503); e.RetryAfter <= 0 || e.Challenge != "" {
			t.Errorf("error %+v", e)
		}
	})
	t.Run("last seen is written at most once an hour", func(t *testing.T) {
		t.Parallel()
		lab := authLab(t)
		for _, after := range []struct {
			wait    time.Duration
			touched int
		}{{0, 0}, {59 * time.Minute, 0}, {time.Minute, 1}, {time.Minute, 1}, {time.Hour, 2}} {
			lab.clock.advance(after.wait)
			if _, err := lab.AuthenticateClient(context.Background(), onlyID("public")); err != nil {
				t.Fatal(err)
			}
			if lab.clients.touched != after.touched {
				t.Errorf("after %v: touched %d times, want %d", after.wait, lab.clients.touched, after.touched)
			}
		}
		if _, err := lab.AuthenticateClient(context.Background(), onlyID("basic")); err == nil || lab.clients.touched != 2 {
			t.Error("a failure counts as seen")
		}
	})
}

func FuzzParseBasic(f *testing.F) {
	f.Add("Basic " + base64.StdEncoding.EncodeToString([]byte("id:secret")))
	f.Add("basic  aWQ6")
	f.Add("Basic")
	f.Add("Bearer x")
	f.Fuzz(func(t *testing.T, header string) {
		got, err := parseBasic(header)
		if err != nil {
			wantError(t, err, "invalid_client", 401)
			return
		}
		if got.id == "" || (got.secret == "") != (got.method == AuthNone) {
			t.Fatalf("parseBasic(%q) = %+v", header, got)
		}
		again, err := parseBasic(basic(url.QueryEscape(got.id), url.QueryEscape(got.secret)).Authorization)
		if err != nil || again != got {
			t.Errorf("%+v became %+v, %v", got, again, err)
		}
	})
}
