package oauth

// Finding clients, and fetching those whose id is the URL of their metadata document:
// draft-ietf-oauth-client-id-metadata-document §5, §5.1 (errors), §5.2 (caching), §8.3 (changes).
// Keys are in client_keys.go; logos are the embedding program's (§8.8).

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/singleflight"
)

// ErrFetchRefused is what a DocumentFetcher wraps when its guard refuses a URL or an answer (address, port, size).
// Trying again would not help.
var ErrFetchRefused = errors.New("oauth: fetch refused")

// errNeedsFetch says that the client is known only by a document that would have to be fetched now.
var errNeedsFetch = errors.New("oauth: client document must be fetched")

// errDocumentAway marks failures that say nothing about the document: its host is down or turns us away.
var errDocumentAway = errors.New("oauth: client document unavailable")

// errFetchLimit says that nothing was asked, since the limits of fetching are reached.
var errFetchLimit = fmt.Errorf("%w: over the limit", errDocumentAway)

// maxFlight bounds one fetch with its reads and writes; the fetcher's own limit is tighter.
const maxFlight = 15 * time.Second

// documents fetches metadata documents and key sets: one flight per URL, within limits. What strangers cause counts
// apart, so that they cannot use up what clients of people need.
type documents struct {
	fetch     DocumentFetcher
	flights   singleflight.Group
	limits    fetchLimiter
	strangers fetchLimiter
	keys      keySets
}

func newDocuments(cfg Config) *documents {
	return &documents{
		fetch: cfg.Fetch, limits: fetchLimiter{origins: map[string]*fetchCount{}},
		strangers: fetchLimiter{origins: map[string]*fetchCount{}}, keys: keySets{byURL: map[string]fetchedKeys{}},
	}
}

func (d *documents) limiter(stranger bool) *fetchLimiter {
	if stranger {
		return &d.strangers
	}
	return &d.limits
}

// lookupClient finds the client with this id. A document is fetched only if fetch is set, which a caller may do only for
// a signed-in person or for a client that holds a connection: otherwise anybody could make this server send requests.
// Errors are *Error, or errNeedsFetch.
func (s *Server) lookupClient(ctx context.Context, id string, fetch bool) (*Client, error) {
	c, err := s.findClient(ctx, id, fetch)
	if e, ok := err.(*Error); ok {
		e.ClientID = id
	}
	return c, err
}

func (s *Server) findClient(ctx context.Context, id string, fetch bool) (*Client, error) {
	known, err := s.knownClient(ctx, id)
	if err != nil {
		return nil, err
	}
	if known != nil && known.Kind != ClientDocument {
		return known, nil
	}
	if known == nil && !isDocumentID(id) {
		return nil, unknownClient()
	}
	p, err := s.policy(ctx)
	if err != nil {
		return nil, err
	}
	if !p.ClientDocuments {
		return nil, InvalidClient("Client metadata documents are switched off. Register the client instead.").WithCheck("client")
	}
	if fault := documentURLFault(id); fault != "" {
		return nil, InvalidClient(fault).WithCheck("client_id")
	}
	if e := p.checkDocumentHost(id); e != nil {
		return nil, e
	}
	now := s.now()
	switch {
	case known != nil && known.Document.isFresh(now):
		return known, nil
	case !fetch && known != nil && known.Document.isUsable(now):
		return known, nil
	case !fetch:
		return nil, errNeedsFetch
	}
	fresh, err := s.fetchClient(ctx, id)
	if err == nil {
		return fresh, nil
	}
	if known != nil && known.Document.isUsable(now) && errors.Is(err, errDocumentAway) {
		return known, nil
	}
	return nil, err
}

