package doctor

import "strings"

// What to do about faults that many steps share. Each is one or two sentences that name the setting.
const (
	mendServerError = "Read the server's log, or the proxy's when the server is not reached (502, 504: proxy_pass names the wrong address or the server is down)."
	mendTimeout     = "Apps give up after 10 s. Check firewall, port forwarding and the proxy's upstream; turn proxy buffering off for this path (nginx: proxy_buffering off)."
	mendNoAnswer    = "Check that the server runs, that the port is open and forwarded, and that the proxy listens on this name."
	mendRedirect    = "Answer here without a redirect: apps do not follow it, or lose the method, the body or the token on the way. Exempt the path from rules that add or cut slashes, change host or send http to https, and use the final URL."
	mendMissing     = "Pass the whole host on to the server, /.well-known/ included (nginx: location / { proxy_pass http://127.0.0.1:8080; }); a location for ACME challenges should name /.well-known/acme-challenge/ only."
	mendProtected   = "Discovery needs no sign-in: exempt /.well-known/ from basic authentication and login walls."
	mendHTML        = "Something else than the MCP server answers here, often a web app's catch-all page or a parked host. Pass this path on to the server."
	mendPublicURL   = "Set GATEHOUSE_PUBLIC_URL to the URL that people paste (scheme, host and port), and restart."
	mendStripped    = "The proxy must pass the Authorization header on. Apache with CGI or PHP: CGIPassAuth On; nginx: remove proxy_set_header Authorization \"\" and auth_basic for this path; a login wall in front must exempt it."
	mendHost        = "The proxy must pass the Host header on unchanged (nginx: proxy_set_header Host $host; Apache: ProxyPreserveHost On), or the URL is not the server's public one."
)

// mendBlocked is what to do about a refusal in front of the server.
func mendBlocked(a *answer) string {
	if strings.EqualFold(a.header.Get("Server"), "cloudflare") || a.header.Get("Cf-Ray") != "" {
		return "Cloudflare refuses it: turn “Block AI bots” and bot fight mode off for this host, or add a WAF rule that skips them for its paths."
	}
	return "A firewall or CDN in front refuses it. Let AI apps through: no bot protection, challenge page or country rule for this host's paths."
}
