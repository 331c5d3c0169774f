package web

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"gatehouse/templates"
	"gatehouse/templates/lang"
)

// settingsName is what the server is called in a client's settings.
const settingsName = "gatehouse"

// clientSettings are ready settings with a personal token, for clients that take a fixed header.
func clientSettings(ctx context.Context, url, token string) []templates.SnippetView {
	headers := map[string]string{"Authorization": "Bearer " + token}
	server := map[string]any{"url": url, "headers": headers}
	return []templates.SnippetView{
		{Title: "Claude Code", Where: lang.T(ctx, "Run in a terminal."),
			Text: "claude mcp add --transport http " + settingsName + " " + url + " --header \"Authorization: Bearer " + token + "\""},
		{Title: "Codex", Where: lang.T(ctx, "Add to {file}.", "file", "~/.codex/config.toml"),
			Text: "[mcp_servers." + settingsName + "]\nurl = \"" + url + "\"\nhttp_headers = { Authorization = \"Bearer " + token + "\" }"},
		{Title: "Cursor", Where: lang.T(ctx, "Add to {file}.", "file", "~/.cursor/mcp.json"),
			Text: indented(map[string]any{"mcpServers": map[string]any{settingsName: server}})},
		{Title: "VS Code", Where: lang.T(ctx, "Add to {file}.", "file", ".vscode/mcp.json"),
			Text: indented(map[string]any{"servers": map[string]any{settingsName: map[string]any{"type": "http", "url": url, "headers": headers}}})},
		{Title: lang.T(ctx, "Anything else"), Where: lang.T(ctx, "The address and the header, as JSON."), Text: indented(server)},
	}
}

// indented is JSON for people: strings and maps only, which always encode.
func indented(v any) string {
	var buf bytes.Buffer
	encoder := json.NewEncoder(&buf)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if encoder.Encode(v) != nil {
		return ""
	}
	return strings.TrimSuffix(buf.String(), "\n")
}

// guides are the short instructions for each app.
func guides(ctx context.Context, url string) []templates.GuideView {
	cursor := indented(map[string]any{"mcpServers": map[string]any{settingsName: map[string]any{"url": url}}})
	return []templates.GuideView{
		{App: "Claude", Steps: []templates.GuideStepView{
			{Text: lang.T(ctx, "Open Settings, then Connectors.")}, {Text: lang.T(ctx, "Choose Add custom connector.")}, {Text: lang.T(ctx, "Paste the address, press Add, then Connect.")}}},
		{App: "ChatGPT", Steps: []templates.GuideStepView{
			{Text: lang.T(ctx, "Open Settings, then Apps and Connectors. Under Advanced settings, switch Developer mode on.")},
			{Text: lang.T(ctx, "Choose Create, paste the address, and choose OAuth.")}, {Text: lang.T(ctx, "Press Create and approve.")}}},
		{App: "Claude Code", Steps: []templates.GuideStepView{
			{Text: lang.T(ctx, "Run this in a terminal."), Snippet: "claude mcp add --transport http " + settingsName + " " + url},
			{Text: lang.T(ctx, "Start claude, type /mcp, choose {name} and Authenticate.", "name", settingsName)}}},
		{App: "Codex", Steps: []templates.GuideStepView{
			{Text: lang.T(ctx, "Run this in a terminal."), Snippet: "codex mcp add " + settingsName + " --url " + url + "\ncodex mcp login " + settingsName}}},
		{App: "Cursor", Steps: []templates.GuideStepView{
			{Text: lang.T(ctx, "Add this to {file}.", "file", "~/.cursor/mcp.json"), Snippet: cursor}, {Text: lang.T(ctx, "Open Settings, then MCP, and press Connect.")}}},
		{App: "VS Code", Steps: []templates.GuideStepView{
			{Text: lang.T(ctx, "Run the command MCP: Add Server and choose HTTP.")}, {Text: lang.T(ctx, "Paste the address and give it the name {name}.", "name", settingsName)},
			{Text: lang.T(ctx, "Allow the sign-in when VS Code asks.")}}},
		{App: "MCP Inspector", Steps: []templates.GuideStepView{
			{Text: lang.T(ctx, "Run this in a terminal."), Snippet: "npx @modelcontextprotocol/inspector"},
			{Text: lang.T(ctx, "In the page that opens, choose the transport Streamable HTTP, paste the address, and press Connect.")}}},
	}
}
