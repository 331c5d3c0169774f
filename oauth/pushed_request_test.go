package oauth_test

import (
	"errors"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"gatehouse/oauth"
)

// push sends a request and returns its request_uri.
func (w *world) push(client string, changes ...string) string {
	w.t.Helper()
	answer, err := w.PushAuthorization(w.t.Context(), authorizeForm(client, changes...), authOf(client))
	must(w.t, err)
	if !strings.HasPrefix(answer.RequestURI, "urn:ietf:params:oauth:request_uri:") || len(answer.RequestURI) < 70 || answer.ExpiresIn != 90 {
		w.t.Fatalf("PA-1 answer %+v", answer)
	}
	return answer.RequestURI
}

func reference(client, uri string, changes ...string) url.Values {
	return changed(url.Values{"client_id": {client}, "request_uri": {uri}}, changes)
}

func TestPushedRequest(t *testing.T) {
	t.Parallel()
	t.Run("PA-1 PA-3 from push to tokens", func(t *testing.T) {
		t.Parallel()
		for _, client := range []string{publicClient, secretClient, documentURL} {
			w := newWorld(t)
			uri := w.push(client, "scope", "read")
			id := w.begin(reference(client, uri))
			answer, err := w.Decide(t.Context(), id, w.person, oauth.Decision{Allow: true, Scopes: []string{"read"}})
			must(t, err)
			q := query(t, answer.RedirectURI)
			equal(t, "state", q.Get("state"), "st")
			equal(t, "keep", q.Get("keep"), "1")
			_, err = w.exchange(client, q.Get("code"))
			must(t, err)
			_, err = w.BeginAuthorization(t.Context(), reference(client, uri), true)
			if e := shown(t, err, "invalid_request"); e.Check != "request" {
				t.Errorf("PA-3 after the decision: check %q", e.Check)
			}
		}
	})
	t.Run("PA-3 a reload leads to the same request, in another process too", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		uri := w.push(publicClient)
		first := w.begin(reference(publicClient, uri))
		w.clock.Advance(5 * time.Minute) // past the life of the reference, within that of the request
		again, err := w.another().BeginAuthorization(t.Context(), reference(publicClient, uri), false)
		must(t, err)
		equal(t, "request", again.ID, first)
		if strings.HasSuffix(uri, first) {
			t.Error("the reference is the request's own id")
		}
		w.clock.Advance(6 * time.Minute)
		_, err = w.BeginAuthorization(t.Context(), reference(publicClient, uri), true)
		shown(t, err, "invalid_request")
	})
	t.Run("PA-3 twenty browsers at once get one request", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		uri := w.push(publicClient)
		var wg sync.WaitGroup
		ids := make([]string, 20)
		for i := range ids {
			wg.Go(func() {
				if r, err := w.BeginAuthorization(t.Context(), reference(publicClient, uri), true); err == nil {
					ids[i] = r.ID
				}
			})
		}
		wg.Wait()
		for _, id := range ids {
			if id == "" || id != ids[0] {
				t.Fatalf("ids %q", ids)
			}
		}
	})
	t.Run("PA-3 only client_id and request_uri count", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		id := w.begin(reference(publicClient, w.push(publicClient, "state", "pushed"),
			"state", "other", "redirect_uri", "https://evil.example/", "scope", "extra", "response_type", "token", "request", "x"))
		p, err := w.ResumeAuthorization(t.Context(), id, w.person)
		must(t, err)
		equal(t, "redirect URI", p.RedirectURI, redirectURI)
		answer, err := w.Decide(t.Context(), id, w.person, oauth.Decision{})
		must(t, err)
		equal(t, "state", query(t, answer.RedirectURI).Get("state"), "pushed")
	})
	t.Run("PA-3 unknown, foreign and expired references are shown", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		uri := w.push(publicClient)
		for name, form := range map[string]url.Values{
			"unknown":      reference(publicClient, uri+"x"),
			"empty":        reference(publicClient, "urn:ietf:params:oauth:request_uri:"),
			"foreign":      reference(secretClient, uri),
			"no client_id": reference(publicClient, uri, "client_id", "-"),
			"client twice": {"client_id": {publicClient, publicClient}, "request_uri": {uri}},
		} {
			_, err := w.BeginAuthorization(t.Context(), form, true)
			if e := shown(t, err, "invalid_request"); e.Status != 400 {
				t.Errorf("%s: status %d", name, e.Status)
			}
		}
		w.begin(reference(publicClient, uri)) // the failures used nothing up
		late := w.push(publicClient)
		w.clock.Advance(90 * time.Second)
		_, err := w.BeginAuthorization(t.Context(), reference(publicClient, late), true)
		shown(t, err, "invalid_request")
	})
	t.Run("PA-1 a client blocked after the push", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		uri := w.push(publicClient)
		c, err := w.store.Client(t.Context(), publicClient)
		must(t, err)
		now := w.clock.Now()
		c.BlockedAt = &now
		w.saveClient(c)
		_, err = w.BeginAuthorization(t.Context(), reference(publicClient, uri), true)
		shown(t, err, "invalid_client")
	})
	t.Run("AZ-16 prompt=none and nobody there", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		_, err := w.BeginAuthorization(t.Context(), reference(documentURL, w.push(documentURL, "prompt", "none")), false)
		sent(t, err, "login_required")
	})
	t.Run("X-10 the store is down", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		uri := w.push(publicClient)
		w.store.Fail(errors.New("gone"))
		_, err := w.BeginAuthorization(t.Context(), reference(publicClient, uri), true)
		shown(t, err, "temporarily_unavailable")
		_, err = w.PushAuthorization(t.Context(), authorizeForm(publicClient), authOf(publicClient))
		shown(t, err, "temporarily_unavailable")
	})
}

func TestPushRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		form   url.Values
		auth   oauth.ClientAuthentication
		code   string
		status int
	}{
		{"PA-1 no client", authorizeForm(publicClient), oauth.ClientAuthentication{}, "invalid_client", 401},
		{"PA-1 unknown client", authorizeForm("nobody"), authOf("nobody"), "invalid_client", 401},
		{"PA-1 no proof", authorizeForm(secretClient), oauth.ClientAuthentication{ClientID: secretClient}, "invalid_client", 401},
		{"PA-2 request_uri of ours", authorizeForm(publicClient, "request_uri", "urn:ietf:params:oauth:request_uri:x"), authOf(publicClient), "invalid_request", 400},
		{"PA-2 request_uri", authorizeForm(publicClient, "request_uri", "https://x.example/"), authOf(publicClient), "invalid_request", 400},
		{"JA-1 request object", authorizeForm(publicClient, "request", "a.b.c"), authOf(publicClient), "request_not_supported", 400},
		{"AZ-2 unregistered redirect URI", authorizeForm(publicClient, "redirect_uri", "https://evil.example/"), authOf(publicClient), "invalid_request", 400},
		{"AZ-4 no response_type", authorizeForm(publicClient, "response_type", "-"), authOf(publicClient), "invalid_request", 400},
		{"AZ-4 token", authorizeForm(publicClient, "response_type", "token"), authOf(publicClient), "unsupported_response_type", 400},
		{"AZ-7 unknown scope", authorizeForm(publicClient, "scope", "nothing"), authOf(publicClient), "invalid_scope", 400},
		{"PK-1 no challenge", authorizeForm(publicClient, "code_challenge", "-"), authOf(publicClient), "invalid_request", 400},
		{"RI-1 unknown resource", authorizeForm(publicClient, "resource", "https://other.example/"), authOf(publicClient), "invalid_target", 400},
		{"X-4 scope twice", url.Values{"client_id": {publicClient}, "scope": {"a", "b"}}, authOf(publicClient), "invalid_request", 400},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			_, err := w.PushAuthorization(t.Context(), tt.form, tt.auth)
			e := shown(t, err, tt.code)
			equal(t, "status", e.Status, tt.status)
			if s, ok := w.lastStep(oauth.StepAuthorize); !ok || s.OK || s.Reason != e.Description {
				t.Errorf("observed %+v", s)
			}
		})
	}
}

func TestRequirePushed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c, err := w.store.Client(t.Context(), publicClient)
	must(t, err)
	c.RequirePushed = true
	w.saveClient(c)
	_, err = w.BeginAuthorization(t.Context(), authorizeForm(publicClient), true)
	if e := sent(t, err, "invalid_request"); e.Err.Check != "request_uri" || e.State != "st" {
		t.Errorf("PA-4 %+v", e)
	}
	id := w.begin(reference(publicClient, w.push(publicClient)))
	if _, err := w.ResumeAuthorization(t.Context(), id, w.person); err != nil {
		t.Errorf("PA-4 %v", err)
	}
	if _, err := w.Decide(t.Context(), id, w.person, oauth.Decision{Allow: true, Scopes: []string{"read"}}); err != nil {
		t.Errorf("PA-4 %v", err)
	}
	r, err := w.Register(t.Context(), []byte(`{"redirect_uris":["https://a.example/cb"],"require_pushed_authorization_requests":true}`))
	must(t, err)
	equal(t, "PA-4 registered", r.RequirePushed, true)
	_, err = w.Register(t.Context(), []byte(`{"redirect_uris":["https://a.example/cb"],"require_pushed_authorization_requests":"yes"}`))
	shown(t, err, "invalid_client_metadata")
}
