package app

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"gatehouse/app/audit"
	"gatehouse/app/handshake"
	"gatehouse/app/home"
	"gatehouse/mcp"
	"gatehouse/mcp/endpoint"
	"gatehouse/oauth"
	"gatehouse/web"
)

// This file carries what the parts observe into the record of connection attempts. The parts do not know the record.

// identifyCaller puts address and user agent into the context, so that steps of one attempt can be tied together.
func (a *App) identifyCaller(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		ctx := handshake.WithSource(r.Context(), c.RealIP(), r.UserAgent())
		c.SetRequest(r.WithContext(handshake.WithHTTPRequest(ctx, c.Response().Header().Get(echo.HeaderXRequestID))))
		return next(c)
	}
}

// observeOAuth takes the steps of the protocol's library.
func (c *core) observeOAuth(ctx context.Context, s oauth.Step) {
	if c.observeClient(ctx, s) {
		return
	}
	if s.Name == oauth.StepReuseDetected {
		c.log.WarnContext(ctx, "an old refresh token was used again; its installation was ended", "client", s.ClientID, "user", s.UserID,
			"connection", s.ConnectionID)
		c.audit.Record(ctx, audit.Entry{Actor: audit.ActorClient, ActorID: s.ClientID, Action: audit.RefreshReused, PersonID: s.UserID,
			ClientID: s.ClientID, ConnectionID: s.ConnectionID, Address: handshake.AddressFrom(ctx),
			Detail: map[string]string{"installation": strings.TrimPrefix(s.Detail, "family ")}})
	}
	c.recorder.Observe(ctx, handshake.Step(s))
}

// observer takes the events that only the pages see.
type observer struct{ recorder *handshake.Recorder }

// webSteps are the pages' names of steps in the record's words.
var webSteps = map[string]string{
	web.StepResourceMetadata: handshake.StepResourceMetadata,
	web.StepServerMetadata:   handshake.StepServerMetadata,
	web.StepSignedIn:         handshake.StepSignedIn,
	web.StepRedirected:       handshake.StepRedirected,
}

// ObserveEvent takes an event.
func (o observer) ObserveEvent(ctx context.Context, e web.Event) {
	step, known := webSteps[e.Step]
	if !known {
		step = e.Step
	}
	o.recorder.Record(ctx, handshake.Event{Step: step, OK: e.OK, ClientID: e.ClientID, RequestID: e.RequestID, UserID: e.UserID,
		Detail: e.Detail, IP: e.Address, UserAgent: e.UserAgent, HTTPRequest: e.HTTPRequestID})
}

// observeEndpoint takes the bearer step of /mcp.
func (a *App) observeEndpoint(r *http.Request, e endpoint.Event) {
	ev := handshake.Event{Step: handshake.StepChallenge, OK: true, Resource: a.set.publicURL + "/mcp"}
	switch e.Outcome {
	case "challenged":
		ev.Detail = r.Method
	case "host_refused":
		ev.OK, ev.Check, ev.Reason, ev.Detail = false, "host", e.Reason, truncate(r.Host, shownOfHost)
		a.warnRefused(r, "the Host of a request to /mcp is not that of GATEHOUSE_PUBLIC_URL; it was refused: set it to the URL that apps use, and let the proxy pass Host on unchanged",
			ev.Detail, a.set.public.Host)
	case "origin_refused":
		ev.OK, ev.Check, ev.Reason, ev.Detail = false, "origin", e.Reason, truncate(r.Header.Get("Origin"), shownOfHost)
		a.warnRefused(r, "the Origin of a request to /mcp is not allowed; it was refused: GATEHOUSE_ALLOWED_ORIGINS can allow more",
			ev.Detail, strings.Join(append([]string{a.set.publicURL}, a.set.AllowedOrigins...), ", "))
	case "refused":
		ev.OK, ev.Check, ev.Reason = false, "access_token", e.Reason
	default:
		if e.Principal.Actor != home.ActorConnection {
			return
		}
		ev.Step = handshake.StepFirstRequest
		ev.ConnectionID, ev.FamilyID, ev.ClientID, ev.UserID = e.Principal.ConnectionID, e.Principal.FamilyID, e.Principal.ClientID, e.Principal.UserID
	}
	a.recorder.Record(r.Context(), ev)
}

// shownOfHost is how much of a Host or Origin is kept: strangers choose it.
const shownOfHost = 200

// refusals are the times of the last warnings, by their text.
type refusals struct {
	mu   sync.Mutex
	last map[string]time.Time
}

// due reports whether a warning may be written now: once a minute, since anybody can cause it.
func (f *refusals) due(text string, now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if last, ok := f.last[text]; ok && now.Sub(last) < time.Minute {
		return false
	}
	if f.last == nil {
		f.last = map[string]time.Time{}
	}
	f.last[text] = now
	return true
}

func (a *App) warnRefused(r *http.Request, text, received, expected string) {
	if a.refusals.due(text, a.now()) {
		a.log.WarnContext(r.Context(), text, "received", received, "expected", expected, "ip", a.address(r))
	}
}

// observeMCP notes tool calls: the last use of the connection, the first call of an attempt, and faults in the log.
func (a *App) observeMCP(ctx context.Context, o mcp.Observation) {
	if o.Err != nil && o.Outcome == mcp.OutcomeRPCError && o.Code == mcp.CodeInternalError {
		a.log.ErrorContext(ctx, "mcp request failed", "method", o.Method, "tool", o.Tool, "cause", o.Err)
	}
	p := home.PrincipalFrom(ctx)
	if p == nil {
		return
	}
	if p.Actor == home.ActorToken {
		if err := a.db.TouchPersonalToken(ctx, p.TokenID, p.IP, a.now()); err != nil {
			a.log.WarnContext(ctx, "last use of a personal token was not noted", "cause", err)
		}
		return
	}
	a.db.TouchConnection(ctx, p.ConnectionID, p.FamilyID, o.Tool, p.IP, a.now())
	if o.Tool != "" && o.Outcome == mcp.OutcomeOK {
		a.recorder.Record(ctx, handshake.Event{Step: handshake.StepFirstToolCall, OK: true, Detail: o.Tool,
			ConnectionID: p.ConnectionID, FamilyID: p.FamilyID, ClientID: p.ClientID, UserID: p.UserID})
	}
}
