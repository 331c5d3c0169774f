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
	// Short says that the password is too short to stand alone: without a second factor it gives ErrShortPassword.
	Short bool
	// Forget takes authenticator app, recovery codes and passkeys away in the same step.
	Forget bool
	At     time.Time
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
	second, err := s.hasCodes(ctx, c.ID)
	if err != nil {
		return nil, "", fmt.Errorf("change password: %w", err)
	}
	hash, short, err := s.hashBeside(ctx, second, next, c.Email, c.Name)
	if err != nil {
		return nil, "", err
	}
	n, secret, err := s.newSession(c.Person, from, MethodPassword)
	if err != nil {
		return nil, "", err
	}
	err = s.store.ChangePassword(ctx, PasswordChange{UserID: c.ID, OldHash: c.PasswordHash, NewHash: hash, Short: short, At: s.at(), Session: n})
	if notFound(err) {
		return nil, "", ErrWrongCredentials
	}
	if err != nil {
		return nil, "", fmt.Errorf("change password: %w", err)
	}
	n.Session.Person.PasswordChangedAt = s.at()
	s.notify(ctx, &c.Person, NoticePassword, "")
	s.note(ctx, Happening{Action: ActionPasswordChanged, UserID: c.ID, From: from})
	return &n.Session, secret, nil
}

// SetPassword gives a person without a password one. Everything else that is signed in as them ends; the session goes on
// under another secret, which is the second result.
func (s *Service) SetPassword(ctx context.Context, session *Session, next string, from Device) (*Session, string, error) {
	f, err := s.store.FactorsOf(ctx, session.UserID)
	if err != nil {
		return nil, "", fmt.Errorf("set password: %w", err)
	}
	if f.Password {
		return nil, "", Refuse(CodeConflict, "", "There is a password already. Change it with the present one.")
	}
	hash, short, err := s.hashBeside(ctx, f.SecondFactor(), next, session.Person.Email, session.Person.Name)
	if err != nil {
		return nil, "", err
	}
	n, secret, err := s.successor(session, from)
	if err != nil {
		return nil, "", err
	}
	err = s.store.ChangePassword(ctx, PasswordChange{UserID: session.UserID, NewHash: hash, Short: short, At: s.at(), Session: n})
	if err != nil {
		return nil, "", fmt.Errorf("set password: %w", err)
	}
	s.note(ctx, Happening{Action: ActionPasswordSet, UserID: session.UserID, From: from})
	return &n.Session, secret, nil
}
