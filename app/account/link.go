package account

import (
	"context"
	"fmt"
	"time"
)

// linkLife is how long a one-time link works.
const linkLife = 24 * time.Hour

// setupLinks is how many setup links work at once. A program that is restarted over and over must not pile them up.
const setupLinks = 10

// Link is a one-time link: setup (makes the first administrator) or reset (another password for its person).
type Link struct {
	ID string
	// UserID is empty for a setup link.
	UserID    string
	TokenHash []byte
	CreatedAt time.Time
	ExpiresAt time.Time
}

// LinkStore keeps one-time links. A link is used up by one conditional update.
type LinkStore interface {
	// AddSetupLink writes a setup link beside at most keep-1 earlier ones that still work, while there is no person. It
	// reports whether it did.
	AddSetupLink(ctx context.Context, l Link, keep int) (bool, error)
	// ReplaceResetLink writes a reset link in place of the person's earlier ones; ErrNotFound for a disabled person.
	ReplaceResetLink(ctx context.Context, l Link) error
	// LinkOpen reports whether a link of either kind (by userID being empty or not) can still be used, and by whom.
	SetupLinkOpen(ctx context.Context, hash []byte, now time.Time) error
	ResetLinkOpen(ctx context.Context, hash []byte, now time.Time) (*Person, error)
	// CompleteSetup uses up a setup link and writes the first person with their location in one step; ErrLinkGone when it
	// cannot be used or there is a person by now.
	CompleteSetup(ctx context.Context, hash []byte, c Credentials, first FirstLocation) error
	// CompleteReset uses up a reset link and does what ChangePassword does, in one step; ErrLinkGone when it cannot.
	CompleteReset(ctx context.Context, hash []byte, c PasswordChange) error
}

// EnsureSetupLink makes the link with which the first administrator is made, while there is no person in the database;
// otherwise it gives "". Processes that start on one database each print a link of their own, and any of them may be the one
// whose output somebody reads: so the latest links work until one of them is used or there is a person.
func (s *Service) EnsureSetupLink(ctx context.Context) (string, error) {
	l, token, err := s.newLink("", prefixSetup)
	if err != nil {
		return "", err
	}
	made, err := s.store.AddSetupLink(ctx, *l, setupLinks)
	if err != nil {
		return "", fmt.Errorf("make setup link: %w", err)
	}
	if !made {
		return "", nil
	}
	return s.url + "/setup?token=" + token, nil
}

// CheckSetup says whether a setup link can still be used; ErrLinkGone when not.
func (s *Service) CheckSetup(ctx context.Context, token string) error {
	if !wellFormed(token, prefixSetup) {
		return ErrLinkGone
	}
	return s.store.SetupLinkOpen(ctx, hashSecret(token), s.at())
}

// CompleteSetup uses a setup link: it makes the first administrator with their first location. n.Admin is not asked.
func (s *Service) CompleteSetup(ctx context.Context, token string, n NewPerson) (*Person, error) {
	if err := s.CheckSetup(ctx, token); err != nil {
		return nil, err
	}
	n.Admin = true
	c, first, err := s.prepare(ctx, n)
	if err != nil {
		return nil, err
	}
	if err := s.store.CompleteSetup(ctx, hashSecret(token), *c, *first); err != nil {
		return nil, fmt.Errorf("complete setup: %w", err)
	}
	return &c.Person, nil
}

// ResetLink makes a link with which a person sets another password. Earlier ones stop working.
func (s *Service) ResetLink(ctx context.Context, userID string) (string, error) {
	l, token, err := s.newLink(userID, prefixReset)
	if err != nil {
		return "", err
	}
	if err := s.store.ReplaceResetLink(ctx, *l); err != nil {
		return "", fmt.Errorf("make reset link: %w", err)
	}
	return s.url + "/reset?token=" + token, nil
}

// CheckReset says whose password a link resets; ErrLinkGone when it cannot be used.
func (s *Service) CheckReset(ctx context.Context, token string) (*Person, error) {
	if !wellFormed(token, prefixReset) {
		return nil, ErrLinkGone
	}
	return s.store.ResetLinkOpen(ctx, hashSecret(token), s.at())
}

// CompleteReset uses a reset link: it sets the password and ends the person's sessions, personal tokens and connections.
// The person signs in with it afterwards. forget takes second factors and passkeys away as well, for somebody who has lost
// them: whoever gave the link has made sure of who they are.
func (s *Service) CompleteReset(ctx context.Context, token, password string, forget bool) (*Person, error) {
	p, err := s.CheckReset(ctx, token)
	if err != nil {
		return nil, err
	}
	second, err := s.hasCodes(ctx, p.ID)
	if err != nil {
		return nil, fmt.Errorf("reset password: %w", err)
	}
	hash, short, err := s.hashBeside(ctx, second && !forget, password, p.Email, p.Name)
	if err != nil {
		return nil, err
	}
	change := PasswordChange{UserID: p.ID, NewHash: hash, Short: short, Forget: forget, At: s.at()}
	if err := s.store.CompleteReset(ctx, hashSecret(token), change); err != nil {
		return nil, fmt.Errorf("reset password: %w", err)
	}
	s.note(ctx, Happening{Action: ActionPasswordReset, UserID: p.ID})
	if forget {
		s.note(ctx, Happening{Action: ActionFactorsReset, UserID: p.ID})
	}
	s.notify(ctx, p, NoticePassword, "")
	return p, s.signIns.Forgive(ctx, p.Email)
}

func (s *Service) newLink(userID, prefix string) (*Link, string, error) {
	token, hash, err := newSecret(s.rand, prefix)
	if err != nil {
		return nil, "", err
	}
	id, err := s.newID()
	if err != nil {
		return nil, "", err
	}
	now := s.at()
	return &Link{ID: id, UserID: userID, TokenHash: hash, CreatedAt: now, ExpiresAt: now.Add(linkLife)}, token, nil
}
