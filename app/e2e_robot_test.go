package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gatehouse/app/apptest"
)

// needAll skips a test that lacks something on this computer, loudly; with GATEHOUSE_TEST_ALL=1 that is a failure.
func needAll(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("GATEHOUSE_TEST_ALL") == "1" {
		t.Fatal("missing: " + what)
	}
	t.Skip("SKIPPED: needs " + what)
}

// clientsDir is the folder of the Node clients, or a skip.
func clientsDir(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(apptest.Root(), "test", "clients")
	if _, err := exec.LookPath("node"); err != nil {
		needAll(t, "Node.js 20 or newer")
	}
	if _, err := os.Stat(filepath.Join(dir, "node_modules")); err != nil {
		needAll(t, "the Node clients: npm --prefix test/clients ci --ignore-scripts")
	}
	return dir
}

// robot is the person at the browser for clients of other languages: GET /authorize?url=… walks an authorization URL and
// tells where the browser was sent (with follow=1 it also goes there); POST /disconnect ends all connections.
func robot(t *testing.T, base string, b *apptest.Browser) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /authorize", func(w http.ResponseWriter, r *http.Request) {
		to, err := b.Authorize(r.FormValue("url"))
		if err != nil {
			t.Logf("robot: %v", err)
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		if r.FormValue("follow") != "" {
			res, err := http.Get(to.String())
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadGateway)
				return
			}
			_ = res.Body.Close()
		}
		_ = json.NewEncoder(w).Encode(map[string]string{"location": to.String()})
	})
	mux.HandleFunc("POST /disconnect", func(w http.ResponseWriter, _ *http.Request) {
		if err := disconnectAll(b, base); err != nil {
			t.Logf("robot: %v", err)
			http.Error(w, err.Error(), http.StatusBadGateway)
		}
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// disconnectAll presses Disconnect on Settings → Connections until no connection is left.
func disconnectAll(b *apptest.Browser, base string) error {
	for range 50 {
		page, err := b.Get(base + "/settings/connections")
		if err != nil {
			return err
		}
		if page.Form("password") != nil {
			if err := b.SignIn(base); err != nil {
				return err
			}
			continue
		}
		form := page.FormTo("/disconnect")
		if form == nil {
			return nil
		}
		if page, err = b.Post(form.Action, form.Values); err != nil {
			return err
		}
		if page.Status >= 400 {
			return fmt.Errorf("disconnect: %d %s", page.Status, page.Text())
		}
	}
	return fmt.Errorf("connections are left after 50 rounds")
}

// node runs a script of the Node clients.
func node(t *testing.T, env []string, args ...string) {
	t.Helper()
	cmd := exec.Command("node", args...)
	cmd.Dir = clientsDir(t)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}, env...)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "OK") {
		t.Fatalf("%s: %v\n%s", strings.Join(args[:1], " "), err, out)
	}
	t.Logf("%s: %s", args[0], strings.TrimSpace(string(out)))
}
