package oauth

// The published key set: RFC 7517 §5, RFC 8414 §2 (jwks_uri).

import (
	"context"
	"time"
)

// JWKSMaxAge is how long the key set may be cached. A key is published a day before it signs.
const JWKSMaxAge = 10 * time.Minute

// JWKS returns the public keys as a JWK set: those that sign, will sign, and whose tokens may still live. The error is an
// *Error.
func (s *Server) JWKS(ctx context.Context) ([]byte, error) {
	snapshot, err := s.keys.current(ctx)
	if err != nil {
		return nil, storeFailure("read key set", err)
	}
	return snapshot.document, nil
}
