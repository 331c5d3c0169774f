package app_test

import (
	"bytes"
	"encoding/json"
	"image"
	"image/png"
	"io"
	"net/http"
	"strings"
	"testing"

	"gatehouse/app/apptest"
)

// What administrators decide about clients, from the command to the client that meets it.

// sendJSON sends a JSON body as a client does.
func sendJSON(t *testing.T, method, address, token, body string) (int, http.Header, map[string]any) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	_ = json.Unmarshal(text, &got)
	return answer.StatusCode, answer.Header, got
}

const registration = `{"client_name":"Managed","redirect_uris":["` + callback + `"],"token_endpoint_auth_method":"none"}`

func mustRun(t *testing.T, p *apptest.Program, args ...string) string {
	t.Helper()
	out, err := p.Run("", args...)
	if err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return strings.TrimSpace(out)
}

func TestManagedRegistration(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *apptest.Program) {
		b := mustSignIn(t, p.AddUser(t, "ada@example.com"), p.URL)
		status, _, r := sendJSON(t, "POST", p.URL+"/register", "", registration)
		if status != http.StatusCreated {
			t.Fatalf("register: %d %v", status, r)
		}
		id, token, at := r["client_id"].(string), r["registration_access_token"].(string), r["registration_client_uri"].(string)
		tokens, err := apptest.NewClient(p.URL, id, callback).Connect(b)
		if err != nil {
			t.Fatal(err)
		}
		if status, _, got := sendJSON(t, "PUT", at, token, `{"client_id":"`+id+`","client_name":"Renamed","redirect_uris":["`+callback+`"],"token_endpoint_auth_method":"none"}`); status != http.StatusOK || got["client_name"] != "Renamed" {
			t.Errorf("DM-2 put: %d %v", status, got)
		}
		if status, _, got := sendJSON(t, "GET", at, token, ""); status != http.StatusOK || got["client_name"] != "Renamed" {
			t.Errorf("DM-2 get: %d %v", status, got)
		}
		page := mustOpen(t, b, apptest.NewClient(p.URL, id, callback).AuthorizeURL())
		if !strings.Contains(page.Text(), "What this app says about itself has changed since you approved it") || !strings.Contains(page.Text(), "its name") {
			t.Errorf("CI-17 the page: %s", page.Text())
		}
		if status, head, _ := sendJSON(t, "DELETE", at, token+"x", ""); status != http.StatusUnauthorized || head.Get("WWW-Authenticate") != `Bearer error="invalid_token"` {
			t.Errorf("DM-3 a wrong token: %d %q", status, head.Get("WWW-Authenticate"))
		}
		if status, _, _ := sendJSON(t, "DELETE", at, token, ""); status != http.StatusNoContent || alive(t, p, tokens.AccessToken) {
			t.Errorf("DM-3 delete: %d", status)
		}
		if list := connectionsOf(t, p, "ada@example.com"); len(list) != 0 {
			t.Errorf("DM-3 the connection: %+v", list)
		}
		entered := mustRun(t, p, "client", "add", "--name", "Entered", "--redirect-uri", callback, "--json")
		var client struct {
			ID string `json:"client_id"`
		}
		if err := json.Unmarshal([]byte(entered), &client); err != nil {
			t.Fatal(err)
		}
		if status, _, _ := sendJSON(t, "DELETE", p.URL+"/register/"+client.ID, token, ""); status != http.StatusForbidden {
			t.Errorf("DM-3 an entered client: %d", status)
		}
		if out := mustRun(t, p, "audit", "list", "--json"); !strings.Contains(out, "client.changed") || !strings.Contains(out, "client.deleted") {
			t.Errorf("CI-17 the audit record lacks the client's changes: %s", out)
		}
	})
}

