package oauth

// The rows between a person's approval and the tokens: request, code, connection, family, refresh token.
// A connection is what RFC 6749 calls the authorization grant made durable: one person, one client, one resource.

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"time"
)

// AuthorizationRequest is a stored request to the authorization endpoint. Pages carry only its ID; its values are never
// read from a form again.
type AuthorizationRequest struct {
	// ID is 32 random bytes in base64url. It is a capability: only its SHA-256 is stored.
	ID string
	// Parameters are the parameters as sent, for clients that can be checked only once the person is signed in.
	Parameters map[string][]string
	ClientID   string
	// Pushed says that the client sent the parameters itself (RFC 9126).
	Pushed    bool
	CreatedAt time.Time
	ExpiresAt time.Time
	// DecidedAt is set by the one decision.
	DecidedAt *time.Time
	// BrowserHash is the SHA-256 of what names the browser it belongs to; nil as long as it belongs to none.
	BrowserHash []byte
	// Outcome is OutcomeAllowed or OutcomeDenied once decided.
	Outcome string
	// DecidedBy is the sign-in that allowed the request, and AnswerSealed its answer, encrypted under a key derived from ID.
	DecidedBy    string
	AnswerSealed []byte
}

// PushedRequest is an authorization request that a client pushed and no browser has opened yet (RFC 9126).
type PushedRequest struct {
	// ID is 32 random bytes in base64url, the end of the request_uri. Only its SHA-256 is stored.
	ID         string
	ClientID   string
	Parameters map[string][]string
	CreatedAt  time.Time
	ExpiresAt  time.Time
	// OpenedAt is set by the first browser that brings it.
	OpenedAt *time.Time
}

// Outcomes of an authorization request.
const (
	OutcomeAllowed = "allowed"
	OutcomeDenied  = "denied"
)

// Correlation names the request in logs and in the record of attempts without giving its capability away.
func (r *AuthorizationRequest) Correlation() string { return RequestCorrelation(r.ID) }

// RequestCorrelation is Correlation for a bare request id.
func RequestCorrelation(id string) string {
	return base64.RawURLEncoding.EncodeToString(HashSecret("request " + id))[:16]
}

// Approval is what a person allowed a client.
type Approval struct {
	UserID   string
	ClientID string
	Resource string
	Scopes   []string
	// Terms are the approval's product-specific parts as the embedding program defines them; this package stores them
	// with the code, hands them to the store at the exchange, and never looks inside.
	Terms json.RawMessage
	// Details are the granted authorization details (RFC 9396): a JSON array, or nil for none.
	Details json.RawMessage
	// ExpiresAt ends the connection; nil means until ended.
	ExpiresAt *time.Time
	// GrantAction is GrantCreate where the living connection, if any, is to end and a new one to begin.
	GrantAction string
	// GrantID, when set, is the connection that the approval is for: when that is no more, there is nothing to redeem.
	GrantID string
}

// AuthorizationCode is an issued code with all it is bound to (OAuth 2.1 §4.1.2).
type AuthorizationCode struct {
	Hash          []byte // SHA-256 of the code
	RequestID     string // correlation id of the request (not its capability): for the record of attempts
	Approval      Approval
	RedirectURI   string
	CodeChallenge string
	// KeyThumbprint is the dpop_jkt of the request: only the holder of that key can redeem the code (RFC 9449 §10).
	KeyThumbprint string
	// Nonce is the client's, for the ID token.
	Nonce    string
	AuthTime time.Time
	// ACR and AMR say how strongly and how the person signed in.
	ACR string
	AMR []string
	// SignIn, when set, names the sign-in that decided. The store refuses a code whose sign-in has ended: a decision that
	// was under way while the person signed out everywhere must not outlive that. It is not kept.
	SignIn string
	// AnswerSealed goes to the request together with SignIn; see AuthorizationRequest. It is not kept here either.
	AnswerSealed []byte

	IssuedAt  time.Time
	ExpiresAt time.Time
	UsedAt    *time.Time
	// FamilyID is set at the redemption: what a replay ends.
	FamilyID string
}

// Connection is the durable approval that tokens hang from.
type Connection struct {
	ID          string
	UserID      string
	ClientID    string
	Resource    string
	Scopes      []string
	Terms       json.RawMessage
	Details     json.RawMessage
	ExpiresAt   *time.Time
	CreatedAt   time.Time
	UpdatedAt   time.Time
	LastUsedAt  *time.Time
	EndedAt     *time.Time
	EndedReason string
}

// Family is one installation of a client under a connection: all tokens descended from one code.
type Family struct {
	ID           string
	ConnectionID string
	DeviceHint   string
	// Scopes are those granted when the code was redeemed: what the client believes to hold.
	Scopes []string
	// Details are the authorization details granted when the code was redeemed.
	Details json.RawMessage
	// KeyThumbprint is the key that the refresh tokens of a public client are bound to, if any (RFC 9449 §5).
	KeyThumbprint string
	// ACR and AuthTime are of the sign-in that approved; zero for a family from before this was kept.
	ACR         string
	AuthTime    time.Time
	CreatedAt   time.Time
	LastUsedAt  *time.Time
	EndedAt     *time.Time
	EndedReason string
}

// RefreshToken is one link of a family's chain.
type RefreshToken struct {
	Hash     []byte // SHA-256 of the token
	FamilyID string
	// ParentHash is the predecessor's hash; nil for the first.
	ParentHash []byte
	// SuccessorHash is set by the rotation that used this token up.
	SuccessorHash []byte
	// SuccessorSealed is the successor, encrypted under a key derived from this token, so that only its holder can read it.
	SuccessorSealed []byte
	CreatedAt       time.Time
	// RotatedAt is when SuccessorHash was set.
	RotatedAt *time.Time
	ExpiresAt time.Time
}

