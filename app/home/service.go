package home

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"gatehouse/app/account"
)

// Store is everything the service keeps; each part stands beside its use.
type Store interface {
	LocationStore
	MemberStore
	ModuleStore
	PrincipalStore
}

// Config is what a Service works with.
type Config struct {
	Now   func() time.Time
	Rand  io.Reader
	Store Store
}

// Service decides about locations. It is safe for concurrent use.
type Service struct {
	now   func() time.Time
	rand  io.Reader
	store Store
}

// New makes the service.
func New(c Config) (*Service, error) {
	if c.Now == nil || c.Rand == nil || c.Store == nil {
		return nil, errors.New("home: Now, Rand and Store are needed")
	}
	return &Service{now: c.Now, rand: c.Rand, store: c.Store}, nil
}

func (s *Service) at() time.Time { return s.now().UTC().Truncate(time.Millisecond) }

// errNoLocation is the one answer about a location that is not there or not the asker's.
func errNoLocation() error {
	return account.Refuse(account.CodeNotFound, "location_id", "There is no such location.")
}

// located says which operation failed, and turns a store's missing location into the answer about one.
func located(what string, err error) error {
	if errors.Is(err, account.ErrNotFound) {
		err = errNoLocation()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

func errForbidden(hint string) error { return account.Refuse(account.CodeForbidden, "", hint) }

// PrincipalStore reads who acts.
type PrincipalStore interface {
	// PrincipalByPersonalToken reads, in one statement, who acts with the token of that lookup and hash, with the locations
	// that the token names and its person belongs to now. A token that is unknown, revoked or expired, or whose person is
	// disabled, gives account.ErrUnauthorized.
	PrincipalByPersonalToken(ctx context.Context, lookup string, hash []byte, now time.Time) (*Principal, error)
	// AccessOf reads a person's standing in all their locations.
	AccessOf(ctx context.Context, userID string) ([]Access, error)
}

// PrincipalByToken reads who acts with a personal token; account.ErrUnauthorized for one that is none or dead.
func (s *Service) PrincipalByToken(ctx context.Context, token string) (*Principal, error) {
	lookup, hash, ok := account.ParseToken(token)
	if !ok {
		return nil, account.ErrUnauthorized
	}
	return s.store.PrincipalByPersonalToken(ctx, lookup, hash, s.now())
}

// PrincipalOfPerson is somebody who acts in a browser themselves, with all their locations.
func (s *Service) PrincipalOfPerson(ctx context.Context, p account.Person) (*Principal, error) {
	list, err := s.store.AccessOf(ctx, p.ID)
	if err != nil {
		return nil, fmt.Errorf("read locations of a person: %w", err)
	}
	return &Principal{UserID: p.ID, UserName: p.Name, Actor: ActorSession, Locations: list, Via: "web"}, nil
}

// Choices are the locations that a person can hand to an AI app: those whose door for them is open.
func (s *Service) Choices(ctx context.Context, userID string) ([]Access, error) {
	list, err := s.store.AccessOf(ctx, userID)
	if err != nil {
		return nil, fmt.Errorf("read locations of a person: %w", err)
	}
	open := list[:0]
	for _, a := range list {
		if a.HasModule(ModuleMCP) {
			open = append(open, a)
		}
	}
	return open, nil
}
