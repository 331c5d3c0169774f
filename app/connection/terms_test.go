package connection_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"gatehouse/app/connection"
)

const (
	place1 = "01a22be8-b240-7a11-8c00-5d1f00000001"
	place2 = "01a22be8-b240-7a11-8c00-5d1f00000002"
)

func TestTermsEncode(t *testing.T) {
	t.Parallel()
	raw, err := connection.Terms{Locations: []string{place2, place1, place2}, HiddenTools: []string{"b", "a"}}.Encode()
	want := `{"locations":["` + place1 + `","` + place2 + `"],"hidden_tools":["a","b"]}`
	if err != nil || string(raw) != want {
		t.Errorf("encoded %s, %v", raw, err)
	}
	if raw, err = (connection.Terms{}).Encode(); err != nil || string(raw) != `{"locations":[],"hidden_tools":[]}` {
		t.Errorf("empty terms are %s, %v", raw, err)
	}
	back, err := connection.ParseTerms(json.RawMessage(want))
	if err != nil || len(back.Locations) != 2 || len(back.HiddenTools) != 2 {
		t.Errorf("read back %+v, %v", back, err)
	}
	if none, err := connection.ParseTerms(nil); err != nil || none.Locations != nil {
		t.Errorf("no terms are %+v, %v", none, err)
	}
}

func TestTermsCheck(t *testing.T) {
	t.Parallel()
	many := make([]string, connection.MaxLocations+1)
	for i := range many {
		many[i] = fmt.Sprintf("01a22be8-b240-7a11-8c00-%012x", i)
	}
	bad := map[string]connection.Terms{
		"too many locations": {Locations: many},
		"no id":              {Locations: []string{"x"}},
		"upper case":         {Locations: []string{strings.ToUpper(place1)}},
		"tool with a space":  {HiddenTools: []string{"a b"}},
		"empty tool":         {HiddenTools: []string{""}},
		"long tool":          {HiddenTools: []string{strings.Repeat("a", 65)}},
	}
	for name, terms := range bad {
		var refusal *connection.Invalid
		if _, err := terms.Encode(); !errors.As(err, &refusal) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzParseTerms(f *testing.F) {
	f.Add(`{"locations":["` + place1 + `"],"hidden_tools":["a"]}`)
	f.Add(`{}`)
	f.Add(`[1]`)
	f.Fuzz(func(t *testing.T, text string) {
		terms, err := connection.ParseTerms(json.RawMessage(text))
		if err != nil {
			return
		}
		raw, err := terms.Encode()
		if err != nil {
			t.Fatalf("accepted terms do not encode: %v", err)
		}
		again, err := connection.ParseTerms(raw)
		if err != nil {
			t.Fatalf("encoded terms are refused: %v", err)
		}
		if twice, _ := again.Encode(); string(twice) != string(raw) {
			t.Errorf("%s is not stable: %s", raw, twice)
		}
	})
}
