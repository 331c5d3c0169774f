package tools

import (
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestKE18InvisibleTextIsDropped(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, in, want string }{
		{"plain", "Drill", "Drill"},
		{"tags", "a\U000E0001\U000E0041\U000E007Fb", "ab"},
		{"zero width space", "a\u200Bb", "ab"},
		{"joiners stay", "a\u200C\u200Db", "a\u200C\u200Db"},
		{"word joiners", "a\u2060\u2061\u2062\u2063\u2064b", "ab"},
		{"byte order mark", "\uFEFFa", "a"},
		{"bidi", "a\u202A\u202B\u202C\u202D\u202E\u2066\u2067\u2068\u2069b", "ab"},
		{"controls", "a\x00\x07\x1F\x7F\u0080\u009Fb", "ab"},
		{"tab and line feed stay", "a\tb\nc", "a\tb\nc"},
		{"carriage return", "a\rb", "ab"},
		{"marks stay", "e\u0301\u00A0", "e\u0301\u00A0"},
		{"broken text", "a\xffb", "a\uFFFDb"},
		{"beside the ranges", "\u2029\u2065\u206A\u200A\u200E", "\u2029\u2065\u206A\u200A\u200E"},
	} {
		t.Run("KE-18 "+tc.name, func(t *testing.T) {
			t.Parallel()
			if got := visible(tc.in); got != tc.want {
				t.Errorf("visible(%q) = %q, want %q", tc.in, got, tc.want)
			}
		})
	}
}

func FuzzVisible(f *testing.F) {
	f.Add("a\u202Eb")
	f.Add("\xff\U000E0041")
	f.Fuzz(func(t *testing.T, s string) {
		got := visible(s)
		if strings.ContainsFunc(got, invisible) || visible(got) != got || !utf8.ValidString(got) {
			t.Errorf("visible(%q) = %q", s, got)
		}
	})
}

func TestKE97TextIsSentUnescaped(t *testing.T) {
	t.Parallel()
	got, err := marshal(map[string]any{"untrusted": Custom{"b": []any{"<é>&\u2028\u200B", 1.5, true, nil}, "a": map[string]any{"k": "\u202Ex"}}})
	if want := `{"untrusted":{"a":{"k":"x"},"b":["<é>&` + "\u2028" + `",1.5,true,null]}}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
}

// TestKE151TextStandsUnderUntrusted holds the rule on the types: Text is used below a field untrusted and nowhere else,
// and there is no other string there.
func TestKE151TextStandsUnderUntrusted(t *testing.T) {
	t.Parallel()
	for _, c := range Contracts() {
		checkText(t, c.Name, c.Output, false)
	}
	for _, r := range []reflect.Type{reflect.TypeFor[placeRef](), reflect.TypeFor[thingRef]()} { // the parents of list_contents
		checkText(t, "parent", r, false)
	}
}

func checkText(t *testing.T, path string, typ reflect.Type, under bool) {
	switch {
	case typ == reflect.TypeFor[Text]() || typ == reflect.TypeFor[Custom]():
		if !under {
			t.Errorf("KE-151 %s: text outside untrusted", path)
		}
		return
	case typ == reflect.TypeFor[Stamp]():
		return
	}
	switch typ.Kind() {
	case reflect.String:
		if under {
			t.Errorf("KE-151 %s: a %s inside untrusted is not stripped", path, typ)
		}
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		checkText(t, path, typ.Elem(), under)
	case reflect.Struct:
		for i := range typ.NumField() {
			f := typ.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			checkText(t, path+"."+name, f.Type, under || name == "untrusted")
		}
	}
}
