package doctor

import (
	"strings"
	"testing"
)

func TestParseChallenges(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, header, want string
	}{
		{"the scheme alone", `Bearer`, `Bearer`},
		{"quoted", `Bearer a="1", b="2"`, `Bearer a="1" b="2"`},
		{"unquoted", `Bearer a=https://h/x?y=z, b="2"`, `Bearer a=https://h/x?y=z b="2"`},
		{"escapes", `Bearer a="x\"y\\z"`, `Bearer a="x"y\z"`},
		{"spaces around the sign", `Bearer a = "1"`, `Bearer a="1"`},
		{"two schemes", `Basic realm="x", Bearer a="1"`, `Basic realm="x"|Bearer a="1"`},
		{"a comma in quotes", `Bearer a="1, Basic", b=2`, `Bearer a="1, Basic" b=2`},
		{"names in capitals", `Bearer Scope="s"`, `Bearer scope="s"`},
		{"the first of two counts", `Bearer a="1", a="2"`, `Bearer a="1"`},
		{"no end", `Bearer a="1`, `Bearer a="1"`},
		{"nothing", ` , `, ``},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := text(parseChallenges([]string{c.header})); got != c.want {
				t.Errorf("%s reads as %s, want %s", c.header, got, c.want)
			}
		})
	}
	if got := text(parseChallenges([]string{`Basic realm="x"`, `Bearer a="1"`})); got != `Basic realm="x"|Bearer a="1"` {
		t.Errorf("two lines read as %s", got)
	}
}

func text(list []challenge) string {
	var all []string
	for _, c := range list {
		parts := []string{c.scheme}
		for _, name := range []string{"a", "b", "realm", "scope"} {
			if p, found := c.params[name]; found && p.quoted {
				parts = append(parts, name+`="`+p.value+`"`)
			} else if found {
				parts = append(parts, name+"="+p.value)
			}
		}
		all = append(all, strings.Join(parts, " "))
	}
	return strings.Join(all, "|")
}

func FuzzParseChallenges(f *testing.F) {
	for _, s := range []string{`Bearer a="1", b=2`, `Basic realm="x", Bearer`, `,,="`, `a=b`, "Bearer a=\"\\", "Bär é=1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, c := range parseChallenges([]string{s}) {
			if c.scheme == "" || !strings.Contains(s, c.scheme) || tokenLength(c.scheme) != len(c.scheme) {
				t.Errorf("%q holds the scheme %q", s, c.scheme)
			}
			for name := range c.params {
				if name == "" || !strings.Contains(strings.ToLower(s), name) {
					t.Errorf("%q holds the parameter %q", s, name)
				}
			}
		}
	})
}

func FuzzLastEvent(f *testing.F) {
	for _, s := range []string{"data: {\"result\":1}\n\n", "event: x\r\ndata: {\"error\":\r\ndata: 1}\r\n\r\n", ": ping\n\n", "data"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		if got := lastEvent(stream); len(got) > len(stream)+1 {
			t.Errorf("%q gives %q", stream, got)
		}
	})
}
