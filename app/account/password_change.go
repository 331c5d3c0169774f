package account

import (
	"context"
	"fmt"
	"time"
)

// PasswordChange is another password for a person.
type PasswordChange struct {
	UserID string
	// OldHash must still be the stored one; empty means any (a reset link proves enough).
	OldHash string
	NewHash string
	At      time.Time
	// Session is opened in the same step, after all others have ended; nil for none.
	Session *NewSession
}

// PasswordStore keeps password hashes.
type PasswordStore interface {
	// RehashPassword replaces a hash by one of the same password, if it is still the old one.
	RehashPassword(ctx context.Context, userID, oldHash, newHash string) error
	// ChangePassword sets the hash and ends the person's sessions, personal tokens and connections in one step. A person
	// who is disabled, or has another hash than the old one, gives ErrNotFound.
	ChangePassword(ctx context.Context, c PasswordChange) error
}

// ChangePassword sets another password. Everything else that is signed in as the person ends: other sessions, personal
// tokens, connections. The session goes on under another secret, which is the second result.
func (s *Service) ChangePassword(ctx context.Context, session *Session, current, next string, from Device) (*Session, string, error) {
	c, attempt, err := s.prove(ctx, session.Person.Email, current, from)
	if err != nil {
		return nil, "", err
	}
	if err := attempt.Succeeded(ctx); err != nil {
		return nil, "", err
	}
	hash, err := s.hashNew(ctx, next, c.Email, c.Name)
	if err != nil {
		return nil, "", err
	}
	n, secret, err := s.newSession(c.Person, from, MethodPassword)
	if err != nil {
		return nil, "", err
	}
	err = s.store.ChangePassword(ctx, PasswordChange{UserID: c.ID, OldHash: c.PasswordHash, NewHash: hash, At: s.at(), Session: n})
	if notFound(err) {
		return nil, "", ErrWrongCredentials
	}
	if err != nil {
		return nil, "", fmt.Errorf("change password: %w", err)
	}
	n.Session.Person.PasswordChangedAt = s.at()
	return &n.Session, secret, nil
}
