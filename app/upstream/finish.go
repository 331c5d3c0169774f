package upstream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gatehouse/app/account"
	"gatehouse/app/invitation"
)

// Result is what an answer came to.
type Result struct {
	Attempt Attempt
	// Session and Secret are a new session; nil after a link.
	Session *account.Session
	Secret  string
	// Linked says that an identity was linked to an account.
	Linked bool
}

// Refusals of people whom a provider vouches for.
var (
	// ErrStranger says that nobody here has the identity and no account may be made.
	ErrStranger = account.Refuse(account.CodeForbidden, "", "Nobody here has this identity. If you have an account, sign in to it another way and link the identity under Settings, Account. If not, ask for an invitation.")
	// ErrKnownAddress says that the address belongs to an account that the provider is not trusted to open.
	ErrKnownAddress = account.Refuse(account.CodeConflict, "", "An account with your e-mail address exists already. Sign in to it another way and link the identity under Settings, Account.")
	// ErrUnverified says that the provider does not vouch for the address.
	ErrUnverified = account.Refuse(account.CodeForbidden, "", "The provider does not say that your e-mail address is verified, so no account can be made with it.")
	// ErrOtherSession says that a link was begun by somebody who is no longer signed in here.
	ErrOtherSession = account.Refuse(account.CodeGone, "", "You are no longer signed in as when you began to link. Sign in and start again.")
)

// Finish takes a provider's answer. session is who is signed in in the browser, or nil. The attempt of the result is set
// also beside a refusal, when the answer belonged to one.
func (s *Service) Finish(ctx context.Context, slug string, a Answer, session *account.Session, from account.Device) (Result, error) {
	row, err := s.c.Store.ProviderBySlug(ctx, slug)
	if err != nil {
		return Result{}, err
	}
	attempt, err := s.take(ctx, row, a)
	if err != nil {
		return Result{}, err
	}
	result := Result{Attempt: *attempt}
	if a.Error != "" || a.Code == "" {
		return result, ErrDenied
	}
	if attempt.Purpose == PurposeLink && (session == nil || session.UserID != attempt.UserID) {
		return result, ErrOtherSession
	}
	identity, said, err := s.redeem(ctx, row, a)
	if err != nil {
		return result, err
	}
	if attempt.Purpose == PurposeLink {
		result.Linked = true
		return result, s.c.Accounts.LinkIdentity(ctx, session.UserID, session.ID, identity)
	}
	proved := time.Time{}
	if said.AuthTime > 0 {
		proved = time.Unix(said.AuthTime, 0)
	}
	result.Session, result.Secret, err = s.c.Accounts.SignInWithIdentity(ctx, identity, proved, from)
	if errors.Is(err, account.ErrNotFound) {
		if err = s.introduce(ctx, row, attempt, identity, said, &result); err == nil {
			result.Session, result.Secret, err = s.c.Accounts.SignInWithIdentity(ctx, identity, proved, from)
		}
		if errors.Is(err, account.ErrNotFound) { // theirs, and they are disabled
			err = ErrStranger
		}
		return result, err
	}
	if err == nil && attempt.Purpose == PurposeInvitation {
		err = s.accept(ctx, attempt, result.Session.UserID)
	}
	return result, err
}

// accept makes somebody who is here a member. One who is a member already just goes on.
func (s *Service) accept(ctx context.Context, attempt *Attempt, userID string) error {
	i, err := s.c.Invitations.ByID(ctx, attempt.InvitationID)
	if err != nil {
		return err
	}
	if err := s.c.Invitations.Accept(ctx, i, userID); account.CodeOf(err) != account.CodeConflict {
		return err
	}
	return nil
}

// introduce finds or makes the person of an identity that nobody has.
func (s *Service) introduce(ctx context.Context, row *Row, attempt *Attempt, identity account.NewIdentity, said claims, result *Result) error {
	email, err := account.FoldEmail(said.Email)
	if err != nil {
		email = ""
	}
	verified := bool(said.EmailVerified) && email != ""
	var i *invitation.Invitation
	if attempt.Purpose == PurposeInvitation {
		if i, err = s.c.Invitations.ByID(ctx, attempt.InvitationID); err != nil {
			return err
		}
	}
	if email != "" {
		p, err := s.c.Accounts.PersonByEmail(ctx, email)
		switch {
		case err == nil:
			return s.open(ctx, row, p, i, identity, verified, result)
		case !errors.Is(err, account.ErrNotFound):
			return fmt.Errorf("look for person: %w", err)
		}
	}
	person := account.NewPerson{Email: email, Name: nameOf(said.Name), NoPassword: true}
	if i != nil {
		_, err := s.c.Invitations.AcceptWithIdentity(ctx, i, person, identity, verified)
		return err
	}
	switch {
	case !row.SignUp || !s.c.Accounts.SignUpRules().Open():
		return ErrStranger
	case !verified:
		return ErrUnverified
	case !s.c.Accounts.SignUpRules().Allows(email):
		return ErrStranger
	}
	_, err = s.c.Accounts.SignUpWithIdentity(ctx, person, identity)
	return err
}

// open links an identity to an account that has its address, when the provider is trusted for that. The account's address
// must have been verified too: otherwise somebody could have made the account to have the owner walk into it.
func (s *Service) open(ctx context.Context, row *Row, p *account.Person, i *invitation.Invitation, identity account.NewIdentity, verified bool, result *Result) error {
	if !verified || !slices.Contains(row.Domains, account.DomainOf(p.Email)) || p.EmailVerifiedAt == nil || p.Disabled() {
		return ErrKnownAddress
	}
	if err := s.c.Accounts.LinkIdentity(ctx, p.ID, "", identity); err != nil {
		return err
	}
	result.Linked = true
	if i == nil {
		return nil
	}
	return s.c.Invitations.Accept(ctx, i, p.ID)
}

// nameOf is what a provider calls somebody, as far as it can be a name here; empty lets the address name them.
func nameOf(name string) string {
	clean, err := account.CleanName("name", strings.TrimSpace(name), 80)
	if err != nil {
		return ""
	}
	return clean
}
