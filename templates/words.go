package templates

import (
	"strconv"
	"strings"
)

// passkeyCall is which of the browser's functions the script calls.
func passkeyCall(create bool) string {
	if create {
		return "create"
	}
	return "get"
}

func connectionCount(n int) string {
	switch n {
	case 0:
		return "No app is connected."
	case 1:
		return "One app is connected."
	}
	return strconv.Itoa(n) + " apps are connected."
}

// list joins words as people do: a, b and c.
func list(words []string) string {
	switch len(words) {
	case 0:
		return ""
	case 1:
		return words[0]
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

func installationCount(n int) string {
	if n == 1 {
		return "1 installation"
	}
	return strconv.Itoa(n) + " installations"
}

func stepCount(n int) string {
	if n == 1 {
		return "1 step"
	}
	return strconv.Itoa(n) + " steps"
}

func fieldCount(n int) string {
	if n == 1 {
		return "1 field"
	}
	return strconv.Itoa(n) + " fields"
}
