package oauthtest

import (
	"context"
	"slices"

	"gatehouse/oauth"
)

// SaveAccessToken implements oauth.TokenStore.
func (m *Memory) SaveAccessToken(ctx context.Context, t *oauth.StoredToken) error {
	unlock, err := m.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	stored := *t
	stored.Scopes = slices.Clone(t.Scopes)
	m.access[string(t.Hash)] = &stored
	return nil
}

// AccessToken implements oauth.TokenStore.
func (m *Memory) AccessToken(ctx context.Context, hash []byte) (*oauth.AccessToken, error) {
	unlock, err := m.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	t := m.access[string(hash)]
	if t == nil || m.families[t.FamilyID] == nil {
		return nil, oauth.ErrNotFound
	}
	f := m.families[t.FamilyID]
	c := m.connections[f.ConnectionID]
	subject := c.UserID
	if m.origins[f.ID] == oauth.GrantClientCredentials {
		subject = oauth.ClientSubject(c.ClientID)
	}
	return &oauth.AccessToken{
		ID: t.ID, Subject: subject, ClientID: c.ClientID, Resource: c.Resource, ConnectionID: c.ID, FamilyID: f.ID,
		Scopes: slices.Clone(t.Scopes), Narrowed: t.Narrowed, Details: t.Details, DetailsNarrowed: t.Details != nil, IssuedAt: t.IssuedAt, ExpiresAt: t.ExpiresAt,
		KeyThumbprint: t.KeyThumbprint, ACR: f.ACR, AuthTime: f.AuthTime,
	}, nil
}
