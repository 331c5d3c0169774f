package web

import (
	"bytes"
	"encoding/json"
	"strings"

	"gatehouse/templates"
)

// settingsName is what the server is called in a client's settings.
const settingsName = "gatehouse"

// clientSettings are ready settings with a personal token, for clients that take a fixed header.
func clientSettings(url, token string) []templates.SnippetView {
	headers := map[string]string{"Authorization": "Bearer " + token}
	server := map[string]any{"url": url, "headers": headers}
	return []templates.SnippetView{
		{Title: "Claude Code", Where: "Run in a terminal.",
			Text: "claude mcp add --transport http " + settingsName + " " + url + " --header \"Authorization: Bearer " + token + "\""},
		{Title: "Codex", Where: "Add to ~/.codex/config.toml.",
			Text: "[mcp_servers." + settingsName + "]\nurl = \"" + url + "\"\nhttp_headers = { Authorization = \"Bearer " + token + "\" }"},
		{Title: "Cursor", Where: "Add to ~/.cursor/mcp.json.",
			Text: indented(map[string]any{"mcpServers": map[string]any{settingsName: server}})},
		{Title: "VS Code", Where: "Add to .vscode/mcp.json.",
			Text: indented(map[string]any{"servers": map[string]any{settingsName: map[string]any{"type": "http", "url": url, "headers": headers}}})},
		{Title: "Anything else", Where: "The address and the header, as JSON.", Text: indented(server)},
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
func guides(url string) []templates.GuideView {
	cursor := indented(map[string]any{"mcpServers": map[string]any{settingsName: map[string]any{"url": url}}})
	return []templates.GuideView{
		{App: "Claude", Steps: []templates.GuideStepView{
			{Text: "Open Settings, then Connectors."}, {Text: "Choose Add custom connector."}, {Text: "Paste the address, press Add, then Connect."}}},
		{App: "ChatGPT", Steps: []templates.GuideStepView{
			{Text: "Open Settings, then Apps and Connectors. Under Advanced settings, switch Developer mode on."},
			{Text: "Choose Create, paste the address, and choose OAuth."}, {Text: "Press Create and approve."}}},
		{App: "Claude Code", Steps: []templates.GuideStepView{
			{Text: runThis, Snippet: "claude mcp add --transport http " + settingsName + " " + url},
			{Text: "Start claude, type /mcp, choose " + settingsName + " and Authenticate."}}},
		{App: "Codex", Steps: []templates.GuideStepView{
			{Text: runThis, Snippet: "codex mcp add " + settingsName + " --url " + url + "\ncodex mcp login " + settingsName}}},
		{App: "Cursor", Steps: []templates.GuideStepView{
			{Text: "Add this to ~/.cursor/mcp.json.", Snippet: cursor}, {Text: "Open Settings, then MCP, and press Connect."}}},
		{App: "VS Code", Steps: []templates.GuideStepView{
			{Text: "Run the command MCP: Add Server and choose HTTP."}, {Text: "Paste the address and give it the name " + settingsName + "."},
			{Text: "Allow the sign-in when VS Code asks."}}},
		{App: "MCP Inspector", Steps: []templates.GuideStepView{
			{Text: runThis, Snippet: "npx @modelcontextprotocol/inspector"},
			{Text: "In the page that opens, choose the transport Streamable HTTP, paste the address, and press Connect."}}},
	}
}

const runThis = "Run this in a terminal."
