package oauth

// Redirect URIs: OAuth 2.1 §2.3, §4.1.1, §8.4.2, §8.4.3 and RFC 9700 §4.1.3 (exact comparison), RFC 8252 §7.1 and §7.3
// (private-use schemes, loopback ports). Left out: normalisation, prefixes and wildcards in comparison, on purpose.

import (
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// maxRedirectURI bounds one redirect URI, in bytes.
const maxRedirectURI = 2048

// defaultRedirectExceptions are URIs that well-known clients register although their scheme has no dot. One "*" stands
// for a run of letters, digits, "-" and "_" within a path segment. They are looked at when a client registers; the
// comparison at the authorization endpoint stays exact.
var defaultRedirectExceptions = []string{
	"cursor://anysphere.cursor-mcp/oauth/callback",
	"cursor://anysphere.cursor-mcp/oauth/return",
	"cursor://anysphere.cursor-mcp/oauth/user-*/callback",
	"grokbot://mcp/oauth/callback",
}

// forbiddenSchemes never carry an authorization response, whatever the exceptions say: a browser runs or reads what
// they name instead of handing it to a client.
var forbiddenSchemes = []string{
	"javascript", "data", "vbscript", "file", "blob", "about", "filesystem", "view-source", "ws", "wss", "ftp", "mailto", "intent",
}

// DefaultRedirectExceptions returns the redirect URIs without a dot in their scheme that are accepted when
// Config.RedirectExceptions is nil.
func DefaultRedirectExceptions() []string { return slices.Clone(defaultRedirectExceptions) }

func (s *Server) redirectExceptions() []string {
	if s.cfg.RedirectExceptions == nil {
		return defaultRedirectExceptions
	}
	return s.cfg.RedirectExceptions
}

// checkRedirectURI says whether a client may register the URI. The error is an *Error with invalid_redirect_uri.
func checkRedirectURI(uri string, exceptions []string) error {
	if reason := redirectURIFault(uri, exceptions); reason != "" {
		return InvalidRedirectURI(reason).WithCheck("redirect_uri")
	}
	return nil
}

// redirectURIFault names what is wrong with the URI, or returns "".
func redirectURIFault(uri string, exceptions []string) string {
	if uri == "" || len(uri) > maxRedirectURI || strings.ContainsFunc(uri, notURICharacter) {
		return "A redirect URI is empty, too long, or has a character that URIs do not have."
	}
	if strings.Contains(uri, "#") {
		return "A redirect URI must not have a fragment." // §2.3
	}
	u, err := url.Parse(uri)
	if err != nil || u.Scheme == "" || u.Opaque != "" || !strings.HasPrefix(uri, u.Scheme+":") {
		// The prefix test refuses upper-case schemes: the comparison is byte for byte, so there is one spelling.
		return "A redirect URI must be an absolute URI with a lower-case scheme."
	}
	if u.User != nil {
		return "A redirect URI must not have user information."
	}
	if u.String() != uri {
		// The answer's URI is built with url.URL, which must not change what was registered.
		return "A redirect URI has parts that are empty or spelled in an unusual way."
	}
	if slices.Contains(forbiddenSchemes, u.Scheme) {
		return "The scheme of a redirect URI is not allowed."
	}
	switch u.Scheme {
	case "https":
		if u.Hostname() == "" || !validPort(u) {
			return "A redirect URI needs a host and, if any, a valid port."
		}
	case "http":
		if !isLoopbackRedirect(uri) {
			return "A redirect URI with http must point to 127.0.0.1, [::1] or localhost."
		}
	default:
		// §8.4.3: a private-use scheme is a reversed domain name, so that its owner can be told.
		if !strings.Contains(u.Scheme, ".") && !matchException(uri, exceptions) {
			return "A private-use scheme must contain a dot."
		}
	}
	return ""
}

// matchRedirectURI compares the requested URI with the registered ones: as strings, except that the port of an http
// loopback URI does not count (OAuth 2.1 §8.4.2). The name localhost gets the same exception because command line
// clients register it without a port; the three loopback hosts do not stand for one another.
func matchRedirectURI(registered []string, requested string) bool {
	if slices.Contains(registered, requested) {
		return true
	}
	host, rest, ok := splitLoopback(requested)
	if !ok {
		return false
	}
	return slices.ContainsFunc(registered, func(uri string) bool {
		h, r, ok := splitLoopback(uri)
		return ok && h == host && r == rest
	})
}

// selectRedirectURI returns the redirect URI of a request: the requested one if it is registered, or the only
// registered one if the request names none (OAuth 2.1 §2.3.2). The error is for a page, never for a redirect.
func selectRedirectURI(c *Client, requested string) (string, *Error) {
	switch {
	case requested != "":
		if !matchRedirectURI(c.RedirectURIs, requested) {
			return "", InvalidRequest("The redirect_uri is not registered for this client.").WithCheck("redirect_uri")
		}
		return requested, nil
	case len(c.RedirectURIs) == 1:
		return c.RedirectURIs[0], nil
	default:
		return "", InvalidRequest("The redirect_uri is missing and the client has more than one.").WithCheck("redirect_uri")
	}
}

// redirectLocation appends the parameters to the query of a redirect URI; a query that is there stays as it is
// (OAuth 2.1 §2.3). Spaces become %20, which every decoder reads as a space.
func redirectLocation(uri string, parameters url.Values) (string, error) {
	u, err := url.Parse(uri)
	if err != nil {
		return "", errors.New("build redirect: the URI does not parse")
	}
	added := strings.ReplaceAll(parameters.Encode(), "+", "%20")
	if u.RawQuery != "" && added != "" {
		added = "&" + added
	}
	u.RawQuery += added
	location := u.String()
	if strings.ContainsFunc(location, notURICharacter) {
		return "", errors.New("build redirect: the URI has a character that URIs do not have")
	}
	return location, nil
}

// isLoopbackRedirect reports whether the URI is http to 127.0.0.1, [::1] or localhost, spelled exactly so.
func isLoopbackRedirect(uri string) bool {
	_, _, ok := splitLoopback(uri)
	return ok
}

// redirectHost returns what to show a person as the receiver of the answer: the host, or scheme and host for schemes
// other than http and https.
func redirectHost(uri string) string {
	u, err := url.Parse(uri)
	if err != nil {
		return ""
	}
	if u.Scheme == "http" || u.Scheme == "https" {
		return u.Hostname()
	}
	if u.Host == "" {
		return u.Scheme + ":"
	}
	return u.Scheme + "://" + u.Host
}

// splitLoopback takes an http loopback URI apart into host and everything behind the port. The host is read off the
// whole authority, so that look-alikes (127.0.0.1.evil.com, 127.0.0.1@evil.com, 127.1, [::ffff:127.0.0.1], localhost.)
// are not loopback.
func splitLoopback(uri string) (host, rest string, ok bool) {
	after, ok := strings.CutPrefix(uri, "http://")
	if !ok || strings.ContainsAny(uri, "#\\") {
		return "", "", false
	}
	end := strings.IndexAny(after, "/?")
	if end < 0 {
		end = len(after)
	}
	authority, rest := after[:end], after[end:]
	for _, host := range []string{"127.0.0.1", "[::1]", "localhost"} {
		tail, ok := strings.CutPrefix(authority, host)
		if !ok {
			continue
		}
		if tail == "" {
			return host, rest, true
		}
		if port, ok := strings.CutPrefix(tail, ":"); ok && isPort(port) {
			return host, rest, true
		}
	}
	return "", "", false
}

func validPort(u *url.URL) bool {
	port := u.Port()
	return port == "" && !strings.HasSuffix(u.Host, ":") || isPort(port)
}

// isPort reports whether s is a decimal port number without sign or leading zero.
func isPort(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && n > 0 && strconv.FormatUint(n, 10) == s
}

// notURICharacter reports whether r is outside the characters of RFC 3986 (§2), which are all printable ASCII.
func notURICharacter(r rune) bool {
	return r <= ' ' || r > '~' || strings.ContainsRune("\\\"<>^`{|}", r)
}

func matchException(uri string, exceptions []string) bool {
	return slices.ContainsFunc(exceptions, func(pattern string) bool {
		before, after, wild := strings.Cut(pattern, "*")
		if !wild {
			return uri == pattern
		}
		if len(uri) <= len(before)+len(after) || !strings.HasPrefix(uri, before) || !strings.HasSuffix(uri, after) {
			return false
		}
		return !strings.ContainsFunc(uri[len(before):len(uri)-len(after)], notWordCharacter)
	})
}

func notWordCharacter(r rune) bool {
	return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
}
