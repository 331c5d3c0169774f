package home

import "slices"

// Module is a feature area of a location that can be on or off. The core is no module and always on.
type Module struct {
	Name string
	// Needs are modules that must be effective for this one to be.
	Needs []string
}

// The modules.
const (
	ModuleLabels      = "labels"
	ModuleMoney       = "money"
	ModuleWarranties  = "warranties"
	ModuleSchedules   = "schedules"
	ModuleLending     = "lending"
	ModulePaperwork   = "paperwork"
	ModuleVehicles    = "vehicles"
	ModuleFuel        = "fuel"
	ModuleConsumables = "consumables"
	ModuleMoving      = "moving"
	ModuleSecrets     = "secrets"
	// ModuleMCP is the door of AI apps: without it a location does not exist for them.
	ModuleMCP = "mcp"
	// ModuleConsole is the door of the web console.
	ModuleConsole = "console"
)

var modules = []Module{
	{Name: ModuleLabels}, {Name: ModuleMoney}, {Name: ModuleWarranties}, {Name: ModuleSchedules}, {Name: ModuleLending},
	{Name: ModulePaperwork}, {Name: ModuleVehicles}, {Name: ModuleFuel, Needs: []string{ModuleVehicles}},
	{Name: ModuleConsumables}, {Name: ModuleMoving, Needs: []string{ModuleLabels}}, {Name: ModuleSecrets},
	{Name: ModuleMCP}, {Name: ModuleConsole},
}

// Modules lists all modules in the order in which they are shown.
func Modules() []Module { return slices.Clone(modules) }

// Presets of modules.
const (
	PresetEssentials = "essentials"
	PresetHousehold  = "household"
	PresetComplete   = "complete"
	// DefaultPreset is what a new location starts with.
	DefaultPreset = PresetHousehold
)

var (
	essentials = []string{ModuleLabels, ModuleMCP, ModuleConsole}
	household  = append(slices.Clone(essentials), ModuleMoney, ModuleWarranties, ModuleSchedules, ModuleLending, ModulePaperwork, ModuleVehicles)
	complete   = append(slices.Clone(household), ModuleFuel, ModuleConsumables, ModuleMoving, ModuleSecrets)
	presets    = map[string][]string{PresetEssentials: essentials, PresetHousehold: household, PresetComplete: complete}
)

// PresetModules lists the modules that a preset turns on; all others it turns off.
func PresetModules(preset string) ([]string, bool) {
	list, ok := presets[preset]
	return slices.Clone(list), ok
}

// IsModule reports whether there is a module of that name.
func IsModule(name string) bool {
	return slices.ContainsFunc(modules, func(m Module) bool { return m.Name == name })
}

// needs are the modules with what they need, for quick look-ups.
var needs = func() map[string][]string {
	m := map[string][]string{}
	for _, mod := range modules {
		m[mod.Name] = mod.Needs
	}
	return m
}()

// EffectiveModules are the enabled modules without those that need one which is not effective, and without unknown ones.
// The slice given is used for the answer.
func EffectiveModules(enabled []string) []string {
	for {
		lame := slices.IndexFunc(enabled, func(name string) bool { return !supported(name, enabled) })
		if lame < 0 {
			return enabled
		}
		enabled = slices.Delete(enabled, lame, lame+1)
	}
}

func supported(name string, enabled []string) bool {
	list, known := needs[name]
	for _, need := range list {
		known = known && slices.Contains(enabled, need)
	}
	return known
}
