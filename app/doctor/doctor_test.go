package doctor_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"gatehouse/app/doctor"
)

func TestNothingIsWrong(t *testing.T) {
	t.Parallel()
	s := newSite(public)
	o := options(t, s)
	o.Token = goodToken
	r := run(t, o)
	if got := findings(r); len(got) > 0 || r.Failed+r.Warnings > 0 {
		t.Errorf("a server without a fault: %v", got)
	}
	var checks []string
	for _, section := range r.Sections {
		for _, step := range section.Steps {
			checks = append(checks, section.As+":"+step.Check)
		}
	}
	for _, want := range []string{"all:certificate", "all:bearer", "all:token.unknown_client", "claude:authorize.document", "claude:register", "chatgpt:challenge.discover",
		"codex:authorize.registered", "codex:token.dead", "token:mcp.initialize", "token:mcp.discover", "token:mcp.stream"} {
		if !slices.Contains(checks, want) {
			t.Errorf("the step %s is missing in %v", want, checks)
		}
	}
}

// when answers requests to a path in another way.
func when(method, path string, answer http.HandlerFunc) func(*site) {
	return func(s *site) {
		s.before = func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != path || method != "" && r.Method != method {
				return false
			}
			answer(w, r)
			return true
		}
	}
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func html(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { page(w, code, "Just a moment") }
}

func redirect(to string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusMovedPermanently) }
}

func blocking(part, path string) func(*site) {
	return func(s *site) {
		s.before = func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.Contains(r.UserAgent(), part) || path != "" && r.URL.Path != path {
				return false
			}
			w.Header().Set("Cf-Ray", "1")
			page(w, 403, "Attention Required")
			return true
		}
	}
}

const (
	resourcePath = "/.well-known/oauth-protected-resource/mcp"
	serverPath   = "/.well-known/oauth-authorization-server"
	openIDPath   = "/.well-known/openid-configuration"
)

