package app_test

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"gatehouse/app/apptest"
	"gatehouse/db/dbtest"
)

// Failures that are ours, and limits: nothing on which a client throws its tokens or its registration away.

// passing checks an answer of the kind that clients wait out.
func passing(t *testing.T, what string, a *rawAnswer, status int) {
	t.Helper()
	wait, err := strconv.Atoi(a.header.Get("Retry-After"))
	if code := a.code(t); a.status != status || code != "temporarily_unavailable" || err != nil || wait < 1 || wait > 3600 {
		t.Errorf("X-10 X-12 %s: %d %s, Retry-After %q; want %d temporarily_unavailable", what, a.status, a.body, a.header.Get("Retry-After"), status)
	}
	if a.header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("CO-1 %s: no CORS headers", what)
	}
}

// database switches connections to a Postgres database off and on.
func database(t *testing.T, address string) (set func(open bool)) {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	name := strings.TrimPrefix(u.Path, "/")
	u.Path = "/postgres"
	g, err := gorm.Open(postgres.Open(u.String()), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if pool, err := g.DB(); err == nil {
			_ = pool.Close()
		}
	})
	return func(open bool) {
		if err := g.Exec(`ALTER DATABASE ` + name + ` ALLOW_CONNECTIONS ` + strconv.FormatBool(open)).Error; err != nil {
			t.Fatal(err)
		}
		if !open {
			if err := g.Exec(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = ?`, name).Error; err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestDatabaseOutage(t *testing.T) {
	t.Parallel()
	address := dbtest.PostgresURL(t)
	p := apptest.Start(t, "GATEHOUSE_DATABASE_URL="+address)
	b := mustSignIn(t, p.AddUser(t, "ada@example.com"), p.URL)
	c := registered(t, p)
	tokens := connected(t, c, b)
	code, err := c.Code(b)
	if err != nil {
		t.Fatal(err)
	}
	set := database(t, address)
	set(false)
	defer set(true)
	for range 3 {
		form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {tokens.RefreshToken}, "client_id": {c.ID}}
		passing(t, "refresh", sendForm(t, p.URL+"/token", form), http.StatusServiceUnavailable)
		form = url.Values{"grant_type": {"authorization_code"}, "code": {code}, "code_verifier": {c.Verifier}, "redirect_uri": {callback}, "client_id": {c.ID}}
		passing(t, "exchange", sendForm(t, p.URL+"/token", form), http.StatusServiceUnavailable)
		passing(t, "revocation", sendForm(t, p.URL+"/revoke", url.Values{"token": {tokens.RefreshToken}, "client_id": {c.ID}}), http.StatusServiceUnavailable)
		passing(t, "registration", registerBody(t, p.URL, `{"redirect_uris":["`+callback+`"]}`), http.StatusServiceUnavailable)
		r := mustCall(t, p.URL, tokens.AccessToken, "ping", "")
		if r.Status != http.StatusServiceUnavailable || r.Header.Get("Retry-After") == "" || rpcError(r.Body) == nil || r.Header.Get("WWW-Authenticate") != "" {
			t.Errorf("X-10 /mcp: %d %v %s", r.Status, r.Header, r.Body)
		}
		for _, path := range []string{c.AuthorizeURL(), p.URL + "/settings/connections", p.URL + "/"} {
			if page := mustGet(t, b, path); !isPage(page, http.StatusServiceUnavailable) && !isPage(page, http.StatusInternalServerError) {
				t.Errorf("X-10 %s: %d %s", page.URL.Path, page.Status, page.Text())
			} else if found := contains(page.Body, "SQLSTATE", "pgx", "goroutine", "FATAL"); found != "" {
				t.Errorf("%s shows %s", page.URL.Path, found)
			}
		}
		for _, path := range documentPaths {
			if a := send(t, "GET", p.URL+path, ""); a.status != http.StatusOK {
				t.Errorf("X-10 %s: %d; discovery needs no database", path, a.status)
			}
		}
		if a := send(t, "GET", p.URL+"/readyz", ""); a.status == http.StatusOK {
			t.Error("/readyz says ready without a database")
		}
		if a := send(t, "GET", p.URL+"/healthz", ""); a.status != http.StatusOK {
			t.Errorf("/healthz: %d; the process itself is well", a.status)
		}
	}
	set(true)
	eventually(t, "the program works again", func() bool { return mustCall(t, p.URL, tokens.AccessToken, "ping", "").Status == http.StatusOK })
	if status, answer, err := c.Redeem(code); err != nil || status != http.StatusOK {
		t.Errorf("CG-3 the code after the outage: %d %v %+v", status, err, answer)
	}
	if status, answer, err := c.Refresh(tokens.RefreshToken); err != nil || status != http.StatusOK {
		t.Errorf("X-10 the refresh token after the outage: %d %v %+v", status, err, answer)
	}
	if page := mustGet(t, b, p.URL+"/settings/connections"); page.Status != http.StatusOK {
		t.Errorf("the session after the outage: %d", page.Status)
	}
}

func TestLimitsOfTheBackChannel(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *apptest.Program) {
		b := mustSignIn(t, p.AddUser(t, "ada@example.com"), p.URL)
		c := registered(t, p)
		code, err := c.Code(b)
		if err != nil {
			t.Fatal(err)
		}
		until := func(what string, most int, do func() *rawAnswer) {
			t.Helper()
			for range most {
				if a := do(); a.status == http.StatusTooManyRequests {
					passing(t, what, a, http.StatusTooManyRequests)
					return
				}
			}
			t.Errorf("X-12 %s: no limit within %d", what, most)
		}
		until("registration", 700, func() *rawAnswer { return registerBody(t, p.URL, `{}`) })
		until("revocation", 700, func() *rawAnswer {
			return sendForm(t, p.URL+"/revoke", url.Values{"client_id": {"gc_x"}, "token": {"x"}})
		})
		until("token", 1300, func() *rawAnswer {
			return sendForm(t, p.URL+"/token", url.Values{"client_id": {"gc_x"}, "grant_type": {"x"}})
		})
		if status, answer, _ := c.Redeem(code); status != http.StatusTooManyRequests || answer.Error != "temporarily_unavailable" {
			t.Errorf("X-12 an exchange over the limit: %d %+v", status, answer)
		}
		for _, path := range backChannels {
			if a := send(t, "OPTIONS", p.URL+path, "", "Origin: https://any.example", "Access-Control-Request-Method: POST"); a.status != http.StatusNoContent {
				t.Errorf("CO-1 preflight of %s over the limit: %d", path, a.status)
			}
		}
	})
}

func TestWrongSecretsAreSlowedDown(t *testing.T) {
	t.Parallel()
	p := apptest.Start(t)
	var entered map[string]string
	runJSON(t, p, &entered, "client", "add", "--json", "--name", "Confidential", "--redirect-uri", callback, "--confidential")
	guess := func(secret string) *rawAnswer {
		return sendForm(t, p.URL+"/token", url.Values{"grant_type": {"refresh_token"}, "refresh_token": {"gtr_x"}, "client_id": {entered["client_id"]}, "client_secret": {secret}})
	}
	slowed := false
	for range 60 {
		if a := guess("guess"); a.status == http.StatusTooManyRequests {
			passing(t, "TK-10 guesses of a secret", a, http.StatusTooManyRequests)
			slowed = true
			break
		}
	}
	if !slowed {
		t.Error("TK-10 sixty guesses of a secret without a delay")
	}
	basic := sendForm(t, p.URL+"/token", url.Values{"grant_type": {"refresh_token"}, "refresh_token": {"gtr_x"}},
		"Authorization: Basic "+base64.StdEncoding.EncodeToString([]byte(entered["client_id"]+":"+entered["client_secret"])))
	if basic.status != http.StatusBadRequest || basic.code(t) != "invalid_grant" {
		t.Errorf("TK-8 the secret of an entered client in Basic: %d %s", basic.status, basic.body)
	}
	if a := guess(entered["client_secret"]); a.status != http.StatusBadRequest || a.code(t) != "invalid_grant" {
		t.Errorf("TK-10 the right secret while guesses are slowed down: %d %s", a.status, a.body)
	}

	p.AddUser(t, "ada@example.com")
	try := func(password string) *apptest.Page {
		b := apptest.NewBrowser("ada@example.com", password)
		f := mustOpen(t, b, p.URL+"/signin").Form("password")
		f.Values.Set("email", b.Email)
		f.Values.Set("password", password)
		return mustPost(t, b, f)
	}
	wait := 0
	for range 10 {
		if page := try("a wrong password"); page.Status == http.StatusTooManyRequests {
			wait, _ = strconv.Atoi(page.Header.Get("Retry-After"))
			break
		}
	}
	if wait < 1 || wait > 10 {
		t.Fatalf("LT-1 after wrong passwords: Retry-After %d", wait)
	}
	time.Sleep(time.Duration(wait)*time.Second + 100*time.Millisecond)
	if page := try(apptest.Password); page.Status != http.StatusSeeOther {
		t.Errorf("LT-1 the right password after the wait: %d %s", page.Status, page.Text())
	}
}
