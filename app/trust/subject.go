package trust

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gatehouse/app/account"
	"gatehouse/app/connection"
	"gatehouse/oauth"
)

// ResolveSubject implements oauth.SubjectResolver.
func (s *Service) ResolveSubject(ctx context.Context, subject oauth.AssertedSubject) (*oauth.ResolvedSubject, error) {
	issuer, err := s.Store.IssuerBy(ctx, subject.Issuer)
	if errors.Is(err, ErrNotFound) {
		return nil, oauth.ErrNotFound // removed a moment ago
	}
	if err != nil {
		return nil, err
	}
	person, err := s.person(ctx, issuer, subject)
	if err != nil {
		return nil, err
	}
	terms, err := s.terms(ctx, issuer, person.ID)
	if err != nil {
		return nil, err
	}
	return &oauth.ResolvedSubject{UserID: person.ID, Scopes: issuer.Scopes, Terms: terms}, nil
}

// person finds whom the issuer means: by the identity, else, once, by the address.
func (s *Service) person(ctx context.Context, issuer *Issuer, subject oauth.AssertedSubject) (*account.Person, error) {
	person, err := s.Accounts.IdentityPerson(ctx, subject.Issuer, subject.Tenant, subject.Subject)
	if err == nil && person.DeletionDueAt != nil {
		return nil, oauth.ErrNotFound // the account is on its way out
	}
	if err == nil || !errors.Is(err, account.ErrNotFound) {
		return person, err
	}
	if !issuer.owns(subject) {
		return nil, oauth.ErrNotFound
	}
	identity := account.NewIdentity{Issuer: subject.Issuer, Tenant: subject.Tenant, Subject: subject.Subject, Email: subject.Email}
	person, err = s.Accounts.PersonByEmail(ctx, subject.Email)
	switch {
	case errors.Is(err, account.ErrNotFound):
		return s.make(ctx, issuer, subject, identity)
	case err != nil:
		return nil, err
	case person.Disabled() || person.DeletionDueAt != nil || person.EmailVerifiedAt == nil:
		return nil, oauth.ErrNotFound // an address that somebody only typed is no bridge into their account
	}
	// Of two requests at one moment the other may have made this person, with the identity, since it was looked for.
	made, err := s.Accounts.IdentityPerson(ctx, subject.Issuer, subject.Tenant, subject.Subject)
	if err == nil || !errors.Is(err, account.ErrNotFound) {
		return made, err
	}
	err = s.Accounts.LinkIdentity(ctx, person.ID, "", identity)
	if errors.Is(err, account.ErrIdentityTaken) || errors.Is(err, account.ErrNotFound) {
		return nil, oauth.ErrNotFound // of somebody who is disabled, or became so
	}
	if err != nil {
		return nil, err
	}
	s.Linked(ctx, person.ID, issuer.Issuer)
	return person, nil
}

// make makes a person, where the issuer may. Of two requests at one moment the loser finds the winner's person.
func (s *Service) make(ctx context.Context, issuer *Issuer, subject oauth.AssertedSubject, identity account.NewIdentity) (*account.Person, error) {
	if !issuer.CreatesPeople {
		return nil, oauth.ErrNotFound
	}
	name, err := account.CleanName("name", subject.Name, 80)
	if err != nil {
		name = "" // then it is the beginning of the address
	}
	person, err := s.Accounts.AddPersonWithIdentity(ctx, account.NewPerson{Email: subject.Email, Name: name, NoPassword: true}, identity)
	if account.CodeOf(err) == account.CodeConflict {
		person, err = s.Accounts.IdentityPerson(ctx, subject.Issuer, subject.Tenant, subject.Subject)
		if errors.Is(err, account.ErrNotFound) {
			err = oauth.ErrNotFound
		}
		return person, err
	}
	if account.CodeOf(err) == account.CodeValidation {
		return nil, oauth.ErrNotFound // an address that nobody can have
	}
	if err != nil {
		return nil, fmt.Errorf("make person of an issuer: %w", err)
	}
	s.Made(ctx, person.ID, issuer.Issuer)
	return person, nil
}

// owns reports whether the issuer may speak for the address: it owns the domain and checked the address.
func (i *Issuer) owns(subject oauth.AssertedSubject) bool {
	email, err := account.FoldEmail(subject.Email)
	if err != nil || subject.EmailUnverified {
		return false
	}
	_, domain, _ := strings.Cut(email, "@")
	return slices.Contains(i.Domains, strings.ToLower(domain))
}

// terms are those of a first connection: the issuer's locations that the person belongs to, else the person's first.
func (s *Service) terms(ctx context.Context, issuer *Issuer, userID string) ([]byte, error) {
	list, err := s.Homes.Choices(ctx, userID)
	if err != nil {
		return nil, err
	}
	var t connection.Terms
	for _, a := range list {
		if slices.Contains(issuer.Locations, a.LocationID) {
			t.Locations = append(t.Locations, a.LocationID)
		}
	}
	if len(issuer.Locations) == 0 && len(list) > 0 {
		t.Locations = []string{list[0].LocationID}
	}
	return t.Encode()
}
