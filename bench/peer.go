package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The peer is the official Go SDK at its plainest: no authentication, no database, stateless, JSON answers, one shared
// server, and a tool that returns a text of the same length as ours.

const peerText = `{"data":{"items":[{"id":"01a22be8-b240-7a11-8c00-5d1f00000001","role":"owner","time_zone":"UTC","untrusted":{"name":"Home"}}]},"as_of":"2026-11-30T10:15:00.000Z"}`

type noInput struct{}

func servePeer(address string) error {
	server := mcp.NewServer(&mcp.Implementation{Name: "peer", Version: "1"}, nil)
	answer := func(context.Context, *mcp.CallToolRequest, noInput) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: peerText}}}, nil, nil
	}
	for _, name := range peerTools {
		mcp.AddTool(server, &mcp.Tool{Name: name, Description: "Which homes, workshops or offices can I see?"}, answer)
	}
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server },
		&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	fmt.Println("http://" + l.Addr().String())
	mux := http.NewServeMux()
	mux.Handle("/mcp", handler)
	return (&http.Server{Handler: mux}).Serve(l)
}

// peerTools are as many as ours, so that the lists are of equal length.
var peerTools = []string{"list_locations", "capabilities", "search_things", "where_is", "get_thing", "list_contents", "add_thing", "update_thing", "move_thing", "create_place"}

// peer starts this program again as the peer and gives its targets.
func peer(t *host) []target {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-peer", "127.0.0.1:0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return requests("Go SDK, no sign-in, no database", line[:len(line)-1]+"/mcp", cmd.Process.Pid, `"list_locations","arguments":{}`, nil)
}
