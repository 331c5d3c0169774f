package doctor

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// persona is one kind of app, with what it sends.
type persona struct {
	as, title string
	// hosted apps call from their makers' servers.
	hosted bool
	// agents are user agents on the MCP endpoint, fetchers those on discovery and token endpoint.
	agents, fetchers []string
	apps             []app
}

// app is one client of a persona.
type app struct {
	name, agent, redirect string
	// document is the app's client document; withIss says that it takes it only from servers that send iss.
	document string
	withIss  bool
	native   bool
	// offline says that it adds offline_access where the server lists it, consent that it then asks for the page.
	offline, consent bool
}

// personas are the apps that a walk plays. Programs listen on a free port; which one does not matter (RFC 8252 §7.3).
func personas() []persona {
	const port = "49517"
	return []persona{
		{
			as: "claude", title: "Claude (claude.ai, desktop, mobile)", hosted: true,
			agents: []string{"Claude-User"}, fetchers: []string{"python-httpx/0.28.1"},
			apps: []app{{name: "Claude", agent: "python-httpx/0.28.1", redirect: "https://claude.ai/api/mcp/auth_callback",
				document: "https://claude.ai/oauth/mcp-oauth-client-metadata", offline: true}},
		},
		{
			as: "chatgpt", title: "ChatGPT", hosted: true,
			agents: []string{"openai-mcp/1.0.0"}, fetchers: []string{"openai-mcp/1.0.0", "openai-connectors-oauth"},
			apps: []app{{name: "ChatGPT", agent: "openai-connectors-oauth", redirect: "https://chatgpt.com/connector_platform_oauth_redirect",
				document: "https://chatgpt.com/oauth/client.json", withIss: true}},
		},
		{
			as: "codex", title: "Claude Code and Codex",
			agents: []string{"claude-code/2.1.332 (cli)", "codex-mcp-client/0.171.0"}, fetchers: []string{"Bun/1.4.6", "codex-mcp-client/0.171.0"},
			apps: []app{
				{name: "Claude Code (gatehouse)", agent: "Bun/1.4.6", redirect: "http://localhost:" + port + "/callback", native: true,
					document: "https://claude.ai/oauth/claude-code-client-metadata", offline: true, consent: true},
				{name: "Codex", agent: "codex-mcp-client/0.171.0", redirect: "http://127.0.0.1:" + port + "/callback", native: true,
					document: "https://chatgpt.com/oauth/codex/client.json", offline: true},
			},
		},
	}
}

// persona walks on as one kind of app, from where all apps have come.
func (w *walk) persona(ctx context.Context, p persona) {
	w.begin(p.as, p.title)
	w.reach(p)
	w.firstRequest(ctx, p)
	w.userAgents(ctx, p)
	if w.server == nil {
		w.note("register", "Registration and sign-in", "not tried: there is no server metadata")
		return
	}
	for _, a := range p.apps {
		w.documentClient(ctx, a)
		w.registeredClient(ctx, a)
	}
}

const discoverBody = `{"jsonrpc":"2.0","id":"openai-mcp-discover","method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
	`"io.modelcontextprotocol/clientInfo":{"name":"gatehouse-doctor","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`

// firstRequest is the first request as apps of the newer protocol send it.
func (w *walk) firstRequest(ctx context.Context, p persona) {
	if p.as == "claude" { // begins with initialize, as every walk does
		return
	}
	a := w.send(ctx, w.knock(http.MethodPost, discoverBody, p.agents[0], "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "server/discover"))
	_, fault := w.judgeChallenge(a)
	w.judge("challenge.discover", "server/discover without a token", "401 with the challenge", fault)
}

// userAgents asks once more with the app's user agents: firewalls and CDNs refuse some of them.
func (w *walk) userAgents(ctx context.Context, p persona) {
	const title = "Not blocked as "
	for _, agent := range p.agents {
		a := w.send(ctx, w.knock(http.MethodPost, initializeBody, agent))
		w.judge("agent.mcp", title+agent, "the MCP endpoint answers as to others", w.treated(a, http.StatusUnauthorized))
	}
	for _, agent := range p.fetchers {
		var fault *problem
		for _, at := range []string{w.resourceAt, w.serverAt} {
			if at != "" && fault == nil {
				fault = w.treated(w.get(ctx, at, agent), http.StatusOK)
			}
		}
		if fault == nil && w.server != nil && w.server.TokenEndpoint != "" {
			fault = w.treated(w.postForm(ctx, w.server.TokenEndpoint, agent, nil), 0)
		}
		w.judge("agent.discovery", title+agent, "metadata and token endpoint answer as to others", fault)
	}
}

// treated is the fault of an answer that this user agent gets and others do not. Faults that all get stand elsewhere.
func (w *walk) treated(a *answer, want int) *problem {
	if a.err == nil && (a.status == want || want == 0 && (a.status == 400 || a.status == 401) && !a.html()) {
		return nil
	}
	if want == http.StatusUnauthorized && w.challenged.scheme == "" {
		return nil // nobody is challenged: said above
	}
	if a.err != nil {
		return a.silence()
	}
	return &problem{finding: "blocked", detail: a.url + " answers " + a.seen() + " to this user agent", mend: mendBlocked(a)}
}

// scope is what the app asks for: the challenge's scope, else the resource's, and offline_access where it adds it.
func (w *walk) scope(a app) string {
	scopes := strings.Fields(w.challenged.get("scope"))
	if len(scopes) == 0 {
		scopes = slices.Clone(w.resource.ScopesSupported)
	}
	if w.asksOffline(a) && !slices.Contains(scopes, "offline_access") {
		scopes = append(scopes, "offline_access")
	}
	return strings.Join(scopes, " ")
}

func (w *walk) asksOffline(a app) bool {
	return a.offline && slices.Contains(w.server.Scopes, "offline_access")
}

// registration is the body with which the app registers.
func (w *walk) registration(a app) string {
	var b strings.Builder
	b.WriteString(`{"client_name":` + quote(a.name) + `,"redirect_uris":[` + quote(a.redirect) + `]`)
	b.WriteString(`,"grant_types":["authorization_code","refresh_token"],"response_types":["code"],"token_endpoint_auth_method":"none"`)
	if a.native {
		b.WriteString(`,"application_type":"native"`)
	}
	if scope := w.scope(a); scope != "" {
		b.WriteString(`,"scope":` + quote(scope))
	}
	return b.String() + "}"
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return strconv.Quote(s)
	}
	return string(b)
}
