package app_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gatehouse/app/apptest"
	"gatehouse/db/dbtest"
	"gatehouse/oauth/oauthtest"
)

// proving adds a proof to each token request, as a client with a key does.
type proving struct {
	*oauthtest.Prover
	base http.RoundTripper
}

func (p *proving) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("DPoP", p.Proof(r.Method, r.URL.String(), ""))
	return p.base.RoundTrip(r)
}

// boundClient registers a client that sends proofs of the prover's key to the token endpoint.
func boundClient(t *testing.T, p *apptest.Program, prover *oauthtest.Prover) *apptest.Client {
	t.Helper()
	c := registered(t, p)
	c.HTTP = &http.Client{Timeout: 30 * time.Second, Transport: &proving{prover, http.DefaultTransport}}
	return c
}

// callBound sends a ping to the MCP endpoint at an address with the given scheme, token and proofs.
func callBound(t *testing.T, client *http.Client, address, scheme, token string, proofs ...string) (int, http.Header) {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, address, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("MCP-Protocol-Version", "2025-06-18")
	r.Header.Set("Authorization", scheme+" "+token)
	for _, proof := range proofs {
		r.Header.Add("DPoP", proof)
	}
	res, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, res.Body)
	return res.StatusCode, res.Header
}

func TestDPoPClient(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *apptest.Program) {
		mine, thief := oauthtest.NewProver(t, time.Now), oauthtest.NewProver(t, time.Now)
		c := boundClient(t, p, mine)
		b := p.AddUser(t, "ada@example.com")
		tokens := connected(t, c, b)
		if tokens.TokenType != "DPoP" {
			t.Fatalf("DP-5 token_type is %q", tokens.TokenType)
		}
		mcp, token := p.URL+"/mcp", tokens.AccessToken
		used := mine.Proof("POST", mcp, token)
		for _, tc := range []struct {
			name, address, scheme string
			proofs                []string
			status                int
			want                  string // in the DPoP challenge, or in the Bearer one for that scheme
		}{
			{"the right proof", mcp, "DPoP", []string{used}, 200, ""},
			{"DP-4 the same proof again", mcp, "DPoP", []string{used}, 401, `error="invalid_dpop_proof"`},
			{"DP-1 no proof", mcp, "DPoP", nil, 401, `error="invalid_dpop_proof"`},
			{"DP-1 two proofs", mcp, "DPoP", []string{mine.Proof("POST", mcp, token), mine.Proof("POST", mcp, token)}, 401, `error="invalid_dpop_proof"`},
			{"DP-1 another typ", mcp, "DPoP", []string{mine.Proof("POST", mcp, token, "typ", "JWT")}, 401, `error="invalid_dpop_proof"`},
			{"DP-2 another method", mcp, "DPoP", []string{mine.Proof("GET", mcp, token)}, 401, `error="invalid_dpop_proof"`},
			{"DP-2 another URL", mcp, "DPoP", []string{mine.Proof("POST", p.URL+"/token", token)}, 401, `error="invalid_dpop_proof"`},
			{"DP-2 query and case do not matter", mcp, "DPoP", []string{mine.Proof("POST", strings.Replace(mcp, "http", "HTTP", 1)+"?a=b#c", token)}, 200, ""},
			{"DP-2 the slash that the request has", mcp + "/", "DPoP", []string{mine.Proof("POST", mcp+"/", token)}, 200, ""},
			{"DP-3 old", mcp, "DPoP", []string{mine.Proof("POST", mcp, token, "iat", time.Now().Add(-2*time.Minute).Unix())}, 401, `error="invalid_dpop_proof"`},
			{"DP-3 from the future", mcp, "DPoP", []string{mine.Proof("POST", mcp, token, "iat", time.Now().Add(2*time.Minute).Unix())}, 401, `error="invalid_dpop_proof"`},
			{"DP-5 no ath", mcp, "DPoP", []string{mine.Proof("POST", mcp, "")}, 401, `error="invalid_dpop_proof"`},
			{"DP-5 a thief's key", mcp, "DPoP", []string{thief.Proof("POST", mcp, token)}, 401, `error="invalid_token"`},
			{"DP-6 as a bearer token", mcp, "Bearer", nil, 401, `error="invalid_token"`},
			{"DP-6 as a bearer token with a proof", mcp, "Bearer", []string{mine.Proof("POST", mcp, token)}, 401, `error="invalid_token"`},
		} {
			status, header := callBound(t, http.DefaultClient, tc.address, tc.scheme, token, tc.proofs...)
			challenges := header.Values("WWW-Authenticate")
			if status != tc.status {
				t.Errorf("%s: %d %v, want %d", tc.name, status, challenges, tc.status)
				continue
			}
			if status == 200 {
				continue
			}
			last := challenges[len(challenges)-1] // the DPoP challenge is for those who speak of DPoP
			if spoke := tc.scheme == "DPoP" || tc.proofs != nil; !strings.HasPrefix(challenges[0], "Bearer ") || spoke != strings.HasPrefix(last, "DPoP algs") && spoke != strings.HasPrefix(last, "DPoP error") {
				t.Errorf("BR-7 %s: challenges %q", tc.name, challenges)
				continue
			}
			mine := last
			if tc.scheme == "Bearer" {
				mine = challenges[0]
			}
			if !strings.Contains(mine, tc.want) {
				t.Errorf("%s: challenges %q, want %s", tc.name, challenges, tc.want)
			}
		}
		refreshBound(t, c, thief, tokens)
		if err := disconnectAll(b, p.URL); err != nil {
			t.Fatal(err)
		}
		if status, _ := callBound(t, http.DefaultClient, mcp, "DPoP", token, mine.Proof("POST", mcp, token)); status != 401 {
			t.Errorf("after Disconnect: %d", status)
		}
		for _, secret := range []string{used, token, tokens.RefreshToken} {
			if strings.Contains(p.Logs(), secret) {
				t.Error("KY-6 a proof or a token is in the log")
			}
		}
	})
}

