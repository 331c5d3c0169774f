package doctor

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Options say what to walk and how.
type Options struct {
	// URL is the server's address or its MCP endpoint; without a path, /mcp is meant.
	URL string
	// As is claude, chatgpt, codex or all.
	As string
	// Token, when set, is a personal or access token to try the endpoint with.
	Token string
	// Register lets the walk register throw-away clients.
	Register bool
	// Version stands in the walk's own user agent.
	Version string
	Now     func() time.Time
	Rand    io.Reader

	// Roots, Lookup and Dial replace the system's authorities, resolver and network.
	Roots  *x509.CertPool
	Lookup func(ctx context.Context, host string) ([]netip.Addr, error)
	Dial   func(ctx context.Context, network, address string) (net.Conn, error)
	// Timeout is per request; 10 s, as long as Claude waits, when it is 0.
	Timeout time.Duration
}

// ErrURL says that the URL cannot be walked.
var ErrURL = errors.New("not a URL such as https://home.example or https://home.example/mcp")

// walk is a walk under way, with what it has learned.
type walk struct {
	o      Options
	report *Report
	// client carries everything but the token, strict the token.
	client, strict *http.Client

	// endpoint is the MCP endpoint, target its exact text, origin its scheme and host.
	endpoint       *url.URL
	target, origin string
	addrs          []netip.Addr
	// secure is true while a token may travel: verified TLS, or plain http to this computer.
	secure bool

	challenged challenge
	// hostRefused says that the endpoint refused the Host field once, since an answer to HEAD cannot say why.
	hostRefused bool
	resource    *resourceMetadata
	resourceAt  string
	server      *serverMetadata
	serverAt    string
	// discovery is the time that the first three requests of an app took.
	discovery time.Duration
}

// Run walks. An error means that nothing was walked: the URL is none (ErrURL), the name of the app is unknown, or the
// context ended.
func Run(ctx context.Context, o Options) (*Report, error) {
	endpoint, err := parseTarget(o.URL)
	if err != nil {
		return nil, err
	}
	chosen := personas()
	if o.As != "" && o.As != "all" {
		chosen = slices.DeleteFunc(chosen, func(p persona) bool { return p.as != o.As })
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("unknown app %q", o.As)
	}
	w := newWalk(o, endpoint)
	if w.everyApp(ctx) {
		for _, p := range chosen {
			w.persona(ctx, p)
		}
		w.withToken(ctx)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("stopped: %w", err)
	}
	return w.report, nil
}

func newWalk(o Options, endpoint *url.URL) *walk {
	if o.Timeout == 0 {
		o.Timeout = 10 * time.Second
	}
	if o.Dial == nil {
		o.Dial = (&net.Dialer{}).DialContext
	}
	if o.Lookup == nil {
		o.Lookup = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	w := &walk{o: o, endpoint: endpoint, target: endpoint.String(), origin: endpoint.Scheme + "://" + endpoint.Host}
	w.report = &Report{URL: w.target, CheckedAt: o.Now().UTC().Truncate(time.Millisecond)}
	w.client, w.strict = w.newClient(false), w.newClient(true)
	return w
}

// parseTarget reads the URL as an app's own URL parser would write it: host in lower case, no default port.
func parseTarget(raw string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" ||
		u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("%q is %w", raw, ErrURL)
	}
	u.Host = strings.ToLower(u.Host)
	if u.Port() == map[string]string{"https": "443", "http": "80"}[u.Scheme] {
		u.Host = strings.TrimSuffix(u.Host, ":"+u.Port())
	}
	if u.Path == "" || u.Path == "/" {
		u.Path, u.RawPath = "/mcp", ""
	}
	return u, nil
}

// everyApp walks what all apps have in common. False means that there is nobody to talk to.
func (w *walk) everyApp(ctx context.Context) bool {
	w.begin("all", "Every app")
	if !w.address(ctx) || !w.certificate(ctx) || !w.challenges(ctx) {
		w.note("rest", "Everything else", "not tried: the server does not answer")
		return false
	}
	w.slashes(ctx)
	w.badBearer(ctx)
	w.resourceDocuments(ctx)
	w.serverDocuments(ctx)
	w.strayDocument(ctx)
	w.crossOrigin(ctx)
	w.tokenEndpoint(ctx)
	w.speed()
	return true
}

// speed judges how long an app's discovery takes. Claude gives up after 10 s.
func (w *walk) speed() {
	const check, title = "speed", "Time of discovery"
	detail := fmt.Sprintf("%d ms for the challenge and the metadata", w.discovery.Milliseconds())
	p := &problem{detail: detail, mend: "Apps give up after 10 s. Look for a server that sleeps, a slow database or a slow name server."}
	switch {
	case w.discovery > 10*time.Second:
		p.finding = "too_slow"
	case w.discovery > 3*time.Second:
		p.finding, p.mild = "slow", true
	default:
		p = nil
	}
	w.judge(check, title, detail, p)
}

// random is an unguessable text of 43 characters.
func (w *walk) random() string {
	b := make([]byte, 32)
	if _, err := io.ReadFull(w.o.Rand, b); err != nil {
		return strings.Repeat("x", 43) // nothing here must stay secret
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// clean takes the token out of a text and cuts it short: servers echo what they are sent.
func (w *walk) clean(s string) string {
	if w.o.Token != "" {
		s = strings.ReplaceAll(s, w.o.Token, "[token]")
	}
	const limit = 400
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "") + "…"
	}
	return s
}
