package account

import (
	_ "embed"
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

func guessable(password string, known []string) bool {
	squeezed := strings.Join(strings.Fields(password), "")
	if blocklist[squeezed] || repeats(squeezed) {
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
