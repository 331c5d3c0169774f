package main

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestEveryTextIsTranslated(t *testing.T) {
	t.Parallel()
	uses, err := sourceTexts("../../..")
	if err != nil || len(uses) < 300 {
		t.Fatalf("%d texts: %v", len(uses), err)
	}
	files, err := filepath.Glob("../catalog/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no catalogue: %v", err)
	}
	for _, file := range files {
		c, err := readCatalogue(file)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		problems := c.problems(uses)
		if len(problems) > 0 {
			t.Errorf("%s: %d to do; see docs/translating.md", filepath.Base(file), len(problems))
		}
		for _, p := range problems {
			t.Error(p)
		}
	}
}

func TestTextsOfTheSource(t *testing.T) {
	t.Parallel()
	uses, err := sourceTexts("testdata/module")
	if err != nil {
		t.Fatal(err)
	}
	for text, one := range map[string]string{
		"Sign in": "", "Sign in now": "", "{n} apps": "One app", "Later": "", "Said": "", "Nothing here": "", "Look elsewhere": "",
	} {
		u, ok := uses[text]
		if !ok || u.one != one || !strings.Contains(u.at, "page.go:") {
			t.Errorf("%q: %+v", text, u)
		}
		delete(uses, text)
	}
	for text := range uses {
		t.Errorf("%q is no text of a page", text)
	}
}

func TestProblemsOfACatalogue(t *testing.T) {
	t.Parallel()
	counted := use{text: "{n} of {name}", one: "One of {name}"}
	all := map[string]any{"zero": "{name}", "one": "{name}", "two": "{name}", "few": "{n} {name}", "many": "{n} {name}", "other": "{n} {name}"}
	changed := func(form, text string) map[string]any {
		out := map[string]any{}
		for f, t := range all {
			out[f] = t
		}
		out[form] = text
		return out
	}
	for _, tc := range []struct {
		name        string
		use         use
		translation any
		want        string
	}{
		{"good", use{text: "In {place}"}, "{place}", ""},
		{"missing", use{text: "In {place}"}, nil, "no translation"},
		{"empty", use{text: "In {place}"}, "", "no translation"},
		{"another placeholder", use{text: "In {place}"}, "{places}", "placeholders"},
		{"a placeholder too few", use{text: "In {place}"}, "x", "placeholders"},
		{"forms without count", use{text: "In {place}"}, all, "not for counts"},
		{"good forms", counted, all, ""},
		{"one text for counts", counted, "{n} {name}", "needs the forms"},
		{"an empty form", counted, changed("many", ""), "form many"},
		{"a number left out", counted, changed("few", "{name}"), "form few"},
		{"a name left out", counted, changed("one", "x"), "form one"},
		{"a form too many", counted, changed("several", "{n} {name}"), "form several"},
	} {
		c := &catalogue{Tag: "ar", Texts: map[string]any{}}
		if tc.translation != nil {
			c.Texts[tc.use.text] = tc.translation
		}
		got := strings.Join(c.problems(map[string]use{tc.use.text: tc.use}), "\n")
		if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
	c := &catalogue{Tag: "ar", Texts: map[string]any{"Gone": "x"}}
	if got := c.problems(nil); len(got) != 1 || !strings.Contains(got[0], "used nowhere") {
		t.Errorf("an unused translation: %v", got)
	}
	if c.complete(map[string]use{counted.text: counted}); len(c.Texts) != 1 || len(c.Texts[counted.text].(map[string]any)) != 6 {
		t.Errorf("completed: %v", c.Texts)
	}
}
