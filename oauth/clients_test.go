package oauth

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// clientFixture is one file of testdata/clients: what a real client sends or publishes, and what must come of it.
type clientFixture struct {
	Client string          `json:"client"`
	Kind   string          `json:"kind"` // registration or document
	URL    string          `json:"url"`  // of a document
	Body   json.RawMessage `json:"body"`
	Method string          `json:"method"` // the token endpoint authentication that must come out
	// AuthorizeRedirects must be accepted at the authorization endpoint, RefusedRedirects refused.
	AuthorizeRedirects []string `json:"authorize_redirects"`
	RefusedRedirects   []string `json:"refused_redirects"`
	// KeptRedirects is the registered list if it is shorter than what was sent.
	KeptRedirects []string `json:"kept_redirects"`
	// AuthorizeScope is the scope value the client then asks for.
	AuthorizeScope string `json:"authorize_scope"`
}

func readClientFixtures(t *testing.T) map[string]clientFixture {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "clients", "*.json"))
	if err != nil || len(files) < 20 {
		t.Fatalf("found %d fixtures, %v", len(files), err)
	}
	fixtures := map[string]clientFixture{}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var f clientFixture
		d := json.NewDecoder(strings.NewReader(string(raw)))
		d.DisallowUnknownFields()
		if err := d.Decode(&f); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		fixtures[strings.TrimSuffix(filepath.Base(file), ".json")] = f
	}
	return fixtures
}

// accept brings the client in by its own way and returns it as the authorization endpoint finds it, with its secret.
func (f clientFixture) accept(t *testing.T, lab *clientLab) (*Client, string) {
	t.Helper()
	id, secret := f.URL, ""
	switch f.Kind {
	case "document":
		lab.fetcher.serve(f.URL, string(f.Body))
	case "registration":
		r, err := lab.Register(context.Background(), f.Body)
		if err != nil {
			t.Fatal(err)
		}
		id, secret = r.ClientID, r.ClientSecret
		if r.TokenEndpointAuthMethod != f.Method {
			t.Errorf("answered method %q, want %q", r.TokenEndpointAuthMethod, f.Method)
		}
	default:
		t.Fatalf("kind %q", f.Kind)
	}
	c, err := lab.lookupClient(context.Background(), id, true)
	if err != nil {
		t.Fatal(err)
	}
	return c, secret
}

// TestRealClients runs the registrations and documents of real clients.
func TestRealClients(t *testing.T) {
	t.Parallel()
	for name, f := range readClientFixtures(t) {
		t.Run("RC-1 "+name, func(t *testing.T) {
			t.Parallel()
			lab := newClientLab(t)
			c, secret := f.accept(t, lab)
			var sent struct {
				Name      string   `json:"client_name"`
				Redirects []string `json:"redirect_uris"`
			}
			if err := json.Unmarshal(f.Body, &sent); err != nil {
				t.Fatal(err)
			}
			kept := f.KeptRedirects
			if kept == nil {
				kept = sent.Redirects
			}
			if !slices.Equal(c.RedirectURIs, kept) {
				t.Errorf("redirect URIs %q, want %q", c.RedirectURIs, kept)
			}
			if c.Name != sent.Name || c.AuthMethods[0] != f.Method {
				t.Errorf("name %q, methods %q", c.Name, c.AuthMethods)
			}
			if signs := strings.Contains(string(f.Body), AuthPrivateKeyJWT); signs != slices.Contains(c.AuthMethods, AuthPrivateKeyJWT) {
				t.Errorf("CI-9 methods %q", c.AuthMethods)
			}
			if !c.HasGrantType(GrantAuthorizationCode) || !c.HasGrantType(GrantRefreshToken) || slices.ContainsFunc(c.GrantTypes, func(g string) bool { return strings.HasPrefix(g, "urn:") }) {
				t.Errorf("grants %q", c.GrantTypes)
			}
			for _, uri := range f.AuthorizeRedirects {
				if chosen, err := selectRedirectURI(c, uri); err != nil || chosen != uri {
					t.Errorf("authorize with %q: %q, %v", uri, chosen, err)
				}
			}
			for _, uri := range f.RefusedRedirects {
				if _, err := selectRedirectURI(c, uri); err == nil {
					t.Errorf("authorize with %q was accepted", uri)
				}
			}
			if len(f.AuthorizeRedirects) == 0 {
				t.Error("the fixture authorizes nothing")
			}
			for _, in := range f.authentications(c.ID, secret) {
				if got, err := lab.AuthenticateClient(context.Background(), in); err != nil || got.ID != c.ID {
					t.Errorf("authenticate %+v: %v", in.HasAuthorization, err)
				}
			}
		})
	}
}

// authentications are the ways in which the client may come to the token endpoint.
func (f clientFixture) authentications(id, secret string) []ClientAuthentication {
	var body struct {
		Method string `json:"token_endpoint_auth_method"`
	}
	if err := json.Unmarshal(f.Body, &body); err != nil {
		return nil
	}
	switch {
	case f.Method == AuthNone:
		return []ClientAuthentication{onlyID(id)}
	case body.Method == "":
		return []ClientAuthentication{basic(id, secret), post(id, secret)}
	case f.Method == AuthPost:
		return []ClientAuthentication{post(id, secret)}
	default:
		return []ClientAuthentication{basic(id, secret)}
	}
}
