package oauth_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"gatehouse/oauth"
)

// TestAuthorizeShown: until client and redirect URI are proven, an error is shown and never sent anywhere.
func TestAuthorizeShown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, code, check string
		form              url.Values
	}{
		{"AZ-2 client missing", "invalid_request", "client", authorizeForm("")},
		{"X-5 AZ-2 client empty", "invalid_request", "client", authorizeForm(publicClient, "client_id", "")},
		{"AZ-2 client unknown", "invalid_client", "client", authorizeForm("gc_nobody")},
		{"AZ-2 client unknown comes before all else", "invalid_client", "client", url.Values{"client_id": {"gc_nobody"}, "state": {"a", "b"}}},
		{"AZ-2 client blocked", "invalid_client", "client_blocked", authorizeForm("gc_blocked")},
		{"X-4 client twice", "invalid_request", "client_id", url.Values{"client_id": {publicClient, publicClient}}},
		{"X-4 redirect URI twice", "invalid_request", "redirect_uri", url.Values{"client_id": {publicClient}, "redirect_uri": {redirectURI, redirectURI}}},
		{"RU-1 redirect URI unregistered", "invalid_request", "redirect_uri", authorizeForm(publicClient, "redirect_uri", redirectURI+"/")},
		{"RU-9 redirect URI missing, two registered", "invalid_request", "redirect_uri", authorizeForm(publicClient, "redirect_uri", "-")},
		{"X-5 RU-9 redirect URI empty, two registered", "invalid_request", "redirect_uri", authorizeForm(publicClient, "redirect_uri", "")},
		{"RU-11 redirect URI with a line break", "invalid_request", "redirect_uri", authorizeForm(publicClient, "redirect_uri", redirectURI+"\r\nX: y")},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			blocked := w.clock.Now()
			w.saveClient(&oauth.Client{ID: "gc_blocked", Kind: oauth.ClientDynamic, BlockedAt: &blocked, RedirectURIs: []string{redirectURI}})
			_, err := w.BeginAuthorization(t.Context(), c.form, true)
			e := shown(t, err, c.code)
			equal(t, "status", e.Status, 400)
			equal(t, "check", e.Check, c.check)
			step, ok := w.lastStep(oauth.StepAuthorize)
			equal(t, "step told", ok && !step.OK, true)
			equal(t, "check of the step", step.Check, c.check)
		})
	}
}

