package app_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"gatehouse/app/apptest"
	"gatehouse/db/dbtest"
	"gatehouse/oauth/oauthtest"
)

// relyingParty is a website that signs people in here, over the client library that most Go programs use.
type relyingParty struct {
	provider *oidc.Provider
	config   oauth2.Config
}

// newRelyingParty registers a site whose ID tokens have an algorithm; empty for what comes by itself.
func newRelyingParty(t *testing.T, base, algorithm string, scopes ...string) *relyingParty {
	t.Helper()
	provider, err := oidc.NewProvider(t.Context(), base)
	if err != nil {
		t.Fatalf("MD-8 discovery: %v", err)
	}
	members := map[string]any{"client_name": "Site", "redirect_uris": []string{callback}}
	if algorithm != "" {
		members["id_token_signed_response_alg"] = algorithm
	}
	a := registerBody(t, base, jsonOf(t, members))
	var made struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
	}
	if err := json.Unmarshal([]byte(a.body), &made); err != nil || a.status != http.StatusCreated {
		t.Fatalf("register: %d %s", a.status, a.body)
	}
	return &relyingParty{provider, oauth2.Config{
		ClientID: made.ID, ClientSecret: made.Secret, Endpoint: provider.Endpoint(), RedirectURL: callback, Scopes: scopes,
	}}
}

// signIn sends a person through the site's sign-in and gives the token answer with the checked ID token.
func (r *relyingParty) signIn(t *testing.T, b *apptest.Browser, more ...oauth2.AuthCodeOption) (*oauth2.Token, *oidc.IDToken, error) {
	t.Helper()
	verifier := oauth2.GenerateVerifier()
	options := append(more, oauth2.S256ChallengeOption(verifier), oidc.Nonce("n-0S6_WzA2Mj"))
	to, err := b.Authorize(r.config.AuthCodeURL("st-1", options...))
	if err != nil {
		return nil, nil, err
	}
	token, err := r.config.Exchange(t.Context(), to.Query().Get("code"), oauth2.VerifierOption(verifier))
	if err != nil {
		return nil, nil, err
	}
	raw, _ := token.Extra("id_token").(string)
	checked, err := r.provider.Verifier(&oidc.Config{ClientID: r.config.ClientID}).Verify(t.Context(), raw)
	return token, checked, err
}

func TestOpenIDConnect(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *apptest.Program) {
		b := p.AddUser(t, "ada@example.com")
		site := newRelyingParty(t, p.URL, "", oidc.ScopeOpenID, "email")
		token, id, err := site.signIn(t, b)
		if err != nil {
			t.Fatal(err)
		}
		var claims map[string]any
		if err := id.Claims(&claims); err != nil {
			t.Fatal(err)
		}
		if id.Nonce != "n-0S6_WzA2Mj" || id.Subject == "" || !slices.Equal(id.Audience, []string{site.config.ClientID}) || claims["auth_time"] == nil || claims["acr"] == nil || jsonOf(t, claims["amr"]) != `["pwd"]` {
			t.Errorf("OI-1 AZ-11 ID token %v", claims)
		}
		if found := contains(jsonOf(t, claims), "ada@", "email"); found != "" {
			t.Errorf("OI-1 the ID token holds %s", found)
		}
		if err := id.VerifyAccessToken(token.AccessToken); err != nil {
			t.Errorf("OI-1 at_hash: %v", err)
		}
		info, err := site.provider.UserInfo(t.Context(), oauth2.StaticTokenSource(token))
		if err != nil || info.Subject != id.Subject || info.Email != "ada@example.com" || info.EmailVerified {
			t.Errorf("OI-2 userinfo: %v %+v", err, info)
		}
		raw := token.Extra("id_token").(string)
		for name, address := range map[string]string{"mcp": p.URL + "/mcp", "userinfo": p.URL + "/userinfo"} {
			if a := send(t, "POST", address, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, "Authorization: Bearer "+raw, "Content-Type: application/json"); a.status != http.StatusUnauthorized || !strings.Contains(a.header.Get("WWW-Authenticate"), "invalid_token") {
				t.Errorf("OI-1 AT-2 an ID token at %s: %d %v", name, a.status, a.header)
			}
		}
		if text, isError, err := apptest.CallTool(p.URL, token.AccessToken, "list_locations", "{}"); err == nil && !isError {
			t.Errorf("OI-1 who only knows the person reads their things: %s", text)
		}
		// The person takes the address back; the site hears of it at its next question.
		list := connectionsOf(t, p, "ada@example.com")
		if len(list) != 1 {
			t.Fatalf("connections: %v", list)
		}
		form := connectionForm(t, b, p.URL, list[0].ID)
		form.Values["scope"] = []string{"openid"}
		form.Values.Del("location")
		if page := mustPost(t, b, form); page.Status != http.StatusSeeOther {
			t.Fatalf("edit: %d %s", page.Status, page.Body)
		}
		if info, err := site.provider.UserInfo(t.Context(), oauth2.StaticTokenSource(token)); err != nil || info.Email != "" {
			t.Errorf("OI-2 userinfo after the address was taken back: %v %+v", err, info)
		}
		if err := disconnect(t, p, list[0].ID); err != nil {
			t.Fatal(err)
		}
		if _, err := site.provider.UserInfo(t.Context(), oauth2.StaticTokenSource(token)); err == nil {
			t.Error("OI-2 userinfo goes on after the connection ended")
		}
	})
}

