package account

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// pendingLife is how long a sign-in waits for its second factor.
const pendingLife = 10 * time.Minute

// withCodeMethods is how somebody proved who they are with a password and a code.
var withCodeMethods = []string{MethodPassword, MethodOTP, MethodMultiple}

// SecondFactorNeeded says that the password is right and a code has to follow. Nobody is signed in yet.
type SecondFactorNeeded struct {
	// Secret names the sign-in that waits; the browser keeps it in a cookie of its own.
	Secret    string
	ExpiresAt time.Time
}

// Error says what is missing.
func (e *SecondFactorNeeded) Error() string { return "a second factor is needed" }

// Pending is a sign-in whose password was right and whose second factor is missing.
type Pending struct {
	Hash      []byte
	UserID    string
	CreatedAt time.Time
	ExpiresAt time.Time
}

// PendingStore keeps sign-ins that wait. Whatever ends a person's sessions ends these as well.
type PendingStore interface {
	// InsertPending writes one while its person is enabled and still has the given password hash; else ErrNotFound.
	InsertPending(ctx context.Context, p Pending, passwordHash string) error
	// PendingByHash gives the person of one that still waits; else ErrNotFound.
	PendingByHash(ctx context.Context, hash []byte, now time.Time) (*Person, error)
	// CompletePending uses up the code and the waiting sign-in and opens the session in one step. A code that was used
	// before gives ErrWrongCode and leaves the sign-in waiting; one that does not wait any more, ErrNotFound.
	CompletePending(ctx context.Context, hash []byte, code UsedCode, n NewSession) error
	// EndPending forgets one; an unknown one is no error.
	EndPending(ctx context.Context, hash []byte) error
}

// pend makes a sign-in wait for its second factor.
func (s *Service) pend(ctx context.Context, c *Credentials) error {
	secret, hash, err := newSecret(s.rand, prefixPending)
	if err != nil {
		return err
	}
	now := s.at()
	p := Pending{Hash: hash, UserID: c.ID, CreatedAt: now, ExpiresAt: now.Add(pendingLife)}
	if err := s.store.InsertPending(ctx, p, c.PasswordHash); notFound(err) {
		return ErrWrongCredentials // disabled, or another password, since it was checked
	} else if err != nil {
		return fmt.Errorf("sign in: %w", err)
	}
	return &SecondFactorNeeded{Secret: secret, ExpiresAt: p.ExpiresAt}
}

// PendingSignIn says who waits to enter a code; ErrNotFound when the sign-in is over.
func (s *Service) PendingSignIn(ctx context.Context, secret string) (*Person, error) {
	if !wellFormed(secret, prefixPending) {
		return nil, ErrNotFound
	}
	return s.store.PendingByHash(ctx, hashSecret(secret), s.at())
}

// CancelSignIn forgets a sign-in that waits.
func (s *Service) CancelSignIn(ctx context.Context, secret string) error {
	if !wellFormed(secret, prefixPending) {
		return nil
	}
	return wrap("cancel sign-in", s.store.EndPending(ctx, hashSecret(secret)))
}

// CompleteSignIn takes the second factor, a code of the app or a recovery code, and opens the session. A wrong one gives
// ErrWrongCode, too many *limit.Exceeded, and ErrNotFound says that the sign-in has to begin again.
func (s *Service) CompleteSignIn(ctx context.Context, pending, code string, from Device) (*Session, string, error) {
	p, err := s.PendingSignIn(ctx, pending)
	if err != nil {
		return nil, "", err
	}
	n, secret, err := s.newSession(*p, from, withCodeMethods...)
	if err != nil {
		return nil, "", err
	}
	err = s.withCode(ctx, p.ID, code, from, func(used UsedCode) error {
		return s.store.CompletePending(ctx, hashSecret(pending), used, *n)
	})
	if err != nil {
		return nil, "", err
	}
	s.note(ctx, Happening{Action: ActionSignedIn, UserID: p.ID, From: from, Detail: methodOf(n.AMR)})
	return &n.Session, secret, nil
}

// withCode checks a code under a throttle of its own, so that guessing stays hopeless for somebody who has the password.
func (s *Service) withCode(ctx context.Context, userID, code string, from Device, use func(UsedCode) error) error {
	attempt, err := s.signIns.Begin(ctx, "second factor of "+userID, from.IP)
	if err != nil {
		return err
	}
	used, err := s.checkCode(ctx, userID, code)
	if err == nil {
		err = use(used)
	}
	if errors.Is(err, ErrWrongCode) {
		s.note(ctx, Happening{Action: ActionCodeRefused, UserID: userID, From: from})
	}
	if err != nil && !errors.Is(err, ErrWrongCode) {
		return errors.Join(err, attempt.Cancelled(ctx)) // the code was never judged
	}
	if err != nil {
		return err
	}
	if used.RecoveryHash != nil {
		s.note(ctx, Happening{Action: ActionRecoveryCodeUsed, UserID: userID, From: from})
	}
	return attempt.Succeeded(ctx)
}