// TestAuthorizeSent: afterwards it goes back to the client.
func TestAuthorizeSent(t *testing.T) {
	t.Parallel()
	twice := func(name string) url.Values {
		form := authorizeForm(documentURL, name, "x")
		form.Add(name, "x")
		return form
	}
	for _, c := range []struct {
		name, code, check string
		form              url.Values
	}{
		{"X-4 scope twice", "invalid_request", "scope", twice("scope")},
		{"X-4 code_challenge twice", "invalid_request", "code_challenge", twice("code_challenge")},
		{"X-4 response_type twice", "invalid_request", "response_type", twice("response_type")},
		{"AZ-4 response_type missing", "invalid_request", "response_type", authorizeForm(documentURL, "response_type", "-")},
		{"X-5 AZ-4 response_type empty", "invalid_request", "response_type", authorizeForm(documentURL, "response_type", "")},
		{"AZ-4 token", "unsupported_response_type", "response_type", authorizeForm(documentURL, "response_type", "token")},
		{"AZ-4 id_token token", "unsupported_response_type", "response_type", authorizeForm(documentURL, "response_type", "id_token token")},
		{"AZ-4 code twice in one", "unsupported_response_type", "response_type", authorizeForm(documentURL, "response_type", "code code")},
		{"AZ-5 grant not registered", "unauthorized_client", "grant_type", authorizeForm("gc_nogrant")},
		{"response_mode fragment", "invalid_request", "response_mode", authorizeForm(documentURL, "response_mode", "fragment")},
		{"AZ-6 scope malformed", "invalid_scope", "scope", authorizeForm(documentURL, "scope", "read \"x\"")},
		{"AZ-6 scope not ASCII", "invalid_scope", "scope", authorizeForm(documentURL, "scope", "réad")},
		{"AZ-7 no known scope", "invalid_scope", "scope", authorizeForm(documentURL, "scope", "openid email")},
		{"PK-1 challenge missing", "invalid_request", "code_challenge", authorizeForm(documentURL, "code_challenge", "-")},
		{"PK-2 method missing", "invalid_request", "code_challenge_method", authorizeForm(documentURL, "code_challenge_method", "-")},
		{"PK-2 plain", "invalid_request", "code_challenge_method", authorizeForm(documentURL, "code_challenge_method", "plain")},
		{"PK-3 padded challenge", "invalid_request", "code_challenge", authorizeForm(documentURL, "code_challenge", challengeOf(verifier)+"=")},
		{"RI-1 resource unknown", "invalid_target", "resource", authorizeForm(documentURL, "resource", "https://other.example/mcp")},
		{"RI-1 resource with fragment", "invalid_target", "resource", authorizeForm(documentURL, "resource", mainResource+"#x")},
		{"RI-1 resource not absolute", "invalid_target", "resource", authorizeForm(documentURL, "resource", "/mcp")},
		{"RI-4 path is exact", "invalid_target", "resource", authorizeForm(documentURL, "resource", mainResource+"/")},
		{"RI-1 two resources", "invalid_target", "resource", url.Values{
			"client_id": {documentURL}, "redirect_uri": {redirectURI}, "response_type": {"code"}, "state": {"st"},
			"code_challenge": {challengeOf(verifier)}, "code_challenge_method": {"S256"}, "resource": {mainResource, sideResource}}},
		{"JA-1 request object", "request_not_supported", "request", authorizeForm(documentURL, "request", "eyJ")},
		{"JA-1 request_uri", "request_uri_not_supported", "request_uri", authorizeForm(documentURL, "request_uri", "https://x.example/")},
		{"AZ-16 none with another", "invalid_request", "prompt", authorizeForm(documentURL, "prompt", "none login")},
		{"max_age not a number", "invalid_request", "max_age", authorizeForm(documentURL, "max_age", "soon")},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.saveClient(&oauth.Client{ID: "gc_nogrant", Kind: oauth.ClientRegistered, RedirectURIs: []string{redirectURI}, GrantTypes: []string{"x"}})
			_, err := w.BeginAuthorization(t.Context(), c.form, true)
			e := sent(t, err, c.code)
			equal(t, "check", e.Err.Check, c.check)
			got := query(t, e.Location(issuer))
			equal(t, "IS-1 iss", got.Get("iss"), issuer)
			equal(t, "AZ-9 state", got.Get("state"), "st")
			equal(t, "error", got.Get("error"), c.code)
			equal(t, "RU-10 kept query", got.Get("keep"), "1")
			equal(t, "trusted", e.Untrusted, false)

			_, err = w.BeginAuthorization(t.Context(), c.form, false)
			equal(t, "AZ-12 nobody signed in: no automatic redirect", sent(t, err, c.code).Untrusted, true)
		})
	}
	t.Run("X-4 state twice is sent back without state", func(t *testing.T) {
		t.Parallel()
		form := authorizeForm(documentURL)
		form.Add("state", "other")
		_, err := newWorld(t).BeginAuthorization(t.Context(), form, true)
		e := sent(t, err, "invalid_request")
		equal(t, "state", query(t, e.Location(issuer)).Has("state"), false)
	})
	t.Run("AZ-13 an error of a client that registered itself is not followed", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		for _, uri := range []string{redirectURI, "http://127.0.0.1:4711/cb"} {
			_, err := w.BeginAuthorization(t.Context(), authorizeForm(publicClient, "redirect_uri", uri, "scope", "nothing"), true)
			equal(t, "untrusted", sent(t, err, "invalid_scope").Untrusted, true)
		}
	})
}

