package oauth_test

import (
	"context"
	"errors"
	"net/url"
	"testing"
	"time"

	"gatehouse/oauth"
)

// under makes a server whose policy a test can change.
func under(t *testing.T, p *oauth.Policy) *world {
	return newWorld(t, func(c *oauth.Config) {
		c.Policy = func(context.Context) (oauth.Policy, error) { return *p, nil }
	})
}

func TestRegistrationModes(t *testing.T) {
	t.Parallel()
	t.Run("DR-8 off", func(t *testing.T) {
		t.Parallel()
		p := &oauth.Policy{Registration: oauth.RegistrationOff}
		w := under(t, p)
		_, err := w.Register(t.Context(), []byte(registerBody))
		equal(t, "status", shown(t, err, "access_denied").Status, 403)
		m := w.CurrentMetadata(t.Context())
		equal(t, "endpoint", m.RegistrationEndpoint, "")
		equal(t, "documents", m.ClientIDMetadataDocumentSupported, false)
		p.Registration, p.ClientDocuments = oauth.RegistrationToken, true
		open := w.CurrentOpenIDConfiguration(t.Context())
		equal(t, "endpoint", open.RegistrationEndpoint, issuer+"/register")
		equal(t, "documents", open.ClientIDMetadataDocumentSupported, true)
	})
	t.Run("DR-8 an initial access token", func(t *testing.T) {
		t.Parallel()
		w := under(t, &oauth.Policy{Registration: oauth.RegistrationToken})
		for name, token := range map[string]string{"missing": "", "wrong": "gti_x"} {
			_, err := w.RegisterWith(t.Context(), []byte(registerBody), token)
			if e := shown(t, err, "invalid_token"); e.Status != 401 || e.Challenge != `Bearer error="invalid_token"` {
				t.Errorf("%s: %d %q", name, e.Status, e.Challenge)
			}
		}
		w.store.AddInitialToken(oauth.HashSecret("gti_good"), 1, w.clock.Now().Add(time.Hour))
		_, err := w.RegisterWith(t.Context(), []byte(`{"redirect_uris":[]}`), "gti_good")
		shown(t, err, "invalid_redirect_uri") // and the token is not used up
		_, err = w.RegisterWith(t.Context(), []byte(registerBody), "gti_good")
		must(t, err)
		_, err = w.RegisterWith(t.Context(), []byte(registerBody), "gti_good")
		shown(t, err, "invalid_token")
	})
	t.Run("DR-8 approval", func(t *testing.T) {
		t.Parallel()
		w := under(t, &oauth.Policy{Registration: oauth.RegistrationApproval})
		r := w.register(registerBody)
		_, err := w.BeginAuthorization(t.Context(), authorizeForm(r.ClientID), true)
		e := shown(t, err, "unauthorized_client")
		equal(t, "check", e.Check, "client_pending")
		_, err = w.PushAuthorization(t.Context(), authorizeForm(r.ClientID), authOf(r.ClientID))
		equal(t, "pushed", shown(t, err, "unauthorized_client").Status, 400)
		w.store.ChangeClient(r.ClientID, func(c *oauth.Client) { c.PendingAt = nil })
		tokens := w.connect(r.ClientID)
		_, err = w.ReplaceRegistration(t.Context(), r.ClientID, r.RegistrationAccessToken, replacement(r.ClientID, "client_name", `"Test app"`))
		must(t, err)
		w.begin(authorizeForm(r.ClientID)) // nothing changed that was approved
		_, err = w.ReplaceRegistration(t.Context(), r.ClientID, r.RegistrationAccessToken,
			replacement(r.ClientID, "redirect_uris", `["`+redirectURI+`","https://elsewhere.example/"]`))
		must(t, err)
		_, err = w.BeginAuthorization(t.Context(), authorizeForm(r.ClientID), true)
		equal(t, "after a change", shown(t, err, "unauthorized_client").Check, "client_pending")
		_, err = w.refresh(r.ClientID, tokens.RefreshToken)
		must(t, err) // who is connected stays connected
	})
	t.Run("a policy that cannot be read lets nobody in", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, func(c *oauth.Config) {
			c.Policy = func(context.Context) (oauth.Policy, error) { return oauth.Policy{}, errors.New("down") }
		})
		_, err := w.Register(t.Context(), []byte(registerBody))
		shown(t, err, "temporarily_unavailable")
		_, err = w.BeginAuthorization(t.Context(), authorizeForm(publicClient), true)
		shown(t, err, "temporarily_unavailable")
		equal(t, "endpoint", w.CurrentMetadata(t.Context()).RegistrationEndpoint, issuer+"/register")
	})
	t.Run("X-10 discovery goes on without the store", func(t *testing.T) {
		t.Parallel()
		var down error
		w := newWorld(t, func(c *oauth.Config) {
			c.Policy = func(context.Context) (oauth.Policy, error) {
				return oauth.Policy{Registration: oauth.RegistrationOff}, down
			}
		})
		equal(t, "endpoint", w.CurrentMetadata(t.Context()).RegistrationEndpoint, "")
		down = errors.New("down")
		equal(t, "endpoint", w.CurrentMetadata(t.Context()).RegistrationEndpoint, "")
	})
}

