package app

import (
	"encoding/json"
	"strings"
	"sync"

	"gatehouse/app/toolgrant"
	"gatehouse/mcp/tools"
	"gatehouse/oauth"
)

var homeCatalog = sync.OnceValue(tools.Catalog)

// toolCatalog gives the tools of a resource that can be granted one by one.
func toolCatalog(resource string) toolgrant.Catalog {
	if !strings.HasSuffix(resource, "/mcp") {
		return nil
	}
	return homeCatalog()
}

// toolDetails is the type mcp_tools of authorization details: single tools and limits of their arguments.
func toolDetails() oauth.DetailType {
	return oauth.DetailType{
		Name: toolgrant.Type,
		Check: func(resource string, objects []json.RawMessage) ([]json.RawMessage, error) {
			return toolgrant.CheckObjects(resource, toolCatalog(resource), objects)
		},
		Within: func(asked, granted []json.RawMessage) bool {
			return toolgrant.ObjectsWithin(homeCatalog(), asked, granted)
		},
		Meet: func(asked, granted []json.RawMessage) []json.RawMessage {
			return toolgrant.MeetObjects(homeCatalog(), asked, granted)
		},
	}
}
