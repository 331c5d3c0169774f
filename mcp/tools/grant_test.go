package tools_test

import (
	"testing"

	"gatehouse/app/toolgrant"
	"gatehouse/mcp/tools"
)

func TestCatalog(t *testing.T) {
	t.Parallel()
	catalog := tools.Catalog()
	if len(catalog) != len(tools.Contracts()) {
		t.Errorf("RA-3 %d tools can be granted, %d are offered", len(catalog), len(tools.Contracts()))
	}
	for tool, kinds := range map[string]map[string]string{
		"move_thing":    {"thing_id": toolgrant.String, "to_place_id": toolgrant.String, "quantity": toolgrant.Number, "location_id": toolgrant.String},
		"search_things": {"query": toolgrant.String, "limit": toolgrant.Number, "location_id": toolgrant.String, "filters": "", "cursor": ""},
		"add_thing":     {"location_id": toolgrant.String, "items": ""},
	} {
		entry, known := catalog.Tool(tool)
		if !known || entry.Title == "" || entry.Write != (tool != "search_things") {
			t.Fatalf("RA-3 %s in the catalog is %+v", tool, entry)
		}
		got := map[string]string{}
		for _, a := range entry.Arguments {
			got[a.Name] = a.Kind
		}
		for name, kind := range kinds {
			if got[name] != kind {
				t.Errorf("RA-3 the argument %s of %s is of the kind %q, want %q", name, tool, got[name], kind)
			}
		}
	}
}
