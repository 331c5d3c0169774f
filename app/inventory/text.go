package inventory

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// cleanName tidies a text of one line: NFC, white space at the ends and doubled white space gone, invisible direction
// and tag signs removed. The second value says what is wrong, empty when nothing is.
func cleanName(s string, max int) (string, string) {
	if utf8.ValidString(s) {
		s = strings.Map(dropInvisible, s) // first, since a mark may then meet the letter it composes with
	}
	s, problem := cleanText(s)
	if problem != "" {
		return "", problem
	}
	if strings.ContainsAny(s, "\n\u2028\u2029") {
		return "", "must not contain line breaks"
	}
	s = collapse(s)
	return s, checkLength(s, max)
}

// cleanNotes tidies a text of many lines.
func cleanNotes(s string, max int) (string, string) {
	s, problem := cleanText(s)
	if problem != "" {
		return "", problem
	}
	return s, checkLength(s, max)
}

// cleanText does what names and notes have in common.
func cleanText(s string) (string, string) {
	if !utf8.ValidString(s) {
		return "", "must be valid Unicode"
	}
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	if strings.ContainsFunc(s, refused) {
		return "", "must not contain control characters"
	}
	return strings.TrimSpace(norm.NFC.String(s)), ""
}

// refused reports signs no text may hold: C0 and C1 controls other than tab and line feed, and two non-characters.
func refused(r rune) bool {
	switch {
	case r == '\t' || r == '\n':
		return false
	case r == 0xFFFE || r == 0xFFFF:
		return true
	default:
		return unicode.Is(unicode.Cc, r)
	}
}

// dropInvisible takes direction controls, tag signs and signs without width out of names, where they can only mislead:
// no answer shows them, so two names would look the same, or one like none at all. U+200C and U+200D stay, which scripts
// and emoji need.
func dropInvisible(r rune) rune {
	if r == 0x200B || r == 0xFEFF || r >= 0x2060 && r <= 0x2064 || r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069 || r >= 0xE0000 && r <= 0xE007F {
		return -1
	}
	return r
}

// collapse makes each run of white space one space and trims the ends.
func collapse(s string) string { return strings.Join(strings.Fields(s), " ") }

func checkLength(s string, max int) string {
	if n := utf8.RuneCountInString(s); n < 1 || n > max {
		return fmt.Sprintf("must be 1 to %d characters", max)
	}
	return ""
}
