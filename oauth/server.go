package oauth

// Server is the protocol's composition: OAuth 2.1 draft-16 roles and endpoints without HTTP.

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"
)

// Stores are the stores a Server needs. One value may implement them all.
type Stores struct {
	Clients  ClientStore
	Requests RequestStore
	Codes    CodeStore
	Tokens   TokenStore
	Keys     KeyStore
	Proofs   ProofStore
	// Grants, Devices and Issuers are for grants that may be left out: client credentials, devices, assertions of trusted
	// issuers (these need Grants too). What is nil is not offered.
	Grants  GrantStore
	Devices DeviceStore
	Issuers IssuerStore
}

// Config is what a Server is made from.
type Config struct {
	// Issuer is the issuer identifier: scheme and host, no path, no trailing slash.
	Issuer string
	// Resources are the protected resources; the first is the default one.
	Resources []Resource
	// DynamicRegistration and ClientDocuments switch the two ways of self-registration.
	DynamicRegistration bool
	ClientDocuments     bool
	// Policy, when set, says what holds for clients right now, in place of the two switches.
	Policy func(ctx context.Context) (Policy, error)
	// Limit, when set, counts a request of a client. perMinute is the client's own limit or zero. Unless proven, the request
	// only names the client, which anybody can do: it must not use up what other senders have.
	Limit func(ctx context.Context, clientID string, perMinute int, proven bool) error
	// MaxDynamicClients is the ceiling of self-registered clients. Zero means 100,000.
	MaxDynamicClients int
	// DetailTypes are the types of authorization details (RFC 9396). None switches them off.
	DetailTypes []DetailType
	// RedirectExceptions are exact redirect URIs whose scheme has no dot (private-use schemes otherwise need one).
	RedirectExceptions []string
	// SigningAlgorithm is ES256 (default), RS256 or EdDSA.
	SigningAlgorithm string
	// OpenID offers the scopes openid and email, ID tokens and the userinfo endpoint.
	OpenID bool
	// ACRValues are the strengths of a sign-in that ResourceOwner.ACR can have, weakest first. Empty switches acr_values off.
	ACRValues []string
	// Fetch reads client documents and key sets. Required when ClientDocuments is set; without it private_key_jwt is not
	// offered.
	Fetch DocumentFetcher
	// DeviceKey is the secret under which user codes are hashed; without it the device grant is not offered.
	DeviceKey []byte
	// Subjects knows the people of trusted issuers; without it assertions are not accepted.
	Subjects SubjectResolver
	// Sealer seals private keys.
	Sealer Sealer
	// Observe, when set, is told of each step of a connection attempt.
	Observe func(ctx context.Context, s Step)
	// ServiceDocumentation is the URL put into the metadata, if any.
	ServiceDocumentation string
	Now                  func() time.Time
	Rand                 io.Reader
}

// FetchedDocument is the answer to a document fetch.
type FetchedDocument struct {
	Status      int
	ContentType string
	ETag        string
	// CacheControl and Expires are the raw header values.
	CacheControl string
	Expires      string
	Body         []byte
}

// DocumentFetcher fetches a URL under guard: no special-use addresses, no redirects, bounded size and time.
// ifNoneMatch may be empty.
type DocumentFetcher interface {
	FetchDocument(ctx context.Context, url, ifNoneMatch string) (*FetchedDocument, error)
	// FetchKeySet does the same for a JWK Set, which may be larger.
	FetchKeySet(ctx context.Context, url string) (*FetchedDocument, error)
}

// Step is one observed step of a connection attempt. It never carries a secret.
type Step struct {
	// Name is one of the Step… constants.
	Name string
	// OK is false when a check refused.
	OK bool
	// ClientID, RequestID, ConnectionID, UserID tie steps together, as far as known.
	ClientID, RequestID, ConnectionID, UserID string
	// Check names the check that refused, Reason is the fixed description given to the client.
	Check, Reason string
	// Detail is a short fact without secrets (redirect host, document status and milliseconds, grant type).
	Detail string
}

