package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gatehouse/app/account"
	"gatehouse/app/fetch"
	"gatehouse/app/invitation"
	"gatehouse/app/mail"
	"gatehouse/app/sealing"
	"gatehouse/app/upstream"
	"gatehouse/templates/lang"
)

// setPeople checks the settings of who may come in.
func (s *settings) setPeople() error {
	s.signUp.Mode = s.SignUp
	for _, d := range s.SignUpDomains {
		folded, err := account.FoldDomain(d)
		if err != nil {
			return fmt.Errorf("GATEHOUSE_SIGN_UP_DOMAINS: %w", err)
		}
		s.signUp.Domains = append(s.signUp.Domains, folded)
	}
	if (s.SignUp == account.SignUpDomain) != (len(s.signUp.Domains) > 0) {
		return errors.New("GATEHOUSE_SIGN_UP=domain and GATEHOUSE_SIGN_UP_DOMAINS go together; set both or neither")
	}
	if s.DeletionWait < 0 || s.DeletionWait > 90*24*time.Hour {
		return errors.New("GATEHOUSE_DELETION_WAIT must be between 0 and 2160h")
	}
	if s.SMTPURL == "" {
		return nil
	}
	var err error
	if s.smtp, err = mail.ParseURL(s.SMTPURL); err != nil {
		return fmt.Errorf("GATEHOUSE_SMTP_URL: %w", err)
	}
	return nil
}

// buildWaysIn makes what brings people in: mail, invitations and providers.
func (c *core) buildWaysIn(sealer *sealing.Sealer) error {
	invitations := invitation.Config{Now: c.now, Rand: c.rand, Store: c.db, Accounts: c.accounts, PublicURL: c.set.publicURL}
	if c.set.smtp != nil {
		c.outbox = &mail.Outbox{Store: c.db, Sender: c.set.smtp, Compose: c.compose, Now: c.now, Rand: c.rand, Log: c.log, Wake: make(chan struct{}, 1)}
		invitations.Mail = c.mailInvitation
	}
	var err error
	if c.invitations, err = invitation.New(invitations); err != nil {
		return err
	}
	client, err := fetch.NewHTTP(fetch.Config{Allow: c.set.allow, CAFile: c.set.FetchCAFile})
	if err != nil {
		return fmt.Errorf("GATEHOUSE_FETCH_CA_FILE: %w", err)
	}
	c.upstream, err = upstream.New(upstream.Config{Now: c.now, Rand: c.rand, Store: c.db, Sealer: sealer, Accounts: c.accounts,
		Invitations: c.invitations, Client: client, PublicURL: c.set.publicURL})
	return err
}

// deleteDue deletes the people whose waiting time is over.
func (a *App) deleteDue(ctx context.Context) error {
	n, err := a.accounts.DeleteDue(ctx)
	if n > 0 {
		a.log.Info("accounts deleted after their waiting time", "count", n)
	}
	return err
}

// announceSignUp says what a sign-up policy cannot do as things are: who owns an address shows only by mail or at a provider.
func (a *App) announceSignUp(ctx context.Context) {
	if !a.set.signUp.Open() || a.outbox != nil {
		return
	}
	list, err := a.upstream.List(ctx)
	for _, p := range list {
		if p.SignUp {
			a.log.Info("without GATEHOUSE_SMTP_URL people sign up with a provider or by invitation alone", "sign_up", a.set.signUp.Mode)
			return
		}
	}
	if err == nil {
		a.log.Warn("nobody can sign up, except by invitation: set GATEHOUSE_SMTP_URL, or enter a provider with sign-up (gatehouse provider add --new-people)", "sign_up", a.set.signUp.Mode)
	}
}

// runMail sends mail until ctx ends; the function waits for the end.
func (a *App) runMail(ctx context.Context) (stop func()) {
	if a.outbox == nil {
		return func() {}
	}
	done := make(chan struct{})
	go func() { defer close(done); a.outbox.Run(ctx) }()
	return func() { <-done }
}

// put writes into the outbox, where there is one. Notices are about what has happened, so that one that cannot be written
// is logged and no failure.
func (c *core) put(ctx context.Context, m mail.Message) {
	if c.outbox == nil {
		return
	}
	if err := c.outbox.Put(context.WithoutCancel(ctx), m); err != nil {
		c.log.Error("a message to a person could not be written", "kind", m.Kind, "cause", err)
	}
}

func (c *core) notify(ctx context.Context, n account.Notice) {
	c.put(ctx, mail.Message{Kind: n.Kind, To: n.To, Name: n.Name, Locale: n.Locale, Detail: n.Detail})
}

func (c *core) mailInvitation(ctx context.Context, i invitation.Invitation) error {
	return c.outbox.Put(ctx, mail.Message{Kind: account.NoticeInvitation, To: i.Email, Ref: i.ID})
}

// letters asks for letters with links; web uses it where there is mail.
type letters struct{ *core }

// On reports whether there is mail.
func (l letters) On() bool { return l.outbox != nil }

// Reset asks for a letter with a reset link for whoever has the address. Whether anybody does shows only when it is written.
func (l letters) Reset(ctx context.Context, email string) error {
	return l.outbox.Put(ctx, mail.Message{Kind: account.NoticeReset, To: email})
}

// SignUp asks for a letter with a sign-up link.
func (l letters) SignUp(ctx context.Context, email, locale string) error {
	return l.outbox.Put(ctx, mail.Message{Kind: account.NoticeSignUp, To: email, Locale: locale})
}

// EmailChange asks for a letter that confirms another address of a person.
func (l letters) EmailChange(ctx context.Context, p account.Person, email string) error {
	return l.outbox.Put(ctx, mail.Message{Kind: account.NoticeEmailChange, To: email, Name: p.Name, Locale: p.Locale, UserID: p.ID})
}

