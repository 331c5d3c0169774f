package app_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"gatehouse/app/apptest"
)

// The pages in a real browser: what curl cannot see, such as a policy that blocks a redirect after a form.

// chromium starts a headless browser, or skips.
func chromium(t *testing.T) context.Context {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		needAll(t, "Chromium, for example Debian's package chromium")
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.UserDataDir(t.TempDir()), chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("ignore-certificate-errors", true), chromedp.WSURLReadTimeout(time.Minute))
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), opts...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 8*time.Minute) // a busy computer draws slowly
	t.Cleanup(cancel)
	return ctx
}

// shots is where screenshots go, GATEHOUSE_TEST_SCREENSHOTS; "" when nobody wants to look at any.
func shots(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("GATEHOUSE_TEST_SCREENSHOTS")
	if dir == "" {
		return ""
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// shoot takes the page at a width, in light or dark, and checks that nothing hangs over the edge.
func shoot(t *testing.T, ctx context.Context, dir, name string) {
	t.Helper()
	for _, width := range []int64{360, 1280} {
		for _, scheme := range []string{"light", "dark"} {
			if err := chromedp.Do(ctx, chromedp.EmulateViewport(width, 900)); err != nil {
				t.Fatal(err)
			}
			_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
				Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
			if err != nil {
				t.Fatal(err)
			}
			over, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`document.documentElement.scrollWidth > document.documentElement.clientWidth`))
			if err != nil {
				t.Fatal(err)
			}
			if over {
				t.Errorf("BH-8 %s at %d px scrolls sideways", name, width)
			}
			if dir == "" {
				continue
			}
			if err := chromedp.Do(ctx, chromedp.Sleep(400*time.Millisecond)); err != nil { // colours fade over
				t.Fatal(err)
			}
			png, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(dir, fmt.Sprintf("%s-%d-%s.png", name, width, scheme))
			if err := os.WriteFile(file, png, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestBrowserAllowReachesTheClient(t *testing.T) {
	t.Parallel()
	ctx := chromium(t)
	dir := shots(t)
	p := apptest.Start(t)
	p.AddUser(t, "ada@example.com", "--name", "Ada")

	reached := make(chan string, 4)
	loopback := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/callback" {
			reached <- r.Method + " " + r.URL.RawQuery
		}
		fmt.Fprint(w, "<h1>Back in the app</h1>")
	}))
	defer loopback.Close()
	// A hosted client whose https callback hops on to a scheme of its own, as desktop apps do.
	hosted := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/callback" {
			reached <- r.Method + " " + r.URL.RawQuery
			http.Redirect(w, r, "claude://claude.ai/settings/connectors", http.StatusTemporaryRedirect)
		}
	}))
	defer hosted.Close()

	first := true
	for _, tc := range []struct{ name, redirect string }{
		{"RC-1 loopback listener", loopback.URL + "/callback"},
		{"BH-2 https callback that hops to a custom scheme", hosted.URL + "/callback"},
	} {
		c, err := apptest.RegisterClient(p.URL, tc.redirect)
		if err != nil {
			t.Fatal(err)
		}
		if err := chromedp.Do(ctx, chromedp.Navigate(c.AuthorizeURL())); err != nil {
			t.Fatal(err)
		}
		if first {
			shoot(t, ctx, dir, "signin")
			err := chromedp.Do(ctx, chromedp.WaitVisible(chromedp.CSS(`input[name=password]`)),
				chromedp.SendKeys(chromedp.CSS(`input[name=email]`), "ada@example.com"),
				chromedp.SendKeys(chromedp.CSS(`input[name=password]`), apptest.Password+"\r"))
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := chromedp.Do(ctx, chromedp.WaitVisible(chromedp.CSS(`button[name=decision][value=allow]`))); err != nil {
			t.Fatalf("%s: the consent page does not show: %v", tc.name, err)
		}
		if first {
			shoot(t, ctx, dir, "consent")
		}
		first = false
		// The custom scheme has no program here, so that the last navigation may end in an error: what counts is the callback.
		_ = chromedp.Do(ctx, chromedp.Click(chromedp.CSS(`button[name=decision][value=allow]`)))
		select {
		case got := <-reached:
			if !strings.HasPrefix(got, "GET ") || !strings.Contains(got, "code=") || !strings.Contains(got, "iss=") {
				t.Errorf("%s: the client got %q", tc.name, got)
			}
		case <-time.After(20 * time.Second):
			t.Errorf("%s: Allow never reached the client", tc.name)
		}
	}
}

func TestBrowserSettingsPages(t *testing.T) {
	t.Parallel()
	ctx := chromium(t)
	dir := shots(t)
	p := apptest.Start(t)
	b := p.AddUser(t, "ada@example.com", "--name", "Ada")
	c, err := apptest.RegisterClient(p.URL, "http://127.0.0.1:7799/callback")
	if err != nil {
		t.Fatal(err)
	}
	connected(t, c, b)
	err = chromedp.Do(ctx, chromedp.Navigate(p.URL+"/signin"),
		chromedp.SendKeys(chromedp.CSS(`input[name=email]`), "ada@example.com"),
		chromedp.SendKeys(chromedp.CSS(`input[name=password]`), apptest.Password+"\r"),
		chromedp.WaitNotPresent(chromedp.CSS(`input[name=password]`)))
	if err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{"home": "/", "connections": "/settings/connections", "connect": "/settings/connect", "account": "/settings/account"} {
		if err := chromedp.Do(ctx, chromedp.Navigate(p.URL+path), chromedp.WaitVisible(chromedp.CSS("main"))); err != nil {
			t.Fatal(err)
		}
		count, err := chromedp.Run(ctx, chromedp.Evaluate[string](`document.querySelectorAll('h1').length + " " + document.querySelectorAll('main').length`))
		if err != nil || count != "1 1" {
			t.Errorf("%s has h1 and main so often: %s (%v)", path, count, err)
		}
		shoot(t, ctx, dir, name)
	}
}