func TestChallengeFaults(t *testing.T) {
	t.Parallel()
	link := `resource_metadata="` + public + resourcePath + `"`
	challenge := func(value string) func(*site) {
		return func(s *site) { s.challenge = value }
	}
	table(t, []fault{
		{"no WWW-Authenticate", challenge(""), "all:challenge.post/no_challenge"},
		{"BR-7 another scheme first", challenge(`Basic realm="x", Bearer ` + link), "all:challenge.post/not_first"},
		{"basic authentication in front", challenge(`Basic realm="x"`), "all:challenge.post/other_scheme"},
		{"BR-7 unquoted values", challenge(`Bearer resource_metadata=` + public + resourcePath), "all:challenge.post/unquoted"},
		{"no link to the metadata", challenge(`Bearer realm="x"`), "all:challenge.post/no_metadata_link!"},
		{"BR-1 an error without a token", challenge(`Bearer error="invalid_token", ` + link), "all:challenge.post/error_without_token!"},
		{"the internal URL in the challenge", challenge(`Bearer resource_metadata="http://10.0.0.5:8080` + resourcePath + `"`), "all:challenge.post/wrong_public_url"},
		{"http in the challenge behind TLS", challenge(`Bearer resource_metadata="http://example.com` + resourcePath + `"`), "all:challenge.post/wrong_public_url"},
		{"a relative link", challenge(`Bearer resource_metadata="` + resourcePath + `"`), "all:challenge.post/bad_metadata_link"},
		{"GET is refused first", when("GET", "/mcp", status(405)), "all:challenge.get/status"},
		{"HEAD is refused first", when("HEAD", "/mcp", status(405)), "all:challenge.head/status!"},
		{"200 without a token", when("POST", "/mcp", func(w http.ResponseWriter, _ *http.Request) { sendJSON(w, 200, map[string]any{}) }), "all:challenge.post/open"},
		{"any token does", when("POST", "/mcp", func(w http.ResponseWriter, _ *http.Request) { sendJSON(w, 200, map[string]any{}) }), "all:bearer/any_token"},
		{"a page at /mcp", when("POST", "/mcp", html(200)), "all:challenge.post/html"},
		{"a bad gateway", when("POST", "/mcp", html(502)), "all:challenge.post/server_error"},
		{"no /mcp", when("", "/mcp", status(404)), "all:challenge.post/missing"},
		{"a challenge page", when("POST", "/mcp", html(403)), "all:challenge.post/blocked"},
		{"a redirect at /mcp", when("", "/mcp", redirect("/mcp/")), "all:challenge.post/redirect"},
		{"Host is not passed on", when("POST", "/mcp", func(w http.ResponseWriter, _ *http.Request) {
			sendJSON(w, 403, map[string]any{"error": map[string]any{"code": -32600, "message": "This Host is not served here."}})
		}), "all:challenge.post/host_refused"},
		{"403 in place of 401", when("POST", "/mcp", func(w http.ResponseWriter, _ *http.Request) { sendJSON(w, 403, map[string]any{}) }), "all:challenge.post/forbidden"},
		{"X-3 a redirect at /mcp/", when("", "/mcp/", redirect("/mcp")), "all:slash/redirect!"},
		{"X-3 nothing at /mcp/", when("", "/mcp/", status(404)), "all:slash/missing!"},
		{"the Authorization header is stripped", func(s *site) { s.bad = s.challenge }, "all:bearer/stripped"},
		{"BR-2 another error for a bad token", func(s *site) { s.bad = `Bearer error="invalid_request"` }, "all:bearer/no_invalid_token"},
		{"403 for a bad token", func(s *site) {
			s.before = func(w http.ResponseWriter, r *http.Request) bool {
				if r.Header.Get("Authorization") != "" {
					w.WriteHeader(400)
				}
				return r.Header.Get("Authorization") != ""
			}
		}, "all:bearer/status"},
		{"server/discover is served without a token", func(s *site) {
			s.before = func(w http.ResponseWriter, r *http.Request) bool {
				if r.Header.Get("Mcp-Method") == "server/discover" {
					sendJSON(w, 400, map[string]any{})
				}
				return r.Header.Get("Mcp-Method") == "server/discover"
			}
		}, "chatgpt:challenge.discover/status"},
	})
}

