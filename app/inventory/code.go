package inventory

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"
)

// codeAlphabet are the 32 signs of a short code: no I, L, O and U, which are misread or spell words.
const codeAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

const codeLength = 6

// Ref is what a caller may type to name a row: an id or a short code. Exactly one is set.
type Ref struct {
	ID   string
	Code string
}

// ParseRef reads an id or a short code as people type it (KE-17): any case, spaces and hyphens ignored, O for 0, I and L
// for 1. It reports false for what is neither.
func ParseRef(typed string) (Ref, bool) {
	if utf8.RuneCountInString(typed) > 64 {
		return Ref{}, false
	}
	typed = strings.TrimSpace(typed)
	if id, ok := parseID(typed); ok {
		return Ref{ID: id}, true
	}
	code, ok := ParseCode(typed)
	return Ref{Code: code}, ok
}

// parseID reads a UUID in its 36 character form, in any case.
func parseID(s string) (string, bool) {
	if len(s) != 36 {
		return "", false
	}
	id, err := uuid.Parse(s)
	return id.String(), err == nil
}

// ParseCode reads a short code as people type it and gives its six plain signs.
func ParseCode(typed string) (string, bool) {
	var b strings.Builder
	for _, r := range typed {
		if unicode.IsSpace(r) || isHyphen(r) {
			continue
		}
		r = codeSign(unicode.ToUpper(r))
		if b.Len() == codeLength || r >= utf8.RuneSelf || strings.IndexByte(codeAlphabet, byte(r)) < 0 {
			return "", false
		}
		b.WriteByte(byte(r))
	}
	if b.Len() != codeLength {
		return "", false
	}
	return b.String(), true
}

func codeSign(r rune) rune {
	switch r {
	case 'O':
		return '0'
	case 'I', 'L':
		return '1'
	default:
		return r
	}
}

func isHyphen(r rune) bool {
	return r == '-' || r == 0x00AD || r == 0x2212 || r >= 0x2010 && r <= 0x2015
}

// FormatCode gives a code as it is printed: 3 + 3 signs, joined by a hyphen that does not break.
func FormatCode(code string) string {
	if len(code) != codeLength {
		return code
	}
	return code[:3] + "\u2011" + code[3:]
}

// newCode draws a code. Each of the 32 signs is equally likely.
func newCode(random io.Reader) (string, error) {
	b := make([]byte, codeLength)
	if _, err := io.ReadFull(random, b); err != nil {
		return "", fmt.Errorf("draw a short code: %w", err)
	}
	return codeOf(b), nil
}

// codeOf makes a code of random bytes.
func codeOf(random []byte) string {
	b := make([]byte, codeLength)
	for i := range b {
		b[i] = codeAlphabet[random[i]&31]
	}
	return string(b)
}
