package oauthtest

import (
	"testing"
	"time"

	"gatehouse/oauth"
)

func newGrant(userID, origin string, at time.Time) oauth.NewGrant {
	a := newCode(userID, "gc_1", "https://h.example/mcp", at).Approval
	a.ExpiresAt = nil
	return oauth.NewGrant{Approval: a, Origin: origin, At: at, NewConnectionID: newID(), NewFamilyID: newID(), DeviceHint: "entered"}
}

func runDirectGrantTests(t *testing.T, newFixture func(t *testing.T) Fixture) {
	const resource = "https://h.example/mcp"
	t.Run("CC-1 a machine's grant is found while connection, family and person live", func(t *testing.T) {
		t.Parallel()
		runMachineGrant(t, newFixture(t))
	})
	t.Run("IJ-4 an asserted grant leaves a live connection as the person has it", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		user := f.NewUser(t)
		first := newGrant(user, oauth.GrantJWTBearer, Start)
		made, err := f.Grants.WriteGrant(t.Context(), first)
		must(t, err)
		same(t, first.NewConnectionID, made.Connection.ID)
		wider := newGrant(user, oauth.GrantJWTBearer, Start.Add(time.Minute))
		wider.Approval.Scopes = []string{"read", "write", "extra"}
		again, err := f.Grants.WriteGrant(t.Context(), wider)
		must(t, err)
		same(t, made.Connection.ID, again.Connection.ID)
		same(t, made.FamilyID, again.FamilyID)
		same(t, first.Approval.Scopes, again.Connection.Scopes)
		_, err = f.Grants.MachineGrant(t.Context(), "gc_1", resource, Start)
		wantIs(t, err, oauth.ErrNotFound) // no token by the client's own credentials comes of it
	})
	t.Run("IJ-4 at the same time there is one connection and one family", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		user := f.NewUser(t)
		grants := make([]*oauth.DirectGrant, racers)
		race(t, func(i int) (err error) {
			grants[i], err = f.Grants.WriteGrant(t.Context(), newGrant(user, oauth.GrantJWTBearer, Start))
			return err
		}, func(err error) { must(t, err) })
		for _, g := range grants {
			same(t, grants[0].FamilyID, g.FamilyID)
			same(t, grants[0].Connection.ID, g.Connection.ID)
		}
	})
	t.Run("IJ-4 a connection that ended by hand does not come back by an assertion", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		user := f.NewUser(t)
		made, err := f.Grants.WriteGrant(t.Context(), newGrant(user, oauth.GrantJWTBearer, Start))
		must(t, err)
		f.Bar(t, made.Connection.ID)
		later := newGrant(user, oauth.GrantJWTBearer, Start.Add(time.Hour))
		_, err = f.Grants.WriteGrant(t.Context(), later)
		wantIs(t, err, oauth.ErrEnded)
		later.Replace = true
		back, err := f.Grants.WriteGrant(t.Context(), later)
		must(t, err)
		same(t, later.NewConnectionID, back.Connection.ID)
	})
	t.Run("DG-5 the device switch is the administrator's: saving the client leaves it", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		c := newClient("gc_1", oauth.ClientDynamic)
		c.DeviceGrant = true
		must(t, f.Clients.SaveClient(t.Context(), c))
		got, err := f.Clients.Client(t.Context(), "gc_1")
		must(t, err)
		same(t, false, got.DeviceGrant)
		must(t, f.Clients.AllowDevices(t.Context(), "gc_1", true))
		must(t, f.Clients.SaveClient(t.Context(), got))
		got, err = f.Clients.Client(t.Context(), "gc_1")
		must(t, err)
		same(t, true, got.DeviceGrant)
		wantIs(t, f.Clients.AllowDevices(t.Context(), "nothing", true), oauth.ErrNotFound)
	})
}

func runMachineGrant(t *testing.T, f Fixture) {
	const resource = "https://h.example/mcp"
	user := f.NewUser(t)
	_, err := f.Grants.MachineGrant(t.Context(), "gc_1", resource, Start)
	wantIs(t, err, oauth.ErrNotFound)
	g := newGrant(user, oauth.GrantClientCredentials, Start)
	g.Replace = true
	made, err := f.Grants.WriteGrant(t.Context(), g)
	must(t, err)
	found, err := f.Grants.MachineGrant(t.Context(), "gc_1", resource, Start)
	must(t, err)
	same(t, made.FamilyID, found.FamilyID)
	same(t, g.Approval.Scopes, found.Connection.Scopes)
	same(t, user, found.Connection.UserID)
	_, err = f.Grants.MachineGrant(t.Context(), "gc_1", "https://h.example/x", Start)
	wantIs(t, err, oauth.ErrNotFound)
	standing, err := f.Tokens.Standing(t.Context(), found.Connection.ID, found.FamilyID, "jti")
	must(t, err)
	same(t, false, standing.Ended)
	_, err = f.Tokens.EndFamily(t.Context(), found.FamilyID, oauth.EndedByUser, Start)
	must(t, err)
	_, err = f.Grants.MachineGrant(t.Context(), "gc_1", resource, Start)
	wantIs(t, err, oauth.ErrNotFound)
	again := newGrant(user, oauth.GrantClientCredentials, Start.Add(time.Hour))
	_, err = f.Grants.WriteGrant(t.Context(), again)
	wantIs(t, err, oauth.ErrEnded) // the installation was ended by hand
	again.Replace = true
	renewed, err := f.Grants.WriteGrant(t.Context(), again)
	must(t, err)
	same(t, made.Connection.ID, renewed.Connection.ID)
	same(t, again.NewFamilyID, renewed.FamilyID)
	other := newGrant(f.NewUser(t), oauth.GrantClientCredentials, Start.Add(2*time.Hour))
	other.Replace = true
	moved, err := f.Grants.WriteGrant(t.Context(), other)
	must(t, err)
	found, err = f.Grants.MachineGrant(t.Context(), "gc_1", resource, Start.Add(2*time.Hour))
	must(t, err)
	same(t, moved.Connection.ID, found.Connection.ID) // it acts for one person
	f.DisableUser(t, other.Approval.UserID)
	_, err = f.Grants.MachineGrant(t.Context(), "gc_1", resource, Start.Add(2*time.Hour))
	wantIs(t, err, oauth.ErrNotFound)
	_, err = f.Grants.WriteGrant(t.Context(), other)
	wantIs(t, err, oauth.ErrEnded)
}
