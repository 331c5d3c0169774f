package web_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"golang.org/x/net/html"

	"gatehouse/app/account"
	"gatehouse/app/audit"
	"gatehouse/app/connection"
	"gatehouse/app/home"
	"gatehouse/app/limit"
	"gatehouse/app/policy"
	"gatehouse/app/trust"
	"gatehouse/oauth"
	"gatehouse/oauth/oauthtest"
	"gatehouse/web"
)

const (
	callback = "http://127.0.0.1:7780/callback"
	verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
)

// site is the handlers over the real authorization server in memory.
type site struct {
	url         string
	clock       *oauthtest.Clock
	memory      *oauthtest.Memory
	accounts    *fakeAccounts
	connections *fakeConnections
	activity    *fakeActivity
	things      *fakeThings
	events      *events
	audit       *fakeAudit
	clients     *fakeClients
	steps       *[]oauth.Step
	policies    *policy.Service
	logos       *fakeLogos
	documents   *fakeDocuments
	log         *bytes.Buffer
	handler     http.Handler
}

type option func(*web.Deps, *string)

func at(publicURL string) option { return func(_ *web.Deps, u *string) { *u = publicURL } }
func off(d *web.Deps, _ *string) { d.OAuthOn = false }

func newSite(t *testing.T, options ...option) *site {
	t.Helper()
	s := &site{url: "https://home.example", clock: oauthtest.NewClock(), memory: oauthtest.NewMemory(), connections: &fakeConnections{}, things: &fakeThings{}, activity: &fakeActivity{}, events: &events{}, log: &bytes.Buffer{}, steps: &[]oauth.Step{}}
	deps := web.Deps{OAuthOn: true}
	for _, o := range options {
		o(&deps, &s.url)
	}
	s.accounts = &fakeAccounts{now: s.clock.Now, password: map[string]string{email: password, "bob@example.org": password, adminEmail: password}, sessions: map[string]*account.Session{}}
	s.memory.AddUser("user " + email)
	s.memory.AddUser("user bob@example.org")
	s.policies = policy.New(policy.Config{Store: &fakePolicy{memory: s.memory}, Now: s.clock.Now, Rand: rand.Reader, Defaults: policy.Policy{Registration: oauth.RegistrationOpen}})
	s.logos, s.documents = &fakeLogos{}, &fakeDocuments{byURL: map[string]string{}}
	deps.Policies, deps.Logos = s.policies, s.logos
	deps.ClientSettings = &connection.ClientSettings{Store: clientStore{s.memory}, Now: s.clock.Now}
	limiter := limit.New(limit.Config{Now: s.clock.Now})
	var observing sync.Mutex // parallel subtests share a site
	server, err := oauth.New(oauth.Config{
		Issuer: s.url, DynamicRegistration: true, OpenID: true, ACRValues: account.Strengths(), DeviceKey: []byte("device key"), Policy: s.policies.OAuth, Fetch: s.documents, Limit: func(ctx context.Context, id string, perMinute int, _ bool) error {
			spec := limit.OAuthClient
			if perMinute > 0 {
				spec.Budget = perMinute
			}
			r, err := limiter.Take(ctx, spec, id)
			if err == nil && !r.Allowed {
				return oauth.SlowDown(r.Reset)
			}
			return err
		}, Sealer: oauthtest.NewSealer("test"), Now: s.clock.Now, Rand: rand.Reader,
		Observe: func(_ context.Context, step oauth.Step) {
			observing.Lock()
			defer observing.Unlock()
			*s.steps = append(*s.steps, step)
		},
		Resources: []oauth.Resource{{URI: s.url + "/mcp", Name: "Gatehouse", Scopes: []oauth.Scope{
			{Name: home.ScopeRead, Baseline: true}, {Name: home.ScopeWrite, Implies: []string{home.ScopeRead}},
		}}},
	}, s.memory.Stores())
	if err != nil {
		t.Fatal(err)
	}
	if err := server.EnsureKeys(t.Context()); err != nil {
		t.Fatal(err)
	}
	located := func(string) bool { return true }
	rules := func(string) []connection.ScopeRule {
		return []connection.ScopeRule{{Name: home.ScopeRead}, {Name: home.ScopeWrite, Implies: []string{home.ScopeRead}}}
	}
	deps.PublicURL, deps.OAuth, deps.Located, deps.Accounts, deps.Homes = s.url, server, located, s.accounts, fakeHomes{}
	deps.Things, deps.People = s.things, passwordsAlone()
	deps.Connections = &connection.Service{Store: s.connections, Now: s.clock.Now, Scopes: rules, Located: located}
	deps.Activity = s.activity
	s.audit, s.clients = &fakeAudit{}, &fakeClients{}
	deps.Clients = s.clients
	deps.Issuers = &trust.Service{Store: &fakeIssuers{}, Now: s.clock.Now, KnownScopes: []string{home.ScopeRead, home.ScopeWrite}, OwnIssuer: s.url}
	deps.Audit = audit.New(audit.Config{Store: s.audit, Now: s.clock.Now, Rand: rand.Reader, Log: slog.New(slog.DiscardHandler), Keep: time.Hour})
	if deps.Attempts == nil {
		deps.Attempts = fakeAttempts{at: s.clock.Now()}
	}
	deps.Observer, deps.Limiter = s.events, limiter
	deps.Log, deps.Now, deps.Rand = slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug})), s.clock.Now, rand.Reader
	handlers, err := web.New(deps)
	if err != nil {
		t.Fatal(err)
	}
	s.handler = newEcho(handlers)
	return s
}

