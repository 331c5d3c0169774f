package oauth_test

import (
	"errors"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"gatehouse/oauth"
)

func (w *world) device(changes ...string) *oauth.DeviceAuthorization {
	w.t.Helper()
	d, err := w.AuthorizeDevice(w.t.Context(), changed(url.Values{"scope": {"read write"}}, changes), authOf(publicClient), "192.0.2.7")
	must(w.t, err)
	return d
}

func (w *world) poll(deviceCode string, changes ...string) (*oauth.TokenResponse, error) {
	w.t.Helper()
	form := changed(url.Values{"grant_type": {oauth.GrantDeviceCode}, "device_code": {deviceCode}}, changes)
	return w.Token(w.t.Context(), form, authOf(publicClient))
}

func allow(scopes ...string) oauth.Decision { return oauth.Decision{Allow: true, Scopes: scopes} }

func TestDeviceAuthorization(t *testing.T) {
	t.Parallel()
	t.Run("DG-1, DG-3 the answer has all members and a code of the alphabet", func(t *testing.T) {
		t.Parallel()
		w := newGrantWorld(t)
		d := w.device()
		if !regexp.MustCompile(`^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$`).MatchString(d.UserCode) || !strings.HasPrefix(d.DeviceCode, "gtd_") {
			t.Errorf("codes are %q and %q", d.UserCode, d.DeviceCode)
		}
		equal(t, "uri", d.VerificationURI, issuer+"/device")
		equal(t, "complete uri", d.VerificationURIComplete, issuer+"/device?user_code="+d.UserCode)
		equal(t, "expires_in", d.ExpiresIn, 600)
		equal(t, "interval", d.Interval, 5)
		if other := w.device(); other.UserCode == d.UserCode || other.DeviceCode == d.DeviceCode {
			t.Error("two devices got one code")
		}
	})
	t.Run("DG-5 clients that no administrator allowed get nothing", func(t *testing.T) {
		t.Parallel()
		w := newGrantWorld(t)
		for _, client := range []string{secretClient, documentURL} {
			_, err := w.AuthorizeDevice(t.Context(), url.Values{}, authOf(client), "")
			shown(t, err, "unauthorized_client")
			_, err = w.Token(t.Context(), url.Values{"grant_type": {oauth.GrantDeviceCode}, "device_code": {"x"}}, authOf(client))
			shown(t, err, "unauthorized_client")
		}
		off := newWorld(t)
		must(t, off.store.AllowDevices(t.Context(), publicClient, true))
		_, err := off.AuthorizeDevice(t.Context(), url.Values{}, authOf(publicClient), "")
		shown(t, err, "unauthorized_client")
		_, err = off.poll("x")
		shown(t, err, "unsupported_grant_type")
	})
	t.Run("RI-5 resource is accepted and settles the audience", func(t *testing.T) {
		t.Parallel()
		w := newGrantWorld(t)
		d := w.device("resource", sideResource, "scope", "side:read")
		must(t, w.DecideDevice(t.Context(), d.UserCode, w.person, allow("side:read")))
		_, err := w.poll(d.DeviceCode, "resource", mainResource)
		shown(t, err, "invalid_target")
		tokens, err := w.poll(d.DeviceCode, "resource", sideResource)
		must(t, err)
		_, err = w.VerifyAccessToken(t.Context(), tokens.AccessToken, sideResource)
		must(t, err)
		_, err = w.AuthorizeDevice(t.Context(), url.Values{"resource": {"https://other.example"}}, authOf(publicClient), "")
		shown(t, err, "invalid_target")
		_, err = w.AuthorizeDevice(t.Context(), url.Values{"scope": {"nonsense"}}, authOf(publicClient), "")
		shown(t, err, "invalid_scope")
	})
}

