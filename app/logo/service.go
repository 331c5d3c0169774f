package logo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/singleflight"
)

// ErrNone says that a client has no logo that can be shown.
var ErrNone = errors.New("logo: there is none")

// Logo is a kept logo. Without an image there was none to be had.
type Logo struct {
	ClientID  string
	URI       string
	Image     []byte
	FetchedAt time.Time
	ExpiresAt time.Time
}

// Store keeps logos.
type Store interface {
	// Logo returns the client's logo, or ErrNone.
	Logo(ctx context.Context, clientID string) (*Logo, error)
	// SaveLogo replaces the client's logo.
	SaveLogo(ctx context.Context, l Logo) error
}

// Fetcher gets a picture under guard: no special-use addresses, no redirects, bounded size and time.
type Fetcher interface {
	FetchPicture(ctx context.Context, url string) ([]byte, error)
}

// Config is what a Service works with.
type Config struct {
	Store Store
	Fetch Fetcher
	Now   func() time.Time
	// Allowed says whether a host may be asked.
	Allowed func(ctx context.Context, url string) (bool, error)
}

// Service gets logos. It is safe for concurrent use.
type Service struct {
	c       Config
	flights singleflight.Group
	slots   chan struct{}
}

// Figures of fetching.
const (
	// retryAfter is how long a failure is remembered.
	retryAfter = 5 * time.Minute
	// maxFlights is how many logos a process fetches and decodes at once; who comes then sees none for now.
	maxFlights = 4
	maxFlight  = 15 * time.Second
)

// New makes the service.
func New(c Config) *Service { return &Service{c: c, slots: make(chan struct{}, maxFlights)} }

// Of is a client to show the logo of.
type Of struct {
	ClientID string
	URI      string
	// FreshUntil is how long the document that names the logo is fresh.
	FreshUntil time.Time
}

// Get gives the logo as PNG, or ErrNone.
func (s *Service) Get(ctx context.Context, of Of) ([]byte, error) {
	if of.URI == "" {
		return nil, ErrNone
	}
	kept, err := s.c.Store.Logo(ctx, of.ClientID)
	if err != nil && !errors.Is(err, ErrNone) {
		return nil, err
	}
	if kept == nil || kept.URI != of.URI || !kept.ExpiresAt.After(s.c.Now()) {
		if kept, err = s.renew(ctx, of); err != nil {
			return nil, err
		}
	}
	if len(kept.Image) == 0 {
		return nil, ErrNone
	}
	return kept.Image, nil
}

// renew fetches the logo in the one flight for its client.
func (s *Service) renew(ctx context.Context, of Of) (*Logo, error) {
	result := s.flights.DoChan(of.ClientID+" "+of.URI, func() (any, error) {
		select {
		case s.slots <- struct{}{}:
			defer func() { <-s.slots }()
		default:
			return nil, ErrNone
		}
		flight, cancel := context.WithTimeout(context.WithoutCancel(ctx), maxFlight)
		defer cancel()
		return s.fetch(flight, of)
	})
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case r := <-result:
		if r.Err != nil {
			return nil, r.Err
		}
		return r.Val.(*Logo), nil
	}
}

// fetch gets the logo and keeps it, or keeps that there is none.
func (s *Service) fetch(ctx context.Context, of Of) (*Logo, error) {
	allowed, err := s.c.Allowed(ctx, of.URI)
	if err != nil {
		return nil, err
	}
	now := s.c.Now()
	l := Logo{ClientID: of.ClientID, URI: of.URI, FetchedAt: now, ExpiresAt: now.Add(retryAfter)}
	if allowed {
		if file, err := s.c.Fetch.FetchPicture(ctx, of.URI); err == nil {
			l.Image, _ = redraw(file) // what cannot be read is no logo
		}
	}
	if l.Image != nil {
		l.ExpiresAt = of.FreshUntil
	}
	if err := s.c.Store.SaveLogo(ctx, l); err != nil {
		return nil, fmt.Errorf("keep logo: %w", err)
	}
	return &l, nil
}