func newEcho(handlers *web.Handlers) *echo.Echo {
	e := echo.New()
	e.IPExtractor = echo.ExtractIPDirect()
	e.HTTPErrorHandler = handlers.HandleError
	e.Use(func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			c.Response().Header().Set(echo.HeaderXRequestID, "request-1")
			return next(c)
		}
	})
	handlers.Register(e)
	return e
}

// answer is an HTTP answer with its document.
type answer struct {
	status int
	header http.Header
	body   string
	doc    *html.Node
}

func (a *answer) json(t *testing.T) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(a.body), &v); err != nil {
		t.Fatalf("no JSON object: %d %s", a.status, a.body)
	}
	return v
}

// find gives the first element of the name with the attribute's value.
func (a *answer) find(element, key, value string) *html.Node {
	for n := range a.doc.Descendants() {
		if n.Type == html.ElementNode && n.Data == element && attr(n, key) == value {
			return n
		}
	}
	return nil
}

// form gives the values that a browser would send for the form, with what is ticked.
func (a *answer) form(t *testing.T, action string) url.Values {
	t.Helper()
	form := a.find("form", "action", action)
	if form == nil {
		t.Fatalf("no form to %s on the page (status %d): %s", action, a.status, a.body)
	}
	values := url.Values{}
	for n := range form.Descendants() {
		if n.Data != "input" || attr(n, "name") == "" {
			continue
		}
		if kind := attr(n, "type"); (kind == "checkbox" || kind == "radio") && !has(n, "checked") {
			continue
		}
		values.Add(attr(n, "name"), attr(n, "value"))
	}
	return values
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func has(n *html.Node, key string) bool {
	for _, a := range n.Attr {
		if a.Key == key {
			return true
		}
	}
	return false
}

// call sends one request. Headers come in pairs.
func (s *site) call(t *testing.T, method, target, body string, headers ...string) *answer {
	t.Helper()
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.Host = strings.TrimPrefix(strings.TrimPrefix(s.url, "https://"), "http://")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	text, _ := io.ReadAll(w.Result().Body)
	doc, _ := html.Parse(bytes.NewReader(text))
	return &answer{status: w.Code, header: w.Result().Header, body: string(text), doc: doc}
}

const formType = "application/x-www-form-urlencoded"

// postForm posts a form as a program would.
func (s *site) postForm(t *testing.T, path string, form url.Values, headers ...string) *answer {
	t.Helper()
	return s.call(t, http.MethodPost, path, form.Encode(), append([]string{"Content-Type", formType}, headers...)...)
}

// browser keeps cookies and follows nothing by itself.
type browser struct {
	site    *site
	cookies map[string]string
}

func (s *site) browser() *browser { return &browser{site: s, cookies: map[string]string{}} }

func (b *browser) send(t *testing.T, method, target, body string, headers ...string) *answer {
	t.Helper()
	for name, value := range b.cookies {
		headers = append(headers, "Cookie", name+"="+value)
	}
	a := b.site.call(t, method, target, body, headers...)
	for _, c := range (&http.Response{Header: a.header}).Cookies() {
		if c.MaxAge < 0 {
			delete(b.cookies, c.Name)
		} else {
			b.cookies[c.Name] = c.Value
		}
	}
	return a
}

func (b *browser) get(t *testing.T, target string) *answer {
	t.Helper()
	return b.send(t, http.MethodGet, target, "", "Accept", "text/html")
}

func (b *browser) post(t *testing.T, target string, form url.Values, headers ...string) *answer {
	t.Helper()
	if len(headers) == 0 {
		headers = []string{"Sec-Fetch-Site", "same-origin", "Origin", b.site.url}
	}
	return b.send(t, http.MethodPost, target, form.Encode(), append([]string{"Content-Type", formType, "Accept", "text/html"}, headers...)...)
}

// signedIn is a browser with a session.
func (s *site) signedIn(t *testing.T) *browser {
	t.Helper()
	return s.signedInAs(t, email)
}

func (s *site) signedInAs(t *testing.T, email string) *browser {
	t.Helper()
	b := s.browser()
	form := b.get(t, "/signin").form(t, "/signin")
	form.Set("email", email)
	form.Set("password", password)
	if a := b.post(t, "/signin", form); a.status != http.StatusSeeOther {
		t.Fatalf("sign in: %d %s", a.status, a.body)
	}
	return b
}

// register registers a public client and gives its id.
func (s *site) register(t *testing.T) string {
	t.Helper()
	a := s.call(t, http.MethodPost, "/register", `{"client_name":"Test app","redirect_uris":["`+callback+`"],"token_endpoint_auth_method":"none"}`, "Content-Type", "application/json")
	if a.status != http.StatusCreated {
		t.Fatalf("register: %d %s", a.status, a.body)
	}
	return a.json(t)["client_id"].(string)
}

// trusted enters a client as an administrator would.
func (s *site) trusted(t *testing.T, redirect string) string {
	t.Helper()
	c := &oauth.Client{ID: "entered", Kind: oauth.ClientRegistered, Name: "Entered app", AuthMethods: []string{oauth.AuthNone}, RedirectURIs: []string{redirect},
		GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"}, CreatedAt: s.clock.Now(), LastSeenAt: s.clock.Now()}
	if err := s.memory.SaveClient(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	return c.ID
}

func authorizeQuery(client string) url.Values {
	sum := sha256.Sum256([]byte(verifier))
	return url.Values{
		"response_type": {"code"}, "client_id": {client}, "redirect_uri": {callback}, "state": {"a state: /+= ~ ü"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"}, "scope": {"home:read home:write"},
	}
}

// consent opens an authorization request and gives the consent page and its path.
func (b *browser) consent(t *testing.T, query url.Values) (path string, page *answer) {
	t.Helper()
	a := b.get(t, "/authorize?"+query.Encode())
	if a.status != http.StatusSeeOther {
		t.Fatalf("authorize: %d %s", a.status, a.body)
	}
	path = a.header.Get("Location")
	return path, b.get(t, path)
}

// code walks a request to its code.
func (s *site) code(t *testing.T, client string) string {
	t.Helper()
	b := s.signedIn(t)
	path, page := b.consent(t, authorizeQuery(client))
	form := page.form(t, path+"/decision")
	form.Set("decision", "allow")
	a := b.post(t, path+"/decision", form)
	location, err := url.Parse(a.header.Get("Location"))
	if err != nil || a.status != http.StatusSeeOther {
		t.Fatalf("allow: %d %s", a.status, a.body)
	}
	return location.Query().Get("code")
}

func (s *site) tokens(t *testing.T, client string) map[string]any {
	t.Helper()
	a := s.postForm(t, "/token", url.Values{"grant_type": {"authorization_code"}, "client_id": {client}, "code": {s.code(t, client)}, "redirect_uri": {callback}, "code_verifier": {verifier}})
	if a.status != http.StatusOK {
		t.Fatalf("token: %d %s", a.status, a.body)
	}
	return a.json(t)
}
