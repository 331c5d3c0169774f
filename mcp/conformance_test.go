package mcp_test

import (
	"context"
	"net"
	"net/http"
	"os"
	"os/signal"
	"testing"
	"time"

	"gatehouse/mcp"
)

// TestServeForConformance serves a small server for the official conformance
// suite, until interrupted: MCP_CONFORMANCE_LISTEN=127.0.0.1:9000.
func TestServeForConformance(t *testing.T) {
	addr := os.Getenv("MCP_CONFORMANCE_LISTEN")
	if addr == "" {
		t.Skip("set MCP_CONFORMANCE_LISTEN to an address to serve the conformance suite")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	type regionIn struct {
		Region string `json:"region" mcp:"header=Region"`
	}
	region := tool(t, mcp.ToolSpec{Name: "test_x_mcp_header"}, func(_ context.Context, _ *mcp.Call, in regionIn) (regionIn, error) {
		return in, nil
	})
	mux := http.NewServeMux()
	mux.Handle("/mcp", newServer(t, mcp.WithTools(region), mcp.WithCapabilities(mcp.Capabilities{
		Prompts: true, Completions: true, Logging: true,
	})))
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	go func() { <-ctx.Done(); _ = srv.Close() }()
	_ = srv.Serve(ln)
}
