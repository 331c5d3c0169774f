package web

import (
	"net/url"
	"strings"
)

const maxReturnPath = 2000

// parseReturnPath accepts a local path to go on to after a sign-in, and gives "" for everything else: absolute URLs, and
// what browsers take for one (//host, /\host, control characters that they drop).
func parseReturnPath(path string) string {
	if len(path) > maxReturnPath || !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") || strings.ContainsRune(path, '\\') {
		return ""
	}
	if strings.ContainsFunc(path, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return ""
	}
	u, err := url.Parse(path)
	if err != nil || u.IsAbs() || u.Host != "" || u.User != nil {
		return ""
	}
	return path
}

// parseRequestID accepts the form of a stored request's id, and gives "" for everything else.
func parseRequestID(id string) string {
	if id == "" || len(id) > 64 || strings.ContainsFunc(id, notIDCharacter) {
		return ""
	}
	return id
}

func notIDCharacter(r rune) bool {
	return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
}
