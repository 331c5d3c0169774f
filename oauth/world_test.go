package oauth_test

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gatehouse/oauth"
	"gatehouse/oauth/oauthtest"
)

const (
	issuer       = "https://auth.example"
	mainResource = issuer + "/mcp"
	sideResource = issuer + "/c/side/mcp"

	publicClient = "gc_public"       // registered itself
	secretClient = "gc_confidential" // entered by an administrator, with a secret
	documentURL  = "https://app.example/client.json"
	clientSecret = "gts_secret"

	redirectURI = "https://app.example/cb?keep=1"
	verifier    = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk" // RFC 7636 Appendix B
)

func challengeOf(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// world is a whole server on the memory store, with a person and three clients.
type world struct {
	*oauth.Server
	t      testing.TB
	cfg    oauth.Config
	store  *oauthtest.Memory
	clock  *oauthtest.Clock
	person oauth.ResourceOwner

	mu    sync.Mutex
	steps []oauth.Step
}

func newWorld(t testing.TB, change ...func(*oauth.Config)) *world {
	t.Helper()
	w := &world{t: t, store: oauthtest.NewMemory(), clock: oauthtest.NewClock()}
	w.cfg = oauth.Config{
		Issuer: issuer,
		Resources: []oauth.Resource{
			{URI: mainResource, Name: "Main", Scopes: []oauth.Scope{
				{Name: "read", Baseline: true}, {Name: "write", Implies: []string{"read"}}, {Name: "extra"},
			}},
			{URI: sideResource, Name: "Side", Scopes: []oauth.Scope{{Name: "side:read", Baseline: true}}},
		},
		DynamicRegistration: true,
		ClientDocuments:     true,
		Fetch:               noFetch{},
		Sealer:              oauthtest.NewSealer("key"),
		Observe:             w.note,
		Now:                 w.clock.Now,
		Rand:                rand.Reader,
	}
	for _, c := range change {
		c(&w.cfg)
	}
	w.Server = w.another()
	w.store.AddUser("alice")
	w.person = oauth.ResourceOwner{UserID: "alice", AuthTime: w.clock.Now().Add(-time.Hour)}
	for _, c := range []*oauth.Client{
		{ID: publicClient, Kind: oauth.ClientDynamic, AuthMethods: []string{oauth.AuthNone}, RedirectURIs: []string{redirectURI, "http://127.0.0.1/cb"}},
		{ID: secretClient, Kind: oauth.ClientRegistered, AuthMethods: []string{oauth.AuthPost}, SecretHash: oauth.HashSecret(clientSecret), RedirectURIs: []string{redirectURI}},
		{ID: documentURL, Kind: oauth.ClientDocument, Host: "app.example", AuthMethods: []string{oauth.AuthNone}, RedirectURIs: []string{redirectURI, "com.example.app:/cb"},
			Document: &oauth.DocumentState{FetchedAt: w.clock.Now(), FreshUntil: w.clock.Now().Add(24 * time.Hour)}},
	} {
		c.GrantTypes, c.ResponseTypes = []string{oauth.GrantAuthorizationCode}, []string{"code"}
		c.CreatedAt, c.LastSeenAt = w.clock.Now(), w.clock.Now()
		w.saveClient(c)
	}
	return w
}

// another is one more process on the same stores.
func (w *world) another() *oauth.Server {
	w.t.Helper()
	s, err := oauth.New(w.cfg, w.store.Stores())
	must(w.t, err)
	must(w.t, s.EnsureKeys(w.t.Context()))
	return s
}

func (w *world) saveClient(c *oauth.Client) {
	w.t.Helper()
	must(w.t, w.store.SaveClient(w.t.Context(), c))
}

func (w *world) note(_ context.Context, s oauth.Step) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.steps = append(w.steps, s)
}

// lastStep returns the newest step of this name.
func (w *world) lastStep(name string) (oauth.Step, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range slices.Backward(w.steps) {
		if s.Name == name {
			return s, true
		}
	}
	return oauth.Step{}, false
}

type noFetch struct{}

