package app_test

import (
	"net/http"
	"strings"
	"testing"

	"gatehouse/app/apptest"
)

// TestProviderIsNoShortcutToAClient plays the confused deputy: somebody who signed in at the provider before is sent to
// the authorization endpoint by a client they never saw. The provider asks nothing again, and still nothing may reach the
// client before the person decided here, for this client.
func TestProviderIsNoShortcutToAClient(t *testing.T) {
	t.Parallel()
	inTown(t, false, []string{"GATEHOUSE_SIGN_UP=open"}, func(t *testing.T, w *town) {
		w.enter(t, "--new-people")
		w.provider.Be(map[string]any{"sub": "eve", "email": "eve@example.org", "email_verified": true, "name": "Eve"})
		first := apptest.NewBrowser("", "")
		w.through(t, first, mustOpen(t, first, w.URL+"/signup").FormTo("/signin/with/keys"))

		evil := registered(t, w.Program)
		b := apptest.NewBrowser("", "")
		page := mustOpen(t, b, evil.AuthorizeURL())
		for page.Status == http.StatusSeeOther {
			page = mustOpen(t, b, page.Header.Get("Location"))
		}
		page = w.through(t, b, page.FormTo("/signin/with/keys"))
		for page.Status == http.StatusSeeOther {
			to := page.Header.Get("Location")
			if !strings.HasPrefix(to, w.URL) && !strings.HasPrefix(to, "/") {
				t.Fatalf("CS-6 the sign-in at the provider led on to %s", to)
			}
			page = mustOpen(t, b, to)
		}
		form := page.Form("decision")
		if page.Status != http.StatusOK || form == nil {
			t.Fatalf("CS-6 no consent page after the provider: %d %s", page.Status, page.Text())
		}
		form.Values.Set("decision", "allow")
		form.Tick("scope", nil)
		form.Tick("location", nil)
		page, err := b.Post(form.Action, form.Values)
		if err != nil || !strings.Contains(page.Header.Get("Location"), "code=") {
			t.Errorf("CS-6 after the decision: %v %d %s", err, page.Status, page.Text())
		}
	})
}
