package app_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"gatehouse/app"
	"gatehouse/db/dbtest"
)

// A proxy that changes Host, or a public URL that is not the one that apps use, refuses every call: the log and the record
// of attempts must say so.
func TestRefusedHostAndOriginAreTold(t *testing.T) {
	t.Parallel()
	clock := dbtest.NewClock()
	cfg := app.Config{PublicURL: "https://home.example", DataDir: t.TempDir(), LogLevel: "warn", LogFormat: "json", SigningAlgorithm: "ES256",
		AccessTokenLife: time.Hour, AuditKeep: 365 * 24 * time.Hour, Argon2Memory: 19456, Argon2Time: 2, ReadsPerMinute: 60, WritesPerMinute: 60}
	var log bytes.Buffer
	a, err := app.New(t.Context(), cfg, "", "test", app.NewLogger(&log, "warn", "json"), clock.Now)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(method, host, origin string) int {
		r := httptest.NewRequest(method, "https://"+host+"/mcp", strings.NewReader("{}"))
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		w := httptest.NewRecorder()
		a.Handler().ServeHTTP(w, r)
		return w.Code
	}
	for range 3 {
		if status := ask(http.MethodPost, "gatehouse:8080", ""); status != http.StatusForbidden {
			t.Fatalf("H6 a foreign Host: %d", status)
		}
	}
	ask(http.MethodOptions, "home.example", "https://inspector.example")
	if status := ask(http.MethodPost, "home.example", "https://inspector.example"); status != http.StatusForbidden {
		t.Fatalf("BR-11 a foreign Origin: %d", status)
	}
	text := log.String()
	if strings.Count(text, "GATEHOUSE_PUBLIC_URL") != 1 || !strings.Contains(text, `"received":"gatehouse:8080","expected":"home.example"`) {
		t.Errorf("want one warning a minute that names both hosts: %s", text)
	}
	if strings.Count(text, "GATEHOUSE_ALLOWED_ORIGINS") != 1 || !strings.Contains(text, `"received":"https://inspector.example","expected":"https://home.example"`) {
		t.Errorf("want one warning a minute that names both origins: %s", text)
	}
	clock.Advance(time.Minute)
	if ask(http.MethodPost, "gatehouse:8080", ""); strings.Count(log.String(), "GATEHOUSE_PUBLIC_URL") != 2 {
		t.Errorf("a minute later: %s", log.String())
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	admin, err := app.OpenAdmin(t.Context(), cfg, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	seen := map[string]string{}
	list, err := admin.Handshakes(t.Context(), 10)
	for _, h := range list {
		full, err := admin.Handshake(t.Context(), h.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range full.Steps {
			seen[s.Check] = s.Detail + ": " + s.Advice
		}
	}
	if err != nil || !strings.Contains(seen["host"], "gatehouse:8080: ") || !strings.Contains(seen["host"], "public URL") || !strings.Contains(seen["origin"], "inspector.example: ") {
		t.Errorf("the record of attempts: %q, %v", seen, err)
	}
}
