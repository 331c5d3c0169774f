package app_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"gatehouse/app/apptest"
	"gatehouse/db/dbtest"
)

// town is a server with a provider beside it and, unless it is without, a mail server.
type town struct {
	*apptest.Program
	mail     *apptest.Mail
	provider *apptest.Provider
	read     int // letters read so far
}

// inTown runs f on both databases.
func inTown(t *testing.T, mail bool, settings []string, f func(t *testing.T, w *town)) {
	t.Helper()
	for _, name := range []string{"sqlite", "postgres"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &town{provider: apptest.StartProvider(t)}
			env := append([]string{"GATEHOUSE_FETCH_ALLOW=127.0.0.1"}, settings...)
			if mail {
				w.mail = apptest.StartMail(t)
				env = append(env, "GATEHOUSE_SMTP_URL=smtp://"+w.mail.Address+"?from=gatehouse@home.example")
			}
			if name == "postgres" {
				env = append(env, "GATEHOUSE_DATABASE_URL="+dbtest.PostgresURL(t))
			}
			w.Program = apptest.Start(t, env...)
			f(t, w)
		})
	}
}

var formTokenValue = regexp.MustCompile(`name="csrf" value="[^"]*"`)

var linkInLetter = regexp.MustCompile(`https?://\S+token=\S+`)

// letter waits for the next letter to the address and gives the link in it.
func (w *town) letter(t *testing.T, to string) string {
	t.Helper()
	for {
		w.read++
		text := w.mail.Wait(t, w.read)[w.read-1]
		if link := linkInLetter.FindString(text); strings.Contains(text, "<"+to+">") && link != "" {
			return link
		}
	}
}

// enter adds the provider.
func (w *town) enter(t *testing.T, args ...string) {
	t.Helper()
	args = append([]string{"provider", "add", "keys", "--issuer", w.provider.URL, "--client-id", apptest.ProviderClientID, "--secret-file", "-", "--name", "House of Keys"}, args...)
	if out, err := w.Run(apptest.ProviderSecret+"\n", args...); err != nil || !strings.Contains(out, "/signin/with/keys/callback") {
		t.Fatalf("provider add: %v\n%s", err, out)
	}
}

// through presses a provider's button and comes back.
func (w *town) through(t *testing.T, b *apptest.Browser, f *apptest.Form) *apptest.Page {
	t.Helper()
	page := mustPost(t, b, f)
	to := page.Header.Get("Location")
	if page.Status != http.StatusSeeOther || !strings.HasPrefix(to, w.provider.URL) || page.Header.Get("Referrer-Policy") != "no-referrer" {
		t.Fatalf("the provider's button: %d %q %s", page.Status, to, page.Text())
	}
	if csp := page.Header.Get("Content-Security-Policy"); strings.Contains(csp, "form-action") {
		t.Errorf("BH-2 the form cannot lead to the provider: %s", csp)
	}
	res, err := plainHTTP.Get(to)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	return mustOpen(t, b, res.Header.Get("Location"))
}

func fill(t *testing.T, f *apptest.Form, pairs ...string) *apptest.Form {
	t.Helper()
	if f == nil {
		t.Fatal("the form is not on the page")
	}
	for i := 0; i < len(pairs); i += 2 {
		f.Values.Set(pairs[i], pairs[i+1])
	}
	return f
}

