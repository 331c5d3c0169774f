package doctor

import (
	"context"
	"net/http"
	"net/url"
	"strings"
)

// challenge is one challenge of a WWW-Authenticate field (RFC 9110 §11.6.1).
type challenge struct {
	scheme string
	params map[string]param
}

type param struct {
	value  string
	quoted bool
}

func (c *challenge) get(name string) string { return c.params[name].value }

// parseChallenges reads the lines of WWW-Authenticate. It skips what it cannot read, as apps do.
func parseChallenges(lines []string) []challenge {
	var out []challenge
	for _, s := range lines {
		inLine := false
		for s != "" {
			name := s[:tokenLength(s)]
			if name == "" {
				s = s[1:]
				continue
			}
			rest := strings.TrimLeft(s[len(name):], " \t")
			if !inLine || !strings.HasPrefix(rest, "=") {
				out, inLine, s = append(out, challenge{scheme: name, params: map[string]param{}}), true, rest
				continue
			}
			var p param
			p, s = readParam(strings.TrimLeft(rest[1:], " \t"))
			last := out[len(out)-1]
			if _, twice := last.params[strings.ToLower(name)]; !twice {
				last.params[strings.ToLower(name)] = p
			}
		}
	}
	return out
}

// tokenLength is the length of the token (RFC 9110 §5.6.2) at the start of s.
func tokenLength(s string) int {
	n := strings.IndexFunc(s, func(r rune) bool {
		letter := r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		return !letter && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
	})
	if n < 0 {
		return len(s)
	}
	return n
}

// readParam reads a value, quoted or not, and returns what stands behind it.
func readParam(s string) (param, string) {
	if !strings.HasPrefix(s, `"`) {
		end := strings.IndexAny(s, ", \t")
		if end < 0 {
			end = len(s)
		}
		return param{value: s[:end]}, s[end:]
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return param{value: b.String(), quoted: true}, s[i+1:]
		case c == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		default:
			b.WriteByte(c)
		}
	}
	return param{value: b.String(), quoted: true}, ""
}

