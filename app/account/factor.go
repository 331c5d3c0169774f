package account

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Factors are the ways in which a person can prove who they are.
type Factors struct {
	// Password says that there is one; ShortPassword, that it is shorter than a password alone has to be.
	Password      bool
	ShortPassword bool
	Passkeys      []Passkey
	// CodesSince is when the authenticator app was confirmed; nil without one.
	CodesSince *time.Time
	// RecoveryCodes is how many are left.
	RecoveryCodes int
}

// SecondFactor reports whether the password is not enough.
func (f *Factors) SecondFactor() bool { return f.CodesSince != nil }

// FactorChange is a change of how a person signs in. Like a change of the password it ends everything else that acts for
// the person, in the same step: other sessions, personal tokens, connections.
type FactorChange struct {
	UserID string
	// Through is the session that makes the change; it must still be there. Empty on the command line.
	Through string
	At      time.Time
	// Session goes on in its place; nil for none.
	Session *NewSession
}

// FactorStore keeps passkeys, authenticator apps, recovery codes, and what is under way between two pages.
type FactorStore interface {
	PasskeyStore
	CodeStore
	PendingStore
	// FactorsOf lists what a person has.
	FactorsOf(ctx context.Context, userID string) (*Factors, error)
	// DropPassword takes the password away while a passkey is left; else ErrLastFactor.
	DropPassword(ctx context.Context, c FactorChange) error
	// ResetFactors takes the authenticator app and the recovery codes away, passkeys too when asked, and ends everything
	// that acts for the person. A password that is too short alone goes as well. It reports whether a password is left.
	ResetFactors(ctx context.Context, userID string, passkeys bool, at time.Time) (password bool, err error)
	// SweepFactors removes what was under way and expired before now.
	SweepFactors(ctx context.Context, now time.Time) error
}

// Refusals about factors.
var (
	// ErrLastFactor says that nothing would be left to sign in with.
	ErrLastFactor = Refuse(CodeConflict, "", "Nothing would be left to sign in with. Set a password or add another passkey first.")
	// ErrWrongCode is the one answer to a code that is wrong, was used before, or is too old.
	ErrWrongCode = Refuse(CodeWrongCredentials, "code", "This code is not right, or it was used before. Wait for the next one.")
	// ErrCodesOn says that an authenticator app is in use already.
	ErrCodesOn = Refuse(CodeConflict, "", "An authenticator app is in use already. Remove it before you set up another.")
	// ErrShortPassword says that a short password may not stand alone.
	ErrShortPassword = Refuse(CodeConflict, "", "Your password is too short to be the only proof. Set one of 15 characters or more first.")
	// ErrPasskey is the one answer to a passkey that is unknown, or whose answer does not check.
	ErrPasskey = Refuse(CodeWrongCredentials, "", "The passkey was not accepted. Try again, or sign in another way.")
	// ErrTooManyPasskeys bounds the list.
	ErrTooManyPasskeys = Refuse(CodeLimitReached, "", "There are 20 passkeys already. Remove one first.")
	// ErrPasskeyKnown says that the passkey belongs to somebody already.
	ErrPasskeyKnown = Refuse(CodeConflict, "", "This passkey is in use already.")
	// ErrNoPasskeys says that browsers do not allow passkeys at the public URL.
	ErrNoPasskeys = Refuse(CodeHTTPSRequired, "", "Passkeys need a host name and https, or localhost.")
	errNoCodes    = errors.New("account: authenticator apps need a sealer")
)

// Factors lists the ways of a person to prove who they are.
func (s *Service) Factors(ctx context.Context, userID string) (*Factors, error) {
	return s.store.FactorsOf(ctx, userID)
}

// DropPassword takes the password away: the person signs in with passkeys alone from then on. Everything else that acts
// for them ends. The session goes on under another secret, which is the second result.
func (s *Service) DropPassword(ctx context.Context, session *Session, from Device) (*Session, string, error) {
	return s.noted(ctx, ActionPasswordDropped, session, from, s.store.DropPassword)
}

// ResetFactors takes the second factors of a person away, for an administrator's hand: somebody has lost their phone. It
// reports whether a password is left to sign in with; a reset link helps where not. Whoever calls it records it.
func (s *Service) ResetFactors(ctx context.Context, userID string, passkeys bool) (password bool, err error) {
	password, err = s.store.ResetFactors(ctx, userID, passkeys, s.at())
	return password, wrap("reset factors", err)
}

// change runs a change of factors with a session that takes the place of the present one.
func (s *Service) change(ctx context.Context, session *Session, from Device, do func(context.Context, FactorChange) error) (*Session, string, error) {
	n, secret, err := s.successor(session, from)
	if err != nil {
		return nil, "", err
	}
	if err := do(ctx, FactorChange{UserID: session.UserID, Through: session.ID, At: s.at(), Session: n}); err != nil {
		return nil, "", fmt.Errorf("change factors: %w", err)
	}
	return &n.Session, secret, nil
}

// noted is change with a line in the record.
func (s *Service) noted(ctx context.Context, action string, session *Session, from Device, do func(context.Context, FactorChange) error) (*Session, string, error) {
	fresh, secret, err := s.change(ctx, session, from, do)
	if err == nil {
		s.note(ctx, Happening{Action: action, UserID: session.UserID, From: from})
	}
	return fresh, secret, err
}

// successor is a session that goes on where another one stands: with its proof and its end, under another id and secret.
func (s *Service) successor(session *Session, from Device) (*NewSession, string, error) {
	n, secret, err := s.newSession(session.Person, from, session.AMR...)
	if err != nil {
		return nil, "", err
	}
	n.AuthTime, n.ExpiresAt = session.AuthTime, session.ExpiresAt
	return n, secret, nil
}
