package oauth

// The browser that an authorization request belongs to: OAuth 2.1 §4.1.2 (codes are bound to the person's session),
// RFC 9700 §4.7 (a request must not be finished by somebody else).

import (
	"context"
	"crypto/subtle"
	"errors"
)

type browserKey struct{}

// WithBrowser says which browser a call is for, by a secret of its own that outlives a sign-in. A request belongs to the
// browser that began it, or first showed it where none was named: no other can resume or decide it, even with its id.
// Without a browser nothing is bound.
func WithBrowser(ctx context.Context, secret string) context.Context {
	return context.WithValue(ctx, browserKey{}, secret)
}

// browserHash is what is stored of the browser; nil when none was named.
func browserHash(ctx context.Context) []byte {
	secret, _ := ctx.Value(browserKey{}).(string)
	if secret == "" {
		return nil
	}
	return HashSecret("browser " + secret)
}

// checkBrowser lets through the browser that the request belongs to.
func (s *Server) checkBrowser(ctx context.Context, r *AuthorizationRequest) *Error {
	hash := browserHash(ctx)
	if r.BrowserHash == nil && hash != nil {
		err := s.stores.Requests.BindRequest(ctx, r.ID, hash)
		if err == nil {
			return nil
		}
		if !errors.Is(err, ErrConflict) {
			return storeFailure("bind authorization request", err)
		}
		return otherBrowser()
	}
	if r.BrowserHash != nil && subtle.ConstantTimeCompare(r.BrowserHash, hash) != 1 {
		return otherBrowser()
	}
	return nil
}

func otherBrowser() *Error {
	return InvalidRequest("The authorization request was begun in another browser. Start again from the app.").WithCheck("browser")
}

// ClientOfRequest gives the client of a stored request to the browser that it belongs to, as far as the client is known.
func (s *Server) ClientOfRequest(ctx context.Context, id string) (*Client, error) {
	request, err := s.loadRequest(ctx, id)
	if err != nil {
		return nil, err
	}
	if request.DecidedAt != nil || !request.ExpiresAt.After(s.now()) {
		return nil, expiredRequest()
	}
	c, err := s.knownClient(ctx, request.ClientID)
	if err == nil && c == nil {
		err = unknownClient()
	}
	return c, err
}
