package oauth

// Errors of the protocol: RFC 6749 §4.1.2.1 and §5.2, RFC 6750 §3.1, RFC 7591 §3.2.2, RFC 7009 §2.2.1, RFC 8707 §2.
//
// One constructor per code is the only way to make one, so that code and status belong together.

import (
	"errors"
	"net/http"
	"strings"
	"time"
)

// Sentinels that stores return. Callers test them with errors.Is.
var (
	// ErrNotFound says that no row has the key asked for.
	ErrNotFound = errors.New("oauth: not found")
	// ErrUsed says that a single-use row was used before.
	ErrUsed = errors.New("oauth: already used")
	// ErrConflict says that another writer got there first; reading again shows its result.
	ErrConflict = errors.New("oauth: conflict")
	// ErrEnded says that a connection or a family has ended.
	ErrEnded = errors.New("oauth: ended")
)

// Error is an error for the client's developer: a code of an RFC, the HTTP status that goes with it, and a fixed ASCII
// description. Cause is for the log alone.
type Error struct {
	Code        string
	Status      int
	Description string
	// RetryAfter, when positive, goes into the Retry-After header.
	RetryAfter time.Duration
	// Challenge, when set, is the value of a WWW-Authenticate header (RFC 6749 §5.2: Basic).
	Challenge string
	// Check names the check that refused, for the record of connection attempts ("redirect_uri", "code_verifier" …).
	Check string
	// ClientID is the client that the error is about, where that is known and helps to explain it.
	ClientID string
	Cause    error
}

// Error implements error. It holds no secret: code and description are fixed texts.
func (e *Error) Error() string {
	if e.Cause != nil {
		return e.Code + ": " + e.Description + ": " + e.Cause.Error()
	}
	return e.Code + ": " + e.Description
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Cause }

// WithCause returns e with its cause set; e must be fresh from a constructor.
func (e *Error) WithCause(err error) *Error { e.Cause = err; return e }

// WithCheck returns e with the name of the check that refused.
func (e *Error) WithCheck(name string) *Error { e.Check = name; return e }

// RedirectError is an error that goes back to the client's redirect URI with state and iss (RFC 6749 §4.1.2.1,
// RFC 9207 §2). It exists only once client and redirect URI are proven.
type RedirectError struct {
	Err         *Error
	ClientID    string
	RedirectURI string
	State       string
	HasState    bool
	// Untrusted says that the target should be shown with a link instead of being followed at once (OAuth 2.1 §7.13.2).
	Untrusted bool
}

// Error implements error.
func (e *RedirectError) Error() string { return "redirect: " + e.Err.Error() }

// Unwrap gives the protocol error.
func (e *RedirectError) Unwrap() error { return e.Err }

func newError(status int, code, description string) *Error {
	return &Error{Code: code, Status: status, Description: CleanDescription(description)}
}

// CleanDescription keeps the characters that RFC 6749 §5.2 allows in error_description: %x20-21, %x23-5B, %x5D-7E.
func CleanDescription(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r > 0x7e || r == '"' || r == '\\' {
			return -1
		}
		return r
	}, s)
}

// InvalidRequest is invalid_request of RFC 6749 §5.2.
func InvalidRequest(description string) *Error {
	return newError(http.StatusBadRequest, "invalid_request", description)
}

// InvalidClient is invalid_client of RFC 6749 §5.2, always with status 401.
func InvalidClient(description string) *Error {
	return newError(http.StatusUnauthorized, "invalid_client", description)
}

// InvalidGrant is invalid_grant of RFC 6749 §5.2.
func InvalidGrant(description string) *Error {
	return newError(http.StatusBadRequest, "invalid_grant", description)
}

// UnauthorizedClient is unauthorized_client of RFC 6749 §5.2.
func UnauthorizedClient(description string) *Error {
	return newError(http.StatusBadRequest, "unauthorized_client", description)
}

// UnsupportedGrantType is unsupported_grant_type of RFC 6749 §5.2.
func UnsupportedGrantType(description string) *Error {
	return newError(http.StatusBadRequest, "unsupported_grant_type", description)
}

// UnsupportedResponseType is unsupported_response_type of RFC 6749 §4.1.2.1.
func UnsupportedResponseType(description string) *Error {
	return newError(http.StatusBadRequest, "unsupported_response_type", description)
}

// InvalidScope is invalid_scope of RFC 6749 §5.2.
func InvalidScope(description string) *Error {
	return newError(http.StatusBadRequest, "invalid_scope", description)
}

