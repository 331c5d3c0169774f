package web_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"gatehouse/app/audit"
)

const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code"

// deviceClient registers a client that an administrator allows the device grant.
func (s *site) deviceClient(t *testing.T) string {
	t.Helper()
	client := s.register(t)
	if err := s.memory.AllowDevices(t.Context(), client, true); err != nil {
		t.Fatal(err)
	}
	return client
}

// device asks for the codes of a device.
func (s *site) device(t *testing.T, client string) (deviceCode, userCode string) {
	t.Helper()
	a := s.postForm(t, "/device_authorization", url.Values{"client_id": {client}, "scope": {"home:read home:write"}}, "User-Agent", "curl/8")
	if a.status != http.StatusOK || a.header.Get("Cache-Control") != "no-store" {
		t.Fatalf("DG-1 %d %s", a.status, a.body)
	}
	body := a.json(t)
	return body["device_code"].(string), body["user_code"].(string)
}

func (s *site) pollDevice(t *testing.T, client, deviceCode string) map[string]any {
	t.Helper()
	return s.postForm(t, "/token", url.Values{"grant_type": {deviceGrant}, "client_id": {client}, "device_code": {deviceCode}}).json(t)
}

// enter types a code into the page.
func (b *browser) enter(t *testing.T, code string) *answer {
	t.Helper()
	form := b.get(t, "/device").form(t, "/device")
	form.Set("user_code", code)
	return b.post(t, "/device", form)
}

func TestDeviceFlow(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	client := s.deviceClient(t)
	deviceCode, userCode := s.device(t, client)
	b := s.signedIn(t)
	page := b.enter(t, strings.ToLower(strings.ReplaceAll(userCode, "-", "")))
	for _, part := range []string{userCode, "Test app", "192.0.2.1", "curl", "Did someone send you this code?", "Registered itself, not verified", "https://home.example/mcp", email, "Workshop"} {
		if !strings.Contains(page.body, part) {
			t.Errorf("DG-4, DG-5 the page does not show %q", part)
		}
	}
	form := page.form(t, "/device/decision")
	if !slices.Equal(form["scope"], []string{"home:read"}) || form.Get("expires") != "30d" || len(form["location"]) != 1 {
		t.Errorf("DG-4 ticked beforehand: %v", form)
	}
	form.Set("decision", "allow")
	form.Del("location")
	if a := b.post(t, "/device/decision", form); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, "location") {
		t.Errorf("nothing ticked: %d", a.status)
	}
	if got := s.pollDevice(t, client, deviceCode)["error"]; got != "authorization_pending" {
		t.Errorf("DG-2 before the decision: %v", got)
	}
	form.Set("location", homeID)
	if a := b.post(t, "/device/decision", form); a.status != http.StatusOK || !strings.Contains(a.body, "Go back to your device") {
		t.Errorf("allow: %d %s", a.status, a.body)
	}
	tokens := s.pollDevice(t, client, deviceCode)
	if tokens["scope"] != "home:read" || tokens["refresh_token"] == nil {
		t.Errorf("DG-2 tokens: %v", tokens)
	}
	if got := s.pollDevice(t, client, deviceCode)["error"]; got != "invalid_grant" {
		t.Errorf("DG-2 redeemed again: %v", got)
	}
	if !slices.Contains(s.audit.actions(), audit.DeviceConnected) {
		t.Error("nothing was recorded")
	}
	if a := b.post(t, "/device/decision", form); a.status != http.StatusUnprocessableEntity {
		t.Errorf("DG-3 decided again: %d", a.status)
	}
}

