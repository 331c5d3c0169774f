package main

import (
	"fmt"
	"io"
	"strings"

	"gatehouse/app"
)

type providerCmd struct {
	Add    providerAddCmd    `cmd:"" help:"Add a server at which people can sign in by OpenID Connect."`
	List   providerListCmd   `cmd:"" help:"List the providers."`
	Remove providerRemoveCmd `cmd:"" help:"Remove a provider."`
}

type providerAddCmd struct {
	Slug       string   `arg:"" help:"Short name for URLs: small letters, digits and dashes."`
	Issuer     string   `required:"" help:"Issuer URL, as in https://id.example. It must be reachable now."`
	ClientID   string   `name:"client-id" required:"" help:"The id that the provider gave for this server."`
	SecretFile string   `help:"File with the client secret, - for standard input. Default: a public client."`
	Name       string   `help:"Name on the button. Default: the short name."`
	Domain     []string `help:"E-mail domain for which the provider is trusted to open existing accounts. Can be repeated."`
	NewPeople  bool     `help:"Let new people sign up with it, as far as GATEHOUSE_SIGN_UP allows."`
}

// Run adds a provider.
func (c providerAddCmd) Run(e *env) error {
	n := app.NewProvider{Slug: c.Slug, Name: c.Name, Issuer: c.Issuer, ClientID: c.ClientID, Domains: c.Domain, SignUp: c.NewPeople}
	if n.Name == "" {
		n.Name = c.Slug
	}
	if c.SecretFile != "" {
		var err error
		if n.ClientSecret, err = readSecret(e.in, c.SecretFile); err != nil {
			return err
		}
	}
	return e.with(func(a *app.Admin) error {
		p, err := a.AddProvider(e.ctx, n)
		if err != nil {
			return err
		}
		return e.print(p, func(w io.Writer) {
			fmt.Fprintf(w, "Added %s. Enter this redirect URI at the provider:\n%s\n", app.PlainText(p.Name), p.Callback)
		})
	})
}

type providerListCmd struct{}

// Run lists the providers.
func (providerListCmd) Run(e *env) error {
	return e.with(func(a *app.Admin) error {
		list, err := a.Providers(e.ctx)
		if err != nil {
			return err
		}
		return e.print(list, func(w io.Writer) {
			rows := make([][]any, len(list))
			for i, p := range list {
				rows[i] = []any{p.Slug, p.Name, p.Issuer, p.ClientID, strings.Join(p.Domains, " "), p.SignUp, p.Callback}
			}
			table(w, "SLUG\tNAME\tISSUER\tCLIENT ID\tTRUSTED FOR\tSIGN-UP\tREDIRECT URI", rows)
		})
	})
}

type providerRemoveCmd struct {
	Slug  string `arg:"" help:"Short name of the provider."`
	Force bool   `help:"Also when people can sign in with nothing else."`
}

// Run removes a provider.
func (c providerRemoveCmd) Run(e *env) error {
	return e.with(func(a *app.Admin) error { return e.done(a.RemoveProvider(e.ctx, c.Slug, c.Force), "Removed.") })
}
