package account

import (
	"context"
	"time"
)

// PeopleFilter says which people to list, by address. Empty fields do not narrow.
type PeopleFilter struct {
	// Text is a part of the address or the name.
	Text string
	// Administrators and Disabled list those alone.
	Administrators, Disabled bool
	Offset, Limit            int
}

// AdministrationStore is what administrators do with people.
type AdministrationStore interface {
	// ListPeople lists people by address.
	ListPeople(ctx context.Context, f PeopleFilter) ([]Person, error)
	// SetAdministrator makes a person an administrator or takes that away; the only administrator left gives ErrLastAdmin.
	SetAdministrator(ctx context.Context, id string, admin bool, at time.Time) error
}

// ListPeople lists people. more says that the list goes on behind the limit.
func (s *Service) ListPeople(ctx context.Context, f PeopleFilter) (list []Person, more bool, err error) {
	want := f.Limit
	f.Limit++
	list, err = s.store.ListPeople(ctx, f)
	if err != nil {
		return nil, false, err
	}
	return list[:min(len(list), want)], len(list) > want, nil
}

// SetAdministrator makes a person an administrator or takes that away; it holds from their next request.
func (s *Service) SetAdministrator(ctx context.Context, id string, admin bool) error {
	return wrap("change administrator", s.store.SetAdministrator(ctx, id, admin, s.at()))
}

// AddWithLink adds a person without a password, and makes the one-time link that sets one.
func (s *Service) AddWithLink(ctx context.Context, n NewPerson) (*Person, string, error) {
	n.NoPassword = true
	p, err := s.AddPerson(ctx, n)
	if err != nil {
		return nil, "", err
	}
	link, err := s.ResetLink(ctx, p.ID)
	return p, link, err
}
