package mcp_test

import (
	"context"
	"net/http/httptest"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"gatehouse/mcp"
)

// TestOfficialClient drives a server with the official Go client, in each era.
func TestOfficialClient(t *testing.T) {
	t.Parallel()
	steps := tool(t, mcp.ToolSpec{Name: "steps"}, func(_ context.Context, c *mcp.Call, _ struct{}) (string, error) {
		c.Progress(1, 2, "half")
		return "done", nil
	})
	web := httptest.NewServer(newServer(t, mcp.WithTools(steps), mcp.WithInstructions("read me")))
	defer web.Close()
	for _, version := range []string{"", "2025-11-25", "2025-06-18", "2025-03-26"} {
		t.Run("client "+version, func(t *testing.T) {
			progress := make(chan float64, 4)
			client := sdk.NewClient(&sdk.Implementation{Name: "official", Version: "1"}, &sdk.ClientOptions{
				ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
					progress <- r.Params.Progress
				},
			})
			session, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: web.URL},
				&sdk.ClientSessionOptions{ProtocolVersion: version})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = session.Close() }()
			got := session.InitializeResult()
			if got.Instructions != "read me" || (version != "" && got.ProtocolVersion != version) {
				t.Errorf("initialize = %+v", got)
			}
			tools, err := session.ListTools(t.Context(), nil)
			if err != nil || len(tools.Tools) != 2 {
				t.Fatalf("tools/list: %+v, %v", tools, err)
			}
			res, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "greet", Arguments: map[string]any{"name": "A"}})
			if err != nil || res.IsError || res.Content[0].(*sdk.TextContent).Text != `{"greeting":"Hello, A!"}` {
				t.Errorf("tools/call: %+v, %v", res, err)
			}
			params := &sdk.CallToolParams{Name: "steps"}
			params.SetProgressToken("p")
			if _, err = session.CallTool(t.Context(), params); err != nil {
				t.Errorf("steps: %v", err)
			}
			if p := <-progress; p != 1 {
				t.Errorf("progress = %v", p)
			}
			read, err := session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "test://note"})
			if err != nil || read.Contents[0].Text != "remember" {
				t.Errorf("resources/read: %+v, %v", read, err)
			}
			if _, err = session.CallTool(t.Context(), &sdk.CallToolParams{Name: "nope"}); err == nil {
				t.Error("unknown tool: no error")
			}
		})
	}
}
