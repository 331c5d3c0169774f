// Package app puts the program together: configuration, wiring, one list of routes, middleware, jobs and lifecycle.
//
// It is the only place that names the real clock and the real randomness, and the only one that knows every part. The
// parts do not know one another:
//
//	cmd/gatehouse → app → web, mcp/endpoint, mcp/tools, db → app/<domain>, oauth, mcp
//
// A request travels: middleware (request id, address, log, security headers, recover) → the route in routes.go → a
// handler of web or mcp/endpoint → a domain service → a store in db. To add a page, write its handler in web and its
// line there; to add a tool, write its contract and handler in mcp/tools; to add a table, write a migration and a store
// in db. house_test.go holds the rules that a test can hold.
package app
