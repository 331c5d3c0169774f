package mcp_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"gatehouse/mcp"
)

func TestParamHeaders(t *testing.T) {
	t.Parallel()
	type in struct {
		Region string `json:"region,omitempty" mcp:"header=Region"`
		Count  int    `json:"count,omitempty" mcp:"header=Count"`
		Deep   struct {
			On *bool `json:"on,omitempty" mcp:"header=On"`
		} `json:"deep,omitzero"`
	}
	s := newServer(t, mcp.WithTools(tool(t, mcp.ToolSpec{Name: "regional"}, func(context.Context, *mcp.Call, in) (string, error) { return "ok", nil })))
	for _, tc := range []struct {
		name, args string
		headers    []string
		ok         bool
	}{
		{"equal", `{"region":"eu"}`, []string{"Mcp-Param-Region: eu"}, true},
		{"neither", `{}`, nil, true},
		{"null needs none", `{"region":null}`, nil, true},
		{"name in any case", `{"region":"eu"}`, []string{"MCP-PARAM-region: eu"}, true},
		{"value in another case", `{"region":"eu"}`, []string{"Mcp-Param-Region: EU"}, false},
		{"missing", `{"region":"eu"}`, nil, false},
		{"without an argument", `{}`, []string{"Mcp-Param-Region: eu"}, false},
		{"base64", `{"region":"Hello"}`, []string{"Mcp-Param-Region: =?base64?SGVsbG8=?="}, true},
		{"base64 without padding", `{"region":"Hello"}`, []string{"Mcp-Param-Region: =?base64?SGVsbG8?="}, false},
		{"base64 with other characters", `{"region":"Hello"}`, []string{"Mcp-Param-Region: =?base64?SGVs!!!bG8=?="}, false},
		{"no suffix is literal", `{"region":"=?base64?SGVsbG8="}`, []string{"Mcp-Param-Region: =?base64?SGVsbG8="}, true},
		{"integers by value", `{"count":10}`, []string{"Mcp-Param-Count: 10.0"}, true},
		{"another integer", `{"count":10}`, []string{"Mcp-Param-Count: 11"}, false},
		{"absurd integer", `{"count":10}`, []string{"Mcp-Param-Count: 1e999999999"}, false},
		{"nested boolean", `{"deep":{"on":false}}`, []string{"Mcp-Param-On: false"}, true},
		{"another boolean", `{"deep":{"on":false}}`, []string{"Mcp-Param-On: true"}, false},
	} {
		t.Run("§2 "+tc.name, func(t *testing.T) {
			t.Parallel()
			w := modern(s, "tools/call", `"name":"regional","arguments":`+tc.args, append(tc.headers, "Mcp-Name: regional")...)
			if !tc.ok {
				wantError(t, w, 400, mcp.CodeHeaderMismatch)
				return
			}
			var res callResult
			if result(t, w, &res); res.IsError {
				t.Errorf("%+v", res)
			}
		})
	}
	result(t, legacy(s, mcp.Revision20251125, "tools/call", `"name":"regional","arguments":{"region":"eu"}`), &struct{}{})
	for schema, want := range map[string]string{
		`{"type":"object","properties":{"a":{"type":"number","x-mcp-header":"A"}}}`:                                          "needs type",
		`{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A b"}}}`:                                        "header token",
		`{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}}}`: "given twice",
	} {
		_, err := mcp.NewTool(mcp.ToolSpec{Name: "x", Description: "d", InputSchema: schema},
			func(context.Context, *mcp.Call, json.RawMessage) (any, error) { return nil, nil })
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", schema, err, want)
		}
	}
}
