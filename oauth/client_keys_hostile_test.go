package oauth

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// strangersClient is a client that registered itself with keys at the address.
func strangersClient(address string) *Client {
	return &Client{ID: "gc_stranger", Kind: ClientDynamic, AuthMethods: []string{AuthPrivateKeyJWT}, JWKSURI: address}
}

// TestKeySetFetchLimits: strangers must not use this server against a host, nor against the clients of others.
func TestKeySetFetchLimits(t *testing.T) {
	t.Parallel()
	t.Run("JW-4 one host in many spellings is one host", func(t *testing.T) {
		t.Parallel()
		lab := newClientLab(t)
		hosts := []string{"victim.example", "Victim.example", "VICTIM.example", "victim.example:443", "victim.example."}
		for i := range 2 * maxFetchOriginRate {
			_, _ = lab.clientKeys(context.Background(), strangersClient(fmt.Sprintf("https://%s/%d", hosts[i%len(hosts)], i)), false)
		}
		if n := len(lab.fetcher.calls); n > maxFetchOriginRate {
			t.Errorf("%d fetches from one host within a minute, want at most %d", n, maxFetchOriginRate)
		}
	})
	t.Run("JW-4 the limit of strangers is not that of others", func(t *testing.T) {
		t.Parallel()
		lab := keyedLab(t)
		for i := range maxFetchOriginRate {
			_, _ = lab.clientKeys(context.Background(), strangersClient(fmt.Sprintf("https://app.example/%d", i)), false)
		}
		if _, err := lab.clientKeys(context.Background(), strangersClient(keysURL), false); !errors.Is(err, errDocumentAway) {
			t.Fatalf("a stranger over the limit: %v", err)
		}
		client := lab.clients.rows[keyedClient]
		if _, err := lab.clientKeys(context.Background(), &client, false); err != nil {
			t.Errorf("a stranger shut out a client with the same keys: %v", err)
		}
	})
}
