// Package toolgrant is what a connection may call, tool by tool: the authorization details of type mcp_tools (RFC 9396).
//
//	{"type": "mcp_tools", "locations": ["https://home.example/mcp"],
//	 "tools": ["search_things", "move_thing"],
//	 "read_only": true,
//	 "limits": {"move_thing": {"quantity": {"maximum": 5}}, "search_things": {"location_id": {"values": ["…"]}}}}
//
// A grant only ever takes away from what the scopes allow. tools lists the tools, all when absent; read_only keeps those
// that change nothing; limits bind arguments on the top level of a call: to a list of constant values, or, for numbers, to
// a maximum. A limited argument must be present, because a tool has a default for what is left out.
//
// The package decides and compares; it knows neither HTTP nor SQL nor the tools, whose catalog is handed in.
package toolgrant
