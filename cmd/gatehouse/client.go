package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"gatehouse/app"
)

type clientCmd struct {
	List    clientListCmd    `cmd:"" help:"List clients."`
	Add     clientAddCmd     `cmd:"" help:"Enter a client by hand and print its id, and its secret once."`
	Grant   clientGrantCmd   `cmd:"" help:"Give a client access for a person, without a consent page: a machine, or one that brings assertions."`
	Set     clientSetCmd     `cmd:"" help:"Change what a client may do and the rules for it; what is not named stays."`
	Approve clientApproveCmd `cmd:"" help:"Let people connect a client that waits for approval."`
	Refuse  clientRefuseCmd  `cmd:"" help:"Block a client that waits for approval."`
	Block   clientBlockCmd   `cmd:"" help:"Shut a client out."`
	Unblock clientUnblockCmd `cmd:"" help:"Let a client in again."`
	Delete  clientDeleteCmd  `cmd:"" help:"End a client's connections and forget it."`
}

type clientListCmd struct{}

// Run lists clients.
func (clientListCmd) Run(e *env) error {
	return e.with(func(a *app.Admin) error {
		list, err := a.Clients(e.ctx)
		if err != nil {
			return err
		}
		return e.print(list, func(w io.Writer) {
			rows := make([][]any, len(list))
			for i, c := range list {
				rows[i] = []any{c.Name, c.Kind, c.Host, c.Connections, c.LastSeenAt, c.PendingAt, c.BlockedAt, c.ID}
			}
			table(w, "NAME\tKIND\tHOST\tCONNECTIONS\tLAST SEEN\tWAITS SINCE\tBLOCKED\tID", rows)
		})
	})
}

type clientAddCmd struct {
	Name         string   `required:"" help:"Name to show."`
	RedirectURI  []string `name:"redirect-uri" help:"Redirect URI; may be repeated."`
	Confidential bool     `xor:"proof" help:"Give the client a secret."`
	JWKSURI      string   `name:"jwks-uri" xor:"proof" help:"The client signs its requests (private_key_jwt); its public keys are at this https URL."`
	JWKSFile     string   `name:"jwks-file" xor:"proof" help:"The client signs its requests (private_key_jwt); its public keys are in this file (a JWK Set)."`
	RequirePAR   bool     `name:"require-par" help:"The client must push its authorization requests (RFC 9126)."`
	Machine      bool     `help:"The client acts by its own credentials for the person of --acts-for, with --scope and --location."`
	IDJAG        bool     `name:"id-jag" help:"The client brings assertions of trusted issuers (see gatehouse issuer)."`
	DeviceGrant  bool     `name:"device-grant" help:"The client signs in devices without a browser: the person enters a code at /device."`
	DPoP         bool     `name:"dpop" help:"The client's tokens are always bound to its key (RFC 9449)."`
	grantFlags

	ApplicationType string   `enum:"web,native,auto" default:"auto" help:"web or native. Default: judged by the redirect URIs."`
	ClientURI       string   `name:"client-uri" help:"Home page of the client, https."`
	TOSURI          string   `name:"tos-uri" help:"Its terms of service, https."`
	PolicyURI       string   `name:"policy-uri" help:"Its privacy policy, https."`
	Contact         []string `help:"Whom to ask about it; may be repeated."`
	SoftwareID      string   `name:"software-id" help:"Id of the software."`
	SoftwareVersion string   `name:"software-version" help:"Version of the software."`
}

// Run enters a client.
func (c clientAddCmd) Run(e *env) error {
	n := app.NewClient{Name: c.Name, RedirectURIs: c.RedirectURI, Confidential: c.Confidential, JWKSURI: c.JWKSURI, RequirePushed: c.RequirePAR,
		DPoPBound: c.DPoP, ClientURI: c.ClientURI, TOSURI: c.TOSURI, PolicyURI: c.PolicyURI, Contacts: c.Contact, Scope: strings.Join(c.Scope, " "),
		SoftwareID: c.SoftwareID, SoftwareVersion: c.SoftwareVersion,
		Machine: c.Machine, Asserted: c.IDJAG, Devices: c.DeviceGrant}
	if c.Machine != (c.ActsFor != "") {
		return &app.UsageError{Message: "--machine and --acts-for belong together"}
	}
	if c.ApplicationType != "auto" {
		n.ApplicationType = c.ApplicationType
	}
	if c.JWKSFile != "" {
		keys, err := os.ReadFile(c.JWKSFile)
		if err != nil {
			return err
		}
		n.JWKS = keys
	}
	return e.with(func(a *app.Admin) error {
		id, secret, err := a.AddClient(e.ctx, n)
		if err != nil {
			return err
		}
		answer := map[string]string{"client_id": id}
		if c.Machine {
			_, resource, err := a.Grant(e.ctx, c.grant(id))
			if err != nil {
				return errors.Join(err, a.DeleteClient(e.ctx, id))
			}
			answer["resource"] = resource
		}
		if secret != "" {
			answer["client_secret"] = secret
		}
		return e.print(answer, func(w io.Writer) {
			fmt.Fprintln(w, "client_id    ", id)
			if secret != "" {
				fmt.Fprintln(w, "client_secret", secret)
			}
			if resource := answer["resource"]; resource != "" {
				fmt.Fprintln(w, "resource     ", resource)
			}
		})
	})
}

type clientBlockCmd struct {
	ID string `arg:"" help:"Client id."`
}

// Run blocks a client.
func (c clientBlockCmd) Run(e *env) error {
	return e.with(func(a *app.Admin) error { return e.done(a.BlockClient(e.ctx, c.ID), "Blocked.") })
}

type clientUnblockCmd struct {
	ID string `arg:"" help:"Client id."`
}

// Run lets a client in again.
func (c clientUnblockCmd) Run(e *env) error {
	return e.with(func(a *app.Admin) error { return e.done(a.UnblockClient(e.ctx, c.ID), "Unblocked.") })
}

type clientDeleteCmd struct {
	ID string `arg:"" help:"Client id."`
}

// Run deletes a client.
func (c clientDeleteCmd) Run(e *env) error {
	return e.with(func(a *app.Admin) error { return e.done(a.DeleteClient(e.ctx, c.ID), "Deleted.") })
}
