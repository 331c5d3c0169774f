// Package mcp is a Model Context Protocol server: the wire, the registry and
// the tools/call chain, as one stateless [net/http.Handler].
//
// It serves four revisions at one URL: 2026-07-28 (each request carries its
// own version and capabilities in _meta) and the initialize-based 2025-11-25,
// 2025-06-18 and 2025-03-26. Nothing is remembered between requests, so any
// number of processes behind any proxy behave as one.
//
//	srv, err := mcp.NewServer(mcp.Implementation{Name: "greeter", Version: "1"}, mcp.WithTools(hello))
//	http.Handle("/mcp", srv)
//
// A tool is made with [NewTool] from Go types. Its call passes, in this
// order: middleware, params, authorize, arguments, limit, handler, codec; see
// [WithAuthorize], [WithLimit], [WithErrorCodec].
//
// # Border
//
// The package knows JSON-RPC, MCP and JSON Schema. It imports nothing of the
// program around it and holds no product words.
//
// # What it must never do
//
//   - authenticate anybody, or judge Host and Origin: that is the caller's
//     layer, which hands over facts in the context;
//   - keep state that a second process would miss;
//   - mint a session id, or answer a refusal with anything but JSON-RPC;
//   - put the text of an unknown error on the wire.
package mcp
