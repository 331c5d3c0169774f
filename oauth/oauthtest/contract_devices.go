package oauthtest

import (
	"testing"
	"time"

	"gatehouse/oauth"
)

func newDevice(at time.Time) *oauth.DeviceRequest {
	return &oauth.DeviceRequest{
		Hash: secretHash(), UserCodeHash: secretHash(), ClientID: "gc_1", Resource: "https://h.example/mcp", Requested: []string{"read", "write"},
		Address: "192.0.2.7", DeviceHint: "TV", CreatedAt: at, ExpiresAt: at.Add(10 * time.Minute), Interval: 5 * time.Second, NextPollAt: at,
	}
}

func runDeviceTests(t *testing.T, newFixture func(t *testing.T) Fixture) {
	const step, slack = 5 * time.Second, time.Second
	t.Run("DG-1 a device request comes back whole, by either code", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		want := newDevice(Start)
		must(t, f.Devices.SaveDeviceRequest(t.Context(), want))
		got, err := f.Devices.DeviceRequest(t.Context(), want.Hash)
		must(t, err)
		same(t, want, got)
		got, err = f.Devices.DeviceRequestByUserCode(t.Context(), want.UserCodeHash)
		must(t, err)
		same(t, want, got)
		_, err = f.Devices.DeviceRequest(t.Context(), want.UserCodeHash)
		wantIs(t, err, oauth.ErrNotFound)
		_, err = f.Devices.DeviceRequestByUserCode(t.Context(), want.Hash)
		wantIs(t, err, oauth.ErrNotFound)
		other := newDevice(Start)
		other.UserCodeHash = want.UserCodeHash
		wantIs(t, f.Devices.SaveDeviceRequest(t.Context(), other), oauth.ErrConflict)
	})
	t.Run("DG-2 a poll that comes too early raises the interval for good", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		d := newDevice(Start)
		must(t, f.Devices.SaveDeviceRequest(t.Context(), d))
		at := Start
		for i, want := range []struct {
			after time.Duration
			early bool
		}{{0, false}, {5 * time.Second, false}, {4 * time.Second, false}, {2 * time.Second, true}, {5 * time.Second, true}, {14 * time.Second, false}} {
			at = at.Add(want.after)
			early, err := f.Devices.PollDevice(t.Context(), d.Hash, at, step, slack)
			must(t, err)
			if early != want.early {
				t.Errorf("poll %d: early is %v", i, early)
			}
		}
		got, err := f.Devices.DeviceRequest(t.Context(), d.Hash)
		must(t, err)
		same(t, 15*time.Second, got.Interval)
		_, err = f.Devices.PollDevice(t.Context(), secretHash(), at, step, slack)
		wantIs(t, err, oauth.ErrNotFound)
	})
	t.Run("DG-3 one decision wins, and none after the end", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		user := f.NewUser(t)
		d := newDevice(Start)
		must(t, f.Devices.SaveDeviceRequest(t.Context(), d))
		approval := &newCode(user, d.ClientID, d.Resource, Start).Approval
		approval.Details = []byte(`[{"type":"t"}]`)
		who := oauth.ResourceOwner{UserID: user, ACR: "two", AMR: []string{"pwd", "otp"}, AuthTime: Start.Add(-time.Minute)}
		wantIs(t, f.Devices.DecideDevice(t.Context(), d.UserCodeHash, d.ExpiresAt, approval, who), oauth.ErrUsed)
		wantIs(t, f.Devices.DecideDevice(t.Context(), secretHash(), Start, approval, who), oauth.ErrNotFound)
		oneWinner(t, oauth.ErrUsed, func(int) error {
			return f.Devices.DecideDevice(t.Context(), d.UserCodeHash, Start.Add(time.Second), approval, who)
		})
		got, err := f.Devices.DeviceRequest(t.Context(), d.Hash)
		must(t, err)
		same(t, *approval, got.Approval)
		same(t, oauth.OutcomeAllowed, got.Outcome)
		same(t, []string{who.ACR, "pwd", "otp"}, append([]string{got.ACR}, got.AMR...))
		same(t, who.AuthTime, got.AuthTime)
		same(t, ptr(Start.Add(time.Second)), got.DecidedAt)
	})
	t.Run("DG-2 an allowed request is redeemed once and makes connection, family and refresh token", func(t *testing.T) {
		t.Parallel()
		runDeviceRedemption(t, newFixture(t))
	})
}

func runDeviceRedemption(t *testing.T, f Fixture) {
	user := f.NewUser(t)
	must(t, f.Clients.SaveClient(t.Context(), newClient("gc_1", oauth.ClientDynamic)))
	d, denied, ended := newDevice(Start), newDevice(Start), newDevice(Start)
	for _, one := range []*oauth.DeviceRequest{d, denied, ended} {
		must(t, f.Devices.SaveDeviceRequest(t.Context(), one))
	}
	redemption := func(d *oauth.DeviceRequest) oauth.Redemption {
		return redemptionOf(&oauth.AuthorizationCode{Hash: d.Hash}, Start.Add(time.Minute))
	}
	_, err := f.Devices.RedeemDevice(t.Context(), redemption(d))
	wantIs(t, err, oauth.ErrUsed) // nothing is decided yet
	who := oauth.ResourceOwner{UserID: user, ACR: "two", AuthTime: Start}
	approval := newCode(user, d.ClientID, d.Resource, Start).Approval
	approval.Details = []byte(`[{"type":"t"}]`)
	must(t, f.Devices.DecideDevice(t.Context(), d.UserCodeHash, Start, &approval, who))
	must(t, f.Devices.DecideDevice(t.Context(), denied.UserCodeHash, Start, nil, who))
	_, err = f.Devices.RedeemDevice(t.Context(), redemption(denied))
	wantIs(t, err, oauth.ErrUsed)
	tries := make([]oauth.Redemption, racers)
	for i := range tries {
		tries[i] = redemption(d)
	}
	oneWinner(t, oauth.ErrUsed, func(i int) error {
		_, err := f.Devices.RedeemDevice(t.Context(), tries[i])
		return err
	})
	families := 0
	for _, r := range tries {
		if l, err := f.Tokens.Lineage(t.Context(), r.Refresh.Hash); err == nil {
			families++
			same(t, approval.Scopes, l.Connection.Scopes)
			same(t, user, l.Connection.UserID)
			same(t, approval.Details, l.Connection.Details)
			same(t, approval.Details, l.Family.Details)
		}
	}
	same(t, 1, families)
	other := f.NewUser(t)
	approval = newCode(other, d.ClientID, d.Resource, Start).Approval
	must(t, f.Devices.DecideDevice(t.Context(), ended.UserCodeHash, Start, &approval, who))
	f.DisableUser(t, other)
	_, err = f.Devices.RedeemDevice(t.Context(), redemption(ended))
	if err == nil {
		t.Error("a disabled person's device got tokens")
	}
}
