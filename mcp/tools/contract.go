package tools

import (
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"

	"gatehouse/mcp"
)

// The scopes of a contract.
const (
	Read  = "read"
	Write = "write"
)

// The doors a tool may be offered at; they are named like the modules that open them.
const (
	DoorMCP     = "mcp"
	DoorConsole = "console"
)

// Contract is what a tool is called, says and needs. It is data: the handler stands apart.
type Contract struct {
	Name  string
	Title string
	// Description is one English question, for the model; no page shows it.
	Description string
	Scope       string
	// Module must be effective at the location; empty is the core.
	Module string
	Doors  []string
	// Since is the version of the program that brought the tool.
	Since string
	// Global tools read several locations at once when none is named.
	Global bool
	// Idempotent says that the same call again changes nothing and writes no entry.
	Idempotent bool
	// List is the key of the list an answer may be shortened by, empty for none.
	List string
	// Input and Output are the types of arguments and data.
	Input, Output reflect.Type
	// Schema is the input schema; it takes exactly the fields of Input.
	Schema *jsonschema.Schema
}

func (c *Contract) write() bool { return c.Scope == Write }

// annotations are the hints of a tool: all four always sent (KE-05). Nothing here destroys, and nothing reaches out of the
// inventory.
func (c *Contract) annotations() mcp.Annotations {
	return mcp.Annotations{
		ReadOnlyHint:   !c.write(),
		IdempotentHint: !c.write() || c.Idempotent,
	}
}

// bothDoors is what a contract has unless it is for the MCP door only.
var bothDoors = []string{DoorMCP, DoorConsole}

// paged makes the schema of a tool that lists.
func paged(props ...property) *jsonschema.Schema {
	return object("", append(append(props, paging()...), locationID())...)
}

// plainInput makes the schema of a tool that does not.
func plainInput(props ...property) *jsonschema.Schema {
	return object("", append(props, locationID())...)
}
