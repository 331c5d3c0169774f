package oauth

// Management of a registration by its client: RFC 7592 §2 (read, update, delete), §3 (the answer). The registration
// access token is not rotated: a client that loses an answer would lose its registration with it. Of client secrets only
// the hash is kept, so an answer has one only when it was made just now.

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"
)

// ManagementStore keeps what goes beyond finding and saving clients.
type ManagementStore interface {
	// CheckInitialToken finds an initial access token by its hash: ErrNotFound when there is none, ErrEnded when it was
	// revoked, has expired or is used up.
	CheckInitialToken(ctx context.Context, hash []byte, at time.Time) error
	// RegisterClient saves a new client and counts one use of the initial access token, in one transaction and by one
	// conditional UPDATE. ErrEnded when the token cannot be used any more; then nothing is saved.
	RegisterClient(ctx context.Context, c *Client, initial []byte) error
	// ReplaceClient replaces the metadata of the client with this id and RegistrationHash that is not blocked, with Changes
	// and PendingAt. ErrNotFound when there is none.
	ReplaceClient(ctx context.Context, c *Client) error
	// DeleteClient ends the client's connections and codes and deletes it, in one transaction.
	DeleteClient(ctx context.Context, id string, at time.Time) error
	// RevokeRegistrationToken forgets the registration access token with this hash.
	RevokeRegistrationToken(ctx context.Context, hash []byte) error
	// HostHasConnection reports whether anybody ever connected a client whose document is at the host.
	HostHasConnection(ctx context.Context, host string) (bool, error)
}

// InvalidRegistrationToken answers a missing or wrong token at the registration endpoints (RFC 7591 §3, RFC 7592 §2).
func InvalidRegistrationToken(description string) *Error {
	e := InvalidToken(description).WithCheck("registration_token")
	e.Challenge = `Bearer error="invalid_token"`
	return e
}

// ReadRegistration answers GET at the client configuration endpoint (RFC 7592 §2.1).
func (s *Server) ReadRegistration(ctx context.Context, id, token string) (*Registration, error) {
	c, e := s.managedClient(ctx, id, token)
	if e != nil {
		return nil, e
	}
	return s.manageable(newRegistration(c, ""), token), nil
}

// ReplaceRegistration answers PUT (RFC 7592 §2.2): what the body leaves out is gone afterwards.
func (s *Server) ReplaceRegistration(ctx context.Context, id, token string, body []byte) (*Registration, error) {
	old, e := s.managedClient(ctx, id, token)
	if e != nil {
		return nil, e
	}
	p, err := s.policy(ctx)
	if err != nil {
		return nil, err
	}
	m, err := decodeMetadata(body)
	if err != nil {
		return nil, InvalidClientMetadata("The body must be one JSON object in UTF-8 without repeated names.").WithCheck("body").WithCause(err)
	}
	if e := m.checkReplacement(old); e != nil {
		return nil, e
	}
	c, err := s.parseClient(m, p, ClientDynamic)
	if err != nil {
		return nil, err
	}
	c.ID, c.Kind, c.CreatedAt, c.LastSeenAt = old.ID, old.Kind, old.CreatedAt, s.now()
	c.RegistrationHash, c.Settings, c.PendingAt = old.RegistrationHash, old.Settings, old.PendingAt
	secret, err := s.keepSecret(c, old)
	if err != nil {
		return nil, ServerError(fmt.Errorf("replace client: %w", err))
	}
	changed := documentChanges(old, c)
	c.Changes = markChanges(old.Changes, changed, s.now())
	if old.PendingAt != nil || len(changed) > 0 && p.Registration == RegistrationApproval {
		c.PendingAt = waitsAnew(old, c.LastSeenAt) // what was seen or approved is not what it is now
	}
	err = s.stores.Clients.ReplaceClient(ctx, c)
	if errors.Is(err, ErrNotFound) {
		return nil, InvalidRegistrationToken("The client was removed.")
	}
	if err != nil {
		return nil, storeFailure("replace client", err)
	}
	s.observeChanged(ctx, c, changed)
	return s.manageable(newRegistration(c, secret), token), nil
}

// waitsAnew is the time since when a client waits that has changed. It is never the same twice: whoever approves a client
// names what they saw by it.
func waitsAnew(old *Client, now time.Time) *time.Time {
	if old.PendingAt != nil && !now.After(*old.PendingAt) {
		now = old.PendingAt.Add(time.Millisecond)
	}
	return &now
}

