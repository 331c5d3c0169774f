package account

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"gatehouse/app/limit"
)

// Store is everything the service keeps; each part stands beside its use.
type Store interface {
	PersonStore
	PasswordStore
	SessionStore
	LinkStore
	IdentityStore
	TokenStore
	AdministrationStore
}

// Config is what a Service works with.
type Config struct {
	Now  func() time.Time
	Rand io.Reader
	// Store keeps people, sessions, links and tokens.
	Store Store
	// SignIns slows down guessing.
	SignIns *limit.SignIns
	// PublicURL is the address that one-time links begin with, without a trailing slash.
	PublicURL string
	// BearerAllowed is false while the public URL is plain http beyond this computer: a personal token would travel
	// readable, so none is made.
	BearerAllowed bool
	// Passwords says how hard passwords are hashed; the zero value means the defaults.
	Passwords PasswordParams
	// Hasher replaces Argon2id; nil outside tests.
	Hasher Hasher
}

// Service decides about people. It is safe for concurrent use.
type Service struct {
	now     func() time.Time
	rand    io.Reader
	store   Store
	signIns *limit.SignIns
	url     string
	bearer  bool
	hasher  Hasher
}

// New makes the service.
func New(c Config) (*Service, error) {
	if c.Now == nil || c.Rand == nil || c.Store == nil || c.SignIns == nil {
		return nil, errors.New("account: Now, Rand, Store and SignIns are needed")
	}
	if c.Hasher == nil {
		h, err := newArgon2(c.Passwords)
		if err != nil {
			return nil, fmt.Errorf("account: %w", err)
		}
		c.Hasher = h
	}
	return &Service{
		now: c.Now, rand: c.Rand, store: c.Store, signIns: c.SignIns,
		url: strings.TrimSuffix(c.PublicURL, "/"), bearer: c.BearerAllowed, hasher: c.Hasher,
	}, nil
}

// at is the present moment in the form in which it is stored.
func (s *Service) at() time.Time { return s.now().UTC().Truncate(time.Millisecond) }

func (s *Service) newID() (string, error) { return NewID(s.at(), s.rand) }

func itoa(n int) string { return strconv.Itoa(n) }
