package oauthtest

import (
	"bytes"
	"context"
	"time"

	"gatehouse/oauth"
)

// initialToken is an initial access token.
type initialToken struct {
	left    int
	expires time.Time
}

// AddInitialToken makes an initial access token known by its hash.
func (m *Memory) AddInitialToken(hash []byte, uses int, expires time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.initial[string(hash)] = &initialToken{uses, expires}
}

// ChangeClient changes a client as an administrator would.
func (m *Memory) ChangeClient(id string, change func(*oauth.Client)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change(m.clients[id])
}

// ClientsWhere returns copies of the clients that match.
func (m *Memory) ClientsWhere(match func(*oauth.Client) bool) []*oauth.Client {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []*oauth.Client
	for _, c := range m.clients {
		if match(c) {
			out = append(out, copyClient(c))
		}
	}
	return out
}

// CheckInitialToken implements oauth.ManagementStore.
func (m *Memory) CheckInitialToken(ctx context.Context, hash []byte, at time.Time) error {
	unlock, err := m.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	switch t := m.initial[string(hash)]; {
	case t == nil:
		return oauth.ErrNotFound
	case t.left == 0 || !t.expires.After(at):
		return oauth.ErrEnded
	}
	return nil
}

// RegisterClient implements oauth.ManagementStore.
func (m *Memory) RegisterClient(ctx context.Context, c *oauth.Client, initial []byte) error {
	unlock, err := m.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	t := m.initial[string(initial)]
	if t == nil || t.left == 0 || !t.expires.After(c.CreatedAt) {
		return oauth.ErrEnded
	}
	t.left--
	m.clients[c.ID] = copyClient(c)
	return nil
}

// ReplaceClient implements oauth.ManagementStore.
func (m *Memory) ReplaceClient(ctx context.Context, c *oauth.Client) error {
	unlock, err := m.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	old := m.clients[c.ID]
	if old == nil || old.BlockedAt != nil || len(old.RegistrationHash) == 0 || !bytes.Equal(old.RegistrationHash, c.RegistrationHash) {
		return oauth.ErrNotFound
	}
	next := copyClient(c)
	next.CreatedAt, next.Settings, next.DeviceGrant = old.CreatedAt, old.Settings, old.DeviceGrant
	m.clients[c.ID] = next
	return nil
}

// DeleteClient implements oauth.ManagementStore.
func (m *Memory) DeleteClient(ctx context.Context, id string, at time.Time) error {
	unlock, err := m.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if m.clients[id] == nil {
		return oauth.ErrNotFound
	}
	for _, c := range m.connections {
		if c.ClientID == id && c.EndedAt == nil {
			c.EndedAt, c.EndedReason = &at, oauth.EndedByDeletion
		}
	}
	for hash, code := range m.codes {
		if code.Approval.ClientID == id && code.UsedAt == nil {
			delete(m.codes, hash)
		}
	}
	delete(m.clients, id)
	return nil
}

// RevokeRegistrationToken implements oauth.ManagementStore.
func (m *Memory) RevokeRegistrationToken(ctx context.Context, hash []byte) error {
	unlock, err := m.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	for _, c := range m.clients {
		if len(c.RegistrationHash) > 0 && bytes.Equal(c.RegistrationHash, hash) {
			c.RegistrationHash = nil
		}
	}
	return nil
}

// HostHasConnection implements oauth.ManagementStore.
func (m *Memory) HostHasConnection(ctx context.Context, host string) (bool, error) {
	unlock, err := m.lock(ctx)
	if err != nil {
		return false, err
	}
	defer unlock()
	for _, connection := range m.connections {
		if c := m.clients[connection.ClientID]; c != nil && c.Kind == oauth.ClientDocument && c.Host == host {
			return true, nil
		}
	}
	return false, nil
}

// BindRequest implements oauth.RequestStore.
func (m *Memory) BindRequest(ctx context.Context, id string, browserHash []byte) error {
	unlock, err := m.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	r := m.requests[string(oauth.HashSecret(id))]
	if r == nil || r.BrowserHash != nil {
		return oauth.ErrConflict
	}
	r.BrowserHash = bytes.Clone(browserHash)
	return nil
}
