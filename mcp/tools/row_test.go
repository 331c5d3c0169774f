package tools

import (
	"testing"

	"gatehouse/app/home"
)

// TestOffersByModuleAndDoor checks the conditions that none of the tools with a handler needs yet: a module of its own,
// and one door only.
func TestOffersByModuleAndDoor(t *testing.T) {
	t.Parallel()
	lend := &row{contract: &Contract{Name: "lend", Scope: Write, Module: home.ModuleLending, Doors: []string{DoorMCP}}, handler: Handler{Action: home.LendingEdit}}
	p := &home.Principal{Actor: home.ActorConnection, Scopes: []string{home.ScopeWrite}}
	for _, tc := range []struct {
		name    string
		door    string
		role    home.Role
		modules []string
		want    bool
	}{
		{"KE-02 all there", DoorMCP, home.Member, []string{"mcp", "lending"}, true},
		{"KE-02 module off", DoorMCP, home.Member, []string{"mcp", "money"}, false},
		{"KE-80 door's module off", DoorMCP, home.Member, []string{"console", "lending"}, false},
		{"KE-84 not at this door", DoorConsole, home.Member, []string{"mcp", "console", "lending"}, false},
		{"KE-152 role too low", DoorMCP, home.Viewer, []string{"mcp", "lending"}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := lend.offers(p, tc.door, &home.Access{Role: tc.role, Modules: tc.modules}); got != tc.want {
				t.Errorf("offered: %t", got)
			}
		})
	}
}
