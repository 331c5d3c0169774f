package endpoint

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"gatehouse/app/home"
	"gatehouse/oauth"
)

// Verifier checks a connection's access token for a resource; *oauth.Server is one.
type Verifier interface {
	VerifyAccessToken(ctx context.Context, token, resource string) (*oauth.AccessToken, error)
}

// ProofVerifier checks an access token that is bound to a key, with the proof that came along (RFC 9449 §7);
// *oauth.Server is one.
type ProofVerifier interface {
	VerifyBoundToken(ctx context.Context, token, resource string, r oauth.ProofRequest) (*oauth.AccessToken, error)
}

// ConnectionReader reads, in one statement, what holds for a connection right now.
type ConnectionReader interface {
	PrincipalByConnection(ctx context.Context, connectionID, familyID, jti string, now time.Time) (*home.Principal, error)
}

// StoredReader reads, in one statement, an access token that is looked up and what holds for its connection right now.
type StoredReader interface {
	PrincipalByAccessToken(ctx context.Context, hash []byte, now time.Time) (*home.Principal, *oauth.AccessToken, error)
}

// StoredVerifier checks a token that was read so; *oauth.Server is one.
type StoredVerifier interface {
	CheckStored(ctx context.Context, found *oauth.AccessToken, token, resource string, proof *oauth.ProofRequest) error
}

// TokenReader finds the person behind a personal token, with what holds right now.
type TokenReader interface {
	PrincipalByToken(ctx context.Context, token string) (*home.Principal, error)
}

// Event is what the endpoint tells its observer about a request it refused or let through.
type Event struct {
	// Outcome is "host_refused", "origin_refused", "challenged" (no token), "refused" (bad token), or "accepted".
	Outcome   string
	Reason    string
	Principal *home.Principal
}

// Config is what an Endpoint is made from.
type Config struct {
	Profile Profile
	// Verify is nil when there is no authorization server.
	Verify Verifier
	// Prove is nil where tokens bound to a key are not accepted.
	Prove ProofVerifier
	// Stored and CheckStored serve access tokens that are looked up; nil where there are none.
	Stored      StoredReader
	CheckStored StoredVerifier
	Connections ConnectionReader
	Tokens      TokenReader
	// Next is the MCP server, reached only with a principal in the context.
	Next http.Handler
	// Address gives a request's client address behind trusted proxies.
	Address func(*http.Request) string
	// RequestID gives the request's id.
	RequestID func(http.ResponseWriter) string
	// Observe, when set, is told of refused hosts and origins and of the bearer step. It must not block.
	Observe func(r *http.Request, e Event)
	Log     *slog.Logger
	Now     func() time.Time
}

// Endpoint is the guarded endpoint, an http.Handler.
type Endpoint struct{ cfg Config }

// What is said to those whose Host or Origin is refused.
const (
	hostRefused   = "This Host is not served here. Use the public URL of this server."
	originRefused = "This Origin is not allowed here."
)

// New makes an endpoint.
func New(cfg Config) *Endpoint { return &Endpoint{cfg: cfg} }

// ServeHTTP guards one request.
func (e *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p, h := &e.cfg.Profile, w.Header()
	origin := r.Header.Get("Origin")
	h.Set("X-Accel-Buffering", "no")
	h.Set("Cache-Control", "no-store")
	p.setCORS(h, origin)
	switch {
	case r.Method == http.MethodOptions:
		if !p.originAllowed(origin) { // the browser stops here, so that nothing else will tell of it
			e.observe(r, Event{Outcome: "origin_refused", Reason: originRefused})
		}
		p.preflight(w, r)
		return
	case !p.hostAllowed(r.Host):
		e.observe(r, Event{Outcome: "host_refused", Reason: hostRefused})
		refuse(w, http.StatusForbidden, hostRefused)
		return
	case len(r.Header.Values("Origin")) > 1 || !p.originAllowed(origin):
		e.observe(r, Event{Outcome: "origin_refused", Reason: originRefused})
		refuse(w, http.StatusForbidden, originRefused)
		return
	case r.ContentLength > p.BodyLimit:
		refuse(w, http.StatusRequestEntityTooLarge, "The request body is too large.")
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, p.BodyLimit)
	principal, err := e.authenticate(r)
	if err != nil {
		e.refuseBearer(w, r, err)
		return
	}
	if r.Method != http.MethodPost {
		h.Set("Allow", http.MethodPost)
		refuse(w, http.StatusMethodNotAllowed, "Only POST is served here.")
		return
	}
	e.observe(r, Event{Outcome: "accepted", Principal: principal})
	principal.IP, principal.RequestID, principal.Via = e.cfg.Address(r), e.cfg.RequestID(w), "mcp"
	e.cfg.Next.ServeHTTP(w, r.WithContext(home.WithPrincipal(withScheme(r), principal)))
}

func (e *Endpoint) observe(r *http.Request, ev Event) {
	if e.cfg.Observe != nil {
		e.cfg.Observe(r, ev)
	}
}

// errNoToken says that the request carried no credentials at all.
var errNoToken = errors.New("no token")
