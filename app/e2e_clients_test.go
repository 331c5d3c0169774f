package app_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"gatehouse/app/apptest"
)

// The real clients against the real binary: discovery, registration, sign-in and consent by form, tools/list, add_thing,
// where_is, refresh, disconnect, refused.

func TestClientTypeScript2(t *testing.T) {
	t.Parallel()
	clientsDir(t)
	for _, mode := range []string{"legacy", "auto"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			p := apptest.Start(t)
			b := p.AddUser(t, "ada@example.com")
			node(t, nil, "sdk2.mjs", p.URL+"/mcp", robot(t, p.URL, b).URL, mode)
		})
	}
}

// TestClientTypeScript2Document lets the client be known by the URL of its document: it must not register.
func TestClientTypeScript2Document(t *testing.T) {
	t.Parallel()
	clientsDir(t)
	p := apptest.Start(t, fetchSettings(t)...)
	b := p.AddUser(t, "ada@example.com")
	host := newDocumentHost(t)
	document := host.publish("/client.json", map[string]any{"redirect_uris": []string{"http://127.0.0.1:7777/callback"}})
	node(t, nil, "sdk2.mjs", p.URL+"/mcp", robot(t, p.URL, b).URL, "auto", document)
	if out, err := p.Run("", "client", "list", "--json"); err != nil || !strings.Contains(out, document) {
		t.Errorf("client list: %v %s", err, out)
	}
}

func TestClientTypeScript1(t *testing.T) {
	t.Parallel()
	clientsDir(t)
	p := apptest.Start(t)
	b := p.AddUser(t, "ada@example.com")
	node(t, nil, "sdk1.mjs", p.URL+"/mcp", robot(t, p.URL, b).URL)
}

func TestClientMCPRemote(t *testing.T) {
	t.Parallel()
	clientsDir(t)
	// mcp-remote refreshes 60 s before the end of a token, so that with these every request brings a refresh.
	p := apptest.Start(t, "GATEHOUSE_ACCESS_TOKEN_LIFE=50s")
	b := p.AddUser(t, "ada@example.com")
	r := robot(t, p.URL, b)
	dir := t.TempDir()
	script := filepath.Join(dir, "browser")
	text := "#!/bin/sh\nexec curl -sS -G --data-urlencode \"url=$1\" -d follow=1 " + r.URL + "/authorize\n"
	if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	node(t, []string{"BROWSER=" + script, "MCP_REMOTE_CONFIG_DIR=" + dir}, "remote.mjs", p.URL+"/mcp", r.URL)
	out, err := p.Run("", "handshake", "list", "--json")
	if err != nil || !strings.Contains(out, "mcp") {
		t.Errorf("handshake list: %v %s", err, out)
	}
}

func TestClientGoSDK(t *testing.T) {
	t.Parallel()
	p := apptest.Start(t, "GATEHOUSE_ACCESS_TOKEN_LIFE=3s")
	b := p.AddUser(t, "ada@example.com")
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	const redirect = "http://127.0.0.1:7779/callback"
	asked := 0
	handler, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		RequestRefreshToken: true,
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "probe-go", RedirectURIs: []string{redirect}, GrantTypes: []string{"authorization_code", "refresh_token"},
			ResponseTypes: []string{"code"}, TokenEndpointAuthMethod: "none"}},
		RedirectURL: redirect,
		AuthorizationCodeFetcher: func(_ context.Context, a *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			if asked++; asked > 1 {
				return nil, fmt.Errorf("asked to sign in again")
			}
			to, err := b.Authorize(a.URL)
			if err != nil {
				return nil, err
			}
			q := to.Query()
			return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "probe", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: p.URL + "/mcp", OAuthHandler: handler}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	t.Logf("protocol %s", session.InitializeResult().ProtocolVersion)
	tools, err := session.ListTools(ctx, nil)
	if err != nil || len(tools.Tools) < 10 {
		t.Fatalf("tools/list: %v %+v", err, tools)
	}
	call := func(name string, args map[string]any) (string, error) {
		res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: args})
		if err != nil {
			return "", err
		}
		text := res.Content[0].(*mcp.TextContent).Text
		if res.IsError {
			return "", fmt.Errorf("%s: %s", name, text)
		}
		return text, nil
	}
	if _, err := call("add_thing", map[string]any{"items": []any{map[string]any{"name": "Go torch", "new_place": map[string]any{"name": "Shed"}}}}); err != nil {
		t.Fatal(err)
	}
	if text, err := call("where_is", map[string]any{"query": "go torch"}); err != nil || !strings.Contains(text, "Shed") {
		t.Fatalf("where_is: %v %s", err, text)
	}
	time.Sleep(3500 * time.Millisecond) // the access token's life is over: the client must refresh
	if _, err := call("where_is", map[string]any{"query": "go torch"}); err != nil {
		t.Fatalf("after the access token's end: %v", err)
	}
	if asked != 1 {
		t.Errorf("the person was asked %d times", asked)
	}
	if err := disconnectAll(b, p.URL); err != nil {
		t.Fatal(err)
	}
	if text, err := call("where_is", map[string]any{"query": "go torch"}); err == nil {
		t.Errorf("answered after the disconnect: %s", text)
	}
}
