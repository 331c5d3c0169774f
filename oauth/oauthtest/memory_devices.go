package oauthtest

import (
	"bytes"
	"context"
	"slices"
	"time"

	"gatehouse/oauth"
)

func copyDevice(d *oauth.DeviceRequest) *oauth.DeviceRequest {
	c := *d
	c.Requested, c.Approval.Scopes, c.Approval.Terms = slices.Clone(d.Requested), slices.Clone(d.Approval.Scopes), slices.Clone(d.Approval.Terms)
	return &c
}

// SaveDeviceRequest implements oauth.DeviceStore.
func (m *Memory) SaveDeviceRequest(ctx context.Context, d *oauth.DeviceRequest) error {
	unlock, err := m.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if m.byUserCode(d.UserCodeHash) != nil {
		return oauth.ErrConflict
	}
	m.devices[string(d.Hash)] = copyDevice(d)
	return nil
}

func (m *Memory) byUserCode(hash []byte) *oauth.DeviceRequest {
	for _, d := range m.devices {
		if bytes.Equal(d.UserCodeHash, hash) {
			return d
		}
	}
	return nil
}

// DeviceRequest implements oauth.DeviceStore.
func (m *Memory) DeviceRequest(ctx context.Context, hash []byte) (*oauth.DeviceRequest, error) {
	return m.device(ctx, func() *oauth.DeviceRequest { return m.devices[string(hash)] })
}

// DeviceRequestByUserCode implements oauth.DeviceStore.
func (m *Memory) DeviceRequestByUserCode(ctx context.Context, hash []byte) (*oauth.DeviceRequest, error) {
	return m.device(ctx, func() *oauth.DeviceRequest { return m.byUserCode(hash) })
}

func (m *Memory) device(ctx context.Context, find func() *oauth.DeviceRequest) (*oauth.DeviceRequest, error) {
	unlock, err := m.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if d := find(); d != nil {
		return copyDevice(d), nil
	}
	return nil, oauth.ErrNotFound
}

// PollDevice implements oauth.DeviceStore.
func (m *Memory) PollDevice(ctx context.Context, hash []byte, at time.Time, step, slack time.Duration) (bool, error) {
	unlock, err := m.lock(ctx)
	if err != nil {
		return false, err
	}
	defer unlock()
	d := m.devices[string(hash)]
	if d == nil {
		return false, oauth.ErrNotFound
	}
	early := at.Before(d.NextPollAt)
	if early {
		d.Interval += step
	}
	d.NextPollAt = at.Add(d.Interval - slack)
	return early, nil
}

// DecideDevice implements oauth.DeviceStore.
func (m *Memory) DecideDevice(ctx context.Context, userCodeHash []byte, at time.Time, approval *oauth.Approval, who oauth.ResourceOwner) error {
	unlock, err := m.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	d := m.byUserCode(userCodeHash)
	switch {
	case d == nil:
		return oauth.ErrNotFound
	case who.SignIn != "" && m.signedOut[who.SignIn]:
		return oauth.ErrEnded
	case d.DecidedAt != nil || !d.ExpiresAt.After(at):
		return oauth.ErrUsed
	}
	d.DecidedAt, d.Outcome = &at, oauth.OutcomeDenied
	if approval != nil {
		d.Outcome, d.Approval, d.ACR, d.AMR, d.AuthTime = oauth.OutcomeAllowed, *approval, who.ACR, slices.Clone(who.AMR), who.AuthTime
	}
	return nil
}

// RedeemDevice implements oauth.DeviceStore.
func (m *Memory) RedeemDevice(ctx context.Context, r oauth.Redemption) (*oauth.Connection, error) {
	unlock, err := m.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	d := m.devices[string(r.CodeHash)]
	switch {
	case d == nil:
		return nil, oauth.ErrNotFound
	case d.UsedAt != nil || d.Outcome != oauth.OutcomeAllowed:
		return nil, oauth.ErrUsed
	}
	if disabled, known := m.users[d.Approval.UserID]; disabled || !known {
		return nil, oauth.ErrEnded
	}
	d.UsedAt = &r.At
	c := m.approve(d.Approval, r)
	m.families[r.FamilyID] = &oauth.Family{ID: r.FamilyID, ConnectionID: c.ID, DeviceHint: r.DeviceHint,
		Scopes: slices.Clone(d.Approval.Scopes), CreatedAt: r.At, Details: slices.Clone(d.Approval.Details),
		KeyThumbprint: r.KeyThumbprint, ACR: r.ACR, AuthTime: r.AuthTime}
	token := *r.Refresh
	m.refresh[string(token.Hash)] = &token
	return copyConnection(c), nil
}
