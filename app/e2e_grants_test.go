package app_test

import (
	"encoding/json"
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

// answerOf runs a command with --json and reads its answer.
func answerOf(t *testing.T, p *apptest.Program, args ...string) map[string]string {
	t.Helper()
	out, err := p.Run("", append(args, "--json")...)
	if err != nil {
		t.Fatal(err)
	}
	var answer map[string]string
	if err := json.Unmarshal([]byte(out), &answer); err != nil {
		t.Fatalf("%s: %s", strings.Join(args, " "), out)
	}
	return answer
}

// reaches reports whether a token still gets an answer at /mcp.
func reaches(t *testing.T, p *apptest.Program, token string) bool {
	t.Helper()
	text, isError, err := apptest.CallTool(p.URL, token, "list_locations", "{}")
	return err == nil && !isError && strings.Contains(text, "Home")
}

// TestDeviceGrant plays a program on a device with an OAuth library of somebody else.
func TestDeviceGrant(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *apptest.Program) {
		b := mustSignIn(t, p.AddUser(t, "ada@example.com"), p.URL)
		id := answerOf(t, p, "client", "add", "--name", "Home screen", "--device-grant")["client_id"]
		device := &oauth2.Config{ClientID: id, Scopes: []string{"home:read"}, Endpoint: oauth2.Endpoint{
			DeviceAuthURL: p.URL + "/device_authorization", TokenURL: p.URL + "/token", AuthStyle: oauth2.AuthStyleInParams}}
		codes, err := device.DeviceAuth(t.Context(), oauth2.SetAuthURLParam("resource", p.URL+"/mcp"))
		if err != nil {
			t.Fatal(err)
		}
		page, err := b.Get(codes.VerificationURIComplete)
		if err != nil {
			t.Fatal(err)
		}
		enter := page.FormTo("/device")
		if enter == nil || enter.Values.Get("user_code") != codes.UserCode {
			t.Fatalf("DG-4 the code is not filled in: %s", page.Text())
		}
		if page, err = b.Post(p.URL+"/device", enter.Values); err != nil {
			t.Fatal(err)
		}
		decide := page.FormTo("/device/decision")
		if decide == nil {
			t.Fatalf("DG-4 no page to decide: %s", page.Text())
		}
		decide.Values.Set("decision", "allow")
		if page, err = b.Post(p.URL+"/device/decision", decide.Values); err != nil || !strings.Contains(page.Text(), "Go back to your device") {
			t.Fatalf("DG-4 allow: %v %s", err, page.Text())
		}
		token, err := device.DeviceAccessToken(t.Context(), codes)
		if err != nil {
			t.Fatalf("DG-2 the device gets no token: %v", err)
		}
		if !reaches(t, p, token.AccessToken) || token.RefreshToken == "" {
			t.Error("DG-2 the token does not reach /mcp")
		}
		if list, err := p.Run("", "connection", "list"); err != nil || !strings.Contains(list, "Home screen") {
			t.Errorf("the connection is not listed: %s %v", list, err)
		}
		if _, err := p.Run("", "client", "set", id, "--no-device-grant"); err != nil {
			t.Fatal(err)
		}
		if _, err := device.DeviceAuth(t.Context()); err == nil || !strings.Contains(err.Error(), "unauthorized_client") {
			t.Errorf("DG-5 after the switch: %v", err)
		}
	})
}

func TestClientCredentials(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *apptest.Program) {
		p.Env = append(p.Env, "GATEHOUSE_PUBLIC_URL="+p.URL) // the commands say what the grant is for
		p.AddUser(t, "ada@example.com")
		made := answerOf(t, p, "client", "add", "--name", "Robot", "--confidential", "--machine", "--acts-for", "ada@example.com", "--scope", "home:read", "--location", "Home")
		machine := &clientcredentials.Config{ClientID: made["client_id"], ClientSecret: made["client_secret"], TokenURL: p.URL + "/token",
			Scopes: []string{"home:read"}, EndpointParams: url.Values{"resource": {p.URL + "/mcp"}}}
		for _, style := range []oauth2.AuthStyle{oauth2.AuthStyleInHeader, oauth2.AuthStyleInParams} {
			machine.AuthStyle = style
			token, err := machine.Token(t.Context())
			if err != nil {
				t.Fatalf("CC-1 style %d: %v", style, err)
			}
			if token.RefreshToken != "" || !reaches(t, p, token.AccessToken) {
				t.Errorf("CC-1 the token does not reach /mcp, or came with a refresh token")
			}
			if claims := strings.Split(token.AccessToken, "."); len(claims) != 3 {
				t.Errorf("CC-3 no JWT: %s", token.AccessToken)
			}
		}
		if text, isError, err := apptest.CallTool(p.URL, mustToken(t, machine), "create_place", `{"name":"Shelf","kind":"shelf"}`); err == nil && !isError {
			t.Errorf("CC-1 a machine that may only read has written: %s", text)
		}
		// RT-7: the person ends it as any other connection, from the next call on.
		held := mustToken(t, machine)
		b := mustSignIn(t, apptest.NewBrowser("ada@example.com", apptest.Password), p.URL)
		page, err := b.Get(p.URL + "/settings/connections")
		if err != nil || !strings.Contains(page.Text(), "Robot") {
			t.Fatalf("the person does not see the machine: %v", err)
		}
		end := page.FormTo("/disconnect")
		if page, err = b.Post(end.Action, end.Values); err != nil || page.Status != http.StatusOK {
			t.Fatalf("disconnect: %v", err)
		}
		if reaches(t, p, held) {
			t.Error("RT-7 the token works after Disconnect")
		}
		if _, err := machine.Token(t.Context()); err == nil || !strings.Contains(err.Error(), "invalid_grant") {
			t.Errorf("RT-7 a new token after Disconnect: %v", err)
		}
		if _, err := p.Run("", "client", "grant", made["client_id"], "--acts-for", "ada@example.com", "--scope", "home:read", "--location", "Home"); err != nil {
			t.Fatal(err)
		}
		if !reaches(t, p, mustToken(t, machine)) {
			t.Error("CC-1 an administrator gives access again")
		}
		for _, wrong := range [][]string{
			{"client", "add", "--name", "X", "--machine", "--confidential"},
			{"client", "add", "--name", "X", "--machine", "--acts-for", "ada@example.com", "--scope", "home:read", "--location", "Home"},
			{"client", "add", "--name", "X", "--machine", "--confidential", "--acts-for", "ada@example.com", "--scope", "home:read", "--location", "Nowhere"},
			{"client", "add", "--name", "X"},
		} {
			if out, err := p.Run("", wrong...); err == nil {
				t.Errorf("%v: %s", wrong, out)
			}
		}
		if list, err := p.Run("", "client", "list"); err != nil || strings.Contains(list, "X ") {
			t.Errorf("a refused client is kept: %s %v", list, err)
		}
	})
}

