package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"gatehouse/app/limit"
	"gatehouse/app/toolgrant"
	"gatehouse/oauth"
)

// Limiter counts calls of callers; limit.Limiter is one.
type Limiter interface {
	Take(ctx context.Context, spec limit.Spec, key string) (limit.Result, error)
}

// Deps is what the handlers work with. Everything but OAuthOn is needed.
type Deps struct {
	// PublicURL is the one address that everything is built from, without a trailing slash.
	PublicURL string
	// OAuthOn is false while the public URL is plain http beyond this computer; the OAuth endpoints answer 404 then.
	OAuthOn bool
	OAuth   *oauth.Server
	// Located reports whether connections to a resource act at locations, so that the consent page asks where.
	Located func(resource string) bool
	// Tools gives the tools of a resource that people can choose one by one; nil for none.
	Tools       func(resource string) toolgrant.Catalog
	Accounts    Accounts
	Homes       Homes
	Things      Things
	Connections Connections
	Activity    Activity
	Attempts    Attempts
	Audit       Audit
	Clients     ClientsAdmin
	Issuers     Issuers
	Policies    Policies
	// ClientSettings are an administrator's switches for single clients, Logos the pictures of clients.
	ClientSettings ClientSettings
	Logos          Logos
	Observer       Observer
	Limiter        Limiter
	People         People
	// Stopping is closed when the program stops, so that streams end; nil when it never does.
	Stopping <-chan struct{}
	Log      *slog.Logger
	Now      func() time.Time
	Rand     io.Reader
}

// Handlers are all handlers. It is safe for concurrent use and keeps no state of its own.
type Handlers struct {
	url         string
	https       bool
	oauthOn     bool
	oauth       *oauth.Server
	located     func(resource string) bool
	tools       func(resource string) toolgrant.Catalog
	accounts    Accounts
	homes       Homes
	things      Things
	connections Connections
	activity    Activity
	attempts    Attempts
	audit       Audit
	clients     ClientsAdmin
	policies    Policies
	settings    ClientSettings
	logos       Logos
	issuers     Issuers
	observer    Observer
	limiter     Limiter
	people      People
	stopping    <-chan struct{}
	streams     streams
	log         *slog.Logger
	now         func() time.Time
	rand        io.Reader
	documents   *documents
	crossOrigin *http.CrossOriginProtection
}

// New makes the handlers.
func New(d Deps) (*Handlers, error) {
	if d.OAuth == nil || d.Located == nil || d.Accounts == nil || d.Homes == nil || d.Things == nil || d.Connections == nil ||
		d.Activity == nil || d.Attempts == nil || d.Audit == nil || d.Clients == nil || d.Issuers == nil || d.Policies == nil || d.ClientSettings == nil || d.Logos == nil || d.Observer == nil || d.Limiter == nil || d.Log == nil || d.Now == nil || d.Rand == nil || !d.People.complete() {
		return nil, errors.New("web: a dependency is missing")
	}
	public, err := url.Parse(d.PublicURL)
	if err != nil || public.Host == "" {
		return nil, fmt.Errorf("web: public URL %q is not a URL", d.PublicURL)
	}
	if d.Tools == nil {
		d.Tools = func(string) toolgrant.Catalog { return nil }
	}
	documents, err := newDocuments(d.OAuth)
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	// Behind a proxy the Host of a request can differ from what the browser sees; our own origin counts then too.
	crossOrigin := http.NewCrossOriginProtection()
	if err := crossOrigin.AddTrustedOrigin(public.Scheme + "://" + public.Host); err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	return &Handlers{
		url: strings.TrimSuffix(d.PublicURL, "/"), https: public.Scheme == "https", oauthOn: d.OAuthOn, oauth: d.OAuth,
		located: d.Located, tools: d.Tools, accounts: d.Accounts, homes: d.Homes, things: d.Things, connections: d.Connections, activity: d.Activity, attempts: d.Attempts,
		observer: d.Observer, limiter: d.Limiter, people: d.People, log: d.Log, now: d.Now, rand: d.Rand,
		stopping: d.Stopping, audit: d.Audit, clients: d.Clients, issuers: d.Issuers, documents: documents, crossOrigin: crossOrigin,
		policies: d.Policies, settings: d.ClientSettings, logos: d.Logos,
	}, nil
}
