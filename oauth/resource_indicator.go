package oauth

// Resource indicators in requests: RFC 8707 §2, §2.1, §2.2.
//
// On input scheme and host are compared without case and a bare origin may end in a slash, because clients build the
// value with URL types that change just these; everything else is exact. What is stored and issued is the configured
// spelling.

import (
	"net/url"
	"slices"
	"strings"
)

// resource returns the configured resource with this URI, byte for byte, or nil.
func (s *Server) resource(uri string) *Resource {
	for i := range s.cfg.Resources {
		if s.cfg.Resources[i].URI == uri {
			return &s.cfg.Resources[i]
		}
	}
	return nil
}

// resolveResource finds the one resource of a request. Omitted, it is the resource whose scopes are asked for if there
// is just one, else the default.
func (s *Server) resolveResource(values, scopes []string) (*Resource, *Error) {
	var found *Resource
	for _, value := range values {
		if value == "" {
			continue // an empty parameter counts as absent
		}
		r := s.matchResource(value)
		if r == nil {
			return nil, InvalidTarget("The resource is unknown or malformed.").WithCheck("resource")
		}
		if found != nil && found != r {
			return nil, InvalidTarget("Only one resource can be asked for at a time.").WithCheck("resource")
		}
		found = r
	}
	if found != nil {
		return found, nil
	}
	return s.resourceOfScopes(scopes), nil
}

func (s *Server) resourceOfScopes(scopes []string) *Resource {
	var found *Resource
	for i := range s.cfg.Resources {
		r := &s.cfg.Resources[i]
		if !slices.ContainsFunc(scopes, func(name string) bool { return r.Known(name) && !r.IsIdentity(name) }) {
			continue
		}
		if found != nil {
			return &s.cfg.Resources[0]
		}
		found = r
	}
	if found == nil {
		return &s.cfg.Resources[0]
	}
	return found
}

// matchResource returns the configured resource that the value means, or nil.
func (s *Server) matchResource(value string) *Resource {
	key, ok := resourceKey(value)
	if !ok {
		return nil
	}
	for i := range s.cfg.Resources {
		if configured, ok := resourceKey(s.cfg.Resources[i].URI); ok && configured == key {
			return &s.cfg.Resources[i]
		}
	}
	return nil
}

// resourceKey lowers scheme and authority and drops the slash of a bare origin. RFC 8707 §2: an absolute URI without a
// fragment.
func resourceKey(value string) (string, bool) {
	u, err := url.Parse(value)
	if err != nil || u.Scheme == "" || u.Host == "" || u.User != nil || strings.Contains(value, "#") {
		return "", false
	}
	scheme, after, ok := strings.Cut(value, "://")
	if !ok {
		return "", false
	}
	end := strings.IndexAny(after, "/?")
	if end < 0 {
		end = len(after)
	}
	rest := after[end:]
	if rest == "/" {
		rest = ""
	}
	return strings.ToLower(scheme+"://"+after[:end]) + rest, true
}

// matches reports whether every resource value of a token request means this resource.
func (s *Server) matches(values []string, uri string) bool {
	return !slices.ContainsFunc(values, func(value string) bool {
		if value == "" {
			return false
		}
		r := s.matchResource(value)
		return r == nil || r.URI != uri
	})
}
