package web

import (
	"context"

	"gatehouse/app/account"
)

// SignInFactors is signing in with more than a password.
type SignInFactors interface {
	// PasskeysPossible reports whether browsers allow passkeys at the public URL.
	PasskeysPossible() bool
	BeginPasskeySignIn(ctx context.Context, browser string) (*account.PasskeyRequest, error)
	SignInByPasskey(ctx context.Context, browser, id, answer string, from account.Device) (*account.Session, string, error)
	PendingSignIn(ctx context.Context, pending string) (*account.Person, error)
	CompleteSignIn(ctx context.Context, pending, code string, from account.Device) (*account.Session, string, error)
	CancelSignIn(ctx context.Context, pending string) error
}

// Factors are a person's ways to prove who they are. Changes end everything else that acts for the person and give the
// session that goes on, with its secret.
type Factors interface {
	Factors(ctx context.Context, userID string) (*account.Factors, error)
	BeginAddPasskey(ctx context.Context, s *account.Session, browser string) (*account.PasskeyRequest, error)
	AddPasskey(ctx context.Context, s *account.Session, browser, id, answer, name string, from account.Device) (*account.Session, string, error)
	RenamePasskey(ctx context.Context, s *account.Session, id, name string) error
	RemovePasskey(ctx context.Context, s *account.Session, id string, from account.Device) (*account.Session, string, error)
	BeginCodes(ctx context.Context, s *account.Session) error
	Enrolment(ctx context.Context, s *account.Session) (*account.Enrolment, error)
	ConfirmCodes(ctx context.Context, s *account.Session, code string, from account.Device) ([]string, *account.Session, string, error)
	RemoveCodes(ctx context.Context, s *account.Session, from account.Device) (*account.Session, string, error)
	NewRecoveryCodes(ctx context.Context, s *account.Session) ([]string, error)
	SetPassword(ctx context.Context, s *account.Session, password string, from account.Device) (*account.Session, string, error)
	DropPassword(ctx context.Context, s *account.Session, from account.Device) (*account.Session, string, error)
}
