package oauth

// Protected resources and their scopes: RFC 8707 (resource indicators), RFC 9728 (metadata), RFC 6749 §3.3 (scope).

import "time"

// Scope is one scope value and what it means.
type Scope struct {
	Name string
	// Implies lists scopes that this one includes.
	Implies []string
	// Baseline scopes are offered when a client asks for none, and are all that resource metadata and challenges name.
	Baseline bool
	// Identity marks the scopes of OpenID Connect, which a Server adds by itself. They are offered only when asked for.
	Identity bool
	// Reserved scopes are offered only to clients that an administrator entered, and only when they ask.
	Reserved bool
}

// Resource is one protected resource that access tokens can be made for.
type Resource struct {
	// URI is the resource identifier, byte for byte as published and as put into aud.
	URI string
	// Name is shown to people and in the resource metadata.
	Name   string
	Scopes []Scope
	// AccessTokenLife is how long an access token lives. Zero means one hour.
	AccessTokenLife time.Duration
	// RefreshTokenLife is how long a refresh token lives without use. Zero means 30 days.
	RefreshTokenLife time.Duration
	// RefreshTokenLimit ends a family this long after its code was redeemed, however often it is used. Zero means never.
	RefreshTokenLimit time.Duration
	// RefreshGrace says how a token that was rotated already is answered. Zero: as reuse, always. Otherwise the direct
	// predecessor gets the same successor again while that was never used itself; within the grace unchanged, later with
	// its life renewed. Nil means 60 seconds; at most 300 seconds. See token_refresh.go.
	RefreshGrace *time.Duration
	// OpaqueTokens makes access tokens that are looked up instead of JWTs. Those of the other form stay good.
	OpaqueTokens bool
}

// Known reports whether the resource has a scope of this name.
func (r *Resource) Known(scope string) bool {
	for _, s := range r.Scopes {
		if s.Name == scope {
			return true
		}
	}
	return false
}

// reserved reports whether the scope is one of the reserved ones.
func (r *Resource) reserved(scope string) bool {
	for _, s := range r.Scopes {
		if s.Name == scope {
			return s.Reserved
		}
	}
	return false
}

// Lives of tokens where the resource sets none.
const (
	defaultAccessTokenLife  = time.Hour
	defaultRefreshTokenLife = 30 * 24 * time.Hour
	defaultRefreshGrace     = 60 * time.Second
)

func (r *Resource) accessTokenLife() time.Duration {
	if r.AccessTokenLife == 0 {
		return defaultAccessTokenLife
	}
	return r.AccessTokenLife
}

func (r *Resource) refreshTokenLife() time.Duration {
	if r.RefreshTokenLife == 0 {
		return defaultRefreshTokenLife
	}
	return r.RefreshTokenLife
}

func (r *Resource) refreshGrace() time.Duration {
	if r.RefreshGrace == nil {
		return defaultRefreshGrace
	}
	return *r.RefreshGrace
}
