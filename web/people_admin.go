package web

import (
	"context"

	"gatehouse/app/account"
)

// PeopleAdmin is what administrators do with people.
type PeopleAdmin interface {
	// PersonByEmail finds a person however the address is written.
	PersonByEmail(ctx context.Context, email string) (*account.Person, error)
	PersonByID(ctx context.Context, id string) (*account.Person, error)
	ListPeople(ctx context.Context, f account.PeopleFilter) (list []account.Person, more bool, err error)
	// AddWithLink adds a person and gives the one-time link with which they set a password.
	AddWithLink(ctx context.Context, n account.NewPerson) (*account.Person, string, error)
	SetAdministrator(ctx context.Context, id string, admin bool) error
	DisablePerson(ctx context.Context, id string) error
	EnablePerson(ctx context.Context, id string) error
	ResetLink(ctx context.Context, id string) (string, error)
}
