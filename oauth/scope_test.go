package oauth

import (
	"slices"
	"strings"
	"testing"
)

var testResource = &Resource{URI: "https://a.example/mcp", Scopes: []Scope{
	{Name: "data:read", Baseline: true},
	{Name: "data:write", Implies: []string{"data:read"}},
	{Name: "data:all", Implies: []string{"data:write"}},
	{Name: "extra:use"},
}}

func TestParseScope(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, value string
		want        []string
		bad         bool
	}{
		{"AZ-8 empty", "", nil, false},
		{"AZ-6 one", "data:read", []string{"data:read"}, false},
		{"AZ-6 two", "data:read data:write", []string{"data:read", "data:write"}, false},
		{"AZ-6 repeated token counts once", "a b a", []string{"a", "b"}, false},
		{"AZ-6 spaces around", "  a  b ", []string{"a", "b"}, false},
		{"AZ-6 all allowed marks", "!#$%&'()*+,-./:;<=>?@[]^_`{|}~", []string{"!#$%&'()*+,-./:;<=>?@[]^_`{|}~"}, false},
		{"AZ-6 quote", "a\"b", nil, true},
		{"AZ-6 backslash", "a\\b", nil, true},
		{"AZ-6 tab", "a\tb", nil, true},
		{"AZ-6 line feed", "a\nb", nil, true},
		{"AZ-6 not ASCII", "ä", nil, true},
		{"AZ-6 delete", "a\x7f", nil, true},
		{"AZ-6 broken UTF-8", "a\xff", nil, true},
		{"X-11 longer than anybody needs", strings.Repeat("a", maxScopeValue+1), nil, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := parseScope(tt.value)
			if tt.bad {
				wantError(t, err, "invalid_scope", 400)
				return
			}
			if err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("parseScope(%q) = %q, %v, want %q", tt.value, got, err, tt.want)
			}
		})
	}
}

func FuzzParseScope(f *testing.F) {
	for _, seed := range []string{"", "a", "a b", " a  a ", "\"", "ä", "a\tb"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		scopes, err := parseScope(value)
		if err != nil {
			return
		}
		again, err := parseScope(formatScope(scopes))
		if err != nil || !slices.Equal(scopes, again) {
			t.Errorf("%q became %q, then %q, %v", value, scopes, again, err)
		}
		if strings.ContainsAny(formatScope(scopes), "\"\\\r\n\t") {
			t.Errorf("%q let %q through", value, scopes)
		}
	})
}

func TestResourceScopes(t *testing.T) {
	t.Parallel()
	equal := func(t *testing.T, got []string, want ...string) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	t.Run("expand adds what is implied, through others too", func(t *testing.T) {
		t.Parallel()
		equal(t, testResource.expand([]string{"data:all", "nope"}), "data:read", "data:write", "data:all")
		equal(t, testResource.expand([]string{"extra:use", "data:read"}), "data:read", "extra:use")
		equal(t, testResource.expand(nil))
	})
	t.Run("AZ-8 omitted scope means the baseline", func(t *testing.T) {
		t.Parallel()
		for _, asked := range [][]string{nil, {ScopeOfflineAccess}} {
			got, err := testResource.chooseScopes(asked)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, got, "data:read")
		}
	})
	t.Run("AZ-7 unknown scopes are dropped while a known one is left", func(t *testing.T) {
		t.Parallel()
		asked := []string{"openid", "data:write", "data:write", "offline_access", "email"}
		got, err := testResource.chooseScopes(asked)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, got, "data:write")
		equal(t, asked, "openid", "data:write", "data:write", "offline_access", "email")
	})
	t.Run("AZ-7 only unknown scopes", func(t *testing.T) {
		t.Parallel()
		_, err := testResource.chooseScopes([]string{"openid", "email"})
		if err == nil {
			t.Fatal("accepted")
		}
		wantError(t, err, "invalid_scope", 400)
	})
	t.Run("subset", func(t *testing.T) {
		t.Parallel()
		if !isSubset([]string{"a"}, []string{"b", "a"}) || isSubset([]string{"a", "c"}, []string{"a", "b"}) || !isSubset(nil, nil) {
			t.Error("isSubset is wrong")
		}
	})
}
