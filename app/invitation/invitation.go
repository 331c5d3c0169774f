package invitation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"gatehouse/app/account"
	"gatehouse/app/home"
)

// life is how long an invitation stands.
const life = 7 * 24 * time.Hour

// maxOpen is how many open invitations a location may have.
const maxOpen = 50

// Invitation is one, accepted or not.
type Invitation struct {
	ID           string
	LocationID   string
	LocationName string
	Role         home.Role
	// Email is whom it is for; empty for whoever holds the link. Mailed says that the link went there and was shown to nobody.
	Email  string
	Mailed bool
	// InvitedBy is a person's id, InviterName their name.
	InvitedBy   string
	InviterName string
	CreatedAt   time.Time
	ExpiresAt   time.Time
}

// Row is an invitation with the hash of its link.
type Row struct {
	Invitation
	TokenHash []byte
}

// Guest is a new person who comes by an invitation, with an identity where they have no password.
type Guest struct {
	account.Credentials
	Identity *account.Identity
}

// Decide looks at what holds in the location when an invitation is made or accepted.
type Decide func(home.MemberFacts) (home.MemberChange, error)

// Store keeps invitations.
type Store interface {
	// InsertInvitation writes one, when decide agrees and the location has fewer than limit open ones; else ErrTooMany.
	InsertInvitation(ctx context.Context, r Row, limit int, decide func(home.MemberFacts) error) error
	// InvitationsOf lists the open ones of a location, the latest first.
	InvitationsOf(ctx context.Context, locationID string, now time.Time) ([]Invitation, error)
	// InvitationByHash and InvitationByID find an open one; else account.ErrLinkGone.
	InvitationByHash(ctx context.Context, hash []byte, now time.Time) (*Invitation, error)
	InvitationByID(ctx context.Context, id string, now time.Time) (*Invitation, error)
	// RenewInvitation gives an open one another link.
	RenewInvitation(ctx context.Context, id string, hash []byte, now time.Time) error
	// RevokeInvitation takes an open one back, when decide agrees; else account.ErrNotFound.
	RevokeInvitation(ctx context.Context, locationID, id string, now time.Time, decide func(home.MemberFacts) error) error
	// AcceptInvitation uses an open one up and makes what decide says of the person, in one step; with guest it writes the
	// new person first. One that is used up gives account.ErrLinkGone.
	AcceptInvitation(ctx context.Context, i Invitation, personID string, guest *Guest, now time.Time, decide Decide) error
}

// ErrTooMany says that a location has as many open invitations as it may.
var ErrTooMany = account.Refuse(account.CodeLimitReached, "", "This location has 50 open invitations. Take some back first.")

// Accounts makes new people; account.Service is one.
type Accounts interface {
	Prepare(ctx context.Context, n account.NewPerson) (*account.Credentials, error)
	NewIdentityOf(userID string, n account.NewIdentity) (*account.Identity, error)
}

// Config is what a Service works with.
type Config struct {
	Now       func() time.Time
	Rand      io.Reader
	Store     Store
	Accounts  Accounts
	PublicURL string
	// Mail sends the link of an invitation to its address; nil without mail.
	Mail func(ctx context.Context, i Invitation) error
}

// Service decides about invitations. It is safe for concurrent use.
type Service struct{ c Config }

// New makes the service.
func New(c Config) (*Service, error) {
	if c.Now == nil || c.Rand == nil || c.Store == nil || c.Accounts == nil {
		return nil, errors.New("invitation: Now, Rand, Store and Accounts are needed")
	}
	return &Service{c: c}, nil
}

func (s *Service) at() time.Time { return s.c.Now().UTC().Truncate(time.Millisecond) }

// NewInvitation is an invitation to be made.
type NewInvitation struct {
	LocationID string
	Role       home.Role
	// Email is empty for whoever holds the link.
	Email string
	// ByHand gives the link to the one who invites also where it could be mailed.
	ByHand bool
}

// Invite makes an invitation. The link is given to the one who invites, once, unless it went out by mail: then it is "".
func (s *Service) Invite(ctx context.Context, actorID string, n NewInvitation) (link string, err error) {
	if !n.Role.Valid() || n.Role == home.Owner {
		return "", account.Refuse(account.CodeValidation, "role", "must be admin, member or viewer")
	}
	if n.Email != "" {
		if n.Email, err = account.FoldEmail(n.Email); err != nil {
			return "", err
		}
	}
	link, hash, err := s.newLink()
	if err != nil {
		return "", err
	}
	now := s.at()
	id, err := account.NewID(now, s.c.Rand)
	if err != nil {
		return "", err
	}
	mailed := s.c.Mail != nil && n.Email != "" && !n.ByHand
	i := Invitation{ID: id, LocationID: n.LocationID, Role: n.Role, Email: n.Email, Mailed: mailed, InvitedBy: actorID, CreatedAt: now, ExpiresAt: now.Add(life)}
	err = s.c.Store.InsertInvitation(ctx, Row{i, hash}, maxOpen, func(f home.MemberFacts) error { return home.MayInvite(f, actorID, n.Role) })
	if err != nil {
		return "", home.Located("invite", err)
	}
	if !mailed {
		return link, nil
	}
	return "", s.c.Mail(ctx, i)
}

