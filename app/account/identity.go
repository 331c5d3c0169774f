package account

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Identity is who a person is at another server. Issuer, tenant and subject together name one person there; they are
// compared byte by byte. The address is no part of it: addresses are given to other people.
type Identity struct {
	ID     string
	UserID string
	Issuer string
	// Tenant divides issuers that serve many organisations under one URL; empty otherwise.
	Tenant  string
	Subject string
	// Email is what the issuer said when the identity was linked.
	Email      string
	CreatedAt  time.Time
	LastUsedAt *time.Time
}

// NewIdentity is what an issuer vouches for.
type NewIdentity struct {
	Issuer, Tenant, Subject, Email string
}

// WaysIn are the ways in which a person can sign in.
type WaysIn struct {
	Password   bool
	Identities int
	Passkeys   int
}

// Any reports whether there is a way in at all.
func (w WaysIn) Any() bool { return w.Password || w.Identities > 0 || w.Passkeys > 0 }

// IdentityStore keeps upstream identities.
type IdentityStore interface {
	// LinkIdentity writes an identity and ends the person's access but the session to keep, in one step. It reports false
	// and changes nothing when the person has the identity already; another's gives ErrIdentityTaken.
	LinkIdentity(ctx context.Context, i Identity, keepSession string) (bool, error)
	// InsertPersonWithIdentity is InsertPerson with an identity.
	InsertPersonWithIdentity(ctx context.Context, c Credentials, first FirstLocation, i Identity) error
	// IdentityBy finds an identity of an enabled person; else ErrNotFound.
	IdentityBy(ctx context.Context, issuer, tenant, subject string) (*Identity, error)
	// IdentitiesOf lists a person's identities, the oldest first.
	IdentitiesOf(ctx context.Context, userID string) ([]Identity, error)
	// TouchIdentity writes down a use.
	TouchIdentity(ctx context.Context, id string, at time.Time) error
	// UnlinkIdentity removes an identity and ends the person's access but the session to keep, in one step, when decide
	// agrees to the ways in that are left.
	UnlinkIdentity(ctx context.Context, userID, id, keepSession string, at time.Time, decide func(left WaysIn) error) error
	// InsertIdentitySession writes a session while its person is enabled and has the identity; else ErrNotFound.
	InsertIdentitySession(ctx context.Context, n NewSession, identityID string) error
	// WaysInOf are the ways in which a person can sign in.
	WaysInOf(ctx context.Context, userID string) (WaysIn, error)
}

// Refusals about identities.
var (
	// ErrIdentityTaken says that the identity belongs to another person here.
	ErrIdentityTaken = Refuse(CodeConflict, "", "This identity belongs to another person here.")
	// ErrLastWayIn says that the person could not sign in any more.
	ErrLastWayIn = Refuse(CodeConflict, "", "This is the only way in which you can sign in. Set a password or link another identity first.")
)

// LinkIdentity makes an identity a person's. Whatever else is signed in as the person ends, but for one session: a new way
// in is a change of factors. One that is theirs already changes nothing.
func (s *Service) LinkIdentity(ctx context.Context, userID, keepSession string, n NewIdentity) error {
	i, err := s.newIdentity(userID, n)
	if err != nil {
		return err
	}
	made, err := s.store.LinkIdentity(ctx, *i, keepSession)
	if err != nil {
		return fmt.Errorf("link identity: %w", err)
	}
	if made {
		s.notifyByID(ctx, userID, NoticeLinked, n.Issuer)
	}
	return nil
}

// AddPersonWithIdentity makes a person who signs in with an identity, with their first location. Without a password
// none will match.
func (s *Service) AddPersonWithIdentity(ctx context.Context, p NewPerson, n NewIdentity) (*Person, error) {
	p.NoPassword = p.NoPassword || p.Password == ""
	c, first, err := s.prepare(ctx, p)
	if err != nil {
		return nil, err
	}
	i, err := s.newIdentity(c.ID, n)
	if err != nil {
		return nil, err
	}
	if err := s.store.InsertPersonWithIdentity(ctx, *c, *first, *i); err != nil {
		return nil, fmt.Errorf("add person: %w", err)
	}
	return &c.Person, nil
}

