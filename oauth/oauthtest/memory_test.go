package oauthtest_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"gatehouse/oauth/oauthtest"
)

func TestMemoryStores(t *testing.T) {
	t.Parallel()
	oauthtest.RunStoreTests(t, func(*testing.T) oauthtest.Fixture {
		m := oauthtest.NewMemory()
		return oauthtest.Fixture{
			AddInitialToken: func(_ *testing.T, hash []byte, uses int, expires time.Time) { m.AddInitialToken(hash, uses, expires) },
			Stores:          m.Stores(),
			NewUser: func(*testing.T) string {
				id := uuid.NewString()
				m.AddUser(id)
				return id
			},
			DisableUser: func(_ *testing.T, id string) { m.DisableUser(id) },
			Bar:         func(_ *testing.T, id string) { m.Bar(id, oauthtest.Start) },
		}
	})
}
