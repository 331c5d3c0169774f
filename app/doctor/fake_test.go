package doctor_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"io"
	"log"
	"maps"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"gatehouse/app/doctor"
)

// site is a server that does everything right until a test breaks one thing.
type site struct {
	mu sync.Mutex
	// base is its public URL; documents are built from it.
	base string
	// resource, server and registered are the documents' members.
	resource, server, registered map[string]any
	// challenge is the value without a token; bad that with a bad one.
	challenge, bad string
	// before may answer in the place of the right handler; it then returns true.
	before func(w http.ResponseWriter, r *http.Request) bool
	// seen are the requests that arrived.
	seen []*http.Request
	body []string
}

const goodToken = "good-token"

func newSite(base string) *site {
	s := &site{base: base}
	s.resource = map[string]any{"resource": base + "/mcp", "authorization_servers": []string{base}, "scopes_supported": []string{"read"}, "bearer_methods_supported": []string{"header"}}
	s.server = map[string]any{
		"issuer": base, "authorization_endpoint": base + "/authorize", "token_endpoint": base + "/token", "registration_endpoint": base + "/register",
		"response_types_supported": []string{"code"}, "grant_types_supported": []string{"authorization_code", "refresh_token"},
		"code_challenge_methods_supported": []string{"S256"}, "token_endpoint_auth_methods_supported": []string{"none"},
		"authorization_response_iss_parameter_supported": true, "client_id_metadata_document_supported": true, "scopes_supported": []string{"read", "offline_access"},
		"jwks_uri": base + "/jwks", "subject_types_supported": []string{"public"}, "id_token_signing_alg_values_supported": []string{"ES256"},
	}
	s.registered = map[string]any{}
	link := `resource_metadata="` + base + `/.well-known/oauth-protected-resource/mcp", scope="read"`
	s.challenge, s.bad = "Bearer "+link, `Bearer error="invalid_token", `+link
	return s
}

func sendJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func page(w http.ResponseWriter, status int, title string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte("<!doctype html><title>" + title + "</title>"))
}

// ServeHTTP implements http.Handler.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var body strings.Builder
	buf := make([]byte, 64<<10)
	for {
		n, err := r.Body.Read(buf)
		body.Write(buf[:n])
		if err != nil {
			break
		}
	}
	s.seen, s.body = append(s.seen, r), append(s.body, body.String())
	w.Header().Set("Access-Control-Allow-Origin", "*")
	w.Header().Set("Access-Control-Allow-Headers", "Authorization, Content-Type, MCP-Protocol-Version")
	if s.before != nil && s.before(w, r) {
		return
	}
	if r.Method == http.MethodOptions {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	switch strings.TrimSuffix(r.URL.Path, "/") {
	case "/mcp":
		s.mcp(w, r, body.String())
	case "/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp":
		sendJSON(w, 200, s.resource)
	case "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration":
		sendJSON(w, 200, s.server)
	case "/register":
		s.register(w, body.String())
	case "/authorize":
		if r.URL.Query().Get("redirect_uri") == "https://gatehouse-doctor.invalid/callback" {
			page(w, 400, "Wrong address")
			return
		}
		http.SetCookie(w, &http.Cookie{Name: "request", Value: "1"})
		http.Redirect(w, r, "/signin", http.StatusSeeOther)
	case "/signin":
		if c, err := r.Cookie("request"); err != nil || c.Value != "1" {
			page(w, 400, "No cookie")
			return
		}
		page(w, 200, "Sign in")
	case "/token":
		s.token(w, body.String())
	default:
		sendJSON(w, 404, map[string]string{"error": "invalid_request"})
	}
}

func (s *site) token(w http.ResponseWriter, body string) {
	switch {
	case strings.Contains(body, "client_id=known"):
		sendJSON(w, 400, map[string]string{"error": "invalid_grant"})
	case strings.Contains(body, "client_id="):
		sendJSON(w, 401, map[string]string{"error": "invalid_client"})
	default:
		sendJSON(w, 400, map[string]string{"error": "invalid_request"})
	}
}

// register answers with what was sent, an id, and what the test adds; a nil removes a member.
func (s *site) register(w http.ResponseWriter, body string) {
	answer := map[string]any{}
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		sendJSON(w, 400, map[string]string{"error": "invalid_client_metadata"})
		return
	}
	answer["client_id"] = "known"
	maps.Copy(answer, s.registered)
	for name, value := range answer {
		if value == nil {
			delete(answer, name)
		}
	}
	sendJSON(w, 201, answer)
}

func (s *site) mcp(w http.ResponseWriter, r *http.Request, body string) {
	switch token := r.Header.Get("Authorization"); {
	case token == "":
		w.Header().Set("WWW-Authenticate", s.challenge)
		w.WriteHeader(401)
		return
	case token != "Bearer "+goodToken:
		w.Header().Set("WWW-Authenticate", s.bad)
		w.WriteHeader(401)
		return
	}
	rpc := func(result string) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"jsonrpc":"2.0","id":1,"result":` + result + `}`))
	}
	switch {
	case strings.Contains(body, `"initialize"`):
		rpc(`{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"site","version":"1"}}`)
	case strings.Contains(body, `"notifications/initialized"`):
		w.WriteHeader(202)
	case strings.Contains(body, `"server/discover"`):
		rpc(`{"supportedVersions":["2026-07-28"],"capabilities":{}}`)
	case strings.Contains(body, `"tools/list"`):
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write([]byte("event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":[{\"name\":\"a\",\"inputSchema\":{\"type\":\"object\"}}]}}\n\n"))
	case strings.Contains(body, `"subscriptions/listen"`):
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write([]byte("data: {}\n\n"))
	default:
		w.WriteHeader(400)
	}
}

// public is an https address that the site is reached by in tests; the certificate of httptest is made for it.
const public = "https://example.com"

// options look at a site under a public https name.
func options(t *testing.T, s *site) doctor.Options {
	t.Helper()
	server := httptest.NewUnstartedServer(s)
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // plain requests to the TLS port are part of the tests
	server.StartTLS()
	return optionsOf(t, server)
}

func optionsOf(t *testing.T, server *httptest.Server) doctor.Options {
	t.Helper()
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	if server.Certificate() != nil {
		roots.AddCert(server.Certificate())
	}
	return doctor.Options{
		URL: public, As: "all", Register: true, Version: "test", Now: time.Now, Rand: rand.Reader, Roots: roots, Timeout: 2 * time.Second,
		Lookup: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("203.0.113.5")}, nil
		},
		Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, server.Listener.Addr().String())
		},
	}
}

func run(t *testing.T, o doctor.Options) *doctor.Report {
	t.Helper()
	r, err := doctor.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// findings are the faults of a report, as section:check/finding, with ! behind a warning.
func findings(r *doctor.Report) []string {
	var out []string
	for _, section := range r.Sections {
		for _, s := range section.Steps {
			if s.Finding == "" {
				continue
			}
			text := section.As + ":" + s.Check + "/" + s.Finding
			if s.Status == doctor.Warning {
				text += "!"
			}
			out = append(out, text)
		}
	}
	return out
}

func tlsOnly(version uint16) *tls.Config {
	return &tls.Config{MinVersion: version, MaxVersion: version}
}

// leafAlone is a certificate of an authority that is not sent along with it.
func leafAlone(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	authority := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Intermediate"}}
	leaf := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "example.com"}, DNSNames: []string{"example.com"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(90 * 24 * time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, leaf, authority, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}
