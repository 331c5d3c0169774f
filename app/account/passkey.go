package account

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"net/url"
	"slices"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"
)

// Bounds of passkeys (WebAuthn Level 3).
const (
	ceremonyLife    = 5 * time.Minute
	challengeBytes  = 32
	userHandleBytes = 64 // all that §5.4.3 allows, and nothing of the person in it
	maxPasskeys     = 20
	// maxPasskeyAnswer bounds what a browser sends back.
	maxPasskeyAnswer = 32 << 10
)

// Passkey is one registered credential of a person.
type Passkey struct {
	ID     string
	UserID string
	// Name is the person's own.
	Name         string
	CredentialID []byte
	PublicKey    []byte
	AAGUID       []byte
	Transports   []string
	// SignCount is the highest counter seen; 0 for passkeys that do not count.
	SignCount uint32
	// BackupEligible says that the passkey can be copied between devices; it never changes. BackedUp says that it is.
	BackupEligible bool
	BackedUp       bool
	// WentBackAt is when the counter last went back: a copy of the key may be in use somewhere else.
	WentBackAt *time.Time
	LastUsedAt *time.Time
	CreatedAt  time.Time
}

// PasskeyUse is a signature of a passkey that was checked.
type PasskeyUse struct {
	PasskeyID string
	UserID    string
	SignCount uint32
	BackedUp  bool
	// WentBack says that the counter was not higher than the last one.
	WentBack bool
	At       time.Time
}

// Ceremony is a question put to an authenticator. Its answer counts once, from the same browser.
type Ceremony struct {
	Hash []byte
	Kind string
	// UserID is empty for a sign-in: who it is, the answer tells.
	UserID string
	// Browser is the hash of the secret in the cookie of the browser that was asked.
	Browser []byte
	// Data is what the check of the answer needs.
	Data      []byte
	CreatedAt time.Time
	ExpiresAt time.Time
}

// Kinds of ceremonies.
const (
	ceremonyAdd    = "add"
	ceremonySignIn = "sign_in"
)

// PasskeyStore keeps passkeys and ceremonies.
type PasskeyStore interface {
	// InsertCeremony writes a ceremony; TakeCeremony gives one of the kind and browser that still waits and forgets it, in
	// one step, once. ErrNotFound when there is none.
	InsertCeremony(ctx context.Context, c Ceremony) error
	TakeCeremony(ctx context.Context, hash []byte, kind string, browser []byte, now time.Time) (*Ceremony, error)
	// UserHandle gives the person's user handle, storing the fresh one where there is none yet.
	UserHandle(ctx context.Context, userID string, fresh []byte) ([]byte, error)
	// PersonByHandle finds an enabled person by their user handle; else ErrNotFound.
	PersonByHandle(ctx context.Context, handle []byte) (*Person, error)
	// PasskeysOf lists a person's passkeys, the oldest first.
	PasskeysOf(ctx context.Context, userID string) ([]Passkey, error)
	// AddPasskey writes one while the person has fewer than most; else ErrTooManyPasskeys, or ErrPasskeyKnown.
	AddPasskey(ctx context.Context, p Passkey, most int, c FactorChange) error
	// RenamePasskey and RemovePasskey give ErrNotFound for a passkey that is not the person's. The last way to sign in
	// cannot be removed: ErrLastFactor.
	RenamePasskey(ctx context.Context, userID, id, name string) error
	RemovePasskey(ctx context.Context, id string, c FactorChange) error
	// SignInByPasskey writes a use down and opens the session in one step; ErrNotFound when the passkey is gone or the
	// person disabled.
	SignInByPasskey(ctx context.Context, use PasskeyUse, n NewSession) error
}

// PasskeyRequest is what a browser's WebAuthn API is called with.
type PasskeyRequest struct {
	// ID names the ceremony when the answer comes.
	ID string
	// Options is the JSON form of the options (WebAuthn §5.1.8 and §5.1.9).
	Options string
}

// newRelyingParty makes the checks of passkeys for the public URL. Browsers have passkeys only at host names, over https
// or at localhost: elsewhere there are none, and the result is nil.
func newRelyingParty(publicURL string) (*webauthn.WebAuthn, error) {
	u, err := url.Parse(publicURL)
	host := hostOf(publicURL)
	if err != nil || host == "" || u.Scheme != "https" && host != "localhost" {
		return nil, nil //nolint:nilerr,nilnil // no passkeys there
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return nil, nil //nolint:nilnil // an address is no domain
	}
	required := true
	w, err := webauthn.New(&webauthn.Config{
		RPID: host, RPDisplayName: "Gatehouse", RPOrigins: []string{u.Scheme + "://" + u.Host},
		AttestationPreference: protocol.PreferNoAttestation,
		AuthenticatorSelection: protocol.AuthenticatorSelection{
			RequireResidentKey: &required, ResidentKey: protocol.ResidentKeyRequirementRequired, UserVerification: protocol.VerificationRequired,
		},
		Timeouts: webauthn.TimeoutsConfig{
			Login:        webauthn.TimeoutConfig{Timeout: ceremonyLife, TimeoutUVD: ceremonyLife},
			Registration: webauthn.TimeoutConfig{Timeout: ceremonyLife, TimeoutUVD: ceremonyLife},
		},
		// Password managers answer with credProps unasked; nothing here reads extensions.
		ExtensionsUnsolicitedOutputPolicy: protocol.UnsolicitedOutputPolicyIgnore,
	})
	if err != nil {
		return nil, fmt.Errorf("passkeys: %w", err)
	}
	return w, nil
}

