package mcp_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"gatehouse/mcp"
)

// A server with one tool, called over HTTP.
func Example() {
	type addIn struct {
		A int `json:"a" jsonschema:"first number"`
		B int `json:"b" jsonschema:"second number" mcp:"min=0"`
	}
	type addOut struct {
		Sum int `json:"sum"`
	}
	add, err := mcp.NewTool(mcp.ToolSpec{
		Name: "add", Description: "Adds two numbers.",
		Annotations: mcp.Annotations{ReadOnlyHint: true, IdempotentHint: true},
	}, func(_ context.Context, _ *mcp.Call, in addIn) (addOut, error) {
		return addOut{Sum: in.A + in.B}, nil
	})
	if err != nil {
		panic(err)
	}
	srv, err := mcp.NewServer(mcp.Implementation{Name: "calculator", Version: "1.0.0"}, mcp.WithTools(add))
	if err != nil {
		panic(err)
	}
	web := httptest.NewServer(srv)
	defer web.Close()

	for _, args := range []string{`{"a":2,"b":3}`, `{"a":"2","b":-1}`} {
		body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":` + args + `}}`
		res, err := http.Post(web.URL, "application/json", strings.NewReader(body))
		if err != nil {
			panic(err)
		}
		answer, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		fmt.Println(res.StatusCode, string(answer))
	}
	// Output:
	// 200 {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{\"sum\":5}"}]}}
	// 200 {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"Invalid arguments: a must be integer; b must be >= 0"}],"isError":true}}
}
