package oauth

// The htu of a proof: RFC 9449 §4.3 (query and fragment are left out of the comparison), RFC 3986 §6.2.2 and §6.2.3.

import (
	"net/url"
	"strings"
)

// sameProofURL compares the URL that a proof names with the configured one of the endpoint.
func sameProofURL(claimed, configured string) bool {
	a, ok := normalURL(claimed)
	if !ok {
		return false
	}
	b, ok := normalURL(configured)
	return ok && a == b
}

// normalURL brings an http URL into the one spelling that equivalent URLs share, without query and fragment.
func normalURL(value string) (string, bool) {
	u, err := url.Parse(value)
	if err != nil || u.Host == "" || u.User != nil || u.Opaque != "" {
		return "", false
	}
	u = (&url.URL{}).ResolveReference(u) // §6.2.2.3: dot segments
	scheme, host, port := strings.ToLower(u.Scheme), strings.ToLower(u.Hostname()), u.Port()
	switch {
	case scheme != "http" && scheme != "https":
		return "", false
	case strings.Contains(host, ":"):
		host = "[" + host + "]"
	}
	if port != "" && port != map[string]string{"http": "80", "https": "443"}[scheme] {
		host += ":" + port
	}
	path := normalPath(u.EscapedPath())
	if path == "" {
		path = "/"
	}
	return scheme + "://" + host + path, true
}

// normalPath writes escapes in upper case and undoes those of unreserved characters (§6.2.2.1, §6.2.2.2).
func normalPath(escaped string) string {
	var b strings.Builder
	for i := 0; i < len(escaped); i++ {
		if escaped[i] != '%' || i+2 >= len(escaped) {
			b.WriteByte(escaped[i])
			continue
		}
		triple := escaped[i : i+3]
		i += 2
		if plain, err := url.PathUnescape(triple); err == nil && !notUnreserved(rune(plain[0])) {
			b.WriteString(plain)
		} else {
			b.WriteString(strings.ToUpper(triple))
		}
	}
	return b.String()
}
