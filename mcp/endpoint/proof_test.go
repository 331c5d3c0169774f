package endpoint_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"gatehouse/app/home"
	"gatehouse/mcp/endpoint"
	"gatehouse/oauth"
)

// prover knows one bound token and takes the word "proof" for a proof.
type prover struct{ asked []oauth.ProofRequest }

func (p *prover) VerifyBoundToken(_ context.Context, token, _ string, r oauth.ProofRequest) (*oauth.AccessToken, error) {
	p.asked = append(p.asked, r)
	switch {
	case token != goodToken:
		return nil, oauth.InvalidToken("The access token is not valid.")
	case !slices.Equal(r.Headers, []string{"proof"}):
		e := oauth.InvalidDPoPProof("The request must have exactly one DPoP header.")
		e.Status = 401
		return nil, e
	}
	return &oauth.AccessToken{ID: "j", Subject: "u", ClientID: "c", ConnectionID: "conn", FamilyID: "fam", Scopes: []string{home.ScopeRead}}, nil
}

func TestProofAtTheEndpoint(t *testing.T) {
	t.Parallel()
	const algs = `algs="ES256 EdDSA RS256"`
	const bearer = `Bearer resource_metadata="https://home.example/.well-known/oauth-protected-resource/mcp", scope="home:read"`
	for _, c := range []struct {
		name   string
		head   []string
		status int
		want   []string // the challenges
	}{
		{"BR-1 no token: one challenge without an error", nil, 401, []string{bearer}},
		{"BR-7 no token but a proof", []string{"DPoP: proof"}, 401, []string{bearer, "DPoP " + algs}},
		{"BR-2 a bad bearer token", []string{"Authorization: Bearer nonsense"}, 401,
			[]string{`Bearer error="invalid_token", error_description="The access token is not valid.", ` + strings.TrimPrefix(bearer, "Bearer ")}},
		{"DP-1 no proof", []string{"Authorization: DPoP " + goodToken}, 401,
			[]string{bearer, `DPoP error="invalid_dpop_proof", error_description="The request must have exactly one DPoP header.", ` + algs}},
		{"DP-1 two proofs", []string{"Authorization: DPoP " + goodToken, "DPoP: proof", "DPoP: proof"}, 401,
			[]string{bearer, `DPoP error="invalid_dpop_proof", error_description="The request must have exactly one DPoP header.", ` + algs}},
		{"BR-2 a bad bound token", []string{"Authorization: DPoP nonsense", "DPoP: proof"}, 401,
			[]string{bearer, `DPoP error="invalid_token", error_description="The access token is not valid.", ` + algs}},
		{"a personal token is not bound to a key", []string{"Authorization: DPoP " + personalToken, "DPoP: proof"}, 401,
			[]string{bearer, `DPoP error="invalid_token", error_description="The access token is not valid.", ` + algs}},
		{"BR-4 two Authorization fields", []string{"Authorization: DPoP " + goodToken, "Authorization: Bearer " + goodToken}, 400,
			[]string{bearer, `DPoP error="invalid_request", error_description="Send the Authorization field once.", ` + algs}},
		{"BR-6 the scheme's case does not matter", []string{"Authorization: dpop " + goodToken, "DPoP: proof"}, 200, nil},
		{"a bearer token beside a proof", []string{"Authorization: Bearer " + goodToken, "DPoP: proof"}, 200, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(func(cfg *endpoint.Config) { cfg.Prove = &prover{} })
			rec := w.ask("POST", c.head...)
			if got := rec.Header().Values("WWW-Authenticate"); rec.Code != c.status || !slices.Equal(got, c.want) {
				t.Errorf("%d\n%s\nwant %d\n%s", rec.Code, strings.Join(got, "\n"), c.status, strings.Join(c.want, "\n"))
			}
		})
	}
}

func TestProofIsForTheConfiguredURL(t *testing.T) {
	t.Parallel()
	p := &prover{}
	w := newWorld(func(cfg *endpoint.Config) { cfg.Prove, cfg.Profile.Hosts = p, nil })
	for _, address := range []string{"https://elsewhere.example/mcp?x=1", "http://home.example/mcp/"} {
		r := httptest.NewRequest("POST", address, strings.NewReader("{}"))
		r.Header.Set("Authorization", "DPoP "+goodToken)
		r.Header.Set("X-Forwarded-Host", "elsewhere.example")
		w.ServeHTTP(httptest.NewRecorder(), r)
	}
	if len(p.asked) != 2 || p.asked[0].URL != publicURL+"/mcp" || p.asked[1].URL != publicURL+"/mcp/" || p.asked[0].Method != "POST" {
		t.Errorf("X-2, DP-2: proofs were asked for %+v", p.asked)
	}
}

func TestProofCORS(t *testing.T) {
	t.Parallel()
	w := newWorld()
	rec := w.ask("OPTIONS", "Origin: https://claude.ai", "Access-Control-Request-Method: POST", "Access-Control-Request-Headers: dpop")
	if h := rec.Header(); rec.Code != 204 || !strings.Contains(h.Get("Access-Control-Allow-Headers"), "DPoP") || !strings.Contains(h.Get("Access-Control-Expose-Headers"), "DPoP-Nonce") {
		t.Errorf("DP-10 preflight: %d %v", rec.Code, h)
	}
	if rec := w.ask("POST", "Authorization: DPoP "+goodToken); rec.Code != 401 || len(rec.Header().Values("WWW-Authenticate")) != 1 {
		t.Errorf("where bound tokens are not accepted: %d %v", rec.Code, rec.Header())
	}
}

func TestScopeRefusalOfABoundToken(t *testing.T) {
	t.Parallel()
	var w *world
	next := func(rw http.ResponseWriter, r *http.Request) {
		for _, challenge := range w.ScopeRefusal(r.Context(), "home:read home:write").Header.Values("WWW-Authenticate") {
			rw.Header().Add("WWW-Authenticate", challenge)
		}
	}
	w = newWorld(func(cfg *endpoint.Config) { cfg.Prove, cfg.Next = &prover{}, http.HandlerFunc(next) })
	for _, c := range []struct {
		name string
		head []string
		want []string
	}{
		{"BR-3 a bearer token", []string{"Authorization: Bearer " + goodToken}, []string{"Bearer "}},
		{"BR-3 DP-1 a bound token", []string{"Authorization: DPoP " + goodToken, "DPoP: proof"}, []string{"Bearer ", "DPoP "}},
	} {
		got := w.ask("POST", c.head...).Header().Values("WWW-Authenticate")
		if len(got) != len(c.want) {
			t.Errorf("%s: %q", c.name, got)
			continue
		}
		for i, scheme := range c.want {
			if !strings.HasPrefix(got[i], scheme) || !strings.Contains(got[i], `error="insufficient_scope"`) || !strings.Contains(got[i], `scope="home:read home:write"`) {
				t.Errorf("%s: %q", c.name, got[i])
			}
		}
	}
}