// IdentityPerson finds whose an identity is and writes down its use; ErrNotFound for nobody's and for that of a
// person who is disabled or about to be deleted.
func (s *Service) IdentityPerson(ctx context.Context, issuer, tenant, subject string) (*Person, error) {
	i, err := s.store.IdentityBy(ctx, issuer, tenant, subject)
	if err != nil {
		return nil, err
	}
	if err := s.store.TouchIdentity(ctx, i.ID, s.at()); err != nil {
		return nil, fmt.Errorf("find person of identity: %w", err)
	}
	p, err := s.store.PersonByID(ctx, i.UserID)
	if err == nil && p.DeletionDueAt != nil {
		return nil, ErrNotFound
	}
	return p, err
}

// Identities lists a person's identities.
func (s *Service) Identities(ctx context.Context, userID string) ([]Identity, error) {
	return s.store.IdentitiesOf(ctx, userID)
}

// WaysIn are the ways in which a person can sign in.
func (s *Service) WaysIn(ctx context.Context, userID string) (WaysIn, error) {
	return s.store.WaysInOf(ctx, userID)
}

// Unlink removes a person's identity, unless it is the last way in. Whatever else is signed in as the person ends, but for
// one session.
func (s *Service) Unlink(ctx context.Context, userID, keepSession, id string) error {
	err := s.store.UnlinkIdentity(ctx, userID, id, keepSession, s.at(), func(left WaysIn) error {
		if !left.Any() {
			return ErrLastWayIn
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("unlink identity: %w", err)
	}
	s.notifyByID(ctx, userID, NoticeUnlinked, "")
	return nil
}

// SignInWithIdentity opens a session for the person of an identity; the second result is the secret for its cookie.
// ErrNotFound when it is nobody's. provedAt is when the person proved who they are, where the issuer says so.
func (s *Service) SignInWithIdentity(ctx context.Context, n NewIdentity, provedAt time.Time, from Device) (*Session, string, error) {
	i, err := s.store.IdentityBy(ctx, n.Issuer, n.Tenant, n.Subject)
	if err != nil {
		return nil, "", err
	}
	p, err := s.store.PersonByID(ctx, i.UserID)
	if err != nil {
		return nil, "", err
	}
	row, secret, err := s.newSession(*p, from, MethodFederated)
	if err != nil {
		return nil, "", err
	}
	if provedAt.Before(row.AuthTime) && !provedAt.IsZero() {
		row.AuthTime = provedAt.UTC().Truncate(time.Millisecond)
	}
	if err := s.store.InsertIdentitySession(ctx, *row, i.ID); err != nil {
		return nil, "", fmt.Errorf("sign in with identity: %w", err)
	}
	return &row.Session, secret, nil
}

// NewIdentityOf makes the row of an identity for a person who is made with it.
func (s *Service) NewIdentityOf(userID string, n NewIdentity) (*Identity, error) {
	return s.newIdentity(userID, n)
}

func (s *Service) newIdentity(userID string, n NewIdentity) (*Identity, error) {
	for _, part := range []struct {
		value string
		min   int
		max   int
	}{{n.Issuer, 1, 2000}, {n.Tenant, 0, 255}, {n.Subject, 1, 255}} {
		if len(part.value) < part.min || len(part.value) > part.max || !utf8.ValidString(part.value) || strings.ContainsRune(part.value, 0) {
			return nil, Refuse(CodeValidation, "", "The identity is not one that can be kept.")
		}
	}
	email, err := FoldEmail(n.Email)
	if err != nil {
		email = "" // only shown
	}
	id, err := s.newID()
	if err != nil {
		return nil, err
	}
	return &Identity{ID: id, UserID: userID, Issuer: n.Issuer, Tenant: n.Tenant, Subject: n.Subject, Email: email, CreatedAt: s.at()}, nil
}
