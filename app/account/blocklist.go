package account

import (
	_ "embed"
	"slices"
	"strings"
)

//go:embed blocklist.txt
var blocklistText string

var blocklist = func() map[string]bool {
	m := map[string]bool{}
	for line := range strings.Lines(blocklistText) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			m[line] = true
		}
	}
	return m
}()

// guessable reports whether a password is among what is tried first: a listed one, a pattern, or what anybody knows of the
// person. It is in lower case.
func guessable(password string, known []string) bool {
	squeezed := strings.Join(strings.Fields(password), "")
	if blocklist[squeezed] || repeats(squeezed) || pattern(squeezed) {
		return true
	}
	for _, k := range known {
		if k = strings.ToLower(k); k == password || strings.Join(strings.Fields(k), "") == squeezed {
			return true
		}
	}
	return false
}

// repeats reports whether the text is one short piece, or a word of the list, over and over.
func repeats(s string) bool {
	for n := 1; n <= len(s)/2; n++ {
		if len(s)%n == 0 && strings.Repeat(s[:n], len(s)/n) == s && (n <= 4 || blocklist[s[:n]]) {
			return true
		}
	}
	return false
}

// maxPieces is how many pieces that everybody thinks of make a password that is guessed: programs try words with words,
// years and signs behind them.
const maxPieces = 4

// pattern reports whether a text is put together from few pieces that everybody thinks of, and from nothing else: listed
// words, also in the digits and signs that stand for letters; walks over the keyboard; runs of the alphabet or of digits;
// one character again and again; years and other short numbers. Signs at the joints do not count.
func pattern(s string) bool {
	if len(s) > maxPasswordBytes || 2*len(s)-2*len(strings.Map(dropSign, s)) > len(s) {
		return false // too long, or mostly signs, which nobody lists
	}
	plain := spelledOut(s)
	const never = maxPieces + 1
	// fewest[i] is the number of pieces that the first i bytes are made of.
	fewest := make([]int, len(s)+1)
	for i := 1; i <= len(s); i++ {
		fewest[i] = never
		for j := max(0, i-40); j < i; j++ {
			if only(s[j:i], signs) {
				fewest[i] = min(fewest[i], fewest[j])
			} else if fewest[j] < fewest[i]-1 && piece(s[j:i], plain[j:i]) {
				fewest[i] = fewest[j] + 1
			}
		}
	}
	return fewest[len(s)] <= maxPieces
}

// spelledOut turns the digits and signs that stand for letters into these. It keeps the length.
func spelledOut(s string) string {
	return strings.Map(func(r rune) rune {
		if i := strings.IndexRune("013457@$!", r); i >= 0 {
			return rune("oleastasi"[i])
		}
		return r
	}, s)
}

// piece reports whether a text is one piece of a pattern.
func piece(s, plain string) bool {
	switch {
	case len(s) >= 3 && (blocklist[s] || blocklist[plain]):
		return true
	case len(s) <= 4 && only(s, "0123456789"):
		return true
	}
	return len(s) >= 4 && walk(s)
}

// signs are what people put between and behind words.
const signs = "!.,?*#-_+@$&;:/"

func dropSign(r rune) rune {
	if strings.ContainsRune(signs, r) {
		return -1
	}
	return r
}

func only(s, set string) bool { return strings.Trim(s, set) == "" }

// walks are lines that fingers and children follow, there and back.
var walks = func() []string {
	var out []string
	for _, line := range []string{
		"01234567890123456789", "abcdefghijklmnopqrstuvwxyz",
		"qwertyuiop", "asdfghjkl", "zxcvbnm", "qwertzuiop", "yxcvbnm", "azertyuiop", "qsdfghjklm", "wxcvbn",
		"1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p", "qazwsxedcrfvtgbyhnujmikolp", "1q2w3e4r5t6y7u8i9o0p", "q1w2e3r4t5y6u7i8o9p0", "a1b2c3d4e5f6g7h8i9",
	} {
		back := []byte(line)
		slices.Reverse(back)
		out = append(out, line, string(back))
	}
	return out
}()

// walk reports whether a text is a part of such a line, or one character over and over.
func walk(s string) bool {
	if strings.Trim(s, s[:1]) == "" {
		return true
	}
	return slices.ContainsFunc(walks, func(w string) bool { return strings.Contains(w, s) })
}
