package account

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Scopes of personal tokens. Write includes read.
const (
	TokenRead  = "read"
	TokenWrite = "write"
)

// Reasons why a personal token is dead.
const (
	TokenEndedByUser       = "user"
	TokenEndedByMembership = "membership_ended"
	TokenEndedByAdmin      = "admin"
	TokenEndedByExpiry     = "expired"
)

const (
	maxLiveTokens     = 50
	maxTokenLocations = 100
	lookupLength      = 8
)

// PersonalToken is a bearer key that a person makes by hand. The secret is shown once and stored as a hash.
type PersonalToken struct {
	ID     string
	UserID string
	Name   string
	// Lookup is the readable part that finds the row.
	Lookup      string
	Scope       string
	LocationIDs []string
	ExpiresAt   *time.Time
	CreatedAt   time.Time
	LastUsedAt  *time.Time
	LastUsedIP  string
	// EndedAt and EndedReason are set when the token is dead, by expiry too.
	EndedAt     *time.Time
	EndedReason string
}

// NewToken is what a person asks for.
type NewToken struct {
	Name        string
	Scope       string
	LocationIDs []string
	ExpiresAt   *time.Time
	// SessionID names the session that asks; the token is made only while it lasts. Empty on the command line.
	SessionID string
	// Seed, when set, makes the secret: the same seed gives the same token again, for a form that was sent twice, within a
	// minute. It is 32 bytes that nobody else can know.
	Seed []byte
	// ConfirmCrossLocation accepts a write token over locations that different people share.
	ConfirmCrossLocation bool
}

// CreatedToken is a new token with its secret, which is not to be had again.
type CreatedToken struct {
	Token  PersonalToken
	Secret string
	// Warnings are codes: cross_location_write.
	Warnings []string
}

// TokenRow is a token to be stored.
type TokenRow struct {
	PersonalToken
	Hash []byte
	// SessionID, when set, must be a live session of the person at the moment of storing. It is not kept.
	SessionID string
}

// TokenLocation is what the rules of a token ask of a location that its person belongs to.
type TokenLocation struct {
	ID string
	// Write reports a role above viewer.
	Write bool
	// Members are the ids of everybody there, in order.
	Members []string
}

// TokenFacts are what holds at the moment a token is made.
type TokenFacts struct {
	// Live is the number of the person's tokens that are not dead.
	Live int
	// Locations are those asked for that the person belongs to.
	Locations []TokenLocation
}

// TokenStore keeps personal tokens.
type TokenStore interface {
	// InsertToken reads the facts under a lock, asks allow, and writes the token, in one step. An error of allow changes
	// nothing and comes back as it is; a disabled or unknown person, or a session that has ended, gives ErrNotFound. A token
	// of the person's with the same secret, dead or alive, gives ErrRepeated.
	InsertToken(ctx context.Context, t TokenRow, allow func(TokenFacts) error) error
	// TokensOf lists a person's tokens, newest first.
	TokensOf(ctx context.Context, userID string) ([]PersonalToken, error)
	// RenameToken gives ErrNotFound for a token that is not the person's.
	RenameToken(ctx context.Context, userID, id, name string, at time.Time) error
	// RevokeToken ends a token; userID empty means anybody's. One that is dead already stays as it is; an unknown one
	// gives ErrNotFound.
	RevokeToken(ctx context.Context, userID, id, reason string, at time.Time) error
}

// CreateToken makes a personal token for a person.
func (s *Service) CreateToken(ctx context.Context, userID string, n NewToken) (*CreatedToken, error) {
	if !s.bearer {
		return nil, Refuse(CodeHTTPSRequired, "", "Personal tokens need an https address: over plain http anybody on the way could read them.")
	}
	t, err := s.newToken(userID, n)
	if err != nil {
		return nil, err
	}
	secret, err := newTokenSecret(n.random(s.rand))
	if err != nil {
		return nil, err
	}
	t.Lookup, t.Hash, _ = ParseToken(secret)
	var warnings []string
	err = s.store.InsertToken(ctx, *t, func(f TokenFacts) error {
		var err error
		warnings, err = allowToken(n, f)
		return err
	})
	if errors.Is(err, ErrRepeated) {
		return s.repeatedToken(ctx, t, secret)
	}
	if err != nil {
		return nil, fmt.Errorf("create token: %w", err)
	}
	return &CreatedToken{Token: t.PersonalToken, Secret: secret, Warnings: warnings}, nil
}

// newToken checks what can be checked without the database.
func (s *Service) newToken(userID string, n NewToken) (*TokenRow, error) {
	name, err := CleanName("name", n.Name, 80)
	if err != nil {
		return nil, err
	}
	if n.Scope != TokenRead && n.Scope != TokenWrite {
		return nil, Refuse(CodeValidation, "scope", "must be read or write")
	}
	ids := slices.Clone(n.LocationIDs)
	slices.Sort(ids)
	if ids = slices.Compact(ids); len(ids) < 1 || len(ids) > maxTokenLocations {
		return nil, Refuse(CodeValidation, "location_ids", "must name 1 to {n} locations", "n", maxTokenLocations)
	}
	now := s.at()
	if n.ExpiresAt != nil && !n.ExpiresAt.After(now) {
		return nil, Refuse(CodeValidation, "expires_at", "must be in the future")
	}
	id, err := s.newID()
	if err != nil {
		return nil, err
	}
	return &TokenRow{SessionID: n.SessionID, PersonalToken: PersonalToken{
		ID: id, UserID: userID, Name: name, Scope: n.Scope, LocationIDs: ids, ExpiresAt: n.ExpiresAt, CreatedAt: now,
	}}, nil
}

