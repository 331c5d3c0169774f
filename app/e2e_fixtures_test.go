package app_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gatehouse/app/apptest"
	"gatehouse/db/dbtest"
)

// realClient is a file of oauth/testdata/clients: what a real client sends or publishes, and how it goes on.
type realClient struct {
	Client             string          `json:"client"`
	Kind               string          `json:"kind"`
	URL                string          `json:"url"`
	Body               json.RawMessage `json:"body"`
	Method             string          `json:"method"`
	AuthorizeRedirects []string        `json:"authorize_redirects"`
	RefusedRedirects   []string        `json:"refused_redirects"`
	KeptRedirects      []string        `json:"kept_redirects"`
	AuthorizeScope     string          `json:"authorize_scope"`
}

func realClients(t *testing.T) map[string]realClient {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(apptest.Root(), "oauth", "testdata", "clients", "*.json"))
	if err != nil || len(files) < 20 {
		t.Fatalf("found %d clients: %v", len(files), err)
	}
	all := map[string]realClient{}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var c realClient
		if err := json.Unmarshal(raw, &c); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all[strings.TrimSuffix(filepath.Base(file), ".json")] = c
	}
	return all
}

// TestRealClientsFromOutside takes every recorded client through registration or document, consent, exchange, tools/list
// and refresh.
func TestRealClientsFromOutside(t *testing.T) {
	t.Parallel()
	clients := realClients(t)
	for _, name := range []string{"sqlite", "postgres"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := fetchSettings(t)
			if name == "postgres" {
				env = append(env, "GATEHOUSE_DATABASE_URL="+dbtest.PostgresURL(t))
			}
			p := apptest.Start(t, env...)
			b := mustSignIn(t, p.AddUser(t, "ada@example.com"), p.URL)
			host := newDocumentHost(t)
			for name, c := range clients {
				t.Run("RC-1 "+name, func(t *testing.T) { c.connect(t, p, b, host, name) })
			}
		})
	}
}

// arrive brings the client in and returns its id and secret.
func (c realClient) arrive(t *testing.T, p *apptest.Program, host *documentHost, name string) (id, secret string) {
	t.Helper()
	if c.Kind == "document" {
		var doc map[string]any
		u, err := url.Parse(c.URL)
		if err == nil {
			err = json.Unmarshal(c.Body, &doc)
		}
		if err != nil {
			t.Fatal(err)
		}
		path := "/" + name + u.EscapedPath()
		doc["client_id"] = host.URL + path
		body, _ := json.Marshal(doc)
		return host.serve(path, jsonPage(string(body))), ""
	}
	a := registerBody(t, p.URL, string(c.Body))
	var made struct {
		ID        string   `json:"client_id"`
		Secret    string   `json:"client_secret"`
		Method    string   `json:"token_endpoint_auth_method"`
		Redirects []string `json:"redirect_uris"`
	}
	if err := json.Unmarshal([]byte(a.body), &made); err != nil || a.status != http.StatusCreated {
		t.Fatalf("DR-1 register: %d %s", a.status, a.body)
	}
	if made.Method != c.Method || (made.Secret == "") != (c.Method == "none") {
		t.Errorf("DR-3 method %q, secret of %d characters; want %q", made.Method, len(made.Secret), c.Method)
	}
	if c.KeptRedirects != nil && !slices.Equal(made.Redirects, c.KeptRedirects) {
		t.Errorf("RU-8 kept %q; want %q", made.Redirects, c.KeptRedirects)
	}
	if a.header.Get("Cache-Control") != "no-store" || strings.Contains(a.body, "null") {
		t.Errorf("DR-1 Cache-Control %q, body %s", a.header.Get("Cache-Control"), a.body)
	}
	return made.ID, made.Secret
}

func (c realClient) connect(t *testing.T, p *apptest.Program, b *apptest.Browser, host *documentHost, name string) {
	id, secret := c.arrive(t, p, host, name)
	var last *apptest.Tokens
	for _, redirect := range c.AuthorizeRedirects {
		for _, post := range c.ways() {
			client := apptest.NewClient(p.URL, id, redirect)
			client.Scope = c.AuthorizeScope
			code, err := client.Code(b)
			if err != nil {
				t.Fatalf("%s: %v", redirect, err)
			}
			last = c.exchange(t, client, secret, post, url.Values{"grant_type": {"authorization_code"}, "code": {code},
				"redirect_uri": {redirect}, "code_verifier": {client.Verifier}, "resource": {p.URL + "/mcp"}})
			if names := toolNames(t, p.URL, last.AccessToken); len(names) < 5 {
				t.Errorf("%s: tools %q", redirect, names)
			}
			if last.RefreshToken == "" || last.Scope == "" || last.ExpiresIn < 600 {
				t.Errorf("TK-3 token answer %+v", last)
			}
			next := c.exchange(t, client, secret, post, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {last.RefreshToken}})
			if rotated := next.RefreshToken != last.RefreshToken && next.RefreshToken != ""; rotated != (c.Method == "none") {
				t.Errorf("RT-2 method %s, rotated %v", c.Method, rotated)
			}
		}
	}
	for _, redirect := range c.RefusedRedirects {
		client := apptest.NewClient(p.URL, id, redirect)
		if page := mustOpen(t, b, client.AuthorizeURL()); !isPage(page, http.StatusBadRequest) {
			t.Errorf("RU-1 %s: %d, Location %q; want a page with 400", redirect, page.Status, page.Header.Get("Location"))
		}
	}
	if c.Kind == "document" && host.count(strings.TrimPrefix(id, host.URL)) != 1 {
		t.Errorf("CI-13 the document was fetched %d times", host.count(strings.TrimPrefix(id, host.URL)))
	}
}

// ways are the places where the client may put its secret: a client that did not say may use either.
func (c realClient) ways() []bool {
	var said struct {
		Method string `json:"token_endpoint_auth_method"`
	}
	_ = json.Unmarshal(c.Body, &said)
	switch {
	case c.Method == "none" || c.Method == "client_secret_post":
		return []bool{true}
	case said.Method == "":
		return []bool{false, true}
	}
	return []bool{false}
}

// exchange makes a token request that must work, with the secret in the body or in Basic as the SDKs send it.
func (c realClient) exchange(t *testing.T, client *apptest.Client, secret string, post bool, form url.Values) *apptest.Tokens {
	t.Helper()
	var fields []string
	switch {
	case secret == "" || post:
		form.Set("client_id", client.ID)
		form.Set("client_secret", secret) // an empty one counts as absent
	default:
		fields = []string{"Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(client.ID+":"+secret))}
	}
	a := sendForm(t, client.Base+"/token", form, fields...)
	var tokens apptest.Tokens
	if err := json.Unmarshal([]byte(a.body), &tokens); err != nil || a.status != http.StatusOK {
		t.Fatalf("%s: %d %s", form.Get("grant_type"), a.status, a.body)
	}
	return &tokens
}
