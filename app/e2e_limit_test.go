package app_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"gatehouse/app/apptest"
)

// TestStrangersLockNoClientOut: anybody can name a client that has no secret, so its limit is counted by network.
func TestStrangersLockNoClientOut(t *testing.T) {
	t.Parallel()
	p := apptest.Start(t, "GATEHOUSE_TRUSTED_PROXIES=127.0.0.0/8")
	client, err := apptest.RegisterClient(p.URL, "http://127.0.0.1:7777/callback")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Run("", "client", "set", client.ID, "--per-minute", "5"); err != nil {
		t.Fatal(err)
	}
	ask := func(address string) int {
		form := url.Values{"grant_type": {"refresh_token"}, "client_id": {client.ID}, "refresh_token": {"gtr_nonsense"}}
		req, err := http.NewRequest(http.MethodPost, p.URL+"/token", strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("X-Forwarded-For", address)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		return res.StatusCode
	}
	status := 0
	for range 12 { // more than one window holds
		status = ask("203.0.113.9")
	}
	if status != http.StatusTooManyRequests {
		t.Errorf("X-12 the limit of a client does not hold: %d", status)
	}
	if status := ask("198.51.100.7"); status != http.StatusBadRequest {
		t.Errorf("X-12 a stranger used up the limit of a client for everybody: %d", status)
	}
}