func pressed(t *testing.T, b *apptest.Browser, f *apptest.Form) *apptest.Page {
	t.Helper()
	page, err := b.Post(f.Action, f.Values)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

func TestSignInWithAProvider(t *testing.T) {
	t.Parallel()
	inTown(t, false, []string{"GATEHOUSE_SIGN_UP=open"}, func(t *testing.T, w *town) {
		ada := mustSignIn(t, w.AddUser(t, "ada@example.com"), w.URL)
		w.enter(t, "--new-people")
		w.provider.Be(map[string]any{"sub": "ada", "email": "ada@example.com", "email_verified": true})
		stranger := apptest.NewBrowser("", "")
		page := w.through(t, stranger, mustOpen(t, stranger, w.URL+"/signin?return=/settings/connect").FormTo("/signin/with/keys"))
		if page.Status != http.StatusUnprocessableEntity || !strings.Contains(page.Text(), "exists already") {
			t.Errorf("an address of somebody else's account: %d %s", page.Status, page.Text())
		}
		tokens := connected(t, registered(t, w.Program), ada)
		page = w.through(t, ada, mustOpen(t, ada, w.URL+"/settings/account/identities").FormTo("/keys/link"))
		if page.Status != http.StatusOK || !strings.Contains(page.Text(), "Linked") {
			t.Fatalf("link: %d %s", page.Status, page.Text())
		}
		if alive(t, w.Program, tokens.AccessToken) {
			t.Error("KE-126 a connection outlives a new way in")
		}
		page = w.through(t, stranger, mustOpen(t, stranger, w.URL+"/signin?return=/settings/connect").FormTo("/signin/with/keys"))
		if page.URL.Path != "/settings/connect" {
			t.Errorf("sign-in leads to %s (%d)", page.URL, page.Status)
		}
		w.provider.Be(map[string]any{"sub": "eve", "email": "eve@example.org", "email_verified": true, "name": "Eve"})
		eve := apptest.NewBrowser("", "")
		if page = w.through(t, eve, mustOpen(t, eve, w.URL+"/signup").FormTo("/signin/with/keys")); page.URL.Path != "/" || !strings.Contains(page.Text(), "Hello, Eve") {
			t.Fatalf("sign-up: %d %s", page.Status, page.Text())
		}
		page = mustOpen(t, eve, w.URL+"/settings/account/identities")
		if page = mustPost(t, eve, page.FormTo("/unlink")); page.Status != http.StatusUnprocessableEntity || !strings.Contains(page.Text(), "only way") {
			t.Errorf("the last way in: %d %s", page.Status, page.Text())
		}
		if _, err := w.Run("", "provider", "remove", "keys"); err == nil {
			t.Error("somebody's only way in is removed without a word")
		}
		if _, err := w.Run("", "provider", "remove", "keys", "--force"); err != nil {
			t.Error(err)
		}
		if mustOpen(t, apptest.NewBrowser("", ""), w.URL+"/signin").FormTo("/signin/with/keys") != nil {
			t.Error("the button of a removed provider")
		}
		if log := w.Logs(); strings.Contains(log, apptest.ProviderSecret) || strings.Contains(log, "upstream-access") {
			t.Error("KY-6 the log holds secrets of the provider")
		}
	})
}

func TestPeopleComeAndGo(t *testing.T) {
	t.Parallel()
	inTown(t, true, []string{"GATEHOUSE_SIGN_UP=domain", "GATEHOUSE_SIGN_UP_DOMAINS=example.org"}, func(t *testing.T, w *town) {
		ada := mustSignIn(t, w.AddUser(t, "ada@example.com", "--admin"), w.URL)
		ask := func(path, email string) string {
			b := apptest.NewBrowser("", "")
			page := pressed(t, b, fill(t, mustOpen(t, b, w.URL+path).Form("email"), "email", email))
			if page.Status != http.StatusOK {
				t.Fatalf("%s for %s: %d %s", path, email, page.Status, page.Text())
			}
			return formTokenValue.ReplaceAllString(page.Body, "") // differs from browser to browser
		}
		for _, path := range []string{"/signup", "/forgot"} {
			if ask(path, "nobody@evil.example") != ask(path, "ada@example.com") {
				t.Errorf("PW-3 %s tells who is known", path)
			}
		}
		reset := w.letter(t, "ada@example.com")
		if page := mustOpen(t, apptest.NewBrowser("", ""), reset); page.Form("password") == nil || !strings.Contains(reset, "/reset?token=gsr_") {
			t.Errorf("reset link: %d %s", page.Status, page.Text())
		}

		ask("/signup", "eve@example.org")
		eve := apptest.NewBrowser("eve@example.org", apptest.Password)
		page := pressed(t, eve, fill(t, mustOpen(t, eve, w.letter(t, "eve@example.org")).Form("password"), "name", "Eve", "password", apptest.Password))
		if page.URL.Path != "/" || !strings.Contains(page.Text(), "Hello, Eve") {
			t.Fatalf("sign-up: %d %s %s", page.Status, page.URL, page.Text())
		}

		people := mustOpen(t, ada, w.URL+"/settings/people")
		page = pressed(t, ada, fill(t, people.FormTo("/invite"), "role", "member", "email", ""))
		link := linkInLetter.FindString(page.Body)
		if link == "" {
			t.Fatalf("an invitation by hand: %d %s", page.Status, page.Text())
		}
		page = pressed(t, eve, mustOpen(t, eve, strings.TrimSuffix(link, `"`)).FormTo("/invite"))
		if !strings.HasPrefix(page.URL.Path, "/settings/people/") || !strings.Contains(page.Text(), "You are in") {
			t.Fatalf("join: %d %s", page.Status, page.Text())
		}
		if page = mustOpen(t, apptest.NewBrowser("", ""), strings.TrimSuffix(link, `"`)); page.Status != http.StatusGone {
			t.Errorf("a link that was used: %d", page.Status)
		}
		pressed(t, ada, fill(t, people.FormTo("/invite"), "role", "viewer", "email", "zoe@example.net"))
		zoe := apptest.NewBrowser("zoe@example.net", apptest.Password)
		page = pressed(t, zoe, fill(t, mustOpen(t, zoe, w.letter(t, "zoe@example.net")).Form("password"), "name", "Zoe", "password", apptest.Password))
		if !strings.Contains(page.Text(), "You are in") || page.FormTo("/invite") != nil {
			t.Errorf("a viewer who came by mail: %d %s", page.Status, page.Text())
		}

		tokens := connected(t, registered(t, w.Program), eve)
		pressed(t, eve, fill(t, mustOpen(t, eve, w.URL+"/settings/account/email").Form("email"), "email", "eve@example.net"))
		if !alive(t, w.Program, tokens.AccessToken) {
			t.Error("a letter that was only asked for ends connections")
		}
		page = pressed(t, eve, mustOpen(t, eve, w.letter(t, "eve@example.net")).FormTo("/email"))
		if page.URL.Path != "/settings/account" || !strings.Contains(page.Text(), "eve@example.net") {
			t.Errorf("another address: %d %s %s", page.Status, page.URL, page.Text())
		}
		if alive(t, w.Program, tokens.AccessToken) {
			t.Error("KE-126 a connection outlives a change of address")
		}
		eve.Email = "eve@example.net"
		w.leave(t, eve)
	})
}

// leave asks for deletion, sees that nothing else works, and stays.
func (w *town) leave(t *testing.T, b *apptest.Browser) {
	t.Helper()
	page := pressed(t, b, mustOpen(t, b, w.URL+"/settings/account/delete").FormTo("/delete"))
	if page.URL.Path != "/signin" {
		t.Fatalf("deletion: %d %s %s", page.Status, page.URL, page.Text())
	}
	mustSignIn(t, b, w.URL)
	for _, path := range []string{"/", "/settings/connections", "/settings/account", "/authorize?client_id=x"} {
		if page = mustOpen(t, b, w.URL+path); page.URL.Path != "/account/deletion" {
			t.Errorf("%s before the deletion leads to %s", path, page.URL)
		}
	}
	if page = pressed(t, b, page.FormTo("/account/deletion")); page.URL.Path != "/" || !strings.Contains(page.Text(), "stays") {
		t.Errorf("keep: %d %s %s", page.Status, page.URL, page.Text())
	}
}

func TestWithoutMailAndSignUp(t *testing.T) {
	t.Parallel()
	inTown(t, false, nil, func(t *testing.T, w *town) {
		ada := mustSignIn(t, w.AddUser(t, "ada@example.com", "--admin"), w.URL)
		for _, path := range []string{"/signup", "/forgot", "/signup/confirm?token=x", "/invite?token=x", "/email?token=x"} {
			if page := mustOpen(t, apptest.NewBrowser("", ""), w.URL+path); page.Status != http.StatusNotFound && page.Status != http.StatusGone {
				t.Errorf("%s: %d", path, page.Status)
			}
		}
		var made struct{ Link string }
		runJSON(t, w.Program, &made, "invite", "add", "--json", "--as", "ada@example.com", "--role", "viewer")
		made.Link = w.URL + made.Link[strings.Index(made.Link, "/invite?"):] // the command does not know the port that the server got
		if page := mustOpen(t, apptest.NewBrowser("", ""), made.Link); page.Status != http.StatusOK || page.Form("password") == nil {
			t.Errorf("an invitation of the command line: %d %s", page.Status, page.Text())
		}
		var open []struct{ ID string }
		runJSON(t, w.Program, &open, "invite", "list", "--json", "--user", "ada@example.com")
		if len(open) != 1 {
			t.Fatalf("open invitations: %+v", open)
		}
		if _, err := w.Run("", "invite", "revoke", open[0].ID); err != nil {
			t.Error(err)
		}
		if page := mustOpen(t, apptest.NewBrowser("", ""), made.Link); page.Status != http.StatusGone {
			t.Errorf("an invitation that was taken back: %d", page.Status)
		}
		form := mustOpen(t, ada, w.URL+"/admin/providers").Form("issuer")
		fill(t, form, "slug", "keys", "name", "House of Keys", "issuer", w.provider.URL, "client_id", apptest.ProviderClientID, "client_secret", apptest.ProviderSecret)
		if page := pressed(t, ada, form); page.Status != http.StatusOK || !strings.Contains(page.Text(), "/signin/with/keys/callback") {
			t.Errorf("a provider entered on the page: %d %s", page.Status, page.Text())
		}
		if page := mustOpen(t, mustSignIn(t, w.AddUser(t, "bob@example.com"), w.URL), w.URL+"/admin/providers"); page.Status != http.StatusNotFound {
			t.Errorf("AD-1 somebody else sees the providers: %d", page.Status)
		}
		address := mustOpen(t, ada, w.URL+"/admin/addresses").Form("new")
		if page := pressed(t, ada, fill(t, address, "email", "bob@example.com", "new", "bobby@example.com")); page.Status != http.StatusOK || !strings.Contains(page.Text(), "changed") {
			t.Errorf("another address on the page: %d %s", page.Status, page.Text())
		}
		if _, err := w.Run("", "user", "set-email", "bobby@example.com", "rob@example.com"); err != nil {
			t.Error(err)
		}
		if _, err := w.Run("", "user", "delete", "ada@example.com"); err == nil {
			t.Error("the only administrator is deleted")
		}
		var due struct {
			At string `json:"deletion_due_at"`
		}
		runJSON(t, w.Program, &due, "user", "delete", "--json", "rob@example.com")
		if _, err := w.Run("", "user", "keep", "rob@example.com"); err != nil || due.At == "" {
			t.Errorf("%v, due %q", err, due.At)
		}
	})
}
