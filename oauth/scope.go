package oauth

// Scope values: RFC 6749 §3.3 (syntax, partial grants, omitted scope), §6 (narrowing).

import (
	"slices"
	"strings"
)

// ScopeOfflineAccess asks for a refresh token (OpenID Connect Core §11). It belongs to the authorization server alone:
// no resource lists it and no access token carries a right through it.
const ScopeOfflineAccess = "offline_access"

// parseScope splits a scope value into its tokens, each once, in the order given. An empty value gives none. The error
// is an *Error with invalid_scope.
//
// The length is bounded before anything is compared: telling the tokens apart takes time that grows with the square of
// their number, and anybody may send them.
func parseScope(value string) ([]string, error) {
	if len(value) > maxScopeValue {
		return nil, InvalidScope("The scope is too long.").WithCheck("scope")
	}
	var scopes []string
	for token := range strings.SplitSeq(value, " ") {
		if strings.ContainsFunc(token, notScopeCharacter) {
			return nil, InvalidScope("The scope has a character that scopes do not have.").WithCheck("scope")
		}
		if token != "" && !slices.Contains(scopes, token) {
			scopes = append(scopes, token)
		}
	}
	return scopes, nil
}

// notScopeCharacter: scope-token = 1*( %x21 / %x23-5B / %x5D-7E ).
func notScopeCharacter(r rune) bool {
	return r < 0x21 || r > 0x7e || r == '"' || r == '\\'
}

// formatScope is the inverse of parseScope.
func formatScope(scopes []string) string { return strings.Join(scopes, " ") }

// isSubset reports whether every scope of sub is in of.
func isSubset(sub, of []string) bool {
	return !slices.ContainsFunc(sub, func(s string) bool { return !slices.Contains(of, s) })
}

// keepKnown returns the scopes that the resource knows, each once, in the order given.
func (r *Resource) keepKnown(scopes []string) []string {
	var known []string
	for _, s := range scopes {
		if r.Known(s) && !slices.Contains(known, s) {
			known = append(known, s)
		}
	}
	return known
}

// expand adds the scopes that the given ones include, directly or through others. The result is in the order of the
// resource's list; scopes unknown to the resource fall away.
func (r *Resource) expand(scopes []string) []string {
	have := make(map[string]bool, len(r.Scopes))
	for _, s := range scopes {
		have[s] = true
	}
	for grew := true; grew; {
		grew = false
		for _, s := range r.Scopes {
			for _, implied := range s.Implies {
				if have[s.Name] && !have[implied] {
					have[implied], grew = true, true
				}
			}
		}
	}
	var all []string
	for _, s := range r.Scopes {
		if have[s.Name] {
			all = append(all, s.Name)
		}
	}
	return all
}

// baseline returns the scopes offered when a client asks for none.
func (r *Resource) baseline() []string {
	var names []string
	for _, s := range r.Scopes {
		if s.Baseline {
			names = append(names, s.Name)
		}
	}
	return names
}

// chooseScopes turns the scopes of a request into those to offer: the baseline when none of a resource was asked for,
// otherwise the known ones. Unknown scopes fall away as long as one known scope is left (RFC 6749 §3.3 lets the server
// ignore them in part); clients ask for openid, profile and the like out of habit.
func (r *Resource) chooseScopes(requested []string) ([]string, *Error) {
	asked := slices.DeleteFunc(slices.Clone(requested), func(s string) bool { return s == ScopeOfflineAccess })
	if len(asked) == 0 {
		return r.baseline(), nil
	}
	known := r.keepKnown(asked)
	if len(known) == 0 {
		return nil, InvalidScope("None of the requested scopes is known for this resource.").WithCheck("scope")
	}
	return known, nil
}
