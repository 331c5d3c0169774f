package upstream

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"gatehouse/app/account"
)

// attemptLife is how long a person may take at a provider.
const attemptLife = 10 * time.Minute

// discoveryLife is how long a discovery document is taken from memory.
const discoveryLife = 10 * time.Minute

// Purposes of an attempt.
const (
	PurposeSignIn     = "sign_in"
	PurposeLink       = "link"
	PurposeInvitation = "invitation"
)

// Attempt is a sign-in at a provider that is under way.
type Attempt struct {
	StateHash   []byte
	ProviderID  string
	BrowserHash []byte
	Purpose     string
	// UserID is who links, InvitationID what is accepted.
	UserID       string
	InvitationID string
	// Request or Return say what to go on with.
	Request   string
	Return    string
	ExpiresAt time.Time
}

// Begin is what a sign-in at a provider begins with.
type Begin struct {
	Purpose, UserID, InvitationID, Request, Return string
	// Again asks the provider to let the person prove anew who they are.
	Again bool
	// Browser is a secret of the browser that begins: its cookie.
	Browser string
}

// Begin notes a sign-in and gives the address at the provider to send the browser to. What proves the answer (nonce, PKCE
// verifier) comes from the browser's secret and the state, so that the database holds nothing that would.
func (s *Service) Begin(ctx context.Context, slug string, b Begin) (string, error) {
	row, err := s.c.Store.ProviderBySlug(ctx, slug)
	if err != nil {
		return "", err
	}
	if b.Browser == "" {
		return "", errors.New("upstream: a browser without a secret")
	}
	conf, _, err := s.client(ctx, row)
	if err != nil {
		return "", err
	}
	random := make([]byte, 32)
	if _, err := io.ReadFull(s.c.Rand, random); err != nil {
		return "", fmt.Errorf("make state: %w", err)
	}
	state := base64.RawURLEncoding.EncodeToString(random)
	err = s.c.Store.InsertAttempt(ctx, Attempt{
		StateHash: hash(state), ProviderID: row.ID, BrowserHash: hash(b.Browser), Purpose: b.Purpose, UserID: b.UserID, InvitationID: b.InvitationID,
		Request: b.Request, Return: b.Return, ExpiresAt: s.at().Add(attemptLife),
	})
	if err != nil {
		return "", fmt.Errorf("begin sign-in at provider: %w", err)
	}
	// The answer comes in the query: a form post from another site would come without our Lax cookies.
	options := []oauth2.AuthCodeOption{oidc.Nonce(derive(b.Browser, "nonce", state)), oauth2.S256ChallengeOption(derive(b.Browser, "verifier", state))}
	if b.Again {
		options = append(options, oauth2.SetAuthURLParam("prompt", "login"), oauth2.SetAuthURLParam("max_age", "0"))
	}
	return conf.AuthCodeURL(state, options...), nil
}

// Answer is what came back from a provider by way of the browser.
type Answer struct {
	State, Code, Issuer, Error string
	// Browser is the secret of the browser that brings it.
	Browser string
}

// Refusals of answers.
var (
	ErrOver = account.Refuse(account.CodeGone, "", "This sign-in took too long, was finished already, or was begun in another browser. Start again.")
	// ErrDenied says that the person or the provider said no.
	ErrDenied = account.Refuse(account.CodeForbidden, "", "The provider did not sign you in.")
)

// take finds the attempt that an answer belongs to, and uses it up.
func (s *Service) take(ctx context.Context, row *Row, a Answer) (*Attempt, error) {
	if len(a.State) != 43 {
		return nil, ErrOver
	}
	attempt, err := s.c.Store.TakeAttempt(ctx, hash(a.State), s.at())
	if errors.Is(err, account.ErrLinkGone) {
		return nil, ErrOver
	}
	if err != nil {
		return nil, fmt.Errorf("read sign-in at provider: %w", err)
	}
	if attempt.ProviderID != row.ID || subtle.ConstantTimeCompare(attempt.BrowserHash, hash(a.Browser)) != 1 {
		return nil, ErrOver
	}
	if a.Issuer != "" && a.Issuer != row.Issuer { // RFC 9207 §2.4
		return nil, ErrOver
	}
	return attempt, nil
}

// claims are what is read of an ID token or of the user info.
type claims struct {
	Email         string `json:"email"`
	EmailVerified truth  `json:"email_verified"`
	Name          string `json:"name"`
	AuthTime      int64  `json:"auth_time"`
}

// truth is a boolean that some providers send as text.
type truth bool

// UnmarshalJSON implements json.Unmarshaler.
func (t *truth) UnmarshalJSON(b []byte) error {
	*t = string(b) == "true" || string(b) == `"true"`
	return nil
}

