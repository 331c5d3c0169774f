package connection

import (
	"context"
	"time"

	"gatehouse/oauth"
)

// SettingsStore keeps what administrators decide about single clients. ErrNotFound for a client that is not there.
type SettingsStore interface {
	OAuthClient(ctx context.Context, id string) (*oauth.Client, error)
	SaveClientSettings(ctx context.Context, id string, s oauth.ClientSettings) error
	// DecideClient lets a waiting client in, or blocks it from the time on, by one conditional UPDATE. ErrNotFound when the
	// client does not wait, or waits since another time than the one that is given.
	DecideClient(ctx context.Context, id string, since, blocked *time.Time) error
	// WaitingClients lists the clients that wait, the longest waiting first.
	WaitingClients(ctx context.Context) ([]*oauth.Client, error)
}

// ClientSettings is what administrators decide about single clients.
type ClientSettings struct {
	Store SettingsStore
	Now   func() time.Time
}

// MaxPerMinute is the greatest limit that can be set for one client.
const MaxPerMinute = 1_000_000

// BadPerMinute refuses a limit.
const BadPerMinute = "The limit must be a whole number between 1 and 1000000, or empty."

// Get gives a client.
func (c *ClientSettings) Get(ctx context.Context, id string) (*oauth.Client, error) {
	return c.Store.OAuthClient(ctx, id)
}

// Save replaces a client's switches; they hold from its next request on.
func (c *ClientSettings) Save(ctx context.Context, id string, s oauth.ClientSettings) error {
	if s.PerMinute < 0 || s.PerMinute > MaxPerMinute {
		return invalid("per_minute", BadPerMinute)
	}
	return c.Store.SaveClientSettings(ctx, id, s)
}

// Approve lets a client in that waits since the time that whoever approves it saw: with every change of what it says of
// itself it waits anew. ErrNotFound when it does not, or has changed.
func (c *ClientSettings) Approve(ctx context.Context, id string, since time.Time) error {
	return c.Store.DecideClient(ctx, id, &since, nil)
}

// Refuse blocks a client that waits. Unblocking it later lets it in.
func (c *ClientSettings) Refuse(ctx context.Context, id string) error {
	now := c.Now()
	return c.Store.DecideClient(ctx, id, nil, &now)
}

// Waiting lists the clients that wait.
func (c *ClientSettings) Waiting(ctx context.Context) ([]*oauth.Client, error) {
	return c.Store.WaitingClients(ctx)
}
