package inventory

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

var typedTexts = []struct {
	typed string
	name  string // "!" is refused
	notes string
}{
	{"  Cordless \t  Drill ", "Cordless Drill", "Cordless \t  Drill"},
	{"cafe\u0301", "café", "café"},
	{"a\r\nb\rc\n", "!", "a\nb\nc"},
	{"a\n", "a", "a"},
	{"a\u2028b", "!", "a\u2028b"},
	{"a\u202eb\u2066c\U000e0041", "abc", "a\u202eb\u2066c\U000e0041"},
	{"\u202e", "!", "\u202e"},
	{"a\u0000b", "!", "!"},
	{"a\u0085b", "!", "!"},
	{"a\x7fb", "!", "!"},
	{"a\ufffeb", "!", "!"},
	{"a\uffffb", "!", "!"},
	{"a\xffb", "!", "!"},
	{"\xed\xa0\x80", "!", "!"},
	{"zero\u200dwidth", "zero\u200dwidth", "zero\u200dwidth"},
	{" \u00a0\u3000 ", "!", "!"},
	{"\u200b\ufeff\u2060", "!", "\u200b\ufeff\u2060"}, // a name that no answer would show
	{"G\u200barage", "Garage", "G\u200barage"},
	{"e\u202d\u0301", "é", "e\u202d\u0301"},
	{strings.Repeat("é", 10), strings.Repeat("é", 10), strings.Repeat("é", 10)},
	{strings.Repeat("e\u0301", 10) + "x", strings.Repeat("é", 10) + "x", strings.Repeat("é", 10) + "x"},
	{strings.Repeat("é", 20) + "x", "!", "!"},
}

func TestCleanTexts(t *testing.T) {
	t.Parallel()
	for _, c := range typedTexts {
		for kind, got := range map[string]func(string, int) (string, string){"name": cleanName, "notes": cleanNotes} {
			want := c.name
			if kind == "notes" {
				want = c.notes
			}
			s, problem := got(c.typed, 20)
			if (want == "!") != (problem != "") || want != "!" && s != want {
				t.Errorf("%s %q gives %q (%s), want %q", kind, c.typed, s, problem, want)
			}
		}
	}
}

func FuzzCleanName(f *testing.F) {
	for _, c := range typedTexts {
		f.Add(c.typed)
	}
	f.Fuzz(func(t *testing.T, typed string) {
		for _, clean := range []func(string, int) (string, string){cleanName, cleanNotes} {
			s, problem := clean(typed, 50)
			if problem != "" {
				continue
			}
			if n := utf8.RuneCountInString(s); n < 1 || n > 50 || !utf8.ValidString(s) || !norm.NFC.IsNormalString(s) || strings.TrimSpace(s) != s {
				t.Fatalf("%q gives %q", typed, s)
			}
			if again, problem := clean(s, 50); problem != "" || again != s {
				t.Fatalf("%q gives %q, that %q (%s)", typed, s, again, problem)
			}
			for _, r := range s {
				if r != '\t' && r != '\n' && unicode.Is(unicode.Cc, r) {
					t.Fatalf("%q keeps a control", typed)
				}
			}
		}
	})
}
