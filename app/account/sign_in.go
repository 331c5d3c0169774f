package account

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"gatehouse/app/limit"
)

// SignIn checks an address and a password and opens a session; the second result is the secret for its cookie. A person
// signed in before gets another session all the same (the caller ends the old one), so that a planted cookie is worth
// nothing.
//
// Wrong ones give ErrWrongCredentials, whatever is wrong; too many tries, *limit.Exceeded.
func (s *Service) SignIn(ctx context.Context, email, password string, from Device) (*Session, string, error) {
	c, attempt, err := s.prove(ctx, email, password, from)
	if err != nil {
		return nil, "", err
	}
	n, secret, err := s.newSession(c.Person, from, MethodPassword)
	if err != nil {
		return nil, "", err
	}
	if err := s.store.InsertSession(ctx, *n, c.PasswordHash); notFound(err) {
		return nil, "", ErrWrongCredentials // disabled, or another password, since it was checked
	} else if err != nil {
		return nil, "", fmt.Errorf("sign in: %w", err)
	}
	return &n.Session, secret, attempt.Succeeded(ctx)
}

// Confirm proves again who is at the browser of a session, for settings that ask for it. The cookie gets another secret.
func (s *Service) Confirm(ctx context.Context, session *Session, secret, password string, from Device) (*Session, string, error) {
	c, attempt, err := s.prove(ctx, session.Person.Email, password, from)
	if err != nil {
		return nil, "", err
	}
	fresh, hash, err := newSecret(s.rand, prefixSession)
	if err != nil {
		return nil, "", err
	}
	now := s.at()
	if err := s.store.RenewSession(ctx, session.ID, hashSecret(secret), hash, now, []string{MethodPassword}, c.PasswordHash); notFound(err) {
		return nil, "", ErrWrongCredentials
	} else if err != nil {
		return nil, "", fmt.Errorf("confirm sign-in: %w", err)
	}
	renewed := *session
	renewed.AuthTime, renewed.LastSeenAt, renewed.AMR = now, now, []string{MethodPassword}
	return &renewed, fresh, attempt.Succeeded(ctx)
}

// prove checks an address and a password under the throttle. Every way to fail costs the same work.
func (s *Service) prove(ctx context.Context, email, password string, from Device) (*Credentials, *limit.Attempt, error) {
	folded, err := FoldEmail(email)
	known := err == nil
	if !known {
		folded = strings.ToLower(shorten(email, 300))
	}
	attempt, err := s.signIns.Begin(ctx, folded, from.IP)
	if err != nil {
		return nil, nil, err
	}
	var c *Credentials
	if known {
		if c, err = s.store.CredentialsByEmail(ctx, folded); err != nil && !notFound(err) {
			return nil, nil, fmt.Errorf("sign in: %w", err)
		}
	}
	match, err := s.verify(ctx, c, password)
	if err != nil {
		return nil, nil, s.giveBack(ctx, attempt, err)
	}
	if !match {
		return nil, nil, ErrWrongCredentials
	}
	return c, attempt, nil
}

// giveBack takes back the count of a try whose password was not looked at, for want of room.
func (s *Service) giveBack(ctx context.Context, attempt *limit.Attempt, err error) error {
	var busy *limit.Exceeded
	if !errors.As(err, &busy) {
		return fmt.Errorf("sign in: %w", err)
	}
	if undo := attempt.Cancelled(ctx); undo != nil {
		return undo
	}
	return busy
}
