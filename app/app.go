package app

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"

	"gatehouse/app/home"
	"gatehouse/mcp"
	"gatehouse/mcp/endpoint"
	"gatehouse/mcp/tools"
	"gatehouse/oauth"
	"gatehouse/web"
)

// App is the server: the parts of core with the doors to them.
type App struct {
	*core
	version     string
	echo        *echo.Echo
	web         *web.Handlers
	endpoint    *endpoint.Endpoint
	refusals    refusals
	stopping    atomic.Bool
	stop        chan struct{} // closed when the program stops
	stoppedJobs chan struct{}
}

// New puts a server together. bound is the address that the listener got. Close it when done.
func New(ctx context.Context, cfg Config, bound, version string, log *slog.Logger, now func() time.Time) (*App, error) {
	set, err := cfg.check(bound)
	if err != nil {
		return nil, &UsageError{Message: err.Error()}
	}
	c, err := newCore(ctx, set, log, now, true)
	if err != nil {
		return nil, err
	}
	a := &App{core: c, version: version, stop: make(chan struct{})}
	if err := a.open(ctx); err != nil {
		_ = c.close()
		return nil, err
	}
	return a, nil
}

// open makes the signing keys and builds the doors: pages, the MCP endpoint, and the route list over both.
func (a *App) open(ctx context.Context) error {
	err := a.oauth.EnsureKeys(ctx)
	if err != nil {
		return fmt.Errorf("signing keys: %w", err)
	}
	a.web, err = web.New(web.Deps{
		PublicURL: a.set.publicURL, OAuthOn: a.set.oauthOn, OAuth: a.oauth, Located: a.located, Tools: toolCatalog, Accounts: a.accounts, Homes: a.homes,
		Things: a.inventory, Connections: a.connections, Activity: a.inventory, Attempts: attempts{a.handshakes, a.connections, a.accounts}, Observer: observer{a.recorder}, Limiter: a.limiter,
		People:   web.People{Persons: a.accounts, Members: a.homes, Invitations: a.invitations, Upstream: a.upstream, Letters: letters{a.core}},
		Stopping: a.stop, Clients: a.clients, Policies: a.policies, ClientSettings: a.settings, Logos: a.logos, Audit: a.audit, Issuers: a.issuers, Log: a.log, Now: a.now, Rand: a.rand,
	})
	if err != nil {
		return err
	}
	if a.endpoint, err = a.newEndpoint(); err != nil {
		return err
	}
	a.echo = a.newEcho()
	a.routes(a.echo)
	return nil
}

// newEndpoint builds /mcp: the guard, and behind it the MCP server with the home tools.
func (a *App) newEndpoint() (*endpoint.Endpoint, error) {
	cursorKey, err := a.derive("cursor")
	if err != nil {
		return nil, err
	}
	var e *endpoint.Endpoint
	set, err := tools.New(tools.Deps{
		Inventory: a.inventory, Limiter: a.limiter, CursorKey: cursorKey, Rand: a.rand,
		ScopeDenied: func(ctx context.Context, scopes string) error { return e.ScopeRefusal(ctx, scopes) },
		StepUp:      a.stepUp(func(scopes string, demand oauth.StepUp) error { return e.StepUpRefusal(scopes, demand) }),
	})
	if err != nil {
		return nil, err
	}
	options := append(set.Options(), mcp.WithLogger(a.log), mcp.WithClock(a.now), mcp.WithObserver(a.observeMCP),
		mcp.WithCapabilities(mcp.Capabilities{Prompts: true, Completions: true, Logging: true, Resources: true}))
	server, err := mcp.NewServer(mcp.Implementation{Name: "gatehouse", Title: "Gatehouse", Version: a.version, WebsiteURL: a.set.publicURL}, options...)
	if err != nil {
		return nil, fmt.Errorf("mcp server: %w", err)
	}
	cfg := endpoint.Config{
		Profile: endpoint.HomeProfile(a.set.publicURL, a.set.oauthOn, home.ScopeRead+" "+home.ScopeWrite, a.set.AllowedOrigins),
		Stored:  a.db, CheckStored: a.oauth, Connections: a.db, Tokens: a.homes, Next: server, Address: a.address,
		RequestID: func(w http.ResponseWriter) string { return w.Header().Get(echo.HeaderXRequestID) },
		Observe:   a.observeEndpoint, Log: a.log, Now: a.now,
	}
	if a.set.oauthOn {
		cfg.Verify, cfg.Prove = a.oauth, a.oauth
	}
	e = endpoint.New(cfg)
	return e, nil
}

// Handler is the whole server as a handler.
func (a *App) Handler() http.Handler { return a.echo }

// Close closes what New opened.
func (a *App) Close() error {
	return a.core.close()
}
