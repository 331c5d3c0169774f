package home

import (
	"context"
	"slices"
	"time"

	"gatehouse/app/account"
)

// ModuleState is a module at a location.
type ModuleState struct {
	Module
	Enabled   bool
	Effective bool
}

// ModuleChange is what to do to the modules of a location. A preset is noted when it is not empty.
type ModuleChange struct {
	Set    map[string]bool
	Preset string
}

// ModuleStore keeps which modules are on.
type ModuleStore interface {
	// EnabledModules lists the enabled modules of a location for a member, with the member's role; account.ErrNotFound for
	// a location that is not there or not theirs.
	EnabledModules(ctx context.Context, locationID, userID string) ([]string, Role, error)
	// ChangeModules locks the location, hands decide the member's role, and makes the change in one step. An error of
	// decide comes back as it is; it gives account.ErrNotFound like EnabledModules.
	ChangeModules(ctx context.Context, locationID, userID string, at time.Time, decide func(Role) (ModuleChange, error)) error
}

// ModulesAt lists all modules with their state at a location, for one of its members.
func (s *Service) ModulesAt(ctx context.Context, actorID, locationID string) ([]ModuleState, error) {
	enabled, _, err := s.store.EnabledModules(ctx, locationID, actorID)
	if err != nil {
		return nil, located("list modules", err)
	}
	effective := EffectiveModules(slices.Clone(enabled))
	var out []ModuleState
	for _, m := range modules {
		out = append(out, ModuleState{Module: m, Enabled: slices.Contains(enabled, m.Name), Effective: slices.Contains(effective, m.Name)})
	}
	return out, nil
}

// SetModule turns a module on or off. Off hides, it never deletes.
func (s *Service) SetModule(ctx context.Context, actorID, locationID, module string, on bool) error {
	if !IsModule(module) {
		return account.Refuse(account.CodeNotFound, "module", "There is no such module.")
	}
	return s.changeModules(ctx, actorID, locationID, ModuleChange{Set: map[string]bool{module: on}})
}

// SetPreset turns the modules of a preset on and all others off.
func (s *Service) SetPreset(ctx context.Context, actorID, locationID, preset string) error {
	on, ok := PresetModules(preset)
	if !ok {
		return account.Refuse(account.CodeValidation, "preset", "must be essentials, household or complete")
	}
	set := map[string]bool{}
	for _, m := range modules {
		set[m.Name] = slices.Contains(on, m.Name)
	}
	return s.changeModules(ctx, actorID, locationID, ModuleChange{Set: set, Preset: preset})
}

func (s *Service) changeModules(ctx context.Context, actorID, locationID string, c ModuleChange) error {
	err := s.store.ChangeModules(ctx, locationID, actorID, s.at(), func(r Role) (ModuleChange, error) {
		if GrantOf(r, LocationSettings) != GrantFull {
			return ModuleChange{}, errForbidden("Your role in this location does not allow changing its settings.")
		}
		return c, nil
	})
	return located("change modules", err)
}
