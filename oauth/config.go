package oauth

// Checks of the configuration: RFC 8414 §2 and RFC 9207 §2 (issuer), RFC 8707 §2 (resource), RFC 6749 §3.3 (scope).
//
// The issuer must be one string, byte for byte, wherever it appears; the one shape allowed here is the one that every
// client spells the same way: scheme and lower-case host, no default port, no path, no slash at the end.

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// maxRefreshGrace bounds Resource.RefreshGrace.
const maxRefreshGrace = 300 * time.Second

func (c *Config) check() error {
	problems := []error{checkIssuer(c.Issuer), checkResources(c.Resources), checkDetailTypes(c.DetailTypes)}
	missing := func(absent bool, name string) {
		if absent {
			problems = append(problems, fmt.Errorf("%s is required", name))
		}
	}
	missing(c.Sealer == nil, "Sealer")
	missing(c.Now == nil, "Now")
	missing(c.Rand == nil, "Rand")
	missing(c.ClientDocuments && c.Fetch == nil, "Fetch (because ClientDocuments is on)")
	switch c.SigningAlgorithm {
	case "", algES256, algRS256, algEdDSA:
	default:
		problems = append(problems, fmt.Errorf("signing algorithm %q is not one of ES256, RS256, EdDSA", c.SigningAlgorithm))
	}
	if c.MaxDynamicClients < 0 {
		problems = append(problems, errors.New("MaxDynamicClients is negative"))
	}
	return errors.Join(problems...)
}

func (s *Stores) check() error {
	if s.Clients == nil || s.Requests == nil || s.Codes == nil || s.Tokens == nil || s.Keys == nil || s.Proofs == nil {
		return errors.New("all six stores are required")
	}
	return nil
}

// CheckIssuer reports what is wrong with an issuer identifier, or nil.
func CheckIssuer(issuer string) error { return checkIssuer(issuer) }

func checkIssuer(issuer string) error {
	u, err := url.Parse(issuer)
	if err != nil || u.Host == "" || u.Opaque != "" {
		return fmt.Errorf("issuer %q is not an absolute URL", issuer)
	}
	switch {
	case u.User != nil:
		return fmt.Errorf("issuer %q has a user part", issuer)
	case strings.ContainsAny(issuer, "?#"):
		return fmt.Errorf("issuer %q has a query or fragment", issuer)
	case u.Path != "":
		return fmt.Errorf("issuer %q has a path or a slash at the end", issuer)
	case issuer != strings.ToLower(issuer):
		return fmt.Errorf("issuer %q has upper-case letters", issuer)
	case strings.HasSuffix(u.Host, ":"),
		u.Scheme == "https" && u.Port() == "443", u.Scheme == "http" && u.Port() == "80":
		return fmt.Errorf("issuer %q spells out the default port", issuer)
	case u.Scheme == "https":
		return nil
	case u.Scheme == "http" && isLoopbackHost(u.Hostname()):
		return nil
	}
	return fmt.Errorf("issuer %q must be https (http only on a loopback address)", issuer)
}

// isLoopbackHost reports whether the host is this machine: localhost or a loopback address in its usual spelling.
func isLoopbackHost(host string) bool {
	if host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback() && !addr.Is4In6()
}

func checkResources(resources []Resource) error {
	if len(resources) == 0 {
		return errors.New("at least one resource is required")
	}
	var problems []error
	seen := map[string]bool{}
	for i := range resources {
		r := &resources[i]
		if seen[r.URI] {
			problems = append(problems, fmt.Errorf("resource %q appears twice", r.URI))
		}
		seen[r.URI] = true
		if err := r.check(); err != nil {
			problems = append(problems, fmt.Errorf("resource %q: %w", r.URI, err))
		}
	}
	return errors.Join(problems...)
}

func (r *Resource) check() error {
	u, err := url.Parse(r.URI)
	switch {
	case err != nil || !u.IsAbs() || u.Host == "":
		return errors.New("not an absolute URL")
	case strings.Contains(r.URI, "#"):
		return errors.New("has a fragment")
	case r.AccessTokenLife < 0 || r.RefreshTokenLife < 0 || r.RefreshTokenLimit < 0:
		return errors.New("a token life is negative")
	case r.RefreshGrace != nil && (*r.RefreshGrace < 0 || *r.RefreshGrace > maxRefreshGrace):
		return fmt.Errorf("refresh grace is not between 0 and %s", maxRefreshGrace)
	}
	return r.checkScopes()
}

func (r *Resource) checkScopes() error {
	baseline := false
	for _, scope := range r.Scopes {
		if names, err := parseScope(scope.Name); err != nil || len(names) != 1 {
			return fmt.Errorf("scope %q is not one scope token", scope.Name)
		}
		for _, implied := range scope.Implies {
			if !r.Known(implied) {
				return fmt.Errorf("scope %q implies %q, which is unknown", scope.Name, implied)
			}
		}
		baseline = baseline || scope.Baseline
	}
	if !baseline {
		return errors.New("no scope is marked as baseline")
	}
	return nil
}
