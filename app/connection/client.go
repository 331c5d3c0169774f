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
	// PendingAt, when set, says since when it waits for an administrator.
	PendingAt  *time.Time
	BlockedAt  *time.Time
	CreatedAt  time.Time
	LastSeenAt time.Time
	// Connections is the number of live connections.
	Connections int
	// What the client says of itself; nothing of it is proven.
	SoftwareID, SoftwareVersion, ClientURI, TOSURI, PolicyURI, Scope, ApplicationType string
	Contacts, AuthMethods, GrantTypes                                                 []string
	JWKSURI                                                                           string
	HasKeys, RequirePushed, DPoPBound                                                 bool
	// FetchedAt is when the description was fetched; nil for clients without one.
	FetchedAt *time.Time
}

// ClientFilter says which clients to list, the one seen last first. Empty fields do not narrow.
type ClientFilter struct {
	// Text is a client's id, its host, or a part of its name.
	Text string
	Kind string
	// Blocked lists those that are shut out.
	Blocked       bool
	Offset, Limit int
}

// ClientStore keeps what administrators do with clients. ErrNotFound for a client that is not there.
type ClientStore interface {
	// ListKnownClients lists all clients, the one seen last first.
	ListKnownClients(ctx context.Context, now time.Time) ([]KnownClient, error)
	// FindKnownClients lists clients by a filter, the one seen last first.
	FindKnownClients(ctx context.Context, f ClientFilter, now time.Time) ([]KnownClient, error)
	// KnownClient gives one client.
	KnownClient(ctx context.Context, id string, now time.Time) (*KnownClient, error)
	// BlockKnownClient blocks a client or, with nil, lets it in again.
	BlockKnownClient(ctx context.Context, id string, at *time.Time) error
	// DeleteKnownClient ends the client's connections and deletes it, in one step.
	DeleteKnownClient(ctx context.Context, id string, now time.Time) error
	// KeepKnownClient marks a client as entered by an administrator.
	KeepKnownClient(ctx context.Context, id string) error
	// AllowKnownClientDevices switches the device grant of a client.
	AllowKnownClientDevices(ctx context.Context, id string, allow bool) error
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

// Find lists clients. more says that the list goes on behind the limit.
func (c *Clients) Find(ctx context.Context, f ClientFilter) (list []KnownClient, more bool, err error) {
	want := f.Limit
	f.Limit++
	list, err = c.Store.FindKnownClients(ctx, f, c.Now())
	if err != nil {
		return nil, false, err
	}
	return list[:min(len(list), want)], len(list) > want, nil
}

// Get gives one client.
func (c *Clients) Get(ctx context.Context, id string) (*KnownClient, error) {
	return c.Store.KnownClient(ctx, id, c.Now())
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

// AllowDevices switches the device grant of a client.
func (c *Clients) AllowDevices(ctx context.Context, id string, allow bool) error {
	return c.Store.AllowKnownClientDevices(ctx, id, allow)
}

// Add enters a client; the secret is shown once and never again.
func (c *Clients) Add(ctx context.Context, n NewClient) (id, secret string, err error) {
	if err := n.check(); err != nil {
		return "", "", err
	}
	metadata, err := json.Marshal(n.metadata())
	if err != nil {
		return "", "", fmt.Errorf("add client: %w", err)
	}
	if id, secret, err = c.Register(ctx, metadata); err != nil {
		return "", "", fmt.Errorf("add client: %w", err)
	}
	if err := c.Store.KeepKnownClient(ctx, id); err != nil {
		return "", "", fmt.Errorf("add client: %w", err)
	}
	if n.Devices {
		if err := c.AllowDevices(ctx, id, true); err != nil {
			return "", "", fmt.Errorf("add client: %w", err)
		}
	}
	return id, secret, nil
}