func TestDevicePolling(t *testing.T) {
	t.Parallel()
	t.Run("DG-2 pending, then tokens, once", func(t *testing.T) {
		t.Parallel()
		w := newGrantWorld(t)
		d := w.device()
		for range 3 {
			_, err := w.poll(d.DeviceCode)
			shown(t, err, "authorization_pending")
			w.clock.Advance(5 * time.Second)
		}
		must(t, w.DecideDevice(t.Context(), strings.ToLower(strings.ReplaceAll(d.UserCode, "-", " ")), w.person, allow("read")))
		tokens, err := w.poll(d.DeviceCode)
		must(t, err)
		equal(t, "scope", tokens.Scope, "read")
		at, err := w.VerifyAccessToken(t.Context(), tokens.AccessToken, mainResource)
		must(t, err)
		equal(t, "subject", at.Subject, "alice")
		_, err = w.poll(d.DeviceCode)
		shown(t, err, "invalid_grant")
		_, err = w.VerifyAccessToken(t.Context(), tokens.AccessToken, mainResource)
		must(t, err)
		_, err = w.refresh(publicClient, tokens.RefreshToken)
		must(t, err)
	})
	t.Run("DG-2 too fast is slow_down, five seconds more for good", func(t *testing.T) {
		t.Parallel()
		w := newGrantWorld(t)
		d := w.device()
		for i, step := range []struct {
			after time.Duration
			code  string
		}{{0, "authorization_pending"}, {2 * time.Second, "slow_down"}, {6 * time.Second, "slow_down"}, {15 * time.Second, "authorization_pending"},
			{10 * time.Second, "slow_down"}, {20 * time.Second, "authorization_pending"}} {
			w.clock.Advance(step.after)
			_, err := w.poll(d.DeviceCode)
			if e := (*oauth.Error)(nil); !errors.As(err, &e) || e.Code != step.code || e.Status != 400 {
				t.Errorf("poll %d: %v; want %s", i, err, step.code)
			}
		}
	})
	t.Run("DG-2 denied and expired", func(t *testing.T) {
		t.Parallel()
		w := newGrantWorld(t)
		denied, late := w.device(), w.device()
		must(t, w.DecideDevice(t.Context(), denied.UserCode, w.person, oauth.Decision{}))
		_, err := w.poll(denied.DeviceCode)
		equal(t, "status", shown(t, err, "access_denied").Status, 400)
		must(t, w.DecideDevice(t.Context(), late.UserCode, w.person, allow("read")))
		w.clock.Advance(10 * time.Minute)
		_, err = w.poll(late.DeviceCode)
		shown(t, err, "expired_token")
	})
	t.Run("DG-2 a code of another client, and none", func(t *testing.T) {
		t.Parallel()
		w := newGrantWorld(t)
		d := w.device()
		must(t, w.store.AllowDevices(t.Context(), documentURL, true))
		_, err := w.Token(t.Context(), url.Values{"grant_type": {oauth.GrantDeviceCode}, "device_code": {d.DeviceCode}}, authOf(documentURL))
		shown(t, err, "invalid_grant")
		_, err = w.poll("gtd_nothing")
		shown(t, err, "invalid_grant")
		_, err = w.poll("")
		shown(t, err, "invalid_request")
	})
	t.Run("DP-6 a proof at the token endpoint binds the family", func(t *testing.T) {
		t.Parallel()
		w := newGrantWorld(t)
		d := w.device()
		must(t, w.DecideDevice(t.Context(), d.UserCode, w.person, allow("read")))
		p := w.prover()
		tokens, err := w.tokenWith(publicClient, []string{p.Proof("POST", tokenURL, "")}, url.Values{"grant_type": {oauth.GrantDeviceCode}, "device_code": {d.DeviceCode}})
		must(t, err)
		equal(t, "type", tokens.TokenType, "DPoP")
		_, err = w.refresh(publicClient, tokens.RefreshToken)
		shown(t, err, "invalid_grant")
	})
	t.Run("OI-1, BR-12 the strength of the sign-in and who somebody is travel with the approval", func(t *testing.T) {
		t.Parallel()
		w := newGrantWorld(t, func(c *oauth.Config) { c.OpenID, c.ACRValues = true, []string{"one", "two"} })
		d := w.device("scope", "openid read")
		who := w.person
		who.ACR, who.AMR = "two", []string{"pwd", "otp"}
		p, err := w.PromptDevice(t.Context(), d.UserCode, who)
		must(t, err)
		for _, o := range p.Offered {
			equal(t, o.Name+" ticked", o.Ticked, o.Name == "read" || o.Name == "openid")
		}
		must(t, w.DecideDevice(t.Context(), d.UserCode, who, allow("read", "openid")))
		tokens, err := w.poll(d.DeviceCode)
		must(t, err)
		equal(t, "ID token", tokens.IDToken != "", true)
		at, err := w.VerifyAccessToken(t.Context(), tokens.AccessToken, mainResource)
		must(t, err)
		equal(t, "acr", at.ACR, "two")
		equal(t, "auth_time", at.AuthTime.Unix(), who.AuthTime.Unix())
		alone := w.device("scope", "openid", "resource", "-")
		_, err = w.PromptDevice(t.Context(), alone.UserCode, who)
		must(t, err)
	})
	t.Run("RA-1 authorization_details are refused, not ignored", func(t *testing.T) {
		t.Parallel()
		w := newGrantWorld(t)
		_, err := w.AuthorizeDevice(t.Context(), url.Values{"authorization_details": {`[{"type":"x"}]`}}, authOf(publicClient), "")
		shown(t, err, "invalid_authorization_details")
	})
	t.Run("RT-7 a person disabled in between", func(t *testing.T) {
		t.Parallel()
		w := newGrantWorld(t)
		d := w.device()
		must(t, w.DecideDevice(t.Context(), d.UserCode, w.person, allow("read")))
		w.store.DisableUser("alice")
		_, err := w.poll(d.DeviceCode)
		shown(t, err, "invalid_grant")
	})
}

