package account

import (
	"context"
	"fmt"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"
)

// BeginPasskeySignIn asks a stranger's browser for a passkey. Which one, the browser and the person choose.
func (s *Service) BeginPasskeySignIn(ctx context.Context, browser string) (*PasskeyRequest, error) {
	if s.party == nil {
		return nil, ErrNoPasskeys
	}
	challenge, err := s.challenge()
	if err != nil {
		return nil, err
	}
	options, data, err := s.party.BeginDiscoverableLogin(webauthn.WithChallenge(challenge), webauthn.WithUserVerification(protocol.VerificationRequired))
	if err != nil {
		return nil, fmt.Errorf("begin passkey sign-in: %w", err)
	}
	return s.open(ctx, ceremonySignIn, "", browser, data, options.Response)
}

// SignInByPasskey checks the browser's answer and opens a session. A passkey is two factors at once: the device, and the
// finger, face or PIN that it asked for; no code follows.
func (s *Service) SignInByPasskey(ctx context.Context, browser, id, answer string, from Device) (*Session, string, error) {
	_, data, err := s.take(ctx, ceremonySignIn, id, browser)
	if err != nil {
		return nil, "", err
	}
	person, used, err := s.checkPasskey(ctx, data, answer)
	if err != nil {
		return nil, "", err
	}
	n, secret, err := s.newSession(*person, from, used.methods()...)
	if err != nil {
		return nil, "", err
	}
	use := PasskeyUse{PasskeyID: used.ID, UserID: person.ID, SignCount: used.SignCount, BackedUp: used.BackedUp, WentBack: used.WentBackAt != nil, At: s.at()}
	if err := s.store.SignInByPasskey(ctx, use, *n); notFound(err) {
		return nil, "", ErrPasskey // removed, or the person disabled, since it was checked
	} else if err != nil {
		return nil, "", fmt.Errorf("sign in: %w", err)
	}
	s.warn(ctx, used, from)
	s.note(ctx, Happening{Action: ActionSignedIn, UserID: person.ID, From: from, Detail: methodOf(n.AMR)})
	return &n.Session, secret, nil
}

func parseSigned(answer string) (*protocol.ParsedCredentialAssertionData, error) {
	if len(answer) > maxPasskeyAnswer {
		return nil, ErrPasskey
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes([]byte(answer))
	if err != nil {
		return nil, refusePasskey(err)
	}
	return parsed, nil
}

// checkPasskey finds out whose passkey answered, and checks its signature.
func (s *Service) checkPasskey(ctx context.Context, data *webauthn.SessionData, answer string) (*Person, *Passkey, error) {
	parsed, err := parseSigned(answer)
	if err != nil {
		return nil, nil, err
	}
	var holder *keyHolder
	var broken error // of the store: the library hides what the handler gives
	find := func(_, handle []byte) (webauthn.User, error) {
		person, err := s.store.PersonByHandle(ctx, handle)
		if err == nil {
			var passkeys []Passkey
			passkeys, err = s.store.PasskeysOf(ctx, person.ID)
			holder = &keyHolder{person: person, handle: handle, passkeys: passkeys}
		}
		if err != nil && !notFound(err) {
			broken = err
		}
		if err != nil {
			return nil, err
		}
		return holder, nil
	}
	_, signed, err := s.party.ValidatePasskeyLogin(find, *data, parsed)
	if broken != nil {
		return nil, nil, fmt.Errorf("check passkey: %w", broken)
	}
	if err != nil {
		return nil, nil, refusePasskey(err)
	}
	return holder.person, holder.used(signed, s), nil
}

// used is the passkey that signed, as it is now.
func (k *keyHolder) used(signed *webauthn.Credential, s *Service) *Passkey {
	for _, p := range k.passkeys {
		if string(p.CredentialID) != string(signed.ID) {
			continue
		}
		p.SignCount, p.BackedUp, p.WentBackAt = signed.Authenticator.SignCount, signed.Flags.BackupState, nil
		if signed.Authenticator.CloneWarning {
			now := s.at()
			p.WentBackAt = &now
		}
		return &p
	}
	return &Passkey{} // the library found it among these
}

// methods says what a proof with the passkey stands for. One that can be copied between devices is no key in hardware.
func (p *Passkey) methods() []string {
	if p.BackupEligible {
		return []string{MethodSoftwareKey, MethodUser, MethodMultiple}
	}
	return []string{MethodHardwareKey, MethodUser, MethodMultiple}
}

// warn records a counter that went back. The sign-in stands: counters are wrong for other reasons, too, and shutting the
// person out would help nobody.
func (s *Service) warn(ctx context.Context, p *Passkey, from Device) {
	if p.WentBackAt != nil {
		s.note(ctx, Happening{Action: ActionPasskeyWentBack, UserID: p.UserID, From: from, Detail: p.Name})
	}
}
