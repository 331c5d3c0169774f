package oauth_test

import (
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gatehouse/oauth"
)

func TestDecideAllow(t *testing.T) {
	t.Parallel()
	t.Run("IS-1 AZ-9 RU-10 the answer is complete", func(t *testing.T) {
		t.Parallel()
		for _, state := range []string{"st", "", "a b+c%/=:&?#é\x00\"", strings.Repeat("x", 2048)} {
			w := newWorld(t)
			answer, err := w.Decide(t.Context(), w.begin(authorizeForm(publicClient, "state", state)), w.person, oauth.Decision{Allow: true, Scopes: []string{"read"}})
			must(t, err)
			if !strings.HasPrefix(answer.RedirectURI, redirectURI+"&") {
				t.Errorf("answer goes to %s", answer.RedirectURI)
			}
			got := query(t, answer.RedirectURI)
			equal(t, "state", got.Get("state"), state)
			equal(t, "state sent", got.Has("state"), true)
			equal(t, "iss", got.Get("iss"), issuer)
			equal(t, "AZ-13 a success always redirects", answer.Untrusted || answer.Denied, false)
			equal(t, "host", answer.Host, "app.example")
			if strings.Contains(answer.RedirectURI, challengeOf(verifier)) {
				t.Error("PK-7 the challenge is in the answer")
			}
		}
	})
	t.Run("AZ-9 no state, none sent back", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		answer, err := w.Decide(t.Context(), w.begin(authorizeForm(publicClient, "state", "-")), w.person, oauth.Decision{Allow: true, Scopes: []string{"read"}})
		must(t, err)
		equal(t, "state sent", query(t, answer.RedirectURI).Has("state"), false)
	})
	t.Run("RU-2 RU-10 the port of the request is used", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		form := authorizeForm(publicClient, "redirect_uri", "http://127.0.0.1:52800/cb")
		answer, err := w.Decide(t.Context(), w.begin(form), w.person, oauth.Decision{Allow: true, Scopes: []string{"read"}})
		must(t, err)
		if !strings.HasPrefix(answer.RedirectURI, "http://127.0.0.1:52800/cb?code=gtc_") {
			t.Errorf("answer goes to %s", answer.RedirectURI)
		}
	})
	t.Run("AZ-11 CN-58 what the code is bound to", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		ends := w.clock.Now().Add(24 * time.Hour)
		id := w.begin(authorizeForm(publicClient, "resource", mainResource))
		answer, err := w.Decide(t.Context(), id, w.person, oauth.Decision{
			Allow: true, Scopes: []string{"write", "side:read"}, Terms: json.RawMessage(`{"a":1}`), ExpiresAt: &ends,
		})
		must(t, err)
		secret := query(t, answer.RedirectURI).Get("code")
		if strings.Trim(secret, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") != "" || len(secret) < 43 {
			t.Errorf("X-13 code %q", secret)
		}
		code, err := w.store.Code(t.Context(), oauth.HashSecret(secret))
		must(t, err)
		equal(t, "client", code.Approval.ClientID, publicClient)
		equal(t, "person", code.Approval.UserID, "alice")
		equal(t, "resource", code.Approval.Resource, mainResource)
		equal(t, "scopes: only offered ones, with those included", strings.Join(code.Approval.Scopes, " "), "read write")
		equal(t, "terms", string(code.Approval.Terms), `{"a":1}`)
		equal(t, "end", *code.Approval.ExpiresAt, ends)
		equal(t, "redirect URI", code.RedirectURI, redirectURI)
		equal(t, "challenge", code.CodeChallenge, challengeOf(verifier))
		equal(t, "auth time", code.AuthTime, w.person.AuthTime)
		equal(t, "life", code.ExpiresAt.Sub(code.IssuedAt), time.Minute)
		equal(t, "request", code.RequestID, oauth.RequestCorrelation(id))
	})
	t.Run("nothing ticked leaves the request open", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		id := w.begin(authorizeForm(publicClient, "scope", "read"))
		for _, scopes := range [][]string{nil, {}, {"nonsense"}} {
			if _, err := w.Decide(t.Context(), id, w.person, oauth.Decision{Allow: true, Scopes: scopes}); !errors.Is(err, oauth.ErrNoScope) {
				t.Errorf("error is %v", err)
			}
		}
		_, err := w.Decide(t.Context(), id, w.person, oauth.Decision{Allow: true, Scopes: []string{"read"}})
		must(t, err)
	})
	t.Run("CS-4 an end in the past is refused", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		past := w.clock.Now()
		_, err := w.Decide(t.Context(), w.begin(authorizeForm(publicClient)), w.person, oauth.Decision{Allow: true, Scopes: []string{"read"}, ExpiresAt: &past})
		shown(t, err, "invalid_request")
	})
	t.Run("nobody signed in decides nothing", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		_, err := w.Decide(t.Context(), w.begin(authorizeForm(publicClient)), oauth.ResourceOwner{}, oauth.Decision{Allow: true, Scopes: []string{"read"}})
		shown(t, err, "login_required")
	})
}

