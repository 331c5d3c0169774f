package inventory

import (
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Fold makes texts that people take for the same equal: compatibility forms, letter case, accents and vowel signs, digits
// of any script and some Arabic letter forms no longer differ. Kana marks do: ガ stays apart from カ.
func Fold(s string) string {
	s = strings.Map(foldDigit, norm.NFKC.String(s))
	s = norm.NFD.String(cases.Fold().String(s))
	return norm.NFC.String(strings.Map(foldMark, s))
}

// NameKey is the form in which names are compared and ordered.
func NameKey(name string) string { return collapse(Fold(name)) }

// foldDigit maps decimal digits of any script to 0–9. Unicode lays each script's digits out from its zero upwards.
func foldDigit(r rune) rune {
	if r < 0x80 {
		return r
	}
	for _, t := range unicode.Nd.R16 {
		if rune(t.Lo) <= r && r <= rune(t.Hi) {
			return '0' + (r-rune(t.Lo))%10
		}
	}
	for _, t := range unicode.Nd.R32 {
		if rune(t.Lo) <= r && r <= rune(t.Hi) {
			return '0' + (r-rune(t.Lo))%10
		}
	}
	return r
}

// foldMarks are combining marks that do not tell words apart.
var foldMarks = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x0300, 0x036F, 1}, {0x0483, 0x0487, 1}, {0x0591, 0x05C7, 1}, {0x0610, 0x061A, 1}, {0x064B, 0x065F, 1},
		{0x0670, 0x0670, 1}, {0x06D6, 0x06ED, 1}, {0x1AB0, 0x1AFF, 1}, {0x1DC0, 0x1DFF, 1}, {0x20D0, 0x20FF, 1},
		{0xFE20, 0xFE2F, 1},
	},
}

// foldLetters are letters written in more than one way.
var foldLetters = map[rune]rune{'ٱ': 'ا', 'ى': 'ي', 'ة': 'ه', 'ؤ': 'و', 'ئ': 'ي', 'ı': 'i', 'ـ': -1}

func foldMark(r rune) rune {
	if r < 0x80 {
		return r
	}
	if to, ok := foldLetters[r]; ok {
		return to
	}
	// The ranges hold a few signs that are not marks, such as the Hebrew maqaf; those separate words.
	if unicode.Is(foldMarks, r) && unicode.Is(unicode.M, r) {
		return -1
	}
	return r
}
