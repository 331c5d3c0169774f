package oauth_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"gatehouse/oauth"
)

// letters is a type of authorization details of one object with a list of letters; no object means all.
func letters(cfg *oauth.Config) {
	read := func(objects []json.RawMessage) []string {
		var v struct {
			Letters []string `json:"letters"`
		}
		if len(objects) == 0 || json.Unmarshal(objects[0], &v) != nil {
			return []string{"a", "b", "c"}
		}
		return v.Letters
	}
	write := func(list []string) []json.RawMessage {
		raw, _ := json.Marshal(map[string]any{"type": "letters", "letters": list})
		return []json.RawMessage{raw}
	}
	cfg.DetailTypes = []oauth.DetailType{{
		Name: "letters",
		Check: func(resource string, objects []json.RawMessage) ([]json.RawMessage, error) {
			list := slices.Clone(read(objects))
			slices.Sort(list)
			if len(objects) > 1 || len(list) == 0 || resource != mainResource {
				return nil, errors.New("The letters are wrong.")
			}
			return write(list), nil
		},
		Within: func(asked, granted []json.RawMessage) bool {
			return !slices.ContainsFunc(read(asked), func(l string) bool { return !slices.Contains(read(granted), l) })
		},
		Meet: func(asked, granted []json.RawMessage) []json.RawMessage {
			both := slices.DeleteFunc(slices.Clone(read(asked)), func(l string) bool { return !slices.Contains(read(granted), l) })
			if len(both) == 0 {
				return nil
			}
			return write(both)
		},
	}}
	cfg.Resources[0].Scopes = append(cfg.Resources[0].Scopes, oauth.Scope{Name: oauth.ScopeGrantQuery, Reserved: true}, oauth.Scope{Name: oauth.ScopeGrantRevoke, Reserved: true})
}

const (
	lettersAB = `[{"letters":["a","b"],"type":"letters"}]`
	lettersA  = `[{"letters":["a"],"type":"letters"}]`
	lettersC  = `[{"letters":["c"],"type":"letters"}]`
)

func TestAuthorizationDetails(t *testing.T) {
	t.Parallel()
	t.Run("RA-1 refused at authorize, at a push and at the token endpoint", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, letters)
		tokens := w.connect(secretClient, "read")
		for _, bad := range []string{"{}", "[]", "[1]", `[{}]`, `[{"type":"other"}]`, `[{"type":"letters","letters":[]}]`, lettersA[:len(lettersA)-1] + "," + lettersA[1:], "[" + strings.Repeat(" ", 4000) + "]"} {
			_, err := w.BeginAuthorization(t.Context(), authorizeForm(secretClient, "authorization_details", bad), true)
			sent(t, err, "invalid_authorization_details")
			_, err = w.PushAuthorization(t.Context(), authorizeForm(secretClient, "authorization_details", bad), authOf(secretClient))
			shown(t, err, "invalid_authorization_details")
			_, err = w.refresh(secretClient, tokens.RefreshToken, "authorization_details", bad)
			shown(t, err, "invalid_authorization_details")
		}
		_, err := newWorld(t).BeginAuthorization(t.Context(), authorizeForm(secretClient, "authorization_details", lettersA), true)
		sent(t, err, "invalid_authorization_details")
	})
	t.Run("RA-2 granted details come back in the answer, the token and introspection; the person may give less", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, letters)
		code := w.approve(secretClient, []string{"read"}, "authorization_details", `[{"type":"letters","letters":["b","a"]}]`)
		tokens, err := w.exchange(secretClient, code)
		must(t, err)
		equal(t, "answer", string(tokens.AuthorizationDetails), lettersAB)
		seen, err := w.Introspect(t.Context(), map[string][]string{"token": {tokens.AccessToken}}, authOf(secretClient))
		must(t, err)
		equal(t, "introspection", string(seen.AuthorizationDetails), lettersAB)
		at, err := w.VerifyAccessToken(t.Context(), tokens.AccessToken, mainResource)
		must(t, err)
		equal(t, "token", string(at.Details)+" "+string(tokens.Scope), lettersAB+" read")
		equal(t, "narrowed", at.DetailsNarrowed, false)

		code = w.approveWith(authorizeForm(secretClient, "authorization_details", lettersAB), oauth.Decision{Allow: true, Scopes: []string{"read"}, Details: json.RawMessage(lettersA)})
		less, err := w.exchange(secretClient, code)
		must(t, err)
		equal(t, "chosen", string(less.AuthorizationDetails), lettersA)
		code = w.approveWith(authorizeForm(secretClient, "authorization_details", lettersAB), oauth.Decision{Allow: true, Scopes: []string{"read"}, Details: json.RawMessage("[]")})
		none, err := w.exchange(secretClient, code)
		must(t, err)
		equal(t, "none", len(none.AuthorizationDetails), 0)
	})
	t.Run("RA-2 a token request narrows its token alone and never widens", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, letters)
		code := w.approve(secretClient, []string{"read"}, "authorization_details", lettersAB)
		_, err := w.exchange(secretClient, code, "authorization_details", lettersC)
		shown(t, err, "invalid_authorization_details")
		tokens, err := w.exchange(secretClient, code, "authorization_details", lettersA)
		must(t, err)
		equal(t, "at the exchange", string(tokens.AuthorizationDetails), lettersA)
		at, err := w.VerifyAccessToken(t.Context(), tokens.AccessToken, mainResource)
		must(t, err)
		equal(t, "narrowed", at.DetailsNarrowed, true)
		all, err := w.refresh(secretClient, tokens.RefreshToken)
		must(t, err)
		equal(t, "the connection keeps all", string(all.AuthorizationDetails), lettersAB)
		_, err = w.refresh(secretClient, tokens.RefreshToken, "authorization_details", lettersC)
		shown(t, err, "invalid_authorization_details")

		// The person takes letters away: what was granted once is no error, only no longer given.
		again := w.approveWith(authorizeForm(secretClient), oauth.Decision{Allow: true, Scopes: []string{"read"}, Details: json.RawMessage(`[{"type":"letters","letters":["b","c"]}]`)})
		_, err = w.exchange(secretClient, again)
		must(t, err)
		seen, err := w.Introspect(t.Context(), map[string][]string{"token": {tokens.AccessToken}}, authOf(secretClient))
		must(t, err)
		equal(t, "a narrowed token that is good for nothing any more", string(seen.AuthorizationDetails), "[]")
		same, err := w.refresh(secretClient, tokens.RefreshToken, "authorization_details", lettersAB)
		must(t, err)
		equal(t, "repeating what was granted", string(same.AuthorizationDetails), `[{"letters":["b","c"],"type":"letters"}]`)
		_, err = w.refresh(secretClient, tokens.RefreshToken, "authorization_details", lettersA)
		shown(t, err, "invalid_authorization_details")
	})
	t.Run("MD-1 the metadata names what works", func(t *testing.T) {
		t.Parallel()
		m := newWorld(t, letters).Metadata()
		equal(t, "types", strings.Join(m.AuthorizationDetailsTypesSupported, " "), "letters")
		equal(t, "endpoint", m.GrantManagementEndpoint, issuer+"/grants")
		equal(t, "actions", strings.Join(m.GrantManagementActionsSupported, " "), "query revoke create merge replace")
		plain := newWorld(t).Metadata()
		equal(t, "without", len(plain.AuthorizationDetailsTypesSupported)+len(plain.GrantManagementEndpoint), 0)
		equal(t, "without a scope for it", strings.Join(plain.GrantManagementActionsSupported, " "), "create merge replace")
	})
}

