package handshake

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"
)

// Names of steps, in the order of a connection's life. Those that the protocol's library observes bear its names.
const (
	StepChallenge        = "challenge_sent"
	StepResourceMetadata = "resource_metadata_read"
	StepServerMetadata   = "server_metadata_read"
	StepRegister         = "client_registered"
	StepDocument         = "document_fetched"
	StepAuthorize        = "authorize"
	StepSignedIn         = "signed_in"
	StepConsentShown     = "consent_shown"
	StepDecision         = "decision"
	StepRedirected       = "redirected"
	StepCodeRedeemed     = "code_redeemed"
	StepTokenRefreshed   = "token_refreshed"
	StepTokenGranted     = "token_granted"
	StepTokenRevoked     = "token_revoked"
	StepReuseDetected    = "reuse_detected"
	StepFirstRequest     = "first_request"
	StepFirstToolCall    = "first_tool_call"
)

// Event is one thing that happened on the way to a connection. No field may hold a secret.
type Event struct {
	At   time.Time
	Step string
	// OK is false when a check refused.
	OK bool
	// Check names the check that refused; Reason is the fixed text that the client was given.
	Check, Reason string
	// Detail is a short fact: redirect host, status, grant type, shape of a value.
	Detail string
	// Duration is how long the step took, where that says something.
	Duration time.Duration
	// IP and UserAgent are the source. The recorder takes them from the context when they are empty.
	IP, UserAgent string
	// What the event is tied by, as far as known. RequestID is the request's correlation id, not its capability.
	ClientID, RequestID, ConnectionID, UserID string
	// FamilyID tells one installation's first request from another's.
	FamilyID   string
	ClientName string
	// Resource is the endpoint that the app wants.
	Resource string
	// HTTPRequest is the id of the HTTP request; an error page shows it. The recorder takes it from the context when empty.
	HTTPRequest string
}

// Once reports whether an attempt has a step of this kind at most once: the first of many calls, or a page that is shown
// again when it is loaded again.
func (e *Event) Once() bool {
	return e.Step == StepFirstRequest || e.Step == StepFirstToolCall || e.Step == StepConsentShown && e.OK
}

// Opens reports whether the event may begin an attempt. The others join one or are forgotten.
func (e *Event) Opens() bool {
	switch e.Step {
	case StepChallenge, StepResourceMetadata, StepServerMetadata, StepRegister, StepDocument, StepAuthorize:
		return true
	case StepCodeRedeemed, StepTokenRefreshed, StepTokenGranted, StepReuseDetected:
		return !e.OK
	default:
		return false
	}
}

// Source is the address and user agent as one short key.
func (e *Event) Source() string {
	sum := sha256.Sum256([]byte(e.IP + "\n" + e.UserAgent))
	return hex.EncodeToString(sum[:12])
}

// SharedClient reports whether many installations share the client id, so that it alone ties nothing together: the id
// is the URL of a metadata document.
func (e *Event) SharedClient() bool { return strings.HasPrefix(e.ClientID, "https://") }

// Lengths that stored texts are cut to.
const (
	maxText      = 300
	maxUserAgent = 256
	maxID        = 512
)

// trim cuts every text to its length: what clients send is kept short.
func (e *Event) trim() {
	for field, limit := range map[*string]int{
		&e.Check: 64, &e.Reason: maxText, &e.Detail: maxText, &e.IP: 64, &e.UserAgent: maxUserAgent, &e.ClientID: maxID,
		&e.RequestID: 64, &e.ConnectionID: 64, &e.UserID: 64, &e.FamilyID: 64, &e.ClientName: 100, &e.Resource: maxID, &e.HTTPRequest: 64,
	} {
		*field = clean(*field, limit)
	}
}

// clean drops control characters and broken encoding and cuts to a number of bytes, at a character's border.
func clean(s string, limit int) string {
	s = strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7f || r == '\uFFFD' {
			return -1
		}
		return r
	}, s)
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "")
}

// Step is a step as the protocol's library observes it. Its fields are those of that library's type, in order, so that
// the one converts to the other.
type Step struct {
	Name                                      string
	OK                                        bool
	ClientID, RequestID, ConnectionID, UserID string
	Check, Reason                             string
	Detail                                    string
}

type sourceKey struct{}

type source struct{ ip, userAgent string }

// WithSource puts the address and user agent of a request into its context.
func WithSource(ctx context.Context, ip, userAgent string) context.Context {
	return context.WithValue(ctx, sourceKey{}, source{ip, userAgent})
}

func sourceFrom(ctx context.Context) source {
	s, _ := ctx.Value(sourceKey{}).(source)
	return s
}

type httpRequestKey struct{}

// WithHTTPRequest puts the id of an HTTP request into its context.
func WithHTTPRequest(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, httpRequestKey{}, id)
}

func httpRequestFrom(ctx context.Context) string {
	id, _ := ctx.Value(httpRequestKey{}).(string)
	return id
}

// AddressFrom is the address in a request's context; empty outside requests.
func AddressFrom(ctx context.Context) string { return sourceFrom(ctx).ip }