func mustToken(t *testing.T, machine *clientcredentials.Config) string {
	t.Helper()
	token, err := machine.Token(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return token.AccessToken
}

func TestIdentityAssertions(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *apptest.Program) {
		p.AddUser(t, "ada@example.com")
		idp := oauthtest.NewIdentityProvider(t, "https://idp.example", time.Now)
		keys := filepath.Join(t.TempDir(), "keys.json")
		if err := os.WriteFile(keys, idp.KeySet(), 0o600); err != nil {
			t.Fatal(err)
		}
		made := answerOf(t, p, "client", "add", "--name", "Company app", "--confidential", "--id-jag")
		client := &apptest.Client{Base: p.URL, ID: made["client_id"], Secret: made["client_secret"], HTTP: &http.Client{Timeout: 30 * time.Second}}
		exchange := func(subject, email string, changes ...any) (int, *apptest.Tokens) {
			t.Helper()
			assertion := idp.Assert(p.URL, client.ID, subject, append([]any{"resource", p.URL + "/mcp", "scope", "home:read", "email", email}, changes...)...)
			status, tokens, err := client.Token(url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"}, "assertion": {assertion}})
			if err != nil {
				t.Fatal(err)
			}
			return status, tokens
		}
		if status, tokens := exchange("1", "ada@example.com"); status != http.StatusBadRequest || tokens.Error != "invalid_grant" {
			t.Errorf("JB-1 before the issuer is trusted: %d %+v", status, tokens)
		}
		if _, err := p.Run("", "issuer", "add", "https://idp.example", "--jwks-file", keys, "--domain", "example.com", "--create-people", "--scope", "home:read,home:write"); err != nil {
			t.Fatal(err)
		}
		status, tokens := exchange("1", "ada@example.com")
		if status != http.StatusOK || tokens.Scope != "home:read" || tokens.RefreshToken != "" || !reaches(t, p, tokens.AccessToken) {
			t.Fatalf("IJ-1, IJ-2 linked by the address: %d %+v", status, tokens)
		}
		if status, made := exchange("2", "new@example.com"); status != http.StatusOK || !reaches(t, p, made.AccessToken) {
			t.Errorf("IJ-4 a person who is made: %d %+v", status, made)
		}
		if status, refused := exchange("3", "eve@other.example"); status != http.StatusBadRequest || refused.Error != "invalid_grant" {
			t.Errorf("IJ-4 a foreign domain: %d %+v", status, refused)
		}
		if status, refused := exchange("1", "", "aud", p.URL+"/token"); status != http.StatusBadRequest || refused.Error != "invalid_grant" {
			t.Errorf("IJ-1 another audience: %d %+v", status, refused)
		}
		b := mustSignIn(t, apptest.NewBrowser("ada@example.com", apptest.Password), p.URL)
		page, err := b.Get(p.URL + "/settings/connections")
		if err != nil || !strings.Contains(page.Text(), "Company app") {
			t.Fatalf("IJ-4 the person does not see the connection: %v", err)
		}
		end := page.FormTo("/disconnect")
		if _, err = b.Post(end.Action, end.Values); err != nil {
			t.Fatal(err)
		}
		if reaches(t, p, tokens.AccessToken) {
			t.Error("RT-7 the token works after Disconnect")
		}
		if status, refused := exchange("1", ""); status != http.StatusBadRequest || refused.Error != "invalid_grant" {
			t.Errorf("RT-7 the next assertion brings the connection back: %d %+v", status, refused)
		}
		_, others := exchange("2", "")
		if list, err := p.Run("", "issuer", "list"); err != nil || !strings.Contains(list, "https://idp.example") {
			t.Errorf("issuer list: %s %v", list, err)
		}
		if _, err := p.Run("", "issuer", "remove", "https://idp.example"); err != nil {
			t.Fatal(err)
		}
		if reaches(t, p, others.AccessToken) {
			t.Error("IJ-1 a token works after its issuer was removed")
		}
		if status, _ := exchange("2", ""); status != http.StatusBadRequest {
			t.Errorf("JB-1 after the issuer was removed: %d", status)
		}
	})
}
