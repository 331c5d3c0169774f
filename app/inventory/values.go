package inventory

import "slices"

// Lifecycles lists the values of a thing's lifecycle.
func Lifecycles() []string { return slices.Clone(lifecycles) }

// States lists the states derived from what is known about a thing.
func States() []string { return slices.Clone(states) }

// Conditions lists the values of a thing's condition.
func Conditions() []string { return slices.Clone(conditions) }