func TestDeviceDecision(t *testing.T) {
	t.Parallel()
	t.Run("DG-4 the person sees code, client, place, device and scopes, and no more than the baseline is ticked", func(t *testing.T) {
		t.Parallel()
		w := newGrantWorld(t)
		must(t, w.store.AllowDevices(t.Context(), documentURL, true))
		d, err := w.AuthorizeDevice(oauth.WithDeviceHint(t.Context(), "TV"), url.Values{"scope": {"write"}}, authOf(documentURL), "192.0.2.7")
		must(t, err)
		p, err := w.PromptDevice(t.Context(), d.UserCode, w.person)
		must(t, err)
		equal(t, "code", p.UserCode, d.UserCode)
		equal(t, "address", p.Address, "192.0.2.7")
		equal(t, "device", p.DeviceHint, "TV")
		equal(t, "client", p.Client.ID, documentURL)
		for _, o := range p.Offered {
			equal(t, o.Name+" ticked", o.Ticked, o.Name == "read")
		}
	})
	t.Run("DG-3 wrong, expired, decided and another's code look alike", func(t *testing.T) {
		t.Parallel()
		w := newGrantWorld(t)
		decided, expired := w.device(), w.device()
		must(t, w.DecideDevice(t.Context(), decided.UserCode, w.person, allow("read")))
		want := ""
		look := func(code string) {
			_, err := w.PromptDevice(t.Context(), code, w.person)
			e := shown(t, err, "invalid_request")
			equal(t, "check", e.Check, "user_code")
			if want == "" {
				want = e.Error()
			}
			equal(t, "text of "+code, e.Error(), want)
			equal(t, "decision", shown(t, w.DecideDevice(t.Context(), code, w.person, allow("read")), "invalid_request").Error(), want)
		}
		look("BBBB-BBBB")
		look("nonsense")
		look("")
		look(decided.UserCode)
		w.clock.Advance(10 * time.Minute)
		look(expired.UserCode)
	})
	t.Run("DG-5 a client that loses the switch or is blocked meanwhile", func(t *testing.T) {
		t.Parallel()
		w := newGrantWorld(t)
		d := w.device()
		must(t, w.store.AllowDevices(t.Context(), publicClient, false))
		_, err := w.PromptDevice(t.Context(), d.UserCode, w.person)
		shown(t, err, "unauthorized_client")
		shown(t, w.DecideDevice(t.Context(), d.UserCode, w.person, allow("read")), "unauthorized_client")
	})
	t.Run("nothing ticked leaves it open, a sign-in that ended decides nothing", func(t *testing.T) {
		t.Parallel()
		w := newGrantWorld(t)
		d := w.device()
		if err := w.DecideDevice(t.Context(), d.UserCode, w.person, allow("nonsense")); !errors.Is(err, oauth.ErrNoScope) {
			t.Errorf("nothing ticked: %v", err)
		}
		who := w.person
		who.SignIn = "session"
		w.store.EndSignIn("session")
		shown(t, w.DecideDevice(t.Context(), d.UserCode, who, allow("read")), "login_required")
		shown(t, w.DecideDevice(t.Context(), d.UserCode, oauth.ResourceOwner{}, allow("read")), "login_required")
		must(t, w.DecideDevice(t.Context(), d.UserCode, w.person, allow("read")))
	})
}

// FuzzUserCode: whatever is typed, the result is a code of the alphabet or none, and cleaning it again changes nothing.
func FuzzUserCode(f *testing.F) {
	for _, s := range []string{"BCDF-GHJK", "bcdf ghjk", "BCDFGHJKL", "\x00BCDF.GHJK\u202e", "AEIO-UAEI", "ＢＣＤＦ-GHJK"} {
		f.Add(s)
	}
	shape := regexp.MustCompile(`^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$`)
	f.Fuzz(func(t *testing.T, typed string) {
		code := oauth.CleanUserCode(typed)
		if code != "" && (!shape.MatchString(code) || oauth.CleanUserCode(code) != code) {
			t.Errorf("%q became %q", typed, code)
		}
	})
}