func TestGrantManagement(t *testing.T) {
	t.Parallel()
	access := func(token string) oauth.GrantAccess { return oauth.GrantAccess{Scheme: "Bearer", Token: token} }
	t.Run("GM-2 the parameters", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, letters)
		tokens := w.connect(secretClient, "read")
		foreign := w.connect(publicClient, "read")
		for _, c := range []struct{ action, id, code string }{
			{"-", tokens.GrantID, "invalid_request"}, {"create", tokens.GrantID, "invalid_request"}, {"merge", "-", "invalid_request"}, {"update", tokens.GrantID, "invalid_request"},
			{"merge", "nothing", "invalid_grant_id"}, {"replace", foreign.GrantID, "invalid_grant_id"},
		} {
			form := authorizeForm(secretClient, "grant_management_action", c.action, "grant_id", c.id)
			_, err := w.BeginAuthorization(t.Context(), form, true)
			sent(t, err, c.code)
			_, err = w.PushAuthorization(t.Context(), form, authOf(secretClient))
			shown(t, err, c.code)
		}
		w.store.AddUser("bob")
		id := w.begin(authorizeForm(secretClient, "grant_management_action", "merge", "grant_id", tokens.GrantID))
		bob := oauth.ResourceOwner{UserID: "bob", AuthTime: w.clock.Now()}
		_, err := w.ResumeAuthorization(t.Context(), id, bob)
		sent(t, err, "invalid_grant_id")
		_, err = w.Decide(t.Context(), id, bob, oauth.Decision{Allow: true, Scopes: []string{"read"}})
		sent(t, err, "invalid_grant_id")
	})
	t.Run("GM-2 merge keeps the scopes of the grant", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, letters)
		first := w.connect(secretClient, "write")
		code := w.approve(secretClient, []string{"extra"}, "scope", "extra", "grant_management_action", "merge", "grant_id", first.GrantID)
		merged, err := w.exchange(secretClient, code)
		must(t, err)
		equal(t, "scope", merged.Scope, "read write extra")
		equal(t, "grant", merged.GrantID, first.GrantID)
	})
	t.Run("GM-2 the scopes are for clients that an administrator entered, and only when asked", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, letters)
		tokens := w.connect(publicClient, "read", "grant_management_query")
		equal(t, "a client that registered itself", tokens.Scope, "read")
		_, err := w.BeginAuthorization(t.Context(), authorizeForm(publicClient, "scope", "grant_management_query"), true)
		sent(t, err, "invalid_scope")
		equal(t, "not asked", w.connect(secretClient, "read").Scope, "read")
		tokens = w.connect(secretClient, "read", "grant_management_query")
		equal(t, "asked", tokens.Scope, "read grant_management_query")
		_, err = w.QueryGrant(t.Context(), tokens.GrantID, access(tokens.AccessToken))
		must(t, err)
		_, err = w.RevokeGrant(t.Context(), tokens.GrantID, access(tokens.AccessToken))
		shown(t, err, "insufficient_scope")
	})
	t.Run("GM-2 only a living token of the same client and person", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, letters)
		all := []string{"read", "grant_management_query", "grant_management_revoke"}
		alice := w.connect(secretClient, all...)
		w.store.AddUser("bob")
		w.person = oauth.ResourceOwner{UserID: "bob", AuthTime: w.clock.Now()}
		bob := w.connect(secretClient, all...)
		equal(t, "status", 404, func() int {
			_, err := w.QueryGrant(t.Context(), alice.GrantID, access(bob.AccessToken))
			return shown(t, err, "invalid_grant_id").Status
		}())
		_, err := w.RevokeGrant(t.Context(), alice.GrantID, access(bob.AccessToken))
		shown(t, err, "invalid_grant_id")
		for _, a := range []oauth.GrantAccess{{}, {Scheme: "Basic", Token: alice.AccessToken}, access("x"), access(alice.RefreshToken), {Scheme: "DPoP", Token: alice.AccessToken}} {
			_, err := w.QueryGrant(t.Context(), alice.GrantID, a)
			if e := shown(t, err, "invalid_token"); e.Status != 401 || e.Challenge == "" {
				t.Errorf("%+v: %+v", a, e)
			}
		}
		narrowed, err := w.refresh(secretClient, alice.RefreshToken, "scope", "read")
		must(t, err)
		_, err = w.QueryGrant(t.Context(), alice.GrantID, access(narrowed.AccessToken))
		shown(t, err, "insufficient_scope")
		ended, err := w.RevokeGrant(t.Context(), alice.GrantID, access(alice.AccessToken))
		must(t, err)
		equal(t, "ended", ended.ID, alice.GrantID)
		_, err = w.QueryGrant(t.Context(), alice.GrantID, access(alice.AccessToken))
		shown(t, err, "invalid_token")
		_, err = w.refresh(secretClient, alice.RefreshToken)
		shown(t, err, "invalid_grant")
	})
}

