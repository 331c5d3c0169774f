package app_test

import (
	"context"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"gatehouse/app/apptest"
)

// signInWith signs a person in with a real browser.
func signInWith(t *testing.T, ctx context.Context, base, email string) {
	t.Helper()
	err := chromedp.Do(ctx, chromedp.Navigate(base+"/signin"), chromedp.SendKeys("#email", email), chromedp.SendKeys("#password", apptest.Password),
		chromedp.Click("main button[type=submit]"), chromedp.WaitVisible("nav"))
	if err != nil {
		t.Fatal(err)
	}
}

// TestBrowserSeesAttemptsLive: the page changes by itself, under its own content security policy, and keeps what somebody
// closed.
func TestBrowserSeesAttemptsLive(t *testing.T) {
	t.Parallel()
	ctx, dir := chromium(t), shots(t)
	p := apptest.Start(t)
	ada := mustSignIn(t, p.AddUser(t, "ada@example.com", "--admin", "--name", "Ada"), p.URL)
	signInWith(t, ctx, p.URL, "ada@example.com")
	err := chromedp.Do(ctx, chromedp.Navigate(p.URL+"/settings/connect"), chromedp.WaitVisible("[data-live-on]"))
	if err != nil {
		t.Fatal("oauth.md §6 the page does not go live:", err)
	}
	c := registered(t, p)
	if _, err := c.Connect(ada); err != nil {
		t.Fatal(err)
	}
	await(t, ctx, `document.querySelector("[data-live]").textContent.includes("The app fetched its tokens")`, "oauth.md §6 the attempt appears")
	await(t, ctx, `document.querySelector("[data-live-status]").textContent != ""`, "what happened is said aloud")
	if err := chromedp.Do(ctx, chromedp.Click("[data-live] summary")); err != nil {
		t.Fatal(err)
	}
	await(t, ctx, `!document.querySelector("[data-live] details").open`, "the steps close")
	if _, err := c.Connect(ada); err != nil {
		t.Fatal(err)
	}
	await(t, ctx, `document.querySelectorAll("[data-live] details").length > 1`, "the second attempt appears")
	await(t, ctx, `document.querySelectorAll("[data-live] details")[1].open === false`, "what was closed stays closed")
	shoot(t, ctx, dir, "connect-live")
	for name, path := range map[string]string{"admin": "/admin", "people": "/admin/people", "person-new": "/admin/people/new", "clients": "/admin/clients", "client-new": "/admin/clients/new",
		"connections": "/admin/connections", "attempts": "/admin/attempts", "keys": "/admin/keys", "audit": "/admin/audit"} {
		if err := chromedp.Do(ctx, chromedp.Navigate(p.URL+path), chromedp.WaitVisible("h1")); err != nil {
			t.Fatal(err)
		}
		shoot(t, ctx, dir, "admin-"+name)
	}
	for name, path := range map[string]string{"client": "/admin/clients", "connection": "/admin/connections", "attempt": "/admin/attempts", "person": "/admin/people"} {
		if err := chromedp.Do(ctx, chromedp.Navigate(p.URL+path), chromedp.Click("main .card h2 a"), chromedp.WaitVisible("main dl")); err != nil {
			t.Fatal(err)
		}
		shoot(t, ctx, dir, "admin-"+name)
	}
}

func await(t *testing.T, ctx context.Context, expression, what string) {
	t.Helper()
	for range 100 {
		if done, err := chromedp.Run(ctx, chromedp.Evaluate[bool](expression)); err == nil && done {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("not within 10 seconds:", what)
}
