package app_test

import (
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"
	"github.com/descope/virtualwebauthn"
	"github.com/pquerna/otp/totp"

	"gatehouse/app/apptest"
	"gatehouse/db/dbtest"
)

// Signing in with more than a password, against the real program.

const factorsPage = "/settings/account/factors"

// atLocalhost gives settings with a public URL at which browsers have passkeys.
func atLocalhost(t testing.TB) []string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return []string{"GATEHOUSE_LISTEN=127.0.0.1:" + port, "GATEHOUSE_PUBLIC_URL=http://localhost:" + port}
}

// follow posts a form and goes where the answer leads.
func follow(t *testing.T, b *apptest.Browser, f *apptest.Form) *apptest.Page {
	t.Helper()
	if f == nil {
		t.Fatal("the form is not on the page")
	}
	page, err := b.Post(f.Action, f.Values)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

func attribute(page *apptest.Page, field, name string) string {
	for n := range page.Doc.Descendants() {
		for _, a := range n.Attr {
			if n.Data == field && a.Key == name {
				return a.Val
			}
		}
	}
	return ""
}

// seedOf reads the key of an authenticator app from the page that shows it.
func seedOf(t *testing.T, page *apptest.Page) string {
	t.Helper()
	_, after, ok := strings.Cut(page.Body, `class="mono break" dir="ltr">`)
	key, _, _ := strings.Cut(after, "<")
	if !ok || !strings.Contains(page.Body, "<svg viewBox") {
		t.Fatalf("TF-1 no key or no picture on the page (%d): %s", page.Status, page.Text())
	}
	return strings.ReplaceAll(key, " ", "")
}

func codeAt(t *testing.T, seed string, at time.Time) string {
	t.Helper()
	code, err := totp.GenerateCode(seed, at)
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// passwordStep signs in up to the second factor and gives its form.
func passwordStep(t *testing.T, b *apptest.Browser, address string) *apptest.Page {
	t.Helper()
	f := mustOpen(t, b, address).Form("password")
	if f == nil {
		t.Fatal("no sign-in form")
	}
	f.Values.Set("email", b.Email)
	f.Values.Set("password", b.Password)
	page := follow(t, b, f)
	if page.Form("code") == nil {
		t.Fatalf("TF-1 no code is asked for: %d %s", page.Status, page.Text())
	}
	return page
}

func enterCode(t *testing.T, b *apptest.Browser, page *apptest.Page, code string) *apptest.Page {
	t.Helper()
	f := page.Form("code")
	f.Values.Set("code", code)
	return follow(t, b, f)
}

func TestAuthenticatorApp(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *apptest.Program) {
		b := mustSignIn(t, p.AddUser(t, "ada@example.com"), p.URL)
		other := mustSignIn(t, apptest.NewBrowser("ada@example.com", apptest.Password), p.URL)
		c := registered(t, p)
		tokens := connected(t, c, b)

		page := follow(t, b, mustOpen(t, b, p.URL+factorsPage).FormTo("/authenticator"))
		seed := seedOf(t, page)
		if page := enterCode(t, b, page, "000000"); page.Status != http.StatusUnprocessableEntity || seedOf(t, page) != seed {
			t.Errorf("TF-1 a wrong code: %d %s", page.Status, page.Text())
		}
		began := time.Now()
		page = enterCode(t, b, page, codeAt(t, seed, began.Add(-30*time.Second)))
		_, list, _ := strings.Cut(page.Body, `<ol class="codes"`)
		recovery := strings.Split(strings.ReplaceAll(list, "</li>", `<li class="mono">`), `<li class="mono">`)
		var codes []string
		for _, r := range recovery {
			if len(r) == 19 && strings.Count(r, "-") == 3 {
				codes = append(codes, r)
			}
		}
		if len(codes) != 10 || !strings.Contains(page.Body, "data:text/plain") {
			t.Fatalf("TF-1 %d recovery codes: %s", len(codes), page.Text())
		}
		if page := mustOpen(t, b, page.URL.String()); strings.Contains(page.Body, codes[0]) {
			t.Error("TF-1 recovery codes are shown a second time")
		}
		if alive(t, p, tokens.AccessToken) {
			t.Error("KE-126 a connection outlived a new second factor")
		}
		if page := mustGet(t, other, p.URL+"/settings/account"); page.Status != http.StatusSeeOther {
			t.Error("KE-126 another device is still signed in")
		}
		if page := mustOpen(t, b, p.URL+factorsPage); page.FormTo("/authenticator/remove") == nil {
			t.Errorf("the device that made the change is signed out: %s", page.Text())
		}

		// The sign-in of an app: password, code, consent.
		fresh := apptest.NewBrowser("ada@example.com", apptest.Password)
		page = passwordStep(t, fresh, c.AuthorizeURL())
		if mustGet(t, fresh, p.URL+"/settings/account").Status != http.StatusSeeOther {
			t.Fatal("TF-1 a password alone opened a session")
		}
		if page := mustGet(t, apptest.NewBrowser("", ""), page.URL.String()); page.Status != http.StatusSeeOther {
			t.Errorf("TF-1 another browser sees the waiting sign-in: %d", page.Status)
		}
		page = enterCode(t, fresh, page, "123456")
		if page.Status != http.StatusUnprocessableEntity {
			t.Errorf("TF-1 a wrong code: %d", page.Status)
		}
		code := codeAt(t, seed, began)
		if page = enterCode(t, fresh, page, code); page.Form("decision") == nil {
			t.Fatalf("TF-1 the consent page does not follow: %d %s", page.Status, page.Text())
		}
		again := apptest.NewBrowser("ada@example.com", apptest.Password)
		page = passwordStep(t, again, p.URL+"/signin")
		if page = enterCode(t, again, page, code); page.Status != http.StatusUnprocessableEntity {
			t.Errorf("TF-1 a code worked twice: %d", page.Status)
		}
		if page = enterCode(t, again, page, codes[3]); page.Status != http.StatusOK || page.Form("code") != nil {
			t.Errorf("TF-1 a recovery code: %d %s", page.Status, page.Text())
		}

		var factors struct {
			Password bool       `json:"password"`
			Since    *time.Time `json:"authenticator_since"`
			Left     int        `json:"recovery_codes_left"`
		}
		runJSON(t, p, &factors, "user", "factors", "ada@example.com", "--json")
		if !factors.Password || factors.Since == nil || factors.Left != 9 {
			t.Errorf("gatehouse user factors: %+v", factors)
		}
		if out, err := p.Run("", "user", "factors", "ada@example.com"); err != nil || !strings.Contains(out, "9 recovery codes left") {
			t.Errorf("%s, %v", out, err)
		}
		var reset struct {
			OK   bool
			Link string
		}
		runJSON(t, p, &reset, "user", "reset-factors", "ada@example.com", "--json")
		if !reset.OK || reset.Link != "" {
			t.Errorf("gatehouse user reset-factors: %+v", reset)
		}
		mustSignIn(t, apptest.NewBrowser("ada@example.com", apptest.Password), p.URL)
		if mustGet(t, again, p.URL+"/settings/account").Status != http.StatusSeeOther {
			t.Error("KE-126 a session outlived the reset")
		}
	})
}

