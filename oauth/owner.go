package oauth

// The resource owner and what the authorization endpoint asks of them: OAuth 2.1 §1.1, §4.1.1; OpenID Connect Core
// §3.1.2.1 (prompt, max_age). How a person signs in is not this package's business.

import (
	"encoding/json"
	"time"
)

// ResourceOwner is the person at the browser. The zero value means that nobody is signed in.
type ResourceOwner struct {
	UserID string
	// AuthTime is when the person last proved who they are.
	AuthTime time.Time
	// ACR is how strongly they did, one of Config.ACRValues, and AMR how (RFC 8176). StrongestACR is how strongly they
	// could; empty when that is not known.
	ACR          string
	AMR          []string
	StrongestACR string
	// SignIn names the sign-in that they act through, in the embedding program's words; empty for none. See
	// AuthorizationCode.SignIn.
	SignIn string
}

// SignedIn reports whether there is a person.
func (o ResourceOwner) SignedIn() bool { return o.UserID != "" }

// NextStep says what a stored authorization request waits for.
type NextStep string

// What a request can wait for.
const (
	// NextSignIn: nobody is signed in, or the client wants a fresh sign-in. Resume again afterwards.
	NextSignIn NextStep = "sign_in"
	// NextConsent: show the consent page, then call Decide.
	NextConsent NextStep = "consent"
	// NextDecided: the request was decided before; Prompt.Outcome says how. Show a friendly page.
	NextDecided NextStep = "decided"
)

// OfferedScope is a scope that the consent page offers.
type OfferedScope struct {
	Name string
	// Ticked is the state the box starts in.
	Ticked bool
}

// Prompt is what to show a person for a stored request.
type Prompt struct {
	Next      NextStep
	RequestID string
	// Correlation ties the page to the record of attempts; unlike RequestID it is no capability.
	Correlation string
	// Outcome is OutcomeAllowed or OutcomeDenied when Next is NextDecided.
	Outcome string
	// ReauthenticationDemanded says that a person is signed in but the client demands a fresh sign-in.
	ReauthenticationDemanded bool
	// StrongerDemanded says that a fresh sign-in has to be stronger than the one there is.
	StrongerDemanded bool
	// LoginHint is the client's guess who signs in; hostile text.
	LoginHint string
	ExpiresAt time.Time

	// Client is nil while it is not known: a client document that is fetched only for a signed-in person. From here on
	// fields are set only when Client is.
	Client      *Client
	RedirectURI string
	// RedirectHost is the host (or private-use scheme) the answer goes to, to be shown.
	RedirectHost string
	// RedirectLoopback and RedirectPrivateScheme mean that any program on the person's computer could be asking.
	RedirectLoopback      bool
	RedirectPrivateScheme bool
	// Verified says that the client proved control of Client.Host or was entered by an administrator.
	Verified bool
	Resource *Resource
	// NewHost says that nobody on this server ever connected a client whose document is at Client.Host.
	NewHost bool
	// ScopeAsked reports whether the client asked for scopes of this resource; Requested are the known ones it asked for.
	ScopeAsked bool
	Requested  []string
	// Offered are the scopes to choose from, in the resource's order.
	Offered []OfferedScope
	// Details are the authorization details asked for, in normal form; nil for none.
	Details json.RawMessage
	// GrantAction is what the client wants done: empty, GrantCreate, GrantMerge or GrantReplace. Grant is the connection
	// that the latter two are about.
	GrantAction string
	Grant       *Connection
}

// Decision is what a person decided on the consent page.
type Decision struct {
	Allow bool
	// Refusal, when Allow is false, replaces the description of access_denied: the program refused, not the person.
	Refusal string
	// Scopes are the ticked scopes. Those that were not offered are ignored.
	Scopes []string
	// Terms are the product-specific parts, stored with the approval and never looked into.
	Terms json.RawMessage
	// Details are the authorization details that the person grants: nil grants those asked for, an empty array none. For
	// GrantMerge, Terms and Details are what the connection is to hold afterwards; scopes are added up here.
	Details json.RawMessage
	// ExpiresAt ends the connection; nil means until ended.
	ExpiresAt *time.Time
}

// AuthorizationResponse is where the browser goes after the decision.
type AuthorizationResponse struct {
	// RedirectURI is complete: code or error, state and iss appended. Answer with 303.
	RedirectURI string
	// Host is the host (or private-use scheme) of RedirectURI, to be shown.
	Host   string
	Denied bool
	// Untrusted says to show a page with the host and a link instead of redirecting (OAuth 2.1 §7.13.2). Only denials
	// are ever untrusted.
	Untrusted bool
	ClientID  string
}
