package web_test

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestFactorsNeedARecentSignIn(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.signedIn(t)
	const page, enrol = "/settings/account/factors", "/settings/account/factors/authenticator"
	a := b.get(t, page)
	if a.status != http.StatusOK || !strings.Contains(a.body, "Browsers allow passkeys only") {
		t.Fatalf("%d %s", a.status, a.body)
	}
	form := a.form(t, enrol)
	s.clock.Advance(11 * time.Minute)
	for _, a := range []*answer{b.post(t, enrol, form), b.get(t, enrol)} {
		if to := a.header.Get("Location"); a.status != http.StatusSeeOther || !strings.HasPrefix(to, "/signin?again=1&return=%2Fsettings%2Faccount%2Ffactors") {
			t.Errorf("AD-1 %d %s", a.status, to)
		}
	}
	if a := b.post(t, enrol, form, "Sec-Fetch-Site", "cross-site"); a.status != http.StatusForbidden {
		t.Errorf("BH-5 another site's form: %d", a.status)
	}
	form.Set("csrf", "x")
	if a := b.post(t, enrol, form); a.status != http.StatusForbidden {
		t.Errorf("BH-5 without the token: %d", a.status)
	}
	if a := s.browser().get(t, page); a.status != http.StatusSeeOther {
		t.Errorf("a stranger sees the page: %d", a.status)
	}
}

func TestSecondFactorWithoutASignIn(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.browser()
	if a := b.get(t, "/signin/second?return=%2Fsettings%2Fconnect"); a.header.Get("Location") != "/signin?return=%2Fsettings%2Fconnect" {
		t.Errorf("TF-1 nothing waits here: %d %s", a.status, a.header.Get("Location"))
	}
	if a := b.get(t, "/signin/second?return=https%3A%2F%2Fevil.example"); a.header.Get("Location") != "/signin" {
		t.Errorf("a foreign address is carried on: %s", a.header.Get("Location"))
	}
	if b.get(t, "/signin").find("form", "action", "/signin/passkey") != nil {
		t.Error("WA-1 a passkey is offered where there can be none")
	}
	for _, path := range []string{"/signin/passkey", "/signin/passkey/finish"} {
		if a := b.get(t, path); a.header.Get("Location") != "/signin" {
			t.Errorf("%s: %d", path, a.status)
		}
	}
}
