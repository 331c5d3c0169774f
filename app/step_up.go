package app

import (
	"context"

	"gatehouse/app/account"
	"gatehouse/app/home"
	"gatehouse/oauth"
)

// stepUp makes the check of a write through a connection against the sign-in that this server demands for it; nil when
// it demands none. Personal tokens are outside it: a person made them for a program of theirs.
func (a *App) stepUp(refuse func(scopes string, demand oauth.StepUp) error) func(context.Context, *home.Principal, string) error {
	if a.set.StepUp != "writes" {
		return nil
	}
	demand := oauth.StepUp{ACR: account.StrengthMulti, MaxAge: a.set.StepUpMaxAge}
	return func(_ context.Context, p *home.Principal, scopes string) error {
		if a.oauth.Meets(demand, p.ACR, p.AuthTime) {
			return nil
		}
		return refuse(scopes, demand)
	}
}