func TestDiscoveryFaults(t *testing.T) {
	t.Parallel()
	resource := func(member string, value any) func(*site) {
		return func(s *site) { s.resource[member] = value }
	}
	table(t, []fault{
		{"PR-1 no path form", when("", resourcePath, status(404)), "all:resource.path/missing"},
		{"a page in place of the resource metadata", when("", resourcePath, html(200)), "all:resource.path/html"},
		{"a login wall before the metadata", when("", resourcePath, redirect("https://login.example/")), "all:resource.path/redirect"},
		{"basic authentication before the metadata", when("", resourcePath, status(401)), "all:resource.path/protected"},
		{"the metadata fails", when("", resourcePath, status(500)), "all:resource.path/server_error"},
		{"the metadata as text", when("", resourcePath, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			_, _ = w.Write([]byte("{}"))
		}), "all:resource.path/content_type"},
		{"broken JSON", when("", resourcePath, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"resource":`))
		}), "all:resource.path/not_json"},
		{"PR-2 the resource is the origin", resource("resource", public), "all:resource.path/wrong_resource"},
		{"PR-2 a slash too many", resource("resource", public+"/mcp/"), "all:resource.path/wrong_slash"},
		{"PR-2 another host", resource("resource", "https://other.example/mcp"), "all:resource.path/wrong_public_url"},
		{"no resource", resource("resource", ""), "all:resource.path/no_resource"},
		{"no authorization server", resource("authorization_servers", []string{}), "all:resource.path/no_server"},
		{"tokens in the query only", resource("bearer_methods_supported", []string{"query"}), "all:resource.path/no_header_method"},
		{"the link in the challenge is dead", func(s *site) {
			s.challenge = `Bearer resource_metadata="` + public + `/.well-known/oauth-protected-resource/elsewhere"`
		}, "all:resource.named/missing"},
		{"the root form redirects", when("", "/.well-known/oauth-protected-resource", redirect("/")), "all:resource.root/redirect!"},
		{"a slash behind the path form redirects", when("", resourcePath+"/", redirect("/")), "all:resource.slash/redirect!"},
		{"every path is a page", when("", serverPath+"/gatehouse-doctor", html(200)), "all:stray/answers!"},
		{"no server metadata", func(s *site) {
			s.before = func(w http.ResponseWriter, r *http.Request) bool {
				gone := r.URL.Path == serverPath || r.URL.Path == openIDPath
				if gone {
					w.WriteHeader(404)
				}
				return gone
			}
		}, "all:server.oauth/missing"},
		{"a redirect of the server metadata", when("", serverPath, redirect("/login")), "all:server.oauth/redirect"},
		{"a page in place of the server metadata", when("", serverPath, html(200)), "all:server.oauth/html"},
		{"the server metadata fails", when("", serverPath, html(503)), "all:server.oauth/blocked"},
		{"another document for ChatGPT", when("", openIDPath, func(w http.ResponseWriter, _ *http.Request) {
			s := newSite("https://other.example")
			sendJSON(w, 200, s.server)
		}), "all:server.openid/differs"},
		{"MD-8 an incomplete openid-configuration", func(s *site) { delete(s.server, "jwks_uri") }, "all:server.openid/incomplete"},
		{"MD-2 the issuer differs by a slash", func(s *site) { s.server["issuer"] = public + "/" }, "all:server.issuer/differs"},
		{"an authorization server that is no URL", resource("authorization_servers", []string{"home"}), "all:server.oauth/wrong_issuer"},
	})
}

func TestServerMetadataFaults(t *testing.T) {
	t.Parallel()
	server := func(member string, value any) func(*site) {
		return func(s *site) {
			if s.server[member] = value; value == nil {
				delete(s.server, member)
			}
		}
	}
	table(t, []fault{
		{"no PKCE", server("code_challenge_methods_supported", nil), "all:server.pkce/absent"},
		{"plain only", server("code_challenge_methods_supported", []string{"plain"}), "all:server.pkce/lacking"},
		{"MD-6 no methods", server("token_endpoint_auth_methods_supported", nil), "all:server.methods/absent"},
		{"MD-6 secrets only", server("token_endpoint_auth_methods_supported", []string{"client_secret_basic"}), "all:server.methods/lacking"},
		{"MD-7 no iss", server("authorization_response_iss_parameter_supported", nil), "all:server.iss/absent!"},
		{"MD-5 no response types", server("response_types_supported", nil), "all:server.grants/absent"},
		{"no refresh", server("grant_types_supported", []string{"authorization_code"}), "all:server.grants/lacking!"},
		{"MD-5 no token endpoint", server("token_endpoint", nil), "all:server.endpoints/absent"},
		{"a plain endpoint", server("token_endpoint", "http://example.com/token"), "all:server.endpoints/plain_http"},
		{"an endpoint of this computer", server("token_endpoint", "http://127.0.0.1:8080/token"), "all:server.endpoints/plain_http"},
		{"a relative endpoint", server("authorization_endpoint", "/authorize"), "all:server.endpoints/relative"},
		{"documents only", server("registration_endpoint", nil), "all:server.registration/documents_only!"},
		{"no way to register", func(s *site) {
			delete(s.server, "registration_endpoint")
			delete(s.server, "client_id_metadata_document_supported")
		}, "all:server.registration/none"},
		{"no CORS", func(s *site) {
			s.before = func(w http.ResponseWriter, _ *http.Request) bool {
				w.Header().Del("Access-Control-Allow-Origin")
				return false
			}
		}, "all:cors.documents/not_allowed!"},
		{"a preflight of the token endpoint is refused", when("OPTIONS", "/token", status(405)), "all:cors.endpoints/preflight_refused!"},
		{"a preflight of /mcp needs a token", when("OPTIONS", "/mcp", status(401)), "all:cors.mcp/preflight_refused!"},
		{"the asterisk does not cover Authorization", when("OPTIONS", "/mcp", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Access-Control-Allow-Headers", "*")
			w.WriteHeader(204)
		}), "all:cors.mcp/header_not_allowed!"},
	})
}

func TestSignInFaults(t *testing.T) {
	t.Parallel()
	token := func(answer func(w http.ResponseWriter, r *http.Request)) func(*site) {
		return when("POST", "/token", answer)
	}
	jsonError := func(status int, code string) func(w http.ResponseWriter, r *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) { sendJSON(w, status, map[string]string{"error": code}) }
	}
	registered := func(member string, value any) func(*site) {
		return func(s *site) { s.registered[member] = value }
	}
	away := func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Query().Get("redirect_uri")+"?code=1", http.StatusFound)
	}
	table(t, []fault{
		{"TK-4 an unknown app gets another error", token(jsonError(400, "invalid_request")), "all:token.unknown_client/wrong_error"},
		{"TK-4 an unknown app gets 400", token(jsonError(400, "invalid_client")), "all:token.unknown_client/wrong_status!"},
		{"errors as pages", token(html(400)), "all:token.unknown_client/html"},
		{"errors as text", token(status(400)), "all:token.bad_request/content_type"},
		{"a redirect of the token endpoint", token(redirect("/token/")), "all:token.unknown_client/redirect"},
		{"a token endpoint that fails", token(status(500)), "all:token.bad_request/server_error"},
		{"no token endpoint behind the metadata", token(status(404)), "all:token.unknown_client/missing"},
		{"200 for an error", token(func(w http.ResponseWriter, _ *http.Request) { sendJSON(w, 200, map[string]string{}) }), "all:token.bad_request/no_error"},
		{"RT-3 invalid_client for a dead grant", token(jsonError(401, "invalid_client")), "codex:token.dead/wrong_error"},
		{"registration is refused", when("POST", "/register", jsonError(400, "invalid_redirect_uri")), "claude:register/refused"},
		{"registration fails", when("POST", "/register", status(500)), "claude:register/server_error"},
		{"registration redirects", when("POST", "/register", redirect("/")), "claude:register/redirect"},
		{"registration answers a page", when("POST", "/register", html(201)), "claude:register/html"},
		{"no client id", registered("client_id", nil), "claude:register/no_client_id"},
		{"no grant types", registered("grant_types", nil), "claude:register/incomplete"},
		{"null for what is not there", registered("logo_uri", json.RawMessage("null")), "claude:register/null"},
		{"another redirect URI", registered("redirect_uris", []string{"https://claude.ai/"}), "claude:register/redirect_changed"},
		{"a secret that nobody asked for", registered("client_secret", "s"), "claude:register/secret!"},
		{"AZ an open redirect", when("GET", "/authorize", away), "claude:authorize.redirect/open_redirect"},
		{"a code without asking", when("GET", "/authorize", away), "claude:authorize.registered/without_asking"},
		{"an error in place of a page", when("GET", "/authorize", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.Query().Get("redirect_uri")+"?error=invalid_scope", http.StatusFound)
		}), "chatgpt:authorize.registered/refused"},
		{"the client document is refused", func(s *site) {
			s.before = func(w http.ResponseWriter, r *http.Request) bool {
				document := strings.HasPrefix(r.URL.Query().Get("client_id"), "https://")
				if document {
					page(w, 400, "This app is not known here")
				}
				return document
			}
		}, "claude:authorize.document/document_refused"},
		{"a refusal on a page", when("GET", "/authorize", html(400)), "codex:authorize.registered/refused"},
		{"no authorization endpoint", when("GET", "/authorize", status(404)), "codex:authorize.registered/missing"},
		{"the authorization endpoint fails", when("GET", "/authorize", status(500)), "codex:authorize.registered/server_error"},
		{"JSON at the authorization endpoint", when("GET", "/authorize", jsonError(200, "x")), "codex:authorize.registered/no_page"},
		{"a plain sign-in page", when("GET", "/authorize", redirect("http://example.com/signin")), "codex:authorize.registered/wrong_public_url"},
		{"redirects in a circle", when("GET", "/authorize", redirect("/authorize")), "codex:authorize.registered/loop"},
		{"Claude's calls are blocked", blocking("Claude-User", ""), "claude:agent.mcp/blocked"},
		{"Claude's discovery is blocked", blocking("python-httpx/0.28.1", ""), "claude:agent.discovery/blocked"},
		{"ChatGPT's calls are blocked", blocking("openai-mcp/1.0.0", "/mcp"), "chatgpt:agent.mcp/blocked"},
		{"ChatGPT's token requests are blocked", blocking("openai-mcp/1.0.0", "/token"), "chatgpt:agent.discovery/blocked"},
	})
}

func TestMCPFaults(t *testing.T) {
	t.Parallel()
	rpc := func(method, body string) func(*site) {
		return func(s *site) {
			s.before = func(w http.ResponseWriter, r *http.Request) bool {
				mine := r.Header.Get("Authorization") == "Bearer "+goodToken && strings.Contains(s.body[len(s.body)-1], `"`+method+`"`)
				if mine {
					w.Header().Set("Content-Type", "application/json")
					_, _ = w.Write([]byte(body))
				}
				return mine
			}
		}
	}
	tool := func(tool string) func(*site) { return rpc("tools/list", `{"result":{"tools":[`+tool+`]}}`) }
	table(t, []fault{
		{"the token is refused", when("POST", "/mcp", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(401) }), "token:mcp.initialize/token_refused"},
		{"a page in place of an answer", rpc("initialize", "<html>"), "token:mcp.initialize/not_rpc"},
		{"an error", rpc("initialize", `{"error":{"code":-32603,"message":"no"}}`), "token:mcp.initialize/rpc_error"},
		{"no version", rpc("initialize", `{"result":{}}`), "token:mcp.initialize/no_version"},
		{"discover without versions", rpc("server/discover", `{"result":{}}`), "token:mcp.discover/no_version"},
		{"no tools", tool(""), "token:mcp.tools/no_tools!"},
		{"a long name", tool(`{"name":"` + strings.Repeat("a", 65) + `","inputSchema":{"type":"object"}}`), "token:mcp.tools/tool_name"},
		{"a choice at the root", tool(`{"name":"a","inputSchema":{"type":"object","oneOf":[]}}`), "token:mcp.tools/tool_schema"},
		{"an output that is a list", tool(`{"name":"a","inputSchema":{"type":"object"},"outputSchema":{"type":"array"}}`), "token:mcp.tools/tool_schema"},
		{"an input that is a list", tool(`{"name":"a","inputSchema":{"type":"array"}}`), "token:mcp.tools/tool_schema"},
		{"a list that is none", rpc("tools/list", `{"result":{"tools":{}}}`), "token:mcp.tools/not_a_list"},
	})
}

type fault struct {
	name  string
	spoil func(*site)
	want  string
}

// table breaks one thing at a time and looks for the finding; a fault never stops the walk or goes without advice.
func table(t *testing.T, faults []fault) {
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(public)
			f.spoil(s)
			o := options(t, s)
			o.Token = goodToken
			r := run(t, o)
			if got := findings(r); !slices.Contains(got, f.want) {
				t.Errorf("want %s, got %v", f.want, got)
			}
			for _, section := range r.Sections {
				for _, step := range section.Steps {
					if step.Finding != "" && (step.Mend == "" || step.Detail == "") {
						t.Errorf("%s/%s does not say what was seen and how to mend it: %+v", step.Check, step.Finding, step)
					}
					if strings.Contains(step.Detail, goodToken) {
						t.Errorf("the token is in the report: %+v", step)
					}
				}
			}
		})
	}
}

func TestConnectionFaults(t *testing.T) {
	t.Parallel()
	lookup := func(addrs ...string) func(*doctor.Options) {
		return func(o *doctor.Options) {
			o.Lookup = func(context.Context, string) ([]netip.Addr, error) {
				var out []netip.Addr
				for _, a := range addrs {
					out = append(out, netip.MustParseAddr(a))
				}
				return out, nil
			}
		}
	}
	for _, f := range []struct {
		name  string
		spoil func(*doctor.Options)
		want  string
	}{
		{"no address", lookup(), "all:address/unresolved"},
		{"the name server fails", func(o *doctor.Options) {
			o.Lookup = func(context.Context, string) ([]netip.Addr, error) { return nil, errors.New("no such host") }
		}, "all:address/unresolved"},
		{"a private address", lookup("192.168.1.5"), "claude:reach/private_address!"},
		{"carrier-grade NAT", lookup("100.64.3.4", "10.1.2.3"), "chatgpt:reach/private_address!"},
		{"a mapped private address", lookup("::ffff:192.168.1.5"), "claude:reach/private_address!"},
		{"IPv6 only", lookup("2001:db8::1"), "claude:reach/ipv6_only!"},
		{"nobody listens", func(o *doctor.Options) {
			o.Dial = func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("connection refused") }
		}, "all:connect/no_answer"},
		{"an expired certificate", func(o *doctor.Options) {
			o.Now = func() time.Time { return time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC) }
		}, "all:certificate/expired"},
		{"a certificate that soon ends", func(o *doctor.Options) {
			o.Now = func() time.Time { return time.Date(2084, 1, 28, 0, 0, 0, 0, time.UTC) }
		}, "all:certificate/expires_soon!"},
		{"a certificate of another name", func(o *doctor.Options) { o.URL = "https://other.test" }, "all:certificate/wrong_name"},
		{"an unknown authority", func(o *doctor.Options) { o.Roots = x509.NewCertPool() }, "all:certificate/untrusted"},
	} {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			o := options(t, newSite(public))
			f.spoil(&o)
			if got := findings(run(t, o)); !slices.Contains(got, f.want) {
				t.Errorf("want %s, got %v", f.want, got)
			}
		})
	}
	t.Run("old TLS", func(t *testing.T) {
		t.Parallel()
		server := httptest.NewUnstartedServer(newSite(public))
		server.TLS = tlsOnly(tls.VersionTLS11)
		server.StartTLS()
		if got := findings(run(t, optionsOf(t, server))); !slices.Equal(got, []string{"all:certificate/old_tls"}) {
			t.Errorf("got %v", got)
		}
	})
	t.Run("the intermediate certificate is not sent", func(t *testing.T) {
		t.Parallel()
		server := httptest.NewUnstartedServer(newSite(public))
		server.TLS = &tls.Config{Certificates: []tls.Certificate{leafAlone(t)}}
		server.StartTLS()
		o := optionsOf(t, server)
		o.Roots = x509.NewCertPool()
		if got := findings(run(t, o)); !slices.Equal(got, []string{"all:certificate/incomplete_chain"}) {
			t.Errorf("got %v", got)
		}
	})
	t.Run("no TLS behind https", func(t *testing.T) {
		t.Parallel()
		if got := findings(run(t, optionsOf(t, httptest.NewServer(newSite(public))))); !slices.Equal(got, []string{"all:certificate/no_tls"}) {
			t.Errorf("got %v", got)
		}
	})
	t.Run("no answer in time", func(t *testing.T) {
		t.Parallel()
		hold := make(chan struct{})
		server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hold }))
		o := optionsOf(t, server)
		t.Cleanup(func() { close(hold) })
		o.Timeout = 100 * time.Millisecond
		if got := findings(run(t, o)); !slices.Equal(got, []string{"all:challenge.post/timeout"}) {
			t.Errorf("got %v", got)
		}
	})
}