// InvalidTarget is invalid_target of RFC 8707 §2.
func InvalidTarget(description string) *Error {
	return newError(http.StatusBadRequest, "invalid_target", description)
}

// InvalidAuthorizationDetails is invalid_authorization_details of RFC 9396 §5.
func InvalidAuthorizationDetails(description string) *Error {
	return newError(http.StatusBadRequest, "invalid_authorization_details", description)
}

// InvalidGrantID is invalid_grant_id of the grant management draft.
func InvalidGrantID(description string) *Error {
	return newError(http.StatusBadRequest, "invalid_grant_id", description)
}

// AccessDenied is access_denied of RFC 6749 §4.1.2.1.
func AccessDenied(description string) *Error {
	return newError(http.StatusForbidden, "access_denied", description)
}

// ServerError is server_error of RFC 6749 §4.1.2.1: a fault of ours that waiting does not mend.
func ServerError(cause error) *Error {
	return newError(http.StatusInternalServerError, "server_error", "The server met an unexpected condition.").WithCause(cause)
}

// TemporarilyUnavailable is temporarily_unavailable of RFC 6749 §4.1.2.1: a fault of ours that passes.
func TemporarilyUnavailable(cause error) *Error {
	e := newError(http.StatusServiceUnavailable, "temporarily_unavailable", "The server cannot answer right now. Try again shortly.").WithCause(cause)
	e.RetryAfter = 5 * time.Second
	return e
}

// SlowDown is the answer to a caller over a limit: temporarily_unavailable with status 429 and the time to wait.
func SlowDown(wait time.Duration) *Error {
	e := newError(http.StatusTooManyRequests, "temporarily_unavailable", "Too many requests. Wait and try again.")
	e.RetryAfter = wait
	return e
}

// RequestTooLarge answers a body over the limit.
func RequestTooLarge() *Error {
	return newError(http.StatusRequestEntityTooLarge, "invalid_request", "The request body is too large.")
}

// LoginRequired is login_required of OpenID Connect Core §3.1.2.6.
func LoginRequired() *Error {
	return newError(http.StatusBadRequest, "login_required", "Nobody is signed in and prompt=none forbids asking.")
}

// ConsentRequired is consent_required of OpenID Connect Core §3.1.2.6.
func ConsentRequired() *Error {
	return newError(http.StatusBadRequest, "consent_required", "Consent is needed and prompt=none forbids asking.")
}

// UnmetAuthentication is unmet_authentication_requirements of OpenID Connect Core Error Code
// unmet_authentication_requirements (RFC 9470 §5).
func UnmetAuthentication() *Error {
	return newError(http.StatusBadRequest, "unmet_authentication_requirements",
		"The app asks for a stronger sign-in than this account has. Add a second step or a passkey to the account, then start again from the app.")
}

// RequestNotSupported is request_not_supported of OpenID Connect Core §3.1.2.6.
func RequestNotSupported() *Error {
	return newError(http.StatusBadRequest, "request_not_supported", "Request objects are not supported.")
}

// RequestURINotSupported is request_uri_not_supported of OpenID Connect Core §3.1.2.6.
func RequestURINotSupported() *Error {
	return newError(http.StatusBadRequest, "request_uri_not_supported", "The request_uri parameter is not supported.")
}

// InvalidRedirectURI is invalid_redirect_uri of RFC 7591 §3.2.2.
func InvalidRedirectURI(description string) *Error {
	return newError(http.StatusBadRequest, "invalid_redirect_uri", description)
}

// InvalidClientMetadata is invalid_client_metadata of RFC 7591 §3.2.2.
func InvalidClientMetadata(description string) *Error {
	return newError(http.StatusBadRequest, "invalid_client_metadata", description)
}

// UnsupportedTokenType is unsupported_token_type of RFC 7009 §2.2.1.
func UnsupportedTokenType(description string) *Error {
	return newError(http.StatusBadRequest, "unsupported_token_type", description)
}

// InvalidDPoPProof is invalid_dpop_proof of RFC 9449 §5 and §7.1; a resource server sends it with status 401.
func InvalidDPoPProof(description string) *Error {
	return newError(http.StatusBadRequest, "invalid_dpop_proof", description)
}

// InvalidToken is invalid_token of RFC 6750 §3.1.
func InvalidToken(description string) *Error {
	return newError(http.StatusUnauthorized, "invalid_token", description)
}

// InsufficientScope is insufficient_scope of RFC 6750 §3.1.
func InsufficientScope(description string) *Error {
	return newError(http.StatusForbidden, "insufficient_scope", description)
}
