package oauthtest

import (
	"errors"
	"slices"
	"testing"
	"time"

	"gatehouse/oauth"
)

// newClient returns a client as a store has to keep it, every field set.
func newClient(id string, kind oauth.ClientKind) *oauth.Client {
	c := &oauth.Client{
		ID: id, Kind: kind, Name: "Näme of " + id, Host: "app.example", SecretHash: oauth.HashSecret("secret"),
		AuthMethods: []string{oauth.AuthBasic, oauth.AuthPost}, RedirectURIs: []string{"https://app.example/cb?x=1", "http://127.0.0.1/cb"},
		GrantTypes: []string{oauth.GrantAuthorizationCode}, ResponseTypes: []string{"code"}, Scope: "read write",
		ApplicationType: "native", ClientURI: "https://app.example/", LogoURI: "https://app.example/logo",
		TOSURI: "https://app.example/tos", PolicyURI: "https://app.example/policy", SoftwareID: "software",
		SoftwareVersion: "1.2", DPoPBound: true, Contacts: []string{"a@app.example"}, JWKS: []byte(`{"keys":[{"kty":"EC"}]}`), JWKSURI: "https://app.example/jwks",
		AssertionAlgorithm: "RS256", RequirePushed: true, IDTokenAlgorithm: "ES256", CreatedAt: Start, LastSeenAt: Start,
		RegistrationHash: oauth.HashSecret("manage " + id), PendingAt: ptr(Start.Add(time.Second)),
		Settings: oauth.ClientSettings{KeepOnStale: true, RequirePushed: true, PerMinute: 7},
		Changes:  map[string]time.Time{"client_name": Start.Add(time.Minute)},
	}
	if kind == oauth.ClientDocument {
		c.SecretHash, c.AuthMethods = nil, []string{oauth.AuthNone}
		c.Document = &oauth.DocumentState{
			ETag: `"v1"`, Digest: oauth.HashSecret("body"), FetchedAt: Start, FreshUntil: Start.Add(time.Hour),
		}
	}
	return c
}

func runClientTests(t *testing.T, newFixture func(t *testing.T) Fixture) {
	t.Run("saved client comes back whole", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		for _, kind := range []oauth.ClientKind{oauth.ClientDynamic, oauth.ClientDocument, oauth.ClientRegistered} {
			want := newClient("https://app.example/"+string(kind), kind)
			must(t, f.Clients.SaveClient(t.Context(), want))
			got, err := f.Clients.Client(t.Context(), want.ID)
			must(t, err)
			same(t, want, got)
		}
	})
	t.Run("unknown client is ErrNotFound", func(t *testing.T) {
		t.Parallel()
		_, err := newFixture(t).Clients.Client(t.Context(), "nobody")
		wantIs(t, err, oauth.ErrNotFound)
	})
	t.Run("saving again replaces all but the creation time", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		c := newClient("gc_1", oauth.ClientDynamic)
		must(t, f.Clients.SaveClient(t.Context(), c))
		blocked := Start.Add(time.Minute)
		changed := newClient("gc_1", oauth.ClientDynamic)
		changed.Name, changed.RedirectURIs, changed.BlockedAt = "other", []string{"https://other.example/"}, &blocked
		changed.CreatedAt = Start.Add(time.Hour)
		must(t, f.Clients.SaveClient(t.Context(), changed))
		got, err := f.Clients.Client(t.Context(), "gc_1")
		must(t, err)
		changed.CreatedAt = Start
		same(t, changed, got)
	})
	t.Run("touch moves the last sight", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		must(t, f.Clients.SaveClient(t.Context(), newClient("gc_1", oauth.ClientDynamic)))
		must(t, f.Clients.TouchClient(t.Context(), "gc_1", Start.Add(time.Hour)))
		got, err := f.Clients.Client(t.Context(), "gc_1")
		must(t, err)
		same(t, Start.Add(time.Hour), got.LastSeenAt)
		same(t, Start, got.CreatedAt)
	})
	t.Run("JW-3 an assertion is used once", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		hash := secretHash()
		oneWinner(t, oauth.ErrUsed, func(int) error { return f.Clients.UseAssertion(t.Context(), hash, Start.Add(time.Minute)) })
		must(t, f.Clients.UseAssertion(t.Context(), secretHash(), Start.Add(time.Minute)))
		wantIs(t, f.Clients.UseAssertion(t.Context(), hash, Start.Add(time.Hour)), oauth.ErrUsed)
	})
	t.Run("counting is by kind", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		must(t, f.Clients.SaveClient(t.Context(), newClient("gc_1", oauth.ClientDynamic)))
		must(t, f.Clients.SaveClient(t.Context(), newClient("gc_2", oauth.ClientDynamic)))
		must(t, f.Clients.SaveClient(t.Context(), newClient("gc_3", oauth.ClientRegistered)))
		n, err := f.Clients.CountClients(t.Context(), oauth.ClientDynamic)
		must(t, err)
		same(t, 2, n)
	})
	t.Run("DR-7 unused clients go, used and entered ones stay", func(t *testing.T) {
		t.Parallel()
		runUnusedClientTest(t, newFixture(t))
	})
}

