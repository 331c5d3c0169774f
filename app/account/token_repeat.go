package account

import (
	"bytes"
	"context"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"time"
)

// A browser that sends a form twice drops the answer to the first, and with it a token that is shown once. So the secret
// of a token that a form makes comes from a seed of that form: the second request finds the token there and answers as
// the first did. Nothing of it is stored.

// ErrRepeated says that the form made its token before.
var ErrRepeated = errors.New("account: the form was sent before")

// repeatTime is for how long a form that is sent again gets the same answer.
const repeatTime = time.Minute

// seedBytes is more than a secret ever draws.
const seedBytes = 2 << 10

// random is where the secret is drawn from.
func (n *NewToken) random(fallback io.Reader) io.Reader {
	if len(n.Seed) != sha256.Size {
		return fallback
	}
	stream, err := hkdf.Expand(sha256.New, n.Seed, "personal token", seedBytes)
	if err != nil {
		return fallback
	}
	return bytes.NewReader(stream)
}

// repeatedToken gives the token that the same form made a moment ago.
func (s *Service) repeatedToken(ctx context.Context, t *TokenRow, secret string) (*CreatedToken, error) {
	list, err := s.Tokens(ctx, t.UserID)
	if err != nil {
		return nil, err
	}
	for i := range list {
		made := &list[i]
		if made.Lookup == t.Lookup && made.EndedAt == nil && s.at().Sub(made.CreatedAt) < repeatTime {
			return &CreatedToken{Token: *made, Secret: secret}, nil
		}
	}
	return nil, fmt.Errorf("create token: %w", ErrRepeated)
}
