package oauthtest

import (
	"context"
	"time"

	"gatehouse/oauth"
)

// SavePushedRequest implements oauth.RequestStore.
func (m *Memory) SavePushedRequest(ctx context.Context, p *oauth.PushedRequest) error {
	unlock, err := m.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	c := *p
	c.ID, c.Parameters = "", copyParameters(p.Parameters)
	m.pushed[string(oauth.HashSecret(p.ID))] = &c
	return nil
}

// PushedRequest implements oauth.RequestStore.
func (m *Memory) PushedRequest(ctx context.Context, id string) (*oauth.PushedRequest, error) {
	unlock, err := m.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	p := m.pushed[string(oauth.HashSecret(id))]
	if p == nil {
		return nil, oauth.ErrNotFound
	}
	c := *p
	c.ID, c.Parameters = id, copyParameters(p.Parameters)
	return &c, nil
}

// OpenPushedRequest implements oauth.RequestStore.
func (m *Memory) OpenPushedRequest(ctx context.Context, id string, at time.Time, r *oauth.AuthorizationRequest) error {
	unlock, err := m.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	p := m.pushed[string(oauth.HashSecret(id))]
	switch {
	case p == nil:
		return oauth.ErrNotFound
	case p.OpenedAt != nil:
		return oauth.ErrUsed
	}
	p.OpenedAt = &at
	c := copyRequest(r)
	c.ID = ""
	m.requests[string(oauth.HashSecret(r.ID))] = c
	return nil
}
