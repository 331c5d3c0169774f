package inventory

import (
	"encoding/json"
	"testing"
)

var dec4s = []struct {
	in, out string
	ok      bool
}{
	{"0", "0", true}, {"-0", "0", true}, {"1.5", "1.5", true}, {"1.50000", "1.5", true}, {"12.3456", "12.3456", true}, {"12.34567", "", false},
	{"99999999999.9999", "99999999999.9999", true}, {"-99999999999.9999", "-99999999999.9999", true}, {"100000000000", "", false},
	{"1e3", "1000", true}, {"1e-4", "0.0001", true}, {"1e-5", "", false}, {"1e400", "", false}, {"1e99", "", false}, {"01", "", false}, {"+1", "", false},
	{"1.", "", false}, {".5", "", false}, {"NaN", "", false}, {"", "", false}, {`"1"`, "", false}, {"0x10", "", false}, {"1/2", "", false}, {"-0.5", "-0.5", true},
}

func TestParseDec4(t *testing.T) {
	t.Parallel()
	for _, c := range dec4s {
		d, ok := ParseDec4(c.in)
		if ok != c.ok || ok && d.String() != c.out {
			t.Errorf("%q reads as %s %v, want %s %v", c.in, d, ok, c.out, c.ok)
		}
	}
}

var amounts = []struct {
	amount, currency, out string
	ok                    bool
}{
	{"12", "EUR", "12", true}, {"12.5", "EUR", "12.50", true}, {"12.50", "EUR", "12.50", true}, {"12.00", "EUR", "12", true}, {"12.3456", "EUR", "12.3456", true},
	{"12.345", "EUR", "12.345", true}, {"-0.01", "EUR", "-0.01", true}, {"-0", "EUR", "0", true}, {"999999999999.9999", "EUR", "999999999999.9999", true},
	{"1000000000000", "EUR", "", false}, {"1.23456", "EUR", "", false}, {"1,5", "EUR", "", false}, {"1", "eur", "", false}, {"1", "EURO", "", false},
	{"", "EUR", "", false}, {"1.", "EUR", "", false}, {" 1", "EUR", "", false}, {"1\n", "EUR", "", false}, {"007", "EUR", "7", true},
}

func TestParseMoney(t *testing.T) {
	t.Parallel()
	for _, c := range amounts {
		m, ok := ParseMoney(c.amount, c.currency)
		if ok != c.ok || ok && m.Amount() != c.out {
			t.Errorf("KE-63 %q reads as %s %v, want %s %v", c.amount, m.Amount(), ok, c.out, c.ok)
		}
	}
	m, _ := ParseMoney("12.5", "EUR")
	if b, err := json.Marshal(m); err != nil || string(b) != `{"amount":"12.50","currency":"EUR"}` {
		t.Errorf("KE-63 %s %v", b, err)
	}
}

func FuzzNumbers(f *testing.F) {
	for _, c := range dec4s {
		f.Add(c.in)
	}
	for _, c := range amounts {
		f.Add(c.amount)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if d, ok := ParseDec4(s); ok {
			if again, ok := ParseDec4(d.String()); !ok || again != d {
				t.Fatalf("%q reads as %s, that as %s", s, d, again)
			}
		}
		if m, ok := ParseMoney(s, "EUR"); ok {
			if again, ok := ParseMoney(m.Amount(), "EUR"); !ok || again != m {
				t.Fatalf("%q reads as %s, that as %s", s, m.Amount(), again.Amount())
			}
		}
	})
}