const initializeBody = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"gatehouse-doctor","version":"1"}}}`

// knock is a request to the endpoint without a token, as apps begin.
func (w *walk) knock(method, body, agent string, header ...string) request {
	r := request{method: method, url: w.target, body: body, agent: agent, header: []string{"Accept", "application/json, text/event-stream"}}
	if body != "" {
		r.header = append(r.header, "Content-Type", "application/json")
	}
	r.header = append(r.header, header...)
	return r
}

// challenges asks without a token, in the ways that apps do. False means that no answer came at all.
func (w *walk) challenges(ctx context.Context) bool {
	a := w.send(ctx, w.knock(http.MethodPost, initializeBody, ""))
	w.discovery += a.took
	if a.err != nil {
		return w.judge("challenge.post", "POST without a token", "", a.silence())
	}
	c, p := w.judgeChallenge(a)
	w.judge("challenge.post", "POST without a token", "401, "+w.describe(c), p)
	w.challenged = c
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		a := w.send(ctx, w.knock(method, "", "", "Accept", "*/*"))
		_, p := w.judgeChallenge(a)
		if method == http.MethodHead {
			p = p.softened() // Gemini CLI alone begins so
		}
		w.judge("challenge."+strings.ToLower(method), method+" without a token", "401 with the challenge", p)
	}
	return true
}

func (w *walk) describe(c challenge) string {
	text := "Bearer challenge"
	if at := c.get("resource_metadata"); at != "" {
		text += " that names " + at
	}
	if scope := c.get("scope"); scope != "" {
		text += ", scope " + scope
	}
	return text
}

// judgeChallenge judges the answer to a request without a token: RFC 6750 §3, RFC 9728 §5.1 and what parsers of apps
// understand.
func (w *walk) judgeChallenge(a *answer) (challenge, *problem) {
	if p := a.transport(); p != nil {
		return challenge{}, p
	}
	if a.status != http.StatusUnauthorized {
		return challenge{}, w.notChallenged(a)
	}
	list := parseChallenges(a.header.Values("WWW-Authenticate"))
	if len(list) == 0 {
		return challenge{}, &problem{finding: "no_challenge", detail: a.seen() + " without WWW-Authenticate",
			mend: "The proxy must pass WWW-Authenticate on, and error pages of its own must not replace a 401 (nginx: proxy_intercept_errors off)."}
	}
	for i, c := range list {
		if strings.EqualFold(c.scheme, "Bearer") {
			if i > 0 {
				return c, &problem{finding: "not_first", detail: list[0].scheme + " stands before Bearer: " + strings.Join(a.header.Values("WWW-Authenticate"), ", "),
					mend: "Bearer must be the first challenge; apps read no further. Remove basic authentication in front of this path."}
			}
			return c, w.judgeBearer(c)
		}
	}
	return challenge{}, &problem{finding: "other_scheme", detail: "the challenge is " + list[0].scheme + ", not Bearer",
		mend: "Something in front asks for a sign-in of its own. Exempt this path from basic authentication and login walls."}
}

func (w *walk) judgeBearer(c challenge) *problem {
	for _, name := range []string{"resource_metadata", "scope", "error"} {
		if p, found := c.params[name]; found && !p.quoted {
			return &problem{finding: "unquoted", detail: name + " stands without quotation marks", mend: "Put every value of the challenge in double quotes; some apps read no other form."}
		}
	}
	at := c.get("resource_metadata")
	u, err := url.Parse(at)
	switch {
	case at == "":
		return &problem{finding: "no_metadata_link", mild: true, detail: "the challenge lacks resource_metadata; apps guess where it is",
			mend: "Name it (RFC 9728 §5.1). Gatehouse does so while OAuth is on: GATEHOUSE_PUBLIC_URL is https or this computer."}
	case err != nil || u.Host == "":
		return &problem{finding: "bad_metadata_link", detail: "resource_metadata is not an absolute URL: " + at, mend: mendPublicURL}
	case u.Scheme+"://"+u.Host != w.origin:
		return w.elsewhere("the challenge names "+at, u)
	case c.get("error") != "":
		return &problem{finding: "error_without_token", mild: true, detail: "error=" + c.get("error") + " although no token was sent",
			mend: "Leave error out while there is no token (RFC 6750 §3.1); some apps throw their registration away for it."}
	}
	return nil
}

// elsewhere is the fault of a URL that names another origin than the one asked.
func (w *walk) elsewhere(what string, u *url.URL) *problem {
	if isLoopback(u.Hostname()) && isLoopback(w.endpoint.Hostname()) {
		return &problem{finding: "loopback_name", detail: what + ", which is not the same name as " + w.origin + " to an app",
			mend: "Paste the URL with exactly that name into the app, or set GATEHOUSE_PUBLIC_URL to the one you use."}
	}
	return &problem{finding: "wrong_public_url", detail: what + ", not " + w.origin, mend: mendPublicURL}
}

func isLoopback(host string) bool {
	return host == "localhost" || host == "::1" || strings.HasPrefix(host, "127.")
}

// notChallenged is the fault of an answer other than 401.
func (w *walk) notChallenged(a *answer) *problem {
	switch {
	case a.status == http.StatusForbidden && (strings.Contains(a.message(), "Host") || w.hostRefused && len(a.body) == 0):
		w.hostRefused = true
		return &problem{finding: "host_refused", detail: a.seen(), mend: mendHost}
	case a.status == http.StatusForbidden:
		return &problem{finding: "forbidden", detail: a.seen() + " in place of 401", mend: mendBlocked(a)}
	case a.status == http.StatusNotFound:
		return &problem{finding: "missing", detail: a.seen(), mend: "The MCP endpoint is elsewhere, or the proxy does not pass this path on. Gatehouse serves /mcp."}
	case a.status < 300 && a.html():
		return &problem{finding: "html", detail: "a web page (" + a.seen() + ")", mend: mendHTML}
	case a.status < 300:
		return &problem{finding: "open", detail: a.seen() + " without a token: apps never start to sign in", mend: "Every request without a token must get 401 with a challenge, whatever its method."}
	}
	return &problem{finding: "status", detail: a.seen() + " in place of 401: apps do not start to sign in",
		mend: "Every request without a token must get 401 before its method and headers are judged. The proxy must allow GET, HEAD, POST, DELETE and OPTIONS."}
}

// slashes asks at the endpoint with and without a trailing slash: people paste both.
func (w *walk) slashes(ctx context.Context) {
	other := w.target + "/"
	if strings.HasSuffix(w.target, "/") {
		other = strings.TrimRight(w.target, "/")
	}
	r := w.knock(http.MethodPost, initializeBody, "")
	r.url = other
	a := w.send(ctx, r)
	p := a.transport()
	if p == nil && a.status != http.StatusUnauthorized {
		p = w.notChallenged(a)
	}
	w.judge("slash", "The other form, "+strings.TrimPrefix(other, w.origin), "401 too, no redirect", p.softened())
}

// badBearer sends a token that cannot be good. The error in the answer proves that the header got through.
func (w *walk) badBearer(ctx context.Context) {
	const check, title = "bearer", "Authorization header arrives"
	a := w.send(ctx, w.knock(http.MethodPost, initializeBody, "", "Authorization", "Bearer gatehouse-doctor-"+w.random()))
	p := a.transport()
	var c challenge
	for _, each := range parseChallenges(a.header.Values("WWW-Authenticate")) {
		if strings.EqualFold(each.scheme, "Bearer") {
			c = each
			break
		}
	}
	switch {
	case p != nil:
	case a.status >= 200 && a.status < 300:
		p = &problem{finding: "any_token", detail: a.seen() + " to a made-up token", mend: "The endpoint does not check tokens. Take it off the internet until it does."}
	case a.status == http.StatusForbidden || a.status == http.StatusNotFound:
		p = w.notChallenged(a)
	case a.status != http.StatusUnauthorized:
		p = &problem{finding: "status", detail: a.seen() + " to a bad token, in place of 401", mend: "A bad token must get 401 with error=\"invalid_token\"; apps refresh on nothing else."}
	case c.get("error") == "" && w.challenged.scheme != "":
		p = &problem{finding: "stripped", detail: "a bad token gets the same plain challenge as none: the header does not arrive", mend: mendStripped}
	case c.get("error") != "invalid_token":
		p = &problem{finding: "no_invalid_token", detail: "the challenge lacks error=\"invalid_token\"", mend: "A bad token must get error=\"invalid_token\"; ChatGPT and others refresh on nothing else."}
	}
	w.judge(check, title, "a bad token gets invalid_token", p)
}