func TestAnswerAgain(t *testing.T) {
	t.Parallel()
	allowed := func(w *world) (string, *oauth.AuthorizationResponse) {
		w.person.SignIn = "session 1"
		id := w.begin(authorizeForm(publicClient))
		answer, err := w.Decide(w.t.Context(), id, w.person, oauth.Decision{Allow: true, Scopes: []string{"read"}})
		must(w.t, err)
		return id, answer
	}
	t.Run("CS-5 the same sign-in gets the same answer", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		id, first := allowed(w)
		again, err := w.another().AnswerAgain(t.Context(), id, w.person)
		must(t, err)
		equal(t, "answer", again.RedirectURI, first.RedirectURI)
	})
	for name, change := range map[string]func(w *world, id string, first *oauth.AuthorizationResponse) string{
		"another sign-in": func(w *world, id string, _ *oauth.AuthorizationResponse) string {
			w.person.SignIn = "session 2"
			return id
		},
		"no sign-in": func(w *world, id string, _ *oauth.AuthorizationResponse) string { w.person.SignIn = ""; return id },
		"a minute later": func(w *world, id string, _ *oauth.AuthorizationResponse) string {
			w.clock.Advance(time.Minute)
			return id
		},
		"the code was used": func(w *world, id string, first *oauth.AuthorizationResponse) string {
			_, err := w.exchange(publicClient, query(w.t, first.RedirectURI).Get("code"))
			must(w.t, err)
			return id
		},
		"denied": func(w *world, _ string, _ *oauth.AuthorizationResponse) string {
			id := w.begin(authorizeForm(publicClient))
			_, err := w.Decide(w.t.Context(), id, w.person, oauth.Decision{})
			must(w.t, err)
			return id
		},
	} {
		t.Run("CS-5 nothing after: "+name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			id, first := allowed(w)
			if _, err := w.AnswerAgain(t.Context(), change(w, id, first), w.person); !errors.Is(err, oauth.ErrUsed) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func FuzzDetails(f *testing.F) {
	f.Add(lettersAB)
	f.Add(`[{"type":"letters"},{"type":1}]`)
	w := newWorld(f, letters)
	f.Fuzz(func(t *testing.T, details string) {
		_, err := w.BeginAuthorization(t.Context(), authorizeForm(secretClient, "authorization_details", details), true)
		var e *oauth.RedirectError
		if err != nil && (!errors.As(err, &e) || e.Err.Code != "invalid_authorization_details") {
			t.Fatalf("%q: %v", details, err)
		}
	})
}
