package templates

import (
	"bytes"
	"context"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"gatehouse/templates/lang"
)

// latin is a word in Latin letters. Names of programs, files and protocols are the same in every language.
var (
	latin = regexp.MustCompile(`[A-Za-z][A-Za-z.]+`)
	names = regexp.MustCompile(`Gatehouse|Claude|ChatGPT|Codex|Cursor|VS Code|OAuth|https?|GATEHOUSE_PUBLIC_URL|gth_|UTC|DPoP|PKCE|JSON|JWK|TOTP|QR|URL|PIN|JavaScript|OpenID Connect|ID-JAG|BCDF-GHJK|(://)?id.example|</?\w[^>]*>`)
)

// With hostile text for all that is data, whatever else a page says is the page's own, and must be translated.
func TestPagesSayNothingInEnglishToAnArabicReader(t *testing.T) {
	t.Parallel()
	ctx := lang.With(context.Background(), lang.ByTag("ar"))
	for _, s := range samples() {
		var buf bytes.Buffer
		if err := s.hostile.Render(ctx, &buf); err != nil {
			t.Fatal(err)
		}
		doc, err := html.Parse(&buf)
		if err != nil {
			t.Fatal(err)
		}
		if root := firstElement(doc, "html"); attribute(root, "lang") != "ar" || attribute(root, "dir") != "rtl" {
			t.Errorf("%s: the page is not marked as Arabic", s.name)
		}
		for n := range doc.Descendants() {
			for _, said := range sayings(n) {
				own := names.ReplaceAllString(strings.ReplaceAll(said, poison, ""), "")
				if word := latin.FindString(own); word != "" {
					t.Errorf("%s says %q in English: use lang.T", s.name, strings.TrimSpace(own))
				}
			}
		}
	}
}

// sayings are the texts of a node that a reader meets, but for the names that languages give themselves.
func sayings(n *html.Node) []string {
	if n.Type == html.TextNode && n.Parent != nil && attribute(n.Parent, "lang") == "" {
		return []string{n.Data}
	}
	var out []string
	for _, a := range n.Attr {
		if a.Key == "aria-label" || a.Key == "alt" || a.Key == "placeholder" || a.Key == "title" {
			out = append(out, a.Val)
		}
	}
	return out
}

func TestSentencesWithMarkup(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ text, want string }{
		{"Copy {name} now.", "Copy <bdi>&lt;b&gt;</bdi> now."},
		{"{name}", "<bdi>&lt;b&gt;</bdi>"},
		{"{name} & {name}{other}", "<bdi>&lt;b&gt;</bdi> &amp; <bdi>&lt;b&gt;</bdi>{other}"},
		{"{{name}", "{<bdi>&lt;b&gt;</bdi>"},
		{"<i> {", "&lt;i&gt; {"},
		{"", ""},
	} {
		var buf bytes.Buffer
		if err := with(tc.text, slots{"name": name("<b>")}).Render(t.Context(), &buf); err != nil || buf.String() != tc.want {
			t.Errorf("%q becomes %q (%v), want %q", tc.text, buf.String(), err, tc.want)
		}
	}
}

// Pages are laid out by the direction of their text: nothing in the sheet names a side.
func TestTheStylesheetNamesNoSide(t *testing.T) {
	t.Parallel()
	side := regexp.MustCompile(`(?m)(margin|padding|border|inset)-(left|right)|(^|[\s;{])(left|right)\s*:|text-align:\s*(left|right)|float:`)
	if found := side.FindAllString(string(Stylesheet.Body), -1); found != nil {
		t.Errorf("the sheet names a side instead of start and end: %q", found)
	}
}