func (noFetch) FetchDocument(context.Context, string, string) (*oauth.FetchedDocument, error) {
	return nil, errors.New("no network in this test")
}

func (noFetch) FetchKeySet(context.Context, string) (*oauth.FetchedDocument, error) {
	return nil, errors.New("no network in this test")
}

// authorizeForm is a good authorization request; changes are pairs of name and value, "-" takes a parameter out.
func authorizeForm(client string, changes ...string) url.Values {
	form := url.Values{
		"response_type": {"code"}, "client_id": {client}, "redirect_uri": {redirectURI}, "state": {"st"},
		"code_challenge": {challengeOf(verifier)}, "code_challenge_method": {"S256"},
	}
	return changed(form, changes)
}

func changed(form url.Values, changes []string) url.Values {
	for i := 0; i < len(changes); i += 2 {
		if changes[i+1] == "-" {
			form.Del(changes[i])
		} else {
			form.Set(changes[i], changes[i+1])
		}
	}
	return form
}

// begin stores a request and returns its id.
func (w *world) begin(form url.Values) string {
	w.t.Helper()
	request, err := w.BeginAuthorization(w.t.Context(), form, true)
	must(w.t, err)
	return request.ID
}

// approve has alice allow the scopes and returns the code.
func (w *world) approve(client string, scopes []string, changes ...string) string {
	w.t.Helper()
	return w.approveWith(authorizeForm(client, changes...), oauth.Decision{Allow: true, Scopes: scopes})
}

func (w *world) approveWith(form url.Values, d oauth.Decision) string {
	w.t.Helper()
	answer, err := w.Decide(w.t.Context(), w.begin(form), w.person, d)
	must(w.t, err)
	return query(w.t, answer.RedirectURI).Get("code")
}

func query(t testing.TB, location string) url.Values {
	t.Helper()
	u, err := url.Parse(location)
	must(t, err)
	return u.Query()
}

func authOf(client string) oauth.ClientAuthentication {
	auth := oauth.ClientAuthentication{ClientID: client}
	if client == secretClient {
		auth.ClientSecret, auth.HasSecret = clientSecret, true
	}
	return auth
}

// exchange redeems a code.
func (w *world) exchange(client, code string, changes ...string) (*oauth.TokenResponse, error) {
	w.t.Helper()
	form := url.Values{"grant_type": {"authorization_code"}, "code": {code}, "code_verifier": {verifier}, "redirect_uri": {redirectURI}}
	return w.Token(w.t.Context(), changed(form, changes), authOf(client))
}

// refresh uses a refresh token.
func (w *world) refresh(client, token string, changes ...string) (*oauth.TokenResponse, error) {
	w.t.Helper()
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {token}}
	return w.Token(w.t.Context(), changed(form, changes), authOf(client))
}

// connect goes from approval to tokens.
func (w *world) connect(client string, scopes ...string) *oauth.TokenResponse {
	w.t.Helper()
	asked := strings.Join(scopes, " ")
	if asked == "" {
		scopes = []string{"read"}
	}
	response, err := w.exchange(client, w.approve(client, scopes, "scope", asked))
	must(w.t, err)
	return response
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// shown asserts an error for the page or the JSON body and returns it.
func shown(t *testing.T, err error, code string) *oauth.Error {
	t.Helper()
	if toClient := (*oauth.RedirectError)(nil); errors.As(err, &toClient) {
		t.Fatalf("error goes to the client: %v", err)
	}
	var e *oauth.Error
	if !errors.As(err, &e) {
		t.Fatalf("error is %v, want %s", err, code)
	}
	if e.Code != code {
		t.Fatalf("error is %v, want %s", err, code)
	}
	return e
}

// sent asserts an error that goes to the client and returns it.
func sent(t *testing.T, err error, code string) *oauth.RedirectError {
	t.Helper()
	var e *oauth.RedirectError
	if !errors.As(err, &e) {
		t.Fatalf("error is %v, want a redirect with %s", err, code)
	}
	if e.Err.Code != code {
		t.Fatalf("error is %v, want %s", err, code)
	}
	return e
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}
