package oauthtest

import (
	"testing"
	"time"

	"gatehouse/oauth"
)

// Fixture is a fresh set of stores for one test, with the two things about people that the contract needs.
type Fixture struct {
	oauth.Stores
	// NewUser makes a person who may sign in and returns the id.
	NewUser func(t *testing.T) string
	// DisableUser takes the person's right to sign in.
	DisableUser func(t *testing.T, id string)
	// AddInitialToken makes an initial access token known by its hash; uses is how often it may be used.
	AddInitialToken func(t *testing.T, hash []byte, uses int, expires time.Time)
	// Bar ends a connection by hand, as the person or an administrator does.
	Bar func(t *testing.T, connectionID string)
}

// RunStoreTests runs the contract that every implementation of the stores keeps, races included. newFixture is called
// once for each test, possibly from several goroutines.
func RunStoreTests(t *testing.T, newFixture func(t *testing.T) Fixture) {
	t.Helper()
	t.Run("clients", func(t *testing.T) { t.Parallel(); runClientTests(t, newFixture) })
	t.Run("management", func(t *testing.T) { t.Parallel(); runManagementTests(t, newFixture) })
	t.Run("requests", func(t *testing.T) { t.Parallel(); runRequestTests(t, newFixture) })
	t.Run("codes", func(t *testing.T) { t.Parallel(); runCodeTests(t, newFixture) })
	t.Run("consent", func(t *testing.T) { t.Parallel(); runConsentTests(t, newFixture) })
	t.Run("tokens", func(t *testing.T) { t.Parallel(); runTokenTests(t, newFixture) })
	t.Run("devices", func(t *testing.T) { t.Parallel(); runDeviceTests(t, newFixture) })
	t.Run("direct grants", func(t *testing.T) { t.Parallel(); runDirectGrantTests(t, newFixture) })
	t.Run("keys", func(t *testing.T) { t.Parallel(); runKeyTests(t, newFixture) })
	t.Run("proofs", func(t *testing.T) { t.Parallel(); runProofTests(t, newFixture) })
	t.Run("races", func(t *testing.T) { t.Parallel(); runRaceTests(t, newFixture) })
}
