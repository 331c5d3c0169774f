package inventory

import (
	"bytes"
	"strings"
	"testing"
)

var typedCodes = []struct {
	typed string
	code  string
	id    string
}{
	{"7k3-qm2", "7K3QM2", ""},
	{"7K3\u2011QM2", "7K3QM2", ""},
	{" oil 10o ", "011100", ""},
	{"7K3QMU", "", ""},
	{"7K3QM", "", ""},
	{"7K3QM22", "", ""},
	{"01A22BE8-B240-7A11-8C00-5D1F00000001", "", "01a22be8-b240-7a11-8c00-5d1f00000001"},
	{"  01a22be8-b240-7a11-8c00-5d1f00000001\n", "", "01a22be8-b240-7a11-8c00-5d1f00000001"},
	{"01a22be8b2407a118c005d1f00000001", "", ""},
	{"{01a22be8-b240-7a11-8c00-5d1f00000001}", "", ""},
	{"7K3\u00a0\u2003QM2", "7K3QM2", ""},
	{"7\u00adK\u2212\u20103\u2015QM2", "7K3QM2", ""},
	{"7K3_QM2", "", ""},
	{"７K3QM2", "", ""},
	{"", "", ""},
	{"------", "", ""},
	{strings.Repeat(" ", 64) + "7K3QM2", "", ""},
}

func TestParseRef(t *testing.T) {
	t.Parallel()
	for _, c := range typedCodes {
		ref, ok := ParseRef(c.typed)
		if ok != (c.code+c.id != "") || ref.Code != c.code || ref.ID != c.id {
			t.Errorf("KE-17 %q reads as %+v %v", c.typed, ref, ok)
		}
	}
}

func TestFormatCode(t *testing.T) {
	t.Parallel()
	if got := FormatCode("7K3QM2"); got != "7K3\u2011QM2" {
		t.Errorf("KE-17 %q", got)
	}
	if code, ok := ParseCode(FormatCode("7K3QM2")); !ok || code != "7K3QM2" {
		t.Errorf("KE-17 what is printed reads back: %q", code)
	}
}

func TestNewCode(t *testing.T) {
	t.Parallel()
	if len(codeAlphabet) != 32 || strings.ContainsAny(codeAlphabet, "ILOU") {
		t.Errorf("KE-17 alphabet %s", codeAlphabet)
	}
	code, err := newCode(bytes.NewReader([]byte{0, 31, 32, 63, 200, 255}))
	if err != nil || code != "0Z0Z8Z" {
		t.Errorf("KE-17 %s %v", code, err)
	}
	if _, err := newCode(bytes.NewReader(nil)); err == nil {
		t.Error("a source that ends makes a code")
	}
}

func FuzzParseRef(f *testing.F) {
	for _, c := range typedCodes {
		f.Add(c.typed)
	}
	f.Fuzz(func(t *testing.T, typed string) {
		ref, ok := ParseRef(typed)
		if !ok {
			return
		}
		if (ref.ID == "") == (ref.Code == "") {
			t.Fatalf("%q reads as %+v", typed, ref)
		}
		again, ok := ParseRef(ref.ID + ref.Code)
		if !ok || again != ref {
			t.Fatalf("%q reads as %+v, that as %+v", typed, ref, again)
		}
		if strings.Trim(ref.Code, codeAlphabet) != "" {
			t.Fatalf("code %q", ref.Code)
		}
	})
}
