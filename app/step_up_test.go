package app_test

import (
	"context"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gatehouse/app"
	"gatehouse/app/account"
	"gatehouse/app/apptest"
	"gatehouse/db"
	"gatehouse/db/dbtest"
	"gatehouse/oauth"
)

// strengthen has the session of a browser stand for a sign-in of the given manner.
func strengthen(t *testing.T, d *db.DB, b *apptest.Browser, base string, at time.Time, amr ...string) {
	t.Helper()
	ctx := context.Background()
	cookies := b.Cookies(base)
	signedIn := slices.IndexFunc(cookies, func(c *http.Cookie) bool { return c.Name == "gatehouse" })
	if signedIn < 0 {
		t.Fatal("nobody is signed in")
	}
	hash := oauth.HashSecret(cookies[signedIn].Value)
	session, err := d.SessionByHash(ctx, hash, at, at.Add(-time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	c, err := d.CredentialsByEmail(ctx, b.Email)
	if err != nil {
		t.Fatal(err)
	}
	r := account.Renewal{SessionID: session.ID, UserID: session.UserID, OldHash: hash, NewHash: hash, AuthTime: at, AMR: amr}
	if err := d.RenewSession(ctx, r, c.PasswordHash, nil); err != nil {
		t.Fatal(err)
	}
}

func TestStepUp(t *testing.T) {
	t.Parallel()
	const write = `{"name":"add_thing","arguments":{"name":"Lamp"}}`
	for _, name := range []string{"sqlite", "postgres"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			database := ""
			if name == "postgres" {
				database = dbtest.PostgresURL(t)
			}
			clock := dbtest.NewClock()
			h := inProcess(t, database, clock.Now, func(c *app.Config) {
				c.StepUp, c.StepUpMaxAge = "writes", time.Hour
				c.AccessTokenLife = 24 * time.Hour
				if database == "" {
					database = "sqlite://" + filepath.Join(c.DataDir, "gatehouse.db")
				}
			})
			d, err := db.Open(t.Context(), db.Options{URL: database, Now: clock.Now})
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			c := h.client(t)
			call := func(token, params string) *apptest.RPC {
				r, err := apptest.Call(h.url, token, "tools/call", params)
				if err != nil {
					t.Fatal(err)
				}
				return r
			}
			refused := func(what string, r *apptest.RPC) {
				t.Helper()
				challenge := r.Header.Get("WWW-Authenticate")
				if r.Status != http.StatusUnauthorized || !strings.HasPrefix(challenge, `Bearer error="insufficient_user_authentication"`) ||
					contains(challenge, `acr_values="`+account.StrengthMulti+`"`, `max_age="3600"`, `scope="home:read home:write"`, "resource_metadata=") == "" {
					t.Errorf("BR-12 %s: %d %s %s", what, r.Status, challenge, r.Body)
				}
			}
			weak := connected(t, c, h.person).AccessToken
			if r := call(weak, `{"name":"list_locations","arguments":{}}`); r.Status != http.StatusOK {
				t.Errorf("BR-12 reading: %d %s", r.Status, r.Body)
			}
			refused("a write after a password alone", call(weak, write))
			clock.Advance(time.Second)
			strengthen(t, d, h.person, h.url, clock.Now(), account.MethodPassword, account.MethodOTP, account.MethodMultiple)
			strong := connected(t, c, h.person)
			if r := call(strong.AccessToken, write); r.Status != http.StatusOK {
				t.Errorf("BR-12 a write after two factors: %d %s", r.Status, r.Body)
			}
			refused("the earlier token is no stronger for it", call(weak, write))
			clock.Advance(time.Hour + time.Second)
			refused("a write with a sign-in that is too old", call(strong.AccessToken, write))
			_, again, err := c.Refresh(strong.RefreshToken)
			if err != nil {
				t.Fatal(err)
			}
			refused("a refresh is no sign-in", call(again.AccessToken, write))
		})
	}
}

func TestStepUpSettings(t *testing.T) {
	t.Parallel()
	for _, c := range []app.Config{{StepUpMaxAge: time.Hour}, {StepUp: "writes", StepUpMaxAge: time.Second}} {
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "GATEHOUSE_STEP_UP_MAX_AGE") {
			t.Errorf("BR-12 %+v: %v", c.StepUpMaxAge, err)
		}
	}
}