// Reasons for the end of a connection or a family.
const (
	EndedByUser     = "user"
	EndedByClient   = "client"
	EndedByAdmin    = "admin"
	EndedByReuse    = "reuse"
	EndedByReplay   = "code_replay"
	EndedByExpiry   = "expired"
	EndedByDeletion = "client_deleted"
	// EndedByReplacement: the client began a new connection in its place.
	EndedByReplacement = "replaced"
)

// RequestStore keeps authorization requests.
type RequestStore interface {
	// SaveRequest stores a new request.
	SaveRequest(ctx context.Context, r *AuthorizationRequest) error
	// Request returns the request with this id, or ErrNotFound. Expired rows are returned too.
	Request(ctx context.Context, id string) (*AuthorizationRequest, error)
	// BindRequest gives a request that belongs to no browser to one, by one conditional UPDATE. ErrConflict when it belongs
	// to another by then or is not there.
	BindRequest(ctx context.Context, id string, browserHash []byte) error
	// DecideRequest marks the request decided and, when code is not nil, stores the code: one transaction, one winner.
	// With the code's SignIn and AnswerSealed it notes who allowed it and the answer. A request decided before gives ErrUsed, a code whose sign-in has ended ErrEnded; both change nothing.
	DecideRequest(ctx context.Context, id, outcome string, at time.Time, code *AuthorizationCode) error
	// SavePushedRequest stores a new pushed request.
	SavePushedRequest(ctx context.Context, p *PushedRequest) error
	// PushedRequest returns the pushed request with this id, or ErrNotFound. Expired rows are returned too.
	PushedRequest(ctx context.Context, id string) (*PushedRequest, error)
	// OpenPushedRequest marks the pushed request opened and stores the authorization request that takes its place: one
	// transaction, one winner. One opened before gives ErrUsed.
	OpenPushedRequest(ctx context.Context, id string, at time.Time, r *AuthorizationRequest) error
}

// Redemption is one exchange of a code: the facts the store needs to do it in one transaction.
type Redemption struct {
	CodeHash []byte
	At       time.Time
	// NewConnectionID is used when the person has no live connection for this client and resource.
	NewConnectionID string
	FamilyID        string
	DeviceHint      string
	// KeyThumbprint is the key that the family is bound to, if any.
	KeyThumbprint string
	// ACR and AuthTime are of the sign-in that approved.
	ACR      string
	AuthTime time.Time
	// Refresh is the family's first refresh token; its FamilyID is FamilyID.
	Refresh *RefreshToken
}

// CodeStore keeps authorization codes and turns them into connections.
type CodeStore interface {
	// Code returns the code with this hash, or ErrNotFound.
	Code(ctx context.Context, hash []byte) (*AuthorizationCode, error)
	// RedeemCode uses the code up by one conditional UPDATE and, in the same transaction, creates the connection or
	// updates the live one of the same person, client and resource to the approval, and creates family and refresh token.
	// A code used before gives ErrUsed and changes nothing. A disabled person gives ErrEnded, and so does an approval for a
	// GrantID that is not the live connection. With GrantCreate the live connection ends and a new one is made.
	RedeemCode(ctx context.Context, r Redemption) (*Connection, error)
}

// Lineage is a refresh token with the rows it stands on.
type Lineage struct {
	Token      RefreshToken
	Family     Family
	Connection Connection
	// SuccessorUsed reports whether the token's successor was itself rotated.
	SuccessorUsed bool
	// UserDisabled reports whether the person may no longer sign in.
	UserDisabled bool
}

// TokenStore keeps refresh tokens, families and connections.
type TokenStore interface {
	// Lineage returns the refresh token with this hash together with family, connection and person, or ErrNotFound.
	Lineage(ctx context.Context, hash []byte) (*Lineage, error)
	// RotateRefreshToken sets the successor of the presented token by one conditional UPDATE (successor still unset) and
	// inserts the successor, in one transaction. ErrConflict when another rotation won.
	RotateRefreshToken(ctx context.Context, presented []byte, successor *RefreshToken, sealed []byte, at time.Time) error
	// RenewRefreshToken moves the expiry of a token that is not rotated (confidential clients, families bound to a key).
	// ErrNotFound when there is none, also because a rotation won.
	RenewRefreshToken(ctx context.Context, hash []byte, at, expires time.Time) error
	// RotateAndBind is RotateRefreshToken that also binds the successor's family to a key, in one transaction. ErrConflict
	// also when the family is bound; then nothing changed.
	RotateAndBind(ctx context.Context, presented []byte, successor *RefreshToken, sealed []byte, at time.Time, keyThumbprint string) error
	// Grant returns the connection with this id, ended ones too, or ErrNotFound.
	Grant(ctx context.Context, id string) (*Connection, error)
	// EndFamily ends one family. It reports whether this call ended it.
	EndFamily(ctx context.Context, id, reason string, at time.Time) (bool, error)
	// EndConnection ends a connection. It reports whether this call ended it.
	EndConnection(ctx context.Context, id, reason string, at time.Time) (bool, error)
	// Standing returns what an access token stands on, or ErrNotFound when there is no such connection or family.
	Standing(ctx context.Context, connectionID, familyID, jti string) (*Standing, error)
	// RevokeAccessToken remembers the jti of one access token until its expiry, so that only it stops working.
	RevokeAccessToken(ctx context.Context, jti string, expires time.Time) error
	// SaveAccessToken stores a token that is looked up.
	SaveAccessToken(ctx context.Context, t *StoredToken) error
	// AccessToken returns the stored token with this hash and what its family says, or ErrNotFound. Expired rows are
	// returned too; whether the connection still stands is not looked at.
	AccessToken(ctx context.Context, hash []byte) (*AccessToken, error)
}