// Names of steps.
const (
	StepRegister      = "client_registered"
	StepDocument      = "document_fetched"
	StepAuthorize     = "authorize"
	StepConsentShown  = "consent_shown"
	StepDecision      = "decision"
	StepCodeRedeemed  = "code_redeemed"
	StepTokenRefresh  = "token_refreshed"
	StepTokenGranted  = "token_granted" // by the client's own credentials or an assertion
	StepTokenRevoked  = "token_revoked"
	StepReuseDetected = "reuse_detected"
	// StepStaleRefused is an old refresh token of a client whose installations live on (ClientSettings.KeepOnStale).
	StepStaleRefused = "stale_token_refused"
	// StepClientChanged is metadata of a client that changed; Detail names the members.
	StepClientChanged = "client_changed"
	StepClientDeleted = "client_deleted"
)

// Server decides; it knows neither HTTP handlers nor tables. It is safe for concurrent use and keeps no state that must
// survive: any number of processes over one set of stores behave as one.
type Server struct {
	cfg    Config
	stores Stores
	docs   *documents // in client_document.go: single flight and limits for metadata documents
	keys   *keyring   // in keyring.go: the opened signing keys, reloaded when stale
	// published is the policy that the metadata followed last.
	published atomic.Pointer[Policy]
	verified  *otter.Cache[[sha256.Size]byte, *verifiedToken]
}

// New makes a Server. It reports everything that is wrong with the configuration at once. It touches no store: call
// EnsureKeys before the first request.
func New(cfg Config, stores Stores) (*Server, error) {
	if err := errors.Join(cfg.check(), stores.check()); err != nil {
		return nil, fmt.Errorf("oauth: configuration: %w", err)
	}
	if cfg.SigningAlgorithm == "" {
		cfg.SigningAlgorithm = algES256
	}
	cfg.Resources = slices.Clone(cfg.Resources)
	if cfg.OpenID {
		cfg.Resources = withIdentity(cfg.Resources)
	}
	verified, err := otter.New(&otter.Options[[sha256.Size]byte, *verifiedToken]{MaximumSize: verifiedTokens})
	if err != nil {
		return nil, fmt.Errorf("oauth: cache of verified tokens: %w", err)
	}
	s := &Server{cfg: cfg, stores: stores, docs: newDocuments(cfg), verified: verified}
	s.keys = newKeyring(stores.Keys, cfg.Sealer, cfg.SigningAlgorithm, s.now)
	return s, nil
}

// Resources returns the protected resources, the default one first. Do not change what it points to.
func (s *Server) Resources() []Resource { return s.cfg.Resources }

// Issuer returns the issuer identifier.
func (s *Server) Issuer() string { return s.cfg.Issuer }

func (s *Server) now() time.Time { return s.cfg.Now().UTC().Truncate(time.Millisecond) }

func (s *Server) observe(ctx context.Context, step Step) {
	if s.cfg.Observe != nil {
		s.cfg.Observe(ctx, step)
	}
}

// finishTime is how long a state change may take once begun.
const finishTime = 10 * time.Second

// finish detaches a state change from the caller: a client that hangs up must not leave it half told.
func finish(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), finishTime)
}

// storeFailure is the answer when a store fails: never invalid_grant or invalid_client, on which clients throw their
// tokens or registration away. A protocol error passes through.
func storeFailure(operation string, err error) *Error {
	var protocol *Error
	if errors.As(err, &protocol) {
		return protocol
	}
	return TemporarilyUnavailable(fmt.Errorf("%s: %w", operation, err))
}

type deviceHintKey struct{}

// WithDeviceHint attaches a short description of the calling device (a product name of its User-Agent) to the context of
// a token request; the family made by the exchange keeps it, to be shown to the person.
func WithDeviceHint(ctx context.Context, hint string) context.Context {
	return context.WithValue(ctx, deviceHintKey{}, hint)
}

func deviceHint(ctx context.Context) string {
	hint, _ := ctx.Value(deviceHintKey{}).(string)
	return hint
}
