package app_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/html"

	"gatehouse/app/apptest"
)

// plainHTTP follows no redirects and carries no cookies.
var plainHTTP = &http.Client{Timeout: 30 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// rawAnswer is an answer as it came.
type rawAnswer struct {
	status int
	header http.Header
	body   string
}

// send makes one request. Fields are "Name: value"; a name that comes twice is sent twice.
func send(t testing.TB, method, address, body string, fields ...string) *rawAnswer {
	t.Helper()
	return sendBy(t, plainHTTP, method, address, strings.NewReader(body), fields...)
}

func sendBy(t testing.TB, client *http.Client, method, address string, body io.Reader, fields ...string) *rawAnswer {
	t.Helper()
	req, err := http.NewRequest(method, address, body)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range fields {
		name, value, _ := strings.Cut(f, ": ")
		if name == "Host" {
			req.Host = value
			continue
		}
		req.Header.Add(name, value)
	}
	res, err := client.Do(req)
	if err != nil {
		t.Fatalf("%s %s: %v", method, req.URL.Path, err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("%s %s: %v", method, req.URL.Path, err)
	}
	return &rawAnswer{res.StatusCode, res.Header, string(text)}
}

// sendForm posts a form.
func sendForm(t testing.TB, address string, form url.Values, fields ...string) *rawAnswer {
	t.Helper()
	return send(t, http.MethodPost, address, form.Encode(), append(fields, "Content-Type: application/x-www-form-urlencoded")...)
}

// code is the error code of an OAuth answer, which must be JSON, uncached, and within the characters of RFC 6749 §5.2.
func (a *rawAnswer) code(t testing.TB) string {
	t.Helper()
	var e struct {
		Error       *string `json:"error"`
		Description string  `json:"error_description"`
	}
	if err := json.Unmarshal([]byte(a.body), &e); err != nil || e.Error == nil {
		t.Errorf("X-9 not an OAuth error (%d %s): %.200q", a.status, a.header.Get("Content-Type"), a.body)
		return ""
	}
	if media := a.header.Get("Content-Type"); !strings.HasPrefix(media, "application/json") {
		t.Errorf("X-9 an error of type %q", media)
	}
	if a.header.Get("Cache-Control") != "no-store" {
		t.Errorf("X-8 an error with Cache-Control %q", a.header.Get("Cache-Control"))
	}
	for _, c := range []byte(*e.Error + e.Description) {
		if c < 0x20 || c > 0x7e || c == '"' || c == '\\' {
			t.Errorf("X-7 the byte %#x in %q %q", c, *e.Error, e.Description)
		}
	}
	return *e.Error
}

// isPage reports whether the answer is a page for people that sends nobody anywhere.
func isPage(p *apptest.Page, status int) bool {
	return p.Status == status && p.Header.Get("Location") == "" && strings.HasPrefix(p.Header.Get("Content-Type"), "text/html") && strings.Contains(p.Body, "<h1")
}

// withQuery replaces parameters of an address; a value "-" takes the parameter away.
func withQuery(t testing.TB, address string, pairs ...string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] == "-" {
			q.Del(pairs[i])
			continue
		}
		q.Set(pairs[i], pairs[i+1])
	}
	u.RawQuery = q.Encode()
	return u.String()
}