func runUnusedClientTest(t *testing.T, f Fixture) {
	for _, c := range []*oauth.Client{
		newClient("gc_unused", oauth.ClientDynamic), newClient("https://app.example/unused", oauth.ClientDocument),
		newClient("gc_used", oauth.ClientDynamic), newClient("entered", oauth.ClientRegistered),
	} {
		must(t, f.Clients.SaveClient(t.Context(), c))
	}
	young := newClient("gc_young", oauth.ClientDynamic)
	young.CreatedAt = Start.Add(time.Hour)
	must(t, f.Clients.SaveClient(t.Context(), young))
	g := approve(t, f, f.NewUser(t), "gc_used", "https://h.example/mcp", nil)

	for id, want := range map[string]bool{"gc_used": true, "gc_unused": false} {
		has, err := f.Clients.ClientHasConnection(t.Context(), id)
		must(t, err)
		same(t, want, has)
	}
	n, err := f.Clients.DeleteUnusedClients(t.Context(), Start.Add(time.Minute))
	must(t, err)
	same(t, 2, n)
	for id, stays := range map[string]bool{
		"gc_unused": false, "https://app.example/unused": false, "gc_used": true, "entered": true, "gc_young": true,
	} {
		if _, err := f.Clients.Client(t.Context(), id); errors.Is(err, oauth.ErrNotFound) == stays {
			t.Errorf("client %s: stays = %v, error %v", id, stays, err)
		}
	}
	ended, err := f.Tokens.EndConnection(t.Context(), g.connection.ID, oauth.EndedByUser, Start.Add(time.Minute))
	must(t, err)
	same(t, true, ended)
	has, err := f.Clients.ClientHasConnection(t.Context(), "gc_used")
	must(t, err)
	same(t, false, has)
}

func runKeyTests(t *testing.T, newFixture func(t *testing.T) Fixture) {
	key := func(kid string, state oauth.KeyState, age time.Duration) oauth.SigningKey {
		return oauth.SigningKey{
			KID: kid, Algorithm: "ES256", PublicJWK: []byte(`{"kid":"` + kid + `"}`), Sealed: []byte{0, 1, 2},
			State: state, CreatedAt: Start.Add(age),
		}
	}
	t.Run("an empty store has no keys", func(t *testing.T) {
		t.Parallel()
		keys, err := newFixture(t).Keys.Keys(t.Context())
		must(t, err)
		same(t, 0, len(keys))
	})
	t.Run("KY-3 the set that fn returns is what is stored, oldest first", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		a, b, c := key("a", oauth.KeyActive, 0), key("b", oauth.KeyNext, time.Minute), key("c", oauth.KeyNext, time.Hour)
		a.ActivatedAt = ptr(Start)
		setKeys(t, f, b, a)
		got, err := f.Keys.Keys(t.Context())
		must(t, err)
		same(t, []oauth.SigningKey{a, b}, got)

		b.State, b.ActivatedAt = oauth.KeyActive, ptr(Start.Add(time.Hour))
		must(t, f.Keys.ChangeKeys(t.Context(), func(keys []oauth.SigningKey) ([]oauth.SigningKey, error) {
			same(t, []string{"a", "b"}, []string{keys[0].KID, keys[1].KID})
			return []oauth.SigningKey{b, c}, nil
		}))
		got, err = f.Keys.Keys(t.Context())
		must(t, err)
		same(t, []oauth.SigningKey{b, c}, got)
	})
	t.Run("KY-3 fn may work in place", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		setKeys(t, f, key("a", oauth.KeyRetired, 0), key("b", oauth.KeyActive, time.Minute), key("c", oauth.KeyNext, time.Hour))
		must(t, f.Keys.ChangeKeys(t.Context(), func(keys []oauth.SigningKey) ([]oauth.SigningKey, error) {
			return slices.DeleteFunc(keys, func(k oauth.SigningKey) bool { return k.KID == "a" }), nil
		}))
		got, err := f.Keys.Keys(t.Context())
		must(t, err)
		same(t, []string{"b", "c"}, []string{got[0].KID, got[len(got)-1].KID})
		same(t, 2, len(got))
	})
	t.Run("an error of fn changes nothing", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		setKeys(t, f, key("a", oauth.KeyActive, 0))
		boom := errors.New("boom")
		err := f.Keys.ChangeKeys(t.Context(), func([]oauth.SigningKey) ([]oauth.SigningKey, error) { return nil, boom })
		wantIs(t, err, boom)
		got, err := f.Keys.Keys(t.Context())
		must(t, err)
		same(t, 1, len(got))
	})
	t.Run("KY-3 twenty changes at once follow one another", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		race(t, func(i int) error {
			return f.Keys.ChangeKeys(t.Context(), func(keys []oauth.SigningKey) ([]oauth.SigningKey, error) {
				if slices.ContainsFunc(keys, func(k oauth.SigningKey) bool { return k.State == oauth.KeyActive }) {
					return keys, nil
				}
				return append(keys, key(string(rune('a'+i)), oauth.KeyActive, 0)), nil
			})
		}, func(err error) { must(t, err) })
		got, err := f.Keys.Keys(t.Context())
		must(t, err)
		same(t, 1, len(got))
	})
}

func setKeys(t *testing.T, f Fixture, keys ...oauth.SigningKey) {
	t.Helper()
	must(t, f.Keys.ChangeKeys(t.Context(), func([]oauth.SigningKey) ([]oauth.SigningKey, error) { return keys, nil }))
}
