package account

import (
	"context"
	"crypto/subtle"
	"encoding/base32"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/pquerna/otp"
	"github.com/pquerna/otp/hotp"
)

// Codes of authenticator apps (RFC 6238): SHA-1, six digits, thirty seconds, one step of tolerance to either side. That
// is what every app understands.
const (
	codeSeedBytes   = 20 // 160 bits, as RFC 4226 §4 recommends
	codePeriod      = 30 * time.Second
	codeTolerance   = 1
	codeSeedPurpose = "authenticator app"
)

// Recovery codes stand in for the app, each once: 80 random bits in 16 characters, which need no slow hash.
const (
	recoveryCodes      = 10
	recoveryCodeBytes  = 10
	recoveryCodeLength = 16
)

var base32Code = base32.StdEncoding.WithPadding(base32.NoPadding)

// Authenticator is the row of a person's authenticator app.
type Authenticator struct {
	ID     string
	UserID string
	// Seed is sealed for this row.
	Seed []byte
	// ConfirmedAt is nil until a code has shown that the app has the seed; until then it counts for nothing.
	ConfirmedAt *time.Time
	// LastStep is the time step of the last accepted code: it and earlier ones are refused (RFC 6238 §5.2).
	LastStep  int64
	CreatedAt time.Time
}

// UsedCode is a code that was right and has to be used up: a step of an authenticator, or a recovery code.
type UsedCode struct {
	AuthenticatorID string
	Step            int64
	RecoveryHash    []byte
}

// CodeStore keeps authenticator apps and recovery codes.
type CodeStore interface {
	// AuthenticatorOf gives a person's app, confirmed or not; ErrNotFound without one.
	AuthenticatorOf(ctx context.Context, userID string) (*Authenticator, error)
	// BeginAuthenticator writes an app that is not confirmed in place of an earlier such one; ErrCodesOn beside a
	// confirmed one.
	BeginAuthenticator(ctx context.Context, a Authenticator) error
	// ConfirmAuthenticator confirms an app that is not, with the step of the code that showed it, and sets the recovery
	// codes; ErrWrongCode when it is not there any more or confirmed.
	ConfirmAuthenticator(ctx context.Context, id string, step int64, recovery [][]byte, c FactorChange) error
	// RemoveAuthenticator takes app and recovery codes away; ErrShortPassword while the password needs them.
	RemoveAuthenticator(ctx context.Context, c FactorChange) error
	// ReplaceRecoveryCodes sets other recovery codes for a person with an app; ErrNotFound without one.
	ReplaceRecoveryCodes(ctx context.Context, userID string, recovery [][]byte, at time.Time) error
}

// Enrolment is what an authenticator app needs to know.
type Enrolment struct {
	// Secret is the seed as apps take it by hand, URI the same for a QR code.
	Secret string
	URI    string
}

// BeginCodes makes the seed of an authenticator app. Nothing changes until ConfirmCodes.
func (s *Service) BeginCodes(ctx context.Context, session *Session) error {
	if s.sealer == nil {
		return errNoCodes
	}
	id, err := s.newID()
	if err != nil {
		return err
	}
	seed := make([]byte, codeSeedBytes)
	if _, err := io.ReadFull(s.rand, seed); err != nil {
		return fmt.Errorf("read random bytes: %w", err)
	}
	sealed, err := s.sealer.Seal(codeSeedPurpose, id, seed)
	if err != nil {
		return fmt.Errorf("begin codes: %w", err)
	}
	a := Authenticator{ID: id, UserID: session.UserID, Seed: sealed, CreatedAt: s.at()}
	return wrap("begin codes", s.store.BeginAuthenticator(ctx, a))
}

// Enrolment gives the seed that waits to be confirmed; ErrNotFound when none does. A confirmed one is never shown again.
func (s *Service) Enrolment(ctx context.Context, session *Session) (*Enrolment, error) {
	a, err := s.store.AuthenticatorOf(ctx, session.UserID)
	if err != nil {
		return nil, err
	}
	if a.ConfirmedAt != nil {
		return nil, ErrNotFound
	}
	secret, err := s.seedOf(a)
	if err != nil {
		return nil, err
	}
	issuer := "Gatehouse (" + s.host + ")"
	uri := url.URL{Scheme: "otpauth", Host: "totp", Path: "/" + issuer + ":" + session.Person.Email, RawQuery: "secret=" + secret +
		"&issuer=" + url.PathEscape(issuer) + "&algorithm=SHA1&digits=6&period=30"}
	return &Enrolment{Secret: secret, URI: uri.String()}, nil
}

