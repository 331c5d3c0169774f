package account

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Ways of signing up.
const (
	SignUpClosed = "closed"
	SignUpOpen   = "open"
	SignUpDomain = "domain"
)

// SignUpPolicy says who may make an account of their own.
type SignUpPolicy struct {
	// Mode is SignUpClosed (or empty), SignUpOpen or SignUpDomain.
	Mode string
	// Domains are those of SignUpDomain, folded.
	Domains []string
}

// Open reports whether anybody at all may sign up.
func (p SignUpPolicy) Open() bool { return p.Mode == SignUpOpen || p.Mode == SignUpDomain }

// Allows reports whether the owner of a folded address may sign up.
func (p SignUpPolicy) Allows(email string) bool {
	return p.Mode == SignUpOpen || p.Mode == SignUpDomain && slices.Contains(p.Domains, DomainOf(email))
}

// DomainOf is the part of a folded address behind the @.
func DomainOf(email string) string { return email[strings.LastIndexByte(email, '@')+1:] }

// FoldDomain brings a domain into the form that folded addresses carry.
func FoldDomain(domain string) (string, error) {
	email, err := FoldEmail("x@" + domain)
	if err != nil {
		return "", fmt.Errorf("%q is not a domain such as example.org", domain)
	}
	return DomainOf(email), nil
}

// SignUpRules is the policy in force.
func (s *Service) SignUpRules() SignUpPolicy { return s.signUp }

var errSignUpClosed = Refuse(CodeForbidden, "email", "Nobody can sign up here with this address. Ask for an invitation.")

// SignUpLink makes the link with which the owner of an address makes an account. Earlier ones of the address stop working.
// An address that may not sign up gives a refusal, one with an account ErrEmailTaken.
func (s *Service) SignUpLink(ctx context.Context, email string) (string, error) {
	folded, err := FoldEmail(email)
	if err != nil {
		return "", err
	}
	if !s.signUp.Allows(folded) {
		return "", errSignUpClosed
	}
	switch _, err := s.store.CredentialsByEmail(ctx, folded); {
	case err == nil:
		return "", ErrEmailTaken
	case !notFound(err):
		return "", fmt.Errorf("make sign-up link: %w", err)
	}
	l, token, err := s.newAddressLink("", folded, prefixSignUp)
	if err != nil {
		return "", err
	}
	if err := s.store.AddAddressLink(ctx, *l); err != nil {
		return "", fmt.Errorf("make sign-up link: %w", err)
	}
	return s.url + "/signup/confirm?token=" + token, nil
}

// CheckSignUp says whose sign-up a link confirms; ErrLinkGone when it cannot be used.
func (s *Service) CheckSignUp(ctx context.Context, token string) (email string, err error) {
	if !wellFormed(token, prefixSignUp) {
		return "", ErrLinkGone
	}
	l, err := s.store.AddressLinkOpen(ctx, hashSecret(token), s.at())
	if err != nil {
		return "", err
	}
	if !s.signUp.Allows(l.Email) { // the policy changed since
		return "", ErrLinkGone
	}
	return l.Email, nil
}

// CompleteSignUp uses a sign-up link: it makes a person with the link's address and their first location. n.Email is not
// asked.
func (s *Service) CompleteSignUp(ctx context.Context, token string, n NewPerson) (*Person, error) {
	email, err := s.CheckSignUp(ctx, token)
	if err != nil {
		return nil, err
	}
	n.Email, n.Admin, n.Unverified = email, false, false
	c, first, err := s.prepare(ctx, n)
	if err != nil {
		return nil, err
	}
	if err := s.store.CompleteSignUp(ctx, hashSecret(token), *c, *first); err != nil {
		return nil, fmt.Errorf("complete sign-up: %w", err)
	}
	return &c.Person, nil
}

// SignUpWithIdentity makes a person from what a provider says. The address must be verified there and may sign up here.
func (s *Service) SignUpWithIdentity(ctx context.Context, p NewPerson, n NewIdentity) (*Person, error) {
	folded, err := FoldEmail(p.Email)
	if err != nil {
		return nil, err
	}
	if !s.signUp.Allows(folded) {
		return nil, errSignUpClosed
	}
	p.Admin, p.Unverified = false, false
	return s.AddPersonWithIdentity(ctx, p, n)
}