func TestDecideDeny(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, client, refusal, description string
		untrusted                          bool
	}{
		{"AZ-10 denial", documentURL, "", "The resource owner denied the request.", false},
		{"AZ-13 denial to a self-registered client is shown", publicClient, "", "The resource owner denied the request.", true},
		{"CN-56 the program refuses", documentURL, "plan_limit: not in this plan", "plan_limit: not in this plan", false},
		{"X-7 a description is cleaned", documentURL, "plan \"x\"\\\n é", "plan x ", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			answer, err := w.Decide(t.Context(), w.begin(authorizeForm(c.client)), w.person, oauth.Decision{Refusal: c.refusal})
			must(t, err)
			got := query(t, answer.RedirectURI)
			equal(t, "error", got.Get("error"), "access_denied")
			equal(t, "description", got.Get("error_description"), c.description)
			equal(t, "IS-1 iss", got.Get("iss"), issuer)
			equal(t, "AZ-9 state", got.Get("state"), "st")
			equal(t, "code", got.Has("code"), false)
			equal(t, "denied", answer.Denied, true)
			equal(t, "untrusted", answer.Untrusted, c.untrusted)
		})
	}
}

func TestDecideOnce(t *testing.T) {
	t.Parallel()
	t.Run("CS-5 a second click sees a friendly state", func(t *testing.T) {
		t.Parallel()
		for outcome, allow := range map[string]bool{oauth.OutcomeAllowed: true, oauth.OutcomeDenied: false} {
			w := newWorld(t)
			id := w.begin(authorizeForm(publicClient))
			_, err := w.Decide(t.Context(), id, w.person, oauth.Decision{Allow: allow, Scopes: []string{"read"}})
			must(t, err)
			if _, err = w.Decide(t.Context(), id, w.person, oauth.Decision{Allow: true, Scopes: []string{"read"}}); !errors.Is(err, oauth.ErrUsed) {
				t.Errorf("error is %v", err)
			}
			w.clock.Advance(time.Hour) // also when it has long expired
			p, err := w.ResumeAuthorization(t.Context(), id, w.person)
			must(t, err)
			equal(t, "next", p.Next, oauth.NextDecided)
			equal(t, "outcome", p.Outcome, outcome)
		}
	})
	t.Run("KE-126 CS-5 a decision does not outlive its sign-in", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.person.SignIn = "this browser"
		id := w.begin(authorizeForm(publicClient))
		w.store.EndSignIn("this browser")
		_, err := w.Decide(t.Context(), id, w.person, oauth.Decision{Allow: true, Scopes: []string{"read"}})
		var refused *oauth.Error
		if !errors.As(err, &refused) || refused.Code != "login_required" || refused.Check != "sign_in" {
			t.Errorf("error is %v", err)
		}
		w.person.SignIn = "another browser"
		if _, err := w.Decide(t.Context(), id, w.person, oauth.Decision{Allow: true, Scopes: []string{"read"}}); err != nil {
			t.Errorf("the request is lost for the next sign-in: %v", err)
		}
	})
	t.Run("CS-5 twenty clicks make one code", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		id := w.begin(authorizeForm(publicClient))
		var mu sync.Mutex
		var wg sync.WaitGroup
		var codes []string
		for range 20 {
			wg.Go(func() {
				answer, err := w.Decide(t.Context(), id, w.person, oauth.Decision{Allow: true, Scopes: []string{"read"}})
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					codes = append(codes, answer.RedirectURI)
				} else if !errors.Is(err, oauth.ErrUsed) {
					t.Errorf("error is %v", err)
				}
			})
		}
		wg.Wait()
		equal(t, "codes", len(codes), 1)
	})
}

func TestRedirectErrorLocation(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, uri, want string }{
		{"RU-10 query kept", "https://a.example/cb?x=%20y", "https://a.example/cb?x=%20y&error=access_denied&error_description=no%20way&iss=https%3A%2F%2Fauth.example&state="},
		{"no query", "https://a.example/cb", "https://a.example/cb?error=access_denied&error_description=no%20way&iss=https%3A%2F%2Fauth.example&state="},
		{"RU-7 private-use scheme", "cursor://host/cb", "cursor://host/cb?error=access_denied&error_description=no%20way&iss=https%3A%2F%2Fauth.example&state="},
		{"RU-11 line break", "https://a.example/\r\ncb", ""},
		{"RU-11 not a URI", "https://a b/", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := &oauth.RedirectError{Err: oauth.AccessDenied("no way"), RedirectURI: c.uri, HasState: true}
			equal(t, "location", e.Location(issuer), c.want)
		})
	}
	t.Run("RU-11 hostile state stays inside its parameter", func(t *testing.T) {
		t.Parallel()
		e := &oauth.RedirectError{Err: oauth.AccessDenied(""), RedirectURI: "https://a.example/", HasState: true, State: "x\r\nSet-Cookie: a=b&code=1"}
		location := e.Location(issuer)
		if strings.ContainsAny(location, "\r\n ") {
			t.Errorf("location is %q", location)
		}
		got := query(t, location)
		equal(t, "state", got.Get("state"), e.State)
		if keys := slices.Sorted(keysOf(got)); !slices.Equal(keys, []string{"error", "iss", "state"}) {
			t.Errorf("parameters are %v", keys)
		}
	})
}

func keysOf(v url.Values) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for k := range v {
			if !yield(k) {
				return
			}
		}
	}
}