func TestRegistrationPolicies(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *apptest.Program) {
		b := mustSignIn(t, p.AddUser(t, "ada@example.com"), p.URL)
		endpoint := func() any {
			t.Helper()
			_, _, m := sendJSON(t, "GET", p.URL+"/.well-known/oauth-authorization-server", "", "")
			return m["registration_endpoint"]
		}
		register := func(token string) (int, map[string]any) {
			t.Helper()
			status, _, got := sendJSON(t, "POST", p.URL+"/register", token, registration)
			return status, got
		}
		mustRun(t, p, "policy", "set", "--registration", "off")
		if status, _ := register(""); status != http.StatusForbidden || endpoint() != nil {
			t.Errorf("DR-8 off: %d, endpoint %v", status, endpoint())
		}
		mustRun(t, p, "policy", "set", "--registration", "token")
		token := mustRun(t, p, "registration", "add", "CI", "--uses", "1")
		for _, want := range []int{http.StatusCreated, http.StatusUnauthorized} {
			if status, _ := register(token); status != want {
				t.Errorf("DR-8 with a token for one client: %d; want %d", status, want)
			}
		}
		if status, _ := register(""); status != http.StatusUnauthorized || endpoint() == nil {
			t.Errorf("DR-8 without a token: %d", status)
		}
		mustRun(t, p, "policy", "set", "--registration", "approval")
		_, r := register("")
		c := apptest.NewClient(p.URL, r["client_id"].(string), callback)
		if page := mustOpen(t, b, c.AuthorizeURL()); page.Status != http.StatusBadRequest || !strings.Contains(page.Text(), "waits for your administrator") {
			t.Errorf("DR-8 before the approval: %d %s", page.Status, page.Text())
		}
		mustRun(t, p, "client", "approve", c.ID)
		first, err := c.Connect(b)
		if err != nil {
			t.Fatal(err)
		}
		mustRun(t, p, "client", "set", c.ID, "--keep-on-stale", "on")
		second := renew(t, c, first.RefreshToken)
		third := renew(t, c, second)
		if status, _, err := c.Refresh(first.RefreshToken); err != nil || status != http.StatusBadRequest {
			t.Errorf("RT-10 a stale token: %d, %v", status, err)
		}
		renew(t, c, third)
		mustRun(t, p, "client", "set", c.ID, "--per-minute", "1")
		status := 0
		for range 3 {
			if status, _, err = c.Refresh("gtr_x"); err != nil {
				t.Fatal(err)
			}
		}
		if status != http.StatusTooManyRequests {
			t.Errorf("X-12 over the client's limit: %d", status)
		}
		mustRun(t, p, "client", "set", c.ID, "--require-pushed", "on")
		if page := mustOpen(t, b, c.AuthorizeURL()); !strings.Contains(page.Text(), "must push") {
			t.Errorf("PA-4 %d %s", page.Status, page.Text())
		}
		mustRun(t, p, "policy", "reset")
		if out := mustRun(t, p, "policy", "show"); !strings.Contains(out, "open") {
			t.Errorf("after the reset: %s", out)
		}
	})
}

func renew(t *testing.T, c *apptest.Client, token string) string {
	t.Helper()
	status, tokens, err := c.Refresh(token)
	if err != nil || status != http.StatusOK {
		t.Fatalf("refresh: %d, %v", status, err)
	}
	return tokens.RefreshToken
}

func TestDocumentPolicies(t *testing.T) {
	t.Parallel()
	onBothWith(t, fetchSettings, func(t *testing.T, p *apptest.Program) {
		b := mustSignIn(t, p.AddUser(t, "ada@example.com"), p.URL)
		host := newDocumentHost(t)
		var picture bytes.Buffer
		if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 200, 100))); err != nil {
			t.Fatal(err)
		}
		logo := host.serve("/logo.png", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "image/png")
			_, _ = w.Write(picture.Bytes())
		})
		c := apptest.NewClient(p.URL, host.publish("/client.json", map[string]any{"logo_uri": logo}), callback)
		page := mustOpen(t, b, c.AuthorizeURL())
		if !strings.Contains(page.Text(), "Nobody here has connected an app of") {
			t.Errorf("CI-16 a new host: %s", page.Text())
		}
		shown := mustOpen(t, b, page.URL.String()+"/logo")
		if shown.Status != http.StatusOK || shown.Header.Get("Content-Type") != "image/png" || host.count("/logo.png") != 1 {
			t.Errorf("CI-18 the logo: %d %q, fetched %d times", shown.Status, shown.Header.Get("Content-Type"), host.count("/logo.png"))
		}
		tokens, err := c.Connect(b)
		if err != nil {
			t.Fatal(err)
		}
		if page := mustOpen(t, b, c.AuthorizeURL()); strings.Contains(page.Text(), "Nobody here has connected") {
			t.Error("CI-16 a host that was connected is still new")
		}
		mustRun(t, p, "policy", "set", "--blocked-hosts", "localhost,127.0.0.1")
		fetched := host.count("/client.json")
		if page := mustOpen(t, b, c.AuthorizeURL()); page.Status != http.StatusBadRequest || !strings.Contains(page.Text(), "This app is not allowed here") || host.count("/client.json") != fetched {
			t.Errorf("CI-16 a blocked host: %d %s", page.Status, page.Text())
		}
		if status, _, err := c.Refresh(tokens.RefreshToken); err != nil || status != http.StatusUnauthorized {
			t.Errorf("CI-16 a token of a blocked host: %d, %v", status, err)
		}
		mustRun(t, p, "policy", "set", "--blocked-hosts", "", "--documents", "off")
		_, _, m := sendJSON(t, "GET", p.URL+"/.well-known/openid-configuration", "", "")
		if m["client_id_metadata_document_supported"] != nil {
			t.Errorf("CI-16 documents are off: %v", m["client_id_metadata_document_supported"])
		}
	})
}
