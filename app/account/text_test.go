package account_test

import (
	"strings"
	"testing"
	"time"

	"gatehouse/app/account"
)

func TestFoldEmail(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, want string }{
		"plain":                  {"ada@example.org", "ada@example.org"},
		"case and space":         {"  Ada.Lovelace+home@Example.ORG ", "ada.lovelace+home@example.org"},
		"domain in ASCII":        {"ada@bücher.example", "ada@xn--bcher-kva.example"},
		"composed":               {"e\u0301ve@example.org", "\u00e9ve@example.org"},
		"one label":              {"ada@localhost", "ada@localhost"},
		"dot at the end":         {"ada@example.org.", "ada@example.org"},
		"no at":                  {"ada.example.org", ""},
		"two at":                 {"ada@home@example.org", ""},
		"nothing before":         {"@example.org", ""},
		"nothing after":          {"ada@", ""},
		"space inside":           {"a da@example.org", ""},
		"display name":           {"Ada <ada@example.org>", ""},
		"quoted":                 {`"ada"@example.org`, ""},
		"dots":                   {"a..da@example.org", ""},
		"empty label":            {"ada@example..org", ""},
		"hyphen at the end":      {"ada@example-.org", ""},
		"line break":             {"ada@example.org\r\nBcc: x@example.org", ""},
		"NUL":                    {"a\x00da@example.org", ""},
		"broken UTF-8":           {"a\xffda@example.org", ""},
		"long local part":        {strings.Repeat("a", 65) + "@example.org", ""},
		"long":                   {"a@" + strings.Repeat("abcdefgh.", 29) + "org", ""},
		"direction mark":         {"ada\u202e@example.org", ""},
		"IP address in brackets": {"ada@[127.0.0.1]", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := account.FoldEmail(c.in)
			if got != c.want || (err == nil) != (c.want != "") {
				t.Errorf("got %q, %v, want %q", got, err, c.want)
			}
			if err != nil {
				wantCode(t, err, account.CodeValidation)
			}
		})
	}
}

// Strangers choose the length of what they type, and turning a domain into ASCII takes its square.
func TestFoldEmailLength(t *testing.T) {
	t.Parallel()
	var domain strings.Builder
	for i := range 7000 {
		domain.WriteRune(rune(0x4e00 + i))
	}
	start := time.Now()
	if _, err := account.FoldEmail("a@" + domain.String()); err == nil {
		t.Error("X-11 a domain of 20 KB was taken")
	}
	if took := time.Since(start); took > 100*time.Millisecond {
		t.Errorf("X-11 a domain of 20 KB took %s", took)
	}
}

func FuzzFoldEmail(f *testing.F) {
	for _, s := range []string{"ada@example.org", " Ada@EXAMPLE.org", "ada@bücher.example", "é@é", "@", "a@b@c", "İ@example.org", "ß@ß.de"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		folded, err := account.FoldEmail(s)
		if err != nil {
			return
		}
		if again, err := account.FoldEmail(folded); err != nil || again != folded {
			t.Errorf("%q folds to %q, that to %q, %v", s, folded, again, err)
		}
	})
}

func TestCleanName(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, want string }{
		"trimmed and collapsed": {"  Ada \t  Lovelace ", "Ada Lovelace"},
		"composed":              {"E\u0301va", "\u00c9va"},
		"bidi removed":          {"Ada\u202egro", "Adagro"},
		"tags removed":          {"Ada\U000E0041", "Ada"},
		"eighty":                {strings.Repeat("é", 80), strings.Repeat("é", 80)},
		"eighty-one":            {strings.Repeat("é", 81), ""},
		"nothing":               {" \u200f ", ""},
		"line break":            {"Ada\nLovelace", ""},
		"line separator":        {"Ada\u2028Lovelace", ""},
		"control":               {"Ada\x1b[31m", ""},
		"NUL":                   {"Ada\x00", ""},
		"broken UTF-8":          {"Ada\xff", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := account.CleanName("name", c.in, 80)
			if got != c.want || (err == nil) != (c.want != "") {
				t.Errorf("got %q, %v, want %q", got, err, c.want)
			}
		})
	}
}

func FuzzCleanName(f *testing.F) {
	for _, s := range []string{"Ada", " a  b ", "E\u0301", "a\u202e\u0301", "\U000E0041", "\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		clean, err := account.CleanName("name", s, 80)
		if err != nil {
			return
		}
		if again, err := account.CleanName("name", clean, 80); err != nil || again != clean {
			t.Errorf("%q cleans to %q, that to %q, %v", s, clean, again, err)
		}
	})
}

func TestNewID(t *testing.T) {
	t.Parallel()
	at := time.UnixMilli(0x0123456789AB)
	got, err := account.NewID(at, strings.NewReader(strings.Repeat("\xff", 10)))
	if want := "01234567-89ab-7fff-bfff-ffffffffffff"; err != nil || got != want {
		t.Errorf("RFC9562-5.7: got %s, %v, want %s", got, err, want)
	}
	if _, err := account.NewID(at, strings.NewReader("short")); err == nil {
		t.Error("a source that runs dry gave an id")
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	if account.CodeOf(nil) != "" || account.CodeOf(account.ErrNotFound) != account.CodeNotFound {
		t.Error("CodeOf does not tell refusals apart")
	}
}
