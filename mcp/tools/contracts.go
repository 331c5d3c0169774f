package tools

import (
	"reflect"

	"gatehouse/app/home"
)

// since is the version of the program that brought the first tools.
const since = "0.1"

// Contracts are all tools, in the order in which they are listed. Names, scopes and modules are pinned by a test: models
// and people's settings refer to them.
func Contracts() []*Contract {
	return []*Contract{
		{
			Name: "capabilities", Title: "What I can do", Scope: Read, Doors: bothDoors, Since: since, Global: true,
			Description: "What may I do here, in which locations and with which tools?",
			Schema:      paged(), List: "locations",
			Input: reflect.TypeFor[listInput](), Output: reflect.TypeFor[capabilitiesOutput](),
		},
		{
			Name: "list_locations", Title: "Locations", Scope: Read, Doors: bothDoors, Since: since, Global: true,
			Description: "Which homes, workshops or offices can I see?",
			Schema:      paged(), List: "items",
			Input: reflect.TypeFor[listInput](), Output: reflect.TypeFor[listLocationsOutput](),
		},
		{
			Name: "search_things", Title: "Search things", Scope: Read, Doors: bothDoors, Since: since, Global: true,
			Description: "Which things fit these words or filters?",
			Schema:      searchThingsSchema(), List: "items",
			Input: reflect.TypeFor[searchThingsInput](), Output: reflect.TypeFor[searchThingsOutput](),
		},
		{
			Name: "where_is", Title: "Where is it", Scope: Read, Doors: bothDoors, Since: since, Global: true,
			Description: "Where would I look for this right now?",
			Schema:      whereIsSchema(), List: "items",
			Input: reflect.TypeFor[whereIsInput](), Output: reflect.TypeFor[whereIsOutput](),
		},
		{
			Name: "get_thing", Title: "One thing", Scope: Read, Doors: bothDoors, Since: since,
			Description: "What do we know about this one thing?",
			Schema:      getThingSchema(),
			Input:       reflect.TypeFor[getThingInput](), Output: reflect.TypeFor[getThingOutput](),
		},
		{
			Name: "list_contents", Title: "What is inside", Scope: Read, Doors: bothDoors, Since: since,
			Description: "What is kept in this room, on this shelf or in this box?",
			Schema:      listContentsSchema(), List: "items",
			Input: reflect.TypeFor[listContentsInput](), Output: reflect.TypeFor[listContentsOutput](),
		},
		{
			Name: "add_thing", Title: "Add things", Scope: Write, Doors: bothDoors, Since: since,
			Description: "Can you put these new things on record, with where they are?",
			Schema:      addThingSchema(),
			Input:       reflect.TypeFor[addThingInput](), Output: reflect.TypeFor[addThingOutput](),
		},
		{
			Name: "update_thing", Title: "Edit a thing", Scope: Write, Doors: bothDoors, Since: since, Idempotent: true,
			Description: "Can you correct or complete what is written about this thing?",
			Schema:      updateThingSchema(),
			Input:       reflect.TypeFor[updateThingInput](), Output: reflect.TypeFor[updateThingOutput](),
		},
		{
			Name: "move_thing", Title: "Move a thing", Scope: Write, Doors: bothDoors, Since: since,
			Description: "Can you record that this thing now lives somewhere else?",
			Schema:      moveThingSchema(),
			Input:       reflect.TypeFor[moveThingInput](), Output: reflect.TypeFor[moveThingOutput](),
		},
		{
			Name: "create_place", Title: "New place", Scope: Write, Doors: bothDoors, Since: since,
			Description: "Can you add a room, shelf or corner here?",
			Schema:      createPlaceSchema(),
			Input:       reflect.TypeFor[createPlaceInput](), Output: reflect.TypeFor[createPlaceOutput](),
		},
	}
}

// handlers are the handlers by name of the tool (KE-03, KE-11).
func handlers() map[string]Handler {
	return map[string]Handler{
		"capabilities":   handle(home.ContentView, "", capabilities),
		"list_locations": handle(home.ContentView, "", listLocations),
		"search_things":  handle(home.ContentView, "filters.place_id", searchThings),
		"where_is":       handle(home.ContentView, "", whereIs),
		"get_thing":      handle(home.ContentView, "thing_id", getThing),
		"list_contents":  handle(home.ContentView, "place_id", listContents),
		"add_thing":      handle(home.ThingEdit, "items[0].place_id", addThing),
		"update_thing":   handle(home.ThingEdit, "thing_id", updateThing),
		"move_thing":     handle(home.ThingEdit, "thing_id", moveThing),
		"create_place":   handle(home.PlaceEdit, "parent_id", createPlace),
	}
}