// DeleteRegistration answers DELETE (RFC 7592 §2.3).
func (s *Server) DeleteRegistration(ctx context.Context, id, token string) error {
	c, e := s.managedClient(ctx, id, token)
	if e != nil {
		return e
	}
	ctx, cancel := finish(ctx)
	defer cancel()
	if err := s.stores.Clients.DeleteClient(ctx, c.ID, s.now()); err != nil && !errors.Is(err, ErrNotFound) {
		return storeFailure("delete client", err)
	}
	s.observe(ctx, Step{Name: StepClientDeleted, OK: true, ClientID: c.ID, Detail: c.Name})
	return nil
}

// managedClient finds the client that a registration access token may manage.
func (s *Server) managedClient(ctx context.Context, id, token string) (*Client, *Error) {
	if token == "" {
		return nil, InvalidRegistrationToken("The registration access token is missing.")
	}
	hash := HashSecret(token)
	c, err := s.stores.Clients.Client(ctx, id)
	if errors.Is(err, ErrNotFound) {
		// §2: a token that is used on a client that does not exist is revoked.
		if err := s.stores.Clients.RevokeRegistrationToken(ctx, hash); err != nil {
			return nil, storeFailure("revoke registration access token", err)
		}
		return nil, InvalidRegistrationToken("There is no such client.")
	}
	switch {
	case err != nil:
		return nil, storeFailure("look up client", err)
	case c.Kind == ClientRegistered:
		return nil, AccessDenied("The client was entered by an administrator, who alone can change it.").WithCheck("registration")
	case len(c.RegistrationHash) == 0 || subtle.ConstantTimeCompare(hash, c.RegistrationHash) != 1:
		return nil, InvalidRegistrationToken("The registration access token is wrong.")
	case c.BlockedAt != nil:
		return nil, AccessDenied("The client is blocked by the administrator of this server.").WithCheck("client_blocked")
	}
	if err := s.limitClient(ctx, c, true); err != nil {
		return nil, storeFailure("count requests", err)
	}
	return c, nil
}

// checkReplacement checks what only an update has (§2.2).
func (m clientMetadata) checkReplacement(old *Client) *Error {
	for _, name := range []string{"registration_access_token", "registration_client_uri", "client_id_issued_at", "client_secret_expires_at"} {
		if _, there := m[name]; there {
			return InvalidClientMetadata("The body must not have the member " + name + ".").WithCheck(name)
		}
	}
	var id string
	if json.Unmarshal(m["client_id"], &id) != nil || id != old.ID {
		return InvalidClientMetadata("The client_id is missing or is not that of the client.").WithCheck("client_id")
	}
	if !m.has("client_secret") {
		return nil
	}
	var secret string
	if json.Unmarshal(m["client_secret"], &secret) != nil || subtle.ConstantTimeCompare(HashSecret(secret), old.SecretHash) != 1 {
		return InvalidClientMetadata("The client_secret is not that of the client.").WithCheck("client_secret")
	}
	return nil
}

// keepSecret leaves a client its secret, and makes one only for a client that had none and uses one from now on.
func (s *Server) keepSecret(c, old *Client) (secret string, err error) {
	if !slices.Contains(c.AuthMethods, AuthBasic) && !slices.Contains(c.AuthMethods, AuthPost) {
		return "", nil
	}
	if c.SecretHash = old.SecretHash; len(c.SecretHash) > 0 {
		return "", nil
	}
	secret, c.SecretHash, err = newSecret(s.cfg.Rand, prefixClientSecret)
	return secret, err
}

// manageable adds what a client manages its registration with (§3).
func (s *Server) manageable(r *Registration, token string) *Registration {
	r.RegistrationAccessToken = token
	r.RegistrationClientURI = s.cfg.Issuer + PathRegister + "/" + url.PathEscape(r.ClientID)
	return r
}

// markChanges notes when members changed.
func markChanges(before map[string]time.Time, changed []string, at time.Time) map[string]time.Time {
	if len(changed) == 0 {
		return before
	}
	after := make(map[string]time.Time, len(before)+len(changed))
	for name, t := range before {
		after[name] = t
	}
	for _, name := range changed {
		after[name] = at
	}
	return after
}

// ChangedSince names the members of the metadata that changed after a moment, in order.
func (c *Client) ChangedSince(t time.Time) []string {
	var names []string
	for name, at := range c.Changes {
		if at.After(t) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
