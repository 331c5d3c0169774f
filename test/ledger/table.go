package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
)

// shown is how many tests stand beside an id; more say no more.
const shown = 4

// table makes the document of one list, and the ids that no test names.
func table(list string, tests map[string][]string) (text []byte, missing []string, err error) {
	b, err := os.ReadFile(list)
	if err != nil {
		return nil, nil, err
	}
	var out bytes.Buffer
	name := strings.TrimSuffix(list[strings.LastIndexByte(list, '/')+1:], ".txt")
	fmt.Fprintf(&out, "# Requirements and their tests: %s\n\nMade by `go run ./test/ledger` from `%s` and the tests; do not edit.\n", name, list)
	seen := make(map[string]bool)
	for n, line := range strings.Split(string(b), "\n") {
		switch {
		case line == "" || strings.HasPrefix(line, "# "):
		case strings.HasPrefix(line, "## "):
			fmt.Fprintf(&out, "\n%s\n\n| id | source | requirement | tests |\n|---|---|---|---|\n", line)
		default:
			f := strings.SplitN(line, " | ", 3)
			if len(f) != 3 || seen[f[0]] {
				return nil, nil, fmt.Errorf("%s:%d: want one line per id: id | source | requirement", list, n+1)
			}
			seen[f[0]] = true
			left := strings.Contains(f[2], "left out because")
			if len(tests[f[0]]) == 0 && !left {
				missing = append(missing, f[0])
			}
			fmt.Fprintf(&out, "| %s | %s | %s | %s |\n", f[0], f[1], f[2], cell(tests[f[0]]))
		}
	}
	return out.Bytes(), missing, nil
}

func cell(tests []string) string {
	if len(tests) == 0 {
		return "–"
	}
	text := strings.Join(tests[:min(shown, len(tests))], "<br>")
	if n := len(tests) - shown; n > 0 {
		text += fmt.Sprintf("<br>and %d more", n)
	}
	return text
}
