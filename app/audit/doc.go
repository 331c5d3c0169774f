// Package audit is the record of what changes who may do what: people, clients, connections, keys, second factors.
//
// # Purpose
//
// One entry says who acted (a person in a browser, the command line, a client, the server itself), what they did, whom
// and what it was about, from where, and a few facts. Administrators read it; entries are never changed and go by age.
//
// # Border
//
// It is a leaf: it knows neither people nor clients but by their ids, neither HTTP nor SQL. What an app changes in the
// inventory is no matter of this record; the inventory keeps its own, with undo.
//
// # What it must never do
//
// Hold a secret. Fail what has been done already: Record tells its caller's log and goes on.
package audit
