package app

import (
	"context"
	"time"

	"gatehouse/app/audit"
	"gatehouse/app/connection"
)

// Client is an OAuth client as the commands show it.
type Client struct {
	ID           string     `json:"id"`
	Kind         string     `json:"kind"`
	Name         string     `json:"name"`
	Host         string     `json:"host,omitempty"`
	RedirectURIs []string   `json:"redirect_uris"`
	Connections  int        `json:"connections"`
	PendingAt    *time.Time `json:"pending_at,omitempty"`
	BlockedAt    *time.Time `json:"blocked_at,omitempty"`
	CreatedAt    time.Time  `json:"created_at"`
	LastSeenAt   time.Time  `json:"last_seen_at"`
}

// Clients lists all clients.
func (a *Admin) Clients(ctx context.Context) ([]Client, error) {
	list, err := a.c.clients.List(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]Client, len(list))
	for i, c := range list {
		out[i] = Client{ID: c.ID, Kind: c.Kind, Name: c.Name, Host: c.Host, RedirectURIs: c.RedirectURIs, Connections: c.Connections,
			PendingAt: c.PendingAt, BlockedAt: c.BlockedAt, CreatedAt: c.CreatedAt, LastSeenAt: c.LastSeenAt}
	}
	return out, nil
}

// NewClient is a client to enter by hand.
type NewClient struct {
	Name         string
	RedirectURIs []string
	// Confidential clients get a secret. JWKSURI or JWKS make a client that signs its requests to the token endpoint.
	Confidential bool
	JWKSURI      string
	JWKS         []byte
	// RequirePushed refuses authorization requests that the client did not push; DPoPBound demands a key for its tokens.
	RequirePushed, DPoPBound bool
	// What else is known of it; all may be empty.
	ApplicationType, ClientURI, TOSURI, PolicyURI, SoftwareID, SoftwareVersion, Scope string
	Contacts                                                                          []string
	// Machine clients act by their own credentials; Asserted ones bring assertions of trusted issuers; Devices sign in by a
	// code that people enter.
	Machine, Asserted, Devices bool
}

// AddClient enters a client by hand. The secret, if there is one, is shown once.
func (a *Admin) AddClient(ctx context.Context, n NewClient) (id, secret string, err error) {
	id, secret, err = a.c.clients.Add(ctx, connection.NewClient{Name: n.Name, RedirectURIs: n.RedirectURIs, Confidential: n.Confidential,
		JWKSURI: n.JWKSURI, JWKS: n.JWKS, RequirePushed: n.RequirePushed, DPoPBound: n.DPoPBound, ApplicationType: n.ApplicationType,
		ClientURI: n.ClientURI, TOSURI: n.TOSURI, PolicyURI: n.PolicyURI, SoftwareID: n.SoftwareID, SoftwareVersion: n.SoftwareVersion,
		Scope: n.Scope, Contacts: n.Contacts, Machine: n.Machine, Asserted: n.Asserted, Devices: n.Devices})
	return id, secret, a.recorded(ctx, err, audit.Entry{Action: audit.ClientAdded, ClientID: id, Detail: map[string]string{"name": n.Name}})
}

// BlockClient shuts a client out.
func (a *Admin) BlockClient(ctx context.Context, id string) error {
	return a.recorded(ctx, missingClient(a.c.clients.Block(ctx, id), id), audit.Entry{Action: audit.ClientBlocked, ClientID: id})
}

// UnblockClient lets a client in again.
func (a *Admin) UnblockClient(ctx context.Context, id string) error {
	return a.recorded(ctx, missingClient(a.c.clients.Unblock(ctx, id), id), audit.Entry{Action: audit.ClientUnblocked, ClientID: id})
}

// DeleteClient ends a client's connections and forgets it.
func (a *Admin) DeleteClient(ctx context.Context, id string) error {
	k, err := a.c.clients.Get(ctx, id)
	if err != nil {
		return missingClient(err, id)
	}
	err = missingClient(a.c.clients.Delete(ctx, id), id)
	return a.recorded(ctx, err, audit.Entry{Action: audit.ClientDeleted, ClientID: id, Detail: map[string]string{"name": k.Name}})
}

func missingClient(err error, id string) error { return missing(err, "client", id, "client list") }

// Key is a signing key as the commands show it.
type Key struct {
	KID         string     `json:"kid"`
	Algorithm   string     `json:"algorithm"`
	State       string     `json:"state"`
	CreatedAt   time.Time  `json:"created_at"`
	ActivatedAt *time.Time `json:"activated_at,omitempty"`
	RetiredAt   *time.Time `json:"retired_at,omitempty"`
}

// Keys lists signing keys.
func (a *Admin) Keys(ctx context.Context) ([]Key, error) {
	list, err := a.c.oauth.SigningKeys(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]Key, len(list))
	for i, k := range list {
		out[i] = Key{KID: k.KID, Algorithm: k.Algorithm, State: string(k.State), CreatedAt: k.CreatedAt, ActivatedAt: k.ActivatedAt, RetiredAt: k.RetiredAt}
	}
	return out, nil
}

// RotateKeys makes the next key sign from now on: of one algorithm, or of all that there are keys of when it is empty.
func (a *Admin) RotateKeys(ctx context.Context, algorithm string) error {
	if algorithm == "" {
		return a.recorded(ctx, a.c.oauth.RotateKeys(ctx), audit.Entry{Action: audit.KeyRotated})
	}
	err := missing(a.c.oauth.RotateKeys(ctx, algorithm), "signing key of the algorithm", algorithm, "keys list")
	return a.recorded(ctx, err, audit.Entry{Action: audit.KeyRotated, Detail: map[string]string{"algorithm": algorithm}})
}

// DropKey drops a key at once.
func (a *Admin) DropKey(ctx context.Context, kid string) error {
	err := missing(a.c.oauth.DropKey(ctx, kid), "signing key", kid, "keys list")
	return a.recorded(ctx, err, audit.Entry{Action: audit.KeyDropped, Detail: map[string]string{"key": kid}})
}
