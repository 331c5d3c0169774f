package connection

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// KnownClient is a client as administrators see it.
type KnownClient struct {
	ID           string
	Kind         string
	Name         string
	Host         string
	Public       bool
	RedirectURIs []string
	BlockedAt    *time.Time
	CreatedAt    time.Time
	LastSeenAt   time.Time
	// Connections is the number of live connections.
	Connections int
}

// ClientStore keeps what administrators do with clients. ErrNotFound for a client that is not there.
type ClientStore interface {
	// ListKnownClients lists all clients, the one seen last first.
	ListKnownClients(ctx context.Context, now time.Time) ([]KnownClient, error)
	// BlockKnownClient blocks a client or, with nil, lets it in again.
	BlockKnownClient(ctx context.Context, id string, at *time.Time) error
	// DeleteKnownClient ends the client's connections and deletes it, in one step.
	DeleteKnownClient(ctx context.Context, id string, now time.Time) error
	// KeepKnownClient marks a client as entered by an administrator.
	KeepKnownClient(ctx context.Context, id string) error
}

// Clients is what administrators do with clients.
type Clients struct {
	Store ClientStore
	Now   func() time.Time
	// Register validates metadata (RFC 7591 §2) and makes a client from it; it gives the id and the secret, if any.
	Register func(ctx context.Context, metadata []byte) (id, secret string, err error)
}

// List lists all clients.
func (c *Clients) List(ctx context.Context) ([]KnownClient, error) {
	return c.Store.ListKnownClients(ctx, c.Now())
}

// Block shuts a client out: no new approvals, no new tokens.
func (c *Clients) Block(ctx context.Context, id string) error {
	now := c.Now()
	return c.Store.BlockKnownClient(ctx, id, &now)
}

// Unblock lets a client in again.
func (c *Clients) Unblock(ctx context.Context, id string) error {
	return c.Store.BlockKnownClient(ctx, id, nil)
}

// Delete ends a client's connections and forgets it.
func (c *Clients) Delete(ctx context.Context, id string) error {
	return c.Store.DeleteKnownClient(ctx, id, c.Now())
}

// NewClient is a client that an administrator enters.
type NewClient struct {
	Name         string
	RedirectURIs []string
	// Confidential clients get a secret.
	Confidential bool
}

// Add enters a client; the secret is shown once and never again.
func (c *Clients) Add(ctx context.Context, n NewClient) (id, secret string, err error) {
	if n.Name == "" || len(n.RedirectURIs) == 0 {
		return "", "", invalid("redirect_uris", "A client needs a name and at least one redirect URI.")
	}
	m := map[string]any{"client_name": n.Name, "redirect_uris": n.RedirectURIs}
	if !n.Confidential {
		m["token_endpoint_auth_method"] = "none"
	} // an omitted method lets the client send its secret either way: hosted clients post it, libraries use Basic
	metadata, err := json.Marshal(m)
	if err != nil {
		return "", "", fmt.Errorf("add client: %w", err)
	}
	if id, secret, err = c.Register(ctx, metadata); err != nil {
		return "", "", fmt.Errorf("add client: %w", err)
	}
	if err := c.Store.KeepKnownClient(ctx, id); err != nil {
		return "", "", fmt.Errorf("add client: %w", err)
	}
	return id, secret, nil
}
