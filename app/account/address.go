package account

import (
	"context"
	"fmt"
	"time"
)

// AddressLink is a one-time link that proves that an address is somebody's: of a new person, or another one of a person.
type AddressLink struct {
	ID string
	// UserID is empty for a sign-up.
	UserID    string
	Email     string
	TokenHash []byte
	CreatedAt time.Time
	ExpiresAt time.Time
}

// AddressStore keeps links that prove addresses, and people's addresses. A link is used up by one conditional statement.
type AddressStore interface {
	// AddAddressLink writes a link in place of the earlier ones: of the person, or for a sign-up of the address.
	AddAddressLink(ctx context.Context, l AddressLink) error
	// AddressLinkOpen gives a link that can still be used; else ErrLinkGone.
	AddressLinkOpen(ctx context.Context, hash []byte, now time.Time) (*AddressLink, error)
	// CompleteSignUp uses up a sign-up link and does what InsertPerson does, in one step; ErrLinkGone when it cannot.
	CompleteSignUp(ctx context.Context, hash []byte, c Credentials, first FirstLocation) error
	// CompleteEmailChange uses up a link and does what ChangeEmail does, in one step; ErrLinkGone when it cannot.
	CompleteEmailChange(ctx context.Context, hash []byte, l AddressLink, keepSession string, at time.Time) error
	// ChangeEmail sets a person's verified address and ends their access but the session to keep, in one step. A known
	// address gives ErrEmailTaken.
	ChangeEmail(ctx context.Context, userID, email, keepSession string, at time.Time) error
}

// EmailChangeLink makes the link that confirms another address of a person. Earlier ones stop working.
func (s *Service) EmailChangeLink(ctx context.Context, userID, email string) (string, error) {
	folded, err := s.freeAddress(ctx, userID, email)
	if err != nil {
		return "", err
	}
	l, token, err := s.newAddressLink(userID, folded, prefixAddress)
	if err != nil {
		return "", err
	}
	if err := s.store.AddAddressLink(ctx, *l); err != nil {
		return "", fmt.Errorf("make link for another address: %w", err)
	}
	return s.url + "/email?token=" + token, nil
}

// freeAddress folds an address that is to become a person's.
func (s *Service) freeAddress(ctx context.Context, userID, email string) (string, error) {
	folded, err := FoldEmail(email)
	if err != nil {
		return "", err
	}
	switch c, err := s.store.CredentialsByEmail(ctx, folded); {
	case err == nil && c.ID == userID:
		return "", Refuse(CodeConflict, "email", "This is the address already.")
	case err == nil:
		return "", ErrEmailTaken
	case !notFound(err):
		return "", fmt.Errorf("look for address: %w", err)
	}
	return folded, nil
}

// CheckEmailChange says what a link confirms; ErrLinkGone when it cannot be used.
func (s *Service) CheckEmailChange(ctx context.Context, token string) (*AddressLink, error) {
	if !wellFormed(token, prefixAddress) {
		return nil, ErrLinkGone
	}
	return s.store.AddressLinkOpen(ctx, hashSecret(token), s.at())
}

// CompleteEmailChange uses a link: the person has the address from now on. Whatever acts for them ends, but for the session
// that confirms, when it is theirs. The old address is told.
func (s *Service) CompleteEmailChange(ctx context.Context, token string, session *Session) error {
	l, err := s.CheckEmailChange(ctx, token)
	if err != nil {
		return err
	}
	old, err := s.store.PersonByID(ctx, l.UserID)
	if notFound(err) {
		return ErrLinkGone
	}
	if err != nil {
		return err
	}
	keep := ""
	if session != nil && session.UserID == l.UserID {
		keep = session.ID
	}
	if err := s.store.CompleteEmailChange(ctx, hashSecret(token), *l, keep, s.at()); err != nil {
		return fmt.Errorf("change address: %w", err)
	}
	s.notify(ctx, old, NoticeEmail, l.Email)
	return nil
}

// SetEmail gives a person another address on an administrator's word. Whatever acts for them ends; the old address is told.
func (s *Service) SetEmail(ctx context.Context, userID, email string) error {
	old, err := s.store.PersonByID(ctx, userID)
	if err != nil {
		return err
	}
	folded, err := s.freeAddress(ctx, userID, email)
	if err != nil {
		return err
	}
	if err := s.store.ChangeEmail(ctx, userID, folded, "", s.at()); err != nil {
		return fmt.Errorf("change address: %w", err)
	}
	s.notify(ctx, old, NoticeEmail, folded)
	return nil
}

func (s *Service) newAddressLink(userID, email, prefix string) (*AddressLink, string, error) {
	l, token, err := s.newLink(userID, prefix)
	if err != nil {
		return nil, "", err
	}
	return &AddressLink{ID: l.ID, UserID: userID, Email: email, TokenHash: l.TokenHash, CreatedAt: l.CreatedAt, ExpiresAt: l.ExpiresAt}, token, nil
}
