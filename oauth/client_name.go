package oauth

// Display names of clients: RFC 7591 §5 (self-asserted values shown to people), Unicode Standard Annex #9 (bidi
// controls).

import (
	"strings"
	"unicode"
)

// maxClientName bounds a client's display name, in characters.
const maxClientName = 100

// cleanName makes a client's own words fit to be shown: control, format and bidi characters are removed, so that a name
// can neither hide a part of itself nor turn the text around it; runs of spaces become one; at most 100 characters.
func cleanName(name string) string { return cleanText(name, maxClientName) }

func cleanText(text string, limit int) string {
	var b strings.Builder
	n, space := 0, false
	for _, r := range text {
		switch {
		case unicode.IsSpace(r):
			space = n > 0
			continue
		case r == unicode.ReplacementChar || !unicode.IsGraphic(r) || unicode.Is(unicode.Bidi_Control, r):
			continue
		}
		if space && n+1 < limit {
			b.WriteByte(' ')
			n++
		} else if space {
			n = limit // no room for a space and a character behind it
		}
		if n >= limit {
			break
		}
		space = false
		b.WriteRune(r)
		n++
	}
	return b.String()
}