func TestAuthorizeTolerates(t *testing.T) {
	t.Parallel()
	for name, form := range map[string]url.Values{
		"X-5 empty parameters":                authorizeForm(publicClient, "scope", "", "resource", "", "prompt", "", "max_age", "", "request", "", "response_mode", ""),
		"X-6 unknown parameters, even twice":  {"unknown": {"1", "2"}},
		"AZ-7 unknown scopes beside a known":  authorizeForm(publicClient, "scope", "openid read x:y"),
		"RT-8 offline_access alone":           authorizeForm(publicClient, "scope", "offline_access"),
		"AZ-9 a state of 2 KiB":               authorizeForm(publicClient, "state", strings.Repeat("s\"<é ", 500)),
		"RU-2 another loopback port":          authorizeForm(publicClient, "redirect_uri", "http://127.0.0.1:52800/cb"),
		"AZ-16 an unknown prompt":             authorizeForm(publicClient, "prompt", "select_account"),
		"RI-4 upper-case host":                authorizeForm(publicClient, "resource", "HTTPS://AUTH.example/mcp"),
		"response_mode query":                 authorizeForm(publicClient, "response_mode", "query"),
		"RU-9 omitted redirect URI, only one": authorizeForm(secretClient, "redirect_uri", "-"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if form.Has("unknown") {
				for k, v := range authorizeForm(publicClient) {
					form[k] = v
				}
			}
			w := newWorld(t)
			p, err := w.ResumeAuthorization(t.Context(), w.begin(form), w.person)
			must(t, err)
			equal(t, "next", p.Next, oauth.NextConsent)
		})
	}
}

func TestResourceOfRequest(t *testing.T) {
	t.Parallel()
	twice := authorizeForm(publicClient)
	twice["resource"] = []string{sideResource, sideResource}
	for _, c := range []struct {
		name, want string
		form       url.Values
	}{
		{"RI-5 omitted", mainResource, authorizeForm(publicClient)},
		{"settled-17 omitted, scopes of one resource", sideResource, authorizeForm(publicClient, "scope", "side:read")},
		{"settled-17 omitted, scopes of two", mainResource, authorizeForm(publicClient, "scope", "side:read read")},
		{"RI-1 named", sideResource, authorizeForm(publicClient, "resource", sideResource)},
		{"X-4 the same twice", sideResource, twice},
		{"RI-4 stored in the configured spelling", mainResource, authorizeForm(publicClient, "resource", "HTTPS://Auth.Example/mcp")},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			p, err := w.ResumeAuthorization(t.Context(), w.begin(c.form), w.person)
			must(t, err)
			equal(t, "resource", p.Resource.URI, c.want)
		})
	}
	t.Run("RI-4 a bare origin with and without slash", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, func(c *oauth.Config) { c.Resources[1].URI = "https://side.example" })
		p, err := w.ResumeAuthorization(t.Context(), w.begin(authorizeForm(publicClient, "resource", "https://side.example/")), w.person)
		must(t, err)
		equal(t, "resource", p.Resource.URI, "https://side.example")
	})
}

func TestOfferedScopes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, client, scope, want string }{
		{"AZ-8 none asked: baseline ticked, the rest offered", documentURL, "", "[{read true} {write false} {extra false}]"},
		{"AZ-8 none asked, self-registered", publicClient, "", "[{read true} {write false} {extra false}]"},
		{"RT-8 offline_access counts as none", documentURL, "offline_access", "[{read true} {write false} {extra false}]"},
		{"asked by a verified client: ticked", documentURL, "write extra", "[{read true} {write true} {extra true}]"},
		{"asked by a self-registered client: only the baseline is ticked", publicClient, "write read", "[{read true} {write false} {extra false}]"},
		{"AZ-7 only what was asked is ticked", documentURL, "read openid", "[{read true} {write false} {extra false}]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			p, err := w.ResumeAuthorization(t.Context(), w.begin(authorizeForm(c.client, "scope", c.scope)), w.person)
			must(t, err)
			equal(t, "offer", fmt.Sprint(p.Offered), c.want)
		})
	}
}