// mustGet fetches a page as the browser does, without following redirects.
func mustGet(t testing.TB, b *apptest.Browser, address string) *apptest.Page {
	t.Helper()
	page, err := b.Step(address, nil)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// mustOpen fetches a page, following redirects within the server.
func mustOpen(t testing.TB, b *apptest.Browser, address string) *apptest.Page {
	t.Helper()
	page, err := b.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// mustPost submits a form without following redirects.
func mustPost(t testing.TB, b *apptest.Browser, f *apptest.Form) *apptest.Page {
	t.Helper()
	if f == nil {
		t.Fatal("the form is not on the page")
	}
	page, err := b.Step(f.Action, f.Values)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// mustSubmit submits a form and follows redirects within the server.
func mustSubmit(t testing.TB, b *apptest.Browser, f *apptest.Form) *apptest.Page {
	t.Helper()
	if f == nil {
		t.Fatal("the form is not on the page")
	}
	page, err := b.Post(f.Action, f.Values)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// consentForm opens an authorization request of a signed-in person and returns the form of the consent page.
func consentForm(t testing.TB, b *apptest.Browser, address string) *apptest.Form {
	t.Helper()
	page := mustOpen(t, b, address)
	f := page.Form("decision")
	if f == nil {
		t.Fatalf("no consent page at %s (%d): %s", page.URL.Path, page.Status, page.Text())
	}
	f.Tick("scope", nil)
	f.Tick("location", nil)
	f.Values.Set("decision", "allow")
	return f
}

func mustSignIn(t testing.TB, b *apptest.Browser, base string) *apptest.Browser {
	t.Helper()
	if err := b.SignIn(base); err != nil {
		t.Fatal(err)
	}
	return b
}

// mustCall calls /mcp.
func mustCall(t testing.TB, base, token, method, params string) *apptest.RPC {
	t.Helper()
	r, err := apptest.Call(base, token, method, params)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// mustTool calls a tool that must work and returns the text of its answer.
func mustTool(t testing.TB, base, token, name, arguments string) string {
	t.Helper()
	text, isError, err := apptest.CallTool(base, token, name, arguments)
	if err != nil || isError {
		t.Fatalf("%s: %v %s", name, err, text)
	}
	return text
}

// toolNames lists the tools that a token is shown.
func toolNames(t testing.TB, base, token string) []string {
	t.Helper()
	r := mustCall(t, base, token, "tools/list", "")
	var list struct {
		Tools []struct {
			Name string `json:"name"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(r.Result, &list); err != nil || r.Status != http.StatusOK {
		t.Fatalf("tools/list: %d %s", r.Status, r.Body)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	return names
}

// segments decodes header and claims of a JWT without looking at its signature.
func segments(t testing.TB, token string) (header, claims map[string]any) {
	t.Helper()
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		t.Fatalf("not a JWT: %d parts", len(parts))
	}
	for i, into := range []*map[string]any{&header, &claims} {
		raw, err := base64.RawURLEncoding.DecodeString(parts[i])
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(raw, into); err != nil {
			t.Fatal(err)
		}
	}
	return header, claims
}

// registerBody registers a client and returns the answer.
func registerBody(t testing.TB, base, body string) *rawAnswer {
	t.Helper()
	return send(t, http.MethodPost, base+"/register", body, "Content-Type: application/json")
}

// registerURIs registers a public client with these redirect URIs, which must be accepted.
func registerURIs(t testing.TB, base string, uris ...string) *apptest.Client {
	t.Helper()
	body, err := json.Marshal(map[string]any{"client_name": "Test client", "redirect_uris": uris, "token_endpoint_auth_method": "none"})
	if err != nil {
		t.Fatal(err)
	}
	a := registerBody(t, base, string(body))
	var made struct {
		ID string `json:"client_id"`
	}
	if err := json.Unmarshal([]byte(a.body), &made); err != nil || a.status != http.StatusCreated {
		t.Fatalf("register %q: %d %s", uris, a.status, a.body)
	}
	return apptest.NewClient(base, made.ID, uris[0])
}

// enteredClient enters a client as the administrator does, for whose target somebody vouches.
func enteredClient(t testing.TB, p *apptest.Program, redirects ...string) *apptest.Client {
	t.Helper()
	args := []string{"client", "add", "--json", "--name", "Entered client"}
	for _, r := range redirects {
		args = append(args, "--redirect-uri", r)
	}
	var made struct {
		ID string `json:"client_id"`
	}
	runJSON(t, p, &made, args...)
	return apptest.NewClient(p.URL, made.ID, redirects[0])
}

// runJSON runs a subcommand and decodes what it prints.
func runJSON(t testing.TB, p *apptest.Program, into any, args ...string) {
	t.Helper()
	out, err := p.Run("", args...)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(out), into); err != nil {
		t.Fatalf("%v: %v: %s", args, err, out)
	}
}

// elements lists the elements of a page, with their attributes' names, in order.
func elements(p *apptest.Page) []string {
	var out []string
	for n := range p.Doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		var names []string
		for _, a := range n.Attr {
			names = append(names, a.Key)
		}
		out = append(out, n.Data+" "+strings.Join(names, ","))
	}
	return out
}

// Certificates of the test's own authority for the name localhost.
var localhostCertificate = sync.OnceValues(func() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "test"}, DNSNames: []string{"localhost", "home.example"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}, NotBefore: time.Now().Add(-240 * time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
})

// caFile writes the authority's certificate to a file.
func caFile(t testing.TB) string {
	t.Helper()
	cert, err := localhostCertificate()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Certificate[0]}), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// tlsServer serves over TLS as localhost and returns its address.
func tlsServer(t testing.TB, handler http.Handler) (*httptest.Server, string) {
	t.Helper()
	cert, err := localhostCertificate()
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(handler)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
	s.Config.ErrorLog = quietLog
	s.StartTLS()
	t.Cleanup(s.Close)
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return s, "https://localhost:" + port
}

// documentHost serves client metadata documents.
type documentHost struct {
	URL string

	server *httptest.Server
	mu     sync.Mutex
	pages  map[string]http.HandlerFunc
	hits   map[string]int
}

func newDocumentHost(t testing.TB) *documentHost {
	t.Helper()
	d := &documentHost{pages: map[string]http.HandlerFunc{}, hits: map[string]int{}}
	d.server, d.URL = tlsServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.mu.Lock()
		page := d.pages[r.URL.Path]
		d.hits[r.URL.Path]++
		d.mu.Unlock()
		if page == nil {
			http.NotFound(w, r)
			return
		}
		page(w, r)
	}))
	return d
}

// serve answers at a path and returns the address.
func (d *documentHost) serve(path string, page http.HandlerFunc) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pages[path] = page
	return d.URL + path
}

// publish serves a document. Members of base are replaced by those of change; a nil member is left out.
func (d *documentHost) publish(path string, change map[string]any) string {
	doc := map[string]any{"client_id": d.URL + path, "client_name": "Documented app", "redirect_uris": []string{callback}, "token_endpoint_auth_method": "none"}
	for k, v := range change {
		if doc[k] = v; v == nil {
			delete(doc, k)
		}
	}
	body, _ := json.Marshal(doc)
	return d.serve(path, jsonPage(string(body)))
}

func jsonPage(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, body)
	}
}

func (d *documentHost) count(path string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.hits[path]
}

// fetchSettings let a program on loopback fetch documents from this computer.
func fetchSettings(t testing.TB) []string {
	return []string{"GATEHOUSE_FETCH_ALLOW=127.0.0.0/8,::1", "GATEHOUSE_FETCH_CA_FILE=" + caFile(t)}
}

// behindTLS starts a program with a public https URL and a proxy before it that ends TLS. The client reaches it.
func behindTLS(t *testing.T, env ...string) (*apptest.Program, *http.Client) {
	t.Helper()
	const public = "https://home.example"
	p := apptest.Start(t, append([]string{"GATEHOUSE_PUBLIC_URL=" + public}, env...)...)
	target := &url.URL{Scheme: "http", Host: p.Bound(t)}
	proxy, _ := tlsServer(t, &httputil.ReverseProxy{ErrorLog: quietLog, Rewrite: func(pr *httputil.ProxyRequest) {
		pr.SetURL(target)
		pr.Out.Host = pr.In.Host
		pr.SetXForwarded()
	}})
	roots := x509.NewCertPool()
	cert, err := localhostCertificate()
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(cert.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	roots.AddCert(leaf)
	address := proxy.Listener.Addr().String()
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, DialContext: dialAlways(address)}
	t.Cleanup(transport.CloseIdleConnections)
	return p, &http.Client{Timeout: 30 * time.Second, Transport: transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

var quietLog = log.New(io.Discard, "", 0)

// dialAlways connects to one address, whatever was asked for.
func dialAlways(address string) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}
}

// contains names the words that are in the text.
func contains(text string, words ...string) string {
	var found []string
	for _, w := range words {
		if w != "" && strings.Contains(text, w) {
			found = append(found, w)
		}
	}
	return strings.Join(found, ", ")
}