// redeem exchanges the code and checks the ID token (OpenID Connect Core §3.1.3.7). The tokens are not kept.
func (s *Service) redeem(ctx context.Context, row *Row, a Answer) (account.NewIdentity, claims, error) {
	var c claims
	conf, provider, err := s.client(ctx, row)
	if err != nil {
		return account.NewIdentity{}, c, err
	}
	ctx = oidc.ClientContext(ctx, s.c.Client)
	tokens, err := conf.Exchange(ctx, a.Code, oauth2.VerifierOption(derive(a.Browser, "verifier", a.State)))
	if err != nil {
		return account.NewIdentity{}, c, fmt.Errorf("%w: exchange code: %w", ErrProviderAway, withoutBody(err))
	}
	raw, _ := tokens.Extra("id_token").(string)
	token, err := provider.Verifier(&oidc.Config{ClientID: row.ClientID, Now: s.c.Now}).Verify(ctx, raw)
	if err != nil {
		return account.NewIdentity{}, c, fmt.Errorf("%w: check ID token: %w", ErrProviderAway, err)
	}
	if subtle.ConstantTimeCompare([]byte(token.Nonce), []byte(derive(a.Browser, "nonce", a.State))) != 1 {
		return account.NewIdentity{}, c, ErrOver
	}
	if err := token.Claims(&c); err != nil {
		return account.NewIdentity{}, c, fmt.Errorf("%w: read ID token: %w", ErrProviderAway, err)
	}
	if c.Email == "" && provider.UserInfoEndpoint() != "" {
		info, err := provider.UserInfo(ctx, oauth2.StaticTokenSource(tokens))
		if err != nil || info.Subject != token.Subject {
			return account.NewIdentity{}, c, fmt.Errorf("%w: read user info: %w", ErrProviderAway, err)
		}
		at := c.AuthTime
		if err := info.Claims(&c); err != nil {
			return account.NewIdentity{}, c, fmt.Errorf("%w: read user info: %w", ErrProviderAway, err)
		}
		c.AuthTime = at
	}
	return account.NewIdentity{Issuer: row.Issuer, Subject: token.Subject, Email: c.Email}, c, nil
}

// withoutBody drops the provider's answer from an error: it can hold what was sent.
func withoutBody(err error) error {
	var r *oauth2.RetrieveError
	if errors.As(err, &r) {
		return fmt.Errorf("the provider answered %d %q", r.Response.StatusCode, r.ErrorCode)
	}
	return err
}

type discovered struct {
	provider *oidc.Provider
	inParams bool
	at       time.Time
}

// discover reads a provider's metadata (OpenID Connect Discovery §4).
func (s *Service) discover(ctx context.Context, issuer string) (discovered, error) {
	s.mu.Lock()
	d, ok := s.known[issuer]
	s.mu.Unlock()
	if now := s.c.Now(); ok && now.Sub(d.at) < discoveryLife && !now.Before(d.at) {
		return d, nil
	}
	provider, err := oidc.NewProvider(oidc.ClientContext(ctx, s.c.Client), issuer)
	if err != nil {
		return discovered{}, fmt.Errorf("%w: read metadata: %w", ErrProviderAway, err)
	}
	var m struct {
		Methods []string `json:"token_endpoint_auth_methods_supported"`
	}
	if err := provider.Claims(&m); err != nil {
		return discovered{}, fmt.Errorf("%w: read metadata: %w", ErrProviderAway, err)
	}
	d = discovered{provider: provider, at: s.c.Now(), inParams: len(m.Methods) > 0}
	for _, method := range m.Methods {
		if method == "client_secret_basic" {
			d.inParams = false
		}
	}
	s.mu.Lock()
	s.known[issuer] = d
	s.mu.Unlock()
	return d, nil
}

// client is how this server speaks to a provider.
func (s *Service) client(ctx context.Context, row *Row) (*oauth2.Config, *oidc.Provider, error) {
	d, err := s.discover(ctx, row.Issuer)
	if err != nil {
		return nil, nil, err
	}
	endpoint := d.provider.Endpoint()
	endpoint.AuthStyle = oauth2.AuthStyleInHeader
	if d.inParams || len(row.SecretSealed) == 0 {
		endpoint.AuthStyle = oauth2.AuthStyleInParams
	}
	conf := &oauth2.Config{ClientID: row.ClientID, Endpoint: endpoint, RedirectURL: s.Callback(row.Slug), Scopes: []string{oidc.ScopeOpenID, "email", "profile"}}
	if len(row.SecretSealed) > 0 {
		secret, err := s.c.Sealer.Open(sealPurpose, row.ID, row.SecretSealed)
		if err != nil {
			return nil, nil, fmt.Errorf("provider secret: %w", err)
		}
		conf.ClientSecret = string(secret)
	}
	return conf, d.provider, nil
}

// derive makes a value that only the browser's secret and the state together give.
func derive(secret, purpose, state string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte("upstream " + purpose + " " + state))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func hash(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}
