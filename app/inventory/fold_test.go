package inventory

import (
	"slices"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

func TestFold(t *testing.T) {
	t.Parallel()
	for from, want := range map[string]string{
		"Électro-Ménager": "electro-menager", "Straße": "strasse", "İstanbul": "istanbul", "ISTANBUL ı": "istanbul i",
		"Ёлка": "елка", "مفتاحُ الصُّندوق": "مفتاح الصندوق", "أدوات ٣": "ادوات 3", "ٱىةؤئـ": "ايهوي",
		"ガラス": "ガラス", "ｶﾞﾗｽ": "ガラス", "ﬁn ①": "fin 1", "१२३ ௩": "123 3", "한글": "한글", "שָׁלוֹם": "שלום", "𝟗": "9",
	} {
		if got := Fold(from); got != want {
			t.Errorf("KE-22 %q folds to %q, want %q", from, got, want)
		}
	}
	if got := NameKey("  Living \t ROOM "); got != "living room" {
		t.Errorf("name key %q", got)
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	long := ""
	for range 70 {
		long += "a"
	}
	for _, c := range []struct {
		text  string
		index []string
		query []Word
	}{
		{"gsr12v", []string{"gsr12v", "gsr", "12v", "12", "v"}, []Word{{"gsr12v", true}}},
		{"GSR12V-15", []string{"gsr12v", "gsr", "12v", "12", "v", "15"}, []Word{{"gsr12v", true}, {"15", true}}},
		{"東京", []string{"東", "東京", "京"}, []Word{{"東京", false}}},
		{"東", []string{"東"}, []Word{{"東", false}}},
		{"東京Tower", []string{"東", "東京", "京", "tower"}, []Word{{"東京", false}, {"tower", true}}},
		{"タワー", []string{"タ", "タワ", "ワ", "ワー", "ー"}, []Word{{"タワ", false}, {"ワー", false}}},
		{"a a b", []string{"a", "a", "b"}, []Word{{"a", true}, {"b", true}}},
		{"!? -", nil, nil},
		{long, []string{long[:64]}, []Word{{long[:64], true}}},
		{"1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17", nil, []Word{{"1", true}, {"2", true}, {"3", true}, {"4", true}, {"5", true}, {"6", true},
			{"7", true}, {"8", true}, {"9", true}, {"10", true}, {"11", true}, {"12", true}, {"13", true}, {"14", true}, {"15", true}, {"16", true}}},
	} {
		if got := indexTokens(c.text); c.index != nil && !slices.Equal(got, c.index) {
			t.Errorf("KE-22 %q is indexed as %q, want %q", c.text, got, c.index)
		}
		if got := queryWords(c.text); !slices.Equal(got, c.query) {
			t.Errorf("KE-22 %q asks for %v, want %v", c.text, got, c.query)
		}
	}
}

func TestScore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		candidate Candidate
		query     string
		want      int // twentieths
	}{
		{"whole word of a name", Candidate{NameKey: "hand drill", Lifecycle: "in_use", Hits: []Hit{{"drill", 8}}}, "drill", 160},
		{"beginning of a word", Candidate{NameKey: "hand drill", Lifecycle: "in_use", Hits: []Hit{{"drill", 8}}}, "dril", 96},
		{"the best field counts", Candidate{NameKey: "x", Lifecycle: "in_use", Hits: []Hit{{"drill", 2}, {"drilling", 8}}}, "drill", 96},
		{"two words", Candidate{NameKey: "x", Lifecycle: "in_use", Hits: []Hit{{"red", 1}, {"drill", 8}}}, "red drill", 180},
		{"name is the query", Candidate{NameKey: "drill", Lifecycle: "in_use", Hits: []Hit{{"drill", 8}}}, "Drill", 440},
		{"name begins with it", Candidate{NameKey: "drill press", Lifecycle: "in_use", Hits: []Hit{{"drill", 8}}}, "drill", 240},
		{"alias is the query", Candidate{NameKey: "x", Lifecycle: "in_use", AliasEqual: true, Hits: []Hit{{"drill", 6}}}, "drill", 320},
		{"sold", Candidate{NameKey: "hand drill", Lifecycle: "sold", Hits: []Hit{{"drill", 8}}}, "drill", 80},
	} {
		if got := c.candidate.score(queryWords(c.query), NameKey(c.query)); got != c.want {
			t.Errorf("KE-22 %s: %d, want %d", c.name, got, c.want)
		}
	}
}

func FuzzFold(f *testing.F) {
	for _, s := range []string{"Électro-Ménager", "Straße", "İ", "مفتاحُ الصُّندوق", "ｶﾞﾗｽ", "gsr12v", "\u0345", "กุญแจ", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) {
			return // text is checked before it gets here
		}
		folded := Fold(s)
		if !utf8.ValidString(folded) || !norm.NFC.IsNormalString(folded) {
			t.Fatalf("%q folds to %q", s, folded)
		}
		for _, r := range folded {
			if unicode.Is(foldMarks, r) && unicode.IsMark(r) {
				t.Fatalf("%q keeps the mark %U", s, r)
			}
		}
		stored := map[string]bool{}
		for _, token := range indexTokens(s) {
			if n := utf8.RuneCountInString(token); n < 1 || n > maxToken {
				t.Fatalf("%q gives the token %q", s, token)
			}
			stored[token] = true
		}
		// A text is always found by itself.
		for _, w := range queryWords(s) {
			if !stored[w.Text] {
				t.Fatalf("%q is not found by its word %q", s, w.Text)
			}
		}
	})
}
