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
// Wrong ones give ErrWrongCredentials, whatever is wrong; too many tries, *limit.Exceeded. A person with a second factor
// is not signed in yet: *SecondFactorNeeded says how to go on.
func (s *Service) SignIn(ctx context.Context, email, password string, from Device) (*Session, string, error) {
	c, attempt, err := s.prove(ctx, email, password, from)
	if err != nil {
		return nil, "", err
	}
	second, err := s.hasCodes(ctx, c.ID)
	if err != nil {
		return nil, "", fmt.Errorf("sign in: %w", err)
	}
	if second {
		if err := attempt.Succeeded(ctx); err != nil {
			return nil, "", err
		}
		return nil, "", s.pend(ctx, c)
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
	s.note(ctx, Happening{Action: ActionSignedIn, UserID: c.ID, From: from, Detail: methodOf(n.AMR)})
	return &n.Session, secret, attempt.Succeeded(ctx)
}

// hasCodes reports whether a password is not enough.
func (s *Service) hasCodes(ctx context.Context, userID string) (bool, error) {
	a, err := s.store.AuthenticatorOf(ctx, userID)
	if notFound(err) {
		return false, nil
	}
	return err == nil && a.ConfirmedAt != nil, err
}

// Confirm proves again with a password who is at the browser of a session, for settings that ask for it; code is the
// second factor of a person who has one. The cookie gets another secret.
func (s *Service) Confirm(ctx context.Context, session *Session, secret, password, code string, from Device) (*Session, string, error) {
	c, attempt, err := s.prove(ctx, session.Person.Email, password, from)
	if err != nil {
		return nil, "", err
	}
	if err := attempt.Succeeded(ctx); err != nil {
		return nil, "", err
	}
	second, err := s.hasCodes(ctx, c.ID)
	if err != nil {
		return nil, "", fmt.Errorf("confirm sign-in: %w", err)
	}
	methods := []string{MethodPassword}
	if second {
		methods = withCodeMethods
	}
	renewed, fresh, r, err := s.renewal(session, secret, methods...)
	if err != nil {
		return nil, "", err
	}
	if second {
		err = s.withCode(ctx, c.ID, code, from, func(used UsedCode) error { return s.store.RenewSession(ctx, *r, c.PasswordHash, &used) })
	} else {
		err = s.store.RenewSession(ctx, *r, c.PasswordHash, nil)
	}
	if notFound(err) {
		return nil, "", ErrWrongCredentials
	}
	if err != nil {
		return nil, "", fmt.Errorf("confirm sign-in: %w", err)
	}
	return renewed, fresh, nil
}

// renewal is a session after another proof: itself, the secret of its cookie, and what the store needs.
func (s *Service) renewal(session *Session, secret string, methods ...string) (*Session, string, *Renewal, error) {
	fresh, hash, err := newSecret(s.rand, prefixSession)
	if err != nil {
		return nil, "", nil, err
	}
	now := s.at()
	renewed := *session
	renewed.AuthTime, renewed.LastSeenAt, renewed.AMR = now, now, methods
	return &renewed, fresh, &Renewal{
		SessionID: session.ID, UserID: session.UserID, OldHash: hashSecret(secret), NewHash: hash, AuthTime: now, AMR: methods,
	}, nil
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
