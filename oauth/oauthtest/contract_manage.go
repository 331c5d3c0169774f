package oauthtest

import (
	"testing"
	"time"

	"gatehouse/oauth"
)

func runManagementTests(t *testing.T, newFixture func(t *testing.T) Fixture) {
	t.Run("saving again keeps what an administrator and the registration set", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		must(t, f.Clients.SaveClient(t.Context(), newClient("gc_1", oauth.ClientDynamic)))
		changed := newClient("gc_1", oauth.ClientDynamic)
		changed.RegistrationHash, changed.PendingAt, changed.Settings = nil, nil, oauth.ClientSettings{}
		must(t, f.Clients.SaveClient(t.Context(), changed))
		got, err := f.Clients.Client(t.Context(), "gc_1")
		must(t, err)
		same(t, newClient("gc_1", oauth.ClientDynamic), got)
	})
	t.Run("DR-8 an initial access token is used as often as it may be", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		hash := secretHash()
		wantIs(t, f.Clients.CheckInitialToken(t.Context(), hash, Start), oauth.ErrNotFound)
		f.AddInitialToken(t, hash, 1, Start.Add(time.Hour))
		must(t, f.Clients.CheckInitialToken(t.Context(), hash, Start))
		wantIs(t, f.Clients.CheckInitialToken(t.Context(), hash, Start.Add(time.Hour)), oauth.ErrEnded)
		oneWinner(t, oauth.ErrEnded, func(i int) error {
			return f.Clients.RegisterClient(t.Context(), newClient("gc_"+string(rune('a'+i)), oauth.ClientDynamic), hash)
		})
		wantIs(t, f.Clients.CheckInitialToken(t.Context(), hash, Start), oauth.ErrEnded)
		n, err := f.Clients.CountClients(t.Context(), oauth.ClientDynamic)
		must(t, err)
		same(t, 1, n)
		late := secretHash()
		f.AddInitialToken(t, late, 5, Start)
		wantIs(t, f.Clients.RegisterClient(t.Context(), newClient("gc_late", oauth.ClientDynamic), late), oauth.ErrEnded)
	})
	runReplacementTests(t, newFixture)
}

func runReplacementTests(t *testing.T, newFixture func(t *testing.T) Fixture) {
	t.Run("DM-2 a client is replaced under its registration token", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		must(t, f.Clients.SaveClient(t.Context(), newClient("gc_1", oauth.ClientDynamic)))
		next := newClient("gc_1", oauth.ClientDynamic)
		next.Name, next.Contacts, next.PendingAt, next.CreatedAt = "next", nil, nil, Start.Add(time.Hour)
		next.Changes = map[string]time.Time{"redirect_uris": Start.Add(2 * time.Hour)}
		must(t, f.Clients.ReplaceClient(t.Context(), next))
		got, err := f.Clients.Client(t.Context(), "gc_1")
		must(t, err)
		next.CreatedAt = Start
		same(t, next, got)
		foreign := newClient("gc_1", oauth.ClientDynamic)
		foreign.RegistrationHash = secretHash()
		wantIs(t, f.Clients.ReplaceClient(t.Context(), foreign), oauth.ErrNotFound)
		wantIs(t, f.Clients.ReplaceClient(t.Context(), newClient("gc_2", oauth.ClientDynamic)), oauth.ErrNotFound)
	})
	t.Run("DM-3 a used token of an unknown client is forgotten", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		c := newClient("gc_1", oauth.ClientDynamic)
		must(t, f.Clients.SaveClient(t.Context(), c))
		must(t, f.Clients.RevokeRegistrationToken(t.Context(), secretHash()))
		must(t, f.Clients.RevokeRegistrationToken(t.Context(), c.RegistrationHash))
		got, err := f.Clients.Client(t.Context(), "gc_1")
		must(t, err)
		if got.RegistrationHash != nil {
			t.Error("the token is still there")
		}
		wantIs(t, f.Clients.ReplaceClient(t.Context(), c), oauth.ErrNotFound)
	})
	t.Run("DM-3 a deleted client takes its connections along", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		wantIs(t, f.Clients.DeleteClient(t.Context(), "gc_1", Start), oauth.ErrNotFound)
		c := newClient("https://app.example/client.json", oauth.ClientDocument)
		must(t, f.Clients.SaveClient(t.Context(), c))
		seen, err := f.Clients.HostHasConnection(t.Context(), c.Host)
		must(t, err)
		same(t, false, seen)
		grant := approve(t, f, f.NewUser(t), c.ID, "https://h.example/mcp", nil)
		seen, err = f.Clients.HostHasConnection(t.Context(), c.Host)
		must(t, err)
		same(t, true, seen)
		seen, err = f.Clients.HostHasConnection(t.Context(), "other.example")
		must(t, err)
		same(t, false, seen)
		must(t, f.Clients.DeleteClient(t.Context(), c.ID, Start.Add(time.Hour)))
		_, err = f.Clients.Client(t.Context(), c.ID)
		wantIs(t, err, oauth.ErrNotFound)
		l, err := f.Tokens.Lineage(t.Context(), grant.refresh.Hash)
		must(t, err)
		if l.Connection.ID != grant.connection.ID || l.Connection.EndedAt == nil || l.Connection.EndedReason != oauth.EndedByDeletion {
			t.Errorf("the connection is %+v", l.Connection)
		}
	})
	t.Run("AZ-17 a request belongs to one browser", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		r := newRequest(Start)
		must(t, f.Requests.SaveRequest(t.Context(), r))
		hash := secretHash()
		oneWinner(t, oauth.ErrConflict, func(int) error { return f.Requests.BindRequest(t.Context(), r.ID, hash) })
		got, err := f.Requests.Request(t.Context(), r.ID)
		must(t, err)
		same(t, hash, got.BrowserHash)
		wantIs(t, f.Requests.BindRequest(t.Context(), "unknown", hash), oauth.ErrConflict)
	})
}