func TestPromptForConsentPage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, client, uri, host                   string
		loopback, privateScheme, untrusted, proof bool
	}{
		{"CS-1 document client", documentURL, redirectURI, "app.example", false, false, false, true},
		{"CS-2 private-use scheme", documentURL, "com.example.app:/cb", "com.example.app:", false, true, false, true},
		{"CS-1 self-registered client", publicClient, redirectURI, "app.example", false, false, true, false},
		{"CS-2 loopback", publicClient, "http://127.0.0.1:1234/cb", "127.0.0.1", true, false, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			id := w.begin(authorizeForm(c.client, "redirect_uri", c.uri, "login_hint", "al"))
			p, err := w.ResumeAuthorization(t.Context(), id, w.person)
			must(t, err)
			equal(t, "next", p.Next, oauth.NextConsent)
			equal(t, "client", p.Client.ID, c.client)
			equal(t, "redirect URI", p.RedirectURI, c.uri)
			equal(t, "host", p.RedirectHost, c.host)
			equal(t, "loopback", p.RedirectLoopback, c.loopback)
			equal(t, "private scheme", p.RedirectPrivateScheme, c.privateScheme)
			equal(t, "verified", p.Verified, c.proof)
			equal(t, "hint", p.LoginHint, "al")
			step, _ := w.lastStep(oauth.StepConsentShown)
			equal(t, "step", step.OK, true)
			if strings.Contains(fmt.Sprint(w.steps), id) {
				t.Error("KY-6 a step carries the request's capability")
			}
		})
	}
}

func TestPromptSignIn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, prompt, maxAge string
		nobody               bool
		signedInAgo          time.Duration // before the request; negative: after it
		next                 oauth.NextStep
		sentCode             string
	}{
		{"nobody signed in", "", "", true, 0, oauth.NextSignIn, ""},
		{"AZ-16 consent", "consent", "", false, time.Hour, oauth.NextConsent, ""},
		{"AZ-16 login", "login", "", false, time.Hour, oauth.NextSignIn, ""},
		{"AZ-16 login, signed in since", "login consent", "", false, -time.Minute, oauth.NextConsent, ""},
		{"AZ-16 none, nobody", "none", "", true, 0, "", "login_required"},
		{"AZ-16 none, signed in", "none", "", false, time.Hour, "", "consent_required"},
		{"max_age exceeded", "", "60", false, time.Hour, oauth.NextSignIn, ""},
		{"max_age kept", "", "7200", false, time.Hour, oauth.NextConsent, ""},
		{"max_age 0", "", "0", false, time.Second, oauth.NextSignIn, ""},
		{"max_age 0, signed in since", "", "0", false, -time.Second, oauth.NextConsent, ""},
		{"AZ-16 none with max_age exceeded", "none", "60", false, time.Hour, "", "login_required"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			form := authorizeForm(documentURL, "prompt", c.prompt, "max_age", c.maxAge)
			id := w.begin(form)
			who := oauth.ResourceOwner{UserID: "alice", AuthTime: w.clock.Now().Add(-c.signedInAgo)}
			w.clock.Advance(2 * time.Minute)
			if c.nobody {
				who = oauth.ResourceOwner{}
				if c.sentCode != "" {
					_, err := w.BeginAuthorization(t.Context(), form, false)
					equal(t, "trusted at once", sent(t, err, c.sentCode).Untrusted, false)
				}
			}
			p, err := w.ResumeAuthorization(t.Context(), id, who)
			if c.sentCode != "" {
				equal(t, "trusted", sent(t, err, c.sentCode).Untrusted, false)
				return
			}
			must(t, err)
			equal(t, "next", p.Next, c.next)
			equal(t, "demanded", p.ReauthenticationDemanded, c.next == oauth.NextSignIn && !c.nobody)
			if c.next == oauth.NextSignIn {
				_, err := w.Decide(t.Context(), id, who, oauth.Decision{Allow: true, Scopes: []string{"read"}})
				shown(t, err, "login_required")
			}
		})
	}
}

