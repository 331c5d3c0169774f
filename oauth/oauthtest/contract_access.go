package oauthtest

import (
	"testing"
	"time"

	"gatehouse/oauth"
)

func runAccessTokenTests(t *testing.T, newFixture func(t *testing.T) Fixture) {
	setup := approved(newFixture)
	t.Run("AT-1 the family keeps how and when its person signed in", func(t *testing.T) {
		f, g := setup(t)
		l, err := f.Tokens.Lineage(t.Context(), g.refresh.Hash)
		must(t, err)
		same(t, g.code.ACR, l.Family.ACR)
		same(t, g.code.AuthTime, l.Family.AuthTime)
	})
	t.Run("KY-5 a stored access token comes back with what its family says", func(t *testing.T) {
		f, g := setup(t)
		stored := &oauth.StoredToken{
			Hash: secretHash(), ID: newID(), FamilyID: g.familyID, Scopes: []string{"read"}, Narrowed: true, KeyThumbprint: "key",
			IssuedAt: Start, ExpiresAt: Start.Add(time.Hour),
		}
		must(t, f.Tokens.SaveAccessToken(t.Context(), stored))
		got, err := f.Tokens.AccessToken(t.Context(), stored.Hash)
		must(t, err)
		same(t, &oauth.AccessToken{
			ID: stored.ID, Subject: g.connection.UserID, ClientID: "gc_1", Resource: testResource, ConnectionID: g.connection.ID,
			FamilyID: g.familyID, Scopes: []string{"read"}, Narrowed: true, IssuedAt: Start, ExpiresAt: Start.Add(time.Hour),
			KeyThumbprint: "key", ACR: g.code.ACR, AuthTime: g.code.AuthTime,
		}, got)
		_, err = f.Tokens.AccessToken(t.Context(), secretHash())
		wantIs(t, err, oauth.ErrNotFound)
	})
}