// ConfirmCodes turns the second factor on once a code shows that the app has the seed. The first result are the recovery
// codes, which nobody can read again. Everything else that acts for the person ends; the session goes on under another
// secret.
func (s *Service) ConfirmCodes(ctx context.Context, session *Session, code string, from Device) ([]string, *Session, string, error) {
	a, err := s.store.AuthenticatorOf(ctx, session.UserID)
	if err != nil {
		return nil, nil, "", err
	}
	step, ok, err := s.match(a, code)
	if err != nil {
		return nil, nil, "", err
	}
	if !ok || a.ConfirmedAt != nil {
		return nil, nil, "", ErrWrongCode
	}
	codes, hashes, err := s.newRecoveryCodes()
	if err != nil {
		return nil, nil, "", err
	}
	fresh, secret, err := s.noted(ctx, ActionCodesOn, session, from, func(ctx context.Context, c FactorChange) error {
		return s.store.ConfirmAuthenticator(ctx, a.ID, step, hashes, c)
	})
	return codes, fresh, secret, err
}

// RemoveCodes turns the second factor off. Everything else that acts for the person ends; the session goes on under
// another secret.
func (s *Service) RemoveCodes(ctx context.Context, session *Session, from Device) (*Session, string, error) {
	return s.noted(ctx, ActionCodesOff, session, from, s.store.RemoveAuthenticator)
}

// NewRecoveryCodes replaces the recovery codes.
func (s *Service) NewRecoveryCodes(ctx context.Context, session *Session) ([]string, error) {
	codes, hashes, err := s.newRecoveryCodes()
	if err != nil {
		return nil, err
	}
	if err := s.store.ReplaceRecoveryCodes(ctx, session.UserID, hashes, s.at()); err != nil {
		return nil, fmt.Errorf("replace recovery codes: %w", err)
	}
	s.note(ctx, Happening{Action: ActionRecoveryCodesMade, UserID: session.UserID, From: session.Device})
	return codes, nil
}

func (s *Service) newRecoveryCodes() (codes []string, hashes [][]byte, err error) {
	for range recoveryCodes {
		value := make([]byte, recoveryCodeBytes)
		if _, err := io.ReadFull(s.rand, value); err != nil {
			return nil, nil, fmt.Errorf("read random bytes: %w", err)
		}
		code := strings.ToLower(base32Code.EncodeToString(value))
		hashes = append(hashes, hashSecret(code))
		codes = append(codes, code[:4]+"-"+code[4:8]+"-"+code[8:12]+"-"+code[12:])
	}
	return codes, hashes, nil
}

// seedOf opens an app's seed, in the base32 that apps take.
func (s *Service) seedOf(a *Authenticator) (string, error) {
	if s.sealer == nil {
		return "", errNoCodes
	}
	seed, err := s.sealer.Open(codeSeedPurpose, a.ID, a.Seed)
	if err != nil {
		return "", fmt.Errorf("open the seed of an authenticator app: %w", err)
	}
	return base32Code.EncodeToString(seed), nil
}

// match looks for the time step whose code this is. All steps are compared, however early one fits.
func (s *Service) match(a *Authenticator, code string) (step int64, ok bool, err error) {
	secret, err := s.seedOf(a)
	if err != nil {
		return 0, false, err
	}
	code = plainCode(code)
	now := s.now().Unix() / int64(codePeriod/time.Second)
	for at := now - codeTolerance; at <= now+codeTolerance; at++ {
		want, err := hotp.GenerateCodeCustom(secret, uint64(at), hotp.ValidateOpts{Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1})
		if err != nil {
			return 0, false, fmt.Errorf("compute code: %w", err)
		}
		if subtle.ConstantTimeCompare([]byte(want), []byte(code)) == 1 && at > a.LastStep {
			step, ok = at, true
		}
	}
	return step, ok, nil
}

// plainCode takes away what people type between the parts of a code.
func plainCode(code string) string {
	if len(code) > 64 {
		return ""
	}
	return strings.ToLower(strings.Map(func(r rune) rune {
		if r == ' ' || r == '-' || r == '\u00a0' || r == '\u2011' {
			return -1
		}
		return r
	}, strings.TrimSpace(code)))
}

// checkCode finds out what a code of a person is good for: one of their app, or a recovery code. The store uses it up;
// whether a recovery code exists shows only there.
func (s *Service) checkCode(ctx context.Context, userID, code string) (UsedCode, error) {
	a, err := s.store.AuthenticatorOf(ctx, userID)
	if notFound(err) || err == nil && a.ConfirmedAt == nil {
		return UsedCode{}, ErrWrongCode
	}
	if err != nil {
		return UsedCode{}, err
	}
	if plain := plainCode(code); len(plain) == recoveryCodeLength {
		return UsedCode{RecoveryHash: hashSecret(plain)}, nil
	}
	step, ok, err := s.match(a, code)
	if err != nil {
		return UsedCode{}, err
	}
	if !ok {
		return UsedCode{}, ErrWrongCode
	}
	return UsedCode{AuthenticatorID: a.ID, Step: step}, nil
}
