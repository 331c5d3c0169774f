package home_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gatehouse/app/account"
	"gatehouse/app/home"
)

func TestEffectiveModules(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ enabled, want string }{
		"none":                         {"", ""},
		"independent":                  {"mcp money", "mcp money"},
		"fuel needs vehicles":          {"fuel mcp", "mcp"},
		"fuel with vehicles":           {"fuel vehicles", "fuel vehicles"},
		"moving needs labels":          {"moving", ""},
		"moving with labels":           {"labels moving", "labels moving"},
		"unknown ones never":           {"mcp teleport", "mcp"},
		"all but what is needed first": {"fuel moving secrets", "secrets"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := strings.Join(home.EffectiveModules(strings.Fields(c.enabled)), " "); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	t.Run("everything effective has what it needs", func(t *testing.T) {
		t.Parallel()
		var names []string
		for _, m := range home.Modules() {
			names = append(names, m.Name)
		}
		rapid.Check(t, func(t *rapid.T) {
			enabled := rapid.SliceOfDistinct(rapid.SampledFrom(append(names, "x")), rapid.ID[string]).Draw(t, "enabled")
			got := home.EffectiveModules(slices.Clone(enabled))
			for _, m := range home.Modules() {
				needs := true
				for _, n := range m.Needs {
					needs = needs && slices.Contains(got, n)
				}
				if want := needs && slices.Contains(enabled, m.Name); slices.Contains(got, m.Name) != want {
					t.Fatalf("%s of %v: effective is %v", m.Name, enabled, !want)
				}
			}
			if slices.Contains(got, "x") {
				t.Fatal("an unknown module is effective")
			}
		})
	})
}

func TestPresets(t *testing.T) {
	t.Parallel()
	for preset, want := range map[string]string{
		"essentials": "console labels mcp",
		"household":  "console labels lending mcp money paperwork schedules vehicles warranties",
		"complete":   "console consumables fuel labels lending mcp money moving paperwork schedules secrets vehicles warranties",
	} {
		list, ok := home.PresetModules(preset)
		slices.Sort(list)
		if got := strings.Join(list, " "); got != want || !ok {
			t.Errorf("%s: %s", preset, got)
		}
		if got := home.EffectiveModules(slices.Clone(list)); len(got) != len(list) {
			t.Errorf("%s lacks something its modules need", preset)
		}
	}
	if _, ok := home.PresetModules("x"); ok || home.DefaultPreset != "household" {
		t.Error("default preset")
	}
}

func TestChangeModules(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		ada, eva, ida := f.person(t, "ada"), f.person(t, "eva"), f.person(t, "ida")
		l := f.newLocation(t, ada, "Workshop")
		f.add(t, ada, l, eva, home.Member)
		state := func() (enabled, effective string) {
			list, err := f.ModulesAt(ctx, eva, l)
			if err != nil || len(list) != len(home.Modules()) {
				t.Fatalf("%v, %v", list, err)
			}
			for _, m := range list {
				if m.Enabled {
					enabled += m.Name + " "
				}
				if m.Effective {
					effective += m.Name + " "
				}
			}
			return enabled, effective
		}
		if enabled, effective := state(); enabled != effective || enabled != "labels money warranties schedules lending paperwork vehicles mcp console " {
			t.Errorf("household: %s/ %s", enabled, effective)
		}
		if err := f.SetModule(ctx, ada, l, "fuel", true); err != nil {
			t.Fatal(err)
		}
		if err := f.SetModule(ctx, ada, l, "vehicles", false); err != nil {
			t.Fatal(err)
		}
		if enabled, effective := state(); !strings.Contains(enabled, "fuel") || strings.Contains(effective, "fuel") {
			t.Errorf("fuel without vehicles: %s/ %s", enabled, effective)
		}
		if err := f.SetPreset(ctx, ada, l, "essentials"); err != nil {
			t.Fatal(err)
		}
		if enabled, _ := state(); enabled != "labels mcp console " {
			t.Errorf("essentials: %s", enabled)
		}
		list, err := f.LocationsOf(ctx, eva)
		i := slices.IndexFunc(list, func(m home.Membership) bool { return m.ID == l })
		if err != nil || list[i].Preset != "essentials" || list[i].RowVersion != 4 || list[i].Role != home.Member {
			t.Errorf("location %+v, %v", list, err)
		}
		wantCode(t, f.SetModule(ctx, ada, l, "teleport", true), account.CodeNotFound)
		wantCode(t, f.SetPreset(ctx, ada, l, "teleport"), account.CodeValidation)
		wantCode(t, f.SetModule(ctx, eva, l, "money", true), account.CodeForbidden)
		wantCode(t, f.SetModule(ctx, ida, l, "money", true), account.CodeNotFound)
		wantCode(t, f.SetModule(ctx, ada, "x", "money", true), account.CodeNotFound)
		_, err = f.ModulesAt(ctx, ida, l)
		wantCode(t, err, account.CodeNotFound)
	})
}
