package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"time"

	"gatehouse/oauth"
)

// Limits of one request.
const (
	defaultTimeout   = 5 * time.Second
	maxDocument      = 5 * 1024
	maxKeySet        = 64 * 1024
	maxHeaders       = 16 * 1024
	defaultUserAgent = "gatehouse"
)

// Config is what a Client is made from. The zero value reaches public addresses on port 443.
type Config struct {
	// Allow opens networks and hosts beyond the public internet, on any port unless an entry names one.
	Allow []Allowed
	// Ports are the ports to reach on public addresses. Nil means 443.
	Ports []uint16
	// CAFile names a PEM file with certificates to trust besides the system's.
	CAFile string
	// UserAgent is sent with each request; empty means "gatehouse".
	UserAgent string
	// Timeout bounds a request from resolving the name to the last byte. Zero means 5 seconds.
	Timeout time.Duration
	// Resolver resolves names; nil means the system's.
	Resolver *net.Resolver
}

// Client fetches under guard. It is safe for concurrent use.
type Client struct {
	http      *http.Client
	userAgent string
	timeout   time.Duration
}

var _ oauth.DocumentFetcher = (*Client)(nil)

// New makes a client.
func New(cfg Config) (*Client, error) {
	roots, err := trustedRoots(cfg.CAFile)
	if err != nil {
		return nil, err
	}
	if cfg.Ports == nil {
		cfg.Ports = []uint16{443}
	}
	if cfg.UserAgent == "" {
		cfg.UserAgent = defaultUserAgent
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = defaultTimeout
	}
	return &Client{
		userAgent: cfg.UserAgent,
		timeout:   cfg.Timeout,
		http: &http.Client{
			Transport: &http.Transport{
				Proxy:                  nil, // a proxy would do the resolving and connecting behind the guard's back
				DialContext:            NewGuard(cfg.Ports, cfg.Allow, cfg.Resolver).DialContext,
				TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots},
				DisableKeepAlives:      true,
				MaxResponseHeaderBytes: maxHeaders,
			},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// NewForDocuments makes the client for client metadata documents. What an administrator allowed counts only while the
// server itself is reached over loopback: otherwise a stranger's client_id could make it read from the inner network.
func NewForDocuments(cfg Config, publicURL string) (*Client, error) {
	if !isLoopbackURL(publicURL) {
		cfg.Allow = nil
	}
	return New(cfg)
}

// NewHTTP makes a guarded HTTP client for libraries that speak a protocol of their own. It follows no redirects, and an
// answer ends after 1 MB.
func NewHTTP(cfg Config) (*http.Client, error) {
	c, err := New(cfg)
	if err != nil {
		return nil, err
	}
	c.http.Timeout = 2 * c.timeout
	c.http.Transport = bounded{c.http.Transport}
	return c.http, nil
}

// maxAnswer bounds an answer to a library.
const maxAnswer = 1 << 20

// bounded cuts bodies off.
type bounded struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := b.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	response.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(response.Body, maxAnswer), response.Body}
	return response, nil
}

func isLoopbackURL(raw string) bool {
	u, err := url.Parse(raw)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && ip.IsLoopback()
}

func trustedRoots(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read certificates to trust: %w", err)
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		return nil, fmt.Errorf("read the system's certificates: %w", err)
	}
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("read certificates to trust: %s holds no PEM certificate", file)
	}
	return roots, nil
}

// FetchDocument fetches a client metadata document. Any status is an answer, redirects included; a refusal of the guard
// or a body over 5 KB after decompression is an error that wraps oauth.ErrFetchRefused.
func (c *Client) FetchDocument(ctx context.Context, rawURL, ifNoneMatch string) (*oauth.FetchedDocument, error) {
	return c.get(ctx, rawURL, ifNoneMatch, "application/json", maxDocument)
}

// FetchKeySet fetches the key set of a client in the same way, up to 64 KB.
func (c *Client) FetchKeySet(ctx context.Context, rawURL string) (*oauth.FetchedDocument, error) {
	return c.get(ctx, rawURL, "", "application/jwk-set+json, application/json", maxKeySet)
}

func (c *Client) get(ctx context.Context, rawURL, ifNoneMatch, accept string, limit int) (*oauth.FetchedDocument, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, rawURL, nil)
	if err != nil || request.URL.Scheme != "https" || request.URL.User != nil {
		return nil, fmt.Errorf("fetch document: %w: not a plain https URL", oauth.ErrFetchRefused)
	}
	request.Header.Set("Accept", accept)
	request.Header.Set("User-Agent", c.userAgent)
	if ifNoneMatch != "" {
		request.Header.Set("If-None-Match", ifNoneMatch)
	}
	response, err := c.http.Do(request)
	if errors.Is(err, ErrRefused) {
		return nil, fmt.Errorf("fetch document: %w: %w", oauth.ErrFetchRefused, err)
	}
	if err != nil {
		return nil, fmt.Errorf("fetch document: %w", err)
	}
	defer response.Body.Close()
	// The transport has undone gzip, so this counts what the document really is.
	body, err := io.ReadAll(io.LimitReader(response.Body, int64(limit)+1))
	if err == nil {
		err = ctx.Err() // at the deadline, the end of the connection can look like the end of the body
	}
	if err != nil {
		return nil, fmt.Errorf("fetch document: read body: %w", err)
	}
	if len(body) > limit {
		if response.StatusCode == http.StatusOK {
			return nil, fmt.Errorf("fetch document: %w: larger than %d KB", oauth.ErrFetchRefused, limit>>10)
		}
		body = nil // an error page; its status says it all
	}
	return &oauth.FetchedDocument{
		Status:       response.StatusCode,
		ContentType:  response.Header.Get("Content-Type"),
		ETag:         response.Header.Get("ETag"),
		CacheControl: response.Header.Get("Cache-Control"),
		Expires:      response.Header.Get("Expires"),
		Body:         body,
	}, nil
}
