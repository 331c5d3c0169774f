package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"gatehouse/app/apptest"
)

// Every page under axe-core, in each language, light and dark, on a telephone and on a desk: no finding that is serious
// or critical. A new page joins by a line in one of the two lists.

// signedOutPaths and signedInPaths are the pages that need nothing but to be opened. {id} is a connection, {thing} a thing.
var (
	signedOutPaths = []string{"/signin", "/signin?again=1&return=%2Fadmin", "/nothing", "/authorize?client_id=x", "/setup?token=none"}
	signedInPaths  = []string{
		"/", "/settings/connect", "/settings/connections", "/settings/connections/{id}", "/settings/connections/{id}/activity",
		"/settings/account", "/things/{thing}", "/admin", "/admin/audit", "/admin/audit?person=nobody", "/settings/connections?done=saved",
	}
)

// tab is a browser at the program.
type tab struct {
	t   *testing.T
	ctx context.Context
	p   *apptest.Program
	axe string
	dir string
}

func newTab(t *testing.T, p *apptest.Program) *tab {
	t.Helper()
	axe, err := os.ReadFile(filepath.Join(apptest.Root(), "test", "clients", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		needAll(t, "axe-core: npm --prefix test/clients ci --ignore-scripts")
	}
	return &tab{t: t, ctx: chromium(t), p: p, axe: string(axe), dir: shots(t)}
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

func (b *tab) open(address string) {
	b.t.Helper()
	if strings.HasPrefix(address, "/") {
		address = b.p.URL + address
	}
	b.do(chromedp.Navigate(address), chromedp.WaitVisible(chromedp.CSS("main")))
}

func (b *tab) evaluate(script string) string {
	b.t.Helper()
	value, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](script, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatal(err)
	}
	return value
}

func (b *tab) speak(language string) {
	b.evaluate(`document.cookie = "gatehouse-language=` + language + `; path=/", ""`)
}

func (b *tab) signIn() {
	b.open("/signin")
	b.do(chromedp.SendKeys(chromedp.CSS(`input[name=email]`), "ada@example.com"),
		chromedp.SendKeys(chromedp.CSS(`input[name=password]`), apptest.Password+"\r"),
		chromedp.WaitNotPresent(chromedp.CSS(`input[name=password]`)))
}

// look examines the open page in one language.
func (b *tab) look(name, language string) {
	b.t.Helper()
	if got := b.evaluate(`document.documentElement.lang`); got != language {
		b.t.Errorf("%s speaks %q, want %q", name, got, language)
	}
	b.evaluate(b.axe + `; document.querySelectorAll("details").forEach(d => { d.open = true }); ""`)
	for _, width := range []int64{360, 1280} {
		for _, scheme := range []string{"light", "dark"} {
			b.do(chromedp.EmulateViewport(width, 900))
			_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
				{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}})
			if err != nil {
				b.t.Fatal(err)
			}
			at := fmt.Sprintf("%s in %s at %d px, %s", name, language, width, scheme)
			b.examine(at)
			if b.evaluate(`String(document.documentElement.scrollWidth > document.documentElement.clientWidth)`) == "true" {
				b.t.Errorf("%s scrolls sideways", at)
			}
			b.shoot(fmt.Sprintf("%s-%s-%d-%s.png", name, language, width, scheme))
		}
	}
}

// examine runs axe-core and reports what is serious.
func (b *tab) examine(at string) {
	b.t.Helper()
	var found []struct {
		ID, Impact, Help string
		Nodes            []string
	}
	raw := b.evaluate(`axe.run(document, { resultTypes: ["violations"] }).then(r => JSON.stringify(r.violations.map(v => (
		{ ID: v.id, Impact: v.impact, Help: v.help, Nodes: v.nodes.map(n => n.html.slice(0, 200) + " " + (n.any[0] ? n.any[0].message : "")) }))))`)
	if err := json.Unmarshal([]byte(raw), &found); err != nil {
		b.t.Fatal(err)
	}
	for _, v := range found {
		if v.Impact == "serious" || v.Impact == "critical" {
			b.t.Errorf("BH-8 %s: %s (%s, %s): %s", at, v.Help, v.ID, v.Impact, strings.Join(v.Nodes[:min(3, len(v.Nodes))], "\n\t"))
		}
	}
}

