package oauth

// JWT access tokens: RFC 9068 §2 (header and claims), RFC 7519 §4.1.
//
// Beside the claims of RFC 9068 a token carries cid (connection), fam (family) and, when a refresh asked for less than
// the connection allows, nar or dna. It holds no personal data beyond the subject's id (§6).

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// typeAccessToken is the typ of the JOSE header (RFC 9068 §2.1).
const typeAccessToken = "at+jwt"

// AccessToken is a verified access token. Values are shared between callers: do not change them.
type AccessToken struct {
	// ID is jti.
	ID string
	// Subject is the person, or ClientSubject of a client that acts by its own credentials; ClientID is the client that was
	// issued the token.
	Subject  string
	ClientID string
	// Resource is the one audience.
	Resource     string
	ConnectionID string
	FamilyID     string
	// Scopes are those of the token. Unless Narrowed, the connection's current scopes apply instead of them, wider or
	// narrower; when Narrowed, the intersection of both.
	Scopes   []string
	Narrowed bool
	// Details are the authorization details of the token (RFC 9396 §9.1). Unless DetailsNarrowed, those of the connection
	// apply instead of them; when DetailsNarrowed, both.
	Details         json.RawMessage
	DetailsNarrowed bool

	IssuedAt  time.Time
	ExpiresAt time.Time
	KeyID     string
	// KeyThumbprint is the client's key that the token is bound to (cnf.jkt, RFC 9449 §6.1); empty for a bearer token.
	KeyThumbprint string
	// ACR is how strongly and AuthTime when the person signed in who approved this (RFC 9470 §6.2); zero for a family from
	// before this was kept.
	ACR      string
	AuthTime time.Time
}

// accessClaims are the claims as they stand in the token.
type accessClaims struct {
	Issuer       string   `json:"iss"`
	Subject      string   `json:"sub"`
	Audience     audience `json:"aud"`
	ClientID     string   `json:"client_id"`
	Scope        string   `json:"scope,omitempty"`
	ID           string   `json:"jti"`
	IssuedAt     *int64   `json:"iat"`
	ExpiresAt    *int64   `json:"exp"`
	NotBefore    *int64   `json:"nbf,omitempty"`
	ConnectionID string   `json:"cid"`
	FamilyID     string   `json:"fam"`
	Narrowed     bool     `json:"nar,omitempty"`
	// Details are authorization_details (RFC 9396 §9.1); DetailsNarrowed says that they are fewer than the connection's.
	Details         json.RawMessage `json:"authorization_details,omitempty"`
	DetailsNarrowed bool            `json:"dna,omitempty"`
	// Confirmation is how possession is proven (RFC 7800 §3.1).
	Confirmation *confirmation `json:"cnf,omitempty"`
	ACR          string        `json:"acr,omitempty"`
	AuthTime     *int64        `json:"auth_time,omitempty"`
}

// confirmation names the key of the token's holder (RFC 9449 §6.1).
type confirmation struct {
	KeyThumbprint string `json:"jkt"`
}

// audience is the one value of aud: a string, or an array of one on input.
type audience string

// UnmarshalJSON refuses several audiences: a token for this resource and another could be used by either against the
// other.
func (a *audience) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '[' {
		var all []string
		if err := json.Unmarshal(data, &all); err != nil {
			return err
		}
		if len(all) != 1 {
			return errors.New("aud has not exactly one value")
		}
		*a = audience(all[0])
		return nil
	}
	return json.Unmarshal(data, (*string)(a))
}

// mint makes an access token from what a grant proved and says when it expires.
func (s *Server) mint(ctx context.Context, grant *tokenGrant) (string, time.Time, *Error) {
	now := s.now()
	id, err := newUUID(s.cfg.Rand, now)
	if err != nil {
		return "", time.Time{}, ServerError(err)
	}
	issued := now.Truncate(time.Second)
	expires := issued.Add(grant.resource.accessTokenLife())
	if grant.ends != nil && grant.ends.Before(expires) {
		expires = grant.ends.Truncate(time.Second)
	}
	if grant.resource.OpaqueTokens {
		token, e := s.mintOpaque(ctx, grant, id, issued, expires)
		return token, expires, e
	}
	token, e := s.mintJWT(ctx, grant, id, issued, expires)
	return token, expires, e
}

func (s *Server) mintJWT(ctx context.Context, grant *tokenGrant, id string, issued, expires time.Time) (string, *Error) {
	signer, err := s.keys.signer(ctx)
	if err != nil {
		return "", storeFailure("find signing key", err)
	}
	iat, exp := issued.Unix(), expires.Unix()
	claims := accessClaims{
		Issuer: s.cfg.Issuer, Subject: grant.userID, Audience: audience(grant.resource.URI), ClientID: grant.clientID,
		Scope: formatScope(grant.scopes), ID: id, IssuedAt: &iat, ExpiresAt: &exp,
		ConnectionID: grant.connectionID, FamilyID: grant.familyID, Narrowed: grant.narrowed,
		Details: grant.details, DetailsNarrowed: grant.detailsNarrowed,
		ACR: grant.acr,
	}
	if !grant.authTime.IsZero() {
		signedIn := grant.authTime.Unix()
		claims.AuthTime = &signedIn
	}
	if grant.keyThumbprint != "" {
		claims.Confirmation = &confirmation{grant.keyThumbprint}
	}
	if grant.subject != "" {
		claims.Subject = grant.subject
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		return "", ServerError(err)
	}
	token, err := signer.sign(payload)
	if err != nil {
		return "", ServerError(err)
	}
	return token, nil
}
