package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"gatehouse/app"
)

type issuerCmd struct {
	List   issuerListCmd   `cmd:"" help:"List the trusted issuers."`
	Add    issuerAddCmd    `cmd:"" help:"Trust an identity provider: clients get tokens for its people with its assertions (ID-JAG)."`
	Remove issuerRemoveCmd `cmd:"" help:"End the trust in an issuer, and what stands on its assertions."`
}

type issuerListCmd struct{}

// Run lists issuers.
func (issuerListCmd) Run(e *env) error {
	return e.with(func(a *app.Admin) error {
		list, err := a.Issuers(e.ctx)
		if err != nil {
			return err
		}
		return e.print(list, func(w io.Writer) {
			rows := make([][]any, len(list))
			for i, one := range list {
				keys := one.JWKSURI
				if keys == "" {
					keys = "entered by hand"
				}
				rows[i] = []any{one.Issuer, one.Tenant, keys, strings.Join(one.Algorithms, " "), strings.Join(one.Domains, " "), one.CreatesPeople,
					one.SingleUse, strings.Join(one.Scopes, " "), one.CreatedAt}
			}
			table(w, "ISSUER\tTENANT\tKEYS\tALGORITHMS\tDOMAINS\tCREATES PEOPLE\tSINGLE USE\tGIVES\tADDED", rows)
		})
	})
}

type issuerAddCmd struct {
	Issuer       string   `arg:"" help:"Identifier of the issuer, byte for byte the iss of its assertions (an https URL)."`
	JWKSURI      string   `name:"jwks-uri" xor:"keys" required:"" help:"Where its public keys are published (an https URL)."`
	JWKSFile     string   `name:"jwks-file" xor:"keys" required:"" help:"File with its public keys (a JWK Set)."`
	Algorithm    []string `default:"RS256,ES256" help:"Algorithms that its assertions may be signed with: RS256, PS256, ES256, EdDSA."`
	Tenant       string   `help:"Take people of this tenant alone."`
	Domain       []string `help:"Domain of e-mail addresses that the issuer owns: people with such an address are linked when they come first. May be repeated."`
	CreatePeople bool     `name:"create-people" help:"Make people who have an address of its domains and no account yet."`
	SingleUse    bool     `name:"single-use" help:"Take each assertion once. Clients may otherwise present one until it expires."`
	Scope        []string `default:"home:read" help:"What a person's first connection through the issuer may do; may be repeated."`
	Location     []string `help:"Location id where it may act, as far as the person belongs to it; may be repeated. Default: the person's first."`
	IgnoreClaim  []string `name:"ignore-claim" help:"Claim of its assertions that limits nothing; others that are unknown make an assertion refused. May be repeated."`
}

// Run adds an issuer.
func (c issuerAddCmd) Run(e *env) error {
	i := app.Issuer{Issuer: c.Issuer, Tenant: c.Tenant, JWKSURI: c.JWKSURI, Algorithms: c.Algorithm, Domains: c.Domain, CreatesPeople: c.CreatePeople,
		SingleUse: c.SingleUse, Scopes: c.Scope, Locations: c.Location, IgnoredClaims: c.IgnoreClaim}
	if c.JWKSFile != "" {
		keys, err := os.ReadFile(c.JWKSFile)
		if err != nil {
			return err
		}
		i.JWKS = keys
	}
	return e.with(func(a *app.Admin) error {
		return e.done(a.AddIssuer(e.ctx, i), fmt.Sprintf("Trusted: %s", app.PlainText(c.Issuer)))
	})
}

type issuerRemoveCmd struct {
	Issuer string `arg:"" help:"Identifier of the issuer."`
}

// Run removes an issuer.
func (c issuerRemoveCmd) Run(e *env) error {
	return e.with(func(a *app.Admin) error { return e.done(a.RemoveIssuer(e.ctx, c.Issuer), "Removed.") })
}
