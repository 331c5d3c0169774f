package oauthtest

import (
	"context"
	"slices"
	"time"

	"gatehouse/oauth"
)

// Code implements oauth.CodeStore.
func (m *Memory) Code(ctx context.Context, hash []byte) (*oauth.AuthorizationCode, error) {
	unlock, err := m.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if c := m.codes[string(hash)]; c != nil {
		return copyCode(c), nil
	}
	return nil, oauth.ErrNotFound
}

// RedeemCode implements oauth.CodeStore.
func (m *Memory) RedeemCode(ctx context.Context, r oauth.Redemption) (*oauth.Connection, error) {
	unlock, err := m.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	code := m.codes[string(r.CodeHash)]
	switch {
	case code == nil:
		return nil, oauth.ErrNotFound
	case code.UsedAt != nil:
		return nil, oauth.ErrUsed
	}
	if disabled, known := m.users[code.Approval.UserID]; disabled || !known {
		return nil, oauth.ErrEnded
	}
	if id := code.Approval.GrantID; id != "" {
		if c := m.live(code.Approval, r.At); c == nil || c.ID != id {
			return nil, oauth.ErrEnded
		}
	}
	code.UsedAt, code.FamilyID = &r.At, r.FamilyID
	connection := m.approve(code.Approval, r)
	m.families[r.FamilyID] = &oauth.Family{
		ID: r.FamilyID, ConnectionID: connection.ID, DeviceHint: r.DeviceHint, Scopes: slices.Clone(code.Approval.Scopes), CreatedAt: r.At,
		Details:       slices.Clone(code.Approval.Details),
		KeyThumbprint: r.KeyThumbprint, ACR: r.ACR, AuthTime: r.AuthTime,
	}
	token := *r.Refresh
	m.refresh[string(token.Hash)] = &token
	return copyConnection(connection), nil
}

// approve updates the live connection of the approval's person, client and resource, or makes one.
func (m *Memory) approve(a oauth.Approval, r oauth.Redemption) *oauth.Connection {
	connection := m.live(a, r.At)
	if connection != nil && a.GrantAction == oauth.GrantCreate {
		connection.EndedAt, connection.EndedReason = &r.At, oauth.EndedByReplacement
		connection = nil
	}
	if connection == nil {
		connection = &oauth.Connection{
			ID: r.NewConnectionID, UserID: a.UserID, ClientID: a.ClientID, Resource: a.Resource, CreatedAt: r.At,
		}
		m.connections[connection.ID] = connection
	}
	connection.Scopes = slices.Clone(a.Scopes)
	connection.Terms = slices.Clone(a.Terms)
	connection.Details = slices.Clone(a.Details)
	connection.ExpiresAt = a.ExpiresAt
	connection.UpdatedAt = r.At
	return connection
}

// live finds the live connection and ends those that have expired, so that approving again never revives their tokens.
func (m *Memory) live(a oauth.Approval, at time.Time) *oauth.Connection {
	for _, c := range m.connections {
		if c.UserID != a.UserID || c.ClientID != a.ClientID || c.Resource != a.Resource || c.EndedAt != nil {
			continue
		}
		if c.ExpiresAt == nil || c.ExpiresAt.After(at) {
			return c
		}
		c.EndedAt, c.EndedReason = &at, oauth.EndedByExpiry
	}
	return nil
}

// Lineage implements oauth.TokenStore.
func (m *Memory) Lineage(ctx context.Context, hash []byte) (*oauth.Lineage, error) {
	unlock, err := m.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	token := m.refresh[string(hash)]
	if token == nil {
		return nil, oauth.ErrNotFound
	}
	family := m.families[token.FamilyID]
	connection := m.connections[family.ConnectionID]
	disabled, known := m.users[connection.UserID]
	lineage := &oauth.Lineage{
		Token: *token, Family: *family, Connection: *copyConnection(connection), UserDisabled: disabled || !known,
	}
	if token.SuccessorHash != nil {
		successor := m.refresh[string(token.SuccessorHash)]
		lineage.SuccessorUsed = successor != nil && successor.SuccessorHash != nil
	}
	return lineage, nil
}

// RotateRefreshToken implements oauth.TokenStore.
func (m *Memory) RotateRefreshToken(ctx context.Context, presented []byte, successor *oauth.RefreshToken, sealed []byte, at time.Time) error {
	unlock, err := m.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	return m.rotate(presented, successor, sealed, at)
}