// hostOf is the host name of a URL; "" when it is none.
func hostOf(publicURL string) string {
	u, err := url.Parse(publicURL)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// PasskeysPossible reports whether browsers allow passkeys at the public URL.
func (s *Service) PasskeysPossible() bool { return s.party != nil }

// keyHolder is a person as the library asks for them.
type keyHolder struct {
	person   *Person
	handle   []byte
	passkeys []Passkey
}

// WebAuthnID implements webauthn.User.
func (k *keyHolder) WebAuthnID() []byte { return k.handle }

// WebAuthnName implements webauthn.User.
func (k *keyHolder) WebAuthnName() string { return k.person.Email }

// WebAuthnDisplayName implements webauthn.User.
func (k *keyHolder) WebAuthnDisplayName() string { return k.person.Name }

// WebAuthnCredentials implements webauthn.User.
func (k *keyHolder) WebAuthnCredentials() []webauthn.Credential {
	out := make([]webauthn.Credential, len(k.passkeys))
	for i, p := range k.passkeys {
		out[i] = webauthn.Credential{
			ID: p.CredentialID, PublicKey: p.PublicKey,
			Flags:         webauthn.CredentialFlags{UserPresent: true, UserVerified: true, BackupEligible: p.BackupEligible, BackupState: p.BackedUp},
			Authenticator: webauthn.Authenticator{AAGUID: p.AAGUID, SignCount: p.SignCount},
		}
		for _, t := range p.Transports {
			out[i].Transport = append(out[i].Transport, protocol.AuthenticatorTransport(t))
		}
	}
	return out
}

// holder reads a person's passkeys, with their user handle.
func (s *Service) holder(ctx context.Context, p *Person) (*keyHolder, error) {
	fresh := make([]byte, userHandleBytes)
	if _, err := io.ReadFull(s.rand, fresh); err != nil {
		return nil, fmt.Errorf("read random bytes: %w", err)
	}
	handle, err := s.store.UserHandle(ctx, p.ID, fresh)
	if err != nil {
		return nil, err
	}
	passkeys, err := s.store.PasskeysOf(ctx, p.ID)
	return &keyHolder{person: p, handle: handle, passkeys: passkeys}, err
}

// challenge makes the random bytes that an authenticator signs.
func (s *Service) challenge() ([]byte, error) {
	b := make([]byte, challengeBytes)
	if _, err := io.ReadFull(s.rand, b); err != nil {
		return nil, fmt.Errorf("read random bytes: %w", err)
	}
	return b, nil
}

// open stores a ceremony and puts its options into the form of the browser's API.
func (s *Service) open(ctx context.Context, kind, userID, browser string, session *webauthn.SessionData, options any) (*PasskeyRequest, error) {
	id, hash, err := newSecret(s.rand, prefixCeremony)
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(session)
	if err != nil {
		return nil, fmt.Errorf("keep passkey ceremony: %w", err)
	}
	text, err := json.Marshal(options)
	if err != nil {
		return nil, fmt.Errorf("passkey options: %w", err)
	}
	now := s.at()
	c := Ceremony{Hash: hash, Kind: kind, UserID: userID, Browser: hashSecret(browser), Data: data, CreatedAt: now, ExpiresAt: now.Add(ceremonyLife)}
	if err := s.store.InsertCeremony(ctx, c); err != nil {
		return nil, fmt.Errorf("keep passkey ceremony: %w", err)
	}
	return &PasskeyRequest{ID: id, Options: string(text)}, nil
}

// take uses a ceremony up. One that is over, was answered before, or was put to another browser gives ErrPasskey.
func (s *Service) take(ctx context.Context, kind, id, browser string) (*Ceremony, *webauthn.SessionData, error) {
	if s.party == nil {
		return nil, nil, ErrNoPasskeys
	}
	if !wellFormed(id, prefixCeremony) {
		return nil, nil, ErrPasskey
	}
	c, err := s.store.TakeCeremony(ctx, hashSecret(id), kind, hashSecret(browser), s.at())
	if notFound(err) {
		return nil, nil, ErrPasskey
	}
	if err != nil {
		return nil, nil, err
	}
	session := &webauthn.SessionData{}
	if err := json.Unmarshal(c.Data, session); err != nil {
		return nil, nil, fmt.Errorf("read passkey ceremony: %w", err)
	}
	return c, session, nil
}

// BeginAddPasskey asks the browser of a session for another passkey.
func (s *Service) BeginAddPasskey(ctx context.Context, session *Session, browser string) (*PasskeyRequest, error) {
	if s.party == nil {
		return nil, ErrNoPasskeys
	}
	holder, err := s.holder(ctx, &session.Person)
	if err != nil {
		return nil, err
	}
	if len(holder.passkeys) >= maxPasskeys {
		return nil, ErrTooManyPasskeys
	}
	var have []protocol.CredentialDescriptor
	for _, c := range holder.WebAuthnCredentials() {
		have = append(have, c.Descriptor())
	}
	options, data, err := s.party.BeginRegistration(holder, webauthn.WithExclusions(have))
	if err != nil {
		return nil, fmt.Errorf("begin passkey: %w", err)
	}
	challenge, err := s.challenge()
	if err != nil {
		return nil, err
	}
	options.Response.Challenge, data.Challenge = challenge, base64.RawURLEncoding.EncodeToString(challenge)
	return s.open(ctx, ceremonyAdd, session.UserID, browser, data, options.Response)
}

// AddPasskey checks the answer of the browser and keeps the passkey. Everything else that acts for the person ends; the
// session goes on under another secret.
func (s *Service) AddPasskey(ctx context.Context, session *Session, browser, id, answer, name string, from Device) (*Session, string, error) {
	c, data, err := s.take(ctx, ceremonyAdd, id, browser)
	if err != nil {
		return nil, "", err
	}
	if c.UserID != session.UserID {
		return nil, "", ErrPasskey
	}
	if name, err = CleanName("name", orElse(name, "Passkey"), 80); err != nil {
		return nil, "", err
	}
	holder, err := s.holder(ctx, &session.Person)
	if err != nil {
		return nil, "", err
	}
	parsed, err := parseCreated(answer)
	if err != nil {
		return nil, "", err
	}
	made, err := s.party.CreateCredential(holder, *data, parsed)
	if err != nil {
		return nil, "", refusePasskey(err)
	}
	p, err := s.passkeyOf(made, session.UserID, name)
	if err != nil {
		return nil, "", err
	}
	fresh, secret, err := s.change(ctx, session, from, func(ctx context.Context, c FactorChange) error {
		return s.store.AddPasskey(ctx, *p, maxPasskeys, c)
	})
	if err != nil {
		return nil, "", err
	}
	s.note(ctx, Happening{Action: ActionPasskeyAdded, UserID: session.UserID, From: from, Detail: name})
	return fresh, secret, nil
}

func parseCreated(answer string) (*protocol.ParsedCredentialCreationData, error) {
	if len(answer) > maxPasskeyAnswer {
		return nil, ErrPasskey
	}
	parsed, err := protocol.ParseCredentialCreationResponseBytes([]byte(answer))
	if err != nil {
		return nil, refusePasskey(err)
	}
	return parsed, nil
}

func (s *Service) passkeyOf(made *webauthn.Credential, userID, name string) (*Passkey, error) {
	id, err := s.newID()
	if err != nil {
		return nil, err
	}
	p := &Passkey{
		ID: id, UserID: userID, Name: name, CredentialID: made.ID, PublicKey: made.PublicKey, AAGUID: slices.Clone(made.Authenticator.AAGUID),
		SignCount: made.Authenticator.SignCount, BackupEligible: made.Flags.BackupEligible, BackedUp: made.Flags.BackupState, CreatedAt: s.at(),
	}
	for _, t := range made.Transport {
		if slices.Contains(knownTransports, string(t)) {
			p.Transports = append(p.Transports, string(t))
		}
	}
	return p, nil
}

// knownTransports are kept as hints for the browser; others are not (WebAuthn §5.8.4).
var knownTransports = []string{"usb", "nfc", "ble", "smart-card", "hybrid", "internal"}

// refusal of a passkey with the library's reason, for the log.
type passkeyRefusal struct{ cause error }

// Error is the library's reason.
func (r *passkeyRefusal) Error() string {
	var p *protocol.Error
	if errors.As(r.cause, &p) && p.DevInfo != "" {
		return "passkey refused: " + p.Details + " (" + p.DevInfo + ")"
	}
	return "passkey refused: " + r.cause.Error()
}

// Unwrap makes it ErrPasskey.
func (r *passkeyRefusal) Unwrap() error { return ErrPasskey }

func refusePasskey(cause error) error { return &passkeyRefusal{cause} }

// RenamePasskey gives a passkey another name.
func (s *Service) RenamePasskey(ctx context.Context, session *Session, id, name string) error {
	name, err := CleanName("name", name, 80)
	if err != nil {
		return err
	}
	return wrap("rename passkey", s.store.RenamePasskey(ctx, session.UserID, id, name))
}

// RemovePasskey removes one. Everything else that acts for the person ends; the session goes on under another secret.
func (s *Service) RemovePasskey(ctx context.Context, session *Session, id string, from Device) (*Session, string, error) {
	return s.noted(ctx, ActionPasskeyRemoved, session, from, func(ctx context.Context, c FactorChange) error {
		return s.store.RemovePasskey(ctx, id, c)
	})
}
