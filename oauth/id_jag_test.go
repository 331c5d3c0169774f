package oauth_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"gatehouse/oauth"
	"gatehouse/oauth/oauthtest"
)

const idpIssuer = "https://idp.example"

// trusting is a world with a trusted issuer.
func trusting(t testing.TB, change func(*oauth.TrustedIssuer)) (*world, *oauthtest.IdentityProvider) {
	t.Helper()
	w := newGrantWorld(t)
	idp := oauthtest.NewIdentityProvider(t, idpIssuer, w.clock.Now)
	trusted := oauth.TrustedIssuer{Issuer: idpIssuer, JWKS: idp.KeySet(), Algorithms: []string{"ES256"}}
	if change != nil {
		change(&trusted)
	}
	w.store.TrustIssuer(trusted)
	return w, idp
}

func jagForm(assertion string, changes ...string) url.Values {
	return changed(url.Values{"grant_type": {oauth.GrantJWTBearer}, "assertion": {assertion}}, changes)
}

func (w *world) assert(assertion string, changes ...string) (*oauth.TokenResponse, error) {
	w.t.Helper()
	return w.withSecret(assertingClient, jagForm(assertion, changes...))
}

func TestIDJAG(t *testing.T) {
	t.Parallel()
	t.Run("IJ-1, IJ-3 a good assertion gives a token of the person, without a refresh token", func(t *testing.T) {
		t.Parallel()
		w, idp := trusting(t, nil)
		tokens, err := w.assert(idp.Assert(issuer, assertingClient, "alice@idp", "aud", []string{issuer}, "auth_time", 1, "amr", []string{"pwd"}))
		must(t, err)
		equal(t, "refresh token", tokens.RefreshToken, "")
		equal(t, "IJ-2 scope", tokens.Scope, "read write")
		at, err := w.VerifyAccessToken(t.Context(), tokens.AccessToken, mainResource)
		must(t, err)
		equal(t, "subject", at.Subject, "alice")
		c := w.store.Connection(at.ConnectionID)
		equal(t, "connection of", c.UserID+" "+c.ClientID, "alice "+assertingClient)
		equal(t, "terms", string(c.Terms), `{"where":"home"}`)
	})
	t.Run("IJ-3 the same assertion works again until it expires, unless the issuer's is single use", func(t *testing.T) {
		t.Parallel()
		w, idp := trusting(t, nil)
		a := idp.Assert(issuer, assertingClient, "alice@idp")
		first, err := w.assert(a)
		must(t, err)
		second, err := w.assert(a)
		must(t, err)
		equal(t, "family", second.FamilyID, first.FamilyID)
		w.clock.Advance(7 * time.Minute)
		_, err = w.assert(a)
		shown(t, err, "invalid_grant")
		strict, idp := trusting(t, func(i *oauth.TrustedIssuer) { i.SingleUse = true })
		a = idp.Assert(issuer, assertingClient, "alice@idp")
		_, err = strict.assert(a)
		must(t, err)
		_, err = strict.assert(a)
		shown(t, err, "invalid_grant")
	})
	t.Run("IJ-4 what the person changed or ended stays so", func(t *testing.T) {
		t.Parallel()
		w, idp := trusting(t, nil)
		tokens, err := w.assert(idp.Assert(issuer, assertingClient, "alice@idp"))
		must(t, err)
		w.store.Bar(tokens.ConnectionID, w.clock.Now())
		w.clock.Advance(time.Second)
		_, err = w.assert(idp.Assert(issuer, assertingClient, "alice@idp"))
		shown(t, err, "invalid_grant")
		_, err = w.GrantByAdmin(t.Context(), oauth.Approval{UserID: "alice", ClientID: assertingClient, Resource: mainResource, Scopes: []string{"read"}})
		must(t, err)
		tokens, err = w.assert(idp.Assert(issuer, assertingClient, "alice@idp"))
		must(t, err)
		equal(t, "scope", tokens.Scope, "read")
	})
	t.Run("JB-1 public and unregistered clients are unauthorized_client", func(t *testing.T) {
		t.Parallel()
		w, idp := trusting(t, nil)
		for _, client := range []string{publicClient, secretClient} {
			_, err := w.Token(t.Context(), jagForm(idp.Assert(issuer, client, "alice@idp")), authOf(client))
			shown(t, err, "unauthorized_client")
		}
	})
	t.Run("X-10 a store that is down is no fault of the client", func(t *testing.T) {
		t.Parallel()
		w, idp := trusting(t, nil)
		w.store.Fail(errors.New("down"))
		_, err := w.assert(idp.Assert(issuer, assertingClient, "alice@idp"))
		shown(t, err, "temporarily_unavailable")
	})
}