// compose makes the letter of a message, with the link it needs. What no longer holds gives none.
func (c *core) compose(ctx context.Context, m mail.Message) (*mail.Letter, error) {
	in := mail.In(ctx, m.Locale)
	var w mail.Words
	var err error
	switch m.Kind {
	case account.NoticeReset:
		w, err = c.resetWords(in, &m)
	case account.NoticeSignUp:
		w, err = c.signUpWords(in, m)
	case account.NoticeEmailChange:
		w, err = c.emailChangeWords(in, m)
	case account.NoticeInvitation:
		w, err = c.invitationWords(in, m)
	default:
		w = c.noticeWords(in, m)
	}
	if account.CodeOf(err) != "" || w.Subject == "" && err == nil {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return mail.Write(mail.In(ctx, m.Locale), m.To, m.Name, w), nil
}

const linkHolds = "The link works once, for 24 hours. If you did not ask for it, nothing happens without it."

func (c *core) resetWords(ctx context.Context, m *mail.Message) (mail.Words, error) {
	p, err := c.accounts.PersonByEmail(ctx, m.To)
	if err != nil {
		return mail.Words{}, err
	}
	link, err := c.accounts.ResetLink(ctx, p.ID)
	if err != nil {
		return mail.Words{}, err
	}
	ctx = mail.In(ctx, p.Locale)
	m.Name, m.To, m.Locale = p.Name, p.Email, p.Locale
	return mail.Words{Subject: lang.T(ctx, "Set a new password for Gatehouse"), Link: link, After: lang.T(ctx, linkHolds),
		Lines: []string{lang.T(ctx, "Somebody asked for a new password for your account at {url}. Set it here:", "url", c.set.publicURL)}}, nil
}

func (c *core) signUpWords(ctx context.Context, m mail.Message) (mail.Words, error) {
	link, err := c.accounts.SignUpLink(ctx, m.To)
	if errors.Is(err, account.ErrEmailTaken) {
		return mail.Words{Subject: lang.T(ctx, "You have an account already"), Link: c.set.publicURL + "/signin",
			Lines: []string{lang.T(ctx, "Somebody, perhaps you, wanted to make an account for this address at {url}. There is one already. Sign in, or ask for a new password there:", "url", c.set.publicURL)}}, nil
	}
	if err != nil {
		return mail.Words{}, err
	}
	return mail.Words{Subject: lang.T(ctx, "Make your Gatehouse account"), Link: link, After: lang.T(ctx, linkHolds),
		Lines: []string{lang.T(ctx, "Go on here to make your account at {url}:", "url", c.set.publicURL)}}, nil
}

func (c *core) emailChangeWords(ctx context.Context, m mail.Message) (mail.Words, error) {
	link, err := c.accounts.EmailChangeLink(ctx, m.UserID, m.To)
	if err != nil {
		return mail.Words{}, err
	}
	return mail.Words{Subject: lang.T(ctx, "Confirm your new address"), Link: link, After: lang.T(ctx, linkHolds),
		Lines: []string{lang.T(ctx, "This address is to become the one you sign in with at {url}. Confirm it here:", "url", c.set.publicURL)}}, nil
}

func (c *core) invitationWords(ctx context.Context, m mail.Message) (mail.Words, error) {
	i, link, err := c.invitations.Relink(ctx, m.Ref)
	if err != nil {
		return mail.Words{}, err
	}
	return mail.Words{Subject: lang.T(ctx, "{person} invites you to {location}", "person", i.InviterName, "location", i.LocationName), Link: link,
		Lines: []string{lang.T(ctx, "{person} invites you to look after {location} with them at {url}. Join here:", "person", i.InviterName, "location", i.LocationName, "url", c.set.publicURL)},
		After: lang.T(ctx, "The link works once, for 7 days. If you do not know who this is, leave it alone.")}, nil
}

func (c *core) noticeWords(ctx context.Context, m mail.Message) mail.Words {
	notYou := lang.T(ctx, "If this was not you, ask your administrator for a reset link at once.")
	say := func(subject, text string) mail.Words {
		return mail.Words{Subject: subject, Lines: []string{text, notYou}, Link: c.set.publicURL + "/settings/account"}
	}
	switch m.Kind {
	case account.NoticePassword:
		return say(lang.T(ctx, "Your password was changed"), lang.T(ctx, "The password of your account was changed. Your other devices are signed out, and connections and personal tokens ended."))
	case account.NoticeEmail:
		return say(lang.T(ctx, "Your e-mail address was changed"), lang.T(ctx, "From now on you sign in with {email} instead of this address. Your other devices are signed out, and connections and personal tokens ended.", "email", m.Detail))
	case account.NoticeLinked:
		return say(lang.T(ctx, "A way to sign in was added"), lang.T(ctx, "Your account can now be opened with an identity at {issuer}. Your other devices are signed out, and connections and personal tokens ended.", "issuer", m.Detail))
	case account.NoticeUnlinked:
		return say(lang.T(ctx, "A way to sign in was removed"), lang.T(ctx, "Your account can no longer be opened with one of the identities that were linked. Your other devices are signed out, and connections and personal tokens ended."))
	case account.NoticeDeletion:
		return say(lang.T(ctx, "Your account will be deleted"), lang.T(ctx, "Your account will be deleted on {date}. Until then you can sign in and keep it.", "date", m.Detail))
	case account.NoticeKept:
		return say(lang.T(ctx, "Your account stays"), lang.T(ctx, "Your account will not be deleted after all."))
	}
	return mail.Words{}
}
