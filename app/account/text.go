package account

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"
)

// CleanName brings a name of a person, location or token into its stored form: NFC, trimmed, inner white space collapsed,
// invisible direction and tag characters removed. Line breaks, other control characters and lengths outside 1 to limit
// code points are refused.
func CleanName(path, name string, limit int) (string, error) {
	bad := Refuse(CodeValidation, path, "must be one line of text without control characters")
	if !utf8.ValidString(name) {
		return "", bad
	}
	name = strings.TrimSpace(name)
	for _, r := range name {
		if r != '\t' && unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r == '\uFFFE' || r == '\uFFFF' {
			return "", bad
		}
	}
	name = strings.Map(dropInvisible, name)
	// Composed last: what was removed may have stood between a letter and its accent.
	name = norm.NFC.String(strings.Join(strings.Fields(name), " "))
	if n := utf8.RuneCountInString(name); n < 1 || n > limit {
		return "", Refuse(CodeValidation, path, "must be 1 to {n} characters", "n", limit)
	}
	return name, nil
}

// dropInvisible removes bidirectional controls and tag characters: they make a name show as another one.
func dropInvisible(r rune) rune {
	if unicode.Is(unicode.Bidi_Control, r) || r >= 0xE0000 && r <= 0xE007F {
		return -1
	}
	return r
}

// maxEmailInput bounds an address before it is looked at, in bytes.
const maxEmailInput = 1024

// FoldEmail brings an e-mail address into the form under which a person is found: NFC, lower case, the domain in ASCII
// (RFC 5890). Quoted local parts, comments and display names are refused: nobody signs in with one.
func FoldEmail(email string) (string, error) {
	bad := Refuse(CodeValidation, "email", "must be an e-mail address like ada@example.org")
	// The first bound is generous, for domains that are not in ASCII yet; turning those takes time that grows with the
	// square of their length, and strangers choose it.
	if len(email) > maxEmailInput || !utf8.ValidString(email) {
		return "", bad
	}
	email = norm.NFC.String(strings.ToLower(norm.NFC.String(strings.TrimSpace(email))))
	local, domain, ok := strings.Cut(email, "@")
	if !ok || !validLocalPart(local) {
		return "", bad
	}
	domain, err := idna.Lookup.ToASCII(strings.TrimSuffix(domain, "."))
	if err != nil || !validDomain(domain) {
		return "", bad
	}
	if email = local + "@" + domain; len(email) > 254 { // RFC 5321 §4.5.3.1.3
		return "", bad
	}
	return email, nil
}

func validLocalPart(local string) bool {
	if local == "" || len(local) > 64 || local[0] == '.' || local[len(local)-1] == '.' || strings.Contains(local, "..") {
		return false
	}
	for _, r := range local {
		if unicode.IsSpace(r) || !unicode.IsGraphic(r) || strings.ContainsRune(`"(),:;<>@[\]`, r) {
			return false
		}
	}
	return true
}

func validDomain(domain string) bool {
	if domain == "" || len(domain) > 253 {
		return false
	}
	for label := range strings.SplitSeq(domain, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for _, c := range []byte(label) {
			if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
				return false
			}
		}
	}
	return true
}