func (s *Service) newLink() (link string, hash []byte, err error) {
	token, hash, err := account.NewInvitationSecret(s.c.Rand)
	return s.c.PublicURL + "/invite?token=" + token, hash, err
}

// Relink makes the link of an open invitation anew, for the mail that carries it.
func (s *Service) Relink(ctx context.Context, id string) (*Invitation, string, error) {
	i, err := s.c.Store.InvitationByID(ctx, id, s.at())
	if err != nil {
		return nil, "", err
	}
	link, hash, err := s.newLink()
	if err != nil {
		return nil, "", err
	}
	return i, link, s.c.Store.RenewInvitation(ctx, id, hash, s.at())
}

// List lists a location's open invitations for somebody who may manage members; others see none.
func (s *Service) List(ctx context.Context, role home.Role, locationID string) ([]Invitation, error) {
	if home.GrantOf(role, home.MemberManage) != home.GrantFull {
		return nil, nil
	}
	return s.c.Store.InvitationsOf(ctx, locationID, s.at())
}

// Revoke takes an invitation back.
func (s *Service) Revoke(ctx context.Context, actorID, locationID, id string) error {
	err := s.c.Store.RevokeInvitation(ctx, locationID, id, s.at(), func(f home.MemberFacts) error {
		return home.MayInvite(f, actorID, home.Member)
	})
	if err != nil {
		return fmt.Errorf("revoke invitation: %w", err)
	}
	return nil
}

// Check gives the open invitation of a link; account.ErrLinkGone when there is none.
func (s *Service) Check(ctx context.Context, token string) (*Invitation, error) {
	hash, ok := account.ParseInvitationSecret(token)
	if !ok {
		return nil, account.ErrLinkGone
	}
	return s.c.Store.InvitationByHash(ctx, hash, s.at())
}

// ByID gives an open invitation whose link was shown before.
func (s *Service) ByID(ctx context.Context, id string) (*Invitation, error) {
	return s.c.Store.InvitationByID(ctx, id, s.at())
}

// Accept makes a person who is here a member.
func (s *Service) Accept(ctx context.Context, i *Invitation, personID string) error {
	return s.accept(ctx, i, personID, nil)
}

// AcceptNew makes a new person who is a member and has no location of their own. Their address counts as verified when the
// link was mailed to it.
func (s *Service) AcceptNew(ctx context.Context, i *Invitation, n account.NewPerson) (*account.Person, error) {
	return s.guest(ctx, i, n, nil)
}

// AcceptWithIdentity is AcceptNew for somebody who signs in at a provider; verified says that it vouches for the address.
func (s *Service) AcceptWithIdentity(ctx context.Context, i *Invitation, n account.NewPerson, identity account.NewIdentity, verified bool) (*account.Person, error) {
	n.NoPassword, n.Unverified = true, !verified
	return s.guest(ctx, i, n, &identity)
}

func (s *Service) guest(ctx context.Context, i *Invitation, n account.NewPerson, identity *account.NewIdentity) (*account.Person, error) {
	folded, err := account.FoldEmail(n.Email)
	if err != nil {
		return nil, err
	}
	n.Admin, n.Guest = false, true
	if identity == nil {
		n.NoPassword, n.Unverified = false, !i.Mailed || folded != i.Email
	}
	c, err := s.c.Accounts.Prepare(ctx, n)
	if err != nil {
		return nil, err
	}
	g := &Guest{Credentials: *c}
	if identity != nil {
		if g.Identity, err = s.c.Accounts.NewIdentityOf(c.ID, *identity); err != nil {
			return nil, err
		}
	}
	if err := s.accept(ctx, i, c.ID, g); err != nil {
		return nil, err
	}
	return &c.Person, nil
}

func (s *Service) accept(ctx context.Context, i *Invitation, personID string, g *Guest) error {
	err := s.c.Store.AcceptInvitation(ctx, *i, personID, g, s.at(), func(f home.MemberFacts) (home.MemberChange, error) {
		return home.JoinInvited(f, i.InvitedBy, personID, i.Role)
	})
	if err != nil {
		return home.Located("accept invitation", err)
	}
	return nil
}
