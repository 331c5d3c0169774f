package endpoint

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Profile is what differs between endpoints.
type Profile struct {
	// Resource is the resource identifier tokens must be made for, and the URL people paste.
	Resource string
	// MetadataURL is where the resource's metadata is (RFC 9728). Empty when there is no authorization server.
	MetadataURL string
	// ChallengeScope goes into the challenge of a 401; empty leaves it out.
	ChallengeScope string
	// Hosts are the accepted Host values, port included as a client sends it. Empty accepts any.
	Hosts []string
	// Origins are the accepted Origin values; a request without Origin is always accepted.
	Origins []string
	// BodyLimit is the largest accepted body in bytes.
	BodyLimit int64
	// PersonalTokens says whether personal tokens are accepted besides connection tokens.
	PersonalTokens bool
}

// HomeProfile is the profile of /mcp for a public URL. More origins may be allowed.
func HomeProfile(publicURL string, oauthOn bool, scope string, origins []string) Profile {
	u, err := url.Parse(publicURL)
	if err != nil {
		u = &url.URL{}
	}
	p := Profile{
		Resource:       publicURL + "/mcp",
		Hosts:          hostsOf(u),
		Origins:        append([]string{publicURL}, origins...),
		BodyLimit:      1 << 20,
		PersonalTokens: true,
	}
	if oauthOn {
		p.MetadataURL = publicURL + "/.well-known/oauth-protected-resource/mcp"
		p.ChallengeScope = scope
	}
	return p
}

// hostsOf lists the spellings of the public host that a client may send: with and without the default port.
func hostsOf(u *url.URL) []string {
	hosts := []string{u.Host}
	if u.Port() == "" {
		hosts = append(hosts, u.Host+map[string]string{"https": ":443", "http": ":80"}[u.Scheme])
	}
	return hosts
}

func (p *Profile) hostAllowed(host string) bool {
	return len(p.Hosts) == 0 || slices.Contains(p.Hosts, strings.ToLower(host))
}

func (p *Profile) originAllowed(origin string) bool {
	return origin == "" || slices.Contains(p.Origins, origin)
}

// setCORS adds the headers that let an allowed browser origin read the answer (checklist CO-1 to CO-3).
func (p *Profile) setCORS(h http.Header, origin string) {
	h.Add("Vary", "Origin")
	if origin == "" || !p.originAllowed(origin) {
		return
	}
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", "WWW-Authenticate, Mcp-Session-Id, MCP-Protocol-Version, DPoP-Nonce, Retry-After")
}

// preflight answers OPTIONS, before authentication and before any limit.
func (p *Profile) preflight(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	if h.Get("Access-Control-Allow-Origin") != "" {
		h.Set("Access-Control-Allow-Methods", "POST, GET, DELETE, OPTIONS")
		h.Set("Access-Control-Allow-Headers", allowedHeaders(r.Header.Get("Access-Control-Request-Headers")))
		h.Set("Access-Control-Max-Age", "7200")
	}
	w.WriteHeader(http.StatusNoContent)
}

const fixedHeaders = "Authorization, Content-Type, Accept, DPoP, MCP-Protocol-Version, Mcp-Session-Id, Mcp-Method, Mcp-Name, Last-Event-ID"

// allowedHeaders names our headers and echoes the Mcp-Param-* ones that were asked for, whose names no list can foresee.
func allowedHeaders(asked string) string {
	var b strings.Builder
	b.WriteString(fixedHeaders)
	for name := range strings.SplitSeq(asked, ",") {
		name = strings.TrimSpace(name)
		if len(name) < 64 && strings.HasPrefix(strings.ToLower(name), "mcp-param-") && isToken(name) {
			b.WriteString(", " + name)
		}
	}
	return b.String()
}

func isToken(s string) bool {
	for _, c := range s {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_') {
			return false
		}
	}
	return s != ""
}
