package oauthtest

import (
	"context"
	"slices"
	"time"

	"gatehouse/oauth"
)

// AllowDevices implements oauth.ClientStore.
func (m *Memory) AllowDevices(ctx context.Context, id string, allow bool) error {
	unlock, err := m.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	c := m.clients[id]
	if c == nil {
		return oauth.ErrNotFound
	}
	c.DeviceGrant = allow
	return nil
}

// TrustIssuer makes an issuer known.
func (m *Memory) TrustIssuer(t oauth.TrustedIssuer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.issuers[t.Issuer] = t
}

// TrustedIssuer implements oauth.IssuerStore.
func (m *Memory) TrustedIssuer(ctx context.Context, issuer string) (*oauth.TrustedIssuer, error) {
	unlock, err := m.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if t, ok := m.issuers[issuer]; ok {
		return &t, nil
	}
	return nil, oauth.ErrNotFound
}

// Bar ends a connection by hand, as the person or an administrator does: direct grants do not bring it back.
func (m *Memory) Bar(id string, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.connections[id]
	c.EndedAt, c.EndedReason = &at, oauth.EndedByUser
	m.barred[id] = true
}

// MachineGrant implements oauth.GrantStore.
func (m *Memory) MachineGrant(ctx context.Context, clientID, resource string, at time.Time) (*oauth.DirectGrant, error) {
	unlock, err := m.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	for id, origin := range m.origins {
		f := m.families[id]
		c := m.connections[f.ConnectionID]
		disabled, known := m.users[c.UserID]
		if origin == oauth.GrantClientCredentials && c.ClientID == clientID && c.Resource == resource && c.EndedAt == nil && f.EndedAt == nil &&
			known && !disabled && (c.ExpiresAt == nil || c.ExpiresAt.After(at)) {
			return &oauth.DirectGrant{Connection: *copyConnection(c), FamilyID: id}, nil
		}
	}
	return nil, oauth.ErrNotFound
}

// WriteGrant implements oauth.GrantStore.
func (m *Memory) WriteGrant(ctx context.Context, g oauth.NewGrant) (*oauth.DirectGrant, error) {
	unlock, err := m.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if disabled, known := m.users[g.Approval.UserID]; disabled || !known {
		return nil, oauth.ErrEnded
	}
	c := m.live(g.Approval, g.At)
	family, refused := m.directFamily(c, g)
	if refused || c == nil && !g.Replace && m.isBarred(g.Approval) {
		return nil, oauth.ErrEnded
	}
	if g.Replace {
		m.endOthers(g)
	}
	if c == nil || g.Replace {
		c = m.approve(g.Approval, oauth.Redemption{At: g.At, NewConnectionID: g.NewConnectionID})
	}
	if g.Replace {
		for id := range m.origins {
			if f := m.families[id]; f.ConnectionID == c.ID && f.EndedAt != nil {
				f.EndedReason = "replaced"
			}
		}
	}
	if family == "" && g.Origin != "" {
		family = g.NewFamilyID
		m.origins[family] = g.Origin
		m.families[family] = &oauth.Family{ID: family, ConnectionID: c.ID, DeviceHint: g.DeviceHint, Scopes: slices.Clone(c.Scopes), CreatedAt: g.At}
	}
	return &oauth.DirectGrant{Connection: *copyConnection(c), FamilyID: family}, nil
}

// directFamily finds the live family of a connection for direct grants of one origin. Refused says that there was one, and
// that it was ended by hand.
func (m *Memory) directFamily(c *oauth.Connection, g oauth.NewGrant) (id string, refused bool) {
	if c == nil {
		return "", false
	}
	for family, origin := range m.origins {
		f := m.families[family]
		if origin != g.Origin || f.ConnectionID != c.ID {
			continue
		}
		if f.EndedAt == nil {
			return family, false
		}
		refused = refused || !g.Replace && (f.EndedReason == oauth.EndedByUser || f.EndedReason == oauth.EndedByAdmin)
	}
	return "", refused
}

func (m *Memory) isBarred(a oauth.Approval) bool {
	var last *oauth.Connection
	for _, c := range m.connections {
		if c.UserID == a.UserID && c.ClientID == a.ClientID && c.Resource == a.Resource && (last == nil || c.CreatedAt.After(last.CreatedAt)) {
			last = c
		}
	}
	return last != nil && m.barred[last.ID]
}

// endOthers ends what a machine had for other people.
func (m *Memory) endOthers(g oauth.NewGrant) {
	if g.Origin != oauth.GrantClientCredentials {
		return
	}
	for family, origin := range m.origins {
		c := m.connections[m.families[family].ConnectionID]
		if origin == g.Origin && c.ClientID == g.Approval.ClientID && c.Resource == g.Approval.Resource && c.UserID != g.Approval.UserID && c.EndedAt == nil {
			c.EndedAt, c.EndedReason = &g.At, oauth.EndedByAdmin
		}
	}
}
