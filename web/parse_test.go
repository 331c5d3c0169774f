package web

import (
	"net/url"
	"strings"
	"testing"
)

func FuzzReturnPath(f *testing.F) {
	for _, s := range []string{"/", "/settings/connect?watch=1#x", "//evil", `/\evil`, "/\t/evil", "https://evil", "/%2f/evil", "/.//evil", "/a b", "/%", "javascript:x", "/ü"} {
		f.Add(s)
	}
	base, _ := url.Parse("https://home.example/signin")
	f.Fuzz(func(t *testing.T, s string) {
		got := parseReturnPath(s)
		if got == "" {
			return
		}
		to, err := base.Parse(got)
		if err != nil || to.Scheme != "https" || to.Host != "home.example" || to.User != nil || got != s {
			t.Errorf("BH-7 %q leads to %v", s, to)
		}
		if strings.ContainsAny(got, "\\\r\n\t") || strings.HasPrefix(got, "//") {
			t.Errorf("BH-7 %q is accepted", got)
		}
	})
}

func TestHostname(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{"app.example": "app.example", "app.example:8443": "app.example", "": ""} {
		if got := hostname(host); got != want {
			t.Errorf("CI-12 the host of %q is %q, want %q", host, got, want)
		}
	}
}

func TestReturnPath(t *testing.T) {
	t.Parallel()
	for path, ok := range map[string]bool{
		"/": true, "/settings/connect?watch=1": true, "": false, "settings": false, "//evil": false, `/\evil`: false, `\\evil`: false, "/\n": false,
		"https://evil.example/": false, "/\x00": false, "/" + strings.Repeat("a", maxReturnPath): false, "/a\\b": false,
	} {
		if got := parseReturnPath(path); (got != "") != ok {
			t.Errorf("BH-7 %q gives %q", path, got)
		}
	}
}

func FuzzParameters(f *testing.F) {
	for _, s := range []string{"", "a=b", "a=b&a=c", "state=%2F%2B+~", "a=%zz", "a=%ff", "a;b", "=x", "a=%00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		values, err := parseParameters(s)
		if err != nil {
			return
		}
		again, err := parseParameters(values.Encode())
		if err != nil || again.Encode() != values.Encode() {
			t.Errorf("%q comes back as %q: %v", s, again.Encode(), err)
		}
	})
}

func FuzzDeviceName(f *testing.F) {
	for _, s := range []string{"", "claude-code/2.1 (cli)", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "\x00ü", strings.Repeat("x", 300)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		name := deviceName(t.Context(), s)
		if name == "" || len(name) > 90 || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Errorf("%q gives %q", s, name)
		}
	})
}

func TestDeviceName(t *testing.T) {
	t.Parallel()
	for agent, want := range map[string]string{
		"claude-code/2.1.332 (cli)": "Claude Code", "openai-mcp/1.0.0": "ChatGPT", "codex-mcp-client/0.171.0": "Codex", "": "Unknown program",
		"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0":                                                           "Firefox on Linux",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile Safari/604.1": "Safari on iPhone",
		"strange/1.0 (x)": "strange/1.0",
	} {
		if got := deviceName(t.Context(), agent); got != want {
			t.Errorf("%q gives %q, want %q", agent, got, want)
		}
	}
}