func TestRequestLife(t *testing.T) {
	t.Parallel()
	t.Run("CN-53 AZ-17 ten minutes", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		id := w.begin(authorizeForm(publicClient))
		w.clock.Advance(10*time.Minute - time.Millisecond)
		_, err := w.ResumeAuthorization(t.Context(), id, w.person)
		must(t, err)
		w.clock.Advance(time.Millisecond)
		_, err = w.ResumeAuthorization(t.Context(), id, w.person)
		shown(t, err, "invalid_request")
		_, err = w.Decide(t.Context(), id, w.person, oauth.Decision{Allow: true, Scopes: []string{"read"}})
		shown(t, err, "invalid_request")
	})
	t.Run("unknown request", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		_, err := w.ResumeAuthorization(t.Context(), "x", w.person)
		shown(t, err, "invalid_request")
	})
	t.Run("AZ-17 two requests do not disturb one another", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		one, two := w.begin(authorizeForm(publicClient, "state", "1")), w.begin(authorizeForm(documentURL, "state", "2"))
		for id, client := range map[string]string{one: publicClient, two: documentURL} {
			p, err := w.ResumeAuthorization(t.Context(), id, w.person)
			must(t, err)
			equal(t, "client", p.Client.ID, client)
		}
	})
	t.Run("a client blocked in between is refused at every step", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		id := w.begin(authorizeForm(publicClient))
		c, err := w.store.Client(t.Context(), publicClient)
		must(t, err)
		c.BlockedAt = &c.CreatedAt
		w.saveClient(c)
		_, err = w.ResumeAuthorization(t.Context(), id, w.person)
		shown(t, err, "invalid_client")
		_, err = w.Decide(t.Context(), id, w.person, oauth.Decision{Allow: true, Scopes: []string{"read"}})
		shown(t, err, "invalid_client")
	})
	t.Run("X-10 a store that is down is never the client's fault", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		id := w.begin(authorizeForm(publicClient))
		w.store.Fail(fmt.Errorf("down"))
		_, err := w.BeginAuthorization(t.Context(), authorizeForm(publicClient), true)
		equal(t, "status", shown(t, err, "temporarily_unavailable").Status, 503)
		_, err = w.ResumeAuthorization(t.Context(), id, w.person)
		shown(t, err, "temporarily_unavailable")
		_, err = w.Decide(t.Context(), id, w.person, oauth.Decision{})
		shown(t, err, "temporarily_unavailable")
	})
}

func TestUnknownDocumentClient(t *testing.T) {
	t.Parallel()
	const unknown = "https://new.example/client.json"
	t.Run("CI-15 nobody signed in: stored unchecked, sign in first", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		form := authorizeForm(unknown, "redirect_uri", "https://evil.example/")
		request, err := w.BeginAuthorization(t.Context(), form, false)
		must(t, err)
		p, err := w.ResumeAuthorization(t.Context(), request.ID, oauth.ResourceOwner{})
		must(t, err)
		equal(t, "next", p.Next, oauth.NextSignIn)
		equal(t, "client", p.Client, nil)
		if _, fetched := w.lastStep(oauth.StepDocument); fetched {
			t.Error("the document was fetched for nobody")
		}
		_, err = w.ResumeAuthorization(t.Context(), request.ID, w.person)
		shown(t, err, "temporarily_unavailable") // this world has no network
		if _, fetched := w.lastStep(oauth.StepDocument); !fetched {
			t.Error("the document was not asked for once somebody was signed in")
		}
	})
	t.Run("AZ-16 none never shows the sign-in page", func(t *testing.T) {
		t.Parallel()
		_, err := newWorld(t).BeginAuthorization(t.Context(), authorizeForm(unknown, "prompt", "none"), false)
		shown(t, err, "login_required")
	})
}

func TestStoredParameters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	form := authorizeForm(publicClient, "junk", strings.Repeat("x", 1000))
	request, err := w.store.Request(t.Context(), w.begin(form))
	must(t, err)
	if _, kept := request.Parameters["junk"]; kept {
		t.Error("an unknown parameter was stored")
	}
	if !slices.Equal(request.Parameters["state"], []string{"st"}) {
		t.Errorf("state is %q", request.Parameters["state"])
	}
}