var notInAName = regexp.MustCompile(`[^a-z0-9.-]+`)

func (b *tab) shoot(name string) {
	b.t.Helper()
	if os.Getenv("GATEHOUSE_TEST_SCREENSHOTS") == "" {
		return
	}
	png, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.WriteFile(filepath.Join(b.dir, "axe-"+notInAName.ReplaceAllString(name, "-")), png, 0o644)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

var languages = []string{"en", "ar"}

func TestAxeSignedOut(t *testing.T) {
	t.Parallel()
	p := apptest.Start(t)
	b := newTab(t, p)
	b.open("/signin")
	setup := regexp.MustCompile(`/setup\?token=[\w-]+`).FindString(p.Logs())
	for _, language := range languages {
		b.speak(language)
		b.open(setup)
		b.look("setup", language)
	}
	p.AddUser(t, "ada@example.com", "--name", "Ada")
	reset, err := p.Run("", "user", "reset-link", "ada@example.com")
	if err != nil {
		t.Fatal(err)
	}
	reset = regexp.MustCompile(`/reset\?token=[\w-]+`).FindString(reset)
	c, err := apptest.RegisterClient(p.URL, "http://127.0.0.1:7799/callback")
	if err != nil {
		t.Fatal(err)
	}
	for _, language := range languages {
		b.speak(language)
		for _, path := range append(signedOutPaths, reset, c.AuthorizeURL()) {
			b.open(path)
			name := regexp.MustCompile(`token=[\w-]+|https?://[^/]+|[?].*`).ReplaceAllString(path, "")
			b.look("out"+name, language)
		}
		b.open("/signin")
		b.do(chromedp.SendKeys(chromedp.CSS(`input[name=email]`), "ada@example.com"),
			chromedp.SendKeys(chromedp.CSS(`input[name=password]`), "wrong\r"), chromedp.WaitVisible(chromedp.CSS(".problem")))
		b.look("signin-problem", language)
	}
}

func TestAxeSignedIn(t *testing.T) {
	t.Parallel()
	p := apptest.Start(t)
	b := newTab(t, p)
	places := furnish(t, p)
	b.signIn()
	for _, language := range languages {
		b.speak(language)
		for _, path := range signedInPaths {
			b.open(places.Replace(path))
			b.look("in"+strings.ReplaceAll(path, "?", "-"), language)
		}
		b.open("/settings/connections")
		b.evaluate(`document.querySelectorAll("details").forEach(d => { d.open = true }); ""`)
		b.do(chromedp.SendKeys(chromedp.CSS("#token-name"), "Backup "+language+"\r"), chromedp.WaitVisible(chromedp.CSS("#secret")))
		b.look("token-created", language)
	}
}

// furnish gives a person a connection, a personal token, things and an attempt that failed.
func furnish(t *testing.T, p *apptest.Program) *strings.Replacer {
	t.Helper()
	b := mustSignIn(t, p.AddUser(t, "ada@example.com", "--name", "Ada", "--admin"), p.URL)
	token := connected(t, registered(t, p), b).AccessToken
	added := mustTool(t, p.URL, token, "add_thing", `{"items":[{"name":"Cordless drill","aliases":["Schrauber"],"notes":"Two batteries","value":{"amount":"119.90","currency":"EUR"}}]}`)
	thing := regexp.MustCompile(`"id":"([0-9a-f-]{36})"`).FindStringSubmatch(added)
	mustTool(t, p.URL, token, "update_thing", `{"thing_id":"`+thing[1]+`","fields":{"name":"Drill"}}`)
	page := mustGet(t, b, p.URL+"/settings/connections")
	id := regexp.MustCompile(`/settings/connections/([^"/]+)/activity`).FindStringSubmatch(page.Body)
	if id == nil {
		t.Fatalf("no connection on the page: %s", page.Text())
	}
	return strings.NewReplacer("{id}", id[1], "{thing}", thing[1])
}

func TestAxeConsent(t *testing.T) {
	t.Parallel()
	p := apptest.Start(t)
	b := newTab(t, p)
	p.AddUser(t, "ada@example.com", "--name", "Ada")
	c, err := apptest.RegisterClient(p.URL, "http://127.0.0.1:7799/callback")
	if err != nil {
		t.Fatal(err)
	}
	b.signIn()
	for _, language := range languages {
		b.speak(language)
		b.open(c.AuthorizeURL())
		path := b.evaluate(`location.pathname`)
		b.look("consent", language)
		b.evaluate(`document.querySelectorAll("input[type=checkbox]").forEach(i => { i.checked = false }); ""`)
		b.do(chromedp.Click(chromedp.CSS(`button[value=allow]`)), chromedp.WaitVisible(chromedp.CSS(".problem")))
		b.look("consent-problem", language)
		b.do(chromedp.Click(chromedp.CSS(`button[value=deny]`)), chromedp.WaitNotPresent(chromedp.CSS(`button[value=deny]`)))
		b.look("denied", language)
		b.open(path)
		b.look("decided", language)
	}
}

// On the consent page nothing has the focus, and the keyboard reaches every choice and both answers in the order of the
// page, each with a visible focus.
func TestConsentByKeyboard(t *testing.T) {
	t.Parallel()
	p := apptest.Start(t)
	b := newTab(t, p)
	p.AddUser(t, "ada@example.com", "--name", "Ada")
	c, err := apptest.RegisterClient(p.URL, "http://127.0.0.1:7799/callback")
	if err != nil {
		t.Fatal(err)
	}
	b.signIn()
	for _, language := range languages {
		b.speak(language)
		b.open(c.AuthorizeURL())
		if got := b.evaluate(`document.activeElement.tagName`); got != "BODY" {
			t.Errorf("CS-4 %s: %s has the focus at first", language, got)
		}
		stops := b.tabThrough()
		deny, allow, scope := stops.index("decision deny"), stops.index("decision allow"), stops.index("scope home:read")
		if scope < 0 || deny < scope || allow != deny+1 || stops.index("location") < scope || stops.index("expires") < scope || deny < stops.index("expires") {
			t.Errorf("CS-4 %s: the keyboard goes through %q", language, stops)
		}
		if stops[0] != "#main" {
			t.Errorf("%s: the first stop is %q, not the link that skips to the content", language, stops[0])
		}
	}
}

type tabStops []string

func (s tabStops) index(start string) int {
	for i, stop := range s {
		if strings.HasPrefix(stop, start) {
			return i
		}
	}
	return -1
}

// tabThrough presses Tab until the page is left and tells where the focus stood. A stop without a visible focus fails.
func (b *tab) tabThrough() tabStops {
	b.t.Helper()
	const here = `(() => { const e = document.activeElement, s = getComputedStyle(e);
		if (e === document.body) return "";
		const name = e.getAttribute("href") || (e.name + " " + e.value);
		return name + (s.outlineStyle !== "none" && parseFloat(s.outlineWidth) > 1 ? "" : " UNSEEN") })()`
	var out tabStops
	for range 60 {
		b.do(chromedp.KeyEvent("\t"))
		stop := b.evaluate(here)
		if stop == "" || len(out) > 1 && stop == out[0] {
			break
		}
		if strings.HasSuffix(stop, "UNSEEN") {
			b.t.Errorf("the focus cannot be seen at %s", stop)
		}
		out = append(out, stop)
	}
	if len(out) == 0 {
		b.t.Fatal("Tab reaches nothing")
	}
	return out
}
