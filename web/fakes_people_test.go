package web_test

import (
	"context"

	"gatehouse/app/account"
	"gatehouse/app/upstream"
	"gatehouse/web"
)

// nobodyElse lets people in by password alone; its other methods are not called.
type nobodyElse struct {
	web.Persons
}

func (nobodyElse) SignUpRules() account.SignUpPolicy { return account.SignUpPolicy{} }

type someMembers = web.Members

type noMembers struct{ someMembers }

type noInvitations struct{ web.Invitations }

type noProviders struct{ web.Upstream }

func (noProviders) List(context.Context) ([]upstream.Provider, error) { return nil, nil }

type noLetters struct{ web.Letters }

func (noLetters) On() bool { return false }

func passwordsAlone() web.People {
	return web.People{Persons: nobodyElse{}, Members: noMembers{}, Invitations: noInvitations{}, Upstream: noProviders{}, Letters: noLetters{}}
}
