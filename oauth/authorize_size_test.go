package oauth_test

import (
	"errors"
	"strings"
	"testing"

	"gatehouse/oauth"
)

// A stranger may not have the server keep more than a request needs.
func TestAuthorizationRequestSize(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	fits := authorizeForm(publicClient, "state", strings.Repeat("s", 8<<10))
	if _, err := w.BeginAuthorization(t.Context(), fits, false); err != nil {
		t.Errorf("AZ-9 a state of 8 KiB: %v", err)
	}
	_, err := w.BeginAuthorization(t.Context(), authorizeForm(publicClient, "state", strings.Repeat("s", 60<<10)), false)
	var refused *oauth.Error
	if !errors.As(err, &refused) || refused.Code != "invalid_request" || refused.Check != "length" {
		t.Errorf("X-11 a state of 60 KiB: %v", err)
	}
}
