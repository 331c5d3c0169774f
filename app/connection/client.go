package connection

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"gatehouse/oauth"
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

// NewClient is a client that an administrator enters.
type NewClient struct {
	Name         string
	RedirectURIs []string
	// Confidential clients get a secret.
	Confidential bool
	// JWKSURI or JWKS, of which one at most may be set, make a client that authenticates by its keys (private_key_jwt).
	JWKSURI string
	JWKS    json.RawMessage
	// RequirePushed refuses authorization requests that the client did not push.
	RequirePushed bool
	// Machine clients act by their own credentials, Asserted ones bring assertions of trusted issuers, Devices sign in by a
	// code that people enter. Machines have no redirect URIs; for the others these are optional.
	Machine, Asserted, Devices bool
}

// grants lists the grant types that differ from the usual ones.
func (n *NewClient) grants() []string {
	var out []string
	if len(n.RedirectURIs) > 0 {
		out = append(out, "authorization_code", "refresh_token")
	}
	if n.Machine {
		out = append(out, oauth.GrantClientCredentials)
	}
	if n.Asserted {
		out = append(out, oauth.GrantJWTBearer)
	}
	if n.Devices {
		out = append(out, oauth.GrantDeviceCode)
	}
	return out
}

// special reports whether the client gets tokens in another way than by a redirect.
func (n *NewClient) special() bool { return n.Machine || n.Asserted || n.Devices }

func (n *NewClient) metadata() map[string]any {
	m := map[string]any{"client_name": n.Name, "redirect_uris": n.RedirectURIs, "token_endpoint_auth_method": "none"}
	if n.Confidential {
		// An omitted method lets the client send its secret either way: hosted clients post it, libraries use Basic.
		delete(m, "token_endpoint_auth_method")
	}
	if n.special() {
		m["grant_types"] = n.grants()
		if len(n.RedirectURIs) == 0 {
			delete(m, "redirect_uris")
		}
	}
	if n.RequirePushed {
		m["require_pushed_authorization_requests"] = true
	}
	if n.JWKSURI != "" {
		m["token_endpoint_auth_method"], m["jwks_uri"] = "private_key_jwt", n.JWKSURI
	}
	if n.JWKS != nil {
		m["token_endpoint_auth_method"], m["jwks"] = "private_key_jwt", n.JWKS
	}
	return m
}

// Add enters a client; the secret is shown once and never again.
func (c *Clients) Add(ctx context.Context, n NewClient) (id, secret string, err error) {
	switch {
	case n.Machine && len(n.RedirectURIs) > 0:
		return "", "", invalid("redirect_uris", "A client that acts by its own credentials has no redirect URI.")
	case (n.Machine || n.Asserted) && !n.Confidential && n.JWKSURI == "" && n.JWKS == nil:
		return "", "", invalid("jwks", "A client that gets tokens without a person at hand needs a secret or keys.")
	case n.Name == "" || len(n.RedirectURIs) == 0 && !n.special():
		return "", "", invalid("redirect_uris", "A client needs a name and at least one redirect URI.")
	}
	if n.Confidential && (n.JWKSURI != "" || n.JWKS != nil) {
		return "", "", invalid("jwks", "A client has either a secret or keys.")
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
