package templates

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/a-h/templ"
	"golang.org/x/net/html"
)

var update = flag.Bool("update", false, "write the golden files anew")

// poison is text that breaks out of whatever does not escape it.
const poison = `"><script>alert('x')</script><b onclick=x>&amp;{{.}}` + "\u202e"

// poisoned is a view with hostile text in every string, everything shown and one entry in every list.
func poisoned[V any]() V {
	var v V
	fill(reflect.ValueOf(&v).Elem())
	return v
}

func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		text := poison
		if v.Type() == reflect.TypeFor[templ.SafeURL]() {
			text = "/x?" + poison
		}
		v.SetString(text)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int:
		v.SetInt(3)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	}
}

func renderPage(t *testing.T, c templ.Component) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := c.Render(t.Context(), &buf); err != nil {
		t.Fatal(err)
	}
	return bytes.ReplaceAll(buf.Bytes(), []byte("><"), []byte(">\n<"))
}

func TestGoldens(t *testing.T) {
	t.Parallel()
	for _, s := range samples() {
		for suffix, c := range map[string]templ.Component{"": s.page, ".hostile": s.hostile} {
			t.Run(s.name+suffix, func(t *testing.T) {
				t.Parallel()
				got := renderPage(t, c)
				checkStructure(t, got)
				golden(t, filepath.Join("testdata", s.name+suffix+".html"), got)
			})
		}
	}
}

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; run the test with -update", err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; look at the change with -update and git diff", path)
	}
}

// checkStructure holds what every page keeps, whatever stands in it.
func checkStructure(t *testing.T, page []byte) {
	t.Helper()
	doc, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	labelled := map[string]bool{}
	var inputs []*html.Node
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		count[n.Data]++
		checkElement(t, n)
		switch n.Data {
		case "label":
			labelled[attribute(n, "for")] = true
		case "input", "select", "textarea":
			inputs = append(inputs, n)
		}
	}
	if count["main"] != 1 || count["h1"] != 1 {
		t.Errorf("architecture §10: %d main and %d h1; every page has one of each", count["main"], count["h1"])
	}
	if count["script"]-ourScripts(doc)+count["style"]+count["b"] > 0 {
		t.Error("BH-1 the page has a script, a style or markup that came in as text")
	}
	for _, n := range inputs {
		if !isLabelled(n, labelled) {
			t.Errorf("input %q has no label", attribute(n, "name"))
		}
	}
	if lang := attribute(firstElement(doc, "html"), "lang"); lang == "" {
		t.Error("the page does not say its language")
	}
}

// ourScripts counts the script elements that do nothing but load a file of ours.
func ourScripts(doc *html.Node) int {
	n := 0
	for e := range doc.Descendants() {
		ours := slices.ContainsFunc(Assets(), func(a Asset) bool { return strings.HasSuffix(a.Path, ".js") && a.Path == attribute(e, "src") })
		if e.Type == html.ElementNode && e.Data == "script" && ours && (e.FirstChild == nil || strings.TrimSpace(e.FirstChild.Data) == "") {
			n++
		}
	}
	return n
}

func checkElement(t *testing.T, n *html.Node) {
	t.Helper()
	for _, a := range n.Attr {
		if a.Key == "style" || a.Key == "autofocus" || strings.HasPrefix(a.Key, "on") {
			t.Errorf("<%s> has %s", n.Data, a.Key)
		}
	}
	if n.Data == "form" {
		var fields []string
		for d := range n.Descendants() {
			fields = append(fields, attribute(d, "name"))
		}
		if attribute(n, "method") == "get" && attribute(n, "class") == "filter" && !slices.Contains(fields, "csrf") {
			return // a filter changes nothing, and its token would stand in the address
		}
		if attribute(n, "method") != "post" || !slices.Contains(fields, "csrf") {
			t.Errorf("BH-5 form to %s: method %s, fields %v", attribute(n, "action"), attribute(n, "method"), fields)
		}
	}
}

// isLabelled: by for and id, by standing in a label, or by being no field for people.
func isLabelled(n *html.Node, labelled map[string]bool) bool {
	if attribute(n, "type") == "hidden" || attribute(n, "aria-hidden") == "true" || labelled[attribute(n, "id")] && attribute(n, "id") != "" {
		return true
	}
	for a := range n.Ancestors() {
		if a.Data == "label" {
			return true
		}
	}
	return false
}

func firstElement(doc *html.Node, name string) *html.Node {
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode && n.Data == name {
			return n
		}
	}
	return &html.Node{}
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func TestConsentPage(t *testing.T) {
	t.Parallel()
	page := html.UnescapeString(string(renderPage(t, Consent(newConsent))))
	for id, want := range map[string]string{
		"CS-1 the name is marked as a claim":       "Nobody has checked it.",
		"CS-1 not verified is said":                "Registered itself, not verified",
		"CS-1 the redirect host is shown":          `host" dir="ltr">localhost<`,
		"CS-1 as whom":                             "ada@example.org",
		"CS-1 not you":                             "Not you?",
		"CS-2 warning for this computer":           "The answer goes to a program on this computer.",
		"CS-4 Allow":                               `<button class="button" type="submit" name="decision" value="allow">Allow</button>`,
		"CS-4 Deny looks the same":                 `<button class="button" type="submit" name="decision" value="deny">Deny</button>`,
		"CS-4 single scopes can be unticked":       `name="scope" value="home:write"`,
		"CS-4 an end can be chosen":                `name="expires" value="30d"`,
		"architecture §10 locations can be ticked": `name="location" value="0195-home" checked`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%s: %q is missing", id, want)
		}
	}
	again := html.UnescapeString(string(renderPage(t, Consent(againConsent))))
	for _, want := range []string{"New this time: change your things.", "has it now", `Verified: <bdi dir="ltr">claude.ai</bdi>`, "another host than the app's own"} {
		if !strings.Contains(again, want) {
			t.Errorf("approving again: %q is missing", want)
		}
	}
}

func TestStylesheet(t *testing.T) {
	t.Parallel()
	css := string(Stylesheet.Body)
	if !strings.Contains(Stylesheet.Path, "/static/gatehouse.") || len(Stylesheet.Path) < len("/static/gatehouse.css")+12 {
		t.Errorf("the sheet's name %s has no hash", Stylesheet.Path)
	}
	for _, want := range []string{"prefers-color-scheme: dark", ":focus-visible"} {
		if !strings.Contains(css, want) {
			t.Errorf("the sheet lacks %s", want)
		}
	}
	for _, banned := range []string{"url(", "@import", "outline: none"} {
		if strings.Contains(css, banned) {
			t.Errorf("the sheet has %s", banned)
		}
	}
}