func TestHostPolicies(t *testing.T) {
	t.Parallel()
	open := oauth.Policy{Registration: oauth.RegistrationOpen, ClientDocuments: true}
	for name, test := range map[string]struct {
		change func(*oauth.Policy)
		client string
		uri    string
		check  string
	}{
		"nothing is blocked":                        {func(*oauth.Policy) {}, documentURL, redirectURI, ""},
		"CI-16 a blocked host of a document":        {func(p *oauth.Policy) { p.BlockedHosts = []string{"app.example"} }, documentURL, redirectURI, "host_blocked"},
		"CI-16 a blocked suffix":                    {func(p *oauth.Policy) { p.BlockedHosts = []string{"*.example"} }, documentURL, redirectURI, "host_blocked"},
		"CI-16 a suffix is not its apex":            {func(p *oauth.Policy) { p.BlockedHosts = []string{"*.app.example"} }, documentURL, redirectURI, ""},
		"CI-16 a document elsewhere than allowed":   {func(p *oauth.Policy) { p.DocumentHosts = []string{"good.example"} }, documentURL, redirectURI, "host_blocked"},
		"CI-16 an allowed document":                 {func(p *oauth.Policy) { p.DocumentHosts = []string{"app.example"} }, documentURL, redirectURI, ""},
		"CI-16 a blocked host of answers":           {func(p *oauth.Policy) { p.BlockedHosts = []string{"app.example"} }, publicClient, redirectURI, "host_blocked"},
		"CI-16 blocked also for entered clients":    {func(p *oauth.Policy) { p.BlockedHosts = []string{"app.example"} }, secretClient, redirectURI, "host_blocked"},
		"CI-16 answers elsewhere than allowed":      {func(p *oauth.Policy) { p.RedirectHosts = []string{"good.example"} }, publicClient, redirectURI, "host_blocked"},
		"CI-16 entered clients are free of that":    {func(p *oauth.Policy) { p.RedirectHosts = []string{"good.example"} }, secretClient, redirectURI, ""},
		"CI-16 loopback is free of that":            {func(p *oauth.Policy) { p.RedirectHosts = []string{"good.example"} }, publicClient, "http://127.0.0.1:99/cb", ""},
		"CI-12 the document's own host":             {func(p *oauth.Policy) { p.RefuseOtherHost = true }, documentURL, redirectURI, ""},
		"CI-12 private-use schemes are warned of":   {func(p *oauth.Policy) { p.RefuseOtherHost = true }, documentURL, "com.example.app:/cb", ""},
		"CI-12 another host":                        {func(p *oauth.Policy) { p.RefuseOtherHost = true }, documentURL, "https://other.example/cb", "host_blocked"},
		"CI-12 another host is warned of otherwise": {func(*oauth.Policy) {}, documentURL, "https://other.example/cb", ""},
		"documents are off":                         {func(p *oauth.Policy) { p.ClientDocuments = false }, documentURL, redirectURI, "client"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := open
			test.change(&p)
			w := under(t, &p)
			w.store.ChangeClient(documentURL, func(c *oauth.Client) { c.RedirectURIs = append(c.RedirectURIs, "https://other.example/cb") })
			_, err := w.BeginAuthorization(t.Context(), authorizeForm(test.client, "redirect_uri", test.uri), true)
			if test.check == "" {
				must(t, err)
				return
			}
			var toClient *oauth.RedirectError
			var e *oauth.Error
			if errors.As(err, &toClient) || !errors.As(err, &e) || e.Check != test.check || e.Status != 400 {
				t.Errorf("refused with %v", err)
			}
		})
	}
	t.Run("CI-16 a blocked host holds at the token endpoint too", func(t *testing.T) {
		t.Parallel()
		p := open
		w := under(t, &p)
		tokens := w.connect(documentURL)
		p.BlockedHosts = []string{"app.example"}
		_, err := w.refresh(documentURL, tokens.RefreshToken)
		equal(t, "check", shown(t, err, "invalid_client").Check, "host_blocked")
	})
	t.Run("CI-16 nobody registers for blocked hosts alone", func(t *testing.T) {
		t.Parallel()
		p := open
		p.BlockedHosts = []string{"app.example"}
		_, err := under(t, &p).Register(t.Context(), []byte(registerBody))
		shown(t, err, "invalid_redirect_uri")
	})
	t.Run("CI-16 a host is new until somebody connects", func(t *testing.T) {
		t.Parallel()
		p := open
		w := under(t, &p)
		isNew := func(client string) bool {
			t.Helper()
			prompt, err := w.ResumeAuthorization(t.Context(), w.begin(authorizeForm(client)), w.person)
			must(t, err)
			return prompt.NewHost
		}
		equal(t, "at first", isNew(documentURL), true)
		equal(t, "for a client without a host", isNew(publicClient), false)
		w.connect(documentURL)
		equal(t, "afterwards", isNew(documentURL), false)
	})
}

