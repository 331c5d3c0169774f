// Package doctor walks the way of an AI app to an MCP server with OAuth, from the first request without a token to the
// sign-in page, and says what would fail there, why, and how to mend it.
//
// It works against any URL, from outside, with requests that apps really send (their user agents, registration bodies,
// client documents and redirect URIs). A walk is a list of steps; each has a fixed check name, and each fault a fixed
// finding name, so that programs can tell them apart. A new check is a function that adds one step; a new app is a row
// of personas in app.go.
//
// Border: it imports nothing of ours, reads no database and no settings, and follows redirects only at the authorization
// endpoint, where a browser would, and only on that host. The person at the command line names the URL, so its client
// does not go through the guard of package fetch.
//
// It must never send a token over anything but verified TLS or to this computer, never send it to another endpoint than
// the one named, never print it, and never change anything at the server beyond the throw-away registrations it reports.
package doctor
