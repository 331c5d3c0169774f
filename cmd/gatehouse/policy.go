package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"gatehouse/app"
)

type policyCmd struct {
	Show  policyShowCmd  `cmd:"" help:"Show what holds."`
	Set   policySetCmd   `cmd:"" help:"Change it; what is not named stays. It holds from the server's next request on, in place of the settings."`
	Reset policyResetCmd `cmd:"" help:"Forget what was saved: the server's settings hold again."`
}

type policyShowCmd struct{}

// Run shows the policy.
func (policyShowCmd) Run(e *env) error {
	return e.with(func(a *app.Admin) error {
		p, err := a.Policy(e.ctx)
		if err != nil {
			return err
		}
		return e.printPolicy(p)
	})
}

func (e *env) printPolicy(p app.Policy) error {
	return e.print(p, func(w io.Writer) {
		source := "settings of this command"
		if p.Saved {
			source = "saved"
		}
		hosts := func(list []string, none string) string {
			if len(list) == 0 {
				return none
			}
			return strings.Join(list, " ")
		}
		for _, line := range [][2]string{
			{"source", source}, {"registration", string(p.Registration)}, {"documents", onOff(p.ClientDocuments)},
			{"refuse-other-host", onOff(p.RefuseOtherHost)}, {"blocked-hosts", hosts(p.BlockedHosts, "none")},
			{"document-hosts", hosts(p.DocumentHosts, "all")}, {"redirect-hosts", hosts(p.RedirectHosts, "all")},
		} {
			fmt.Fprintf(w, "%-18s %s\n", line[0], app.PlainText(line[1]))
		}
	})
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

type policySetCmd struct {
	Registration    *string `help:"Who may register: open, token (with a registration token), approval (after yours) or off."`
	ClientDocuments *string `name:"documents" enum:"on,off" help:"Accept clients whose id is the URL of their document: on or off."`
	RefuseOtherHost *string `enum:"on,off" help:"Refuse answers to another host than that of a client's document, instead of warning: on or off."`
	BlockedHosts    *string `help:"Hosts that hold neither documents nor targets of answers, as in bad.example,*.worse.example. Empty: none."`
	DocumentHosts   *string `help:"The only hosts of client documents. Empty: all."`
	RedirectHosts   *string `help:"The only hosts that https answers go to. Empty: all."`
}

// Run changes the policy.
func (c policySetCmd) Run(e *env) error {
	return e.with(func(a *app.Admin) error {
		p, err := a.ChangePolicy(e.ctx, app.PolicyChange{
			Registration: c.Registration, ClientDocuments: isOn(c.ClientDocuments), RefuseOtherHost: isOn(c.RefuseOtherHost),
			BlockedHosts: c.BlockedHosts, DocumentHosts: c.DocumentHosts, RedirectHosts: c.RedirectHosts,
		})
		if err != nil {
			return err
		}
		return e.printPolicy(p)
	})
}

func isOn(word *string) *bool {
	if word == nil {
		return nil
	}
	on := *word == "on"
	return &on
}

type policyResetCmd struct{}

// Run takes the saved policy back.
func (policyResetCmd) Run(e *env) error {
	return e.with(func(a *app.Admin) error { return e.done(a.ResetPolicy(e.ctx), "Reset.") })
}

type registrationCmd struct {
	List   registrationListCmd   `cmd:"" help:"List registration tokens."`
	Add    registrationAddCmd    `cmd:"" help:"Make a registration token and print it once."`
	Revoke registrationRevokeCmd `cmd:"" help:"End a registration token; clients that registered with it stay."`
}

type registrationListCmd struct{}

// Run lists registration tokens.
func (registrationListCmd) Run(e *env) error {
	return e.with(func(a *app.Admin) error {
		list, err := a.RegistrationTokens(e.ctx)
		if err != nil {
			return err
		}
		return e.print(list, func(w io.Writer) {
			rows := make([][]any, len(list))
			for i, t := range list {
				uses := fmt.Sprint(t.Uses)
				if t.MaxUses > 0 {
					uses = fmt.Sprintf("%d of %d", t.Uses, t.MaxUses)
				}
				rows[i] = []any{t.Name, uses, t.CreatedAt, t.ExpiresAt, t.LastUsedAt, t.RevokedAt, t.ID}
			}
			table(w, "NAME\tUSED\tCREATED\tENDS\tLAST USED\tREVOKED\tID", rows)
		})
	})
}

type registrationAddCmd struct {
	Name string        `arg:"" help:"Who or what the token is for."`
	Uses int           `help:"How many clients may register with it. Default: any number."`
	Life time.Duration `default:"24h" help:"For how long it can be used, as in 720h. 0: until it is revoked."`
}

// Run makes a registration token.
func (c registrationAddCmd) Run(e *env) error {
	return e.with(func(a *app.Admin) error {
		t, err := a.AddRegistrationToken(e.ctx, c.Name, c.Uses, c.Life)
		if err != nil {
			return err
		}
		return e.print(t, func(w io.Writer) { fmt.Fprintln(w, t.Token) })
	})
}

type registrationRevokeCmd struct {
	ID string `arg:"" help:"Id of the token, from gatehouse registration list."`
}

// Run ends a registration token.
func (c registrationRevokeCmd) Run(e *env) error {
	return e.with(func(a *app.Admin) error { return e.done(a.RevokeRegistrationToken(e.ctx, c.ID), "Revoked.") })
}

type clientApproveCmd struct {
	ID string `arg:"" help:"Client id."`
}

// Run lets a waiting client in.
func (c clientApproveCmd) Run(e *env) error {
	return e.with(func(a *app.Admin) error { return e.done(a.ApproveClient(e.ctx, c.ID), "Approved.") })
}

type clientRefuseCmd struct {
	ID string `arg:"" help:"Client id."`
}

// Run blocks a waiting client.
func (c clientRefuseCmd) Run(e *env) error {
	return e.with(func(a *app.Admin) error { return e.done(a.RefuseClient(e.ctx, c.ID), "Refused. It is blocked.") })
}
