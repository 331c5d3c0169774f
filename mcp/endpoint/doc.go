// Package endpoint guards an MCP endpoint: it is where mcp meets oauth, and the only place.
//
// A request passes, in this order: CORS preflight, Host, Origin, size, token (with the proof of its key, if it is bound
// to one), the row of its connection, and only then the JSON-RPC layer. The token proves who asks; what they may do is read from the database on every request, so
// that a change or an end holds from the next call. Tokens are never passed on, and the bearer step is never charged to
// a limit.
//
// A Profile is data: what differs between endpoints is a row of it, never a branch in here.
package endpoint
