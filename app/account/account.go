package account

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/go-webauthn/webauthn/webauthn"

	"gatehouse/app/limit"
)

// Store is everything the service keeps; each part stands beside its use.
type Store interface {
	PersonStore
	PasswordStore
	SessionStore
	LinkStore
	IdentityStore
	FactorStore
	AddressStore
	DeletionStore
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
	// SignUp says who may make an account of their own; the zero value means nobody.
	SignUp SignUpPolicy
	// DeletionWait is the time between the wish to be deleted and the deletion.
	DeletionWait time.Duration
	// Notify is told of what a person should hear of; nil for nobody.
	Notify func(context.Context, Notice)
	// Hasher replaces Argon2id; nil outside tests.
	Hasher Hasher
	// Sealer seals the seeds of authenticator apps; without one there are none.
	Sealer Sealer
	// Record is told what is worth a line in the record; it may be nil.
	Record func(ctx context.Context, h Happening)
}

// Sealer encrypts a small secret for one purpose and row; sealing.Sealer is one.
type Sealer interface {
	Seal(purpose, id string, plain []byte) ([]byte, error)
	Open(purpose, id string, sealed []byte) ([]byte, error)
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
	sealer  Sealer
	record  func(ctx context.Context, h Happening)
	// host is the public URL's; party checks passkeys and is nil where there can be none.
	host   string
	party  *webauthn.WebAuthn
	signUp SignUpPolicy
	wait   time.Duration
	tell   func(context.Context, Notice)
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
	party, err := newRelyingParty(c.PublicURL)
	if err != nil {
		return nil, fmt.Errorf("account: %w", err)
	}
	return &Service{
		sealer: c.Sealer, record: c.Record, host: hostOf(c.PublicURL), party: party,
		now: c.Now, rand: c.Rand, store: c.Store, signIns: c.SignIns,
		signUp: c.SignUp, wait: c.DeletionWait, tell: c.Notify,
		url: strings.TrimSuffix(c.PublicURL, "/"), bearer: c.BearerAllowed, hasher: c.Hasher,
	}, nil
}

// at is the present moment in the form in which it is stored.
func (s *Service) at() time.Time { return s.now().UTC().Truncate(time.Millisecond) }

func (s *Service) newID() (string, error) { return NewID(s.at(), s.rand) }

func itoa(n int) string { return strconv.Itoa(n) }