func TestResetLinkForLostFactors(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *apptest.Program) {
		b := mustSignIn(t, p.AddUser(t, "ada@example.com"), p.URL)
		page := follow(t, b, mustOpen(t, b, p.URL+factorsPage).FormTo("/authenticator"))
		enterCode(t, b, page, codeAt(t, seedOf(t, page), time.Now()))
		link, err := p.Run("", "user", "reset-link", "ada@example.com")
		if err != nil {
			t.Fatal(err)
		}
		_, token, _ := strings.Cut(strings.TrimSpace(link), "?") // the command does not know the port
		page = mustOpen(t, b, p.URL+"/reset?"+token)
		f := page.Form("forget")
		if f == nil {
			t.Fatalf("the link does not offer to remove lost factors: %s", page.Text())
		}
		f.Tick("forget", nil)
		f.Values.Set("password", "tram9vas")
		if page = follow(t, b, f); page.Status != http.StatusUnprocessableEntity {
			t.Errorf("PW-2 a short password alone: %d", page.Status)
		}
		f = page.Form("forget")
		f.Tick("forget", nil)
		f.Values.Set("password", "eleven amber lanterns")
		follow(t, b, f)
		mustSignIn(t, apptest.NewBrowser("ada@example.com", "eleven amber lanterns"), p.URL)
	})
}

