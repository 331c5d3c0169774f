package web

import (
	"context"

	"gatehouse/app/account"
)

// PeopleAdmin is what administrators do with people.
type PeopleAdmin interface {
	// PersonByEmail finds a person however the address is written.
	PersonByEmail(ctx context.Context, email string) (*account.Person, error)
}
