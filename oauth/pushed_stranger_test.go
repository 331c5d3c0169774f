package oauth

import (
	"context"
	"fmt"
	"testing"
)

// TestPushFetchLimits: what strangers push must not use up the fetches that people's clients need.
func TestPushFetchLimits(t *testing.T) {
	t.Parallel()
	lab := newClientLab(t)
	lab.fetcher.serve(docURL, document())
	refused := 0
	for i := range maxFetchOriginRate + 5 {
		_, err := lab.pushingClient(context.Background(), fmt.Sprintf("https://app.example/oauth/%d.json", i))
		if e, ok := err.(*Error); ok && e.Status == 429 {
			refused++
		}
	}
	if refused != 5 {
		t.Errorf("CI-15 %d pushes were over the limit, want 5", refused)
	}
	if _, err := lab.lookupClient(context.Background(), docURL, true); err != nil {
		t.Errorf("CI-15 a signed-in person's client is shut out: %v", err)
	}
	if c, err := lab.pushingClient(context.Background(), docURL); err != nil || c.ID != docURL {
		t.Errorf("CI-15 a known client is shut out: %v", err)
	}
}
