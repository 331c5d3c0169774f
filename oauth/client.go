package oauth

// Clients: RFC 7591 §2 (metadata), RFC 6749 §2.1 (types), draft-ietf-oauth-client-id-metadata-document (documents).

import (
	"context"
	"encoding/json"
	"slices"
	"time"
)

// ClientKind says how a client became known.
type ClientKind string

// The three ways a client becomes known.
const (
	ClientDynamic    ClientKind = "dynamic"    // registered itself, RFC 7591
	ClientDocument   ClientKind = "document"   // its id is the URL of its metadata document
	ClientRegistered ClientKind = "registered" // entered by an administrator
)

// Client authentication methods at the token endpoint (RFC 7591 §2).
const (
	AuthNone  = "none"
	AuthBasic = "client_secret_basic"
	AuthPost  = "client_secret_post"
	// AuthPrivateKeyJWT is authentication by an assertion that the client signs (RFC 7523 §2.2).
	AuthPrivateKeyJWT = "private_key_jwt"
)

// Client is what the authorization server knows of an OAuth client.
type Client struct {
	ID   string
	Kind ClientKind
	// Name is what the client calls itself. It is a claim, not a fact.
	Name string
	// Host is the host name that the metadata document was fetched from; empty for other kinds.
	Host string
	// SecretHash is the SHA-256 of the secret; nil for public clients.
	SecretHash []byte
	// AuthMethods are the methods this client may use at the token endpoint. The first is the registered one.
	AuthMethods   []string
	RedirectURIs  []string
	GrantTypes    []string
	ResponseTypes []string
	// Scope is the scope value of the registration, space separated; informative.
	Scope           string
	ApplicationType string
	ClientURI       string
	LogoURI         string
	TOSURI          string
	PolicyURI       string
	SoftwareID      string
	SoftwareVersion string
	Contacts        []string
	// JWKS is the client's key set and JWKSURI where it is published; one of them is set exactly for clients that may use
	// private_key_jwt. AssertionAlgorithm, when set, is the only algorithm of their assertions.
	JWKS               json.RawMessage
	JWKSURI            string
	AssertionAlgorithm string
	// RequirePushed says that the client only sends pushed authorization requests (RFC 9126 §6).
	RequirePushed bool
	// DPoPBound says that the client always wants tokens bound to a key (RFC 9449 §5.2).
	DPoPBound bool
	// IDTokenAlgorithm is the algorithm of the client's ID tokens; empty for RS256.
	IDTokenAlgorithm string
	// DeviceGrant says that an administrator allows the client the device grant (RFC 8628).
	DeviceGrant bool
	// Document is the state of the metadata document; nil for other kinds.
	Document *DocumentState
	// RegistrationHash is the SHA-256 of the registration access token (RFC 7592); nil when there is none.
	RegistrationHash []byte
	// PendingAt, when set, says since when a client that registered itself waits for an administrator.
	PendingAt *time.Time
	// Settings are an administrator's switches for this client.
	Settings ClientSettings
	// Changes says when members of the metadata changed last, by their names.
	Changes map[string]time.Time
	// BlockedAt, when set, shuts the client out.
	BlockedAt  *time.Time
	CreatedAt  time.Time
	LastSeenAt time.Time
}

// ClientSettings are switches that an administrator sets for one client. The client's own metadata never changes them.
type ClientSettings struct {
	// KeepOnStale lets an installation live on when an old refresh token of it comes back: the token is refused and noted.
	KeepOnStale bool `json:"keep_on_stale,omitempty"`
	// RequirePushed refuses authorization requests that were not pushed, whatever the client's metadata says.
	RequirePushed bool `json:"require_pushed,omitempty"`
	// PerMinute is how many requests the client may send to the endpoints that it authenticates at; zero means the default.
	PerMinute int `json:"per_minute,omitempty"`
}

// DocumentState is the caching state of a client ID metadata document.
type DocumentState struct {
	ETag      string
	Digest    []byte // SHA-256 of the body
	FetchedAt time.Time
	// FreshUntil is when the document must be asked for again.
	FreshUntil time.Time
}

// Public reports whether the client may authenticate with none.
func (c *Client) Public() bool { return slices.Contains(c.AuthMethods, AuthNone) }

// HasGrantType reports whether the client may use the grant. authorization_code implies refresh_token.
func (c *Client) HasGrantType(grant string) bool {
	return slices.Contains(c.GrantTypes, grant) ||
		grant == GrantRefreshToken && slices.Contains(c.GrantTypes, GrantAuthorizationCode)
}

// Grant types (RFC 6749 §4.1.3, §6).
const (
	GrantAuthorizationCode = "authorization_code"
	GrantRefreshToken      = "refresh_token"
)

// ClientStore keeps clients.
type ClientStore interface {
	// Client returns the client with this id, or ErrNotFound.
	Client(ctx context.Context, id string) (*Client, error)
	// SaveClient inserts the client or replaces the row with its id. CreatedAt, DeviceGrant, RegistrationHash, PendingAt and
	// Settings of an existing row stay; a new row has DeviceGrant off.
	SaveClient(ctx context.Context, c *Client) error
	// AllowDevices switches the device grant of a client. ErrNotFound when there is no such client.
	AllowDevices(ctx context.Context, id string, allow bool) error
	// TouchClient notes that the client was seen.
	TouchClient(ctx context.Context, id string, at time.Time) error
	// CountClients returns how many clients of the kind exist (the ceiling of dynamic registration).
	CountClients(ctx context.Context, kind ClientKind) (int, error)
	// ClientHasConnection reports whether a live connection names this client.
	ClientHasConnection(ctx context.Context, id string) (bool, error)
	// UseAssertion remembers the hash of a client assertion's identity until it expires. One used before gives ErrUsed.
	UseAssertion(ctx context.Context, hash []byte, expires time.Time) error
	// DeleteUnusedClients removes dynamic and document clients created before the time that never had a connection.
	DeleteUnusedClients(ctx context.Context, before time.Time) (int, error)
	ManagementStore
}
