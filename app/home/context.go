package home

import "context"

type principalKey struct{}

// WithPrincipal puts the principal of a request into its context, where the endpoint's later steps and the tools find it.
func WithPrincipal(ctx context.Context, p *Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// PrincipalFrom returns the principal of a request, or nil where none was put into the context.
func PrincipalFrom(ctx context.Context) *Principal {
	p, _ := ctx.Value(principalKey{}).(*Principal)
	return p
}

// LimitKey is the key under which a principal's calls are counted: all doors of a personal token together, all tokens of
// a connection together, and a person's browser sessions together.
func (p *Principal) LimitKey() string {
	switch p.Actor {
	case ActorToken:
		return "token:" + p.TokenID
	case ActorConnection:
		return "connection:" + p.ConnectionID
	default:
		return "person:" + p.UserID
	}
}