// knownClient reads the client from the store; nil if there is none. A blocked client is an error.
func (s *Server) knownClient(ctx context.Context, id string) (*Client, error) {
	if id == "" || len(id) > maxClientID {
		return nil, unknownClient()
	}
	c, err := s.stores.Clients.Client(ctx, id)
	switch {
	case errors.Is(err, ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, TemporarilyUnavailable(fmt.Errorf("look up client: %w", err)).WithCheck("store")
	case c.BlockedAt != nil:
		return nil, InvalidClient("The client is blocked by the administrator of this server.").WithCheck("client_blocked")
	case c.Kind == ClientDocument && c.Document == nil:
		c.Document = &DocumentState{} // never fetched: stale
	}
	return c, nil
}

func unknownClient() *Error {
	return InvalidClient("The client is unknown. It may have been removed; register it again.").WithCheck("client")
}

// fetchClient fetches the document of a client in the one flight for its URL. The flight outlives a caller who leaves:
// others wait for it.
func (s *Server) fetchClient(ctx context.Context, id string) (*Client, error) {
	result := s.docs.flights.DoChan(id, func() (any, error) {
		flight, cancel := context.WithTimeout(context.WithoutCancel(ctx), maxFlight)
		defer cancel()
		return s.refreshDocument(flight, id)
	})
	select {
	case <-ctx.Done():
		return nil, TemporarilyUnavailable(fmt.Errorf("fetch client document: %w", ctx.Err())).WithCheck("client_document")
	case r := <-result:
		if r.Err != nil {
			return nil, freshError(r.Err)
		}
		c := *r.Val.(*Client)
		return &c, nil
	}
}

// freshError copies an *Error that several callers of one flight share.
func freshError(err error) error {
	if e, ok := err.(*Error); ok {
		c := *e
		return &c
	}
	return err
}

// refreshDocument fetches or revalidates the document, saves the client and reports what happened. Failures leave what
// was saved untouched (§5.2: errors and invalid documents are not cached).
func (s *Server) refreshDocument(ctx context.Context, id string) (*Client, error) {
	old, err := s.knownClient(ctx, id)
	if err != nil {
		return nil, err
	}
	begun := s.cfg.Now()
	answer, err := s.fetchDocument(ctx, id, old)
	step := Step{Name: StepDocument, ClientID: id, OK: true}
	step.Detail = fmt.Sprintf("%s, %d ms", statusText(answer), s.cfg.Now().Sub(begun).Milliseconds())
	var c *Client
	var changed []string
	if err == nil {
		c, err = s.readDocument(id, old, answer)
	}
	if err == nil {
		if changed = documentChanges(old, c); old != nil {
			c.Changes = markChanges(old.Changes, changed, s.now())
		}
		err = s.saveDocument(ctx, c)
	}
	if err != nil {
		step.OK = false
		if e := (*Error)(nil); errors.As(err, &e) {
			step.Check, step.Reason = e.Check, e.Description
		}
		s.observe(ctx, step)
		return nil, err
	}
	if len(changed) > 0 {
		step.Detail += ", changed: " + strings.Join(changed, ", ")
	}
	s.observe(ctx, step)
	s.observeChanged(ctx, c, changed)
	return c, nil
}

// observeChanged tells of changes that matter to people who approved the client (§8.3).
func (s *Server) observeChanged(ctx context.Context, c *Client, changed []string) {
	if len(changed) > 0 {
		s.observe(ctx, Step{Name: StepClientChanged, OK: true, ClientID: c.ID, Detail: strings.Join(changed, ", ")})
	}
}

func statusText(answer *FetchedDocument) string {
	if answer == nil {
		return "no answer"
	}
	return fmt.Sprintf("status %d", answer.Status)
}

// fetchDocument makes the one request, under the limits.
func (s *Server) fetchDocument(ctx context.Context, id string, old *Client) (*FetchedDocument, error) {
	u, err := url.Parse(id)
	if err != nil {
		return nil, InvalidClient("The client_id is not an https URL.").WithCheck("client_id").WithCause(err)
	}
	done, wait := s.docs.limiter(causedByStranger(ctx) && old == nil).begin(fetchOrigin(u), s.now())
	if done == nil {
		e := SlowDown(wait).WithCheck("client_document_limit")
		return nil, e.WithCause(errDocumentAway)
	}
	defer done()
	etag := ""
	if old != nil {
		etag = old.Document.ETag
	}
	answer, err := s.docs.fetch.FetchDocument(ctx, id, etag)
	if errors.Is(err, ErrFetchRefused) {
		return nil, documentError("The client metadata document may not be fetched from where it is, or is too large.").WithCause(err)
	}
	if err != nil {
		cause := fmt.Errorf("%w: %w", errDocumentAway, err)
		e := newError(http.StatusServiceUnavailable, "temporarily_unavailable", "The client metadata document could not be fetched. Try again shortly.")
		e.RetryAfter = 5 * time.Second
		return nil, e.WithCheck("client_document").WithCause(cause)
	}
	return answer, nil
}

// readDocument judges the answer. Only status 200 is a document (§5); 304 confirms the one we have.
func (s *Server) readDocument(id string, old *Client, answer *FetchedDocument) (*Client, error) {
	now := s.now()
	var c *Client
	switch {
	case answer.Status == http.StatusNotModified && old != nil && old.Document.ETag != "":
		kept := *old
		state := *old.Document
		kept.Document, c = &state, &kept
	case answer.Status != http.StatusOK:
		return nil, statusError(answer.Status)
	case len(answer.Body) > maxDocumentBytes:
		return nil, documentError("The client metadata document is larger than 5 KB.")
	case !isJSONType(answer.ContentType):
		return nil, documentError("The client metadata document is not of type application/json.")
	default:
		parsed, err := parseDocument(id, answer.Body, s.redirectExceptions())
		if err != nil {
			return nil, err
		}
		digest := sha256.Sum256(answer.Body)
		parsed.Document = &DocumentState{Digest: digest[:]}
		parsed.CreatedAt, parsed.LastSeenAt, c = now, now, parsed
	}
	if answer.ETag != "" || answer.Status == http.StatusOK {
		c.Document.ETag = answer.ETag
	}
	c.Document.FetchedAt = now
	c.Document.FreshUntil = now.Add(documentFreshness(answer.CacheControl, answer.Expires, now))
	return c, nil
}

// statusError tells a document that is gone from a host that is in trouble or turns us away (documents have answered 403
// to addresses of data centres): only the second lets the last good copy stand in.
func statusError(status int) *Error {
	e := documentError(fmt.Sprintf("The client metadata document answered with status %d instead of 200.", status))
	switch {
	case status == http.StatusNotFound || status == http.StatusGone || status < 400:
		return e
	case status >= 500 || status == http.StatusTooManyRequests:
		away := newError(http.StatusServiceUnavailable, "temporarily_unavailable", e.Description).WithCheck(e.Check)
		away.RetryAfter = 5 * time.Second
		return away.WithCause(errDocumentAway)
	default:
		return e.WithCause(errDocumentAway)
	}
}

// saveDocument replaces the saved client. What is not the document's is read again first, so that a block set while the
// fetch was under way is not undone.
func (s *Server) saveDocument(ctx context.Context, c *Client) error {
	current, err := s.knownClient(ctx, c.ID)
	if err != nil {
		return err
	}
	if current != nil {
		c.CreatedAt, c.LastSeenAt, c.Settings = current.CreatedAt, current.LastSeenAt, current.Settings
	}
	if err := s.stores.Clients.SaveClient(ctx, c); err != nil {
		return TemporarilyUnavailable(fmt.Errorf("save client document: %w", err)).WithCheck("store")
	}
	return nil
}

// documentChanges names the members whose change matters to people who approved the client (§8.3).
func documentChanges(old, c *Client) []string {
	if old == nil {
		return nil
	}
	var changed []string
	for _, member := range []struct {
		name string
		same bool
	}{
		{"redirect_uris", slices.Equal(old.RedirectURIs, c.RedirectURIs)},
		{"token_endpoint_auth_method", slices.Equal(old.AuthMethods, c.AuthMethods)},
		{"jwks", old.JWKSURI == c.JWKSURI && bytes.Equal(old.JWKS, c.JWKS)},
		{"client_name", old.Name == c.Name},
		{"logo_uri", old.LogoURI == c.LogoURI},
	} {
		if !member.same {
			changed = append(changed, member.name)
		}
	}
	return changed
}