func TestDevicePage(t *testing.T) {
	t.Parallel()
	t.Run("DG-4 the complete address only fills the code in, after a sign-in", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		_, userCode := s.device(t, s.deviceClient(t))
		address := "/device?user_code=" + userCode
		stranger := s.browser()
		if a := stranger.get(t, address); a.header.Get("Location") != "/signin?return="+url.QueryEscape(address) {
			t.Errorf("a stranger is sent to %q", a.header.Get("Location"))
		}
		a := s.signedIn(t).get(t, address)
		if a.form(t, "/device").Get("user_code") != userCode || strings.Contains(a.body, "Test app") {
			t.Errorf("the page: %s", a.body)
		}
		if csp := a.header.Get("Content-Security-Policy"); !strings.Contains(csp, "form-action 'self'") {
			t.Errorf("BH-1 policy %q", csp)
		}
	})
	t.Run("deny", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		client := s.deviceClient(t)
		deviceCode, userCode := s.device(t, client)
		b := s.signedIn(t)
		form := b.enter(t, userCode).form(t, "/device/decision")
		form.Set("decision", "deny")
		if a := b.post(t, "/device/decision", form); a.status != http.StatusOK || !strings.Contains(a.body, "Nothing was connected") {
			t.Errorf("deny: %d %s", a.status, a.body)
		}
		a := s.postForm(t, "/token", url.Values{"grant_type": {deviceGrant}, "client_id": {client}, "device_code": {deviceCode}})
		if a.status != http.StatusBadRequest || a.json(t)["error"] != "access_denied" {
			t.Errorf("DG-2 denied: %d %s", a.status, a.body)
		}
	})
	t.Run("DG-3 wrong, expired and used codes look alike, and tries are throttled", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		client := s.deviceClient(t)
		_, userCode := s.device(t, client)
		b := s.signedIn(t)
		s.clock.Advance(11 * time.Minute)
		strip := func(a *answer, code string) string {
			form := a.form(t, "/device")
			return strings.ReplaceAll(strings.ReplaceAll(a.body, form.Get("csrf"), ""), code, "")
		}
		wrong, expired := b.enter(t, "BBBB-BBBB"), b.enter(t, userCode)
		if wrong.status != http.StatusUnprocessableEntity || strip(wrong, "BBBB-BBBB") != strip(expired, userCode) || expired.status != wrong.status {
			t.Errorf("wrong %d, expired %d", wrong.status, expired.status)
		}
		last := 0
		for range 10 {
			last = b.enter(t, "BBBB-BBBB").status
		}
		if last != http.StatusTooManyRequests {
			t.Errorf("after many tries: %d", last)
		}
		if a := s.signedIn(t).enter(t, "BBBB-BBBB"); a.status != http.StatusUnprocessableEntity {
			t.Errorf("another session: %d", a.status)
		}
	})
	t.Run("BH-5 another site's form", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		_, userCode := s.device(t, s.deviceClient(t))
		b := s.signedIn(t)
		form := b.enter(t, userCode).form(t, "/device/decision")
		form.Set("decision", "allow")
		if a := b.post(t, "/device/decision", form, "Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"); a.status != http.StatusForbidden {
			t.Errorf("cross-site: %d", a.status)
		}
		form.Set("csrf", "x")
		if a := b.post(t, "/device/decision", form); a.status != http.StatusForbidden {
			t.Errorf("wrong token: %d", a.status)
		}
	})
	t.Run("not you: a sign-out leads back with the code", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		_, userCode := s.device(t, s.deviceClient(t))
		b := s.signedIn(t)
		page := b.enter(t, userCode)
		form := url.Values{}
		for n := range page.find("form", "id", "switch").Descendants() {
			if n.Data == "input" {
				form.Set(attr(n, "name"), attr(n, "value"))
			}
		}
		a := b.post(t, "/signout", form)
		if want := "/signin?return=" + url.QueryEscape("/device?user_code="+userCode); a.header.Get("Location") != want {
			t.Errorf("goes to %q; want %q", a.header.Get("Location"), want)
		}
	})
}

func TestDeviceAuthorizationEndpoint(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	client := s.deviceClient(t)
	form := url.Values{"client_id": {client}}
	if a := s.postForm(t, "/device_authorization", form, "Origin", "https://app.example"); a.header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("CO-1 headers: %v", a.header)
	}
	pre := s.call(t, http.MethodOptions, "/device_authorization", "", "Origin", "https://app.example", "Access-Control-Request-Method", "POST")
	if pre.status != http.StatusNoContent || pre.header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("CO-1 preflight: %d %v", pre.status, pre.header)
	}
	page := s.call(t, http.MethodOptions, "/device", "", "Origin", "https://app.example", "Access-Control-Request-Method", "POST")
	if page.header.Get("Access-Control-Allow-Origin") != "" {
		t.Error("§22 the page has CORS headers")
	}
	if a := s.call(t, http.MethodGet, "/device_authorization", ""); a.status != http.StatusMethodNotAllowed {
		t.Errorf("GET: %d", a.status)
	}
	if a := s.postForm(t, "/device_authorization", url.Values{"client_id": {s.register(t)}}); a.status != http.StatusBadRequest || a.json(t)["error"] != "unauthorized_client" {
		t.Errorf("DG-5 a client that registered itself: %d %s", a.status, a.body)
	}
	if a := s.postForm(t, "/device_authorization", url.Values{"client_id": {"nobody"}}); a.status != http.StatusUnauthorized {
		t.Errorf("TK-4 an unknown client: %d", a.status)
	}
	query := s.call(t, http.MethodPost, "/token?device_code=x", "", "Content-Type", formType)
	if query.status != http.StatusBadRequest {
		t.Errorf("TK-2 the code in the URL: %d", query.status)
	}
	last := 0
	for range 70 {
		last = s.postForm(t, "/device_authorization", form).status
	}
	if last != http.StatusTooManyRequests {
		t.Errorf("many from one address: %d", last)
	}
	dark := newSite(t, off)
	for _, path := range []string{"/device_authorization", "/device", "/device/decision"} {
		if a := dark.call(t, http.MethodPost, path, ""); a.status != http.StatusNotFound {
			t.Errorf("%s while OAuth is off: %d", path, a.status)
		}
	}
}