func TestPasskeyPages(t *testing.T) {
	t.Parallel()
	onBothWith(t, atLocalhost, func(t *testing.T, p *apptest.Program) {
		b := mustSignIn(t, p.AddUser(t, "ada@example.com"), p.URL)
		party := virtualwebauthn.RelyingParty{ID: "localhost", Name: "Gatehouse", Origin: p.URL}
		auth, key := virtualwebauthn.NewAuthenticator(), virtualwebauthn.NewCredential(virtualwebauthn.KeyTypeEC2)
		for len(key.Key.AttestationData()) != 77 { // the library writes a short coordinate when it begins with zero
			key = virtualwebauthn.NewCredential(virtualwebauthn.KeyTypeEC2)
		}
		page := follow(t, b, mustOpen(t, b, p.URL+factorsPage).FormTo("/passkeys/add"))
		if policy := page.Header.Get("Content-Security-Policy"); !strings.HasSuffix(policy, "form-action 'self'; script-src 'self'") {
			t.Errorf("BH-1 policy %q", policy)
		}
		made, err := virtualwebauthn.ParseAttestationOptions(`{"publicKey":` + attribute(page, "form", "data-options") + `}`)
		if err != nil {
			t.Fatal(err)
		}
		auth.Options.UserHandle = []byte(made.UserID)
		f := page.FormTo("/finish")
		f.Values.Set("answer", virtualwebauthn.CreateAttestationResponse(party, auth, key, *made))
		if page = follow(t, b, f); page.FormTo("/rename") == nil || page.FormTo("/password/remove") == nil {
			t.Fatalf("WA-1 no passkey on the page: %d %s", page.Status, page.Text())
		}
		if page = follow(t, b, page.FormTo("/password/remove")); page.FormTo("/factors/password") == nil {
			t.Errorf("the password was not removed: %d %s", page.Status, page.Text())
		}
		if page = follow(t, b, page.FormTo("/remove")); page.Status != http.StatusUnprocessableEntity || !strings.Contains(page.Text(), "Nothing would be left") {
			t.Errorf("WA-1 the last factor was removed: %d %s", page.Status, page.Text())
		}

		// An app's sign-in by passkey alone.
		c := registered(t, p)
		fresh := apptest.NewBrowser("", "")
		ask := follow(t, fresh, mustOpen(t, fresh, c.AuthorizeURL()).FormTo("/signin/passkey"))
		options, err := virtualwebauthn.ParseAssertionOptions(`{"publicKey":` + attribute(ask, "form", "data-options") + `}`)
		if err != nil {
			t.Fatal(err)
		}
		key.Counter++
		f = ask.FormTo("/finish")
		f.Values.Set("answer", virtualwebauthn.CreateAssertionResponse(party, auth, key, *options))
		page = follow(t, fresh, f)
		if page.Form("decision") == nil {
			t.Fatalf("WA-1 the consent page does not follow: %d %s", page.Status, page.Text())
		}
		stranger := apptest.NewBrowser("", "")
		stolen := follow(t, stranger, mustOpen(t, stranger, p.URL+"/signin").FormTo("/signin/passkey")).FormTo("/finish")
		stolen.Values.Set("ceremony", f.Values.Get("ceremony"))
		stolen.Values.Set("answer", f.Values.Get("answer"))
		if page := follow(t, stranger, stolen); page.Status != http.StatusUnprocessableEntity || page.Form("password") == nil {
			t.Errorf("WA-1 an answer was accepted again: %d %s", page.Status, page.Text())
		}
		if !strings.Contains(p.Logs(), "passkey") {
			t.Error("the log does not say why a passkey was refused")
		}
	})
}