// allowToken holds the rules that depend on the person's places in the locations.
func allowToken(n NewToken, f TokenFacts) (warnings []string, err error) {
	have := map[string]TokenLocation{}
	for _, l := range f.Locations {
		have[l.ID] = l
	}
	crossing := false
	for i, id := range n.LocationIDs {
		l, ok := have[id]
		if !ok {
			return nil, Refuse(CodeNotFound, fmt.Sprintf("location_ids[%d]", i), "There is no such location.")
		}
		if n.Scope == TokenWrite && !l.Write {
			return nil, Refuse(CodeForbidden, fmt.Sprintf("location_ids[%d]", i), "Writing needs a role above viewer in every location of the token.")
		}
		crossing = crossing || !slices.Equal(l.Members, have[n.LocationIDs[0]].Members)
	}
	if f.Live >= maxLiveTokens {
		return nil, Refuse(CodeLimitReached, "", "There are {n} live tokens already; revoke one first.", "n", maxLiveTokens)
	}
	if n.Scope != TokenWrite || !crossing {
		return nil, nil
	}
	if !n.ConfirmCrossLocation {
		return nil, Refuse(CodeCrossLocationWrite, "confirm_cross_location",
			"Different people share these locations: with one write token, what one of them wrote could reach the others. Confirm to go on.")
	}
	return []string{CodeCrossLocationWrite}, nil
}

// Tokens lists a person's personal tokens, dead ones with their reason.
func (s *Service) Tokens(ctx context.Context, userID string) ([]PersonalToken, error) {
	list, err := s.store.TokensOf(ctx, userID)
	if err != nil {
		return nil, fmt.Errorf("list tokens: %w", err)
	}
	now := s.at()
	for i := range list {
		if t := &list[i]; t.EndedAt == nil && t.ExpiresAt != nil && !now.Before(*t.ExpiresAt) {
			t.EndedAt, t.EndedReason = t.ExpiresAt, TokenEndedByExpiry
		}
	}
	return list, nil
}

// RenameToken gives a token another name.
func (s *Service) RenameToken(ctx context.Context, userID, id, name string) error {
	name, err := CleanName("name", name, 80)
	if err != nil {
		return err
	}
	return wrap("rename token", s.store.RenameToken(ctx, userID, id, name, s.at()))
}

// RevokeToken ends a token of the person from the next call on.
func (s *Service) RevokeToken(ctx context.Context, userID, id string) error {
	return wrap("revoke token", s.store.RevokeToken(ctx, userID, id, TokenEndedByUser, s.at()))
}

// RevokeTokenAsAdmin ends anybody's token.
func (s *Service) RevokeTokenAsAdmin(ctx context.Context, id string) error {
	return wrap("revoke token", s.store.RevokeToken(ctx, "", id, TokenEndedByAdmin, s.at()))
}

// newTokenSecret makes gth_<8 to find it>_<32 random bytes>.
func newTokenSecret(rand io.Reader) (string, error) {
	lookup, err := randomAlphanumeric(rand, lookupLength)
	if err != nil {
		return "", err
	}
	secret, _, err := newSecret(rand, prefixToken+lookup+"_")
	return secret, err
}

// randomAlphanumeric draws evenly from the 62 letters and digits, by drawing again where a byte would favour some.
func randomAlphanumeric(rand io.Reader, n int) (string, error) {
	const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	out := make([]byte, 0, n)
	buf := make([]byte, 1)
	for len(out) < n {
		if _, err := io.ReadFull(rand, buf); err != nil {
			return "", fmt.Errorf("read random bytes: %w", err)
		}
		if b := int(buf[0]); b < 4*len(alphabet) {
			out = append(out, alphabet[b%len(alphabet)])
		}
	}
	return string(out), nil
}

// ParseToken takes a personal token apart: the readable part that finds its row, and the hash to compare with the row's.
func ParseToken(token string) (lookup string, hash []byte, ok bool) {
	rest, ok := strings.CutPrefix(token, prefixToken)
	if !ok || len(rest) != lookupLength+1+43 || rest[lookupLength] != '_' || !base64URL(rest[lookupLength+1:]) {
		return "", nil, false
	}
	lookup = rest[:lookupLength]
	for _, c := range []byte(lookup) {
		if !alphanumeric(c) {
			return "", nil, false
		}
	}
	return lookup, hashSecret(token), true
}

// SameHash compares two hashes in constant time.
func SameHash(a, b []byte) bool { return subtle.ConstantTimeCompare(a, b) == 1 }
