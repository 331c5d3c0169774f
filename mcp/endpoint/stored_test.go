package endpoint_test

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"gatehouse/app/home"
	"gatehouse/mcp/endpoint"
	"gatehouse/oauth"
)

const storedToken = oauth.PrefixAccessToken + "stored"

// keep is a stand-in that knows one access token which is looked up.
type keep struct {
	err      error
	narrowed bool
	proofs   int
}

func (k *keep) PrincipalByAccessToken(_ context.Context, hash []byte, _ time.Time) (*home.Principal, *oauth.AccessToken, error) {
	if k.err != nil {
		return nil, nil, k.err
	}
	if !bytes.Equal(hash, oauth.HashSecret(storedToken)) {
		return nil, nil, oauth.ErrNotFound
	}
	return &home.Principal{UserID: "u", Actor: home.ActorConnection, Scopes: []string{home.ScopeRead, home.ScopeWrite}},
		&oauth.AccessToken{Subject: "u", Scopes: []string{home.ScopeRead}, Narrowed: k.narrowed, ACR: "two"}, nil
}

func (k *keep) CheckStored(_ context.Context, _ *oauth.AccessToken, token, resource string, proof *oauth.ProofRequest) error {
	if proof != nil {
		k.proofs++
		if proof.URL != resource || proof.Method != http.MethodPost || len(proof.Headers) != 1 {
			return oauth.InvalidDPoPProof("not the request")
		}
	}
	if token != storedToken || resource != publicURL+"/mcp" {
		return oauth.InvalidToken("another token or resource")
	}
	return nil
}

func TestStoredTokens(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		keep   keep
		head   []string
		status int
		body   string
	}{
		{"settled-19 one read finds token and principal", keep{}, []string{"Authorization: Bearer " + storedToken}, 200, "home:read home:write"},
		{"RT-4 narrowed", keep{narrowed: true}, []string{"Authorization: Bearer " + storedToken}, 200, "home:read "},
		{"DP-5 with its proof", keep{}, []string{"Authorization: DPoP " + storedToken, "DPoP: p"}, 200, "home:read"},
		{"DP-5 without", keep{}, []string{"Authorization: DPoP " + storedToken}, 400, "not the request"},
		{"BR-2 unknown", keep{}, []string{"Authorization: Bearer " + oauth.PrefixAccessToken + "other"}, 401, "unknown"},
		{"BR-2 ended", keep{err: oauth.ErrEnded}, []string{"Authorization: Bearer " + storedToken}, 401, "ended"},
		{"X-8 a database that is away is no bad token", keep{err: context.DeadlineExceeded}, []string{"Authorization: Bearer " + storedToken}, 503, ""},
		{"a JWT goes its own way", keep{}, []string{"Authorization: Bearer " + goodToken}, 200, "home:read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(func(cfg *endpoint.Config) { cfg.Stored, cfg.CheckStored, cfg.Prove = &c.keep, &c.keep, &prover{} })
			r := w.ask("POST", c.head...)
			if r.Code != c.status || !strings.Contains(r.Body.String(), c.body) {
				t.Errorf("%d %s", r.Code, r.Body)
			}
			if jwt := strings.Contains(c.name, "JWT"); (w.reads != 0) != jwt {
				t.Errorf("settled-19 %d reads besides", w.reads)
			}
		})
	}
}

func TestStepUpRefusal(t *testing.T) {
	t.Parallel()
	for want, demand := range map[string]oauth.StepUp{
		`scope="a b", acr_values="two"`:                {ACR: "two"},
		`scope="a b", max_age="60"`:                    {MaxAge: time.Minute},
		`scope="a b", acr_values="two", max_age="300"`: {ACR: "two", MaxAge: 5 * time.Minute},
	} {
		refusal := newWorld().StepUpRefusal("a b", demand)
		got := refusal.Header.Get("WWW-Authenticate")
		if refusal.Status != http.StatusUnauthorized || !strings.HasPrefix(got, `Bearer error="insufficient_user_authentication"`) || !strings.HasSuffix(got, want) {
			t.Errorf("BR-12 %d %s; want it to end in %s", refusal.Status, got, want)
		}
	}
}