// A real browser with a virtual authenticator: our script, the policy, and the browser's own checks.
func TestBrowserPasskey(t *testing.T) {
	t.Parallel()
	ctx := chromium(t)
	dir := shots(t)
	p := apptest.Start(t, append(atLocalhost(t), "GATEHOUSE_DATABASE_URL="+dbtest.PostgresURL(t))...)
	p.AddUser(t, "ada@example.com", "--name", "Ada")
	do := func(actions ...chromedp.Action[chromedp.Void]) {
		t.Helper()
		if err := chromedp.Do(ctx, actions...); err != nil {
			t.Fatal(err)
		}
	}
	do(chromedp.Navigate(p.URL+"/signin"), chromedp.WaitVisible(chromedp.CSS(`form[action="/signin/passkey"] button`)))
	if _, err := chromedp.Call(ctx, webauthn.Enable, webauthn.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	_, err := chromedp.Call(ctx, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{Options: &webauthn.VirtualAuthenticatorOptions{
		Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportInternal, HasResidentKey: true,
		HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true,
	}})
	if err != nil {
		t.Fatal(err)
	}
	shoot(t, ctx, dir, "signin-passkey")
	do(chromedp.SendKeys(chromedp.CSS(`input[name=email]`), "ada@example.com"), chromedp.SendKeys(chromedp.CSS(`input[name=password]`), apptest.Password+"\r"),
		chromedp.WaitNotPresent(chromedp.CSS(`input[name=password]`)),
		chromedp.Navigate(p.URL+factorsPage), chromedp.WaitVisible(chromedp.CSS(`#passkey-name`)))
	shoot(t, ctx, dir, "factors")
	do(chromedp.SendKeys(chromedp.CSS(`#passkey-name`), "Test browser\r"), chromedp.WaitVisible(chromedp.CSS(`form[action$="/rename"], details`)))
	shoot(t, ctx, dir, "factors-passkey")
	do(chromedp.Navigate(p.URL+"/settings/account"), chromedp.Click(chromedp.CSS(`.who button`)),
		chromedp.WaitVisible(chromedp.CSS(`form[action="/signin/passkey"] button`)),
		chromedp.Click(chromedp.CSS(`form[action="/signin/passkey"] button`)),
		chromedp.WaitVisible(chromedp.CSS(`.who`)))
	name, err := chromedp.Run(ctx, chromedp.Evaluate[string](`document.querySelector(".who-name").textContent`))
	if err != nil || name != "Ada" {
		t.Errorf("WA-1 signed in as %q, %v", name, err)
	}

	do(chromedp.Navigate(p.URL+factorsPage), chromedp.Click(chromedp.CSS(`form[action$="/authenticator"] button`)), chromedp.WaitVisible(chromedp.CSS(`.qr svg`)))
	shoot(t, ctx, dir, "enrol")
	seed, err := chromedp.Run(ctx, chromedp.Evaluate[string](`document.querySelector("dd.mono").textContent.replaceAll(" ", "")`))
	if err != nil {
		t.Fatal(err)
	}
	do(chromedp.SendKeys(chromedp.CSS(`#code`), codeAt(t, seed, time.Now())+"\r"), chromedp.WaitVisible(chromedp.CSS(`.codes`)))
	print, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`!document.querySelector("[data-print]").hidden`))
	if err != nil || !print {
		t.Errorf("TF-1 no button to print: %v", err)
	}
	shoot(t, ctx, dir, "recovery-codes")
	do(chromedp.Navigate(p.URL+"/settings/account"), chromedp.Click(chromedp.CSS(`.who button`)),
		chromedp.SendKeys(chromedp.CSS(`input[name=email]`), "ada@example.com"), chromedp.SendKeys(chromedp.CSS(`input[name=password]`), apptest.Password+"\r"),
		chromedp.WaitVisible(chromedp.CSS(`#code`)))
	shoot(t, ctx, dir, "second-factor")
}