func (m *Memory) rotate(presented []byte, successor *oauth.RefreshToken, sealed []byte, at time.Time) error {
	token := m.refresh[string(presented)]
	switch {
	case token == nil:
		return oauth.ErrNotFound
	case token.SuccessorHash != nil:
		return oauth.ErrConflict
	}
	token.SuccessorHash = slices.Clone(successor.Hash)
	token.SuccessorSealed = slices.Clone(sealed)
	token.RotatedAt = &at
	next := *successor
	m.refresh[string(next.Hash)] = &next
	return nil
}

// RenewRefreshToken implements oauth.TokenStore.
func (m *Memory) RenewRefreshToken(ctx context.Context, hash []byte, _, expires time.Time) error {
	unlock, err := m.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	token := m.refresh[string(hash)]
	if token == nil || token.SuccessorHash != nil {
		return oauth.ErrNotFound
	}
	token.ExpiresAt = expires
	return nil
}

// RotateAndBind implements oauth.TokenStore.
func (m *Memory) RotateAndBind(ctx context.Context, presented []byte, successor *oauth.RefreshToken, sealed []byte, at time.Time, keyThumbprint string) error {
	unlock, err := m.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if token := m.refresh[string(presented)]; token != nil && m.families[token.FamilyID].KeyThumbprint != "" {
		return oauth.ErrConflict
	}
	if err := m.rotate(presented, successor, sealed, at); err != nil {
		return err
	}
	m.families[successor.FamilyID].KeyThumbprint = keyThumbprint
	return nil
}

// UseProof implements oauth.ProofStore.
func (m *Memory) UseProof(ctx context.Context, hash []byte, expires time.Time) error {
	unlock, err := m.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if _, used := m.proofs[string(hash)]; used {
		return oauth.ErrUsed
	}
	m.proofs[string(hash)] = expires
	return nil
}

// Grant implements oauth.TokenStore.
func (m *Memory) Grant(ctx context.Context, id string) (*oauth.Connection, error) {
	unlock, err := m.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if c := m.connections[id]; c != nil {
		return copyConnection(c), nil
	}
	return nil, oauth.ErrNotFound
}

// EndFamily implements oauth.TokenStore.
func (m *Memory) EndFamily(ctx context.Context, id, reason string, at time.Time) (bool, error) {
	unlock, err := m.lock(ctx)
	if err != nil {
		return false, err
	}
	defer unlock()
	family := m.families[id]
	if family == nil || family.EndedAt != nil {
		return false, nil
	}
	family.EndedAt, family.EndedReason = &at, reason
	return true, nil
}

// EndConnection implements oauth.TokenStore.
func (m *Memory) EndConnection(ctx context.Context, id, reason string, at time.Time) (bool, error) {
	unlock, err := m.lock(ctx)
	if err != nil {
		return false, err
	}
	defer unlock()
	connection := m.connections[id]
	if connection == nil || connection.EndedAt != nil {
		return false, nil
	}
	connection.EndedAt, connection.EndedReason = &at, reason
	return true, nil
}

// RevokeAccessToken implements oauth.TokenStore.
func (m *Memory) RevokeAccessToken(ctx context.Context, jti string, expires time.Time) error {
	unlock, err := m.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	m.revoked[jti] = expires
	return nil
}

// Keys implements oauth.KeyStore.
func (m *Memory) Keys(ctx context.Context) ([]oauth.SigningKey, error) {
	unlock, err := m.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	return slices.Clone(m.keys), nil
}

// ChangeKeys implements oauth.KeyStore.
func (m *Memory) ChangeKeys(ctx context.Context, fn func(keys []oauth.SigningKey) ([]oauth.SigningKey, error)) error {
	unlock, err := m.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	keys, err := fn(slices.Clone(m.keys))
	if err != nil {
		return err
	}
	slices.SortStableFunc(keys, func(a, b oauth.SigningKey) int { return a.CreatedAt.Compare(b.CreatedAt) })
	m.keys = keys
	return nil
}

// Standing implements oauth.TokenStore.
func (m *Memory) Standing(ctx context.Context, connectionID, familyID, jti string) (*oauth.Standing, error) {
	unlock, err := m.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	c, f := m.connections[connectionID], m.families[familyID]
	if c == nil || f == nil || f.ConnectionID != connectionID {
		return nil, oauth.ErrNotFound
	}
	_, revoked := m.revoked[jti]
	k := m.clients[c.ClientID]
	ended := c.EndedAt != nil || f.EndedAt != nil || m.users[c.UserID] || revoked || k != nil && k.BlockedAt != nil
	return &oauth.Standing{Ended: ended, Scopes: slices.Clone(c.Scopes), Details: slices.Clone(c.Details), ExpiresAt: c.ExpiresAt}, nil
}
