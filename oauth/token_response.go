package oauth

// The successful answer of the token endpoint: OAuth 2.1 §3.2.3.

import "encoding/json"

// TokenResponse is the JSON body of a successful token request. Send it with Cache-Control: no-store.
type TokenResponse struct {
	AccessToken string `json:"access_token"`
	// TokenType is DPoP when the token is bound to a key (RFC 9449 §5), else Bearer.
	TokenType string `json:"token_type"`
	// ExpiresIn is the life of the access token in seconds, as a number: some clients refuse a string.
	ExpiresIn    int64  `json:"expires_in"`
	RefreshToken string `json:"refresh_token,omitempty"`
	// IDToken comes with a code for openid (OpenID Connect Core §3.1.3.3).
	IDToken string `json:"id_token,omitempty"`
	// Scope is always stated, since the person may have allowed less than was asked.
	Scope string `json:"scope"`
	// AuthorizationDetails are those granted (RFC 9396 §7).
	AuthorizationDetails json.RawMessage `json:"authorization_details,omitempty"`
	// GrantID names the connection for grant management; it opens nothing by itself.
	GrantID string `json:"grant_id,omitempty"`
	// ConnectionID and FamilyID are for the caller's log.
	ConnectionID string `json:"-"`
	FamilyID     string `json:"-"`
}