func TestMatchHost(t *testing.T) {
	t.Parallel()
	list := []string{"a.example", "*.b.example"}
	for host, want := range map[string]bool{
		"a.example": true, "A.Example.": true, "x.a.example": false, "b.example": false, "x.b.example": true, "x.y.b.example": true,
		"xb.example": false, "": false, ".b.example": false,
	} {
		if got := oauth.MatchHost(list, host); got != want {
			t.Errorf("%q: %v", host, got)
		}
	}
}

func FuzzValidHost(f *testing.F) {
	for _, s := range []string{"a.example", "*.a.example", "*", "*.", "A.example", "a..b", "1.2.3.4", "a b", "*.*.a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !oauth.ValidHost(s) {
			return
		}
		host := s
		if s[0] == '*' {
			host = "x" + s[1:]
		}
		if u, err := url.Parse("https://" + host + "/"); err != nil || u.Hostname() != host {
			t.Errorf("%q is no host", s)
		}
		if !oauth.MatchHost([]string{s}, host) {
			t.Errorf("%q does not match %q", s, host)
		}
	})
}

func TestClientSettings(t *testing.T) {
	t.Parallel()
	t.Run("RT-10 a stale token is refused and ends nothing", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.store.ChangeClient(publicClient, func(c *oauth.Client) { c.Settings.KeepOnStale = true })
		first := w.connect(publicClient)
		second, err := w.refresh(publicClient, first.RefreshToken)
		must(t, err)
		third, err := w.refresh(publicClient, second.RefreshToken)
		must(t, err)
		_, err = w.refresh(publicClient, first.RefreshToken)
		equal(t, "check", shown(t, err, "invalid_grant").Check, "refresh_reuse")
		if w.store.Family(first.FamilyID).EndedAt != nil {
			t.Error("the family ended")
		}
		step, told := w.lastStep(oauth.StepStaleRefused)
		equal(t, "told", told && step.ConnectionID == first.ConnectionID, true)
		_, err = w.refresh(publicClient, third.RefreshToken)
		must(t, err)
	})
	t.Run("RT-10 the switch is off by default", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		first := w.connect(publicClient)
		second, err := w.refresh(publicClient, first.RefreshToken)
		must(t, err)
		_, err = w.refresh(publicClient, second.RefreshToken)
		must(t, err)
		_, err = w.refresh(publicClient, first.RefreshToken)
		shown(t, err, "invalid_grant")
		if w.store.Family(first.FamilyID).EndedAt == nil {
			t.Error("the family lives on")
		}
	})
	t.Run("PA-4 an administrator demands pushed requests", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.store.ChangeClient(documentURL, func(c *oauth.Client) { c.Settings.RequirePushed = true })
		_, err := w.BeginAuthorization(t.Context(), authorizeForm(documentURL), true)
		equal(t, "check", sent(t, err, "invalid_request").Err.Check, "request_uri")
		w.begin(reference(documentURL, w.push(documentURL)))
	})
	t.Run("X-12 a client's own limit", func(t *testing.T) {
		t.Parallel()
		counts := map[string]int{}
		w := newWorld(t, func(c *oauth.Config) {
			c.Limit = func(_ context.Context, id string, perMinute int, proven bool) error {
				if proven != (id == secretClient) {
					t.Errorf("%s counts as proven: %v", id, proven)
				}
				if counts[id]++; perMinute > 0 && counts[id] > perMinute {
					return oauth.SlowDown(time.Second)
				}
				return nil
			}
		})
		w.store.ChangeClient(secretClient, func(c *oauth.Client) { c.Settings.PerMinute = 2 })
		w.push(secretClient)
		w.push(secretClient)
		_, err := w.PushAuthorization(t.Context(), authorizeForm(secretClient), authOf(secretClient))
		equal(t, "status", shown(t, err, "temporarily_unavailable").Status, 429)
		_, err = w.PushAuthorization(t.Context(), authorizeForm(secretClient), oauth.ClientAuthentication{ClientID: secretClient, ClientSecret: "wrong", HasSecret: true})
		shown(t, err, "invalid_client")
		equal(t, "counted", counts[secretClient], 3) // who does not prove to be the client uses nothing up
		w.push(publicClient)
	})
}