func disconnect(t *testing.T, p *apptest.Program, id string) error {
	t.Helper()
	_, err := p.Run("", "connection", "end", id)
	return err
}

func TestPromptsOfOpenIDConnect(t *testing.T) {
	t.Parallel()
	p := apptest.Start(t)
	b := mustSignIn(t, p.AddUser(t, "ada@example.com"), p.URL)
	c := enteredClient(t, p, callback)
	ask := func(who *apptest.Browser, changes ...string) *apptest.Page {
		page, err := who.Get(withQuery(t, c.AuthorizeURL(), append([]string{"scope", "openid home:read"}, changes...)...))
		if err != nil {
			t.Fatal(err)
		}
		return page
	}
	for _, tc := range []struct {
		name, want string
		changes    []string
	}{
		{"AZ-16 prompt=none, signed in", "consent_required", []string{"prompt", "none"}},
		{"AZ-16 prompt=none with an old sign-in", "login_required", []string{"prompt", "none", "max_age", "0"}},
		{"BR-12 more than the person has", "unmet_authentication_requirements", []string{"acr_values", "urn:gatehouse:acr:multi-factor"}},
	} {
		page := ask(b, tc.changes...)
		to, err := url.Parse(page.Header.Get("Location"))
		if err != nil || to.Query().Get("error") != tc.want || to.Query().Get("state") != "st-1" {
			t.Errorf("%s: %d %s", tc.name, page.Status, page.Header.Get("Location"))
		}
	}
	for _, changes := range [][]string{{"prompt", "login"}, {"max_age", "0"}} {
		if page := ask(b, append(changes, "login_hint", "ada@example.com")...); page.Form("password") == nil || page.Form("password").Values.Get("email") != "ada@example.com" {
			t.Errorf("AZ-16 %v does not ask to sign in again: %d", changes, page.Status)
		}
	}
	for _, changes := range [][]string{{"prompt", "consent"}, {"acr_values", "urn:gatehouse:acr:single-factor"}, {"acr_values", "gold"}, {"max_age", "3600"}} {
		if page := ask(b, changes...); page.Form("decision") == nil {
			t.Errorf("AZ-16 %v does not lead to the consent page: %d", changes, page.Status)
		}
	}
}

// opaqueSettings makes access tokens that are looked up.
func opaqueSettings(testing.TB) []string { return []string{"GATEHOUSE_ACCESS_TOKEN_FORMAT=opaque"} }

func TestOpaqueAccessTokens(t *testing.T) {
	t.Parallel()
	onBothWith(t, opaqueSettings, func(t *testing.T, p *apptest.Program) {
		b := p.AddUser(t, "ada@example.com")
		c := registered(t, p)
		tokens := connected(t, c, b)
		if !strings.HasPrefix(tokens.AccessToken, "gta_") || strings.Contains(tokens.AccessToken, ".") {
			t.Fatalf("KY-5 access token of another form (%d characters)", len(tokens.AccessToken))
		}
		status := func(token string) int {
			r, err := apptest.Call(p.URL, token, "ping", "")
			if err != nil {
				t.Fatal(err)
			}
			return r.Status
		}
		if got := status(tokens.AccessToken); got != http.StatusOK {
			t.Fatalf("a call: %d", got)
		}
		if got := status("gta_" + strings.Repeat("x", 43)); got != http.StatusUnauthorized {
			t.Errorf("BR-2 a token nobody issued: %d", got)
		}
		_, narrow, err := c.Token(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {tokens.RefreshToken}, "scope": {"home:read"}})
		if err != nil || narrow.Scope != "home:read" {
			t.Fatalf("RT-4 %v %+v", err, narrow)
		}
		if r, err := apptest.Call(p.URL, narrow.AccessToken, "tools/call", `{"name":"add_thing","arguments":{"name":"Lamp"}}`); err != nil || r.Status != http.StatusForbidden {
			t.Errorf("RT-4 a write with a narrowed token: %v %d", err, r.Status)
		}
		if a := sendForm(t, p.URL+"/revoke", url.Values{"client_id": {c.ID}, "token": {tokens.AccessToken}}); a.status != http.StatusOK {
			t.Errorf("RV-1 revoke: %d %s", a.status, a.body)
		}
		if status(tokens.AccessToken) != http.StatusUnauthorized || status(narrow.AccessToken) != http.StatusOK {
			t.Errorf("RFC7009-2.1 revoked: %d, the other one: %d", status(tokens.AccessToken), status(narrow.AccessToken))
		}
		prover := oauthtest.NewProver(t, time.Now)
		bound := boundClient(t, p, prover)
		held := connected(t, bound, b)
		address := p.URL + "/mcp"
		if got, _ := callBound(t, http.DefaultClient, address, "DPoP", held.AccessToken, prover.Proof("POST", address, held.AccessToken)); got != http.StatusOK {
			t.Errorf("DP-5 with its proof: %d", got)
		}
		for name, got := range map[string]int{
			"as a bearer token": first(callBound(t, http.DefaultClient, address, "Bearer", held.AccessToken)),
			"without a proof":   first(callBound(t, http.DefaultClient, address, "DPoP", held.AccessToken)),
			"with another key":  first(callBound(t, http.DefaultClient, address, "DPoP", held.AccessToken, oauthtest.NewProver(t, time.Now).Proof("POST", address, held.AccessToken))),
		} {
			if got != http.StatusUnauthorized {
				t.Errorf("DP-5 a bound token %s: %d", name, got)
			}
		}
		for _, connection := range connectionsOf(t, p, "ada@example.com") {
			if err := disconnect(t, p, connection.ID); err != nil {
				t.Fatal(err)
			}
		}
		if got := status(narrow.AccessToken); got != http.StatusUnauthorized {
			t.Errorf("CN-77 after the end of the connection: %d", got)
		}
		if found := contains(p.Logs(), tokens.AccessToken, held.AccessToken); found != "" {
			t.Error("KY-6 the log holds an access token")
		}
	})
}

