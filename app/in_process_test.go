package app_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"gatehouse/app"
	"gatehouse/app/apptest"
	"gatehouse/db/dbtest"
)

// house is the whole server in the test's own process, so that its clock can be moved.
type house struct {
	app    *app.App
	url    string
	person *apptest.Browser
}

// inProcess starts the server with one person. database is its URL; empty means SQLite in a folder of its own.
func inProcess(tb testing.TB, database string, now func() time.Time, change ...func(*app.Config)) *house {
	tb.Helper()
	server := httptest.NewUnstartedServer(nil)
	cfg := app.Config{DataDir: tb.TempDir(), DatabaseURL: database, LogLevel: "warn", LogFormat: "json", DynamicRegistration: true,
		SigningAlgorithm: "ES256", AccessTokenLife: time.Hour, AuditKeep: 365 * 24 * time.Hour, RefreshGrace: time.Minute, Argon2Memory: 19456, Argon2Time: 2, ReadsPerMinute: 1 << 30, WritesPerMinute: 1 << 30}
	for _, c := range change {
		c(&cfg)
	}
	a, err := app.New(tb.Context(), cfg, server.Listener.Addr().String(), "test", app.NewLogger(io.Discard, "warn", "json"), now)
	if err != nil {
		tb.Fatal(err)
	}
	server.Config.Handler = a.Handler()
	server.Start()
	tb.Cleanup(func() { server.Close(); _ = a.Close() })
	cfg.PublicURL = server.URL
	admin, err := app.OpenAdmin(tb.Context(), cfg, io.Discard)
	if err != nil {
		tb.Fatal(err)
	}
	defer admin.Close()
	if _, _, err := admin.AddUser(tb.Context(), app.NewUser{Email: "ada@example.com", Password: apptest.Password}); err != nil {
		tb.Fatal(err)
	}
	return &house{app: a, url: server.URL, person: apptest.NewBrowser("ada@example.com", apptest.Password)}
}

func (h *house) client(tb testing.TB) *apptest.Client {
	tb.Helper()
	c, err := apptest.RegisterClient(h.url, callback)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// inTime runs f on both databases with a clock that stands until moved.
func inTime(t *testing.T, f func(t *testing.T, h *house, clock *dbtest.Clock)) {
	t.Helper()
	for _, name := range []string{"sqlite", "postgres"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			database := ""
			if name == "postgres" {
				database = dbtest.PostgresURL(t)
			}
			clock := dbtest.NewClock()
			f(t, inProcess(t, database, clock.Now), clock)
		})
	}
}

func TestLostRefreshAnswerADayLater(t *testing.T) {
	t.Parallel()
	inTime(t, func(t *testing.T, h *house, clock *dbtest.Clock) {
		c := h.client(t)
		tokens := connected(t, c, h.person)
		clock.Advance(2 * time.Hour)
		_, lost, err := c.Refresh(tokens.RefreshToken) // imagine that this answer never arrived
		if err != nil || lost.RefreshToken == "" {
			t.Fatalf("refresh: %v %+v", err, lost)
		}
		clock.Advance(24 * time.Hour)
		status, again, err := c.Refresh(tokens.RefreshToken)
		if err != nil || status != http.StatusOK || again.RefreshToken != lost.RefreshToken {
			t.Fatalf("RT-9 a day later: %d %v %+v", status, err, again)
		}
		if r, err := apptest.Call(h.url, again.AccessToken, "ping", ""); err != nil || r.Status != http.StatusOK {
			t.Errorf("the access token of that answer: %v %+v", err, r)
		}
		if status, _, _ = c.Refresh(again.RefreshToken); status != http.StatusOK {
			t.Errorf("the successor: %d", status)
		}
		if status, answer, _ := c.Refresh(tokens.RefreshToken); status != http.StatusBadRequest || answer.Error != "invalid_grant" {
			t.Errorf("RT-3 the old token after its successor was used: %d %+v", status, answer)
		}
	})
}

func TestLivesOfTokens(t *testing.T) {
	t.Parallel()
	inTime(t, func(t *testing.T, h *house, clock *dbtest.Clock) {
		c := h.client(t)
		tokens := connected(t, c, h.person)
		late, err := c.Code(h.person)
		if err != nil {
			t.Fatal(err)
		}
		clock.Advance(61 * time.Second)
		if status, answer, _ := c.Redeem(late); status != http.StatusBadRequest || answer.Error != "invalid_grant" {
			t.Errorf("CN-58 a code after 61 seconds: %d %+v", status, answer)
		}
		clock.Advance(time.Hour)
		if r, err := apptest.Call(h.url, tokens.AccessToken, "ping", ""); err != nil || r.Status != http.StatusUnauthorized {
			t.Errorf("AT-2 an access token after its hour: %v %+v", err, r)
		}
		clock.Advance(29 * 24 * time.Hour)
		status, next, err := c.Refresh(tokens.RefreshToken)
		if err != nil || status != http.StatusOK {
			t.Fatalf("CN-69 a refresh token on its 29th day: %d %v %+v", status, err, next)
		}
		clock.Advance(29 * 24 * time.Hour)
		if status, next, _ = c.Refresh(next.RefreshToken); status != http.StatusOK {
			t.Fatalf("CN-69 the 30 days begin anew with each use: %d", status)
		}
		clock.Advance(31 * 24 * time.Hour)
		if status, answer, _ := c.Refresh(next.RefreshToken); status != http.StatusBadRequest || answer.Error != "invalid_grant" {
			t.Errorf("RT-6 a refresh token after 31 days without use: %d %+v", status, answer)
		}
	})
}