func TestIDJAGRefusals(t *testing.T) {
	t.Parallel()
	w, idp := trusting(t, func(i *oauth.TrustedIssuer) { i.Tenant, i.IgnoredClaims = "acme", []string{"groups"} })
	stranger := oauthtest.NewIdentityProvider(t, idpIssuer, w.clock.Now) // the same name, another key
	unknown := oauthtest.NewIdentityProvider(t, "https://unknown.example", w.clock.Now)
	at := func(d time.Duration) int64 { return w.clock.Now().Add(d).Unix() }
	sign := func(changes ...any) string {
		return idp.Assert(issuer, assertingClient, "alice@idp", append([]any{"tenant", "acme"}, changes...)...)
	}
	_, err := w.assert(sign("groups", []string{"a"}))
	must(t, err)
	for name, assertion := range map[string]string{
		"JB-1 unknown issuer":             unknown.Assert(issuer, assertingClient, "alice@idp", "tenant", "acme"),
		"JB-1 wrong key":                  stranger.Assert(issuer, assertingClient, "alice@idp", "tenant", "acme"),
		"JB-1 no JWT":                     "nonsense",
		"JB-1 too long":                   strings.Repeat("a", 9000),
		"IJ-1 typ JWT":                    sign("typ", "JWT"),
		"IJ-1 typ with prefix":            sign("typ", "application/oauth-id-jag+jwt"),
		"IJ-1 other audience":             sign("aud", "https://other.example"),
		"IJ-1 token endpoint as audience": sign("aud", tokenURL),
		"IJ-1 two audiences":              sign("aud", []string{issuer, "https://other.example"}),
		"IJ-1 no audience":                sign("aud", nil),
		"IJ-1 other client":               sign("client_id", machineClient),
		"IJ-1 no client":                  sign("client_id", nil),
		"IJ-1 expired":                    sign("exp", at(-2*time.Minute)),
		"IJ-1 no exp":                     sign("exp", nil),
		"IJ-1 far exp":                    sign("exp", at(3*time.Hour)),
		"IJ-1 no iat":                     sign("iat", nil),
		"IJ-1 iat in the future":          sign("iat", at(5*time.Minute)),
		"IJ-1 nbf in the future":          sign("nbf", at(5*time.Minute)),
		"IJ-1 no jti":                     sign("jti", nil),
		"IJ-1 no sub":                     sign("sub", nil),
		"IJ-1 sub of another type":        sign("sub", 7),
		"IJ-4 other tenant":               sign("tenant", "evil"),
		"IJ-4 no tenant":                  sign("tenant", nil),
		"IJ-4 nobody here":                sign("sub", "mallory"),
		"IJ-2 cnf without proof":          sign("cnf", map[string]string{"jkt": w.prover().Thumbprint()}),
		"IJ-2 cnf of another kind":        sign("cnf", map[string]string{"x5t#S256": "x"}),
		"IJ-2 authorization_details":      sign("authorization_details", []any{map[string]string{"type": "payment"}}),
		"IJ-2 unknown constraint":         sign("max_calls", 3),
		"IJ-2 actor":                      sign("act", map[string]string{"sub": "agent"}),
		"IJ-2 claim in other letters":     sign("Scope", "read"),
		"IJ-2 malformed scope":            sign("scope", "a\"b"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := w.assert(assertion)
			shown(t, err, "invalid_grant")
		})
	}
	t.Run("JB-1 no assertion", func(t *testing.T) {
		t.Parallel()
		_, err := w.assert("")
		shown(t, err, "invalid_request")
	})
	t.Run("IJ-1 an algorithm that the issuer does not use", func(t *testing.T) {
		t.Parallel()
		w, idp := trusting(t, func(i *oauth.TrustedIssuer) { i.Algorithms = []string{"RS256"} })
		_, err := w.assert(idp.Assert(issuer, assertingClient, "alice@idp"))
		shown(t, err, "invalid_grant")
	})
	t.Run("IJ-2 cnf with its proof gives a bound token", func(t *testing.T) {
		t.Parallel()
		p := w.prover()
		tokens, err := w.withSecret(assertingClient, jagForm(sign("cnf", map[string]string{"jkt": p.Thumbprint()})), p.Proof("POST", tokenURL, ""))
		must(t, err)
		equal(t, "type", tokens.TokenType, "DPoP")
	})
}

