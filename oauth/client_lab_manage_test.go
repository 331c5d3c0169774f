package oauth

import (
	"bytes"
	"context"
	"time"
)

// The rest of a client store; no lab needs initial access tokens or connections.

func (m *labClients) CheckInitialToken(context.Context, []byte, time.Time) error { return ErrNotFound }

func (m *labClients) RegisterClient(context.Context, *Client, []byte) error { return ErrEnded }

func (m *labClients) ReplaceClient(_ context.Context, c *Client) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	old, ok := m.rows[c.ID]
	if !ok || !bytes.Equal(old.RegistrationHash, c.RegistrationHash) {
		return ErrNotFound
	}
	m.rows[c.ID] = *c
	return nil
}

func (m *labClients) DeleteClient(_ context.Context, id string, _ time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.rows, id)
	return nil
}

func (m *labClients) RevokeRegistrationToken(context.Context, []byte) error { return nil }

func (m *labClients) HostHasConnection(context.Context, string) (bool, error) { return false, nil }
