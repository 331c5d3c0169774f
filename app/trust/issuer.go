package trust

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gatehouse/app/account"
	"gatehouse/app/connection"
	"gatehouse/app/home"
	"gatehouse/oauth"
)

// Issuer is an identity provider that administrators trust.
type Issuer struct {
	// Issuer is its identifier, an https URL.
	Issuer string
	// Tenant, when set, is the only tenant whose people are taken.
	Tenant string
	// JWKSURI is where its public keys are published, JWKS the keys themselves; one of them is set.
	JWKSURI    string
	JWKS       json.RawMessage
	Algorithms []string
	// Domains are the domains of e-mail addresses that it owns: people with such an address are linked to it when they
	// come for the first time.
	Domains []string
	// CreatesPeople lets it make people who have an address of its domains and no account yet.
	CreatesPeople bool
	// SingleUse takes each assertion once.
	SingleUse bool
	// Scopes and Locations are what a person's first connection through it holds. Without locations it is the person's first.
	Scopes    []string
	Locations []string
	// IgnoredClaims are claims of its assertions that limit nothing.
	IgnoredClaims []string
	CreatedAt     time.Time
}

// Store keeps issuers.
type Store interface {
	// InsertIssuer writes an issuer; false when there is one of that identifier.
	InsertIssuer(ctx context.Context, i Issuer) (bool, error)
	// Issuers lists them by identifier.
	Issuers(ctx context.Context) ([]Issuer, error)
	// IssuerBy finds one, else ErrNotFound.
	IssuerBy(ctx context.Context, issuer string) (*Issuer, error)
	// DeleteIssuer removes one and ends the installations that stand on its assertions, in one step. False when there is none.
	DeleteIssuer(ctx context.Context, issuer string, at time.Time) (bool, error)
}

// Accounts are the people; account.Service is one.
type Accounts interface {
	IdentityPerson(ctx context.Context, issuer, tenant, subject string) (*account.Person, error)
	PersonByEmail(ctx context.Context, email string) (*account.Person, error)
	LinkIdentity(ctx context.Context, userID, keepSession string, n account.NewIdentity) error
	AddPersonWithIdentity(ctx context.Context, p account.NewPerson, n account.NewIdentity) (*account.Person, error)
}

// Homes are people's locations; home.Service is one.
type Homes interface {
	Choices(ctx context.Context, userID string) ([]home.Access, error)
}

// ErrNotFound says that there is no such issuer.
var ErrNotFound = errors.New("trust: no such issuer")

// Service decides about issuers and the people they vouch for. It is safe for concurrent use.
type Service struct {
	Store    Store
	Accounts Accounts
	Homes    Homes
	Now      func() time.Time
	// KnownScopes are the scopes that an issuer may give.
	KnownScopes []string
	// OwnIssuer is the identifier of this server, which cannot vouch to itself.
	OwnIssuer string
	// Linked and Made are told of a person who was linked to an issuer, or made by its word.
	Linked, Made func(ctx context.Context, userID, issuer string)
}

const maxList = 50

// Add checks and keeps an issuer. Refusals are *account.Refusal.
func (s *Service) Add(ctx context.Context, i Issuer) error {
	for n, domain := range i.Domains {
		i.Domains[n] = strings.ToLower(strings.TrimPrefix(strings.TrimSpace(domain), "@"))
	}
	if err := s.check(&i); err != nil {
		return err
	}
	i.CreatedAt = s.Now().UTC().Truncate(time.Millisecond)
	made, err := s.Store.InsertIssuer(ctx, i)
	if err == nil && !made {
		return account.Refuse(account.CodeConflict, "issuer", "This issuer is trusted already. Remove it first to change it.")
	}
	return err
}

func (s *Service) check(i *Issuer) error {
	refuse := func(field, hint string) error { return account.Refuse(account.CodeValidation, field, hint) }
	if err := oauth.CheckTrustedIssuer(&oauth.TrustedIssuer{Issuer: i.Issuer, JWKS: i.JWKS, JWKSURI: i.JWKSURI, Algorithms: i.Algorithms}); err != nil {
		return refuse("issuer", err.Error())
	}
	switch {
	case i.Issuer == s.OwnIssuer:
		return refuse("issuer", "This server cannot vouch to itself.")
	case len(i.Tenant) > 255:
		return refuse("tenant", "The tenant is too long.")
	case len(i.Scopes) == 0 || slices.ContainsFunc(i.Scopes, func(scope string) bool { return !slices.Contains(s.KnownScopes, scope) }):
		return refuse("scopes", "Choose what a first connection may do.")
	case slices.ContainsFunc(i.Domains, func(d string) bool { return !isDomain(d) }):
		return refuse("domains", "A domain looks like example.org.")
	case i.CreatesPeople && len(i.Domains) == 0:
		return refuse("domains", "An issuer that makes people needs the domains of their addresses.")
	case slices.ContainsFunc(i.IgnoredClaims, func(c string) bool { return c == "" || len(c) > 100 || strings.ContainsAny(c, " \t\r\n") }):
		return refuse("ignored_claims", "The name of a claim has no spaces.")
	case max(len(i.Domains), len(i.Locations), len(i.IgnoredClaims)) > maxList:
		return refuse("", "A list has more than 50 entries.")
	}
	if err := (connection.Terms{Locations: i.Locations}).Check(); err != nil {
		return refuse("locations", "A location is named by its id.")
	}
	return nil
}

// isDomain accepts host names with at least one dot.
func isDomain(d string) bool {
	return len(d) <= 253 && strings.Contains(strings.Trim(d, "."), ".") && !strings.HasPrefix(d, ".") && !strings.HasSuffix(d, ".") &&
		!strings.ContainsFunc(d, func(r rune) bool {
			return r != '-' && r != '.' && (r < 'a' || r > 'z') && (r < '0' || r > '9')
		})
}

// List lists the issuers.
func (s *Service) List(ctx context.Context) ([]Issuer, error) { return s.Store.Issuers(ctx) }

// Remove ends the trust in an issuer, at once for all that stands on it.
func (s *Service) Remove(ctx context.Context, issuer string) error {
	removed, err := s.Store.DeleteIssuer(ctx, issuer, s.Now().UTC().Truncate(time.Millisecond))
	if err != nil {
		return fmt.Errorf("remove issuer: %w", err)
	}
	if !removed {
		return ErrNotFound
	}
	return nil
}
