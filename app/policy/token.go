package policy

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"gatehouse/oauth"
)

// Token is an initial access token: with it a client may register while the policy asks for one.
type Token struct {
	ID   string
	Name string
	// MaxUses is how many clients may register with it; zero means any number.
	MaxUses    int
	Uses       int
	CreatedAt  time.Time
	ExpiresAt  *time.Time
	LastUsedAt *time.Time
	RevokedAt  *time.Time
}

// Usable reports whether a client can register with the token.
func (t *Token) Usable(now time.Time) bool {
	return t.RevokedAt == nil && (t.ExpiresAt == nil || t.ExpiresAt.After(now)) && (t.MaxUses == 0 || t.Uses < t.MaxUses)
}

// NewToken is a token to make.
type NewToken struct {
	Name    string
	MaxUses int
	// Life is how long it can be used; zero means without end.
	Life time.Duration
}

// TokenStore keeps initial access tokens.
type TokenStore interface {
	InsertRegistrationToken(ctx context.Context, t Token, hash []byte) error
	// RegistrationTokens lists them, the newest first.
	RegistrationTokens(ctx context.Context) ([]Token, error)
	// RevokeRegistrationTokenByID ends one by one conditional UPDATE; ErrNone when there is none that was not revoked.
	RevokeRegistrationTokenByID(ctx context.Context, id string, now time.Time) error
}

// Bounds of a token.
const (
	maxTokenName = 100
	maxTokenUses = 1_000_000
	maxTokenLife = 10 * 365 * 24 * time.Hour
)

// Messages of refusals, for people.
const (
	BadName = "Give the token a name of at most 100 characters."
	BadUses = "The number of clients must be between 1 and 1000000, or empty."
	BadLife = "The token must end within ten years."
)

// Tokens lists the tokens, the newest first.
func (s *Service) Tokens(ctx context.Context) ([]Token, error) {
	return s.c.Store.RegistrationTokens(ctx)
}

// CreateToken makes a token; the secret is shown once.
func (s *Service) CreateToken(ctx context.Context, n NewToken) (*Token, string, error) {
	n.Name = strings.TrimSpace(n.Name)
	switch {
	case n.Name == "" || utf8.RuneCountInString(n.Name) > maxTokenName || !utf8.ValidString(n.Name) || strings.ContainsRune(n.Name, 0):
		return nil, "", &Invalid{Field: "name", Message: BadName}
	case n.MaxUses < 0 || n.MaxUses > maxTokenUses:
		return nil, "", &Invalid{Field: "max_uses", Message: BadUses}
	case n.Life < 0 || n.Life > maxTokenLife:
		return nil, "", &Invalid{Field: "expires", Message: BadLife}
	}
	secret, hash, err := oauth.NewInitialToken(s.c.Rand)
	if err != nil {
		return nil, "", err
	}
	id, err := uuid.NewRandomFromReader(s.c.Rand)
	if err != nil {
		return nil, "", fmt.Errorf("make registration token: %w", err)
	}
	t := Token{ID: id.String(), Name: n.Name, MaxUses: n.MaxUses, CreatedAt: s.c.Now().UTC().Truncate(time.Millisecond)}
	if n.Life > 0 {
		end := t.CreatedAt.Add(n.Life)
		t.ExpiresAt = &end
	}
	if err := s.c.Store.InsertRegistrationToken(ctx, t, hash); err != nil {
		return nil, "", err
	}
	return &t, secret, nil
}

// RevokeToken ends a token. Clients that registered with it stay.
func (s *Service) RevokeToken(ctx context.Context, id string) error {
	return s.c.Store.RevokeRegistrationTokenByID(ctx, id, s.c.Now())
}
