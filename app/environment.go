package app

import (
	"reflect"
	"slices"
	"strings"
)

// variables are the environment variables that set something.
func variables() []string {
	var out []string
	for i, t := 0, reflect.TypeFor[Config](); i < t.NumField(); i++ {
		out = append(out, t.Field(i).Tag.Get("env"))
	}
	return out
}

// unknownVariables lists, of an environment, the GATEHOUSE_ variables that set nothing: most often they are misspelt.
// Tests have variables of their own, and Kubernetes sets some for a service of that name.
func unknownVariables(environ []string) []string {
	known := variables()
	var out []string
	for _, line := range environ {
		name, value, _ := strings.Cut(line, "=")
		if !strings.HasPrefix(name, "GATEHOUSE_") || slices.Contains(known, name) {
			continue
		}
		kubernetes := strings.HasPrefix(name, "GATEHOUSE_SERVICE_") || strings.HasPrefix(name, "GATEHOUSE_PORT_") ||
			name == "GATEHOUSE_PORT" && strings.Contains(value, "://")
		if !kubernetes && !strings.HasPrefix(name, "GATEHOUSE_TEST_") {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}