func TestIDJAGBounds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		claims  []any
		request []string
		scope   string
		refused string
	}{
		{"IJ-2 scope of the assertion alone", []any{"scope", "read"}, nil, "read", ""},
		{"IJ-2 the request narrows", []any{"scope", "write"}, []string{"scope", "read"}, "read", ""},
		{"IJ-2 the request cannot widen", []any{"scope", "read"}, []string{"scope", "write"}, "read", ""},
		{"IJ-2 unknown scopes beside a known one", []any{"scope", "read openid"}, nil, "read", ""},
		{"IJ-2 nothing of it is allowed", []any{"scope", "read"}, []string{"scope", "extra"}, "", "invalid_scope"},
		{"IJ-2 an empty scope allows nothing", []any{"scope", ""}, nil, "", "invalid_scope"},
		{"IJ-2 more than the issuer may give", []any{"scope", "extra"}, nil, "", "invalid_scope"},
		{"RI-5 resource of the assertion", []any{"resource", mainResource}, nil, "read write", ""},
		{"RI-5 resource in the request", nil, []string{"resource", mainResource}, "read write", ""},
		{"IJ-2 resources of which one is ours", []any{"resource", []string{"https://x.example", mainResource}}, nil, "read write", ""},
		{"IJ-2 resource outside the bound", []any{"resource", sideResource}, []string{"resource", mainResource}, "", "invalid_target"},
		{"IJ-2 no resource of ours", []any{"resource", "https://x.example"}, nil, "", "invalid_target"},
		{"IJ-2 two of ours and no choice", []any{"resource", []string{mainResource, sideResource}}, nil, "", "invalid_target"},
		{"IJ-2 two of ours and a choice", []any{"resource", []string{mainResource, sideResource}}, []string{"resource", mainResource}, "read write", ""},
		{"IJ-2 no details", []any{"authorization_details", []any{}}, nil, "read write", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w, idp := trusting(t, nil)
			tokens, err := w.assert(idp.Assert(issuer, assertingClient, "alice@idp", tt.claims...), tt.request...)
			if tt.refused != "" {
				shown(t, err, tt.refused)
				return
			}
			must(t, err)
			equal(t, "scope", tokens.Scope, tt.scope)
			at, err := w.VerifyAccessToken(t.Context(), tokens.AccessToken, mainResource)
			must(t, err)
			// What was limited stays so when the person widens the connection later.
			limited := len(tt.claims) > 0 && tt.claims[0] == "scope" || len(tt.request) > 0 && tt.request[0] == "scope"
			equal(t, "narrowed", at.Narrowed, limited)
		})
	}
}

// FuzzIDJAG: no assertion that the issuer did not sign gives a token, and none makes a panic or a server error.
func FuzzIDJAG(f *testing.F) {
	w, idp := trusting(f, nil)
	good := idp.Assert(issuer, assertingClient, "alice@idp")
	f.Add(good + "x")
	f.Add("a.b.c")
	f.Add(oauthtest.NewIdentityProvider(f, idpIssuer, w.clock.Now).Assert(issuer, assertingClient, "alice@idp", "scope", 7))
	f.Fuzz(func(t *testing.T, assertion string) {
		auth := oauth.ClientAuthentication{ClientID: assertingClient, ClientSecret: clientSecret, HasSecret: true}
		_, err := w.Token(t.Context(), jagForm(assertion), auth)
		var e *oauth.Error
		if !errors.As(err, &e) || e.Status >= 500 {
			t.Fatalf("%q: %v", assertion, err)
		}
	})
}