// refreshBound refreshes a bound token with its key, ten times at once, and in vain without the key.
func refreshBound(t *testing.T, c *apptest.Client, thief *oauthtest.Prover, tokens *apptest.Tokens) {
	t.Helper()
	inParallel(10, func(int) {
		status, next, err := c.Refresh(tokens.RefreshToken)
		if err != nil || status != 200 || next.RefreshToken != tokens.RefreshToken || next.TokenType != "DPoP" {
			t.Errorf("RT-2 refresh of a bound token: %d %v, want the same refresh token", status, err)
		}
	})
	right := c.HTTP
	defer func() { c.HTTP = right }()
	for name, client := range map[string]*http.Client{
		"another key": {Transport: &proving{thief, http.DefaultTransport}}, "no proof": http.DefaultClient,
	} {
		c.HTTP = client
		if status, answer, err := c.Refresh(tokens.RefreshToken); err != nil || status != 400 || answer.Error != "invalid_grant" {
			t.Errorf("DP-7 refresh with %s: %d %v %+v", name, status, err, answer)
		}
	}
}

func TestDPoPAtAuthorize(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *apptest.Program) {
		mine, thief := oauthtest.NewProver(t, time.Now), oauthtest.NewProver(t, time.Now)
		c := boundClient(t, p, mine)
		to, err := p.AddUser(t, "ada@example.com").Authorize(c.AuthorizeURL() + "&dpop_jkt=" + mine.Thumbprint())
		if err != nil {
			t.Fatal(err)
		}
		code, right := to.Query().Get("code"), c.HTTP
		for name, client := range map[string]*http.Client{
			"another key": {Transport: &proving{thief, http.DefaultTransport}}, "no proof": http.DefaultClient,
		} {
			c.HTTP = client
			if status, answer, err := c.Redeem(code); err != nil || status != 400 || answer.Error != "invalid_grant" {
				t.Errorf("DP-8 code with %s: %d %v %+v", name, status, err, answer)
			}
		}
		c.HTTP = right
		if status, answer, err := c.Redeem(code); err != nil || status != 200 || answer.TokenType != "DPoP" {
			t.Errorf("DP-8 code with its key: %d %v %+v", status, err, answer)
		}
	})
}

func TestDPoPMetadata(t *testing.T) {
	t.Parallel()
	p := apptest.Start(t)
	for _, path := range []string{"/.well-known/oauth-authorization-server", "/.well-known/openid-configuration", "/.well-known/oauth-protected-resource/mcp"} {
		res, err := http.Get(p.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		var document struct {
			Algorithms []string `json:"dpop_signing_alg_values_supported"`
		}
		err = json.NewDecoder(res.Body).Decode(&document)
		_ = res.Body.Close()
		if err != nil || strings.Join(document.Algorithms, " ") != "ES256 EdDSA RS256" {
			t.Errorf("DP-10 %s: %v %v", path, err, document)
		}
	}
	r, err := http.NewRequest(http.MethodOptions, p.URL+"/token", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Origin", "https://app.example")
	r.Header.Set("Access-Control-Request-Headers", "dpop")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if h := res.Header; !strings.Contains(h.Get("Access-Control-Allow-Headers"), "DPoP") || !strings.Contains(h.Get("Access-Control-Expose-Headers"), "WWW-Authenticate") {
		t.Errorf("DP-10 preflight of the token endpoint: %v", h)
	}
}

func TestProofReplayAcrossProcesses(t *testing.T) {
	t.Parallel()
	database := dbtest.PostgresURL(t)
	first := apptest.Start(t, "GATEHOUSE_DATABASE_URL="+database)
	second := apptest.Start(t, "GATEHOUSE_DATABASE_URL="+database, "GATEHOUSE_PUBLIC_URL="+first.URL,
		"GATEHOUSE_SECRET_KEY_FILE="+first.Dir+"/secret.key", "GATEHOUSE_LISTEN=127.0.0.1:0")
	front := alternate(t, first, second)
	prover := oauthtest.NewProver(t, time.Now)
	tokens := connected(t, boundClient(t, first, prover), first.AddUser(t, "ada@example.com"))
	proof := prover.Proof("POST", first.URL+"/mcp", tokens.AccessToken)
	var accepted atomic.Int64
	var once sync.Once
	inParallel(12, func(int) {
		status, header := callBound(t, front, first.URL+"/mcp", "DPoP", tokens.AccessToken, proof)
		if status == http.StatusOK {
			accepted.Add(1)
		} else if !strings.Contains(strings.Join(header.Values("WWW-Authenticate"), " "), "invalid_dpop_proof") {
			once.Do(func() { t.Errorf("DP-4 replay: %d %v", status, header) })
		}
	})
	if n := accepted.Load(); n != 1 {
		t.Errorf("DP-4 one proof sent twelve times to two processes was accepted %d times", n)
	}
}

func TestClientTypeScript2DPoP(t *testing.T) {
	t.Parallel()
	clientsDir(t)
	p := apptest.Start(t)
	node(t, nil, "sdk2-dpop.mjs", p.URL+"/mcp", robot(t, p.URL, p.AddUser(t, "ada@example.com")).URL)
}
