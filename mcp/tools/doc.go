// Package tools is the home tool set: what a model may do with an inventory, as tools of package mcp.
//
// A tool is one [Contract] (what it is called, says, needs) and one handler (what it does). The handler finds the
// location, checks that the tool is available there, calls one function of the inventory's service and shapes the
// answer; the rules of the inventory stay with the service, which the REST API calls too. A contract without a handler is
// never offered.
//
// Every answer is one text block: {"data":…,"as_of":…,"next_cursor"?,"trimmed"?} or {"error":…,"hint":…}, below 8,192
// bytes. Text that a person wrote stands under a key named untrusted, so that a model can tell data from instructions.
//
// # What it must never do
//
//   - trash, delete, merge, reveal a secret, take or hand out bytes;
//   - open a transaction or know SQL;
//   - answer an error for a write that was saved;
//   - put a value that was sent, or a stored text, into a hint.
package tools