func first[A, B any](a A, _ B) A { return a }

func TestOpaqueTokensAcrossProcesses(t *testing.T) {
	t.Parallel()
	address := dbtest.PostgresURL(t)
	p := apptest.Start(t, "GATEHOUSE_DATABASE_URL="+address, "GATEHOUSE_ACCESS_TOKEN_FORMAT=opaque")
	tokens := connected(t, registered(t, p), p.AddUser(t, "ada@example.com"))
	p.Restart(t)
	if r, err := apptest.Call(p.URL, tokens.AccessToken, "ping", ""); err != nil || r.Status != http.StatusOK {
		t.Errorf("KY-5 a token does not survive a restart: %v %+v", err, r)
	}
}

// TestStepUpWithAnAuthenticatorApp goes the whole way of RFC 9470: refusal, a new request for what the challenge names, a
// second factor, and the write.
func TestStepUpWithAnAuthenticatorApp(t *testing.T) {
	t.Parallel()
	demanding := func(testing.TB) []string {
		return []string{"GATEHOUSE_STEP_UP=writes", "GATEHOUSE_ACCESS_TOKEN_FORMAT=opaque"}
	}
	onBothWith(t, demanding, func(t *testing.T, p *apptest.Program) {
		b := mustSignIn(t, p.AddUser(t, "ada@example.com"), p.URL)
		c := registered(t, p)
		write := func(token string) *apptest.RPC {
			r, err := apptest.Call(p.URL, token, "tools/call", `{"name":"add_thing","arguments":{"name":"Lamp"}}`)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		_, acr, _ := strings.Cut(write(connected(t, c, b).AccessToken).Header.Get("WWW-Authenticate"), `acr_values="`)
		acr, _, _ = strings.Cut(acr, `"`)
		stronger := withQuery(t, c.AuthorizeURL(), "acr_values", acr)
		if page, err := b.Get(stronger); err != nil || acr == "" || !strings.Contains(page.Body, "Add a second step") {
			t.Fatalf("BR-12 %q asked of who has one factor: %v %s", acr, err, page.Text())
		}
		began := time.Now()
		page := follow(t, b, mustOpen(t, b, p.URL+factorsPage).FormTo("/authenticator"))
		seed := seedOf(t, page)
		enterCode(t, b, page, codeAt(t, seed, began.Add(-30*time.Second)))

		weak := apptest.NewBrowser("ada@example.com", apptest.Password)
		page = passwordStep(t, weak, stronger)
		if page = enterCode(t, weak, page, codeAt(t, seed, began)); page.Form("decision") == nil {
			t.Fatalf("BR-12 after both factors: %d %s", page.Status, page.Text())
		}
		tokens := connected(t, c, weak)
		if r := write(tokens.AccessToken); r.Status != http.StatusOK {
			t.Errorf("BR-12 a write after both factors: %d %s", r.Status, r.Body)
		}
		site := newRelyingParty(t, p.URL, "", oidc.ScopeOpenID)
		_, id, err := site.signIn(t, weak, oauth2.SetAuthURLParam("acr_values", acr))
		if err != nil {
			t.Fatal(err)
		}
		var claims struct {
			ACR string   `json:"acr"`
			AMR []string `json:"amr"`
		}
		if err := id.Claims(&claims); err != nil || claims.ACR != acr || !slices.Contains(claims.AMR, "otp") || !slices.Contains(claims.AMR, "mfa") {
			t.Errorf("OI-1 BR-12 %+v %v", claims, err)
		}
		// Personal tokens are outside it.
		secret, err := p.Run("", "token", "add", "--user", "ada@example.com", "--scope", "write", "--json")
		if err != nil {
			t.Fatal(err)
		}
		var made struct {
			Secret string `json:"secret"`
		}
		if err := json.Unmarshal([]byte(secret), &made); err != nil || write(made.Secret).Status != http.StatusOK {
			t.Errorf("BR-12 a personal token: %v %+v", err, write(made.Secret))
		}
	})
}
