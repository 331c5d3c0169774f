package app_test

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"gatehouse/app/apptest"
	"gatehouse/oauth/oauthtest"
)

// The walker's steps for the grants without a redirect, for authorization details and for the grant API.

// reservedScopes are open only to clients that an administrator entered.
var reservedScopes = []string{"grant_management_query", "grant_management_revoke"}

// entered is a client that an administrator entered, connected with the grant API's scopes.
func (w *walker) entered(t *testing.T, pairs ...string) (*apptest.Client, *richAnswer) {
	t.Helper()
	c := enteredClient(t, w.p, "https://walker.example/callback")
	c.Scope = strings.Join(append([]string{"home:read"}, reservedScopes...), " ")
	return c, w.approved(t, c, pairs...)
}

func (w *walker) approved(t *testing.T, c *apptest.Client, pairs ...string) *richAnswer {
	t.Helper()
	page, _ := approveWith(t, mustSignIn(t, apptest.NewBrowser(w.b.Email, w.b.Password), w.p.URL), c, nil, pairs...)
	status, answer := redeemRich(t, c, locationOf(t, page).Get("code"))
	if status != http.StatusOK {
		t.Fatalf("redeem: %d %+v", status, answer)
	}
	return answer
}

// reservedScope asks for one of the grant API's scopes and uses it.
func (w *walker) reservedScope(t *testing.T, scope string) {
	_, got := w.entered(t)
	if !strings.Contains(got.Scope, scope) {
		t.Fatalf("granted %q", got.Scope)
	}
	method, want := http.MethodGet, http.StatusOK
	if strings.HasSuffix(scope, "revoke") {
		method, want = http.MethodDelete, http.StatusNoContent
	}
	if a := send(t, method, w.p.URL+"/grants/"+got.GrantID, "", "Authorization: Bearer "+got.AccessToken); a.status != want {
		t.Errorf("%s: %d %s", method, a.status, a.body)
	}
}

func (w *walker) grantEndpoint(t *testing.T, v any) {
	_, got := w.entered(t)
	if a := send(t, http.MethodGet, v.(string)+"/"+got.GrantID, "", "Authorization: Bearer "+got.AccessToken); a.status != http.StatusOK {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func (w *walker) grantAction(t *testing.T, v any) {
	c, first := w.entered(t)
	switch v {
	case "create":
		if again := w.approved(t, c, "grant_management_action", "create"); again.GrantID == first.GrantID {
			t.Error("create kept the grant")
		}
	case "merge", "replace":
		if again := w.approved(t, c, "grant_management_action", v.(string), "grant_id", first.GrantID); again.GrantID != first.GrantID {
			t.Errorf("%v made another grant", v)
		}
	case "query":
		w.reservedScope(t, reservedScopes[0])
	case "revoke":
		w.reservedScope(t, reservedScopes[1])
	default:
		t.Errorf("MD-1 the walker does not know the action %v", v)
	}
}

func (w *walker) details(t *testing.T, v any) {
	w.is(t, v, "mcp_tools")
	c := w.register(t, nil)
	got := w.approved(t, c.Client, "authorization_details", detailsFor(w.p.URL, `"tools":["list_locations"]`))
	if len(got.Details) != 1 || got.Details[0]["type"] != v {
		t.Errorf("granted %v", got.Details)
	}
	if !reaches(t, w.p, got.AccessToken) {
		t.Error("the tool that was asked for is refused")
	}
	if text, failed, err := apptest.CallTool(w.p.URL, got.AccessToken, "search_things", `{"query":"x"}`); err == nil && !failed {
		t.Errorf("a tool that was not asked for answers: %s", text)
	}
}

func (w *walker) device(t *testing.T) {
	b := mustSignIn(t, apptest.NewBrowser(w.b.Email, w.b.Password), w.p.URL)
	id := answerOf(t, w.p, "client", "add", "--name", "Walking screen", "--device-grant")["client_id"]
	device := &oauth2.Config{ClientID: id, Scopes: []string{"home:read"}, Endpoint: oauth2.Endpoint{
		DeviceAuthURL: w.p.URL + "/device_authorization", TokenURL: w.p.URL + "/token", AuthStyle: oauth2.AuthStyleInParams}}
	codes, err := device.DeviceAuth(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	page := mustPost(t, b, mustOpen(t, b, codes.VerificationURIComplete).FormTo("/device"))
	decide := page.FormTo("/device/decision")
	decide.Values.Set("decision", "allow")
	mustPost(t, b, decide)
	token, err := device.DeviceAccessToken(t.Context(), codes)
	if err != nil || !reaches(t, w.p, token.AccessToken) {
		t.Errorf("the device: %v", err)
	}
}

// machine is a client that acts for the walker's person by its own credentials.
func (w *walker) machine(t *testing.T) {
	w.p.Env = append(w.p.Env, "GATEHOUSE_PUBLIC_URL="+w.p.URL) // the commands say what the grant is for
	made := answerOf(t, w.p, "client", "add", "--name", "Walking robot", "--confidential", "--machine", "--acts-for", w.b.Email, "--scope", "home:read", "--location", "Home")
	token := mustToken(t, &clientcredentials.Config{ClientID: made["client_id"], ClientSecret: made["client_secret"], TokenURL: w.p.URL + "/token"})
	if !reaches(t, w.p, token) {
		t.Error("the machine's token does not reach /mcp")
	}
}

// asserted exchanges an assertion of an identity provider.
func (w *walker) asserted(t *testing.T) {
	idp := oauthtest.NewIdentityProvider(t, "https://walker-idp.example", time.Now)
	keys := filepath.Join(t.TempDir(), "keys.json")
	if err := os.WriteFile(keys, idp.KeySet(), 0o600); err != nil {
		t.Fatal(err)
	}
	_, _ = w.p.Run("", "issuer", "remove", "https://walker-idp.example")
	if _, err := w.p.Run("", "issuer", "add", "https://walker-idp.example", "--jwks-file", keys, "--domain", "example.org", "--create-people", "--scope", "home:read"); err != nil {
		t.Fatal(err)
	}
	made := answerOf(t, w.p, "client", "add", "--name", "Walking company app", "--confidential", "--id-jag")
	c := &apptest.Client{Base: w.p.URL, ID: made["client_id"], Secret: made["client_secret"], HTTP: &http.Client{Timeout: 30 * time.Second}}
	assertion := idp.Assert(w.p.URL, c.ID, "1", "resource", w.p.URL+"/mcp", "scope", "home:read", "email", "walking@example.org")
	status, tokens, err := c.Token(url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"}, "assertion": {assertion}})
	if err != nil || status != http.StatusOK || !reaches(t, w.p, tokens.AccessToken) {
		t.Errorf("%d %+v %v", status, tokens, err)
	}
}
